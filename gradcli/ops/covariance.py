"""Covariances and correlations of variables, which are rows; columns are observations.

Invariant: the graph has the nodes of PyTorch's own computation, in its order.

    cov(x)          # x[i] are the observations of the i-th variable
"""

from __future__ import annotations

from .checks import EngineError, ShapeError, count_of, demand_rank, holds
from .op import case, function
from .types import Array, Call, Operand

# fmt: off


def observations(call: Call, name: str, x: Array) -> Array:
    demand_rank(name, x, 0, 2)
    return x if len(x.shape) == 2 else call("view", x, (1, count_of(x.shape)))


def check_weights(call: Call, name: str, w: Array, whole: bool, x: Array) -> None:
    """Raise unless the weights are one number, not negative, per observation, and
    integers if ``whole``, else floats."""
    demand_rank(f"cov: {name}", w, 0, 1)
    if holds("f", w) is whole:
        raise EngineError(f"cov(): {name} are {'integers' if whole else 'floats'}")
    if count_of(w.shape) != x.shape[1]:
        raise ShapeError(f"cov(): {count_of(w.shape)} {name} for {x.shape[1]} "
                         "observations")
    if bool(call("any", call("lt", w, 0))):
        raise EngineError(f"cov(): {name} cannot be negative")


@function("cov", operands=("x", "fweights", "aweights"),
          formula="(x - mean(x)) @ (x - mean(x)).T / (n - correction)",
          doc="The covariances of variables, whose observations are columns; with "
              "fweights each is counted so often, aweights say how much each counts.",
          also=("covariance",),
          cases=[case((3, 4)), case((4,)), case((2, 3), correction=0)])
def cov(call: Call, x: Array, *, correction: int = 1, fweights: Array | None = None,
        aweights: Array | None = None) -> Array:
    if holds("b", x):
        raise EngineError("cov(): bool dtype is not supported for input")
    x = observations(call, "cov", x)
    w: Array | None = None
    for name, given, whole in (("fweights", fweights, True),
                               ("aweights", aweights, False)):
        if given is not None:
            check_weights(call, name, given, whole, x)
            w = given if w is None else w * given
    weighted = x if w is None else x * w
    plain = call("new_full", call("detach", x), (), x.shape[1])
    total = plain if w is None else call("sum", w)
    mean = call("sum", weighted, 1) / total
    less: Operand = correction
    if aweights is not None and w is not None and correction:
        less = call("sum", w * aweights) * correction / total
    divisor = call("clamp_min", total - less, 0)
    x = x - call("unsqueeze", mean, 1)
    weighted = x if w is None else x * w
    return call("squeeze", call("mm", x, call("t", weighted)) / divisor)


@function("corrcoef", operands=("x",),
          formula="cov(x)[i, j] / sqrt(cov(x)[i, i]*cov(x)[j, j])",
          doc="The correlations of variables, whose observations are columns.",
          kink="of a variable that is constant they are NaN", also=("correlation",),
          cases=[case((3, 4)), case((2, 3))])
def corrcoef(call: Call, x: Array) -> Array:
    if len(x.shape) > 2:
        observations(call, "corrcoef", x)
    c = cov(call, x)
    if not c.shape:
        return c / c
    spread = call("sqrt", call("diagonal", c))
    c = c / call("view", spread, (spread.shape[0], 1))
    return call("clamp", c / call("view", spread, (1, spread.shape[0])), -1, 1)
