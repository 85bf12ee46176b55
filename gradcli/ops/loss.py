"""Losses, with PyTorch's reductions.

Invariant: a row's formulas return the loss, or the slope, of each entry; `reduced` and
`by_slopes` apply the reduction to the losses and to the cotangent. Targets are numbers
of classes, or in `cross_entropy` also probabilities of all classes.

    mse_loss(x, target)             # MseLossBackward0, the mean
    cross_entropy(x, [2, 0])        # NllLossBackward0(LogSoftmaxBackward0(x))
"""

from __future__ import annotations

from collections.abc import Callable

from .checks import (
    KindError,
    ShapeError,
    ValueRangeError,
    broadcast_shape,
    count_of,
    demand_fixed,
    demand_shape,
    holds,
    refuse,
)
from .exact import reciprocal
from .gather import in_place
from .index import check_positions
from .op import PACKED, WHOLES, Case, Fixed, Rule, Rules, case, function, of_floats, row
from .types import Array, ArrayRule, Caller, Namespace

# fmt: off


REDUCTIONS: dict[str, ArrayRule] = {
    "none": lambda xp, losses: losses,
    "sum": lambda xp, losses: xp.sum(losses),
    "mean": lambda xp, losses: xp.sum(losses) / count_of(losses.shape),
}


def known(reduction: str) -> str:
    if reduction not in REDUCTIONS:
        raise ValueRangeError(f"{reduction} is not a valid value for reduction: use "
                              f"{', '.join(REDUCTIONS)}")
    return reduction


def reduced(xp: Namespace, losses: Array, reduction: str) -> Array:
    return REDUCTIONS[known(reduction)](xp, losses)


def alike(call: Caller, x: Array, target: Array) -> tuple[Array, Array]:
    """Return both operands at their common shape; an expansion is a node of its own."""
    shape = broadcast_shape(x.shape, target.shape)
    grown = [a if a.shape == shape else call("expand", a, shape) for a in (x, target)]
    return grown[0], grown[1]


def within(x: Array, *others: Array | None) -> None:
    """Raise `ShapeError` unless all other operands broadcast to the shape of ``x``."""
    shape = broadcast_shape(x.shape, *[v.shape for v in others if v is not None])
    refuse(shape != tuple(x.shape), "output with shape {} doesn't match the broadcast "
           "shape {}", list(x.shape), list(shape))


def fixed(name: str, **operands: object) -> None:
    """Raise `NoSlope` if one of the operands needs a gradient or has a tangent."""
    for operand, value in operands.items():
        demand_fixed(name, operand, value)


PAIR = [case((3, 4), (3, 4)), case((4,), (4,), reduction="sum"),
        case((2, 3), (2, 3), reduction="none"), case((), ())]


def by_slopes(*slopes: ArrayRule, fixed: int = 0) -> Rules:
    """Return the rules of a loss, given the slopes of each entry's loss.

    Args:
        slopes: ``(xp, *operands, **params)`` for each of the first operands.
        fixed: the number of further operands, which have no gradient.
    """
    def pulling(slope: ArrayRule) -> ArrayRule:
        return lambda xp, g, y, x, *others, reduction="mean", **how: (
            (g / count_of(x.shape) if reduction == "mean" else g)
            * slope(xp, x, *others, **how))

    return {"vjp": (*map(pulling, slopes), *(None,) * fixed)}


def of_gap(slope: ArrayRule) -> Rules:
    """Return the rules of a loss of ``d = x - target``, given its slope, odd in d."""
    return by_slopes(lambda xp, x, target, **how: slope(xp, x - target, **how),
                     lambda xp, x, target, **how: slope(xp, target - x, **how))


# losses of the difference from the target

of_floats("mse_loss.default", formula="mean((x - target)**2)",
    rule=Rule("MseLossBackwardBackward0", (0, 1), passes=True, turns=True),
    doc="Mean squared error.", fwd=lambda xp, x, target, reduction="mean":
                                   reduced(xp, xp.square(x - target), reduction),
    **of_gap(lambda xp, d: 2 * d), cases=PAIR)


