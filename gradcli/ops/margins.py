"""Losses of scores that have to be larger than others by a margin, and the distances of
all pairs of rows.

Invariant: targets are positions and carry no gradient; an item's loss is a mean over
its classes.

    multi_margin_loss(x, [2, 0])        # MultiMarginLossBackward0
"""

from __future__ import annotations

from .checks import KindError, ShapeError, ValueRangeError
from .index import check_positions
from .loss import known, reduced
from .norm import row_norms, slope_of
from .op import ONE_TYPE, Fixed, Types, case, function, no_kernel, row
from .types import Array, Call, Namespace

# fmt: off


def refused(kernel: str) -> dict[Types, str]:
    """Integers and half floats."""
    return no_kernel(kernel) | no_kernel(kernel, ("float16",))


def in_items(xp: Namespace, x: Array) -> Array:
    """The scores by item and class."""
    return xp.reshape(x, (1, -1)) if len(x.shape) < 2 else x


def classes(x: Array) -> int:
    return int(x.shape[-1]) if x.shape else 1


def own_classes(xp: Namespace, x: Array, target: Array) -> Array:
    count = classes(x)
    at = xp.as_index(target).reshape((-1, 1))
    check_positions(xp, count, 0, at, ShapeError, "target out of range", False)
    return xp.as_type_of(xp.eq(at, xp.as_index(range(count))), x)


row("multi_margin_loss.hits", fwd=own_classes, formula="1 if target[i] == j, else 0",
    doc="Whether a class is an item's target, by item and class.",
    cases=[case((2, 3), Fixed([2, 0]))])


def hits(xp: Namespace, x: Array, target: Array) -> Array:
    return xp.ne(xp.call("multi_margin_loss.hits", x, target), 0)


def gaps(xp: Namespace, x: Array, target: Array, margin: float) -> Array:
    """By how much each score is too large; the target's own is not."""
    scores, own = in_items(xp, x), hits(xp, x, target)
    right = xp.sum(xp.where(own, scores, 0), -1, True)
    return xp.where(own, 0, xp.maximum(margin - right + scores, 0))


def counted(xp: Namespace, x: Array, target: Array, weight: Array | None, losses: Array
           ) -> Array:
    """The losses as shares of an item's, by the weights of the targets."""
    if weight is not None:
        each = xp.sum(xp.where(hits(xp, x, target), weight, 0), -1, True)
        losses = losses * each
    return losses / classes(x)


def over_items(xp: Namespace, x: Array, losses: Array, reduction: str) -> Array:
    """The sum of each item's losses, put together."""
    each = xp.sum(losses, -1)
    if known(reduction) == "none" and len(x.shape) < 2:
        return xp.reshape(each, ())
    return reduced(xp, each, reduction)


def to_items(xp: Namespace, g: Array, x: Array, slopes: Array, reduction: str) -> Array:
    """The cotangent of every score by the slopes of its item's loss."""
    items = x.shape[0] if len(x.shape) > 1 else 1
    share = xp.reshape(g, (-1, 1))
    share = share / items if reduction == "mean" else share
    return xp.reshape(share * slopes, x.shape)


def margin_slopes(xp: Namespace, x: Array, target: Array, weight: Array | None, p: int,
                  margin: float) -> Array:
    far = gaps(xp, x, target, margin)
    zeros = xp.zeros_like(far)
    slope = 2 * far if p == 2 else xp.where(xp.gt(far, 0), xp.ones_like(far), zeros)
    slope = counted(xp, x, target, weight, slope)
    return xp.where(hits(xp, x, target), -xp.sum(slope, -1, True), slope)


