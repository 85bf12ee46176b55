"""Losses that are one node of the graph, with PyTorch's reductions.

Invariant: a row's formulas return the loss, or the slope, of each entry; `reduced` and
`by_slopes` apply the reduction to the losses and to the cotangent.

    mse_loss(x, target)                     # MseLossBackward0, the mean
    mse_loss(x, target, reduction="sum")
"""

from __future__ import annotations

from .checks import (
    ShapeError,
    ValueRangeError,
    broadcast_shape,
    count_of,
    demand_fixed,
    demand_shape,
    refuse,
)
from .exact import reciprocal
from .op import Fixed, Rule, Rules, case, function, of_floats, row
from .types import Array, ArrayRule, Call, Namespace, Tangents

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


def alike(call: Call, x: Array, target: Array) -> tuple[Array, Array]:
    """Return both operands at their common shape; an expansion is a node of its own."""
    shape = broadcast_shape(x.shape, target.shape)
    grown = [a if a.shape == shape else call("expand", a, shape) for a in (x, target)]
    return grown[0], grown[1]


def within(x: Array, *others: Array | None) -> None:
    """Raise `ShapeError` unless all other operands broadcast to the shape of ``x``."""
    shape = broadcast_shape(x.shape, *[v.shape for v in others if v is not None])
    if shape != tuple(x.shape):
        raise ShapeError(f"output with shape {list(x.shape)} doesn't match the "
                         f"broadcast shape {list(shape)}")


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

    def along(xp: Namespace, t: Tangents, y: Array, *operands: Array,
              reduction: str = "mean", **how: object) -> Array:
        parts = [slope(xp, *operands, **how) * t[k] for k, slope in enumerate(slopes)]
        return reduced(xp, sum(parts[1:], parts[0]), reduction)

    return {"vjp": (*map(pulling, slopes), *(None,) * fixed), "jvp": along}


def of_gap(slope: ArrayRule) -> Rules:
    """Return the rules of a loss of ``d = x - target``, given its slope, odd in d."""
    return by_slopes(lambda xp, x, target, **how: slope(xp, x - target, **how),
                     lambda xp, x, target, **how: slope(xp, target - x, **how))


# losses of the difference from the target

of_floats("mse_loss.default", node="MseLossBackward0", formula="mean((x - target)**2)",
    rule=Rule("MseLossBackwardBackward0", (0, 1), passes=True, turns=True),
    doc="Mean squared error.",
    fwd=lambda xp, x, target, reduction="mean":
        reduced(xp, xp.square(x - target), reduction),
    **of_gap(lambda xp, d: 2 * d), cases=PAIR)


def smooth_l1(xp: Namespace, d: Array, beta: float) -> Array:
    a, half = xp.abs(d), 0.5 * reciprocal(xp, beta)
    return xp.where(xp.lt(a, beta), xp.square(d) * half, a - 0.5 * beta)


# Girshick 2015, arXiv:1504.08083, equation 3.
of_floats("smooth_l1_loss.default", node="SmoothL1LossBackward0",
    rule=Rule("SmoothL1LossBackwardBackward0", (0, 1), passes=True, turns=True),
    formula="mean(d**2/(2*beta) if |d| < beta else |d| - beta/2), d = x - target",
    doc="Squared error near the target, absolute error away from it.",
    fwd=lambda xp, x, target, reduction="mean", beta=1.0:
        reduced(xp, smooth_l1(xp, x - target, beta), reduction),
    **of_gap(lambda xp, d, beta=1.0: xp.where(
        xp.ge(xp.abs(d), beta), xp.sign(d), d / beta)),
    cases=[*PAIR, case((3, 4), (3, 4), beta=0.3), case((3,), (3,), beta=9.0)])


def huber(xp: Namespace, d: Array, delta: float) -> Array:
    a = xp.abs(d)
    return xp.where(xp.le(a, delta), 0.5 * xp.square(d), delta * (a - 0.5 * delta))


# Huber 1964, doi:10.1214/aoms/1177703732.
of_floats("huber_loss.default", node="HuberLossBackward0",
    rule=Rule("HuberLossBackwardBackward0", (0, 1), passes=True, turns=True),
    formula="mean(d**2/2 if |d| <= delta else delta*(|d| - delta/2)), d = x - target",
    doc="Half the squared error near the target, absolute error away from it.",
    fwd=lambda xp, x, target, reduction="mean", delta=1.0:
        reduced(xp, huber(xp, x - target, delta), reduction),
    **of_gap(lambda xp, d, delta=1.0: xp.where(
        xp.ge(xp.abs(d), delta), delta * xp.sign(d), d)),
    cases=[*PAIR, case((3, 4), (3, 4), delta=0.3), case((3,), (3,), delta=9.0)])


def counted(call: Call, losses: Array, weight: Array, reduction: str) -> Array:
    """Return the weighted losses, their sum, or their sum over that of the weights."""
    if tuple(weight.shape) != tuple(losses.shape):
        raise ShapeError("Inputs and weight must have the same size.")
    losses = call("mul", losses, weight)
    if reduction == "mean":
        return call("div", call("sum", losses), call("sum", weight))
    return call("sum", losses) if reduction == "sum" else losses


