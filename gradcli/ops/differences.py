"""Differences of neighbours, and the area under points by the trapezoidal rule.

Invariant: all functions consist of slices, sums and products, with PyTorch's nodes.

    diff([1, 4, 9])                     # [3, 5]
    trapezoid([1, 5, 2], [0, 1, 3])     # (1 + 5)/2 * 1 + (5 + 2)/2 * 2 = 10
"""

from __future__ import annotations

from functools import partial

from .checks import ShapeError, dim_of, dims_of, holds, real_dim, refuse
from .op import TRUTHS, case, function
from .types import Array, ArrayRule, Call, Dims, Operand

# fmt: off


def sides(call: Call, x: Array, dim: int) -> tuple[Array, Array]:
    """Return all entries of a dimension but the last, and all but the first."""
    return call("slice.Tensor", x, dim, 0, -1), call("slice.Tensor", x, dim, 1)


def gaps(call: Call, x: Array, dim: int) -> Array:
    left, right = sides(call, x, dim)
    return right - left


def changes(call: Call, x: Array, dim: int) -> Array:
    """Return the differences of neighbours; for bools, whether neighbours differ."""
    if not holds(TRUTHS, x):
        return gaps(call, x, dim)
    left, right = sides(call, x, dim)
    return call("logical_xor", right, left)


@function("diff", operands=("x", "prepend", "append"), formula="x[i + 1] - x[i]",
          doc="Differences of neighbours along a dimension, n times; of truth values, "
              "whether neighbours differ.",
          cases=[case((4, 3)), case((4, 3), n=2, dim=0), case((3,), n=5)])
def _diff(
    call: Call, x: Array, n: int = 1, dim: int = -1, prepend: Array | None = None,
    append: Array | None = None,
) -> Array:
    refuse(not x.shape, "diff expects input to be at least one-dimensional")
    refuse(n < 0, "order must be non-negative but got {}", n)
    if n == 0:
        return call("copy_.default", call("zeros_like", x), x)
    d = dim_of(x.shape, dim)
    beside = [t for t in (prepend, x, append) if t is not None]
    if len(beside) > 1:
        x = call("cat", beside, d)
    for _ in range(min(n, x.shape[d])):
        x = changes(call, x, d)
    return x


def abscissas(call: Call, name: str, x: Array, y: Array, dim: int) -> Array:
    """Return ``x`` with as many dimensions as ``y``; a vector is put along ``dim``."""
    if len(x.shape) == 1:
        refuse(x.shape[0] != y.shape[dim],
               "{}: There must be one `x` value for each sample point", name)
        lone = [1] * len(y.shape)
        lone[dim] = x.shape[0]
        return call("view", x, tuple(lone))
    missing = len(y.shape) - len(x.shape)
    return call("view", x, (*[1] * missing, *x.shape)) if missing > 0 else x


@function("trapezoid", operands=("y", "x"), aliases=("trapz",),
          formula="sum((y[i] + y[i + 1])/2 * (x[i + 1] - x[i]))",
          doc="The area under points along a dimension, dx or x apart.",
          cases=[case((3, 4)), case((3, 4), dim=0, dx=0.5), case((1,))])
def _trapezoid(
    call: Call, y: Array, x: Array | None = None, dx: float = 1, dim: int = -1
) -> Array:
    d = real_dim(y.shape, dim)
    if not y.shape[d]:
        return call("zeros_like", call("sum", y, d))
    if x is None:
        ends = call("select", y, d, 0) + call("select", y, d, -1)
        inner = call("sum", y, d) - call("mul.Scalar", ends, 0.5)
        return call("mul.Scalar", inner, dx)
    left, right = sides(call, y, d)
    areas = (left + right) * gaps(call, abscissas(call, "trapezoid", x, y, d), d)
    return call("div.Scalar", call("sum", areas, d), 2)


@function("cumulative_trapezoid", operands=("y", "x"),
          formula="sum((y[i] + y[i + 1])/2 * (x[i + 1] - x[i])) up to each point",
          doc="The areas under points up to each one, along a dimension.",
          cases=[case((3, 4)), case((3, 4), dim=0, dx=0.5)])