# Girshick 2015, arXiv:1504.08083, equation 3.
@of_floats("smooth_l1_loss.default",
    rule=Rule("SmoothL1LossBackwardBackward0", (0, 1), passes=True, turns=True),
    formula="mean(d**2/(2*beta) if |d| < beta else |d| - beta/2), d = x - target",
    doc="Squared error near the target, absolute error away from it.",
    **of_gap(lambda xp, d, beta=1.0: xp.where(
      xp.ge(xp.abs(d), beta), xp.sign(d), d / beta)),
    cases=[*PAIR, case((3, 4), (3, 4), beta=0.3), case((3,), (3,), beta=9.0)])
def smooth_l1(xp: Namespace, x: Array, target: Array, reduction: str = "mean",
              beta: float = 1.0) -> Array:
    d = x - target
    a, half = xp.abs(d), 0.5 * reciprocal(xp, beta)
    losses = xp.where(xp.lt(a, beta), xp.square(d) * half, a - 0.5 * beta)
    return reduced(xp, losses, reduction)


# Huber 1964, doi:10.1214/aoms/1177703732.
@of_floats("huber_loss.default",
    rule=Rule("HuberLossBackwardBackward0", (0, 1), passes=True, turns=True),
    formula="mean(d**2/2 if |d| <= delta else delta*(|d| - delta/2)), d = x - target",
    doc="Half the squared error near the target, absolute error away from it.",
    **of_gap(lambda xp, d, delta=1.0: xp.where(
      xp.ge(xp.abs(d), delta), delta * xp.sign(d), d)),
    cases=[*PAIR, case((3, 4), (3, 4), delta=0.3), case((3,), (3,), delta=9.0)])
def huber(xp: Namespace, x: Array, target: Array, reduction: str = "mean",
          delta: float = 1.0) -> Array:
    d = x - target
    a = xp.abs(d)
    losses = xp.where(xp.le(a, delta), 0.5 * xp.square(d), delta * (a - 0.5 * delta))
    return reduced(xp, losses, reduction)


function("mse_loss", lambda call, x, target, reduction="mean":
         call("mse_loss.default", *alike(call, x, target), known(reduction)),
         operands=("x", "target"))
function("l1_loss", lambda call, x, target, reduction="mean": averaged(
             call, call("abs", call("sub", *alike(call, x, target))), reduction),
         operands=("x", "target"), formula="mean(abs(x - target))",
         doc="Mean absolute error.", kink="where x equals its target the slope is 0",
         cases=[case((3, 4), (3, 4)), case((3,), (3,), reduction="sum"),
                case((3,), (3,), reduction="none")])


@function("smooth_l1_loss", operands=("x", "target"))
def smooth_l1_loss(call: Caller, x: Array, target: Array, reduction: str = "mean",
                   beta: float = 1.0) -> Array:
    refuse(beta < 0, "smooth_l1_loss does not support negative values for beta.",
           kind=ValueRangeError)
    if beta == 0:
        return call("l1_loss", x, target, reduction)
    return call("smooth_l1_loss.default", *alike(call, x, target), reduction, beta)


@function("huber_loss", operands=("x", "target"),
          formula="mean(d**2/2 if |d| <= delta else delta*(|d| - delta/2))")
def huber_loss(call: Caller, x: Array, target: Array, reduction: str = "mean",
               delta: float = 1.0) -> Array:
    refuse(delta <= 0, "huber_loss does not support non-positive values for delta.",
           kind=ValueRangeError)
    return call("huber_loss.default", *alike(call, x, target), reduction, delta)


# losses of probabilities and of logits

FLOOR = -100
"""Smallest logarithm in the cross entropy of probabilities, as in PyTorch."""


def weighted(losses: Array, weight: Array | None) -> Array:
    return losses if weight is None else losses * weight


