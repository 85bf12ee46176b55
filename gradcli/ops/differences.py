"""Differences of neighbours, and the area under points by the trapezoidal rule.

Invariant: all are made of slices, sums and products, node for node as PyTorch has it.

    diff([1, 4, 9])                     # [3, 5]
    trapezoid([1, 5, 2], [0, 1, 3])     # (1 + 5)/2 * 1 + (5 + 2)/2 * 2 = 10
"""

from __future__ import annotations

from .checks import ShapeError, dim_of, holds
from .op import TRUTHS, case, function
from .types import Array, Call

# fmt: off


def sides(call: Call, x: Array, dim: int) -> tuple[Array, Array]:
    """All entries of a dimension but the last, and all but the first."""
    return call("slice.Tensor", x, dim, 0, -1), call("slice.Tensor", x, dim, 1)


def gaps(call: Call, x: Array, dim: int) -> Array:
    left, right = sides(call, x, dim)
    return call("sub", right, left)


def changes(call: Call, x: Array, dim: int) -> Array:
    """The gaps; of truth values, which are not subtracted, where they change."""
    if not holds(TRUTHS, x):
        return gaps(call, x, dim)
    left, right = sides(call, x, dim)
    return call("logical_xor", right, left)


def _diff(
    call: Call, x: Array, n: int = 1, dim: int = -1, prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    if not x.shape:
        raise ShapeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise ShapeError(f"order must be non-negative but got {n}")
    if n == 0:
        return call("copy_.default", call("zeros_like", x), x)
    d = dim_of(x.shape, dim)
    beside = [t for t in (prepend, x, append) if t is not None]
    if len(beside) > 1:
        x = call("cat", beside, d)
    for _ in range(min(n, x.shape[d])):
        x = changes(call, x, d)
    return x


function("diff", _diff, operands=("x", "prepend", "append"), formula="x[i + 1] - x[i]",
         doc="Differences of neighbours along a dimension, n times; of truth values, "
             "whether neighbours differ.",
         cases=[case((4, 3)), case((4, 3), n=2, dim=0), case((3,), n=5)])


def abscissas(call: Call, name: str, x: Array, y: Array, dim: int) -> Array:
    """``x`` with as many dimensions as ``y``."""
    if len(x.shape) == 1:
        if x.shape[0] != y.shape[dim]:
            raise ShapeError(
                f"{name}: There must be one `x` value for each sample point")
        lone = [1] * len(y.shape)
        lone[dim] = x.shape[0]
        return call("view", x, tuple(lone))
    missing = len(y.shape) - len(x.shape)
    return call("view", x, (*[1] * missing, *x.shape)) if missing > 0 else x


def checked_dim(y: Array, dim: int) -> int:
    if not y.shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return dim_of(y.shape, dim)


def _trapezoid(
    call: Call, y: Array, x: Array | None = None, dx: float = 1, dim: int = -1
) -> Array:
    d = checked_dim(y, dim)
    if not y.shape[d]:
        return call("zeros_like", call("sum", y, d))
    if x is None:
        ends = call("add", call("select", y, d, 0), call("select", y, d, -1))
        half = call("mul.Scalar", ends, 0.5)
        return call("mul.Scalar", call("sub", call("sum", y, d), half), dx)
    widths = gaps(call, abscissas(call, "trapezoid", x, y, d), d)
    areas = call("mul", call("add", *sides(call, y, d)), widths)
    return call("div.Scalar", call("sum", areas, d), 2)


def _cumulative_trapezoid(
    call: Call, y: Array, x: Array | None = None, dx: float = 1, dim: int = -1
) -> Array:
    d = checked_dim(y, dim)
    heights = call("add", *sides(call, y, d))
    if x is None:
        return call("cumsum", call("mul.Scalar", heights, dx / 2), d)
    widths = gaps(call, abscissas(call, "cumulative_trapezoid", x, y, d), d)
    return call("div.Scalar", call("cumsum", call("mul", heights, widths), d), 2)


function("trapezoid", _trapezoid, operands=("y", "x"), aliases=("trapz",),
         formula="sum((y[i] + y[i + 1])/2 * (x[i + 1] - x[i]))",
         doc="The area under points along a dimension, dx or x apart.",
         cases=[case((3, 4)), case((3, 4), dim=0, dx=0.5), case((1,))])
function("cumulative_trapezoid", _cumulative_trapezoid, operands=("y", "x"),
         formula="sum((y[i] + y[i + 1])/2 * (x[i + 1] - x[i])) up to each point",
         doc="The areas under points up to each one, along a dimension.",
         cases=[case((3, 4)), case((3, 4), dim=0, dx=0.5)])
