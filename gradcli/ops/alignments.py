"""The loss of scores over time against fewer labels, over all ways to lay the one along
the other.

Between the labels, before and after them stands a blank, which may be left out between
labels that differ: these are the *states* of a way, one at each time. Sums over ways
run forward and backward over time on logarithms.

Invariant: what no way reaches is known from the labels and the lengths alone, and is
left out of every sum, so that no formula meets an infinity that is not in the scores.

    ctc_loss(log_softmax(x, 2), targets, [50], [10])        # CtcLossBackward0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf, nan
from typing import NamedTuple, cast

from .bags import beside
from .checks import KindError, PositionError, ShapeError, as_sizes, holds
from .limits import check_size
from .loss import known
from .op import TRUTHS, WHOLES, Fixed, case, function, no_kernel, row
from .types import Array, Call, Namespace, Positions, Shape, Sizes, Tangents

# fmt: off


class Ways(NamedTuple):
    """What the labels and the lengths say of a batch, by item and state.

    labels   the class of a state, the blank included
    early    the first time at which a state is reached; and at which the one before it
             is, and the one before that, which comes right before it only where a label
             is not repeated
    late     how many times before the last one a state has to be reached at the latest;
             and the one behind it, and the one behind that
    last     the time of an item's last scores
    ends     the last two states of an item, and when they are reached first
    """

    labels: Positions
    early: tuple[Positions, ...]
    late: tuple[Positions, ...]
    last: Positions
    ends: tuple[tuple[Positions, Positions], ...]


class Item(NamedTuple):
    """The states of one item, in order: their labels, and when they are reached."""

    labels: list[int]
    early: list[list[int]]
    late: list[list[int]]


NEVER = 1 << 40
"""A time that never comes."""


def listed(targets: Positions, lengths: Shape, classes: int) -> list[list[int]]:
    """The labels of each item, which come side by side or one behind the other."""
    if targets.ndim > 1:
        each = [line[:n] for line, n in zip(targets.tolist(), lengths, strict=True)]
    else:
        given = targets.tolist()
        ends = [sum(lengths[:nr + 1]) for nr in range(len(lengths))]
        each = [given[end - n:end] for end, n in zip(ends, lengths, strict=True)]
    for label in {label for line in each for label in line}:
        if not 0 <= label < classes:
            raise PositionError(f"Target {label} is out of bounds.")
    return each


def steps(states: Sequence[int], count: int) -> list[list[int]]:
    """By state how soon it is reached from the beginning, how soon the one before it
    is, and the one before that; `NEVER` where no way goes on from there."""
    first = [0, 0]
    before = [NEVER, NEVER]
    for s in range(2, len(states)):
        before.append(first[s - 2] if states[s] != states[s - 2] else NEVER)
        first.append(min(first[s - 1], before[s]) + 1)
    first = first[:len(states)]
    every = [first, [NEVER, *first[:-1]], before[:len(states)]]
    return [times + [NEVER] * (count - len(times)) for times in every]


def item(labels: Sequence[int], blank: int, count: int) -> Item:
    """An item's states, and blanks that are never reached up to ``count``."""
    states = [blank]
    for label in labels:
        states += [label, blank]
    n, rest = len(states), count - len(states)
    late = [times[:n][::-1] + [NEVER] * rest for times in steps(states[::-1], count)]
    return Item(states + [blank] * rest, steps(states, count), late)


def ways(xp: Namespace, x: Array, targets: Array, input_lengths: Shape,
         target_lengths: Shape, blank: int) -> Ways:
    count = 2 * max(target_lengths) + 1
    check_size((*x.shape[:2], count))
    items = [item(labels, blank, count) for labels in listed(
        xp.as_index(targets), target_lengths, x.shape[2])]

    def table(rows: Sequence[Sequence[int]]) -> Positions:
        return beside(xp, x, list(rows)).reshape((len(items), -1))

    def column(numbers: Iterable[int]) -> Positions:
        return table([[n] for n in numbers])

    ends = [[2 * n for n in target_lengths], [2 * n - 1 for n in target_lengths]]
    return Ways(
        table([each.labels for each in items]),
        tuple([table([each.early[k] for each in items]) for k in range(3)]),
        tuple([table([each.late[k] for each in items]) for k in range(3)]),
        column([n - 1 for n in input_lengths]),
        tuple([(column([max(s, 0) for s in states]),
                column([NEVER if s < 0 else each.early[0][s] for s, each in zip(
                    states, items, strict=True)])) for states in ends]))