def check_shares(xp: Namespace, name: str, p: Array) -> None:
    """Raise unless all entries lie between 0 and 1."""
    within = xp.all(xp.logical_and(xp.ge(p, 0), xp.le(p, 1)))

    def check() -> None:
        refuse(not bool(within), "all elements of {} should be between 0 and 1", name,
               kind=ValueRangeError)

    xp.later(check)


def bce(xp: Namespace, x: Array, target: Array, weight: Array) -> Array:
    for name, p in (("input", x), ("target", target)):
        check_shares(xp, name, p)
    present, absent = xp.log(x), xp.log1p(-x)
    losses = (target - 1) * xp.maximum(absent, FLOOR) - (
        target * xp.maximum(present, FLOOR))
    return weighted(losses, weight)


BETWEEN = [case((3, 4), (3, 4), low=0.1, high=0.9),
           case((4,), (4,), reduction="sum", low=0.1, high=0.9),
           case((2, 3), (2, 3), Fixed([0.5, 2.0, 1.5]), reduction="none", low=0.1,
                high=0.9), case((), (), low=0.1, high=0.9)]

row("binary_cross_entropy.default",
    rule=Rule("BinaryCrossEntropyBackwardBackward0", (0, 1), gives=(0,), passes=True),
    one_type=True, formula="-mean(target*log(x) + (1 - target)*log(1 - x))",
    doc="Cross entropy of probabilities and their targets.",
    kink="logarithms are taken to be at least -100; the divisor x*(1 - x) of the slope "
         "is at least 1e-12", fwd=lambda xp, x, target, weight=None, reduction="mean":
                                  reduced(xp, bce(xp, x, target, weight), reduction),
    **by_slopes(lambda xp, x, target, weight=None: weighted(
      (x - target) / xp.maximum(x * (1 - x), 1e-12), weight),
      lambda xp, x, target, weight=None: weighted(
          xp.maximum(xp.log1p(-x), FLOOR) - xp.maximum(xp.log(x), FLOOR), weight),
      fixed=1), fixed="binary_cross_entropy weight", cases=BETWEEN)


def logit_loss(xp: Namespace, x: Array, target: Array, weight: Array,
               pos_weight: Array | None) -> Array:
    """Return the cross entropy of logits per entry, with the classes' weights."""
    counted = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    return weighted((1 - target) * x - counted * xp.logsigmoid(x), weight)


def logit_by_x(xp: Namespace, x: Array, target: Array, weight: Array | None = None,
               pos_weight: Array | None = None) -> Array:
    if pos_weight is None:
        return weighted(xp.sigmoid(x) - target, weight)
    positive = pos_weight * target
    return weighted((positive + 1 - target) * xp.sigmoid(x) - positive, weight)


def logit_by_target(xp: Namespace, x: Array, target: Array, weight: Array | None = None,
                    pos_weight: Array | None = None) -> Array:
    if pos_weight is None:
        return weighted(-x, weight)
    return weighted(xp.logsigmoid(-x) - pos_weight * xp.logsigmoid(x), weight)


of_floats("binary_cross_entropy_with_logits.default",
    formula="mean((1 - target)*x - log(sigmoid(x)))",
    doc="Cross entropy of logits and their targets, without overflow.",
    fwd=lambda xp, x, target, weight=None, pos_weight=None, reduction="mean":
        reduced(xp, logit_loss(xp, x, target, weight, pos_weight), reduction),
    **by_slopes(logit_by_x, logit_by_target, fixed=2),
    fixed="binary_cross_entropy_with_logits weight pos_weight",
    cases=[*PAIR, case((3, 4), (3, 4), Fixed([0.5, 2.0, 1.5, 1.0])),
           case((3, 4), (3, 4), Fixed(2.0), Fixed([0.5, 2.0, 1.5, 1.0]),
                reduction="none")], saves="x target weight pos_weight")


