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

from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np

from ..ops.basis import ARITHMETIC
from ..ops.shape import sizes_of
from ..ops.types import Dims, Index, Shape
from .arrays import ArrayNamespace
from .beside import Beside, Made
from .devices import scipy
from .raw import Host, Library, Params, Raw, RawDtype, Run

Rows: TypeAlias = "Batch | Raw"
"""A batch, or an array that is the same for all its rows."""

FULL = 0.25
"""Largest share of stored entries in a sparse matrix; with more it is made dense."""

MAX_ENTRIES = 1 << 23
"""Largest number of entries of a dense matrix: 64 MiB of doubles."""


class NotLinear(Exception):
    """Signal that a rule cannot be run on a whole batch at once."""


class TooLarge(Exception):
    """Signal that a dense matrix of a batch would have more than `MAX_ENTRIES`."""


def is_sparse(matrix: object) -> bool:
    """Return whether a matrix stores coordinates with its numbers."""
    return hasattr(matrix, "indptr")


class Batch(Made):
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
        return is_sparse(self.matrix)

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
        """Raise `TooLarge` if a dense matrix of ``size`` columns would be too large."""
        if self.count > 1 and self.count * size > MAX_ENTRIES:
            raise TooLarge

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
            made = type(self.matrix)((self.count, size), dtype=self.dtype)
            return self.like(made, shape)
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
        if not self.sparse:
            self.demand_room(flat.size)
            return self.like(self.matrix[:, flat], positions.shape)
        count = np.arange(flat.size)
        if flat.size == self.size and bool(np.all(flat == count)):
            return self.reshape(positions.shape)
        target = np.full(self.size, -1, dtype=np.int64)
        target[flat] = np.arange(flat.size)
        if flat.size <= self.size and int((target >= 0).sum()) == flat.size:
            return self.like(
                _renumbered(self.matrix, target, flat.size), positions.shape
            )
        return self._times(_choice(flat, self.size, self.dtype), positions.shape)

    def put(self, positions: object, shape: Shape) -> Batch:
        """Return zeros of ``shape`` with each entry added at its position."""
        flat = self.np.broadcast_to(positions, self.shape).ravel()
        size = prod(shape)
        if self.sparse:
            return self.like(_renumbered(self.matrix, flat, size), shape)
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
        shape = _shape_beside(self, factor)
        wide = self.expanded(shape)
        each: Any = self.np.broadcast_to(factor, shape).ravel()
        matrix = wide.matrix
        if is_sparse(matrix):
            safe = np.isfinite(each).all() and not (divide and (each == 0).any())
            if safe:
                entries = each[matrix.indices]
                data = matrix.data / entries if divide else matrix.data * entries
                parts = (data, matrix.indices, matrix.indptr)
                made = type(matrix)(parts, shape=matrix.shape)
                made.has_canonical_format = matrix.has_canonical_format
                return self.like(made, shape)
            matrix = wide.dense()
        return self.like(matrix / each if divide else matrix * each, shape)

    def where(self, mask: Any) -> Batch:
        """Return the batch with zeros where a mask is False."""
        shape = _shape_beside(self, mask)
        wide = self.expanded(shape)
        each = self.np.broadcast_to(mask, shape).ravel()
        if not wide.sparse:
            return self.like(self.np.where(each, wide.matrix, 0), shape)
        target = np.where(each, np.arange(each.size), -1)
        return self.like(_renumbered(wide.matrix, target, each.size), shape)

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
        terms = once(b.matrix)
        rows = np.repeat(np.arange(b.count), np.diff(terms.indptr))
        total[rows, terms.indices] += terms.data
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
        return self.expanded(_shape_beside(self, other))

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
            matrix = self.matrix
            if matrix.nnz == self.count and (np.diff(matrix.indptr) == 1).all():
                # Each row has one entry, so rows of b are picked and scaled.
                return self.like(b[matrix.indices] * matrix.data[:, None], shape)
            return self.like(matrix @ b, shape)
        return self._lines_times(b, lines, shape)

    def _lines_times(self, b: Raw, lines: int, shape: Shape) -> Batch:
        """Return ``g @ b``, computed only for the lines that store an entry."""
        inner, columns = b.shape
        coo = self.matrix.tocoo()
        line = coo.row.astype(np.int64) * lines + coo.col // inner
        held, row = np.unique(line, return_inverse=True)
        make = type(self.matrix)
        some = make((coo.data, (row, coo.col % inner)), shape=(held.size, inner)) @ b
        if held.size > FULL * self.count * lines:
            self.demand_room(lines * columns)
            made = np.zeros((self.count * lines, columns), some.dtype)
            made[held] = some
            return self.like(made.reshape(self.count, -1), shape)
        column = (held % lines)[:, None] * columns + np.arange(columns)
        rows = np.repeat(held // lines, columns)
        matrix = make(
            (some.ravel(), (rows, column.ravel())), shape=(self.count, lines * columns)
        )
        return self.like(matrix, shape)

    def _times(self, matrix: object, shape: Shape) -> Batch:
        """Return the batch times a sparse matrix, as a batch of values of ``shape``."""
        return settled(self.like(self.matrix @ matrix, shape))


def once(matrix: Any) -> Any:
    """Return a sparse matrix with each entry stored once, in order."""
    if matrix.has_canonical_format:
        return matrix
    made = matrix.copy()
    made.sum_duplicates()
    return made


def settled(g: Batch) -> Batch:
    """Return the batch, as a dense one if more than `FULL` of it is stored."""
    rows, columns = g.matrix.shape
    return g.like(g.dense()) if g.matrix.nnz > FULL * rows * columns else g


def identity(
    rows: range, shape: Shape, like: Any, namespace: Any, sparse: bool
) -> Batch:
    """Return ``rows`` of the identity matrix over a value's entries, in the type of
    ``like``."""
    n, count = prod(shape), len(rows)
    if not sparse:
        np_ = namespace.base.np
        return Batch(np_.eye(count, n, rows.start, like.dtype), shape, namespace)
    csr_array = scipy("sparse").csr_array
    ones = np.ones(count, like.dtype)
    columns = np.arange(rows.start, rows.stop)
    matrix = csr_array((ones, columns, np.arange(count + 1)), shape=(count, n))
    return Batch(matrix, shape, namespace)


def _shape_beside(batch: Batch, other: Any) -> tuple[int, ...]:
    """Return the shape that a batch's value and an array or a number broadcast to."""
    shape: tuple[int, ...] = getattr(other, "shape", ())
    return np.broadcast_shapes(batch.shape, shape)


def _renumbered(matrix: Any, target: Host | Raw, columns: int) -> object:
    """Return a matrix whose columns are moved to ``target``, or dropped at -1."""
    make = type(matrix)
    indices = target[matrix.indices]
    keep = indices >= 0
    shape = (matrix.shape[0], columns)
    if keep.all():
        return make((matrix.data, indices, matrix.indptr), shape=shape)
    starts = np.concatenate(([0], np.cumsum(keep)))[matrix.indptr]
    return make((matrix.data[keep], indices[keep], starts), shape=shape)


def _choice(flat: Raw, size: int, dtype: Any) -> object:
    """Return the sparse matrix that moves entry ``flat[k]`` to entry ``k``."""
    csr_array = scipy("sparse").csr_array
    ones = np.ones(flat.size, dtype)
    return csr_array((ones, (flat, np.arange(flat.size))), shape=(size, flat.size))


def _moving(name: str) -> Run:
    """Return a method that moves entries as the array function ``name`` moves them."""

    def method(self: BatchNamespace, x: Batch, *args: object, **kwargs: object) -> Any:
        change = getattr(self.base, name)
        return x.moved(lambda positions: change(positions, *args, **kwargs))

    return method


class BatchNamespace(Beside, of=Batch):
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
            for value, chosen in ((a, mask), (b, self.np.logical_not(mask)))
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
