"""Entries read or written by a tensor of positions or by a mask.

Each row that reads has a transpose, ``name.backward``. Positions and masks carry no
gradient; positions out of range raise an error and do not wrap around. The cotangent of
entries that were overwritten is 0, and that of what was written is read where it lies.

    gather(x, 1, [[0], [2]])            # y[i, j] = x[i, index[i, j]]
    select_scatter(x, row, 0, 1)        # x with row 1 replaced
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .arithmetic import doubled
from .checks import (
    ArgumentError,
    PositionError,
    ShapeError,
    broadcast_shape,
    dim_of,
    refuse,
)
from .index import (
    OUTSIDE,
    along,
    check_positions,
    checked_entries,
    checked_size,
    grown,
    put_over,
    select_at,
    slice_at,
    surviving,
)
from .op import (
    FIRST,
    FLOATS,
    KEPT,
    LINEAR,
    PACKED,
    WHOLE,
    Fixed,
    case,
    function,
    of_numbers,
    row,
)
from .shape import sum_to
from .types import Array, Caller, Entries, Index, Namespace, Operand, Positions, Shape

# fmt: off

FAMILY = "gather"


def as_mask(xp: Namespace, mask: Array) -> Array:
    """Return a mask as bools: true where the mask, which may hold numbers, is not 0."""
    return xp.ne(mask, 0)


def cell(xp: Namespace, shape: Shape, dim: int, index: Array) -> tuple[Positions, ...]:
    """Return an index array per dimension: ``index`` for ``dim``, `in_place` for the
    others."""
    d, at = dim_of(shape, dim), xp.as_index(index)
    refuse(at.ndim != len(shape), "Index tensor must have the same number of "
           "dimensions as input tensor")
    for other, (have, want) in enumerate(zip(shape, at.shape, strict=True)):
        refuse(other != d and want > have, "index of shape {} reaches beyond {} at "
               "dimension {}", list(at.shape), list(shape), other)
    if not shape:
        return ()
    check_positions(xp, shape[d], d, at, PositionError, from_end=False)
    return tuple([at if i == d else in_place(xp, at.shape, i) for i in range(at.ndim)])


def in_place(xp: Namespace, shape: Shape, dim: int) -> Positions:
    """Return 0, 1, 2, ... along a dimension; all others have size 1."""
    lone = [n if i == dim else 1 for i, n in enumerate(shape)]
    return xp.as_index(range(shape[dim])).reshape(lone)


# -- gather and scatter ---------------------------------------------------------------


def lined(shape: Shape) -> Shape:
    """Return the shape, or that of a vector of one entry for a scalar."""
    return shape or (1,)


@row("gather.default", jvp=LINEAR, memory=PACKED,
    doc="Entries read along a dimension by a tensor of positions.",
    formula="y[i, j] = x[i, index[i, j]]",
    vjp=(lambda xp, g, y, x, index, dim:
         xp.call("gather.backward", g, index, x.shape, dim), None),
    cases=[case((3, 4), Fixed([[0, 1, 2, 0], [2, 2, 1, 0]]), dim=0),
           case((3, 4), Fixed([[0, 0], [3, 2]]), dim=-1),
           case((3,), Fixed([2, 0]), dim=0), case((), Fixed([0, 0]), dim=0),
           case((3,), Fixed(1), dim=0)], saves="x index")
def _gather(xp: Namespace, x: Array, index: Array, dim: int) -> Array:
    at = xp.as_index(index)
    if 0 in at.shape:
        return xp.new_full(x, at.shape, 0)
    line = xp.reshape(x, lined(x.shape))
    where = cell(xp, line.shape, dim, at.reshape(lined(at.shape)))
    return xp.reshape(xp.getitem(line, where), at.shape)


@row("gather.backward", node="ScatterAddBackward0", jvp=LINEAR, onto_zeros=True,
    formula="y[i, index[i, j]] += g[i, j]",
    vjp=(lambda xp, g, y, x, index, input_sizes, dim: xp.gather(g, dim, index), None),
    cases=[case((2, 2), Fixed([[0, 0], [3, 1]]), input_sizes=(3, 4), dim=1),
           case((2,), Fixed([0, 0]), input_sizes=(), dim=0)])
def _gather_backward(xp: Namespace, x: Array, index: Array, input_sizes: Shape, dim: int
                    ) -> Array:
    at = xp.as_index(index)
    if 0 in at.shape:
        return xp.new_full(x, input_sizes, 0)
    sizes, wide = lined(input_sizes), lined(at.shape)
    put = xp.put_add(sizes, cell(xp, sizes, dim, at.reshape(wide)), xp.reshape(x, wide))
    return xp.reshape(put, input_sizes)


function("gather", lambda call, x, dim, index: call("gather.default", x, index, dim),
         operands=("x", "index"))


row("as_index", query=True, doc="Integers to index with.", formula="x",
    fwd=lambda xp, x: xp.as_index(x), cases=[case(Fixed([0.0, 2.0])), case(Fixed(1))],
    internal=True)

row("as_index.beside", query=True, formula="values", internal=True,
    fwd=lambda xp, x, values: xp.as_index(values), cases=[case((2,), values=[1, 0])])


def src_part(xp: Namespace, src: Array, index: Array) -> Array:
    """Return the leading part of ``src`` that has the shape of ``index``."""
    at = xp.as_index(index)
    refuse(at.ndim != src.ndim or any(map(int.__gt__, at.shape, src.shape)), "Expected "
           "index {} to be no larger than src {}", list(at.shape), list(src.shape))
    for dim, n in enumerate(at.shape):
        if n < src.shape[dim]:
            src = xp.call("slice.Tensor", src, dim, 0, n)
    return src


row("scatter.src", jvp=LINEAR, one_type=True,
    fwd=lambda xp, x, index, src, dim: put_over(
        xp, x, cell(xp, x.shape, dim, index), src_part(xp, src, index)),
    formula="y[i, index[i, j]] = src[i, j]",
    vjp=(lambda xp, g, y, x, index, src, dim: xp.scatter(g, dim, index, 0), None,
         lambda xp, g, y, x, index, src, dim: grown(xp, surviving(
             xp, g, lambda to, order: xp.scatter(to, dim, index, order),
             lambda of: xp.gather(of, dim, index)), src.shape)),
    cases=[case((3, 4), Fixed([[0, 3], [1, 2]]), (2, 2), dim=1),
           case((3, 2), Fixed([[2, 0]]), (2, 3), dim=0)])

row("scatter.value", node="ScatterBackward1", formula="y[i, index[i, j]] = value",
    fwd=lambda xp, x, index, dim, value: put_over(
        xp, x, cell(xp, x.shape, dim, index),
        xp.new_full(x, xp.as_index(index).shape, value)),
    vjp=(lambda xp, g, y, x, index, dim, value: xp.scatter(g, dim, index, 0), None),
    cases=[case((3, 4), Fixed([[0, 3], [1, 2]]), dim=1, value=2.5),
           case((3,), Fixed([1]), dim=-1, value=0)], saves="index")


@function("scatter", operands=("x", "index"),
          doc="A tensor's entries, or a number, written at positions, or added there.",
          in_place=True)
def _choose_scatter(call: Caller, x: Array, dim: int, index: Array,
                    src: Operand | None = None, value: Operand | None = None,
                    reduce: str | None = None) -> Array:
    src = value if src is None else src
    number = isinstance(src, int | float)
    if reduce is None:
        return (call("scatter.value", x, index, dim, src) if number
                else call("scatter.src", x, call("as_index", index), src, dim))
    if number:
        src = call("new_full", x, tuple(index.shape), src)
    refuse(reduce != "add", "scatter(reduce={!r}) is not part of gradcli; "
           "reduce=\"add\" is", reduce, kind=ArgumentError)
    return call("scatter_add.default", x, call("as_index", index), src, dim)


row("scatter_add.default", jvp=LINEAR, one_type=True,
    formula="y[i, index[i, j]] += src[i, j]",
    fwd=lambda xp, x, index, src, dim:
    x + xp.put_add(x.shape, cell(xp, x.shape, dim, index), src_part(xp, src, index)),
    vjp=(lambda xp, g, y, x, index, src, dim: g, None,
         lambda xp, g, y, x, index, src, dim:
         grown(xp, xp.gather(g, dim, index), src.shape)),
    cases=[case((3, 4), Fixed([[0, 0], [1, 2]]), (2, 2), dim=1),
           case((3, 2), Fixed([[2, 0]]), (2, 3), dim=0)], saves=("", "", "index"))

function("scatter_add", lambda call, x, dim, index, src:
         call("scatter_add.default", x, call("as_index", index), src, dim),
         operands=("x", "index", "src"),
         doc="Entries added at positions along a dimension; repeats add up.",
         in_place=True)

# -- slices by a list of positions ----------------------------------------------------


def slices_at(xp: Namespace, shape: Shape, dim: int, index: Array,
              from_end: bool = False, beyond: str = "index out of range in self: "
             ) -> Entries:
    d, at = dim_of(shape, dim), xp.as_index(index)
    if at.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    refuse(not shape and at.size > 1, "index_select(): Index to scalar can have only 1 "
           "value, got {} value(s)", at.size)
    check_positions(xp, shape[d] if shape else 1, d, at, from_end=from_end,
                    words=beyond + OUTSIDE)
    return along(d, at.reshape([-1])) if shape else ()


row("index_select.default", jvp=LINEAR,
    doc="Slices read along a dimension by a list of positions.",
    formula="y[i, j] = x[i, index[j]]",
    fwd=lambda xp, x, index, dim:
    xp.getitem(x, checked_size(x.shape, slices_at(xp, x.shape, dim, index))),
    vjp=(lambda xp, g, y, x, index, dim:
         xp.call("index_select.backward", g, index, x.shape, dim), None),
    cases=[case((3, 4), Fixed([2, 0, 2]), dim=0), case((3, 4), Fixed([1]), dim=-1),
           case((3,), Fixed([0, 0]), dim=0)])

row("index_select.backward", node="IndexAddBackward0", jvp=LINEAR, onto_zeros=True,
    formula="y[i, index[j]] += g[i, j]",
    fwd=lambda xp, x, index, input_sizes, dim:
    xp.put_add(input_sizes, slices_at(xp, input_sizes, dim, index), x),
    vjp=(lambda xp, g, y, x, index, input_sizes, dim:
         xp.index_select(g, dim, index), None),
    cases=[case((3, 4), Fixed([2, 0, 2]), input_sizes=(3, 4), dim=0)], saves="x index")

function("index_select", lambda call, x, dim, index:
         call("index_select.default", x, index, dim),
         operands=("x", "index"))


@row("index_add.default", jvp=LINEAR, result=WHOLE, one_type=True,
    formula="y[i, index[j]] += alpha source[i, j]",
    vjp=(lambda xp, g, y, x, index, source, dim, alpha=1: g, None,
         lambda xp, g, y, x, index, source, dim, alpha=1:
         xp.index_select(g, dim, index) * alpha),
    cases=[case((3, 4), Fixed([2, 0, 2]), (3, 4), dim=0),
           case((3, 4), Fixed([1]), (3, 1), dim=-1, alpha=2.5)],
    saves=("", "", "index source"))
def plus_slices(xp: Namespace, x: Array, index: Array, source: Array, dim: int,
                alpha: float = 1) -> Array:
    at, d = slices_at(xp, x.shape, dim, index), dim_of(x.shape, dim)
    count, have = prod(index.shape), tuple(source.shape)
    refuse(d >= max(len(have), 1), "index_add_(): Indexing dim {} is out of bounds of "
           "the source tensor with dim {}", d, len(have))
    slices = have[d] if have else count
    refuse(slices != count, "index_add_(): Number of indices ({}) should be equal to "
           "source.size(dim): ({}), for dim: {}", count, slices, d)
    own = tuple(x.shape)
    refuse(len(have) != len(own) or have[:d] + have[d + 1:] != own[:d] + own[d + 1:],
           "source tensor shape must match self tensor shape, excluding the specified "
           "dimension. Got self.shape = {} source.shape = {}", list(own), list(have))
    found = xp.put_add(x.shape, at, source)
    # It is a difference if the factor is negative: uint8 has no negative numbers.
    return x - found * -alpha if alpha < 0 else x + alpha * found


function("index_add", lambda call, x, dim, index, source, alpha=1:
         call("index_add.default", x, call("as_index", index), source, dim, alpha),
         operands=("x", "index", "source"),
         doc="Slices added at a list of positions; repeats add up.", in_place=True)

# -- entries by their number, entries by a mask ---------------------------------------


def numbered(xp: Namespace, numel: int, index: Array) -> tuple[Array, ...]:
    at = xp.as_index(index)
    check_positions(xp, numel, 0, at, words=(
        "out of range: tried to access index {at} on a tensor of {size} elements."))
    return (at,)


row("take.default", jvp=LINEAR, memory=PACKED,
    doc="Entries by their number in the flattened tensor.",
    formula="y[k] = x[index[k]]",
    fwd=lambda xp, x, index:
    xp.getitem(xp.reshape(x, (-1,)), numbered(xp, prod(x.shape), index)),
    vjp=(lambda xp, g, y, x, index: xp.call("take.backward", g, index, x.shape), None),
    cases=[case((3, 4), Fixed([[0, 5], [5, -1]])), case((3,), Fixed([1]))],
    saves="x index")

row("take.backward", node="PutBackward0", jvp=LINEAR, onto_zeros=True,
    formula="y[index[k]] += g[k]",
    fwd=lambda xp, x, index, input_sizes: xp.reshape(
        xp.put_add((prod(input_sizes),), numbered(xp, prod(input_sizes), index), x),
        input_sizes),
    vjp=(lambda xp, g, y, x, index, input_sizes: xp.take(g, index), None),
    cases=[case((2, 2), Fixed([[0, 5], [5, -1]]), input_sizes=(3, 4))], saves="x index")

function("take", lambda call, x, index: call("take.default", x, index),
         operands=("x", "index"))


def _filled_vjp(xp: Namespace, g: Array, y: Array, x: Array, mask: Array, value: Operand
               ) -> Array:
    return xp.where(as_mask(xp, mask), xp.zeros_like(g), g)


MASK = Fixed([[True, False, False], [False, True, True]])

row("masked_fill.Scalar", result=FIRST, memory=PACKED,
    formula="value where mask, else x",
    fwd=lambda xp, x, mask, value: xp.where(as_mask(xp, mask), value, x),
    partials=(lambda xp, y, x, mask, value:
              1 - xp.as_type_of(as_mask(xp, mask), y), None), vjp=(_filled_vjp, None),
    cases=[case((2, 3), MASK, value=0.5), case((2, 1), MASK, value=-1),
           case((2, 3), Fixed([True, False, True]), value=0)], saves="mask")

row("masked_fill.Tensor", node="MaskedFillBackward1", result=FIRST, memory=PACKED,
    formula="value where mask, else x",
    fwd=lambda xp, x, mask, value: xp.where(as_mask(xp, mask), value, x),
    partials=(lambda xp, y, x, mask, value: 1 - xp.as_type_of(as_mask(xp, mask), y),
              None,
              lambda xp, y, x, mask, value: xp.as_type_of(as_mask(xp, mask), y)),
    vjp=(_filled_vjp, None, lambda xp, g, y, x, mask, value:
         xp.where(as_mask(xp, mask), g, xp.zeros_like(g))),
    cases=[case((2, 3), MASK, ()), case((2, 1), MASK, ())], saves="mask")


@function("masked_fill", operands=("x", "mask"),
          doc="A number, or a scalar tensor, written where the mask is true.")
def _masked_fill(call: Caller, x: Array, mask: Array, value: Operand) -> Array:
    if isinstance(value, int | float):
        return call("masked_fill.Scalar", x, mask, value)
    refuse(value.shape, "masked_fill only supports a 0-dimensional value tensor, but "
           "got tensor with {} dimension(s).", value.ndim)
    return call("masked_fill.Tensor", x, mask, value)


@row("masked_select.default", jvp=LINEAR,
    doc="The entries where the mask is true, in one dimension.", formula="x where mask",
    vjp=(lambda xp, g, y, x, mask:
         xp.call("masked_select.backward", g, mask, x.shape), None),
    cases=[case((2, 3), MASK), case((2, 1), MASK), case((), MASK)], saves="x mask")
def _masked_select(xp: Namespace, x: Array, mask: Array) -> Array:
    keep = as_mask(xp, mask)
    shape = broadcast_shape(keep.shape, x.shape)
    return xp.getitem(xp.expand(x, shape), (xp.as_index(xp.expand(keep, shape)),))


@row("masked_select.backward", node="MaskedScatterBackward0", onto_zeros=True,
    jvp=LINEAR, formula="g where mask",
    vjp=(lambda xp, g, y, x, mask, input_sizes:
         xp.masked_select(xp.expand(g, input_sizes), mask), None),
    cases=[case((3,), MASK, input_sizes=(2, 3)), case((3,), MASK, input_sizes=(2, 1))])
def _masked_select_backward(xp: Namespace, x: Array, mask: Array, input_sizes: Shape
                           ) -> Array:
    keep = as_mask(xp, mask)
    shape = broadcast_shape(keep.shape, input_sizes)
    put = xp.put_view(shape, (xp.as_index(xp.expand(keep, shape)),), x)
    return sum_to(xp, put, input_sizes)


function("masked_select", lambda call, x, mask: call("masked_select.default", x, mask),
         operands=("x", "mask"))

# -- counts ---------------------------------------------------------------------------


def binned(xp: Namespace, at: Array, weights: Array, minlength: int) -> Array:
    at = xp.as_index(at)
    if at.ndim != 1 or (at.size and int(at.min()) < 0):
        raise ShapeError("bincount only supports 1-d non-negative integral inputs.")
    refuse(minlength < 0, "minlength should be >= 0")
    if tuple(weights.shape) != tuple(at.shape):
        raise ShapeError("weights should be 1-d and have the same length as input")
    count = max(int(at.max()) + 1 if at.size else 0, minlength)
    return xp.put_add((count,), (at,), weights)


row("bincount.weights", node="NotImplemented", jvp=LINEAR, result=FLOATS,
    formula="y[n] = sum(weights where x == n)",
    fwd=lambda xp, index, weights, minlength=0:
    binned(xp, index, weights, minlength),
    vjp=(None, lambda xp, g, y, index, weights, minlength=0: xp.take(g, index)),
    cases=[case(Fixed([0, 2, 2, 1]), (4,)),
           case(Fixed([1, 1]), (2,), minlength=4)])

of_numbers("bincount.default", formula="y[n] = number of x == n",
    fwd=lambda xp, index, minlength=0:
    binned(xp, index, xp.as_index([1] * prod(index.shape)), minlength),
    cases=[case(Fixed([0, 2, 2, 1])), case(Fixed([1, 1]), minlength=4)])


@function("bincount", operands=("input", "weights"),
          doc="How often each integer from 0 on occurs, or how much weight lies on "
              "it.")
def _bincount(call: Caller, input: Array, weights: Array | None = None,
             minlength: int = 0) -> Array:
    if weights is None or tuple(input.shape) == (0,):
        return call("bincount.default", input, minlength)
    single = getattr(getattr(weights, "dtype", None), "name", "") == "float32"
    heavy = weights if single else doubled(call, weights)
    return call("bincount.weights", input, heavy, minlength)

# copies of a tensor with a part replaced

FAMILY = "overwrite"


def replaced(xp: Namespace, x: Array, at: Index, src: Array) -> Array:
    """Return ``x`` with ``src``, whose shape must fit, written at an index."""
    want = xp.getitem(x, at).shape
    refuse(want != src.shape, "expected src to have a size equal to the slice of self. "
           "src size = {}, slice size = {}", list(src.shape), list(want))
    return put_over(xp, x, at, src)


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
    vjp=(lambda xp, g, y, x, index, source, dim:
         xp.call("index_fill.Scalar", g, index, dim, 0), None,
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


@row("index_fill.Scalar", result=FIRST, memory=KEPT, formula="y[i, index[j]] = value",
    vjp=(lambda xp, g, y, x, index, dim, value:
         xp.call("index_fill.Scalar", g, index, dim, 0), None),
    cases=[case((3, 4), Fixed([2, 0]), dim=0, value=1.5),
           case((3,), Fixed([1]), dim=-1, value=0)], saves="index")
def filled(xp: Namespace, x: Array, index: Array, dim: int, value: float) -> Array:
    at = slices_at(xp, x.shape, dim, index, from_end=True)
    return put_over(xp, x, at, xp.new_full(x, xp.getitem(x, at).shape, value))


function("index_copy", lambda call, x, dim, index, source:
         call("index_copy.default", x, call("as_index", index), source, dim),
         operands=("x", "index", "source"), in_place=True)


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
          formula="y[i[k], j[k], ...] = values[k]",
          doc="Entries replaced at positions, or added up there: accumulate=True.",
          in_place=True)
def _put_at(
    call: Caller, x: Array, indices: Array, values: Array, accumulate: bool = False
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