@function("binary_cross_entropy", operands=("x", "target", "weight"))
def binary_cross_entropy(call: Caller, x: Array, target: Array,
                         weight: Array | None = None, reduction: str = "mean") -> Array:
    refuse(tuple(x.shape) != tuple(target.shape), "Using a target size ({}) that is "
           "different to the input size ({}) is deprecated. Please ensure they have "
           "the same size.", list(target.shape), list(x.shape))
    within(x, weight)
    return call("binary_cross_entropy.default", x, target, weight, reduction)


@function("binary_cross_entropy_with_logits",
          operands=("x", "target", "weight", "pos_weight"))
def with_logits(call: Caller, x: Array, target: Array, weight: Array | None = None,
                reduction: str = "mean", pos_weight: Array | None = None) -> Array:
    demand_shape("target", target, x.shape)
    within(x, weight, pos_weight)
    return call("binary_cross_entropy_with_logits.default", x, target, weight,
                pos_weight, reduction)


@of_floats("soft_margin_loss",
    rule=Rule("SoftMarginLossBackwardBackward0", passes=True),
    formula="mean(log(1 + exp(-target*x)))", doc="Logistic loss for targets 1 and -1.",
    **by_slopes(lambda xp, x, target: -target * xp.sigmoid(-target * x), fixed=1),
    fixed="soft_margin_loss target",
    cases=[case((4,), Fixed([1.0, -1.0, 1.0, -1.0])),
           case((2,), Fixed([1.0, -1.0]), reduction="none")])
def _soft_margin(xp: Namespace, x: Array, target: Array, reduction: str = "mean"
                ) -> Array:
    within(x, target)
    return reduced(xp, -xp.logsigmoid(target * x), reduction)


# losses of scores for classes, and losses made of other functions

FAMILY = "classes"


# the negative log likelihood


def class_dim(x: Array) -> int:
    return 1 if len(x.shape) > 1 else 0


def weights_of(xp: Namespace, x: Array, target: Array, weight: Array | None,
            ignore_index: int) -> tuple[Array, Array | None, Array | None]:
    """Return the targets' classes, weights and whether they are ignored, each with a
    dimension of size 1 for the classes; an ignored target has class 0 and weight 0.

    The last two are None where every target counts once.
    """
    dim = class_dim(x)
    given = xp.as_index(target)
    classes = xp.unsqueeze(given, dim)
    size = x.shape[dim]
    if weight is None and not 0 <= ignore_index < size and given.size and (
            not xp.waits and int(given.min()) >= 0 and int(given.max()) < size):
        return classes, None, None
    ignored = xp.eq(classes, ignore_index)
    classes = xp.as_index(xp.where(ignored, 0, classes))
    check_positions(xp, size, 0, classes, from_end=False,
                    words="Target {at} is out of bounds.")
    each = xp.new_full(x, classes.shape, 1) if weight is None else (
        weight[classes])
    return classes, xp.where(ignored, 0, each), ignored


def in_line(xp: Namespace, x: Array, classes: Array) -> Array:
    """Return the score of each target's class, which must be known to exist."""
    dim = class_dim(x)
    if any(n != m for d, (n, m) in enumerate(zip(x.shape, classes.shape, strict=True))
           if d != dim):
        return xp.gather(x, dim, classes)
    return xp.getitem(x, tuple([
        classes if d == dim else in_place(xp, classes.shape, d)
        for d in range(len(x.shape))]))


def weighed(xp: Namespace, losses: Array, weights: Array | None, reduction: str
           ) -> Array:
    """Return the losses, their sum, or their mean by the targets' weights."""
    if known(reduction) == "none":
        return losses
    total = xp.sum(losses)
    if reduction == "sum":
        return total
    return total / (count_of(losses.shape) if weights is None else xp.sum(weights))


