"""Operations that move entries: reverse, roll, take diagonals, pad, cut windows.

Invariant: the reverse rule of every row is made of rows here.

    flip(x, 0)      # y[i] = x[n - 1 - i]
"""

from __future__ import annotations

from math import prod

from .checks import (
    LISTED,
    EngineError,
    ShapeError,
    as_integer,
    as_sizes,
    check_size,
    demand_rank,
    dim_of,
    dims_of,
    real_dim,
    refuse,
)
from .index import along
from .op import LINEAR, PACKED, VIEW, Marker, case, function, row
from .shape import inverse_order
from .types import Array, Caller, Dims, Namespace, Shape, Sizes

# fmt: off

# -- reversed and rolled --------------------------------------------------------------


def _flip(xp: Namespace, x: Array, dims: Sizes) -> Array:
    asked = as_sizes(dims)
    if not x.shape and len(asked) > 1:
        raise EngineError("dim 0 appears multiple times in the list of dims")
    return xp.flip(x, dims_of(x.shape, asked)) if asked and x.shape else x


row("flip", star="dims", jvp=LINEAR, fwd=_flip, doc="Dimensions reversed.",
    formula="y[i] = x[n - 1 - i]", vjp=(lambda xp, g, y, x, dims: _flip(xp, g, dims),),
    cases=[case((3, 4), dims=(0,)), case((3, 4), dims=(0, -1)), case((2,), dims=()),
           case((), dims=(0,))])


def _flipping(name: str, dim: int) -> None:
    @function(name, operands=("x",), formula="y[i] = x[n - 1 - i]",
              cases=[case((3, 4))], doc=f"Dimension {dim} reversed.")
    def build(call: Caller, x: Array) -> Array:
        demand_rank(name, x, dim + 1)
        return call("flip", x, (dim,))


_flipping("fliplr", 1)
_flipping("flipud", 0)


def roll_by(shape: Shape, shifts: Sizes, dims: Dims) -> tuple[Sizes, Dims]:
    """Return checked shifts and as many dimensions; or one shift and None, which rolls
    the flattened tensor."""
    by = as_sizes(shifts)
    over = () if dims is None else as_sizes(dims)
    refuse(not by, "`shifts` required")
    refuse(len(by) != len(over) and not (len(by) == 1 and not over),
           "shifts and dimensions must align. shifts: {}, dims:{}", len(by), len(over))
    if not over or not prod(shape):
        return by[0], None
    return by, tuple([real_dim(shape, d) for d in over])


def _roll(xp: Namespace, x: Array, shifts: Sizes, dims: Dims = None) -> Array:
    by = roll_by(x.shape, shifts, dims)
    return xp.roll(x, *by) if x.shape else x


row("roll", jvp=LINEAR, memory=PACKED,
    doc="Entries moved along; those that fall off come in again at the other end.",
    formula="y[i] = x[(i - shift) mod n]", fwd=_roll,
    vjp=(lambda xp, g, y, x, shifts, dims=None:
         _roll(xp, g, tuple([-n for n in as_sizes(shifts)]), dims),),
    cases=[case((3, 4), shifts=2), case((3, 4), shifts=1, dims=-1),
           case((3, 4), shifts=(1, -2), dims=(0, 1)), case((), shifts=1)])


def rotation_dims(shape: Shape, dims: Sizes) -> tuple[int, int]:
    asked = as_sizes(dims)
    refuse(len(asked) != 2, "expected total rotation dims == 2, but got dims = {}",
           len(asked))
    refuse(len(shape) < 2, "expected total dims >= 2, but got total dims = {}",
           len(shape))
    a, b = (dim_of(shape, d) for d in asked)
    refuse(a == b, "expected rotation dims to be different, but got dim0 = {} and "
           "dim1 = {}", *asked)
    return a, b


@row("rot90", jvp=LINEAR,
    doc="Quarter turns from the first of two dimensions towards the second.",
    formula="k quarter turns of x",
    vjp=(lambda xp, g, y, x, k=1, dims=(0, 1): xp.rot90(g, -k, dims),),
    cases=[case((3, 4), k=k) for k in (0, 1, 2, 3, -1)]
    + [case((2, 3, 4), k=1, dims=(-1, 0))])
