"""Sparse matrices: the places of their entries, and the values at these places.

Invariant: the places are arrays of integers and never depend on a value. Several
entries may have one place; they count as their sum. Values are arrays, or arrays of
a recording: then the places are those of every matrix that a replay computes. A sum is
the parts of both; parts at the same places are added up at once.

    a = identity(range(3), 3, np.float64, xp)
    a.scaled(lambda columns: x[columns]).toarray()      # x on the diagonal
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from .devices import scipy
from .raw import Host, Raw

MAX_PARTS = 8
"""Largest number of parts of a matrix; more are joined to one."""


class SparsePart(NamedTuple):
    """Entries: their rows, their columns, and their values."""

    rows: Host
    columns: Host
    values: Any


class SparseSum:
    """A matrix of ``shape`` that is the sum of parts, whose values are of ``xp``."""

    __slots__ = ("dtype", "parts", "shape", "xp")

    def __init__(
        self, parts: Iterable[SparsePart], shape: tuple[int, int], dtype: Any, xp: Any
    ) -> None:
        self.parts = tuple([part for part in parts if part.rows.size])
        self.shape = shape
        self.dtype = self.parts[0].values.dtype if self.parts else dtype
        self.xp = xp

    def like(
        self, parts: Iterable[SparsePart], columns: int | None = None
    ) -> SparseSum:
        """Return a matrix of other parts, with as many rows."""
        shape = self.shape if columns is None else (self.shape[0], columns)
        return SparseSum(parts, shape, self.dtype, self.xp)

    @property
    def nnz(self) -> int:
        """Return how many entries are stored."""
        return sum(part.rows.size for part in self.parts)

    @property
    def known(self) -> bool:
        """Return whether all values are arrays, and none is recorded."""
        return all(isinstance(part.values, np.ndarray) for part in self.parts)

    @property
    def T(self) -> SparseSum:
        """Return the matrix with rows and columns in each other's place."""
        parts = [
            SparsePart(part.columns, part.rows, part.values) for part in self.parts
        ]
        return SparseSum(parts, self.shape[::-1], self.dtype, self.xp)

    def valued(self, change: Callable[[SparsePart], Any]) -> SparseSum:
        """Return the matrix with other values at the same places."""
        return self.like([part._replace(values=change(part)) for part in self.parts])

    def astype(self, dtype: Any) -> SparseSum:
        return self.valued(lambda part: part.values.astype(dtype))

    def __neg__(self) -> SparseSum:
        return self.valued(lambda part: -part.values)

    def at(self, values: Any, places: Host) -> Any:
        """Return values at places; the values themselves where those are all."""
        if places.size == values.shape[0] and bool((places == _count(places)).all()):
            return values
        if isinstance(values, np.ndarray) and not any(values.strides):
            return np.broadcast_to(values[:1].reshape(()), places.shape)
        return self.xp.calling(np.take, values, places)

    def some(self, part: SparsePart, which: Host) -> SparsePart:
        """Return some of the entries of a part."""
        values = self.at(part.values, which)
        return SparsePart(part.rows[which], part.columns[which], values)

    def selected(self, keep: Callable[[SparsePart], Host]) -> SparseSum:
        """Return the entries for which a function of their part is true."""
        found = [(part, keep(part)) for part in self.parts]
        return self.like([
            part if chosen.all() else self.some(part, np.flatnonzero(chosen))
            for part, chosen in found
        ])  # fmt: skip

    def taken(self, flat: Host) -> SparseSum:
        """Return the matrix of the columns ``flat``, which may repeat a column."""
        size = self.shape[1]
        target = np.full(size, -1)
        target[flat] = _count(flat)
        if flat.size <= size and int((target >= 0).sum()) == flat.size:
            there = self.selected(lambda part: target[part.columns] >= 0)
            return there.put(target, flat.size)
        order = np.argsort(flat, kind="stable")
        counts = np.bincount(flat, minlength=size)
        begins = np.cumsum(counts) - counts
        made = []
        for part in self.parts:
            several = counts[part.columns]
            which = np.repeat(_count(several), several)
            nth = _count(which) - (np.cumsum(several) - several)[which]
            chosen = self.some(part, which)
            columns = order[begins[chosen.columns] + nth]
            made.append(chosen._replace(columns=columns))
        return self.like(made, flat.size)

    def put(self, target: Host, columns: int) -> SparseSum:
        """Return a matrix of ``columns`` with each column moved to its ``target``."""
        parts = [part._replace(columns=target[part.columns]) for part in self.parts]
        return self.like(parts, columns)

    def __add__(self, other: SparseSum) -> SparseSum:
        parts = list(self.parts)
        for part in other.parts:
            for nr, known in enumerate(parts):
                if _same(known.rows, part.rows) and _same(known.columns, part.columns):
                    parts[nr] = known._replace(values=known.values + part.values)
                    break
            else:
                parts.append(part)
        made = self.like(parts)
        return made if len(parts) <= MAX_PARTS else made.joined()

    def joined(self) -> SparseSum:
        """Return the matrix as one part, each place once, row after row."""
        if not self.parts:
            return self
        rows = np.concatenate([part.rows for part in self.parts])
        columns = np.concatenate([part.columns for part in self.parts])
        place = rows * np.int64(self.shape[1]) + columns
        if len(self.parts) == 1 and (np.diff(place) > 0).all():
            return self
        order = np.argsort(place, kind="stable")
        is_first = np.diff(place[order], prepend=-1) > 0
        first, target, nth = order[is_first], np.empty_like(order), np.empty_like(order)
        target[order] = run = np.cumsum(is_first) - 1
        nth[order] = _count(order) - np.flatnonzero(is_first)[run]
        terms: list[Any] = []
        for part in self.parts:
            here, target = np.split(target, [part.rows.size])
            times, nth = np.split(nth, [part.rows.size])
            for nr in np.unique(times):
                which = np.flatnonzero(times == nr)
                terms += [nr > 0, self.at(part.values, which), _as_slice(here[which])]
        total = self.xp.calling(_summed, first.size, *terms)
        return self.like([SparsePart(rows[first], columns[first], total)])

    def flat(self) -> SparsePart:
        """Return the one part of a matrix that is `joined`."""
        if not self.parts:
            return SparsePart(_NONE, _NONE, np.zeros(0, self.dtype))
        (part,) = self.parts
        return part

    def csr(self) -> Any:
        """Return the matrix as a ``scipy.sparse.csr_array`` with each place once."""
        if self.known and len(self.parts) > 1:
            first, *others = [self.like([part]).csr() for part in self.parts]
            return sum(others, first)
        whole = self.joined()
        return whole.places().filled(np.array(whole.flat().values))

    def places(self) -> SparsePlaces:
        """Return the places of a matrix that is `joined`."""
        rows, columns, _ = self.flat()
        ends = np.cumsum(np.bincount(rows, minlength=self.shape[0]))
        kind = np.int32 if max(*self.shape, columns.size) < 1 << 31 else np.int64
        starts = np.concatenate(([0], ends))
        return SparsePlaces(columns.astype(kind), starts.astype(kind), self.shape)

    def toarray(self) -> Raw:
        """Return the matrix as an array with its zeros."""
        found: Raw = self.csr().toarray()
        return found


