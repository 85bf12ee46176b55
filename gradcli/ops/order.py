"""Sorting and the k largest entries: rows return values and their positions.

Invariant: the values carry the gradient. Equal entries keep their order, in either
direction; NaN counts as the largest.

    values, indices = sort(x, descending=True)
"""

from __future__ import annotations

from .checks import ShapeError, dim_of, refuse
from .op import KEPT, PACKED, case, function, of_numbers, row
from .reduce import BY_CHOICE, chosen
from .scan import BY_POSITION
from .types import Array, Call, Namespace, Result

# fmt: off

Pair = tuple[Array, Array]


def ranked(xp: Namespace, x: Array, dim: int, descending: bool) -> Array:
    """Return the positions that sort the entries along a dimension."""
    d = dim_of(x.shape, dim)
    return xp.argsort(x, d, descending) if x.shape else xp.as_index(0)


def read(xp: Namespace, x: Array, dim: int, at: Array) -> Pair:
    return xp.gather(x, dim, at), at


def _sorting(name: str, node: str) -> None:
    row(name, node=node, memory=KEPT, **BY_POSITION,
        fwd=lambda xp, x, dim=-1, descending=False:
        read(xp, x, dim, ranked(xp, x, dim, descending)),
        doc="Entries in order along a dimension, and where they came from.",
        formula="y[i] = x[indices[i]]",
        cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, make="distinct"),
               case((5,), descending=True, make="distinct"), case(())])


_sorting("sort.default", "SortBackward0")
_sorting("sort.stable", "SortBackward1")


@of_numbers("topk", node="TopkBackward0", **BY_POSITION, memory=PACKED,
    doc="The k largest, or smallest, entries of a dimension and where they stand.",
    formula="y[i] = x[indices[i]]",
    cases=[case((3, 4), k=2, make="distinct"),
           case((3, 4), k=2, dim=0, largest=False, make="distinct"),
           case((5,), k=5, make="distinct")])
def _topk(xp: Namespace, x: Array, k: int, dim: int = -1, largest: bool = True,
          sorted: bool = True) -> Pair:
    d = dim_of(x.shape, dim)
    if not 0 <= k <= (x.shape[d] if x.shape else 1):
        raise ShapeError("selected index k out of range")
    order = ranked(xp, x, dim, largest)
    return read(xp, x, dim, xp.narrow(order, d, 0, k) if x.shape else order)


@of_numbers("kthvalue", node="KthvalueBackward0", **BY_CHOICE, memory=PACKED,
    doc="The k-th smallest entry of a dimension and where it stands.",
    formula="y = x[indices]",
    cases=[case((3, 4), k=2, make="distinct"),
           case((3, 4), k=3, dim=0, keepdim=True, make="distinct"),
           case((5,), k=1, make="distinct")])
def _kthvalue(xp: Namespace, x: Array, k: int, dim: int = -1, keepdim: bool = False
             ) -> Pair:
    d = dim_of(x.shape, dim)
    refuse(not 1 <= k <= (x.shape[d] if x.shape else 1),
           "kthvalue(): selected number k out of range for dimension {}", d)
    return chosen(xp, "kthvalue", x, lambda xp, x, d:
                  xp.narrow(xp.argsort(x, d), d, k - 1, 1), d, keepdim)


row("argsort", doc="The positions of the entries in order.", formula="indices",
    memory=KEPT,
    fwd=lambda xp, x, dim=-1, descending=False, stable=False:
    ranked(xp, x, dim, descending),
    cases=[case((3, 4), make="distinct"), case((3, 4), dim=0, descending=True)])


@function("sort", operands=("x",))
def _sort_any(
    call: Call, x: Array, dim: int = -1, descending: bool = False,
    *, stable: bool | None = None,
) -> Result:
    name = "sort.default" if stable is None else "sort.stable"
    return call(name, x, dim, descending)
