"""The types of the arguments of formulas: arrays, namespaces, calls.

Invariant: arrays of every number system have the methods of `Array`, and rules use no
others; namespaces have those of `Namespace`. These classes serve only type checkers.

    def slope(xp: Namespace, y: Array, x: Array) -> Array:
        return xp.where(xp.eq(x, 0), 0, y / x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import EllipsisType
from typing import Any, Protocol, Self, TypeAlias

Shape: TypeAlias = tuple[int, ...]
"""The sizes of an array's dimensions, in order."""

Sizes: TypeAlias = int | list[int] | tuple[int, ...]
"""One size or count, or a list of them."""

Dims: TypeAlias = Sizes | None
"""One dimension, a list of several, or None for all."""


class Array(Protocol):
    """A tensor's entries in any number system, and the operators that rules may use."""

    @property
    def shape(self) -> Shape: ...
    @property
    def ndim(self) -> int: ...

    def __add__(self, other: Operand, /) -> Self: ...
    def __radd__(self, other: float, /) -> Self: ...
    def __sub__(self, other: Operand, /) -> Self: ...
    def __rsub__(self, other: float, /) -> Self: ...
    def __mul__(self, other: Operand, /) -> Self: ...
    def __rmul__(self, other: float, /) -> Self: ...
    def __truediv__(self, other: Operand, /) -> Array: ...
    def __rtruediv__(self, other: float, /) -> Array: ...
    def __pow__(self, other: Operand, /) -> Array: ...
    def __rpow__(self, other: float, /) -> Array: ...
    def __neg__(self) -> Array: ...
    def __abs__(self) -> Array: ...
    def __lt__(self, other: Operand, /) -> Array: ...
    def __le__(self, other: Operand, /) -> Array: ...
    def __gt__(self, other: Operand, /) -> Array: ...
    def __ge__(self, other: Operand, /) -> Array: ...
    def __getitem__(self, index: Index, /) -> Self: ...


class Dtype(Protocol):
    """A type of entries: the letter of its kind, its name, the bytes of one entry."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...


class Recorded(Array, Protocol):
    """A tensor: an array that says whether it needs a gradient."""

    @property
    def requires_grad(self) -> bool: ...


class Positions(Array, Protocol):
    """An array of integers that index entries; its values can be read as numbers."""

    @property
    def size(self) -> int: ...

    def reshape(self, shape: Sizes, /) -> Positions: ...
    def tolist(self) -> Any: ...
    def min(self) -> Positions: ...
    def max(self) -> Positions: ...
    def sum(self) -> Positions: ...
    def __int__(self) -> int: ...


Operand: TypeAlias = Array | float
"""An array or a plain number."""

Nested: TypeAlias = "Sequence[float | Nested]"
"""Nested lists of numbers, one level for each dimension of an array."""

Place: TypeAlias = int | slice | EllipsisType | Array | Sequence[object] | None
"""An index of one dimension, as in ``x[place]``."""

Index: TypeAlias = Place | tuple[Place, ...]
"""An index of an array: one place, or a tuple of them."""

Outputs: TypeAlias = tuple[Array, ...]
"""Results of a row that has several outputs."""

Entries: TypeAlias = tuple[slice | Positions, ...]
"""An index of arrays of positions, masks, and slices that read whole dimensions."""

Tangents: TypeAlias = Sequence[Array]
"""Tangents, one for each input."""

Cotangents: TypeAlias = Sequence[Array | None]
"""Cotangents of the outputs that carry a gradient; None where there is none."""

Relation: TypeAlias = tuple[int, str, float]
"""A condition: an operand's number, a sign, a bound; ``(0, ">", 0)`` is ``x > 0``."""


Geometry: TypeAlias = tuple[Shape, int]
"""A tensor's strides and the offset of its first entry, both counted in entries."""


class Result(Positions, Protocol):
    """A result of a function called by name, which decides what it is: an array, an
    array of positions, or several outputs, which can be indexed or unpacked."""

    def __iter__(self) -> Iterator[Result]: ...


class Sliding(Protocol):
    """Windows that slide over the spatial dimensions of an input."""

    @property
    def kernel(self) -> Shape: ...
    @property
    def stride(self) -> Shape: ...
    @property
    def dilation(self) -> Shape: ...
    def slices(self, counts: Shape, /) -> Sequence[tuple[slice, ...]]: ...


class Caller(Protocol):
    """A function that runs a row or a public function by its name."""

    def __call__(self, name: str, /, *args: object, **kwargs: object) -> Result: ...


class Namespace(Protocol):
    """The functions that formulas call: a basis, and rows under their public names.

    Only functions with results other than one array are declared here; every other name
    is a function of the basis or of the table, and takes the parameters given there.

    ``symbolic`` means that entries are expressions, ``plain`` that they are numbers in
    arrays, ``precise`` that they have more digits than floats, ``waits`` that reading
    their values waits for a device.
    """

    symbolic: bool
    plain: bool
    precise: bool
    waits: bool

    def __getattr__(self, name: str, /) -> Callable[..., Array]: ...
    def later(self, check: Callable[[], None], /) -> None: ...
    def extremes(self, at: Positions, /) -> tuple[Any, Any]: ...
    def call(self, name: str, /, *args: object, **kwargs: object) -> Result: ...
    def as_index(self, index: object, /) -> Positions: ...
    def is_finite(self, x: Array, /) -> bool: ...
    def geometry(self, x: Array, /) -> Geometry: ...
    def argmax(
        self, x: Array, dim: int | None = None, keepdim: bool = False
    ) -> Positions: ...
    def argsort(
        self, x: Array, dim: int = -1, descending: bool = False
    ) -> Positions: ...
    def largest_of(self, parts: Sequence[Array], /) -> tuple[Array, Positions]: ...
    def slogdet(self, x: Array, /) -> tuple[Array, Array]: ...
    def lu_factors(self, a: Array) -> tuple[Array, Array]: ...
    def eigh_factors(self, a: Array) -> tuple[Array, Array]: ...
    def qr_factors(self, a: Array, mode: str = "reduced") -> tuple[Array, Array]: ...
    def svd_factors(
        self, a: Array, full_matrices: bool = True
    ) -> tuple[Array, Array, Array]: ...


ArrayRule: TypeAlias = Callable[..., Array]
"""A formula that takes the namespace first and returns one array."""

Partial: TypeAlias = Callable[..., Operand]
"""The derivative by one input of an elementwise row: ``(xp, y, *inputs, **params)``."""

Vjp: TypeAlias = Callable[..., Array | None]
"""A reverse rule, ``(xp, g, y, *inputs, **params)``; it returns a cotangent or None."""

Vjps: TypeAlias = tuple[Vjp | None, ...] | Callable[..., Outputs]
"""A row's reverse rules: one for each input, or one for a list of inputs."""

Jvp: TypeAlias = Callable[..., Array | Outputs]
"""A forward rule, ``(xp, t, y, *inputs, **params)``; it returns tangents of outputs."""
