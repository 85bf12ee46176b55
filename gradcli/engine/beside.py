"""Namespaces beside that of arrays: their values are made of the arrays of a ``base``.

Invariant: a call without a value of the namespace's own kind is left to ``base``, so
that the functions of such a namespace are written only for its own values.

    class Columns(Beside, of=Column):
        def t(self, x): return x.T       # of a column; an array goes to base.t
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, wraps
from math import prod
from typing import Any

from ..ops.basis import ARITHMETIC, SPECIAL, UFUNCS, put_on
from ..ops.types import Shape
from .arrays import ArrayNamespace
from .factors import MatrixFactors
from .namespace import NumberSystem
from .raw import Params, Raw, Run
from .special_functions import SpecialFunctions

BASIS = frozenset(
    {*UFUNCS, *SPECIAL}
    | {
        name
        for each in (ArrayNamespace, MatrixFactors, SpecialFunctions)
        for name in vars(each)
        if not name.startswith("_")
    }
)
"""Names of functions that the namespace of arrays defines itself."""


class WrappedArray:
    """A value that is made of arrays, and is never a view: its ``base`` is None."""

    __slots__ = ("__gradcli_namespace__", "__weakref__")
    __gradcli_namespace__: Any
    __array_ufunc__ = None
    base = None
    shape: Any

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    def reshape(self, *shape: Any) -> Any:
        sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self.__gradcli_namespace__.reshape(self, sizes)

    __hash__ = object.__hash__


class Readable(WrappedArray):
    """A value whose only entry can be read as a plain number, by ``item``."""

    __slots__ = ()
    item: Any

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    __index__ = __int__


def give_operators(kind: type[WrappedArray]) -> None:
    """Add Python's operators to a class, as the functions of its namespace."""
    put_on(kind, lambda name: lambda x, *both: (
        getattr(x.__gradcli_namespace__, name)(*both)
    ))  # fmt: skip


def holds(kind: type, values: Iterable[object]) -> bool:
    """Return whether one of some arguments is of a class, or holds such an object."""
    for each in values:
        if isinstance(each, kind):
            return True
        if isinstance(each, tuple | list) and holds(kind, each):
            return True
    return False


def whole(own: Run) -> Run:
    """Mark a method that is called for all arguments, also if all are arrays."""
    vars(own)["whole"] = True
    return own


class WrapperNamespace(NumberSystem):
    """A namespace of values of the class ``kind``, over the arrays of ``base``."""

    symbolic = False
    kind: type

    def __init_subclass__(cls, of: type) -> None:
        """Leave calls to ``base`` where no argument is of the class ``of``."""
        cls.kind = of
        for name in {*vars(cls), *vars(WrapperNamespace)}:
            if name in ARITHMETIC or (name[0] != "_" and hasattr(ArrayNamespace, name)):
                own = getattr(cls, name)
                if callable(own) and not hasattr(own, "whole"):
                    setattr(cls, name, left_to_base(name, own))

    def __init__(self, base: ArrayNamespace) -> None:
        self.base = base
        self.device = base.device
        self.np = base.np

    def __getattr__(self, name: str) -> Run:
        if name not in BASIS and name not in ARITHMETIC:
            return super().__getattr__(name)

        def others(self: WrapperNamespace, *args: Any, **kwargs: Any) -> Any:
            return self.other(name, args, kwargs)

        found = partial(left_to_base(name, others), self)
        setattr(self, name, found)
        return found

    def other(self, name: str, args: tuple[Any, ...], kwargs: Params) -> Any:
        """Return the result of a function that the namespace does not define itself."""
        raise NotImplementedError

    def of_base(self, name: str) -> Run:
        """Return the function ``name`` of arrays."""
        plain = ARITHMETIC.get(name)
        found: Run = getattr(self.base, name) if plain is None else plain
        return found

    def with_letter(self, equation: str, operands: Sequence[object]) -> str:
        """Return the equation of an einsum with one more letter, first in the result
        and in each operand of the own kind."""
        terms, out = equation.replace(" ", "").split("->")
        letter = next(c for c in LETTERS if c not in equation)
        words = [
            letter + word if isinstance(x, self.kind) else word
            for word, x in zip(terms.split(","), operands, strict=True)
        ]
        return f"{','.join(words)}->{letter}{out}"

    def array(self, values: Any) -> Any:
        return values

    array_itself = array

    def clone(self, x: Any, memory_format: str | None = None) -> Any:
        return x.copy()

    def to_copy(self, x: Any, dtype: Any, device: Any, back: object = None) -> Any:
        return x.copy() if dtype is None else x.astype(dtype)

    def as_type_of(self, x: Any, like: Any) -> Any:
        own = isinstance(x, self.kind)
        return x.astype(like.dtype) if own else self.base.as_type_of(x, like)

    def is_contiguous(self, x: Any) -> Any:
        return True

    def is_viewable(self, x: Any, shape: Shape) -> Any:
        return True

    def new_full(self, x: Any, shape: Shape, value: Any) -> Any:
        return self.base.new_full(x, shape, value)

    @whole
    def zeros_like(self, x: Any) -> Any:
        return self.new_full(x, x.shape, 0)

    @whole
    def ones_like(self, x: Any) -> Any:
        return self.new_full(x, x.shape, 1)

    def eye(self, n: int, like: Any) -> Raw:
        return self.base.eye(n, like)

    def nextafter(self, x: Any, other: Any) -> Any:
        return self.other("nextafter", (x, other), {})


def left_to_base(name: str, own: Run) -> Run:
    """Return a method that runs ``own`` if an argument is of the namespace's kind."""

    @wraps(own)
    def run(self: WrapperNamespace, *args: Any, **kwargs: Any) -> Any:
        if holds(self.kind, args) or (kwargs and holds(self.kind, kwargs.values())):
            return own(self, *args, **kwargs)
        return self.of_base(name)(*args, **kwargs)

    return run


LETTERS = "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA"
