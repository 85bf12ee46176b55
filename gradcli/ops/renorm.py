"""Slices of a tensor made no longer than a bound.

    renorm(w, 2, 0, 1)      # rows longer than 1 are shortened to 1

Invariant: a slice within the bound is passed on as it is, and so is its cotangent.
"""

from __future__ import annotations

from .checks import ShapeError, demand_rank, dim_of
from .norm import norm_of, slope_of
from .op import PACKED, WHOLES, case, row
from .types import Array, Namespace, Tangents

# fmt: off

ROOM = 1e-7
"""Number that PyTorch adds to a norm before it divides by it."""


def others(x: Array, dim: int) -> tuple[int, ...]:
    """Return the dimensions that a slice has."""
    demand_rank("renorm", x, 2)
    d = dim_of(x.shape, dim)
    return tuple([i for i in range(len(x.shape)) if i != d])


def demand_order(p: float, maxnorm: float) -> None:
    if p <= 0:
        raise ShapeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise ShapeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")


def _renorm(xp: Namespace, x: Array, p: float, dim: int, maxnorm: float) -> Array:
    demand_order(p, maxnorm)
    norm = norm_of(xp, x, p, others(x, dim))
    factor = xp.where(xp.gt(norm, maxnorm), maxnorm / (norm + ROOM), 1)
    return x * xp.as_type_of(factor, x)


def _parts(xp: Namespace, x: Array, p: float, dim: int, maxnorm: float
          ) -> tuple[Array, Array, Array]:
    """Return which slices are too long, one over their norms, and the norms' slopes."""
    over = others(x, dim)
    norm = norm_of(xp, x, p, over)
    return xp.gt(norm, maxnorm), 1 / (norm + ROOM), slope_of(xp, x, norm, p, over)


def _pull(xp: Namespace, g: Array, y: Array, x: Array, p: float, dim: int,
          maxnorm: float) -> Array:
    long, inverse, slope = _parts(xp, x, p, dim, maxnorm)
    along = xp.sum(x * g, others(x, dim), True)
    shortened = maxnorm * inverse * (g - inverse * along * slope)
    return xp.where(long, shortened, g)


def _push(xp: Namespace, t: Tangents, y: Array, x: Array, p: float, dim: int,
          maxnorm: float) -> Array:
    long, inverse, slope = _parts(xp, x, p, dim, maxnorm)
    along = xp.sum(slope * t[0], others(x, dim), True)
    return xp.where(long, maxnorm * inverse * (t[0] - inverse * along * x), t[0])


# PyTorch's renorm_backward.
row("renorm", node="RenormBackward0", fwd=_renorm, vjp=(_pull,), jvp=_push,
    refuses=WHOLES, memory=PACKED, in_place=True, saves="x",
    wide=True,
    doc="Slices along a dimension whose norm is larger than a bound, shortened to it.",
    formula="x[i]*min(1, maxnorm/norm(x[i], p))",
    kink="where a norm is the bound itself, the slice counts as within it",
    cases=[case((3, 4), p=2, dim=0, maxnorm=1.0),
           case((3, 4), p=1, dim=1, maxnorm=2.0),
           case((2, 3, 2), p=3, dim=-1, maxnorm=1.5)])