row("multi_margin_loss.default", node="MultiMarginLossBackward0",
    refuses=refused("multi_margin_loss_cpu_kernel"),
    one_type=(ONE_TYPE, ONE_TYPE),
    doc="Loss of scores that are not a margin below the target's.",
    fixed="multi_margin_loss target weight",
    formula="mean(max(0, margin - x[target] + x[j])**p)",
    kink="at the margin the slope is that of scores that are not too large",
    fwd=lambda xp, x, target, weight=None, p=1, margin=1.0, reduction="mean":
        over_items(xp, x, counted(xp, x, target, weight, (
            xp.square if p == 2 else lambda far: far)(gaps(xp, x, target, margin))),
            reduction),
    vjp=(lambda xp, g, y, x, target, weight=None, p=1, margin=1.0, reduction="mean":
         to_items(xp, g, x, margin_slopes(xp, x, target, weight, p, margin), reduction),
         None, None),
    jvp=lambda xp, t, y, x, target, weight=None, p=1, margin=1.0, reduction="mean":
        over_items(xp, x, in_items(xp, t[0]) * margin_slopes(
            xp, x, target, weight, p, margin), reduction),
    cases=[case((3, 4), Fixed([0, 3, 1])), case((4,), Fixed(2), p=2),
           case((2, 3), Fixed([0, 1]), Fixed([0.5, 2.0, 1.0]), p=2, margin=2.5,
                reduction="none")], saves=("x target weight", "", ""))


def multi_margin_loss(call: Call, input: Array, target: Array, p: int = 1,
                      margin: float = 1.0, weight: Array | None = None,
                      reduction: str = "mean") -> Array:
    if p not in (1, 2):
        raise ValueRangeError("only p == 1 and p == 2 supported")
    shape = tuple(input.shape)
    if len(shape) > 2 or 0 in shape[-1:]:
        raise ShapeError("Expected non-empty vector or matrix with optional 0-dim "
                         f"batch size, but got: {list(shape)}")
    items = shape[0] if len(shape) == 2 else 1
    have = tuple(target.shape)
    if have != (items,) and not (not have and items == 1):
        raise ShapeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the "
            "number of input samples (batch size). Expected target size "
            f"[{items}], but got {list(have)}. Input has shape {list(shape)}.")
    if weight is not None and tuple(weight.shape) != (classes(input),):
        raise ShapeError(f"inconsistent weight size, expected {classes(input)} but got "
                         f"{list(weight.shape)}")
    return call("multi_margin_loss.default", input, target, weight, p, margin,
                reduction)


function("multi_margin_loss", multi_margin_loss, operands=("input", "target", "weight"))


def occurrences(xp: Namespace, x: Array, target: Array) -> Array:
    count = classes(x)
    found = []
    for line in xp.as_index(target).reshape((-1, count)).tolist():
        listed = line[:line.index(-1)] if -1 in line else line
        if any(not 0 <= at < count for at in listed):
            raise ShapeError("argument #2 'target' is out of range")
        found.append([listed.count(at) for at in range(count)])
    return xp.as_type_of(xp.as_index(found).reshape((-1, count)), x)


row("multilabel_margin_loss.counts", fwd=occurrences,
    formula="count(target[i] == j)",
    doc="How often a class stands among an item's targets, which end at a -1.",
    cases=[case((1, 3), Fixed([[2, 0, -1]]))])


def pair_gaps(xp: Namespace, x: Array) -> Array:
    """By how much each score is too large beside each other, by item, the one that is
    to be larger and the other."""
    scores = in_items(xp, x)
    return xp.maximum(1 - xp.unsqueeze(scores, -1) + xp.unsqueeze(scores, -2), 0)


def pairs_that_count(xp: Namespace, x: Array, target: Array) -> Array:
    wanted = xp.call("multilabel_margin_loss.counts", x, target)
    others = xp.as_type_of(xp.eq(wanted, 0), x)
    return xp.unsqueeze(wanted, -1) * xp.unsqueeze(others, -2) / classes(x)


def pair_losses(xp: Namespace, x: Array, target: Array) -> Array:
    counts = pairs_that_count(xp, x, target)
    return xp.where(xp.eq(counts, 0), 0, pair_gaps(xp, x) * counts)


def pair_slopes(xp: Namespace, x: Array, target: Array) -> Array:
    far = pair_gaps(xp, x)
    slope = xp.where(xp.gt(far, 0), pairs_that_count(xp, x, target),
                     xp.zeros_like(far))
    return xp.sum(slope, -2) - xp.sum(slope, -1)