def losses_of(xp: Namespace, x: Array, target: Array, weight: Array | None,
              read: Callable[[Namespace, Array, Array], Array],
              reduction: str = "mean", ignore_index: int = -100) -> Array:
    """Return the reduced losses; ``read`` returns the score of each target's class."""
    classes, weights, ignored = weights_of(xp, x, target, weight, ignore_index)
    scores = read(xp, x, classes)
    losses = -scores if ignored is None or weights is None else xp.where(
        ignored, 0, -(scores * weights))
    return weighed(xp, xp.squeeze(losses, class_dim(x)), weights, reduction)


def nll_rule(xp: Namespace, g: Array, y: Array, x: Array, target: Array,
             weight: Array | None = None, reduction: str = "mean",
             ignore_index: int = -100) -> Array:
    classes, weights, ignored = weights_of(xp, x, target, weight, ignore_index)
    dim = class_dim(x)
    if reduction == "mean":
        g = g / (count_of(target.shape) if weights is None else xp.sum(weights))
    at = xp.unsqueeze(g, dim) if reduction == "none" else g
    if ignored is None or weights is None:
        each = xp.expand(-at, classes.shape)
    else:
        each = xp.where(ignored, 0, -at * weights)
    return xp.call("gather.backward", each, classes, x.shape, dim)


def nll_row(name: str, node: str, forward: str, cases: list[Case]) -> None:
    of_floats(name, node=node, formula="-mean(x[i, target[i]])", memory=PACKED,
        rule=Rule(node.replace("0", "Backward0")), one_type=True,
        doc="Negative log likelihood of the target classes.",
        fwd=lambda xp, x, target, weight=None, reduction="mean", ignore_index=-100:
        losses_of(xp, x, target, weight, in_line, reduction, ignore_index),
        vjp=(nll_rule, None, None), fixed=f"{forward} target weight", cases=cases)


nll_row("nll_loss.default", "NllLossBackward0", "nll_loss_forward",
        [case((3, 4), Fixed([0, 3, 1])), case((4,), Fixed(2)),
         case((3, 4), Fixed([0, -100, 1]), Fixed([0.5, 1.0, 2.0, 1.5])),
         case((3, 4), Fixed([2, 3, 1]), reduction="none", ignore_index=3),
         case((3, 2), Fixed([0, 1, 1]), Fixed([0.5, 2.0]), reduction="sum")])
nll_row("nll_loss.2d", "NllLoss2DBackward0", "nll_loss2d_forward",
        [case((2, 3, 1, 2), Fixed([[[0, 2]], [[1, 1]]])),
         case((2, 3, 2, 2), Fixed([[[0, 2], [1, 0]], [[1, 1], [2, 0]]]),
              Fixed([0.5, 1.0, 2.0]), reduction="none")])


def check_classes(x: Array, target: Array, weight: Array | None) -> None:
    shape = tuple(x.shape)
    refuse(not shape, "Expected 1 or more dimensions (got 0)")
    wanted = shape[:1] + shape[2:] if len(shape) > 1 else ()
    if weight is None and tuple(target.shape) == wanted:
        return
    if len(x.shape) > 1 and target.shape and target.shape[0] != x.shape[0]:
        raise ShapeError(f"Expected input batch_size ({x.shape[0]}) to match target "
                         f"batch_size ({target.shape[0]}).")
    refuse(tuple(target.shape) != tuple(wanted), "Expected target size {}, got {}",
           list(wanted), list(target.shape))
    demand_shape("weight of classes", weight, (x.shape[class_dim(x)],))


def by_number(call: Caller, x: Array, target: Array, weight: Array | None,
              ignore_index: int, reduction: str) -> Array:
    """Return the loss of classes that `check_classes` has passed. Scores of rank 3, or
    over 4, are reshaped to images of height 1, as PyTorch does."""
    if len(x.shape) <= 2:
        return call("nll_loss.default", x, target, weight, reduction, ignore_index)
    if len(x.shape) == 4:
        return call("nll_loss.2d", x, target, weight, reduction, ignore_index)
    n, c, rest = x.shape[0], x.shape[1], count_of(x.shape[2:])
    flat = call("view", call("contiguous", x), (n, c, 1, rest))
    places = call("reshape", target, (n, 1, rest))
    y = call("nll_loss.2d", flat, places, weight, reduction, ignore_index)
    return call("view", y, target.shape) if reduction == "none" else y