class SparsePlaces(NamedTuple):
    """The places of entries, as a ``csr_array`` has them."""

    indices: Host
    starts: Host
    shape: tuple[int, int]

    def filled(self, values: Raw) -> Any:
        """Return the ``csr_array`` with these values."""
        held = values, self.indices.copy(), self.starts.copy()
        made = scipy("sparse").csr_array(held, shape=self.shape)
        made.has_canonical_format = True
        return made


_NONE = np.zeros(0, np.int64)


def identity(rows: range, columns: int, dtype: Any, xp: Any) -> SparseSum:
    """Return some rows of the identity matrix."""
    count = len(rows)
    ones = np.broadcast_to(np.ones((), dtype), (count,))
    part = SparsePart(np.arange(count), np.arange(rows.start, rows.stop), ones)
    return SparseSum([part], (count, columns), dtype, xp)


def _count(like: Host) -> Host:
    return np.arange(like.size)


def _same(a: Host, b: Host) -> bool:
    return a is b or np.array_equal(a, b)


def _as_slice(places: Host) -> Host | slice:
    """Return evenly spaced places, in order, as a slice: it is written faster."""
    steps = np.unique(np.diff(places)).tolist() or [1]
    if len(steps) > 1 or steps[0] < 1:
        return places
    return slice(int(places[0]), int(places[-1]) + 1, steps[0])


def _summed(size: int, *terms: Any) -> Raw:
    """Return values put, and then others added, at places that cover an array:
    ``terms`` holds in turns whether to add, the values, and their places."""
    total = np.empty(size, np.result_type(*terms[1::3]))
    for adds, values, at in zip(terms[::3], terms[1::3], terms[2::3], strict=True):
        if adds:
            total[at] += values
        else:
            total[at] = values
    return total
