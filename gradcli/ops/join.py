"""Operations that join tensors, repeat them, or split them into several.

Invariant: every row here is linear. Tensors are joined in the order in which they are
given, and each gets the part of the cotangent at its place. The rule of a row with
several outputs gets a tuple of cotangents, with zeros where none arrived; in the graph,
the edge to an output has the output's number.

    cat([a, b])             # CatBackward0(a, b)
    a, b = split(x, 2)      # SplitBackward0 #0 and #1
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import (
    accumulate,
    pairwise,
)
from math import prod

from .checks import (
    PIECE,
    ShapeError,
    as_integer,
    as_sizes,
    broadcast_shape,
    check_size,
    demand_choice,
    demand_rank,
    dim_of,
    real_dim,
    refuse,
)
from .index import along, as_view
from .op import LINEAR, MANY, PACKED, SHARED, VIEW, Formula, case, function, row
from .shape import sum_to
from .types import Array, Caller, Namespace, Outputs, Shape, Sizes

# fmt: off


# -- repeating ------------------------------------------------------------------------


def expanded(shape: Shape, size: Sizes) -> Shape:
    """Return the shape of an expansion to ``size``, in which -1 keeps a size."""
    asked = as_sizes(size)
    lead = len(asked) - len(shape)
    if lead < 0:
        raise ShapeError(
            f"expand(tensor of shape {list(shape)}, size={list(asked)}): the number of "
            f"sizes provided ({len(asked)}) must be greater or equal to the number of "
            f"dimensions in the tensor ({len(shape)})")
    for at, n in enumerate(asked):
        if n < (0 if at < lead else -1):
            raise ShapeError(f"The expanded size of the tensor ({n}) isn't allowed in "
                             f"{'a leading, non-existing' if at < lead else 'the'} "
                             f"dimension {at}")
        if at >= lead and n != -1 and shape[at - lead] not in (1, n):
            raise ShapeError(
                f"The expanded size of the tensor ({n}) must match the existing size "
                f"({shape[at - lead]}) at non-singleton dimension {at}.  "
                f"Target sizes: {list(asked)}.  Tensor sizes: {list(shape)}")
    return tuple([shape[at - lead] if n == -1 else n for at, n in enumerate(asked)])


row("expand", star="size", jvp=LINEAR, memory=VIEW,
    doc="Dimensions of size 1 repeated without a copy; -1 keeps a size.",
    formula="y[i, j, ...] = x[0, j, ...]",
    fwd=lambda xp, x, size: xp.expand(x, expanded(x.shape, size)),
    vjp=(lambda xp, g, y, x, size: sum_to(xp, g, x.shape),),
    cases=[case((3, 1), size=(3, 4)), case((4,), size=(2, 3, -1)), case((), size=(2,)),
           case((1, 1), size=(-1, 3)), case((2, 3), size=(2, 3))])

function("broadcast_to", lambda call, x, size: call("expand", x, size), star="size",
         operands=("x",),
         formula="y[i, j, ...] = x[0, j, ...]", doc="Repeat to a given shape.",
         cases=[case((3, 1), size=(2, 3, 4))])
function("expand_as", lambda call, x, other: call("expand", x, tuple(other.shape)),
         operands=("x", "other"),
         formula="y[i, j, ...] = x[0, j, ...]", doc="Repeat to another tensor's shape.",
         cases=[case((3, 1), (2, 3, 4))])


def repeated(shape: Shape, repeats: Sizes) -> tuple[Shape, Shape]:
    """Return the counts, and the shape with 1s in front, so that both are as long."""
    counts = as_sizes(repeats)
    refuse(len(counts) < len(shape), "Number of dimensions of repeat dims can not be "
           "smaller than number of dimensions of tensor")
    if any(n < 0 for n in counts):
        raise ShapeError(f"Trying to create tensor with negative dimension: {counts}")
    return counts, (*([1] * (len(counts) - len(shape))), *shape)


def interleaved(counts: Shape, shape: Shape) -> Shape:
    return tuple([n for pair in zip(counts, shape, strict=True) for n in pair])


def _repeat_vjp(xp: Namespace, g: Array, y: Array, x: Array, repeats: Sizes) -> Array:
    counts, shape = repeated(x.shape, repeats)
    if not counts:
        return g
    apart = xp.reshape(g, interleaved(counts, shape))
    return xp.reshape(xp.sum(apart, tuple(range(0, 2 * len(counts), 2))), x.shape)


@row("repeat", star="repeats", jvp=LINEAR,
    doc="The tensor repeated a number of times along each dimension.",
    formula="y[i] = x[i mod n]", vjp=(_repeat_vjp,),
    cases=[case((2, 3), repeats=(2, 1)), case((2, 3), repeats=(2, 1, 3)),
           case((), repeats=(3,)), case((1, 2), repeats=(1, 1))])
def _repeat(xp: Namespace, x: Array, repeats: Sizes) -> Array:
    counts, shape = repeated(x.shape, repeats)
    lone = xp.reshape(x, interleaved((1,) * len(shape), shape))
    spread = xp.expand(lone, interleaved(counts, shape))
    y = xp.reshape(spread, tuple(map(int.__mul__, counts, shape)))
    seen = all(1 in pair for pair in zip(counts, shape, strict=True))
    return xp.clone(y, "contiguous") if seen else y


function("tile", lambda call, x, dims: call(
             "repeat", x, (*([1] * (x.ndim - len(as_sizes(dims)))), *as_sizes(dims))),
         star="dims", operands=("x",),
         formula="y[i] = x[i mod n]",
         doc="The tensor repeated; counts belong to the last dimensions.",
         cases=[case((2, 3), dims=(2,)), case((2,), dims=(2, 3))])

# -- joining --------------------------------------------------------------------------


NOTHING = (0,)
"""Shape of an empty tensor, which `cat` ignores beside tensors of any shape."""


def solid(tensors: Sequence[Array]) -> list[Array]:
    """Return the tensors of shapes other than `NOTHING`; if there are none, all."""
    return [t for t in tensors if t.shape != NOTHING] or list(tensors)


def join_dim(tensors: Sequence[Array], dim: int) -> int:
    """Return the dimension to join along; raise if other dimensions differ in size."""
    first = solid(tensors)[0].shape
    if first == NOTHING and len(tensors) > 1:
        return 0
    refuse(not first, "zero-dimensional tensor (at position 0) cannot be concatenated")
    d = dim_of(first, dim)
    for number, tensor in enumerate(tensors):
        shape = tensor.shape
        if shape == NOTHING:
            continue
        refuse(len(shape) != len(first), "Tensors must have same number of dimensions: "
               "got {} and {}", len(first), len(shape))
        for at, (expected, got) in enumerate(zip(first, shape, strict=True)):
            refuse(at != d and expected != got, "Sizes of tensors must match except in "
                   "dimension {}. Expected size {} but got size {} for tensor number "
                   "{} in the list.", d, expected, got, number)
    return d


def stack_dim(tensors: Sequence[Array], dim: int) -> int:
    """Return the new dimension of a stack; raise if the tensors' shapes differ."""
    first = tensors[0].shape
    for number, tensor in enumerate(tensors):
        refuse(tensor.shape != first, "stack expects each tensor to be equal size, but "
               "got {} at entry 0 and {} at entry {}", list(first), list(tensor.shape),
               number)
    return dim_of((*first, 1), dim)


