"""A tensor with a part of it replaced: the recorded form of ``x[...] = src``.

Invariant: the gradient of what was overwritten is 0, and that of ``src`` is read from
the place where it was written.

    select_scatter(x, row, 0, 1)        # x with row 1 replaced
"""

from __future__ import annotations

from typing import Any

from .arrange import on_diagonal
from .checks import ShapeError
from .gather import slices_at
from .index import select_at, slice_at
from .op import LINEAR, Fixed, case, function, row

# fmt: off


def where_put(xp: Any, x: Any, put: Any, mark: Any) -> Any:
    """``put`` where ``mark`` is not 0, else ``x``."""
    return xp.where(xp.ne(mark, 0), put, x)


def replaced(xp: Any, x: Any, at: Any, src: Any) -> Any:
    """``x`` with ``src`` at an index that names no entry twice."""
    want, have = xp.getitem(x, at).shape, src.shape
    if want != have:
        raise ShapeError(f"expected src to have a size equal to the slice of self. src "
                         f"size = {list(have)}, slice size = {list(want)}")
    ones = xp.new_full(src, have, 1)
    return where_put(xp, x, xp.put_view(x.shape, at, src),
                     xp.put_view(x.shape, at, ones))


def filled(xp: Any, x: Any, index: Any, dim: int, value: Any) -> Any:
    at = slices_at(xp, x.shape, dim, index)
    ones = xp.new_full(x, xp.getitem(x, at).shape, 1)
    return where_put(xp, x, value, xp.put_view(x.shape, at, ones))


row("select_scatter", node="SelectScatterBackward0", jvp=LINEAR,
    doc="One entry of a dimension replaced.", formula="y[..., index, ...] = src",
    fwd=lambda xp, x, src, dim, index:
    replaced(xp, x, select_at(x.shape, dim, index), src),
    vjp=(lambda xp, g, y, x, src, dim, index: xp.select_scatter(
             g, xp.zeros_like(xp.select(g, dim, index)), dim, index),
         lambda xp, g, y, x, src, dim, index: xp.select(g, dim, index)),
    cases=[case((3, 4), (4,), dim=0, index=1), case((3, 4), (3,), dim=-1, index=-1)])

row("slice_scatter", node="SliceScatterBackward0", jvp=LINEAR,
    doc="A stretch of a dimension replaced.",
    formula="y[..., start:end:step, ...] = src",
    fwd=lambda xp, x, src, dim=0, start=None, end=None, step=1:
    replaced(xp, x, slice_at(x.shape, dim, start, end, step), src),
    vjp=(lambda xp, g, y, x, src, dim=0, start=None, end=None, step=1:
         xp.slice_scatter(
             g, xp.zeros_like(xp.call("slice.Tensor", g, dim, start, end, step)),
             dim, start, end, step),
         lambda xp, g, y, x, src, dim=0, start=None, end=None, step=1:
         xp.call("slice.Tensor", g, dim, start, end, step)),
    cases=[case((5, 2), (2, 2), start=1, end=3),
           case((2, 6), (2, 3), dim=-1, start=1, step=2)])

row("diagonal_scatter", node="DiagonalScatterBackward0", jvp=LINEAR,
    doc="A diagonal of two dimensions replaced.", formula="y[i, i + offset] = src[i]",
    fwd=lambda xp, x, src, offset=0, dim1=0, dim2=1: where_put(
        xp, x, on_diagonal(xp, src, x.shape, offset, dim1, dim2),
        on_diagonal(xp, xp.new_full(src, src.shape, 1), x.shape, offset, dim1, dim2)),
    vjp=(lambda xp, g, y, x, src, offset=0, dim1=0, dim2=1: xp.diagonal_scatter(
             g, xp.zeros_like(xp.diagonal(g, offset, dim1, dim2)), offset, dim1, dim2),
         lambda xp, g, y, x, src, offset=0, dim1=0, dim2=1:
         xp.diagonal(g, offset, dim1, dim2)),
    cases=[case((3, 4), (3,)), case((3, 3), (2,), offset=1)])

row("index_copy.default", node="IndexCopyBackward0", jvp=LINEAR,
    doc="Slices replaced at a list of positions.",
    formula="y[i, index[j]] = source[i, j]",
    fwd=lambda xp, x, index, source, dim:
    replaced(xp, x, slices_at(xp, x.shape, dim, index), source),
    vjp=(lambda xp, g, y, x, index, source, dim: xp.index_fill(g, dim, index, 0), None,
         lambda xp, g, y, x, index, source, dim: xp.index_select(g, dim, index)),
    cases=[case((3, 4), Fixed([2, 0]), (2, 4), dim=0),
           case((3, 4), Fixed([1]), (3, 1), dim=-1)])

row("index_fill.Scalar", node="IndexFillBackward0",
    doc="A number written into slices at a list of positions.",
    formula="y[i, index[j]] = value",
    fwd=lambda xp, x, index, dim, value: filled(xp, x, index, dim, value),
    vjp=(lambda xp, g, y, x, index, dim, value: xp.index_fill(g, dim, index, 0), None),
    jvp=lambda xp, t, y, x, index, dim, value: xp.index_fill(t[0], dim, index, 0),
    cases=[case((3, 4), Fixed([2, 0]), dim=0, value=1.5),
           case((3,), Fixed([1]), dim=-1, value=0)])

row("index_fill.Tensor", node="IndexFillBackward1", jvp=LINEAR,
    doc="A scalar tensor written into slices at a list of positions.",
    formula="y[i, index[j]] = value",
    fwd=lambda xp, x, index, value, dim: filled(xp, x, index, dim, value),
    vjp=(lambda xp, g, y, x, index, value, dim: xp.index_fill(g, dim, index, 0), None,
         lambda xp, g, y, x, index, value, dim:
         xp.sum(g * xp.index_fill(xp.zeros_like(g), dim, index, 1))),
    cases=[case((3, 4), Fixed([2, 0]), (), dim=0), case((3,), Fixed([1]), (), dim=-1),
           case((3, 2), Fixed([2, 0, 2]), (), dim=0)])


function("index_copy", lambda call, x, dim, index, source:
         call("index_copy.default", x, index, source, dim),
         operands=("x", "index", "source"), formula="y[i, index[j]] = source[i, j]",
         doc="Slices replaced at a list of positions.")
function("index_fill", lambda call, x, dim, index, value:
         call("index_fill.Scalar", x, index, dim, value)
         if isinstance(value, int | float)
         else call("index_fill.Tensor", x, index, value, dim),
         operands=("x", "index"), formula="y[i, index[j]] = value",
         doc="A number, or a scalar tensor, written into slices.")