def shifted(xp: Namespace, x: Array, by: int) -> Array:
    """Each state's value at the state so many further on; below 0: further back."""
    n = x.shape[1]
    if abs(by) >= n:
        return xp.zeros_like(x)
    edge = xp.new_full(x, (x.shape[0], abs(by)), 0)
    if by > 0:
        return xp.cat([edge, xp.narrow(x, 1, 0, n - by)], 1)
    return xp.cat([xp.narrow(x, 1, -by, n + by), edge], 1)


def added(xp: Namespace, parts: Sequence[tuple[Array, Array]]) -> Array:
    """The logarithm of the sum of those that are reached; 0 where none is."""
    total, reached = parts[0]
    for part, there in parts[1:]:
        both = xp.logical_and(reached, there)
        sums = xp.logaddexp(xp.where(both, total, 0), xp.where(both, part, 0))
        total = xp.where(both, sums, xp.where(there, part, total))
        reached = xp.logical_or(reached, there)
    return xp.where(reached, total, 0)


def scores_of(xp: Namespace, x: Array, way: Ways) -> Array:
    """The scores by time, item and state."""
    return xp.gather(x, 2, at_all_times(xp, x, way))


def at_all_times(xp: Namespace, x: Array, way: Ways) -> Array:
    shape = x.shape[0], *way.labels.shape
    return xp.expand(xp.unsqueeze(way.labels, 0), shape)


def forward(xp: Namespace, scores: Array, way: Ways) -> list[Array]:
    """The logarithms of the sums over ways up to a state, at each time."""
    sums: list[Array] = []
    for t in range(scores.shape[0]):
        now = xp.select(scores, 0, t)
        if sums:
            before = sums[-1]
            parts = [before, shifted(xp, before, 1), shifted(xp, before, 2)]
            now = now + added(xp, [(part, xp.lt(first, t)) for part, first in zip(
                parts, way.early, strict=True)])
        sums.append(xp.where(xp.le(way.early[0], t), now, 0))
    return sums


def backward(xp: Namespace, scores: Array, way: Ways) -> list[Array]:
    """The logarithms of the sums over ways from behind a state to the end."""
    sums = [xp.zeros_like(xp.select(scores, 0, 0))]
    for t in range(scores.shape[0] - 1, 0, -1):
        behind = sums[-1] + xp.select(scores, 0, t)
        parts = [behind, shifted(xp, behind, -1), shifted(xp, behind, -2)]
        sums.append(added(xp, [(part, xp.le(last, way.last - t)) for part, last in zip(
            parts, way.late, strict=True)]))
    return sums[::-1]


def lost(xp: Namespace, way: Ways) -> Array:
    """Whether no way of an item is short enough for its scores."""
    (_, last), (_, other) = way.ends
    return xp.squeeze(xp.logical_and(xp.gt(last, way.last), xp.gt(other, way.last)), 1)


def summed(xp: Namespace, sums: Sequence[Array], way: Ways) -> Array:
    """Minus the logarithm of the sum over all ways of an item."""
    at = xp.unsqueeze(xp.maximum(way.last, 0), 0)
    last = xp.squeeze(xp.gather(
        xp.stack(sums, 0), 0, xp.expand(at, (1, *way.labels.shape))), 0)
    return -xp.squeeze(added(xp, [
        (xp.gather(last, 1, end), xp.le(first, way.last)) for end, first in way.ends
    ]), 1)


def negative_log(xp: Namespace, x: Array, targets: Array, input_lengths: Shape,
                 target_lengths: Shape, blank: int = 0, zero_infinity: bool = False
                 ) -> Array:
    way = ways(xp, x, targets, input_lengths, target_lengths, blank)
    y = summed(xp, forward(xp, scores_of(xp, x, way), way), way)
    (end, _), _ = way.ends
    nothing = xp.squeeze(xp.logical_and(xp.lt(way.last, 0), xp.eq(end, 0)), 1)
    return xp.where(nothing, 0, xp.where(lost(xp, way), inf, y))