def _cat_vjp(xp: Namespace, g: Array, y: Array, *tensors: Array, dim: int = 0
            ) -> tuple[Array, ...]:
    d = join_dim(tensors, dim)
    sizes = [0 if t.shape == NOTHING else t.shape[d] for t in tensors]
    starts = accumulate(sizes, initial=0)
    return tuple([xp.reshape(xp.narrow(g, d, at, n), t.shape)
                  if t.shape == NOTHING else xp.narrow(g, d, at, n)
                  for at, n, t in zip(starts, sizes, tensors, strict=False)])


row("cat.default", variadic=True, jvp=LINEAR, memory=PACKED,
    doc="Tensors one after the other along a dimension.", formula="[a, b, ...]",
    fwd=lambda xp, *tensors, dim=0: xp.cat(solid(tensors), join_dim(tensors, dim)),
    vjp=_cat_vjp,
    cases=[case((2, 3), (1, 3)), case((2, 3), (2, 1), (2, 2), dim=1), case((3,)),
           case((2, 3), (2, 4), dim=-1), case((0,), (2, 3), dim=1)])

row("stack.default", variadic=True, jvp=LINEAR, memory=PACKED,
    doc="Tensors of one shape along a new dimension.", formula="[a, b, ...]",
    fwd=lambda xp, *tensors, dim=0: xp.stack(tensors, stack_dim(tensors, dim)),
    vjp=lambda xp, g, y, *tensors, dim=0: tuple(
        [xp.select(g, dim, i) for i in range(len(tensors))]),
    cases=[case((2, 3), (2, 3)), case((2,), (2,), (2,), dim=1), case((), ()),
           case((2, 3), (2, 3), dim=-1)])


