"""Batches: many cotangents, or many tangents, of one value as rows of a matrix.

Invariant: every operation is linear in the batch and treats its rows alike; any other
raises `NotLinear`. A sparse matrix stores no entry that is zero because no path leads
to it. A factor that is not finite makes a matrix dense: zero times infinity is NaN in
a pass for one row, and so it is here. Calls without a batch among their arguments go
to the namespace of the arrays.

    g = identity(slice(0, 3), (3,), x, xp, sparse=True)
    (g * x).matrix                            # 3 by 3, one entry in each row
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from ..ops.basis import ARITHMETIC
from ..ops.shape import sizes_of
from ..ops.types import Dims, Index, Shape
from . import entries
from .arrays import ArrayNamespace
from .beside import WrappedArray, WrapperNamespace
from .devices import scipy
from .entries import SparsePart, SparseSum
from .raw import Host, Library, Params, Raw, RawDtype, Run

Rows: TypeAlias = "Batch | Raw"
"""A batch, or an array that is the same for all its rows."""

FULL = 0.25
"""Largest share of stored entries in a sparse matrix; with more it is made dense."""

MAX_ENTRIES = 1 << 23
"""Largest number of entries of a dense matrix: 64 MiB of doubles."""


class NotLinear(Exception):
    """Signal that a rule cannot be run on a whole batch at once."""


class DenseTooLarge(Exception):
    """Signal that a dense matrix of a batch would have more than `MAX_ENTRIES`."""


class Batch(WrappedArray):
    """A matrix with a cotangent or a tangent, of a value of ``shape``, in each row.

    ``own`` says that no other batch holds the matrix, so that it may be added to.
    """

    __slots__ = ("matrix", "own", "shape")

    def __init__(self, matrix: Any, shape: Shape, namespace: BatchNamespace) -> None:
        self.matrix = matrix
        self.shape = tuple(shape)
        self.own = True
        self.__gradcli_namespace__ = namespace

    @property
    def count(self) -> int:
        """Return how many rows there are."""
        return int(self.matrix.shape[0])

    @property
    def dtype(self) -> RawDtype:
        found: RawDtype = self.matrix.dtype
        return found

    @property
    def sparse(self) -> bool:
        return isinstance(self.matrix, SparseSum)

    @property
    def np(self) -> Library:
        """Return the array module of the numbers."""
        module: Library = self.__gradcli_namespace__.base.np
        return module

    def like(self, matrix: object, shape: Shape | None = None) -> Batch:
        """Return a batch of another matrix in the same namespace."""
        made = self.shape if shape is None else shape
        return Batch(matrix, made, self.__gradcli_namespace__)

    def astype(self, dtype: object) -> Batch:
        return self.like(self.matrix.astype(dtype))

    def copy(self) -> Batch:
        return self

    def demand_room(self, size: int) -> None:
        """Raise `DenseTooLarge` if a dense matrix of ``size`` columns would be too
        large."""
        if self.count > 1 and self.count * size > MAX_ENTRIES:
            raise DenseTooLarge

    def dense(self) -> Raw:
        """Return the matrix as an array that holds its zeros, too, if there is room."""
        found: Raw = self.matrix
        if self.sparse:
            self.demand_room(self.size)
            found = self.matrix.toarray()
        return found

    def arranged(self) -> Raw:
        """Return the dense batch with the value's dimensions: ``(count, *shape)``."""
        return self.dense().reshape((self.count, *self.shape))

    def flattened(self, batch: Raw) -> Batch:
        """Return the batch of an array of shape ``(count, *shape)``."""
        return self.like(batch.reshape(self.count, -1), batch.shape[1:])

    def zeros(self, shape: Shape) -> Batch:
        """Return as many rows of zeros of ``shape``, stored as these are."""
        size = prod(shape)
        if self.sparse:
            return self.like(self.matrix.like((), size), shape)
        self.demand_room(size)
        return self.like(self.np.zeros((self.count, size), self.dtype), shape)

    # -- Moving entries to other positions ---------------------------------------------

    def reshape(self, *shape: Any) -> Batch:
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        made = self.like(self.matrix, sizes_of(tuple(sizes), self.size))
        made.own = False
        return made

    def moved(self, change: Callable[[Raw], Raw]) -> Batch:
        """Return the batch that ``change`` makes by moving or repeating entries."""
        return self.taken(change(self.positions()))

    def positions(self) -> Raw:
        """Return the entries' numbers 0, 1, ... in the value's shape."""
        return self.np.arange(self.size).reshape(self.shape)

    def taken(self, positions: Raw) -> Batch:
        """Return the entries whose numbers are ``positions``."""
        flat = positions.ravel()
        if self.sparse:
            return settled(self.like(self.matrix.taken(flat), positions.shape))
        self.demand_room(flat.size)
        return self.like(self.matrix[:, flat], positions.shape)

    def put(self, positions: object, shape: Shape) -> Batch:
        """Return zeros of ``shape`` with each entry added at its position."""
        flat = self.np.broadcast_to(positions, self.shape).ravel()
        size = prod(shape)
        if self.sparse:
            return self.like(self.matrix.put(flat, size), shape)
        self.demand_room(size)
        made = self.np.zeros((self.count, size), self.dtype)
        if self.np.unique(flat).size == flat.size:
            made[:, flat] = self.matrix
        else:
            self.np.add.at(made.T, flat, self.matrix.T)
        return self.like(made, shape)

    def expanded(self, shape: Shape) -> Batch:
        """Return the batch broadcast to ``shape``."""
        if self.shape == tuple(shape):
            return self
        return self.moved(lambda positions: self.np.broadcast_to(positions, shape))

    # -- Linear functions of the entries -----------------------------------------------

    def scaled(self, factor: Any, divide: bool = False) -> Batch:
        """Return the entries times, or divided by, those of an array, broadcast."""
        if type(factor) in (int, float):
            factor = self.np.asarray(factor, self.dtype)  # infinite here if too large
        wide, each = self._broadcast_with(factor)
        matrix = wide.matrix
        if wide.sparse:
            run = operator.truediv if divide else operator.mul
            if wide.vanishes(each, divide):
                at = matrix.at
                made = matrix.valued(lambda p: run(p.values, at(each, p.columns)))
                return self.like(made, wide.shape)
            matrix = wide.dense()
        return self.like(matrix / each if divide else matrix * each, wide.shape)

    def vanishes(self, each: Any, divide: bool) -> bool:
        """Return whether an entry that is not stored stays zero if it is multiplied, or
        divided, by those of an array. Where those are recorded, only columns without
        an entry count: others show it in their values."""
        if not isinstance(each, np.ndarray):
            met = np.zeros(self.size, bool)
            for part in self.matrix.parts:
                met[part.columns] = True
            if met.all():
                return True
            each = self.matrix.at(each, np.flatnonzero(~met))
        found: bool = self.matrix.xp.calling(_keeps_zero, each, divide)
        return found

    def where(self, mask: Any) -> Batch:
        """Return the batch with zeros where a mask is False."""
        wide, each = self._broadcast_with(mask)
        matrix = wide.matrix
        if not wide.sparse:
            return self.like(self.np.where(each, matrix, 0), wide.shape)
        if isinstance(each, np.ndarray):
            return self.like(
                matrix.selected(lambda part: each[part.columns]), wide.shape
            )
        call, at = matrix.xp.calling, matrix.at
        made = matrix.valued(
            lambda part: call(np.where, at(each, part.columns), part.values, 0)
        )
        return self.like(made, wide.shape)

    def _broadcast_with(self, other: Any) -> tuple[Batch, Any]:
        """Return the batch, broadcast beside an array, and that array's entries."""
        shape, xp = _broadcast_shape(self, other), self.__gradcli_namespace__.base
        wide = (
            other if getattr(other, "shape", None) == shape else xp.expand(other, shape)
        )
        flat = wide if len(shape) == 1 else xp.reshape(wide, (prod(shape),))
        return self.expanded(shape), flat

    def plus(self, other: Batch) -> Batch:
        """Return the sum with a batch of as many rows; shapes broadcast."""
        shape = np.broadcast_shapes(self.shape, other.shape)
        a, b = self.expanded(shape), other.expanded(shape)
        if a.sparse and b.sparse:
            return settled(self.like(a.matrix + b.matrix, shape))
        if a.sparse:
            a, b = b, a
        if not b.sparse:
            return self.like(a.matrix + b.matrix, shape)
        total = a.matrix if a.own else a.matrix.copy()
        rows, columns, values = b.matrix.joined().flat()
        total[rows, columns] += values
        return self.like(total, shape)

    def summed(self, dims: tuple[int, ...], keepdim: bool) -> Batch:
        """Return the sums over dimensions."""
        axes = {d % self.ndim for d in dims} if self.ndim else set()
        kept = tuple(1 if d in axes else n for d, n in enumerate(self.shape))
        shape = (
            kept
            if keepdim
            else tuple(n for d, n in enumerate(self.shape) if d not in axes)
        )
        if self.sparse:
            return self.put(np.arange(prod(kept)).reshape(kept), kept).reshape(shape)
        over = tuple(1 + d for d in sorted(axes))
        return self.flattened(self.arranged().sum(over)).reshape(shape)

    def __neg__(self) -> Batch:
        return self.like(-self.matrix)

    def __add__(self, other: Any) -> Batch:
        if isinstance(other, Batch):
            return self.plus(other)
        if self.np.any(self.np.asarray(other)):
            raise NotLinear
        return self.expanded(_broadcast_shape(self, other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Batch:
        return self.__add__(-other)

    def __rsub__(self, other: object) -> Batch:
        return (-self).__add__(other)

    def __mul__(self, other: object) -> Batch:
        if isinstance(other, Batch):
            raise NotLinear
        return self.scaled(other)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Batch:
        if isinstance(other, Batch):
            raise NotLinear
        return self.scaled(other, divide=True)

    def times_matrix(self, b: Raw) -> Batch:
        """Return the batch of ``g @ b``, where ``b`` is one matrix or vector."""
        if b.ndim == 1:
            return self.times_matrix(b[:, None]).moved(lambda a: a[..., 0])
        inner, columns = b.shape
        lead = self.shape[:-1]
        shape = (*lead, columns)
        lines = prod(lead)
        if not self.sparse:
            self.demand_room(lines * columns)
            flat = self.matrix.reshape(self.count * lines, inner) @ b
            return self.like(flat.reshape(self.count, -1), shape)
        if not np.isfinite(b).all():
            return self.like(self.dense()).times_matrix(b)
        if lines == 1:
            self.demand_room(columns)
            parts = self.matrix.parts
            if len(parts) == 1 and np.array_equal(parts[0].rows, np.arange(self.count)):
                # Each row has one entry, so rows of b are picked and scaled.
                _, picked, values = parts[0]
                in_order = np.array_equal(picked, np.arange(inner))
                some = b if in_order else b[picked]
                return self.like(some * values[:, None], shape)
            return self.like(self.matrix.csr() @ b, shape)
        return self._lines_times(b, lines, shape)

    def _lines_times(self, b: Raw, lines: int, shape: Shape) -> Batch:
        """Return ``g @ b``, computed only for the lines that store an entry."""
        inner, columns = b.shape
        rows, places, values = self.matrix.joined().flat()
        line = rows.astype(np.int64) * lines + places // inner
        held, row = np.unique(line, return_inverse=True)
        some = (
            scipy("sparse").csr_array(
                (values, (row, places % inner)), shape=(held.size, inner)
            )
            @ b
        )
        if held.size > FULL * self.count * lines:
            self.demand_room(lines * columns)
            made = np.zeros((self.count * lines, columns), some.dtype)
            made[held] = some
            return self.like(made.reshape(self.count, -1), shape)
        column = (held % lines)[:, None] * columns + np.arange(columns)
        rows = np.repeat(held // lines, columns)
        part = SparsePart(rows, column.ravel(), some.ravel())
        return self.like(self.matrix.like([part], lines * columns), shape)


def _keeps_zero(factor: Host, divide: bool) -> bool:
    """Return whether zero times a factor, or divided by it, is zero everywhere."""
    return bool(np.isfinite(factor).all() and not (divide and (factor == 0).any()))


def settled(g: Batch) -> Batch:
    """Return the batch, as a dense one if more than `FULL` of it is stored."""
    rows, columns = g.matrix.shape
    if g.matrix.nnz <= FULL * rows * columns:
        return g
    matrix = g.matrix.joined()
    thin = matrix.nnz <= FULL * rows * columns
    return g.like(matrix) if thin else g.like(g.dense())


def identity(
    rows: range, shape: Shape, like: Any, namespace: Any, sparse: bool
) -> Batch:
    """Return ``rows`` of the identity matrix over a value's entries, in the type of
    ``like``."""
    n, count = prod(shape), len(rows)
    if not sparse:
        np_ = namespace.base.np
        return Batch(np_.eye(count, n, rows.start, like.dtype), shape, namespace)
    made = entries.identity(rows, n, like.dtype, namespace.base)
    return Batch(made, shape, namespace)


def _broadcast_shape(batch: Batch, other: Any) -> tuple[int, ...]:
    """Return the shape that a batch's value and an array or a number broadcast to."""
    shape: tuple[int, ...] = getattr(other, "shape", ())
    return np.broadcast_shapes(batch.shape, shape)


def _moving(name: str) -> Run:
    """Return a method that moves entries as the array function ``name`` moves them."""

    def method(self: BatchNamespace, x: Batch, *args: object, **kwargs: object) -> Any:
        change = getattr(self.base, name)
        return x.moved(lambda positions: change(positions, *args, **kwargs))

    return method


class BatchNamespace(WrapperNamespace, of=Batch):
    """The functions that rules call, on batches over the arrays of ``base``."""

    def other(self, name: str, args: tuple[Any, ...], kwargs: Params) -> Any:
        """Return the result of an operator; refuse functions that are not linear."""
        if name in ARITHMETIC:
            return ARITHMETIC[name](*args, **kwargs)
        raise NotLinear

    def where(self, mask: Any, a: Any, b: Any) -> Any:
        if isinstance(mask, Batch):
            raise NotLinear
        a, b = (
            value.where(chosen) if isinstance(value, Batch) else value
            for value, chosen in ((a, mask), (b, self.base.logical_not(mask)))
        )
        return a + b

    # -- Sums --------------------------------------------------------------------------

    def sum(self, x: Batch, dim: Dims = None, keepdim: bool = False) -> Batch:
        dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
        return x.summed(tuple(dims), keepdim)

    def cumsum(self, x: Batch, dim: int) -> Batch:
        return x.flattened(self.base.cumsum(x.arranged(), dim % x.ndim + 1))

    # -- Entries in other positions ----------------------------------------------------

    permute = _moving("permute")
    transpose = _moving("transpose")
    expand = _moving("expand")
    flip = _moving("flip")
    roll = _moving("roll")
    diagonal = _moving("diagonal")
    getitem = _moving("getitem")

    def reshape(self, x: Batch, shape: Sequence[int]) -> Batch:
        return x.reshape(shape)

    def unsqueeze(self, x: Batch, dim: int) -> Batch:
        return x.reshape(self.base.unsqueeze(x.positions(), dim).shape)

    def tril(self, x: Batch, diagonal: int = 0) -> Batch:
        return x.where(self.base.tril(self.np.ones(x.shape, dtype=bool), diagonal))

    def triu(self, x: Batch, diagonal: int = 0) -> Batch:
        return x.where(self.base.triu(self.np.ones(x.shape, dtype=bool), diagonal))

    def cat(self, tensors: Sequence[Rows], dim: int = 0) -> Batch:
        return self._joined(self.base.cat, tensors, dim)

    def stack(self, tensors: Sequence[Rows], dim: int = 0) -> Batch:
        return self._joined(self.base.stack, tensors, dim)

    def _joined(
        self, join: Callable[..., Raw], tensors: Sequence[Rows], dim: int
    ) -> Batch:
        if any(self.np.any(t) for t in tensors if not isinstance(t, Batch)):
            raise NotLinear
        count = self.np.arange
        which = [count(1, 1 + prod(t.shape)).reshape(t.shape) for t in tensors]
        total: Any = None
        for nr, t in enumerate(tensors):
            if isinstance(t, Batch):
                alone = [w if k == nr else 0 * w for k, w in enumerate(which)]
                made: Any = join(alone, dim)
                flat = made.ravel()
                where: Any
                (where,) = self.np.nonzero(flat)
                part = t.put(where[flat[where].argsort()].reshape(t.shape), made.shape)
                total = part if total is None else total.plus(part)
        return cast("Batch", total)

    def put_add(self, shape: Shape, index: Index, g: Batch) -> Batch:
        return g.put(self._numbered(shape)[index], tuple(shape))

    def put_view(self, shape: Shape, index: Index, g: Batch) -> Batch:
        """Return zeros with ``g`` at an index; the last of equal positions counts."""
        parts = index if isinstance(index, tuple) else (index,)
        if not any(isinstance(part, list) or hasattr(part, "dtype") for part in parts):
            return self.put_add(shape, index, g)
        positions, own = self._numbered(shape)[index], self._numbered(g.shape)
        last = self.np.zeros(prod(shape), own.dtype)
        last[positions.ravel()] = own.ravel()
        return g.where(last[positions] == own).put(positions, tuple(shape))

    def _numbered(self, shape: Shape) -> Raw:
        """Return the numbers 0, 1, ... in a shape."""
        return self.np.arange(prod(shape)).reshape(tuple(shape))

    # -- Products ----------------------------------------------------------------------

    def matmul(self, a: Any, b: Any) -> Any:
        if isinstance(a, Batch) and isinstance(b, Batch):
            raise NotLinear
        if isinstance(a, Batch):
            if b.ndim <= 2:
                return a.times_matrix(b)
            return self._batched(a, b, lambda a, b: a @ b, after=True)
        if a.ndim <= 2 and b.ndim == 1:
            return b.times_matrix(a.T if a.ndim == 2 else a)
        if a.ndim == 2:
            turned = self.transpose(b, -2, -1).times_matrix(a.T)
            return self.transpose(turned, -2, -1)
        return self._batched(b, a, lambda b, a: a @ b, after=False)

    def _batched(self, g: Batch, other: Raw, product: Run, after: bool) -> Batch:
        """Return each row's product with a vector or a stack of matrices."""
        batch = g.arranged()
        vector = g.ndim == 1
        if vector:
            batch = batch[:, None, :] if after else batch[:, :, None]
        lead = max(other.ndim - (batch.ndim - 1), 0)
        batch = batch.reshape(g.count, *(1,) * lead, *batch.shape[1:])
        made = product(batch, other)
        if vector and other.ndim > 1:
            made = made[..., 0, :] if after else made[..., 0]
        return g.flattened(made)

    def einsum(self, equation: str, *operands: Any) -> Batch:
        batches = [x for x in operands if isinstance(x, Batch)]
        if len(batches) > 1 or "->" not in equation:
            raise NotLinear
        arrays = [x.arranged() if isinstance(x, Batch) else x for x in operands]
        made = self.base.einsum(self.with_letter(equation, operands), *arrays)
        return batches[0].flattened(made)

    def solve(self, a: Any, b: Batch) -> Batch:
        if isinstance(a, Batch):
            raise NotLinear
        batch: Any = b.arranged()
        if a.ndim > 2 or b.ndim > 2:
            return b.flattened(self.base.solve(a, batch))
        n, columns = b.shape
        side = batch.transpose(1, 0, 2).reshape(n, -1)
        made: Any = self.base.solve(a, side).reshape(n, b.count, columns)
        return b.flattened(made.transpose(1, 0, 2))


@cache
def batches_over(base: ArrayNamespace) -> BatchNamespace:
    """Return the namespace of batches over the arrays of another."""
    return BatchNamespace(base)
