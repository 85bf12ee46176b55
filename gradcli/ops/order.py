"""Sorting and the largest entries: values, which carry the gradient, and positions.

Equal entries keep their order, in either direction; NaN counts as the largest.

    values, indices = sort(x, descending=True)
"""

from __future__ import annotations

from .checks import ShapeError, dim_of
from .op import KEPT, PACKED, TRUTHS, case, function, row
from .scan import BY_POSITION
from .types import Array, Call, Namespace, Result, Shape

# fmt: off

Pair = tuple[Array, Array]


def ranked(xp: Namespace, x: Array, dim: int, descending: bool) -> Array:
    """Return positions of the entries in order, along a dimension."""
    d = dim_of(x.shape, dim)
    return xp.argsort(x, d, descending) if x.shape else xp.as_index(0)


def read(xp: Namespace, x: Array, dim: int, at: Array) -> Pair:
    return xp.gather(x, dim, at), at


def _sort(xp: Namespace, x: Array, dim: int = -1, descending: bool = False) -> Pair:
    return read(xp, x, dim, ranked(xp, x, dim, descending))


def _topk(xp: Namespace, x: Array, k: int, dim: int = -1, largest: bool = True,
          sorted: bool = True) -> Pair:
    d = dim_of(x.shape, dim)
    if not 0 <= k <= (x.shape[d] if x.shape else 1):
        raise ShapeError("selected index k out of range")
    order = ranked(xp, x, dim, largest)
    return read(xp, x, dim, order[(slice(None),) * d + (slice(0, k),)] if x.shape
                else order)


def _kthvalue(
    xp: Namespace, x: Array, k: int, dim: int = -1, keepdim: bool = False
) -> Pair:
    d = dim_of(x.shape, dim)
    if not 1 <= k <= (x.shape[d] if x.shape else 1):
        raise ShapeError(
            f"kthvalue(): selected number k out of range for dimension {d}")
    order = ranked(xp, x, dim, False)
    at = order[(slice(None),) * d + (slice(k - 1, k),)] if x.shape else order
    values = xp.gather(x, dim, at)
    if keepdim or not x.shape:
        return values, at
    shape = (*x.shape[:d], *x.shape[d + 1:])
    return xp.reshape(values, shape), xp.reshape(at, shape)


def _kept(xp: Namespace, value: Array, shape: Shape, dim: int, keepdim: bool) -> Array:
    """Return ``value`` with the dimension that `kthvalue` dropped."""
    return value if keepdim or not shape else xp.unsqueeze(value, dim)


def _sorting(name: str, node: str) -> None:
    row(name, node=node, fwd=_sort, memory=KEPT, **BY_POSITION,
        doc="Entries in order along a dimension, and where they came from.",
        formula="y[i] = x[indices[i]]",
        cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, make="distinct"),
               case((5,), descending=True, make="distinct"), case(())])


_sorting("sort.default", "SortBackward0")
_sorting("sort.stable", "SortBackward1")

row("topk", node="TopkBackward0", fwd=_topk, **BY_POSITION,
    refuses=TRUTHS,
    memory=PACKED,
    doc="The k largest, or smallest, entries of a dimension and where they stand.",
    formula="y[i] = x[indices[i]]",
    cases=[case((3, 4), k=2, make="distinct"),
           case((3, 4), k=2, dim=0, largest=False, make="distinct"),
           case((5,), k=5, make="distinct")])

row("kthvalue", node="KthvalueBackward0", fwd=_kthvalue, returns=2,
    refuses=TRUTHS,
    memory=PACKED,
    doc="The k-th smallest entry of a dimension and where it stands.",
    formula="y = x[indices]",
    vjp=(lambda xp, g, y, x, k, dim=-1, keepdim=False:
         xp.call("gather.backward", _kept(xp, g, x.shape, dim, keepdim),
                 _kept(xp, y[1], x.shape, dim, keepdim), x.shape, dim),),
    jvp=lambda xp, t, y, x, k, dim=-1, keepdim=False: xp.reshape(
        xp.gather(t[0], dim, _kept(xp, y[1], x.shape, dim, keepdim)), y[0].shape),
    cases=[case((3, 4), k=2, make="distinct"),
           case((3, 4), k=3, dim=0, keepdim=True, make="distinct"),
           case((5,), k=1, make="distinct")], saves="y.1")


def _sort_any(
    call: Call, x: Array, dim: int = -1, descending: bool = False,
    *, stable: bool | None = None,
) -> Result:
    name = "sort.default" if stable is None else "sort.stable"
    return call(name, x, dim, descending)


row("argsort", doc="The positions of the entries in order.", formula="indices",
    memory=KEPT,
    fwd=lambda xp, x, dim=-1, descending=False, stable=False:
    ranked(xp, x, dim, descending),
    cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, descending=True)])

function("sort", _sort_any, operands=("x",))
function("msort", lambda call, x: call("sort", x, 0)[0], operands=("x",),
         formula="y[i] = x[indices[i]]",
         doc="Entries in order along the first dimension.",
         cases=[case((4, 2), make="distinct"), case((3,), make="distinct")])
