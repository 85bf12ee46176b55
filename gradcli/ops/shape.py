"""Views: the same entries under another shape or order of dimensions; constants.

As in PyTorch, the layout of the array decides what `reshape` records: a view of a
contiguous array, an alias where the strides allow it, a view of a clone otherwise.
Constants shaped or typed like a tensor carry no gradient.

    x.t().reshape(12)       # UnsafeViewBackward0(CloneBackward0(TBackward0(x)))
"""

from __future__ import annotations

from math import prod

from .checks import ShapeError, as_sizes, demand_rank, dim_of, dims_of, real_dim, refuse
from .op import KEPT, LINEAR, SHARED, VIEW, Formula, Marker, case, function, row
from .reduce import unsqueezed
from .types import Array, Caller, Dims, Namespace, Shape, Sizes

# fmt: off

FAMILY = "create"


row("zeros_like", doc="Zeros of the tensor's shape.", formula="0",
    memory=KEPT,
    fwd=lambda xp, x: xp.zeros_like(x), cases=[case((3, 4)), case(())])
row("ones_like", doc="Ones of the tensor's shape.", formula="1",
    memory=KEPT,
    fwd=lambda xp, x: xp.ones_like(x), cases=[case((3, 4)), case(())])
row("full_like", doc="One number in the tensor's shape.", formula="fill_value",
    memory=KEPT,
    fwd=lambda xp, x, fill_value: xp.new_full(x, x.shape, fill_value),
    cases=[case((3, 4), fill_value=2.5), case((), fill_value=-1)])
row("new_full", doc="One number in a given shape, of the tensor's kind.",
    formula="fill_value", fwd=lambda xp, x, size, fill_value:
    xp.new_full(x, tuple(size), fill_value),
    cases=[case((3,), size=(2, 2), fill_value=0.5), case((), size=(), fill_value=3)])
row("new_zeros", doc="Zeros of a given shape, of the tensor's kind.", formula="0",
    star="size", fwd=lambda xp, x, size: xp.new_full(x, tuple(size), 0),
    cases=[case((3,), size=(2, 2)), case((), size=())])
row("new_ones", doc="Ones of a given shape, of the tensor's kind.", formula="1",
    star="size", fwd=lambda xp, x, size: xp.new_full(x, tuple(size), 1),
    cases=[case((3,), size=(2, 2)), case((), size=())])
row("as_type_of", doc="A mask or an index as numbers of another tensor's type.",
    formula="x", fwd=lambda xp, x, like: xp.as_type_of(x, like),
    cases=[case((3, 4), (2,)), case((), ())], internal=True)

FAMILY = "shape"


