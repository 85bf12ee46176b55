"""Operations that split tensors into several, and grids of coordinates.

The rule of a row with several outputs gets a tuple of cotangents, with zeros where none
arrived; in the graph, the edge to an output has the output's number.

    a, b = split(x, 2)      # SplitBackward0 #0 and #1
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import (
    accumulate,
    combinations,
    combinations_with_replacement,
    pairwise,
    product,
)
from math import prod

from .checks import (
    ShapeError,
    as_integer,
    broadcast_shape,
    demand_choice,
    demand_rank,
    dim_of,
    real_dim,
    refuse,
)
from .index import along, as_view
from .join import as_list
from .limits import PIECE, check_size
from .op import LINEAR, MANY, VIEW, case, function, row
from .types import Array, Call, Namespace, Nested, Outputs, Shape, Sizes

# fmt: off

def even_sizes(size: int, split_size: int) -> Shape:
    """Return the sizes of pieces of ``size``: ``split_size``, the last maybe less."""
    if split_size < 0:
        raise ShapeError("split expects split_size be non-negative, but got "
                         f"split_size={split_size}")
    if split_size == 0:
        if size:
            raise ShapeError("split_size can only be 0 if dimension size is 0, but got "
                             f"dimension size of {size}")
        return (0,)
    full, rest = divmod(size, split_size)
    check_size((full,), PIECE)
    return (*[split_size] * full, *([rest] if rest or not full else []))


def given_sizes(size: int, asked: Sequence[int], dim: int) -> Shape:
    if sum(asked) != size or any(n < 0 for n in asked):
        raise ShapeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input "
            f"tensor's size at dimension {dim}), but got split_sizes={list(asked)}")
    return tuple(asked)


def some_dim(x: Array, dim: int, verb: str) -> int:
    if not x.shape:
        raise ShapeError(f"{verb} expects at least a 1-dimensional tensor")
    return dim_of(x.shape, dim)


def pieces(xp: Namespace, x: Array, dim: int, sizes: Shape) -> tuple[Array, ...]:
    bounds = pairwise(accumulate(sizes, initial=0))
    return tuple([xp.getitem(x, along(dim, slice(a, b))) for a, b in bounds])


split = partial(row, returns=MANY, jvp=LINEAR, formula="[a, b, ...] = x",
                vjp=(lambda xp, g, y, x, dim=0, **_: xp.cat(g, dim),))


@split("split.Tensor", node="SplitBackward0", memory=VIEW,
       cases=[case((5, 2), split_size=2), case((2, 6), split_size=3, dim=-1),
              case((3,), split_size=5)])
def _split(xp: Namespace, x: Array, split_size: int, dim: int = 0) -> tuple[Array, ...]:
    d = some_dim(x, dim, "split")
    return pieces(xp, x, d, even_sizes(x.shape[d], split_size))


@split("split_with_sizes", node="SplitWithSizesBackward0", memory=VIEW,
       doc="Pieces of given sizes along a dimension.",
       cases=[case((5, 2), split_sizes=(2, 3)),
              case((2, 6), split_sizes=(1, 2, 3), dim=-1)])
def _split_with_sizes(
    xp: Namespace, x: Array, split_sizes: Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    d = some_dim(x, dim, "split")
    return pieces(xp, x, d, given_sizes(x.shape[d], split_sizes, d))


@row("unbind", returns=MANY, node="UnbindBackward0", jvp=LINEAR, memory=VIEW,
    doc="All entries of a dimension, each a tensor.", formula="[a, b, ...] = x",
    vjp=(lambda xp, g, y, x, dim=0: xp.stack(g, dim),),
    cases=[case((3, 2)), case((2, 3), dim=-1), case((2,))])
def _unbind(xp: Namespace, x: Array, dim: int = 0) -> tuple[Array, ...]:
    d = real_dim(x.shape, dim)
    check_size((x.shape[d],), PIECE)
    return tuple([xp.getitem(x, as_view(along(d, i))) for i in range(x.shape[d])])


def _pieces(call: Call, name: str, x: Array, by: Sizes, dim: int) -> Outputs:
    return tuple(call(name, x, by, dim))


@function("split", operands=("x",),
          doc="Pieces along a dimension: of one size, or of the sizes listed.",
          cases=[case((5, 2), split_size_or_sections=2)])
def _split_any(
    call: Call, x: Array, split_size_or_sections: Sizes, dim: int = 0
) -> tuple[Array, ...]:
    asked = split_size_or_sections
    if isinstance(asked, list | tuple):
        return _pieces(call, "split_with_sizes", x, tuple(asked), dim)
    return _pieces(call, "split.Tensor", x, as_integer(asked), dim)


@function("chunk", operands=("x",), formula="[a, b, ...] = x",
          doc="A number of pieces along a dimension, as even as integer sizes allow.",
          cases=[case((5, 2), chunks=2), case((2, 6), chunks=4, dim=1)])
def _chunk(call: Call, x: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    d = some_dim(x, dim, "chunk")
    refuse(chunks <= 0, "chunk expects `chunks` to be greater than 0, got: {}", chunks)
    size = x.shape[d]
    if not size:
        check_size((chunks,), PIECE)
        return _pieces(call, "split_with_sizes", x, (0,) * chunks, d)
    return _pieces(call, "split.Tensor", x, -(-size // chunks), d)


# -- grids ----------------------------------------------------------------------------


@function("broadcast_tensors", formula="[a, b, ...]",
          doc="Tensors repeated to their common shape.", cases=[case((3, 1), (2,))])
def _broadcast_tensors(call: Call, *tensors: Array) -> tuple[Array, ...]:
    xs = as_list(tensors)
    shape = broadcast_shape(*[x.shape for x in xs])
    return tuple([x if x.shape == shape else call("expand", x, shape) for x in xs])


@function("meshgrid", formula="A[i, j] = a[i], B[i, j] = b[j]",
          doc="The coordinates of a grid, one tensor per axis.",
          cases=[case((3,), (2,)), case((3,), (2,), indexing="xy")])
def _meshgrid(call: Call, *tensors: Array, indexing: str = "ij") -> tuple[Array, ...]:
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


MOST_DIMS = 64
"""Largest number of dimensions that an array can have."""


def _nested(flat: Sequence[float | Nested], sizes: list[int]) -> Nested:
    """Return a flat list as nested lists, whose lengths are ``sizes``."""
    for n in sizes[:0:-1]:
        flat = [flat[i:i + n] for i in range(0, len(flat), n)]
    return flat


@function("combinations", operands=("x",), formula="all (x[i], x[j]) with i < j",
          doc="Every choice of r entries, in their order, one per row.",
          cases=[case((4,)), case((3,), r=2, with_replacement=True)])
def _combinations(
    call: Call, x: Array, r: int = 2, with_replacement: bool = False
) -> Array:
    demand_rank("combinations", x, 1, 1)
    refuse(r < 0, "Expect a non-negative number, but got {}", r)
    if r > MOST_DIMS:
        raise ShapeError(f"combinations of {r} entries are not offered; of up to "
                         f"{MOST_DIMS} they are")
    count = x.shape[0]
    if not r:
        return call("new_zeros", x, (0,))
    check_size((r, *[count] * r))
    grids = _meshgrid(call, *[x] * r)
    pick = combinations_with_replacement if with_replacement else combinations
    chosen = set(pick(range(count), r))
    at = product(range(count), repeat=r)
    mask = (call("as_index.beside", x, _nested([p in chosen for p in at], [count] * r))
            if count else call("lt", grids[0], 0))
    return call("stack", [call("masked_select", grid, mask) for grid in grids], 1)
