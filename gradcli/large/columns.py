"""Columns: arrays with a value for each row, so that a program runs once on many rows.

Invariant: a row's values are those of a run on it alone, but for the last bits of sums,
which may be added in another order. A number or a truth value that is read must be the
same in all rows; else `RowsDiffer` is raised with the rows grouped by it. An operation
without a rule for many rows is run on one row after another.

    xp = Columns(NUMPY)
    x = xp.column(np.array([1.0, 2.0, 3.0]))     # a number in each row: shape ()
    (xp.sin(x) * 2).data                         # the three values
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..engine.beside import Readable, WrappedArray, WrapperNamespace, give_operators
from ..engine.raw import Host, Params, Raw, Run
from ..ops import FUNCTIONS, Op
from ..ops.basis import ARITHMETIC, SPECIAL, UFUNCS
from ..ops.op import overloads
from ..ops.types import Dims, Shape

MAX_WAYS = 64
"""Largest number of groups that rows are put in by a number that is read."""

MAX_ENTRIES = 1 << 24
"""Largest number of entries that all columns of a namespace have at once."""


class RowsDiffer(Exception):
    """The error of a read value that differs between rows, or of too many entries.

    groups   for each value, the numbers of the rows that have it; empty: the values are
             more than `MAX_WAYS`, or only a single row can answer
    crowded  fewer rows at once can be computed
    """

    def __init__(self, groups: Sequence[Host] = (), crowded: bool = False) -> None:
        super().__init__("the rows differ in what is read")
        self.groups, self.crowded = tuple(groups), crowded


def _called(name: str) -> Run:
    """Return a method that applies the function ``name`` of the namespace."""
    return lambda x, dim=None: getattr(x.__gradcli_namespace__, name)(x, dim)


class Column(Readable):
    """An array of ``shape`` for each row; ``data`` has the rows in front."""

    __slots__ = ("data",)

    def __init__(self, data: Raw, namespace: Columns) -> None:
        self.data = data
        namespace.entries += data.size
        self.__gradcli_namespace__ = namespace
        if namespace.entries > MAX_ENTRIES:
            raise RowsDiffer(crowded=True)

    def __del__(self) -> None:
        # A signal may have raised in `__init__`, before the entries were counted.
        if hasattr(self, "__gradcli_namespace__"):
            self.__gradcli_namespace__.entries -= self.data.size

    @property
    def rows(self) -> int:
        return self.data.shape[0]

    @property
    def shape(self) -> Shape:
        return self.data.shape[1:]

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def flags(self) -> Any:
        return self.data.flags

    @property
    def T(self) -> Column:
        dims = (0, *range(self.ndim, 0, -1))
        return self._like(self.data.transpose(dims))

    def astype(self, dtype: Any, copy: bool = True) -> Column:
        return self._like(self.data.astype(dtype))

    def copy(self, order: str = "C") -> Column:
        return self._like(self.data.copy())

    def item(self) -> Any:
        """Return the only entry, which is the same in all rows."""
        values = self.data.reshape(self.rows, -1)
        if values.shape[1] != 1:
            raise RowsDiffer
        return _common(values[:, 0])

    def tolist(self) -> Any:
        if not self.ndim:
            return self.item()
        first = self.data[:1]
        if not np.array_equal(np.broadcast_to(first, self.data.shape), self.data):
            raise RowsDiffer
        return first[0].tolist()

    all, any = _called("all"), _called("any")
    min, max = _called("amin"), _called("amax")

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return self.__gradcli_namespace__.getitem(self, index)

    def __array__(self, *args: object, **kwargs: object) -> NoReturn:
        raise RowsDiffer

    def _like(self, data: Raw) -> Column:
        return Column(data, self.__gradcli_namespace__)


def _common(values: Any) -> Any:
    """Return the number that all rows have.

    Raises:
        RowsDiffer: the rows have different numbers.
    """
    first = values[0]
    if (values == first).all():
        return first.item()
    found, which = np.unique(values, return_inverse=True, equal_nan=True)
    if len(found) > MAX_WAYS:
        raise RowsDiffer
    if len(found) == 1:  # NaN in all rows
        return first.item()
    raise RowsDiffer([np.flatnonzero(which == nr) for nr in range(len(found))])


give_operators(Column)


def _along(name: str) -> Run:
    """Return a method that applies the function ``name`` to dimensions of each row."""

    def method(
        self: Columns, x: Any, dim: Dims = None, *args: Any, **kwargs: Any
    ) -> Any:
        change = getattr(self.base, name)
        return self.column(change(x.data, _behind(dim, x.ndim), *args, **kwargs))

    return method


def _in_planes(name: str) -> Run:
    """Return a method that applies a function to the last two dimensions of a row."""

    def method(self: Columns, x: Any, *args: Any) -> Any:
        return self.column(getattr(self.base, name)(x.data, *args))

    return method


def _joining(name: str) -> Run:
    """Return a method that joins columns and arrays as the function ``name`` does."""

    def method(self: Columns, tensors: Sequence[Any], dim: int = 0) -> Any:
        rows = next(_rows_of(tensors))
        wide = [self.spread(t, rows) for t in tensors]
        return self.column(getattr(self.base, name)(wide, dim + (dim >= 0)))

    return method


def _putting(name: str) -> Run:
    """Return a method that puts entries at an index of zeros, as ``name`` does."""

    def method(self: Columns, shape: Shape, index: Any, g: Any) -> Any:
        if not isinstance(g, Column) or not _is_plain(index):
            return self._one_by_one(name, tuple(shape), index, g)
        put = getattr(self.base, name)
        return self.column(put((g.rows, *shape), _in_all_rows(index), g.data))

    return method


def _behind(dim: Dims, ndim: int) -> Any:
    """Return dimensions of a row as dimensions of the array of all rows; None means all
    dimensions of a row."""
    if dim is None:
        return tuple(range(1, ndim + 1))
    if isinstance(dim, int):
        return dim + 1 if dim >= 0 else dim
    return tuple([d + 1 if d >= 0 else d for d in dim])


def is_elementwise(name: str) -> bool:
    """Return whether a function computes each entry from one entry of each operand."""
    if name in UFUNCS or name in SPECIAL or name in ARITHMETIC:
        return True
    entry = FUNCTIONS.get(name)
    if isinstance(entry, Op):
        return entry.elementwise
    rows = overloads(name) if entry is not None and not entry.operands else []
    return bool(rows) and all(row.elementwise for row in rows)


class Columns(WrapperNamespace, of=Column):
    """The namespace of columns; a plain array is the same in all rows."""

    writeable = False
    entries = 0

    def column(self, data: Any) -> Any:
        """Return an array, whose first dimension is the rows, as a column."""
        if isinstance(data, tuple):
            return tuple([self.column(part) for part in data])
        return Column(self.np.asarray(data), self)

    def spread(self, x: Any, rows: int) -> Raw:
        """Return the values of ``rows`` rows as an array with the rows as its first
        dimension."""
        if isinstance(x, Column):
            return x.data
        return self.np.broadcast_to(x, (rows, *self.np.shape(x)))

    def other(self, name: str, args: tuple[Any, ...], kwargs: Params) -> Any:
        """Return a function's value: an elementwise one runs on all rows at once. An
        operand that is made of columns, or of arrays, has the operators of both."""
        if any(isinstance(a, WrappedArray) and not isinstance(a, Column) for a in args):
            return NotImplemented
        if not is_elementwise(name) or next(_rows_of(kwargs), None):
            return self._one_by_one(name, *args, **kwargs)
        rank = max([len(a.shape) for a in args if hasattr(a, "dtype")])
        aligned = [_aligned(a, rank) for a in args]
        return self.column(self.of_base(name)(*aligned, **kwargs))

    def _one_by_one(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return a function's values, computed row by row, as a column."""
        run, rows = self.of_base(name), next(_rows_of((args, kwargs)))
        made = [run(*_row(args, nr), **_row(kwargs, nr)) for nr in range(rows)]
        if isinstance(made[0], tuple):
            return tuple(
                [self._stacked(list(part)) for part in zip(*made, strict=True)]
            )
        return self._stacked(made)

    def _stacked(self, parts: list[Any]) -> Any:
        if any(self.np.shape(part) != self.np.shape(parts[0]) for part in parts):
            raise RowsDiffer
        return self.column(self.np.stack([self.np.asarray(p) for p in parts]))

    # -- copies, conversions and queries -----------------------------------------------

    def with_separate_version(self, x: Any) -> Any:
        return x

    def extremes(self, at: Any) -> tuple[Raw, Raw]:
        return self.base.extremes(at.data)

    def integer(self, x: Any) -> int:
        return int(self.column(self.np.trunc(x.data)).item())

    def as_index(self, index: Any) -> Any:
        return self.column(self.base.as_index(index.data))

    def is_finite(self, x: Any) -> bool:
        return self.base.is_finite(x.data)

    # -- sums and scans ----------------------------------------------------------------

    sum, prod = _along("sum"), _along("prod")
    amax, amin = _along("amax"), _along("amin")
    all, any = _along("all"), _along("any")
    cumsum, cumprod = _along("cumsum"), _along("cumprod")
    flip = _along("flip")

    def argsort(self, x: Any, dim: int = -1, descending: bool = False) -> Any:
        return self.column(self.base.argsort(x.data, _behind(dim, x.ndim), descending))

    # -- other shapes ------------------------------------------------------------------

    def reshape(self, x: Any, shape: Any) -> Any:
        return self.column(x.data.reshape((x.rows, *shape)))

    def expand(self, x: Any, shape: Any) -> Any:
        wide = _aligned(x, len(shape))
        return self.column(self.base.expand(wide, (x.rows, *shape)))

    def permute(self, x: Any, dims: Sequence[int]) -> Any:
        return self.column(x.data.transpose((0, *[d % x.ndim + 1 for d in dims])))

    def transpose(self, x: Any, dim0: int, dim1: int) -> Any:
        return self.column(x.data.swapaxes(*_behind((dim0, dim1), x.ndim)))

    def t(self, x: Any) -> Any:
        return x.T

    def unsqueeze(self, x: Any, dim: int) -> Any:
        d = dim % (x.ndim + 1)
        return self.reshape(x, (*x.shape[:d], 1, *x.shape[d:]))

    def diagonal(self, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
        ends = _behind((dim1, dim2), x.ndim)
        return self.column(self.base.diagonal(x.data, offset, *ends))

    cat, stack = _joining("cat"), _joining("stack")

    # -- entries at positions ----------------------------------------------------------

    def getitem(self, x: Any, index: Any) -> Any:
        if not isinstance(x, Column) or not _is_plain(index):
            return self._one_by_one("getitem", x, index)
        return self.column(x.data[_in_all_rows(index)])

    put_add, put_view = _putting("put_add"), _putting("put_view")

    # -- products and factors ----------------------------------------------------------

    tril, triu = _in_planes("tril"), _in_planes("triu")
    inverse, cholesky = _in_planes("inverse"), _in_planes("cholesky")
    det, slogdet = _in_planes("det"), _in_planes("slogdet")

    def matmul(self, a: Any, b: Any) -> Any:
        left, right = a.ndim == 1, b.ndim == 1
        rank = max(a.ndim + left, b.ndim + right)
        first = self.unsqueeze(a, 0) if left else a
        second = self.unsqueeze(b, 1) if right else b
        made = self.np.matmul(_aligned(first, rank), _aligned(second, rank))
        if right:
            made = made[..., 0]
        return self.column(made[..., 0] if left and right else
                           made[..., 0, :] if left else made)  # fmt: skip

    def einsum(self, equation: str, *operands: Any) -> Any:
        if "->" not in equation:
            return self._one_by_one("einsum", equation, *operands)
        arrays = [x.data if isinstance(x, Column) else x for x in operands]
        made = self.base.einsum(self.with_letter(equation, operands), *arrays)
        return self.column(made)

    def solve(self, a: Any, b: Any) -> Any:
        rank = max(a.ndim, b.ndim)
        return self.column(self.base.solve(_aligned(a, rank), _aligned(b, rank)))


def _rows_of(value: Any) -> Any:
    """Yield the count of rows of each column in an argument."""
    if isinstance(value, Column):
        yield value.rows
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _rows_of(each)
    elif isinstance(value, dict):
        yield from _rows_of(tuple(value.values()))


def _row(value: Any, nr: int) -> Any:
    """Return an argument with each column in it replaced by its value in row ``nr``."""
    if isinstance(value, Column):
        return value.data[nr]
    if isinstance(value, tuple | list):
        return type(value)([_row(each, nr) for each in value])
    if isinstance(value, dict):
        return {name: _row(each, nr) for name, each in value.items()}
    return value


def _aligned(x: Any, rank: int) -> Any:
    """Return the data of a column, with dimensions of size 1 added behind the rows, so
    that each row has ``rank`` dimensions; return anything else as it is."""
    if not isinstance(x, Column):
        return x
    missing = rank - x.ndim
    if not missing:
        return x.data
    return x.data.reshape((x.rows, *(1,) * missing, *x.shape))


def _is_plain(index: Any) -> bool:
    """Return whether an index has only integers, slices, ``None`` and ``...``."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(p is None or p is ... or isinstance(p, int | slice) for p in parts) and (
        not any(isinstance(p, bool) for p in parts)
    )


def _in_all_rows(index: Any) -> tuple[Any, ...]:
    return (slice(None), *(index if isinstance(index, tuple) else (index,)))