def _at_least(call: Caller, x: Array, ndim: int) -> Array:
    """Return ``x`` with at least ``ndim`` dimensions, added as PyTorch adds them."""
    if x.ndim == 0:
        return call("reshape", x, (1,) * ndim)
    if x.ndim == 1 and ndim > 1:
        x = call("unsqueeze", x, 0)
    return call("unsqueeze", x, -1) if x.ndim == 2 and ndim == 3 else x


def as_list(args: Sequence[Array]) -> list[Array]:
    """Return the tensors, which may be given as ``(a, b)`` or as ``([a, b],)``."""
    first = args[0] if len(args) == 1 else None
    return list(first if isinstance(first, list | tuple) else args)


def listed(name: str, tensors: Sequence[Array]) -> list[Array]:
    """Return the tensors as a list; raise if they are a single scalar, or none."""
    several = isinstance(tensors, list | tuple)
    if not several and not getattr(tensors, "shape", ()):
        raise TypeError(f"{name}(): expected a list of tensors, as in {name}([a, b])")
    found = list(tensors)
    if not found:
        raise ValueError(f"torch.{name}(): expected a non-empty list of Tensors")
    return found


def joined(call: Caller, name: str, tensors: Sequence[Array], ndim: int, dim: int,
           op: str = "cat.default") -> Array:
    """Return tensors, raised to at least ``ndim`` dimensions, joined along ``dim``."""
    raised = [_at_least(call, x, ndim) if ndim else x for x in listed(name, tensors)]
    return call(op, *raised, dim=dim)


def _atleast(ndim: int) -> Formula:
    def build(call: Caller, *tensors: Array) -> Array | Outputs:
        if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
            return _at_least(call, tensors[0], ndim)
        return tuple([_at_least(call, x, ndim) for x in as_list(tensors)])

    return build


for _ndim in (1, 2, 3):
    function(f"atleast_{_ndim}d", _atleast(_ndim), cases=[case((3,)), case(())],
             formula="x", doc=f"At least {_ndim} dimensions, new ones of size 1.")


function("cat", lambda call, tensors, dim=0: joined(call, "cat", tensors, 0, dim),
         aliases=("concat", "concatenate"))
function("stack", lambda call, tensors, dim=0:
         joined(call, "stack", tensors, 0, dim, "stack.default"))


@function("hstack", formula="[a, b, ...]", doc="Tensors side by side.",
          cases=[case((2, 3), (2, 1)), case((3,), (2,))])
def _hstack(call: Caller, tensors: Sequence[Array]) -> Array:
    raised = [_at_least(call, x, 1) for x in listed("hstack", tensors)]
    return call("cat.default", *raised, dim=0 if raised[0].ndim == 1 else 1)


function("vstack", lambda call, tensors: joined(call, "vstack", tensors, 2, 0),
         aliases=("row_stack",), formula="[a; b; ...]", doc="Tensors as rows.",
         cases=[case((2, 3), (1, 3)), case((3,), (3,))])
function("dstack", lambda call, tensors: joined(call, "dstack", tensors, 3, 2),
         formula="[a, b, ...]", doc="Tensors along the third dimension.",
         cases=[case((2, 3), (2, 3)), case((3,), (3,))])
function("column_stack", lambda call, tensors: call(
             "cat.default",
             *[x if x.ndim > 1 else call("reshape", x, (prod(x.shape), 1))
               for x in listed("column_stack", tensors)], dim=1),
         formula="[a, b, ...]", doc="Tensors as columns.",
         cases=[case((2, 3), (2,)), case((3,), (3,))])