row("multilabel_margin_loss.default", node="MultilabelMarginLossBackward0",
    refuses=refused("multilabel_margin_loss_forward_out_frame"),
    doc="Loss of other scores that are not 1 below those of all targets.",
    fixed="multilabel_margin_loss target",
    formula="mean(sum(max(0, 1 - x[target[j]] + x[i])))",
    kink="at the margin the slope is that of scores that are not too large",
    fwd=lambda xp, x, target, reduction="mean": over_items(
        xp, x, xp.sum(pair_losses(xp, x, target), -1), reduction),
    vjp=(lambda xp, g, y, x, target, reduction="mean":
         to_items(xp, g, x, pair_slopes(xp, x, target), reduction), None),
    jvp=lambda xp, t, y, x, target, reduction="mean": over_items(
        xp, x, in_items(xp, t[0]) * pair_slopes(xp, x, target), reduction),
    cases=[case((2, 4), Fixed([[3, 0, -1, 1], [1, -1, 0, 0]])),
           case((2, 4), Fixed([[3, 0, -1, 1], [1, 2, 0, -1]]), low=-3, high=3),
           case((3,), Fixed([1, 2, -1]), reduction="none")])


def multilabel_margin_loss(call: Call, input: Array, target: Array,
                           reduction: str = "mean") -> Array:
    shape = tuple(input.shape)
    if len(shape) > 2 or 0 in shape[-1:]:
        raise ShapeError("Expected non-empty vector or matrix with optional 0-dim "
                         f"batch size, but got: {list(shape)}")
    if tuple(target.shape) != shape:
        raise ShapeError(f"inconsistent target size: {list(target.shape)} for input of "
                         f"size: {list(shape)}")
    return call("multilabel_margin_loss.default", input, target, reduction)


function("multilabel_margin_loss", multilabel_margin_loss,
         operands=("input", "target"))


# the distances of all pairs


def pairs(n: int) -> tuple[list[int], list[int]]:
    """The first and the second of each pair of numbers below ``n``."""
    return ([i for i in range(n) for _ in range(i + 1, n)],
            [j for i in range(n) for j in range(i + 1, n)])


def apart(xp: Namespace, x: Array) -> Array:
    first, second = pairs(x.shape[0])
    return xp.call("index.Tensor", x, (first,)) - xp.call("index.Tensor", x, (second,))


def together(xp: Namespace, g: Array, x: Array) -> Array:
    """The transpose of `apart`."""
    first, second = pairs(x.shape[0])
    return (xp.call("index.backward", g, x.shape, (first,))
            - xp.call("index.backward", g, x.shape, (second,)))


def pair_slopes_of(xp: Namespace, x: Array, y: Array, p: float) -> Array:
    return slope_of(xp, apart(xp, x), xp.unsqueeze(y, -1), p, -1)


row("pdist.default", node="PdistBackward0", formula="norm(x[i] - x[j], p), i < j",
    doc="The distances of all pairs of rows.",
    refuses=refused("pdist"), kink="at distance 0 the derivative is 0; entries tied "
    "for an infinity norm share the cotangent evenly",
    fwd=lambda xp, x, p=2.0: xp.squeeze(row_norms(xp, apart(xp, x), p), -1),
    vjp=(lambda xp, g, y, x, p=2.0: together(
        xp, xp.unsqueeze(g, -1) * pair_slopes_of(xp, x, y, p), x),),
    jvp=lambda xp, t, y, x, p=2.0:
        xp.sum(apart(xp, t[0]) * pair_slopes_of(xp, x, y, p), -1),
    cases=[case((3, 2)), case((4, 2), p=3.0), case((3, 2), p=1.0)], saves="x y")


def pdist(call: Call, input: Array, p: float = 2.0) -> Array:
    if len(input.shape) != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {len(input.shape)}D")
    if p < 0:
        raise ValueRangeError("pdist only supports non-negative p values")
    if input.shape[0] > 10**4:
        raise KindError(f"pdist of {input.shape[0]} rows has too many pairs; use cdist "
                        "on parts of them")
    return call("pdist.default", call("contiguous", input), p)


function("pdist", pdist, operands=("input",))