@function("mse_loss", operands=("x", "target", "weight"))
def mse_loss(call: Call, x: Array, target: Array, reduction: str = "mean",
             weight: Array | None = None) -> Array:
    known(reduction)
    x, target = alike(call, x, target)
    if weight is None:
        return call("mse_loss.default", x, target, reduction)
    squares = call("pow", call("sub", x, target), 2)
    return counted(call, squares, weight, reduction)


@function("l1_loss", operands=("x", "target", "weight"),
          formula="mean(abs(x - target))", doc="Mean absolute error.",
          kink="where x equals its target the slope is 0",
          cases=[case((3, 4), (3, 4)), case((3,), (3,), reduction="sum"),
                 case((3,), (3,), reduction="none")])
def l1_loss(call: Call, x: Array, target: Array, reduction: str = "mean",
            weight: Array | None = None) -> Array:
    known(reduction)
    gaps = call("abs", call("sub", *alike(call, x, target)))
    if weight is not None:
        return counted(call, gaps, weight, reduction)
    return gaps if reduction == "none" else call(reduction, gaps)


@function("smooth_l1_loss", operands=("x", "target"))
def smooth_l1_loss(call: Call, x: Array, target: Array, reduction: str = "mean",
                   beta: float = 1.0) -> Array:
    refuse(beta < 0, "smooth_l1_loss does not support negative values for beta.",
           kind=ValueRangeError)
    if beta == 0:
        return l1_loss(call, x, target, reduction)
    x, target = alike(call, x, target)
    return call("smooth_l1_loss.default", x, target, reduction, beta)


@function("huber_loss", operands=("x", "target", "weight"),
          formula="mean(d**2/2 if |d| <= delta else delta*(|d| - delta/2))")
def huber_loss(call: Call, x: Array, target: Array, reduction: str = "mean",
               delta: float = 1.0, weight: Array | None = None) -> Array:
    refuse(delta <= 0, "huber_loss does not support non-positive values for delta.",
           kind=ValueRangeError)
    x, target = alike(call, x, target)
    if weight is None:
        return call("huber_loss.default", x, target, reduction, delta)
    losses = call("huber_loss.default", x, target, "none", delta)
    return counted(call, losses, weight, reduction)


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


def bce_by_target(xp: Namespace, x: Array, target: Array, weight: Array | None = None
                 ) -> Array:
    gap = xp.maximum(xp.log1p(-x), FLOOR) - xp.maximum(xp.log(x), FLOOR)
    return weighted(gap, weight)


BETWEEN = [case((3, 4), (3, 4), low=0.1, high=0.9),
           case((4,), (4,), reduction="sum", low=0.1, high=0.9),
           case((2, 3), (2, 3), Fixed([0.5, 2.0, 1.5]), reduction="none", low=0.1,
                high=0.9), case((), (), low=0.1, high=0.9)]

row("binary_cross_entropy.default", node="BinaryCrossEntropyBackward0",
    rule=Rule("BinaryCrossEntropyBackwardBackward0", (0, 1), gives=(0,), passes=True),
    one_type=True,
    formula="-mean(target*log(x) + (1 - target)*log(1 - x))",
    doc="Cross entropy of probabilities and their targets.",
    kink="logarithms are taken to be at least -100; the divisor x*(1 - x) of the slope "
         "is at least 1e-12",
    fwd=lambda xp, x, target, weight=None, reduction="mean":
        reduced(xp, bce(xp, x, target, weight), reduction),
    **by_slopes(lambda xp, x, target, weight=None: weighted(
        (x - target) / xp.maximum(x * (1 - x), 1e-12), weight), bce_by_target, fixed=1),
    fixed="binary_cross_entropy weight",
    cases=BETWEEN)


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
    node="BinaryCrossEntropyWithLogitsBackward0",
    formula="mean((1 - target)*x - log(sigmoid(x)))",
    doc="Cross entropy of logits and their targets, without overflow.",
    fwd=lambda xp, x, target, weight=None, pos_weight=None, reduction="mean":
        reduced(xp, logit_loss(xp, x, target, weight, pos_weight), reduction),
    **by_slopes(logit_by_x, logit_by_target, fixed=2),
    fixed="binary_cross_entropy_with_logits weight pos_weight",
    cases=[*PAIR, case((3, 4), (3, 4), Fixed([0.5, 2.0, 1.5, 1.0])),
           case((3, 4), (3, 4), Fixed(2.0), Fixed([0.5, 2.0, 1.5, 1.0]),
                reduction="none")],
    saves="x target weight pos_weight")


@function("binary_cross_entropy", operands=("x", "target", "weight"))
def binary_cross_entropy(call: Call, x: Array, target: Array,
                         weight: Array | None = None, reduction: str = "mean") -> Array:
    refuse(tuple(x.shape) != tuple(target.shape), "Using a target size ({}) that is "
           "different to the input size ({}) is deprecated. Please ensure they have "
           "the same size.", list(target.shape), list(x.shape))
    within(x, weight)
    return call("binary_cross_entropy.default", x, target, weight, reduction)


@function("binary_cross_entropy_with_logits",
          operands=("x", "target", "weight", "pos_weight"))
def with_logits(call: Call, x: Array, target: Array, weight: Array | None = None,
                reduction: str = "mean", pos_weight: Array | None = None) -> Array:
    demand_shape("target", target, x.shape)
    within(x, weight, pos_weight)
    return call("binary_cross_entropy_with_logits.default", x, target, weight,
                pos_weight, reduction)


@of_floats("soft_margin_loss", node="SoftMarginLossBackward0",
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