def _cumulative_trapezoid(
    call: Call, y: Array, x: Array | None = None, dx: float = 1, dim: int = -1
) -> Array:
    d = real_dim(y.shape, dim)
    left, right = sides(call, y, d)
    heights = left + right
    if x is None:
        return call("cumsum", call("mul.Scalar", heights, dx / 2), d)
    widths = gaps(call, abscissas(call, "cumulative_trapezoid", x, y, d), d)
    return call("div.Scalar", call("cumsum", heights * widths, d), 2)


# -- slopes between points of a grid --------------------------------------------------


def _even_slope(call: Call, x: Array, gap: float, dim: int, edge_order: int) -> Array:
    """Return the slopes of points with the constant spacing ``gap``."""
    part: ArrayRule = partial(call, "slice.Tensor", x, dim)

    def over(a: Array, number: float) -> Array:
        return call("div.Scalar", a, number)

    def times(number: float, a: Array) -> Array:
        return call("mul.Scalar", a, number)

    center = over(over(part(2) - part(0, -2), gap), 2)
    if edge_order == 1:
        before, after = part(1, 2) - part(0, 1), part(-1) - part(-2, -1)
    else:
        before = (times(-1.5, part(0, 1)) + times(2, part(1, 2))
                  - times(0.5, part(2, 3)))
        after = (times(0.5, part(-3, -2)) - times(2, part(-2, -1))
                 + times(1.5, part(-1)))
    return call("cat", [over(before, gap), center, over(after, gap)], dim)


def _uneven_slope(call: Call, x: Array, at: Array, dim: int, edge_order: int) -> Array:
    """Return the slopes of points at coordinates ``at``, by parabolas through three."""
    part: ArrayRule = partial(call, "slice.Tensor", x, dim)
    widths = gaps(call, at, 0)
    left, right = sides(call, widths, 0)
    both = left + right
    lone = [1] * len(x.shape)
    lone[dim] = -1
    below, mid, above = [call("view", each, tuple(lone)) for each in (
        -right / (left * both), (right - left) / (left * right), left / (right * both))]
    center = below * part(0, -2) + mid * part(1, -1) + above * part(2)
    ends = []
    for first, second, places in ((0, 1, ((0, 1), (1, 2), (2, 3))),
                                  (-1, -2, ((-1, None), (-2, -1), (-3, -2)))):
        a, b = (call("select", widths, 0, i) for i in (first, second))
        near, middle, far = [part(*place) for place in places]
        if edge_order == 1:
            ends.append((near - middle if first else middle - near) / a)
            continue
        whole = a + b
        weights = [-(call("mul.Scalar", a, 2) + b) / (a * whole), whole / (a * b),
                   -a / (b * whole)]
        u, v, w = [-each for each in weights] if first else weights
        ends.append(u * near + v * middle + w * far)
    return call("cat", [ends[0], center, ends[1]], dim)


Spacing = Operand | list[Operand] | tuple[Operand, ...]
"""Spacing of points: a distance or coordinates, or a list with one per dimension."""


@function("gradient", operands=("x",), formula="(x[i + 1] - x[i - 1])/(2*spacing)",
          doc="Slopes between points of a grid, along each dimension: of the second "
              "order inside, of edge_order at the ends.",
          cases=[case((4, 3)), case((4,), spacing=0.5, edge_order=2)])
def _gradient(call: Call, x: Array, *, spacing: Spacing | None = None, dim: Dims = None,
              edge_order: int = 1) -> tuple[Array, ...]:
    if edge_order not in (1, 2):
        raise ShapeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = dims_of(x.shape, dim)
    for d in dims:
        refuse(x.shape[d] < edge_order + 1, "torch.gradient expected each dimension "
               "size to be at least edge_order+1")
    given = 1 if spacing is None else spacing
    if isinstance(given, list | tuple) and len(given) != len(dims):
        raise ShapeError(f"torch.gradient: {len(given)} spacings for {len(dims)} "
                         "dimensions")
    each = given if isinstance(given, list | tuple) else [given] * len(dims)
    return tuple([
        _even_slope(call, x, gap, d, edge_order) if isinstance(gap, int | float)
        else _uneven_slope(call, x, gap, d, edge_order)
        for gap, d in zip(each, dims, strict=True)])
