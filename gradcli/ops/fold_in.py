"""Entries brought together at positions: sums, means, products and extrema.

Invariant: everything speaks of flattened tensors, in which a position is one number.
Sums and means are linear and add up at once; for a product or an extremum what comes
together at one position is a line of a table. An entry that is overwritten, not
included, gets no share of the cotangent.

    scatter_reduce(x, 0, [0, 2, 0], src, "amax")    # y[0] = max(x[0], src[0], src[2])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod

from .arithmetic import doubled
from .checks import ArgumentError, KindError, ShapeError
from .gather import SCATTER, cell, grown, lined, slices_at, src_part, whole_slices
from .index import is_mask
from .limits import LISTED, check_size
from .op import (
    FLOATS,
    LINEAR,
    TRUTHS,
    WHOLE,
    WHOLES,
    Case,
    Fixed,
    case,
    function,
    no_kernel,
    row,
)
from .reduce import TIES, others_along
from .types import (
    Array,
    ArrayRule,
    Call,
    Namespace,
    Positions,
    Shape,
    Tangents,
    Typed,
)

# fmt: off


def flat(xp: Namespace, x: Array) -> Array:
    return xp.reshape(x, (prod(x.shape),))


def numbered(xp: Namespace, shape: Shape) -> Positions:
    """The number of every entry in the flattened tensor."""
    return xp.as_index(range(prod(shape))).reshape(shape)


def of_cells(xp: Namespace, index: Positions, shape: Shape, dim: int) -> Array:
    sizes = lined(shape)
    at = cell(xp, sizes, dim, index.reshape(lined(index.shape)))
    return xp.reshape(xp.getitem(numbered(xp, sizes), at), (-1,))


def of_slices(xp: Namespace, index: Array, shape: Shape, dim: int) -> Array:
    at = slices_at(xp, shape, dim, index)
    return xp.reshape(xp.getitem(numbered(xp, shape), at), (-1,))


row("places.cells", query=True, formula="numbers of the cells", internal=True,
    doc="The numbers of the entries that an index speaks of along a dimension.",
    fwd=lambda xp, index, shape, dim:
    of_cells(xp, xp.as_index(index), shape, dim),
    cases=[case(Fixed([[0, 2]]), shape=(2, 3), dim=1)])

row("places.slices", query=True, formula="numbers of the slices", internal=True,
    doc="The numbers of the entries of slices along a dimension.",
    fwd=lambda xp, index, shape, dim: of_slices(xp, index, shape, dim),
    cases=[case(Fixed([0, 2]), shape=(3, 2), dim=0)])

# -- sums and means -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Adding:
    """What adds up, or adds up and is divided by how many came together."""

    divides: bool

    def forward(self, xp: Namespace, x: Array, at: Array, src: Array, include_self: bool
               ) -> Array:
        total = self._total(xp, x, at, src, include_self)
        if not self.divides:
            return total
        count = self._count(xp, x, at, include_self)
        integers = hasattr(total, "dtype") and total.dtype.kind in WHOLES
        return xp.floor_divide(total, count) if integers else total / count

    def backward(self, xp: Namespace, g: Array, y: Array, x: Array, at: Array,
                 src: Array, include_self: bool) -> tuple[Array, Array]:
        if self.divides:
            g = g / self._count(xp, g, at, include_self)
        return g if include_self else xp.index_fill(g, 0, at, 0), xp.take(g, at)

    def tangent(self, xp: Namespace, t: tuple[Array, Array], y: Array, x: Array,
                at: Array, src: Array, include_self: bool) -> Array:
        total = self._total(xp, t[0], at, t[1], include_self)
        if not self.divides:
            return total
        return total / self._count(xp, total, at, include_self)

    def _total(self, xp: Namespace, x: Array, at: Array, src: Array, include_self: bool
              ) -> Array:
        own = x if include_self else xp.index_fill(x, 0, at, 0)
        return own + put(xp, src, at, x.shape)

    def _count(self, xp: Namespace, like: Array, at: Array, include_self: bool
              ) -> Array:
        """How many entries come together at each position, at least one."""
        own = xp.new_full(like, like.shape, 1)
        ones = xp.new_full(like, tuple(at.shape), 1)
        return xp.maximum(self._total(xp, own, at, ones, include_self), 1)


def put(xp: Namespace, src: Array, at: Array, shape: Shape) -> Array:
    """Zeros with entries added at their positions."""
    return xp.call("take.backward", src, at, shape)


# -- products and extrema -------------------------------------------------------------


def lines(xp: Namespace, at: Positions, count: int, include_self: bool) -> Array:
    """A line for each position: its number, then those of the entries that come
    together, in the tensor and, from its end on, in what is brought; -1 fills up short
    lines."""
    met: dict[int, list[int]] = {}
    for number, position in enumerate(at.tolist()):
        line = met.setdefault(position, [position] if include_self else [])
        line.append(count + number)
    longest = max(map(len, met.values()), default=1)
    shape = len(met), 1 + longest
    check_size(shape, LISTED)
    return xp.as_index([
        [position, *line, *[-1] * (longest - len(line))]
        for position, line in met.items()
    ]).reshape(shape)


row("places.lines", query=True, formula="lines of entries", internal=True,
    doc="Which entries come together at one position.", fwd=lines,
    cases=[case(Fixed([2, 0, 2]), count=3, include_self=True)])



def product_of(xp: Namespace, table: Array, there: Array) -> Array:
    return xp.prod(xp.where(there, table, 1), 1)


def others_in(xp: Namespace, table: Array, there: Array, y: Array) -> Array:
    return others_along(xp, xp.where(there, table, 1), 1)


def extremum(name: str) -> ArrayRule:
    def best(xp: Namespace, table: Array, there: Array) -> Array:
        first = xp.narrow(table, 1, 0, 1)
        y: Array = getattr(xp, name)(xp.where(there, table, first), 1)
        return y
    return best


def equal_shares(xp: Namespace, table: Array, there: Array, y: Array) -> Array:
    """One share for each of the entries that are the extremum."""
    is_it = xp.logical_and(xp.eq(table, xp.unsqueeze(y, 1)), there)
    hits = xp.as_type_of(is_it, table)
    return hits / xp.sum(hits, 1, True)


@dataclass(frozen=True, slots=True)
class Gathering:
    """What is reduced line by line.

    reduced   ``(xp, table, there)`` -> one entry for each line
    weights   ``(xp, table, there, y)`` -> the derivative by each entry of the table
    """

    reduced: ArrayRule
    weights: ArrayRule

    def forward(self, xp: Namespace, x: Array, at: Array, src: Array, include_self: bool
               ) -> Array:
        met = xp.call("places.lines", at, prod(x.shape), include_self)
        best = self.reduced(xp, tabled(xp, x, src, met), met[:, 1:] >= 0)
        return xp.scatter(x, 0, met[:, 0], xp.as_type_of(best, x))

    def backward(self, xp: Namespace, g: Array, y: Array, x: Array, at: Array,
                 src: Array, include_self: bool) -> tuple[Array, Array]:
        own, brought = prod(x.shape), prod(src.shape)
        met = xp.call("places.lines", at, own, include_self)
        weights = self._weights(xp, y, x, src, met)
        shares = xp.where(
            met[:, 1:] >= 0, xp.unsqueeze(xp.take(g, met[:, 0]), 1) * weights, 0)
        both = xp.call("take.backward", shares, met[:, 1:], (own + brought,))
        kept = xp.index_fill(g, 0, met[:, 0], 0)
        return kept + xp.narrow(both, 0, 0, own), xp.narrow(both, 0, own, brought)

    def tangent(self, xp: Namespace, t: tuple[Array, Array], y: Array, x: Array,
                at: Array, src: Array, include_self: bool) -> Array:
        met = xp.call("places.lines", at, prod(x.shape), include_self)
        along = tabled(xp, *t, met) * self._weights(xp, y, x, src, met)
        along = xp.where(met[:, 1:] >= 0, along, 0)
        return xp.scatter(t[0], 0, met[:, 0], xp.sum(along, 1))

    def _weights(self, xp: Namespace, y: Array, x: Array, src: Array, met: Array
                ) -> Array:
        """The derivatives by the entries of the lines; any where there is none."""
        table, there = tabled(xp, x, src, met), met[:, 1:] >= 0
        return self.weights(xp, table, there, xp.take(y, met[:, 0]))


def tabled(xp: Namespace, x: Array, src: Array, met: Array) -> Array:
    """The entries line by line, and any entry where a line is filled up."""
    return xp.take(xp.cat((x, src), 0), met[:, 1:])


Way = Adding | Gathering

SUM, PRODUCT = Adding(divides=False), Gathering(product_of, others_in)

BUT_SUM: dict[str, Way] = {
    "prod": PRODUCT,
    "mean": Adding(divides=True),
    "amax": Gathering(extremum("amax"), equal_shares),
    "amin": Gathering(extremum("amin"), equal_shares),
}
ALL: dict[str, Way] = {"sum": SUM, **BUT_SUM}


def reducing(name: str, node: str, places: str, part: ArrayRule,
             ways: Mapping[str, Way], words: str, kernel: str,
             numbers: Callable[[str, bool], bool], *, one_type: str,
             formula: str, doc: str, cases: list[Case]) -> None:
    """Enter a row that reduces into positions.

    Args:
        places: the row that numbers the positions.
        part: what of ``src`` is brought.
        ways: its reductions, by their names.
        words: the error for a name that is not among them.
        kernel: PyTorch's name of what has no version for truth values.
        numbers: whether a reduction, with or without the tensor's own entries, is of
            numbers alone.
    """

    def operands(
        xp: Namespace, x: Array, index: Array, src: Array, dim: int
    ) -> tuple[Array, Array, Array]:
        at = xp.call(places, index, tuple(x.shape), dim)
        return flat(xp, x), at, flat(xp, part(xp, x, index, src, dim))

    def forward(
        xp: Namespace, x: Array, index: Array, src: Array, dim: int, reduce: str,
        include_self: bool = True,
    ) -> Array:  # fmt: skip
        if reduce not in ways:
            raise ArgumentError(words.format(reduce))
        if is_mask(x) and numbers(reduce, include_self):
            raise KindError(f"\"{kernel}\" not implemented for 'Bool'")
        y = ways[reduce].forward(xp, *operands(xp, x, index, src, dim), include_self)
        return xp.reshape(y, x.shape)

    def backward(nr: int) -> ArrayRule:
        def pull(xp: Namespace, g: Array, y: Array, x: Array, index: Array, src: Array,
                 dim: int, reduce: str, include_self: bool = True) -> Array:
            given = operands(xp, x, index, src, dim)
            pulled = ways[reduce].backward(
                xp, flat(xp, g), flat(xp, y), *given, include_self)[nr]
            if nr == 0:
                return xp.reshape(pulled, x.shape)
            brought = part(xp, x, index, src, dim)
            return grown(xp, xp.reshape(pulled, brought.shape), src.shape)
        return pull

    def tangent(xp: Namespace, t: Tangents, y: Array, x: Array, index: Array,
                src: Array, dim: int, reduce: str, include_self: bool = True) -> Array:
        own, at, brought = operands(xp, x, index, src, dim)
        moved, _, also = operands(xp, t[0], index, t[2], dim)
        found = ways[reduce].tangent(
            xp, (moved, also), flat(xp, y), own, at, brought, include_self)
        return xp.reshape(found, x.shape)

    row(name, node=node, fwd=forward, vjp=(backward(0), None, backward(1)),
        jvp=tangent, result=WHOLE, kink=TIES, saves="x index src y",
        always_saves=True, one_type=one_type, formula=formula, doc=doc, cases=cases)


def brought(xp: Namespace, x: Array, index: Array, src: Array, dim: int) -> Array:
    return src_part(xp, src, index)


INDEX, CELLS = Fixed([0, 2, 0]), Fixed([[0, 3, 0], [1, 2, 1]])

reducing("scatter_reduce.two", "ScatterReduceBackward0", "places.cells", brought, ALL,
         "reduce argument must be either sum, prod, mean, amax or amin, got {}",
         "scatter_gather_tensor_cpu_reduce_mean", lambda way, include: way == "mean",
         one_type=SCATTER, formula="y[i, index[i, j]] = reduce(x, src[i, j])",
         doc="Entries of src brought together at positions along a dimension.",
         cases=[*[case((3, 4), CELLS, (2, 3), dim=1, reduce=way, include_self=include,
                       make="distinct") for way in ALL for include in (True, False)],
                case((3, 2), Fixed([[2, 0]]), (2, 3), dim=0, reduce="prod")])

function("scatter_reduce", lambda call, x, dim, index, src, reduce, include_self=True:
         call("scatter_reduce.two", x, index, src, dim, reduce, include_self),
         operands=("x", "index", "src"), in_place=True,
         doc="Entries brought together at positions along a dimension: their sum, "
             "prod, mean, amax or amin.")

reducing("index_reduce.default", "IndexReduceBackward0", "places.slices",
         partial(whole_slices, "index_reduce_()"), BUT_SUM,
         "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but "
         "got {}.", "index_func_",
         lambda way, include: way == "mean" or not include,
         one_type="index_reduce_(): self ({0}) and source ({1}) must have the same "
         "scalar type",
         formula="y[i, index[j]] = reduce(x, source[i, j])",
         doc="Slices of source brought together at a list of positions.",
         cases=[case((3, 4), INDEX, (3, 4), dim=0, reduce=way, include_self=include,
                     make="distinct") for way in BUT_SUM for include in (True, False)])

function("index_reduce", lambda call, x, dim, index, source, reduce, include_self=True:
         call("index_reduce.default", x, index, source, dim, reduce, include_self),
         operands=("x", "index", "source"), in_place=True,
         doc="Slices brought together at a list of positions: their prod, mean, amax "
             "or amin.")

# -- counts ---------------------------------------------------------------------------


def binned(xp: Namespace, at: Array, weights: Array, minlength: int) -> Array:
    at = xp.as_index(at)
    if at.ndim != 1 or (at.size and int(at.min()) < 0):
        raise ShapeError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise ShapeError("minlength should be >= 0")
    if tuple(weights.shape) != tuple(at.shape):
        raise ShapeError("weights should be 1-d and have the same length as input")
    count = max(int(at.max()) + 1 if at.size else 0, minlength)
    return xp.put_add((count,), (at,), weights)


row("bincount.weights", node="NotImplemented", jvp=LINEAR, result=FLOATS,
    formula="y[n] = sum(weights where x == n)",
    doc="How much weight lies on each integer from 0 on. PyTorch records that it "
        "has no derivative for this; here it is that of a sum.",
    fwd=lambda xp, index, weights, minlength=0:
    binned(xp, index, weights, minlength),
    vjp=(None, lambda xp, g, y, index, weights, minlength=0: xp.take(g, index)),
    cases=[case(Fixed([0, 2, 2, 1]), (4,)),
           case(Fixed([1, 1]), (2,), minlength=4)])

row("bincount.default", refuses=no_kernel("bincount_cpu", TRUTHS),
    formula="y[n] = number of x == n",
    doc="How often each integer from 0 on occurs.",
    fwd=lambda xp, index, minlength=0:
    binned(xp, index, xp.as_index([1] * prod(index.shape)), minlength),
    cases=[case(Fixed([0, 2, 2, 1])), case(Fixed([1, 1]), minlength=4)])


def _bincount(call: Call, input: Array, weights: Typed | None = None, minlength: int = 0
             ) -> Array:
    if weights is None or tuple(input.shape) == (0,):
        return call("bincount.default", input, minlength)
    single = getattr(weights.dtype, "name", "") == "float32"
    heavy = weights if single else doubled(call, weights)
    return call("bincount.weights", input, heavy, minlength)


function("bincount", _bincount, operands=("input", "weights"),
         doc="How often each integer from 0 on occurs, or how much weight lies on "
             "it.")