def sizes_of(shape: Sizes, numel: int) -> Shape:
    """Return the shape for a reshape, with the size that remains in place of -1."""
    if type(shape) is tuple and prod(shape) == numel and all(
            type(n) is int and n >= 0 for n in shape):
        return shape
    asked = list(as_sizes(shape))
    if asked.count(-1) > 1:
        raise ShapeError("only one dimension can be inferred")
    for at, n in enumerate(asked):
        if n < -1:
            raise ShapeError(
                f"invalid shape dimension {n} at index {at} of shape {asked}")
    known = prod(n for n in asked if n >= 0)
    if -1 in asked and known and numel % known == 0:
        return tuple([numel // known if n < 0 else n for n in asked])
    if -1 in asked and not known and numel == 0:
        raise ShapeError(f"cannot reshape tensor of 0 elements into shape {asked} "
                         "because the unspecified dimension size -1 can be any value")
    if -1 in asked or known != numel:
        raise ShapeError(f"shape '{asked}' is invalid for input of size {numel}")
    return tuple(asked)


def sum_to(xp: Namespace, g: Array, shape: Shape) -> Array:
    """Return ``g`` summed over the dimensions that broadcasting added or stretched."""
    have = g.shape
    if have == shape:
        return g
    lead = len(have) - len(shape)
    stretched = [
        lead + i for i, n in enumerate(shape) if n == 1 and have[lead + i] != 1
    ]
    if not shape:
        return xp.sum(g)
    found = xp.sum(g, (*range(lead), *stretched), True)
    return xp.reshape(found, shape) if lead else found


# -- other shapes ---------------------------------------------------------------------

row("is_contiguous", query=True, fwd=lambda xp, x: xp.is_contiguous(x),
    doc="Whether the entries lie in memory in the order of their indices.",
    formula="is_contiguous(x)", cases=[case((3, 4)), case(())])

row("view.fits", query=True, fwd=lambda xp, x, shape: xp.is_viewable(x, shape),
    formula="fits(x, shape)", cases=[case((3, 4), shape=(4, 3)), case((), shape=(1,))])


def _reshaping(name: str, node: str, memory: Marker = VIEW) -> None:
    row(name, node=node, formula="x under the new shape", jvp=LINEAR, memory=memory,
        fwd=lambda xp, x, shape: xp.reshape(x, shape),
        vjp=(lambda xp, g, y, x, shape: xp.reshape(g, x.shape),),
        cases=[case((3, 4), shape=(2, 6)), case((), shape=(1, 1)),
               case((2, 3), shape=(6,)), case((1, 1), shape=())])


_reshaping("view.default", "ViewBackward0")
_reshaping("reshape.alias", "ReshapeAliasBackward0")
_reshaping("reshape.unsafe", "UnsafeViewBackward0", SHARED)

CONTIGUOUS = "contiguous"

row("clone", doc="A copy that the gradient passes through.", formula="x", latex="{0}",
    jvp=LINEAR, fwd=lambda xp, x, memory_format=None: xp.clone(x, memory_format),
    vjp=(lambda xp, g, y, x, memory_format=None: g,),
    cases=[case((3, 4)), case(()), case((2, 3), memory_format=CONTIGUOUS)])

row("alias", doc="The same tensor under a new node.", formula="x", jvp=LINEAR,
    memory=VIEW, fwd=lambda xp, x: x, vjp=(lambda xp, g, y, x: g,),
    cases=[case((3, 4)), case(())], internal=True)

row("detach", doc="The same values, where the gradient ends.", formula="x",
    memory=SHARED, stops=True,
    fwd=lambda xp, x: xp.stop(x), cases=[case((3, 4)), case(())])

function("contiguous", lambda call, x:
         x if call("is_contiguous", x) else call("clone", x, CONTIGUOUS),
         doc="The tensor itself if its entries lie in order, else a copy that does.",
         operands=("x",),
         formula="x", cases=[case((3, 4))])


def _unflatten(call: Caller, x: Array, dim: int, sizes: Sizes) -> Array:
    d = real_dim(x.shape, dim)
    split = list(as_sizes(sizes))
    size, known = x.shape[d], prod(n for n in split if n != -1)
    if -1 in split and known and size % known == 0:
        split = [size // known if n == -1 else n for n in split]
    refuse(prod(split) != size, "unflatten: Provided sizes {} don't multiply up to the "
           "size of dim {} ({}) in the input tensor", split, d, size)
    return _view(call, x, (*x.shape[:d], *split, *x.shape[d + 1:]))


@function("view", star="shape", operands=("x",), formula="x under the new shape",
          doc="The same entries under another shape, without a copy; -1 is inferred.",
          cases=[case((3, 4), shape=(4, 3)), case((3, 4), shape=(-1,))])
def _view(call: Caller, x: Array, shape: Sizes) -> Array:
    sizes = sizes_of(shape, prod(x.shape))
    refuse(not call("is_contiguous", x) and not call("view.fits", x, sizes),
           "view size is not compatible with input tensor's size and stride (at least "
           "one dimension spans across two contiguous subspaces). Use .reshape(...) "
           "instead.")
    return call("view.default", x, sizes)


@function("reshape", star="shape", operands=("x",),
          doc="The same entries under another shape; -1 is inferred.",
          cases=[case((3, 4), shape=(4, 3)), case((3, 4), shape=(2, -1))])
def _reshape(call: Caller, x: Array, shape: Sizes) -> Array:
    sizes = sizes_of(shape, prod(x.shape))
    if call("is_contiguous", x):
        return call("view.default", x, sizes)
    if call("view.fits", x, sizes):
        return call("reshape.alias", x, sizes)
    return call("reshape.unsafe", call("clone", x, CONTIGUOUS), sizes)


@function("flatten", operands=("x",),
          formula="dimensions start_dim to end_dim made one",
          doc="Merge neighbouring dimensions into one.",
          cases=[case((2, 3, 2)), case((2, 3, 2), start_dim=1)])
def _flatten(call: Caller, x: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    start, end = dim_of(x.shape, start_dim), dim_of(x.shape, end_dim)
    refuse(start > end,
           "flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end and x.shape:
        return x
    merged = prod(x.shape[start:end + 1])
    return _reshape(call, x, (*x.shape[:start], merged, *x.shape[end + 1:]))


function("unflatten", _unflatten, operands=("x",),
         formula="dimension dim split into sizes",
         doc="Split one dimension into several.",
         cases=[case((3, 4), dim=1, sizes=(2, 2)), case((3, 4), dim=-1, sizes=(-1, 2))])
function("ravel", lambda call, x: _view(call, call("contiguous", x), (-1,)),
         operands=("x",),
         formula="all entries in one row", doc="All entries in one dimension.",
         cases=[case((3, 4))])


for _name, _build in (
    ("view_as", lambda call, x, other: _view(call, x, other.shape)),
    ("reshape_as", lambda call, x, other: _reshape(call, x, other.shape)),
):
    function(_name, _build, operands=("x", "other"),
             formula="x under the shape of other", cases=[case((3, 4), (2, 6))],
             doc="The same entries under another tensor's shape.")

# -- other orders of dimensions -------------------------------------------------------


def order_of(shape: Shape, dims: Sizes) -> Shape:
    """Return the dimensions of a permutation, counted from the front, after checks."""
    asked = tuple(dims) if isinstance(dims, list | tuple) else (dims,)
    if len(asked) != len(shape):
        raise ShapeError(
            "permute: number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. "
            f"input.dim() = {len(shape)} is not equal to len(dims) = {len(asked)}")
    order = tuple([dim_of(shape, d) for d in asked])
    if len(set(order)) < len(order):
        raise ShapeError("permute(): duplicate dims are not allowed.")
    return order


def inverse_order(order: Shape) -> Shape:
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def swap(xp: Namespace, x: Array, dim0: int, dim1: int) -> Array:
    d0, d1 = dim_of(x.shape, dim0), dim_of(x.shape, dim1)
    return xp.transpose(x, d0, d1) if x.shape else x


row("permute", star="dims", jvp=LINEAR, memory=VIEW,
    doc="The dimensions in another order.", formula="y[i, j, ...] = x[...]",
    fwd=lambda xp, x, dims: xp.permute(x, order_of(x.shape, dims)),
    vjp=(lambda xp, g, y, x, dims:
         xp.permute(g, inverse_order(order_of(x.shape, dims))),),
    cases=[case((3, 4), dims=(1, 0)), case((2, 3, 4), dims=(2, 0, 1)),
           case((2, 3, 4), dims=(-1, 0, -2)), case((), dims=())])


def _transposing(
    name: str, node: str, turned: str = "", aliases: tuple[str, ...] = (),
    memory: Marker = VIEW,
) -> None:
    row(name, node=node, turned=turned, doc="Two dimensions exchanged.", jvp=LINEAR,
        aliases=aliases, memory=memory,
        formula="y[..., j, ..., i, ...] = x[..., i, ..., j, ...]",
        fwd=lambda xp, x, dim0, dim1: swap(xp, x, dim0, dim1),
        vjp=(lambda xp, g, y, x, dim0, dim1: swap(xp, g, dim0, dim1),),
        cases=[case((3, 4), dim0=0, dim1=1), case((2, 3, 4), dim0=-1, dim1=0),
               case((2, 3), dim0=1, dim1=1), case((), dim0=0, dim1=-1)])


_transposing("transpose", "TransposeBackward0", "TransposeBackward1",
             ("swapaxes", "swapdims"))
_transposing("transpose_.inside", "TransposeBackward1", memory=SHARED)


@row("t", turned="TBackward1", doc="The transpose of a matrix; a vector stays.",
    formula="y[j, i] = x[i, j]", latex="{0}^T", jvp=LINEAR, memory=VIEW,
    vjp=(lambda xp, g, y, x: xp.t(g),), cases=[case((3, 4)), case((3,)), case(())])
def _t(xp: Namespace, x: Array) -> Array:
    demand_rank("t", x, 0, 2)
    return xp.transpose(x, 0, 1) if x.ndim == 2 else x


def _adjoint(name: str, only_matrices: bool) -> Formula:
    def transposed(call: Caller, x: Array) -> Array:
        if x.ndim == 0:
            return x
        if x.ndim == 1 or (only_matrices and x.ndim > 2):
            kind = "matrices (2-D tensors)" if only_matrices else (
                "matrices or batches of matrices")
            raise ShapeError(f"tensor.{name} is only supported on {kind}. "
                             f"Got {x.ndim}-D tensor.")
        return call("transpose", x, -2, -1)

    return transposed


function("numpy_T", lambda call, x: call("permute", x, tuple(range(x.ndim))[::-1]),
         operands=("x",),
         formula="y[..., j, i] = x[i, j, ...]", doc="All dimensions reversed: x.T.",
         cases=[case((3, 4)), case((2, 3, 4))], internal=True)
function("matrix_H", _adjoint("H", True), operands=("x",),
         formula="y[j, i] = x[i, j]",
         doc="The transpose of a real matrix: x.H.", cases=[case((3, 4))],
         internal=True)
for _name in ("mT", "mH", "adjoint"):
    function(_name, _adjoint(_name, False), operands=("x",),
             formula="y[..., j, i] = x[..., i, j]",
             doc="The last two dimensions exchanged.", cases=[case((2, 3, 4))],
             internal=_name != "adjoint")


@function("movedim", aliases=("moveaxis",), operands=("x",),
          formula="dimensions source put at destination",
          doc="Dimensions moved to other places; the rest keep their order.",
          cases=[case((2, 3, 4), source=0, destination=2),
                 case((2, 3, 4), source=(0, 1), destination=(-1, 0))])
def _movedim(call: Caller, x: Array, source: Sizes, destination: Sizes) -> Array:
    asked = [tuple(d) if isinstance(d, list | tuple) else (d,)
             for d in (source, destination)]
    refuse(len(asked[0]) != len(asked[1]), "movedim: Invalid source or destination "
           "dims: source ({} dims) should contain the same number of dims as "
           "destination ({} dims)", list(asked[0]), list(asked[1]))
    froms, tos = ([dim_of(x.shape, d) for d in dims] for dims in asked)
    for kind, dims in (("source", froms), ("destination", tos)):
        if len(set(dims)) < len(dims):
            raise ShapeError(f"movedim: repeated dim in `{kind}` ({dims})")
    if not x.shape:
        return call("alias", x)
    stay = iter([d for d in range(x.ndim) if d not in froms])
    at = dict(zip(tos, froms, strict=True))
    return call("permute", x, tuple([at[d] if d in at else next(stay)
                                     for d in range(x.ndim)]))


# -- dimensions of size 1 -------------------------------------------------------------


def gone(shape: Shape, dims: Dims) -> list[int]:
    """Return those of the dimensions ``dims`` that have size 1."""
    return [d for d in dims_of(shape, dims) if shape[d] == 1] if dims != () else []


def _squeezing(name: str, node: str, turned: str, case_dims: tuple[Dims, ...],
               memory: Marker = VIEW) -> None:
    @row(name, node=node, turned=turned, doc="Dimensions of size 1 dropped.",
        jvp=LINEAR, memory=memory,
        formula="x without its dimensions of size 1",
        vjp=(lambda xp, g, y, x, dim=None: unsqueezed(xp, g, gone(x.shape, dim)),),
        cases=[case(shape, dim=d) for shape in ((1, 3, 1), (2, 3, 1), (1, 1, 1))
               for d in case_dims])
    def squeezed(xp: Namespace, x: Array, dim: Dims = None) -> Array:
        dropped = gone(x.shape, dim)
        return xp.reshape(x, [n for d, n in enumerate(x.shape) if d not in dropped])


_squeezing("squeeze.default", "SqueezeBackward0", "SqueezeBackward3", (None,))
_squeezing("squeeze.dim", "SqueezeBackward1", "SqueezeBackward4", (0, -1, 1))
_squeezing("squeeze.dims", "SqueezeBackward2", "SqueezeBackward5", ((0, 2), (-1,)))
_squeezing("squeeze_.dim", "SqueezeBackward4", "", (0, -1), SHARED)


@function("squeeze", operands=("x",),
          doc="Drop dimensions of size 1: all, one, or those named.",
          cases=[case((1, 3, 1)), case((1, 3, 1), dim=0), case((1, 3, 1), dim=(0, 2))])
def squeeze(call: Caller, x: Array, dim: Dims = None) -> Array:
    if dim is None:
        return call("squeeze.default", x)
    if isinstance(dim, list | tuple):
        return call("squeeze.dims", x, tuple(dim))
    return call("squeeze.dim", x, dim)


def _unsqueezing(name: str, node: str, memory: Marker, turned: str = "") -> None:
    row(name, node=node, turned=turned, doc="A dimension of size 1 put in.",
        formula="x[..., None, ...]", jvp=LINEAR, memory=memory,
        fwd=lambda xp, x, dim: xp.unsqueeze(x, dim_of((*x.shape, 1), dim)),
        vjp=(lambda xp, g, y, x, dim: xp.squeeze(g, dim),),
        cases=[case((3, 4), dim=0), case((3, 4), dim=-1), case((3,), dim=1),
               case((), dim=0)])


_unsqueezing("unsqueeze", "UnsqueezeBackward0", VIEW, "UnsqueezeBackward1")
_unsqueezing("unsqueeze_.inside", "UnsqueezeBackward1", SHARED)