# splitting, and grids of coordinates

FAMILY = "split"


def even_sizes(size: int, split_size: int) -> Shape:
    """Return the sizes of pieces of ``size``: ``split_size``, the last maybe less."""
    refuse(split_size < 0, "split expects split_size be non-negative, but got "
           "split_size={}", split_size)
    if split_size == 0:
        refuse(size, "split_size can only be 0 if dimension size is 0, but got "
               "dimension size of {}", size)
        return (0,)
    full, rest = divmod(size, split_size)
    check_size((full,), PIECE)
    return (*[split_size] * full, *([rest] if rest or not full else []))


def some_dim(x: Array, dim: int, verb: str) -> int:
    refuse(not x.shape, "{} expects at least a 1-dimensional tensor", verb)
    return dim_of(x.shape, dim)


def pieces(xp: Namespace, x: Array, dim: int, sizes: Shape) -> tuple[Array, ...]:
    bounds = pairwise(accumulate(sizes, initial=0))
    return tuple([xp.getitem(x, along(dim, slice(a, b))) for a, b in bounds])


split = partial(row, returns=MANY, jvp=LINEAR, formula="[a, b, ...] = x",
                vjp=(lambda xp, g, y, x, dim=0, **_: xp.cat(g, dim),))


for _name, _node, _memory in (("Tensor", "SplitBackward0", VIEW),
                              ("unsafe", "UnsafeSplitBackward0", SHARED)):
    split(f"split.{_name}", node=_node, memory=_memory,
        fwd=lambda xp, x, split_size, dim=0: pieces(
            xp, x, d := some_dim(x, dim, "split"), even_sizes(x.shape[d], split_size)),
        cases=[case((5, 2), split_size=2), case((2, 6), split_size=3, dim=-1),
               case((3,), split_size=5)])


@split("split_with_sizes", memory=VIEW, doc="Pieces of given sizes along a dimension.",
    cases=[case((5, 2), split_sizes=(2, 3)),
           case((2, 6), split_sizes=(1, 2, 3), dim=-1)])