def within(xp: Namespace, values: Array, way: Ways, otherwise: float) -> Array:
    """What stands at an item's own times."""
    times = beside(xp, values, range(values.shape[0])).reshape((-1, 1, 1))
    return xp.where(xp.le(times, way.last.reshape((1, -1, 1))), values, otherwise)


# Graves et al. 2006, doi:10.1145/1143844.1143891, equation 16.
def slopes(xp: Namespace, x: Array, targets: Array, input_lengths: Shape,
           target_lengths: Shape, blank: int, zero_infinity: bool) -> Array:
    """The derivative of each item's loss by its scores."""
    way = ways(xp, x, targets, input_lengths, target_lengths, blank)
    scores = scores_of(xp, x, way)
    so_far = forward(xp, scores, way)
    sums = xp.stack(so_far, 0) + xp.stack(backward(xp, scores, way), 0)
    times = beside(xp, x, range(x.shape[0])).reshape((-1, 1, 1))
    met = xp.logical_and(
        xp.le(xp.unsqueeze(way.early[0], 0), times),
        xp.le(xp.unsqueeze(way.late[0], 0), way.last.reshape((1, -1, 1)) - times))
    hopeless = lost(xp, way)
    # Of its own: the node of the result has another slope, which takes for granted
    # that probabilities sum to 1.
    loss = summed(xp, so_far, way)
    shares = xp.where(met, xp.exp(xp.where(met, sums, 0) + xp.unsqueeze(loss, 1)), 0)
    of_classes = xp.call("gather.backward", shares, at_all_times(xp, x, way), x.shape,
                         2)
    found = xp.exp(x) - of_classes
    hopeless = xp.unsqueeze(hopeless, 1)
    if zero_infinity:
        hopeless = xp.logical_or(hopeless, xp.unsqueeze(xp.isinf(loss), 1))
    return within(xp, xp.where(hopeless, 0 if zero_infinity else nan, found), way, 0)


def tangent(xp: Namespace, t: Tangents, y: Array, x: Array, targets: Array,
            input_lengths: Shape, target_lengths: Shape, blank: int = 0,
            zero_infinity: bool = False) -> Array:
    by_score = slopes(xp, x, targets, input_lengths, target_lengths, blank,
                      zero_infinity)
    return xp.sum(xp.sum(t[0] * by_score, 2), 0)


SURE = [[[-0.5, -1.5, -1.7], [-1.2, -0.9, -1.2]], [[-1.0, -0.8, -1.8],
        [-2.0, -0.3, -2.1]], [[-0.4, -1.9, -1.7], [-1.1, -1.1, -1.1]],
        [[-2.5, -1.4, -0.4], [-0.6, -1.3, -1.8]]]
"""Scores, nearly those of probabilities: four times, two items, three classes."""

AFTER_SOFTMAX = ("that of scores after log_softmax; of others larger by exp(x) than "
                 "the value's, as in PyTorch")

row("ctc_loss.IntList", node="CtcLossBackward0", fwd=negative_log,
    refuses=no_kernel("ctc_loss_cpu", WHOLES) | no_kernel("ctc_loss_cpu", ("float16",)),
    formula="-log(sum(prod(exp(x[t, label[t]]))))",
    doc="Minus the logarithm of the sum over all ways to read the labels.",
    slope=AFTER_SOFTMAX, fixed="_ctc_loss targets",
    vjp=(lambda xp, g, y, x, targets, input_lengths, target_lengths, blank=0,
         zero_infinity=False: xp.unsqueeze(g, 1) * slopes(
             xp, x, targets, input_lengths, target_lengths, blank, zero_infinity),
         None),
    jvp=tangent, saves=("x targets y", ""),
    cases=[case(Fixed(SURE), Fixed([[1, 2], [1, 1]]), input_lengths=(4, 4),
                target_lengths=(2, 2)),
           case(Fixed(SURE), Fixed([0, 1, 2]), input_lengths=(4, 3),
                target_lengths=(1, 2), blank=2),
           case(Fixed(SURE), Fixed([[1, 1], [2, 2]]), input_lengths=(4, 2),
                target_lengths=(0, 2))])