def _rot90(xp: Namespace, x: Array, k: int = 1, dims: Sizes = (0, 1)) -> Array:
    a, b = rotation_dims(x.shape, dims)
    quarter = k % 4
    if quarter == 1:
        return xp.transpose(xp.flip(x, (b,)), a, b)
    if quarter == 2:
        return xp.flip(x, (a, b))
    return xp.transpose(xp.flip(x, (a,)), a, b) if quarter else xp.contiguous(x)


# -- triangles and diagonals ----------------------------------------------------------


def _triangle(name: str, formula: str, doc: str) -> None:
    @row(name, jvp=LINEAR, formula=formula, doc=doc, memory=PACKED, in_place=True,
        vjp=(lambda xp, g, y, x, diagonal=0: getattr(xp, name)(g, diagonal),),
        cases=[case((3, 4)), case((4, 3), diagonal=1), case((2, 3, 3), diagonal=-1)])
    def fwd(xp: Namespace, x: Array, diagonal: int = 0) -> Array:
        demand_rank(name, x, 2)
        y: Array = getattr(xp, name)(x, diagonal)
        return y


_triangle("tril", "y[i, j] = x[i, j] if j <= i + diagonal else 0",
          "The lower triangle of a matrix; zeros above.")
_triangle("triu", "y[i, j] = x[i, j] if j >= i + diagonal else 0",
          "The upper triangle of a matrix; zeros below.")


def two_dims(shape: Shape, dim1: int, dim2: int) -> tuple[int, int]:
    a, b = dim_of(shape, dim1), dim_of(shape, dim2)
    refuse(a == b, "diagonal dimensions cannot be identical {}, {}", dim1, dim2)
    return a, b


def on_diagonal(
    xp: Namespace, g: Array, shape: Shape, offset: int, dim1: int, dim2: int
) -> Array:
    """Return zeros of ``shape`` with the last dimension of ``g`` along a diagonal."""
    a, b = two_dims(shape, dim1, dim2)
    order = (*[d for d in range(len(shape)) if d not in (a, b)], a, b)
    steps = range(g.shape[-1])
    rows = xp.as_index([i + max(-offset, 0) for i in steps])
    columns = xp.as_index([i + max(offset, 0) for i in steps])
    ordered = tuple([shape[d] for d in order])
    put = xp.put_view(ordered, (..., rows, columns), g)
    return xp.permute(put, inverse_order(order))


def _diagonal_row(name: str, node: str, memory: Marker) -> None:
    row(name, node=node, jvp=LINEAR, memory=memory,
        fwd=lambda xp, x, offset=0, dim1=0, dim2=1:
        xp.diagonal(x, offset, *two_dims(x.shape, dim1, dim2)),
        internal=memory is PACKED,
        doc="A diagonal of two dimensions, as the last dimension.",
        formula="y[..., i] = x[i, i + offset]",
        vjp=(lambda xp, g, y, x, **at:
             xp.call("diagonal.backward", g, x.shape, **at),),
        cases=[case((3, 4)), case((4, 3), offset=1), case((3, 3), offset=-1),
               case((2, 3, 4), dim1=-1, dim2=0, offset=1)])


_diagonal_row("diagonal", "DiagonalBackward0", VIEW)
_diagonal_row("diagonal_copy", "DiagonalBackward0_copy", PACKED)

row("diagonal.backward", node="DiagonalBackwardBackward0", jvp=LINEAR, memory=PACKED,
    formula="y[i, i + offset] = g[i]",
    fwd=lambda xp, x, input_sizes, offset=0, dim1=0, dim2=1:
    on_diagonal(xp, x, input_sizes, offset, dim1, dim2),
    vjp=(lambda xp, g, y, x, input_sizes, **at: xp.diagonal(g, **at),),
    cases=[case((3,), input_sizes=(3, 4), offset=0, dim1=0, dim2=1),
           case((3, 1), input_sizes=(2, 3, 4), offset=1, dim1=-1, dim2=0)])

@row("diag_embed", jvp=LINEAR, memory=PACKED,
    doc="Zeros with the last dimension along a diagonal of two new ones.",
    formula="y[..., i, i + offset] = x[..., i]",
    vjp=(lambda xp, g, y, x, offset=0, dim1=-2, dim2=-1:
         xp.diagonal(g, offset, dim1, dim2),),
    cases=[case((3,)), case((2, 3), offset=1), case((2, 3), offset=-1, dim1=0, dim2=2)])
