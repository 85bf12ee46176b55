"""Quantiles: interpolations between two neighbours of the sorted entries.

Invariant: the graph is PyTorch's: the sorted entries are read twice and interpolated,
so that the two entries get a cotangent, and ``q`` too if it needs a gradient.

    quantile(x, 0.5, dim=0)
    quantile(x, [0.25, 0.75])       # one result per entry of q, along a new dimension
"""

from __future__ import annotations

from math import prod

from .checks import ValueRangeError, demand_rank, dim_of, refuse
from .op import Formula, case, function
from .types import Array, Call

# fmt: off

MODES = ("linear", "lower", "higher", "midpoint", "nearest")
ROUNDINGS = {"lower": "floor", "higher": "ceil", "nearest": "round"}
ORDER = "one result per entry of q: the entry of rank q*(n - 1), between two of them"


def fractions_of(call: Call, name: str, x: Array, q: Array) -> Array:
    """Return ``q`` as a tensor like ``x``; raise unless all of it is in [0, 1]."""
    if isinstance(q, int | float):
        refuse(not 0 <= q <= 1, "{}() q must be in the range [0, 1] but got {}", name,
               q, kind=ValueRangeError)
        return call("new_full", x, (), q)
    if isinstance(q, list | tuple):
        q = call("as_type_of", q, x)
    demand_rank(f"{name}: q", q, 0, 1)
    inside = call("logical_and", call("ge", q, 0), call("le", q, 1))
    if not bool(call("all", inside)):
        raise ValueRangeError(f"{name}() q values must be in the range [0, 1]")
    return q


def in_order(call: Call, x: Array, dim: int | None) -> Array:
    """Return ``x`` sorted along ``dim``, which becomes the last dimension; for None it
    is flattened first."""
    if dim is None:
        x = call("flatten", x)
    elif dim != x.ndim - 1:
        x = call("transpose", call("unsqueeze", x, -1), dim, -1)
    return call("sort.default", x, -1)[0]


def left_shape(x: Array, dim: int | None, keepdim: bool) -> tuple[int, ...]:
    """Return the shape of the result for one entry of ``q``."""
    if dim is None:
        return (1,) * x.ndim if keepdim else ()
    kept = (1,) if keepdim and x.shape else ()
    return (*x.shape[:dim], *kept, *x.shape[dim + 1:])


def ranks_of(call: Call, ordered: Array, q: Array, skips_nan: bool) -> Array:
    """Return the quantiles' ranks, which may be fractions, along the last dimension; a
    line with a NaN has the last rank, where the NaN is, unless NaNs are skipped."""
    absent = call("isnan", ordered)
    if skips_nan:
        present = call("sum", call("as_type_of", call("logical_not", absent), ordered),
                       -1, True)
        ranks = call("mul", q, call("sub", present, 1))
        return call("masked_fill", ranks, call("lt", ranks, 0), 0)
    last = ordered.shape[-1] - 1
    some = call("any", absent, -1, True)
    shape = (*ordered.shape[:-1], prod(q.shape))
    ranks = call("expand", call("mul.Scalar", q, last), shape)
    return call("masked_fill", ranks, call("expand", some, shape), last)


def read(call: Call, ordered: Array, ranks: Array) -> Array:
    return call("gather", ordered, -1, call("as_index", ranks))


# Hyndman, Fan 1996, doi:10.2307/2684934: linear is definition 7.
def interpolated(call: Call, ordered: Array, ranks: Array, mode: str) -> Array:
    if mode in ROUNDINGS:
        return read(call, ordered, call(ROUNDINGS[mode], call("detach", ranks)))
    below = call("floor", call("detach", ranks))
    above = call("ceil", call("detach", ranks))
    weights = (call("full_like", below, 0.5) if mode == "midpoint"
               else call("sub", ranks, below))
    return call("lerp", read(call, ordered, below), read(call, ordered, above), weights)


def quantile_of(name: str, skips_nan: bool) -> Formula:
    def quantile(call: Call, x: Array, q: Array, dim: int | None = None,
                 keepdim: bool = False, *, interpolation: str = "linear") -> Array:
        refuse(interpolation not in MODES, "{}() interpolation must be one of linear, "
               "lower, higher, midpoint or nearest, but got {}", name, interpolation,
               kind=ValueRangeError)
        refuse(0 in x.shape, "{}() input tensor must be non-empty", name)
        d = None if dim is None else dim_of(x.shape, dim)
        fractions = fractions_of(call, name, x, q)
        ordered = in_order(call, x, d)
        shape = (prod(fractions.shape), *left_shape(x, d, keepdim))
        ordered = call("view", ordered, (*shape[1:], ordered.shape[-1]))
        ranks = ranks_of(call, ordered, fractions, skips_nan)
        values = interpolated(call, ordered, ranks, interpolation)
        if fractions.shape:
            values = call("unsqueeze_.inside", values, 0)
            values = call("transpose_.inside", values, 0, -1)
        return call("squeeze_.dim", values, -1)

    return quantile


for _name, _skips, _doc in (
    ("quantile", False, "The q-th quantiles of all entries, or along a dimension."),
    ("nanquantile", True, "The q-th quantiles of what is not NaN."),
):
    function(_name, quantile_of(_name, _skips), operands=("x",), either="q", doc=_doc,
             formula=ORDER, kink="the derivative is that of the entries met",
             cases=[case((3, 4), q=0.3, make="distinct"),
                    case((3, 4), q=0.6, dim=0, keepdim=True, make="distinct"),
                    case((5,), q=0.5, interpolation="midpoint", make="distinct"),
                    case((2, 5), q=0.6, dim=-1, interpolation="lower",
                         make="distinct")])