CHECKED = "(while checking arguments for ctc_loss_allocate_outputs)"


def lengths_of(call: Call, name: str, given: Array | Sizes) -> Shape:
    """Lengths, which come as a tensor or as numbers."""
    if not hasattr(given, "dtype"):
        return as_sizes(cast("Sizes", given))
    if not holds(WHOLES, given) or holds(TRUTHS, given):
        raise KindError(f"{name} must be integral")
    found = cast("Positions", call("as_index", given))
    return as_sizes(found.reshape((-1,)).tolist())


def check_lengths(name: str, lengths: Shape, items: int, longest: int | None = None
                  ) -> None:
    if len(lengths) != items:
        raise ShapeError(f"{name} must be of size batch_size")
    for n in lengths:
        if n < 0:
            raise ShapeError(f"Expected {name} to have value at least 0, but got value "
                             f"{n} {CHECKED}")
        if longest is not None and n > longest:
            raise ShapeError(f"Expected {name} to have value at most {longest}, but "
                             f"got value {n} {CHECKED}")


def check_targets(targets: Array, lengths: Shape, items: int) -> None:
    if targets.ndim not in (1, 2):
        raise ShapeError(f"Expected 1 to 2 dimensions, but got {targets.ndim}-"
                         f"dimensional tensor for argument #2 'targets' {CHECKED}")
    wanted = sum(lengths) if targets.ndim == 1 else items
    if targets.shape[0] != wanted:
        raise ShapeError(f"Expected tensor to have size {wanted} at dimension 0, but "
                         f"got size {targets.shape[0]} for argument #2 'targets' "
                         f"{CHECKED}")
    if targets.ndim == 2 and targets.shape[1] < max(lengths):
        raise ShapeError(f"Expected tensor to have size at least {max(lengths)} at "
                         f"dimension 1, but got size {targets.shape[1]} for argument "
                         f"#2 'targets' {CHECKED}")


def ctc_loss(call: Call, log_probs: Array, targets: Array,
             input_lengths: Array | Sizes, target_lengths: Array | Sizes,
             blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
             ) -> Array:
    known(reduction)
    times, counts = (lengths_of(call, name, given) for name, given in (
        ("input_lengths", input_lengths), ("target_lengths", target_lengths)))
    if 0 in log_probs.shape:
        raise ShapeError("log_probs tensor must not be empty")
    alone = log_probs.ndim != 3
    x = call("unsqueeze", log_probs, 1) if alone else log_probs
    if x.ndim != 3:
        raise ShapeError(f"Expected 3-dimensional tensor, but got {x.ndim}-dimensional "
                         f"tensor for argument #1 'log_probs' {CHECKED}")
    if not 0 <= blank < x.shape[2]:
        raise ShapeError("blank must be in label range")
    check_lengths("input_lengths", times, x.shape[1], x.shape[0])
    check_lengths("target_lengths", counts, x.shape[1])
    check_targets(targets, counts, x.shape[1])
    y = call("ctc_loss.IntList", x, targets, times, counts, blank, zero_infinity)
    if zero_infinity:
        y = call("where", call("eq", y, inf), call("zeros_like", call("detach", y)), y)
    if reduction == "none":
        return call("squeeze", y, 0) if alone else y
    if reduction == "sum":
        return call("sum", y)
    each = call("as_type_of", [max(n, 1) for n in counts], call("detach", y))
    return call("mean", call("div", y, each))


function("ctc_loss", ctc_loss, operands=("log_probs", "targets"),
         formula="-mean(log(sum(prod(exp(log_probs[t, label[t]])))))",
         doc="Loss of scores over time against labels, wherever these stand in time.",
         slope=AFTER_SOFTMAX,
         cases=[case((4, 2, 3), Fixed([[1, 2], [1, 1]]), input_lengths=(4, 4),
                     target_lengths=(2, 2)),
                case((4, 3), Fixed([1, 2]), input_lengths=(4,), target_lengths=(2,),
                     reduction="none", zero_infinity=True),
                case((3, 2, 3), Fixed([1, 2, 2]), input_lengths=(3, 2),
                     target_lengths=(1, 2), reduction="sum", zero_infinity=True)])