def _diag_embed(xp: Namespace, x: Array, offset: int = 0, dim1: int = -2,
                dim2: int = -1) -> Array:
    side, rest = x.shape[-1] + abs(offset), iter(x.shape[:-1])
    ends = two_dims((*x.shape, 1), dim1, dim2)
    shape = [side if d in ends else next(rest) for d in range(x.ndim + 1)]
    return on_diagonal(xp, x, tuple(shape), offset, dim1, dim2)


@function("diag", operands=("x",), formula="diag(x)",
          cases=[case((3,)), case((3, 4), diagonal=1)],
          doc="A vector as a diagonal matrix; a matrix's diagonal as a vector.")
def _diag(call: Caller, x: Array, diagonal: int = 0) -> Array:
    if x.ndim == 1:
        return call("diag_embed", x, diagonal)
    if x.ndim == 2:
        return call("diagonal_copy", x, diagonal)
    raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D")


function("diagflat", lambda call, x, offset=0:
         call("diag_embed", call("ravel", x), offset), operands=("x",),
         formula="diag(flatten(x))",
         doc="All entries as a diagonal matrix.", cases=[case((2, 2))])

# -- padding, windows, repeats --------------------------------------------------------


def pad_pairs(shape: Shape, pad: Sizes) -> list[tuple[int, int]]:
    """Return ``(before, after)`` per dimension; ``pad`` begins with the last one's."""
    flat = as_sizes(pad)
    refuse(len(flat) % 2, "Padding length must be divisible by 2")
    refuse(len(flat) > 2 * len(shape), "Padding length should be less than or equal to "
           "two times the input dimension but got padding length {} and input of "
           "dimension {}", len(flat), len(shape))
    pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    untouched = [(0, 0)] * (len(shape) - len(pairs))
    for n, (before, after) in zip(shape, untouched + pairs[::-1], strict=True):
        refuse(n + min(before, 0) + min(after, 0) < 0, "pad: ({}, {}) cuts off more "
               "than there is of a dimension of size {}", before, after, n)
    return untouched + pairs[::-1]


@row("constant_pad_nd",
    vjp=(lambda xp, g, y, x, pad, value=0:
         xp.constant_pad_nd(g, tuple([-n for n in as_sizes(pad)])),), saves="",
    jvp=lambda xp, t, y, x, pad, value=0: xp.constant_pad_nd(t[0], pad),
    doc="A border of one number; a negative width cuts off.", formula="[v, x, v]",
    cases=[case((3, 4), pad=(1, 2)), case((3, 4), pad=(1, 0, 2, 1), value=1.5),
           case((3, 4), pad=(-1, 1)), case((2,), pad=(0, 3), value=-1),
           case((2,), pad=(1, 1)), case((2, 2), pad=(1, 2, 3, 4), value=2)])
def _pad(xp: Namespace, x: Array, pad: Sizes, value: float = 0) -> Array:
    for d, (before, after) in enumerate(pad_pairs(x.shape, pad)):
        inner = slice(max(-before, 0), x.shape[d] + min(after, 0))
        kept = xp.getitem(x, along(d, inner))
        front, back = (
            [xp.new_full(x, (*x.shape[:d], n, *x.shape[d + 1:]), value)] if n > 0
            else [] for n in (before, after))
        parts = [*front, kept, *back]
        x = xp.contiguous(xp.cat(parts, d)) if len(parts) > 1 else kept
    return x


def windows(shape: Shape, dimension: int, size: int, step: int) -> tuple[int, range]:
    """Return the dimension that windows slide over, and where each window begins."""
    d = dim_of(shape, dimension)
    length = shape[d] if shape else 1
    refuse(size > length, "maximum size for tensor at dimension {} is {} but size is "
           "{}", d, length, size)
    refuse(step <= 0 or size < 0, "unfold: step is {} but must be > 0, size is {} but "
           "must be >= 0", step, size)
    return d, range(0, length - size + 1, step)


def covered(xp: Namespace, starts: range, size: int) -> Array:
    """Return the positions that each window covers, a row for each window."""
    check_size((len(starts), size), LISTED)
    return xp.as_index([list(range(at, at + size)) for at in starts])


