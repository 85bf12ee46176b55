"""Copies of a tensor with a part replaced: the recorded forms of ``x[...] = src``.

Invariant: the cotangent of entries that were overwritten is 0, and that of ``src`` is
read at the positions where it was written.

    select_scatter(x, row, 0, 1)        # x with row 1 replaced
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .checks import PositionError, ShapeError, broadcast_shape, dim_of, refuse
from .gather import MASK, as_mask, form_of, grown, put_over, slices_at, surviving
from .index import checked_entries, select_at, slice_at
from .op import FIRST, KEPT, LINEAR, Fixed, case, function, row
from .shape import sum_to
from .types import Array, Call, Index, Namespace, Operand, Shape

# fmt: off


def replaced(xp: Namespace, x: Array, at: Index, src: Array) -> Array:
    """Return ``x`` with ``src``, whose shape must fit, written at an index."""
    want = xp.getitem(x, at).shape
    refuse(want != src.shape, "expected src to have a size equal to the slice of self. "
           "src size = {}, slice size = {}", list(src.shape), list(want))
    return put_over(xp, x, at, src)


def filled(xp: Namespace, x: Array, index: Array, dim: int, value: Operand) -> Array:
    at = slices_at(xp, x.shape, dim, index, from_end=True)
    put = xp.expand(xp.as_type_of(value, x), xp.getitem(x, at).shape)
    return put_over(xp, x, at, put)


row("select_scatter", jvp=LINEAR, result=FIRST, memory=KEPT,
    doc="One entry of a dimension replaced.", formula="y[..., index, ...] = src",
    fwd=lambda xp, x, src, dim, index:
    replaced(xp, x, select_at(x.shape, dim, index), src),
    vjp=(lambda xp, g, y, x, src, **at: xp.select_scatter(
             g, xp.zeros_like(xp.select(g, **at)), **at),
         lambda xp, g, y, x, src, **at: xp.select(g, **at)),
    cases=[case((3, 4), (4,), dim=0, index=1), case((3, 4), (3,), dim=-1, index=-1)])

row("slice_scatter", jvp=LINEAR, result=FIRST, memory=KEPT,
    doc="A stretch of a dimension replaced.",
    formula="y[..., start:end:step, ...] = src",
    fwd=lambda xp, x, src, dim=0, start=None, end=None, step=1:
    replaced(xp, x, slice_at(x.shape, dim, start, end, step), src),
    vjp=(lambda xp, g, y, x, src, **at: xp.slice_scatter(
             g, xp.zeros_like(xp.call("slice.Tensor", g, **at)), **at),
         lambda xp, g, y, x, src, **at: xp.call("slice.Tensor", g, **at)),
    cases=[case((5, 2), (2, 2), start=1, end=3),
           case((2, 6), (2, 3), dim=-1, start=1, step=2)])


def demand_slices(own: Shape, index: Shape, source: Shape, dim: int) -> None:
    """Raise unless slices have the shape and number of those that they replace."""
    d, count = dim_of(own, dim), prod(index)
    refuse(len(index) > 1, "index_copy_(): Index should have dimension 1 or 0 (got {})",
           len(index), kind=PositionError)
    refuse(not source and count != 1, "index_copy_(): When source is scalar, index "
           "should have one element (got {})", count, kind=PositionError)
    refuse(own and source and len(own) != len(source), "index_copy_(): When source and "
           "destination are not scalars, their dimensionality must match. Source "
           "dimensionality ({}), destination dimensionality ({})", len(source),
           len(own), kind=PositionError)
    want, have = (" ".join(map(str, shape[:d] + shape[d + 1:]))
                  for shape in (own, source))
    refuse(want != have, "index_copy_(): Source/destination tensor must have same "
           "slice shapes. Destination slice shape: {} at dimension {} and source slice "
           "shape: {} at dimension 0.", want, d, have)
    if source and source[d] != count:
        raise PositionError(f"index_copy_(): Number of indices ({count}) should be "
                            f"equal to source.size(dim) ({source[d]})")


@row("index_copy.default", jvp=LINEAR, one_type=True,
    doc="Slices replaced at a list of positions.",
    formula="y[i, index[j]] = source[i, j]",
    vjp=(lambda xp, g, y, x, index, source, dim: xp.index_fill(g, dim, index, 0), None,
         lambda xp, g, y, x, index, source, dim: surviving(
             xp, g, lambda to, numbers: xp.index_copy(to, dim, index, numbers),
             lambda of: xp.reshape(xp.index_select(of, dim, index), source.shape))),
    cases=[case((3, 4), Fixed([2, 0]), (2, 4), dim=0),
           case((3,), Fixed([1]), (), dim=0),
           case((3, 4), Fixed([1]), (3, 1), dim=-1)],
    saves=("index", "", "index source"))
def with_slices(xp: Namespace, x: Array, index: Array, source: Array, dim: int
               ) -> Array:
    """Return ``x`` with slices of ``source``, which may be a scalar, at positions."""
    demand_slices(x.shape, xp.as_index(index).shape, source.shape, dim)
    at = slices_at(xp, x.shape, dim, index, beyond="index_copy_(): ")
    return replaced(xp, x, at, xp.reshape(source, xp.getitem(x, at).shape))


row("index_fill.Scalar", result=FIRST, memory=KEPT, formula="y[i, index[j]] = value",
    fwd=lambda xp, x, index, dim, value: filled(xp, x, index, dim, value),
    vjp=(lambda xp, g, y, x, index, dim, value: xp.index_fill(g, dim, index, 0), None),
    jvp=lambda xp, t, y, x, index, dim, value: xp.index_fill(t[0], dim, index, 0),
    cases=[case((3, 4), Fixed([2, 0]), dim=0, value=1.5),
           case((3,), Fixed([1]), dim=-1, value=0)], saves="index")

row("index_fill.Tensor", node="IndexFillBackward1", jvp=LINEAR, result=FIRST,
    memory=KEPT, formula="y[i, index[j]] = value",
    fwd=lambda xp, x, index, value, dim: filled(xp, x, index, dim, value),
    vjp=(lambda xp, g, y, x, index, value, dim: xp.index_fill(g, dim, index, 0), None,
         lambda xp, g, y, x, index, value, dim:
         xp.sum(xp.where(
             xp.ne(xp.index_fill(xp.zeros_like(g), dim, index, 1), 0), g, 0))),
    cases=[case((3, 4), Fixed([2, 0]), (), dim=0), case((3,), Fixed([1]), (), dim=-1),
           case((3, 2), Fixed([2, 0, 2]), (), dim=0)])

function("index_copy", lambda call, x, dim, index, source:
         call("index_copy.default", x, call("as_index", index), source, dim),
         operands=("x", "index", "source"), in_place=True)


@function("index_fill", operands=("x", "index"),
          doc="A number, or a scalar tensor, written into slices.", in_place=True)
def _index_fill(call: Call, x: Array, dim: int, index: Array, value: Operand) -> Array:
    if form_of("index_fill_", value) == "Scalar":
        return call("index_fill.Scalar", x, index, dim, value)
    return call("index_fill.Tensor", x, index, value, dim)


# -- entries by lists of positions and masks ------------------------------------------


def _fitted(xp: Namespace, values: Array, shape: Shape) -> Array:
    """Return ``values`` broadcast to the shape that an index reads."""
    have = values.shape
    pairs = zip(reversed(have), reversed(shape), strict=False)
    if len(have) > len(shape) or any(n not in (m, 1) for n, m in pairs):
        raise ShapeError(f"shape mismatch: value tensor of shape {list(have)} cannot "
                         f"be broadcast to indexing result of shape {list(shape)}")
    return xp.expand(values, shape)


@row("index_put.default", jvp=LINEAR, memory=KEPT, always_saves=True, one_type=True,
    formula="y[i[k], j[k], ...] = values[k]",
    vjp=(lambda xp, g, y, x, values, indices, accumulate=False: g if accumulate else
         xp.call("index_put.default", g, xp.new_full(g, values.shape, 0), indices),
         lambda xp, g, y, x, values, indices, accumulate=False: sum_to(xp, surviving(
             xp, g, lambda to, order: xp.call("index_put.default", to, order, indices),
             lambda of: xp.call("index.Tensor", of, indices), accumulate),
             values.shape)),
    cases=[case((3,), (2,), indices=([0, 2],)),
           case((3, 2), (4, 2), indices=([0, 2, 0, -1],), accumulate=True),
           case((3, 4), (), indices=(None, [1, -1])),
           case((3, 4), (2,), indices=([0, 2], [1, 1])),
           case((3, 2), (2, 1), indices=([True, False, True],)),
           case((2, 2), (), indices=([[True, False], [True, True]],), accumulate=True),
           case((3, 2, 4), (2, 2), indices=([0, 2], None, [1, 1]), accumulate=True)])
def _index_put(xp: Namespace, x: Array, values: Array, indices: Sequence[object],
               accumulate: bool = False) -> Array:
    at = checked_entries(xp, x.shape, indices)
    src = _fitted(xp, values, xp.getitem(x, at).shape)
    return put_over(xp, x, at, src, accumulate)


@function("index_put", operands=("x", "values"),
          doc="Entries replaced at positions, or added up there: accumulate=True.",
          in_place=True)
def _put_at(
    call: Call, x: Array, indices: Array, values: Array, accumulate: bool = False
) -> Array:
    if not isinstance(indices, list | tuple):
        raise TypeError("index_put(): argument 'indices' (position 2) must be tuple of "
                        "Tensors, one for each dimension")
    at = tuple([None if i is None else call("as_entries", i) for i in indices])
    return call("index_put.default", x, values, at, accumulate)


def _taken_from_source(
    xp: Namespace, g: Array, y: Array, x: Array, mask: Array, source: Array
) -> Array:
    taken = xp.masked_select(g, mask)
    return xp.reshape(grown(xp, taken, (prod(source.shape),)), source.shape)


@row("masked_scatter.default", jvp=LINEAR,
    doc="Entries replaced, where a mask is true, by those of source in order.",
    formula="source, entry by entry, where mask, else x", one_type=True,
    vjp=(lambda xp, g, y, x, mask, source:
         sum_to(xp, xp.masked_fill(g, mask, 0), x.shape), None, _taken_from_source),
    cases=[case((2, 3), MASK, (3,)), case((2, 3), MASK, (2, 3)), case((3,), MASK, (4,)),
           case((2, 3), Fixed([True, False, True]), (5,))])
def _masked_scatter(xp: Namespace, x: Array, mask: Array, source: Array) -> Array:
    shape = broadcast_shape(x.shape, mask.shape)
    keep, x = xp.expand(as_mask(xp, mask), shape), xp.expand(x, shape)
    count = xp.getitem(x, (keep,)).shape[0]
    if prod(source.shape) < count:
        raise ShapeError("Number of elements of source < number of ones in mask")
    first = xp.getitem(xp.reshape(source, (prod(source.shape),)), (slice(0, count),))
    return xp.where(keep, xp.put_view(shape, (keep,), first), x)


function("masked_scatter", lambda call, x, mask, source:
         call("masked_scatter.default", x, mask, source),
         operands=("x", "mask", "source"),
         in_place=True)
