"""Types of the arrays that tensors hold, as protocols and aliases.

Invariant: `Raw` lists everything that the engine uses of an array. NumPy's and CuPy's
arrays have it, and so do the arrays of objects of other number systems.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from numpy import float16, float32, float64, ndarray

from ..ops.types import Array, Dtype, Outputs, Shape

if TYPE_CHECKING:
    import numpy as np

Host: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
"""An array of NumPy's."""

Params: TypeAlias = dict[str, Any]
"""A row's parameters, or a call's keyword arguments, by name."""

Run: TypeAlias = Callable[..., Any]
"""A function with any parameters and any result."""

Give: TypeAlias = Callable[[], Any]
"""A function without parameters that returns a saved value."""

Value: TypeAlias = Array | Outputs
"""The result of a row: an array, or a tuple of one for each output."""

Restored: TypeAlias = tuple[tuple[Any, ...], Any]
"""The saved inputs of a node and its output (a tuple if several): arrays, shapes, or
None where nothing was saved."""

Arrived: TypeAlias = dict[Any, Any]
"""Cotangents that have arrived, by edge; a node with several outputs has a list with
one for each."""

Pulled: TypeAlias = tuple[Array | None, ...]
"""Cotangents of a node's edges; None where nothing passes."""


SCALARS = frozenset((float16, float32, float64))
"""Types of NumPy's scalars that carry gradients."""


def as_scalar(x: Any) -> Any:
    """Return NumPy's scalar for its array of shape (), which it computes with in a
    seventh of the time; anything else stays itself."""
    return x[()] if type(x) is ndarray and not x.shape else x


MAX_NUMBER_OF_ALL_TYPES = 127
"""The largest number that every type of numbers holds."""

BYTES_OF_HALF_FLOAT = 2


class Flags(Protocol):
    """The flags of an array that say how its entries lie in memory."""

    @property
    def c_contiguous(self) -> bool: ...
    @property
    def f_contiguous(self) -> bool: ...

    writeable: bool


class RawDtype(Dtype, Protocol):
    """The dtype of an array, with the class of its scalars as ``type``."""

    @property
    def type(self) -> type: ...
    @property
    def str(self) -> builtins.str: ...


class Raw(Array, Protocol):
    """An array of numbers or of objects; if the shape is (), it may be a scalar of the
    array module.

    The other operand of an operator is what the array module takes: numbers, lists,
    arrays of its own.
    """

    @property
    def shape(self) -> Shape: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def dtype(self) -> RawDtype: ...
    @property
    def strides(self) -> Shape: ...
    @property
    def flags(self) -> Flags: ...
    @property
    def base(self) -> Any: ...
    @property
    def __array_interface__(self) -> Any: ...
    @property
    def data(self) -> Any: ...
    @property
    def T(self) -> Raw: ...

    def __add__(self, other: Any, /) -> Raw: ...
    def __radd__(self, other: Any, /) -> Raw: ...
    def __sub__(self, other: Any, /) -> Raw: ...
    def __rsub__(self, other: Any, /) -> Raw: ...
    def __mul__(self, other: Any, /) -> Raw: ...
    def __rmul__(self, other: Any, /) -> Raw: ...
    def __truediv__(self, other: Any, /) -> Raw: ...
    def __rtruediv__(self, other: Any, /) -> Raw: ...
    def __pow__(self, other: Any, /) -> Raw: ...
    def __rpow__(self, other: Any, /) -> Raw: ...
    def __mod__(self, other: Any, /) -> Raw: ...
    def __neg__(self) -> Raw: ...
    def __abs__(self) -> Raw: ...
    def __lt__(self, other: Any, /) -> Raw: ...
    def __le__(self, other: Any, /) -> Raw: ...
    def __gt__(self, other: Any, /) -> Raw: ...
    def __ge__(self, other: Any, /) -> Raw: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Raw]: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __getitem__(self, index: Any, /) -> Raw: ...
    def __setitem__(self, index: Any, value: Any, /) -> None: ...

    def __array__(self) -> Host: ...
    @property
    def reshape(self) -> Callable[..., Raw]: ...
    def astype(self, dtype: Any, /) -> Raw: ...
    def ravel(self, order: Literal["K", "A", "C", "F"] = "C", /) -> Raw: ...
    def transpose(self, axes: Sequence[int], /) -> Raw: ...
    def swapaxes(self, one: int, other: int, /) -> Raw: ...
    def copy(self, order: Literal["K", "A", "C", "F"] = "C", /) -> Raw: ...
    def view(self, dtype: Any, /) -> Raw: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def any(self, axis: tuple[int, ...] | None = None, /) -> Any: ...
    def all(self, axis: tuple[int, ...] | None = None, /) -> Any: ...
    def min(self) -> Raw: ...
    def max(self) -> Raw: ...
    def sum(self, axis: int | tuple[int, ...] | None = None, /) -> Raw: ...
    def cumsum(self, axis: int | None = None, /) -> Raw: ...


class LibraryFunction(Protocol):
    """A function of an array library, or a part of it that holds functions."""

    def __call__(self, *args: object, **kwargs: object) -> Raw: ...
    def __getattr__(self, name: str, /) -> LibraryFunction: ...


class Library(Protocol):
    """An array library: NumPy or CuPy, or their special functions."""

    def __getattr__(self, name: str, /) -> LibraryFunction: ...


MAX_LIST_DEPTH = 64
"""Greatest depth of nested lists of numbers: NumPy's limit of dimensions."""

SEQUENCES = (list, tuple, range)
PLAIN = frozenset({int, float, bool})
"""Classes of plain numbers, which have no dtype."""


def is_list(data: object, depth: int = 0) -> bool:
    """Return whether data at a depth of nested sequences is one that can be read."""
    return isinstance(data, SEQUENCES) and depth < MAX_LIST_DEPTH


def kinds_of(data: Any, outer: tuple[int, ...] = ()) -> set[type]:
    """Return the classes of the entries of nested sequences; ``outer`` holds the
    identities of the sequences around them, none of which may come again."""
    if not is_list(data, len(outer)):
        return {type(data)}
    found = set(map(type, data))
    if found <= PLAIN:
        return found
    if id(data) in outer:
        raise too_deep(data)
    inner = (*outer, id(data))
    return found.union(*[kinds_of(each, inner) for each in data]) - {*SEQUENCES}


def too_deep(data: object) -> ValueError:
    """Return PyTorch's error for sequences that are nested without an end in sight."""
    return ValueError(f"too many dimensions '{type(data).__name__}'")