def windowed(xp: Namespace, x: Array, d: int, starts: range, size: int) -> Array:
    """Return a copy of the windows over dimension d, whose entries are last."""
    at = along(d, covered(xp, starts, size))
    return xp.permute(xp.getitem(x, at), window_order(x.ndim + 1, d))


def window_order(ndim: int, d: int) -> Shape:
    """Return an order of dimensions that moves dimension d + 1 to the end."""
    return (*range(d + 1), *range(d + 2, ndim), d + 1)


@row("unfold", jvp=LINEAR, memory=VIEW,
    doc="Sliding windows over a dimension, as a new last dimension.",
    formula="y[..., w, ..., i] = x[..., w step + i, ...]",
    vjp=(lambda xp, g, y, x, **how: xp.call("unfold.backward", g, x.shape, **how),),
    cases=[case((7,), dimension=0, size=3, step=2),
           case((5, 2), dimension=0, size=2, step=1),
           case((2, 5, 2), dimension=-2, size=3, step=1)])
def _unfold(xp: Namespace, x: Array, dimension: int, size: int, step: int) -> Array:
    d, starts = windows(x.shape, dimension, size, step)
    if not x.shape:
        return xp.reshape(x, (1,))
    return xp.windowed(x, d, starts, size)


@row("unfold.backward", node="UnfoldBackwardBackward0", jvp=LINEAR,
    formula="y[w step + i] += g[w, i]",
    vjp=(lambda xp, g, y, x, input_sizes, **how: xp.unfold(g, **how),),
    cases=[case((3, 3), input_sizes=(7,), dimension=0, size=3, step=2),
           case((4, 2, 2), input_sizes=(5, 2), dimension=0, size=2, step=1)])
def _unfold_backward(
    xp: Namespace, x: Array, input_sizes: Shape, dimension: int, size: int, step: int
) -> Array:
    d, starts = windows(input_sizes, dimension, size, step)
    if not input_sizes:
        return xp.reshape(x, ())
    inside = xp.permute(x, inverse_order(window_order(x.ndim, d)))
    return xp.put_add(input_sizes, along(d, covered(xp, starts, size)), inside)


def _interleaved(call: Caller, x: Array, repeats: Sizes, dim: int | None) -> Array:
    if dim is None:
        x, dim = call("flatten", x), 0
    d = dim_of(x.shape, dim)
    if isinstance(repeats, float):
        repeats = as_integer(repeats)
    if not isinstance(repeats, int):
        counts = as_sizes(repeats.tolist() if hasattr(repeats, "tolist") else repeats)
        if len(counts) == 1:
            counts *= x.shape[d]
        refuse(len(counts) != x.shape[d], "repeats must have the same size as input "
               "along dim, but got repeats.size(0) = {} and input.size({}) = {}",
               len(counts), d, x.shape[d])
        check_size((*x.shape[:d], sum(counts), *x.shape[d + 1:]), LISTED)
        return call("index_select", x, d, [i for i, n in enumerate(counts)
                                           for _ in range(n)])
    refuse(repeats < 0, "Repeats must be non-negative")
    apart = call("unsqueeze", x, d + 1)
    sizes = (*x.shape[:d + 1], repeats, *x.shape[d + 1:])
    spread = call("clone", call("expand", apart, sizes), "contiguous")
    return call("view", spread, (*x.shape[:d], x.shape[d] * repeats, *x.shape[d + 1:]))


@function("repeat_interleave", operands=("x",), either="repeats",
          formula="y[i] = x[i // repeats]",
          doc="Each entry repeated in place; without dim, of the flattened tensor.",
          cases=[case((3, 2), repeats=2), case((3, 2), repeats=2, dim=-1),
                 case((3, 2), repeats=(1, 0, 2), dim=0)])
def _repeat_interleave(
    call: Caller, x: Array, repeats: Sizes, dim: int | None = None,
    output_size: int | None = None,
) -> Array:
    y = _interleaved(call, x, repeats, dim)
    size = y.shape[0 if dim is None else dim]
    refuse(output_size not in (None, size), "repeat_interleave: Invalid output_size, "
           "expected {} but got {}", size, output_size)
    return y