@function("nll_loss", operands=("x", "target", "weight"))
def nll_loss(call: Caller, x: Array, target: Array, weight: Array | None = None,
             ignore_index: int = -100, reduction: str = "mean") -> Array:
    check_classes(x, target, weight)
    return by_number(call, x, target, weight, ignore_index, reduction)


# cross entropy of scores


def smooth_part(call: Caller, scores: Array, target: Array, weight: Array | None,
                reduction: str, ignore_index: int) -> Array:
    """Return the loss for equal probabilities of all classes, times their number."""
    spread = scores if weight is None else call("mul", scores, along(call, weight,
                                                                     scores))
    ignored = call("eq", target, ignore_index)
    losses = call("neg", call("sum", spread, class_dim(scores)))
    losses = call("masked_fill", losses, ignored, 0)
    if reduction == "none":
        return losses
    total = call("sum", losses)
    if reduction == "sum":
        return total
    taken = call("as_type_of", call("logical_not", ignored), scores)
    if weight is None:
        return call("div", total, call("sum", taken))
    safe = call("where", ignored, 0, target)
    weights = call("gather", weight, 0, call("reshape", safe, (-1,)))
    weights_of = call("mul", weights, call("reshape", taken, (-1,)))
    return call("div", total, call("sum", weights_of))


def along(call: Caller, weight: Array, x: Array) -> Array:
    """Return the weights of classes, reshaped to broadcast with the scores ``x``."""
    rest = len(x.shape) - class_dim(x) - 1
    return call("reshape", weight, (weight.shape[0], *(1,) * rest))


# Label smoothing: Szegedy et al. 2015, arXiv:1512.00567, section 7.
def by_class(call: Caller, scores: Array, target: Array, weight: Array | None,
             ignore_index: int, reduction: str, smoothing: float) -> Array:
    loss = by_number(call, scores, target, weight, ignore_index, reduction)
    if not smoothing:
        return loss
    smooth = smooth_part(call, scores, target, weight, reduction, ignore_index)
    share = smoothing / scores.shape[class_dim(scores)]
    return call("add", call("mul.Scalar", loss, 1 - smoothing),
                call("mul.Scalar", smooth, share))


def by_probability(call: Caller, scores: Array, target: Array, weight: Array | None,
                   ignore_index: int, reduction: str, smoothing: float) -> Array:
    classes = scores.shape[class_dim(scores)]
    if smoothing:
        target = call("add.Scalar", call("mul.Scalar", target, 1 - smoothing),
                      smoothing / classes)
    products = call("mul", scores, target)
    if weight is not None:
        products = call("mul", products, along(call, weight, scores))
    if reduction == "none":
        return call("neg", call("sum", products, class_dim(scores)))
    total = call("neg", call("sum", products))
    if reduction == "sum":
        return total
    return call("div.Scalar", total, count_of(scores.shape) / classes)


@function("cross_entropy", operands=("x", "target", "weight"),
          formula="-mean(log_softmax(x)[i, target[i]])",
          doc="Cross entropy of scores and classes, or and probabilities.",
          cases=[case((3, 4), Fixed([0, 3, 1])), case((3, 4), (3, 4)),
                 case((3, 4), Fixed([0, 3, 1]), (4,), low=0.2),
                 case((3, 4), Fixed([0, 3, 1]), ignore_index=3, reduction="sum"),
                 case((2, 3, 2), Fixed([[0, 2], [1, 1]]), reduction="none"),
                 case((3, 4), Fixed([0, 3, 1]), label_smoothing=0.1)])