def _split_with_sizes(
    xp: Namespace, x: Array, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    d = some_dim(x, dim, "split")
    refuse(sum(split_sizes) != x.shape[d] or min(split_sizes, default=0) < 0,
           "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's "
           "size at dimension {}), but got split_sizes={}", x.shape[d], d,
           list(split_sizes))
    return pieces(xp, x, d, tuple(split_sizes))


@row("unbind", returns=MANY, jvp=LINEAR, memory=VIEW,
    doc="All entries of a dimension, each a tensor.", formula="[a, b, ...] = x",
    vjp=(lambda xp, g, y, x, dim=0: xp.stack(g, dim),),
    cases=[case((3, 2)), case((2, 3), dim=-1), case((2,))])
def _unbind(xp: Namespace, x: Array, dim: int = 0) -> tuple[Array, ...]:
    d = real_dim(x.shape, dim)
    check_size((x.shape[d],), PIECE)
    return tuple([xp.getitem(x, as_view(along(d, i))) for i in range(x.shape[d])])


def _pieces(call: Caller, name: str, x: Array, by: Sizes, dim: int) -> Outputs:
    return tuple(call(name, x, by, dim))


@function("split", operands=("x",),
          doc="Pieces along a dimension: of one size, or of the sizes listed.",
          cases=[case((5, 2), split_size_or_sections=2)])
def _split_any(
    call: Caller, x: Array, split_size_or_sections: Sizes, dim: int = 0
) -> tuple[Array, ...]:
    asked = split_size_or_sections
    if isinstance(asked, list | tuple):
        return _pieces(call, "split_with_sizes", x, tuple(asked), dim)
    return _pieces(call, "split.Tensor", x, as_integer(asked), dim)


@function("chunk", operands=("x",), formula="[a, b, ...] = x",
          doc="A number of pieces along a dimension, as even as integer sizes allow.",
          cases=[case((5, 2), chunks=2), case((2, 6), chunks=4, dim=1)])
def _chunk(call: Caller, x: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    d = some_dim(x, dim, "chunk")
    refuse(chunks <= 0, "chunk expects `chunks` to be greater than 0, got: {}", chunks)
    size = x.shape[d]
    if not size:
        check_size((chunks,), PIECE)
        return _pieces(call, "split_with_sizes", x, (0,) * chunks, d)
    return _pieces(call, "split.Tensor", x, -(-size // chunks), d)


@function("tensor_split", operands=("x",), formula="[a, b, ...] = x",
          doc="Pieces along a dimension: as many as asked, or between indices.",
          cases=[case((5, 2), indices_or_sections=3),
                 case((2, 6), indices_or_sections=(1, -2), dim=1)])
def _tensor_split(call: Caller, x: Array, indices_or_sections: Sizes, dim: int = 0
                  ) -> tuple[Array, ...]:
    refuse(not x.shape, "tensor_split expected at least a 1-dimensional tensor, but "
           "got a tensor with 0 dims")
    size, asked = x.shape[dim_of(x.shape, dim)], indices_or_sections
    if isinstance(asked, list | tuple):
        bounds = [*map(as_integer, asked)]
    else:
        count = as_integer(asked)
        refuse(count <= 0, "number of sections must be larger than 0, got {}", count)
        check_size((count,), PIECE)
        least, more = divmod(size, count)
        bounds = [i * least + min(i, more) for i in range(1, count)]
    ends = pairwise([0, *bounds, size])
    return tuple([call("slice.Tensor", x, dim, start, end) for start, end in ends])


def _split_along(name: str, axis: int, least: int, lines: str) -> None:
    """Enter a function that splits tensors of ``least`` dimensions or more along an
    axis, or along the only one."""

    @function(name, operands=("x",), formula="[a, b, ...] = x",
              doc=f"Pieces along the {lines}: as many equal ones as asked, or between "
                  "indices.",
              cases=[case((2, 4, 6), indices_or_sections=2),
                     case((3, 4, 5), indices_or_sections=(1, 3))])
    def pieces_along(call: Caller, x: Array, indices_or_sections: Sizes
                     ) -> tuple[Array, ...]:
        refuse(x.ndim < least, "torch.{} requires a tensor with at least {} dimension, "
               "but got a tensor with {} dimensions!", name, least, x.ndim)
        dim, asked = min(axis, x.ndim - 1), indices_or_sections
        if not isinstance(asked, list | tuple):
            size, count = x.shape[dim], as_integer(asked)
            refuse(count <= 0 or size % count, "torch.{} attempted to split along "
                   "dimension {}, but the size of the dimension {} is not divisible by "
                   "the split_size {}!", name, dim, size, count)
        return _tensor_split(call, x, asked, dim)


_split_along("hsplit", 1, 1, "columns")
_split_along("vsplit", 0, 2, "rows")
_split_along("dsplit", 2, 3, "third dimension")


# -- grids ----------------------------------------------------------------------------


@function("broadcast_tensors", formula="[a, b, ...]",
          doc="Tensors repeated to their common shape.", cases=[case((3, 1), (2,))])
def _broadcast_tensors(call: Caller, *tensors: Array) -> tuple[Array, ...]:
    xs = as_list(tensors)
    shape = broadcast_shape(*[x.shape for x in xs])
    return tuple([x if x.shape == shape else call("expand", x, shape) for x in xs])


@function("meshgrid", formula="A[i, j] = a[i], B[i, j] = b[j]",
          doc="The coordinates of a grid, one tensor per axis.",
          cases=[case((3,), (2,)), case((3,), (2,), indexing="xy")])
def _meshgrid(call: Caller, *tensors: Array, indexing: str = "ij") -> tuple[Array, ...]:
    xs = as_list(tensors)
    refuse(not xs, "meshgrid expects a non-empty TensorList")
    demand_choice("meshgrid: indexing", indexing, ("ij", "xy"))
    for x in xs:
        demand_rank("meshgrid", x, 0, 1)
    dims = list(range(len(xs)))
    if indexing == "xy":
        dims[:2] = dims[:2][::-1]
    sizes = [0] * len(xs)
    for x, d in zip(xs, dims, strict=True):
        sizes[d] = prod(x.shape)
    return tuple([
        call("expand", call("view", x, tuple([n if i == d else 1
                                              for i, n in enumerate(sizes)])), sizes)
        for x, d in zip(xs, dims, strict=True)
    ])