def cross_entropy(call: Caller, x: Array, target: Array, weight: Array | None = None,
                  ignore_index: int = -100, reduction: str = "mean",
                  label_smoothing: float = 0.0) -> Array:
    known(reduction)
    fixed("cross_entropy", weight=weight)
    refuse(not 0 <= label_smoothing <= 1, "label_smoothing must be between 0.0 and "
           "1.0. Got: {}", label_smoothing, kind=ValueRangeError)
    refuse(not x.shape, "Expected 1 or more dimensions (got 0)")
    form = by_probability if tuple(target.shape) == tuple(x.shape) else by_class
    if form is by_class:
        check_classes(x, target, weight)
    scores = call("log_softmax", x, class_dim(x))
    return form(call, scores, target, weight, ignore_index, reduction, label_smoothing)


# losses made of elementwise functions


def averaged(call: Caller, losses: Array, reduction: str) -> Array:
    return losses if known(reduction) == "none" else call(reduction, losses)


row("clone.at_least", formula="max(x, floor)", kink="below the floor the slope stays 1",
    fwd=lambda xp, x, floor: xp.maximum(x, floor), vjp=(lambda xp, g, y, x, floor: g,),
    jvp=lambda xp, t, y, x, floor: t[0],
    cases=[case((3, 4), low=0.5, floor=0.1), case((), low=0.5, floor=1e-8)], saves="")


@function("kl_div", operands=("x", "target"), formula="mean(target*(log(target) - x))",
          doc="Kullback-Leibler divergence of log probabilities from a target.",
          cases=[case((3, 4), (3, 4), low=0.1),
                 case((3,), (3,), reduction="batchmean", low=0.1),
                 case((3,), (3,), reduction="sum", log_target=True)])
def kl_div(call: Caller, x: Array, target: Array, reduction: str = "mean",
           log_target: bool = False) -> Array:
    if holds(WHOLES, x) or holds(WHOLES, target):
        raise KindError("kl_div: Integral inputs not supported.")
    if log_target:
        losses = call("exp", target) * (target - x)
    else:
        losses = call("xlogy", target, target) - target * x
    if reduction != "batchmean":
        return averaged(call, losses, reduction)
    total = call("sum", losses)
    return total / x.shape[0] if x.shape else total


@function("margin_ranking_loss", operands=("input1", "input2", "target"),
          formula="mean(max(0, margin - target*(input1 - input2)))",
          doc="Loss for pairs in the wrong order.",
          cases=[case((4,), (4,), Fixed([1.0, -1.0, 1.0, -1.0])),
                 case((2,), (2,), Fixed([1.0, -1.0]), margin=0.5, reduction="none")])
def margin_ranking_loss(call: Caller, input1: Array, input2: Array, target: Array,
                        margin: float = 0.0, reduction: str = "mean") -> Array:
    refuse(not len(input1.shape) == len(input2.shape) == len(target.shape),
           "margin_ranking_loss : All input tensors should have same dimension")
    order = call("add.Scalar", -target * (input1 - input2), margin)
    return averaged(call, call("clamp_min", order, 0), reduction)


@function("cosine_similarity", operands=("x", "other"),
          formula="sum(x*other, dim)/(norm(x, 2, dim)*norm(other, 2, dim))",
          doc="Cosine of the angle between vectors along a dimension.",
          cases=[case((2, 3), (2, 3)), case((2, 3), (2, 3), dim=0),
                 case((3,), (2, 3), dim=-1)])
def cosine_similarity(call: Caller, x: Array, other: Array, dim: int = 1,
                      eps: float = 1e-8) -> Array:
    def unit(v: Array) -> Array:
        size = call("linalg.vector_norm", v, 2, dim, True)
        return v / call("clone.at_least", size, eps)

    if x.shape != other.shape:
        shape = broadcast_shape(x.shape, other.shape)
        x, other = call("expand", x, shape), call("expand", other, shape)
    return call("sum", unit(x) * unit(other), dim)
