"""Plain numbers of a program with as many digits as are asked for.

An `Exact` is a float to everything that only wants one, and carries the number that
was meant: the decimal as it was typed, the quotient of two whole numbers, pi.

Invariant: an operation on an `Exact` gives an `Exact`; where a number reaches the run
by a way that keeps 17 digits only, `Precise.doubtful` has it.

    Exact(context.mpf("0.1")) + 1           # 1.1, to all digits of the context
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ..lang.arithmetic import Note, binary
from ..lang.code import Code
from ..lang.compiler import compile_program
from ..lang.home import Home
from ..lang.syntax import Binary, Literal, Program, walk
from ..lang.tensors import CONSTANTS, TensorLibrary
from .arrays import OBJECT, boxed
from .namespace import ObjectNamespace
from .numbers import Numbers
from .system import Number, exact, to_context

SURE: Final = 15
"""Significant digits that any float keeps of a decimal."""


class Exact(float):
    """A float that remembers more digits."""

    __slots__ = ("number",)
    number: Any

    def __new__(cls, number: Any) -> Exact:
        made = super().__new__(cls, float(number))
        made.number = number
        return made

    def __neg__(self) -> Exact:
        return Exact(-self.number)

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return Exact(abs(self.number))

    def __int__(self) -> int:
        return int(self.number)

    __hash__ = float.__hash__


def _number_of(value: Any, context: Any) -> Any:
    if isinstance(value, Exact):
        return value.number
    if isinstance(value, int | float):
        return to_context(context, exact(value))
    return None


def _operator(name: str, reflected: bool) -> Callable[[Exact, Any], Any]:
    function = getattr(operator, name)

    def run(self: Exact, other: Any) -> Any:
        number = _number_of(other, self.number.context)
        if number is None:
            return NotImplemented
        pair = (number, self.number) if reflected else (self.number, number)
        result = function(*pair)
        if isinstance(result, bool):
            return result
        real = isinstance(result, self.number.context.mpf)
        return Exact(result) if real else complex(result)

    return run


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Exact, f"__{_name}__", _operator(_name, reflected=False))
    setattr(Exact, f"__r{_name}__", _operator(_name, reflected=True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Exact, f"__{_name}__", _operator(_name, reflected=False))


class Precise(Numbers):
    """Numbers that keep what an `Exact` remembers."""

    def __init__(self, context: Any) -> None:
        super().__init__(context)
        self.doubtful: dict[float, None] = {}

    def lift(self, number: Number) -> Any:
        if isinstance(number, Exact):
            return self.context.mpf(number.number)
        meant = exact(number)
        if isinstance(meant, Fraction) and _may_miss_digits(number, meant):
            self.doubtful[float(number)] = None
        return super().lift(number)


def _may_miss_digits(number: Number, meant: Fraction) -> bool:
    """Whether the float may have had more digits than its shortest decimal shows."""
    if isinstance(number, Fraction):
        return False
    digits = repr(float(number)).partition("e")[0].replace(".", "").strip("-0")
    return len(digits) > SURE


class PreciseNamespace(ObjectNamespace):
    """The basis, to which an `Exact` is more than the float in it."""

    def elements(self, x: Any) -> Any:
        if isinstance(x, Exact):
            return boxed(self.system.lift(x))
        return super().elements(x)


class _PreciseHome(Home):
    """Constants keep what an `Exact` remembers, in lists as well."""

    def raw(self, values: Any) -> Any:
        if isinstance(values, Exact) or getattr(values, "dtype", None) == OBJECT:
            return self.xp.array(values)
        return super().raw(values)

    def numbers_of(self, value: Any) -> Any:
        shape = super().numbers_of(value).shape
        flat: list[Any] = [value]
        for _ in shape:
            flat = [entry for row in flat for entry in row]
        kept = np.empty(len(flat), dtype=object)
        kept[:] = flat
        return kept.reshape(shape)


class PreciseLibrary(TensorLibrary):
    """The library whose constants and quotients of whole numbers are exact."""

    def __init__(self, namespace: PreciseNamespace, seed: int) -> None:
        super().__init__(_PreciseHome(namespace, "float64", seed))
        context = namespace.system.context  # type: ignore[attr-defined]
        named = {"pi": context.pi, "e": context.e, "tau": 2 * context.pi}
        self.constants = {**CONSTANTS, **{n: Exact(+v) for n, v in named.items()}}
        self._context = context

    def arithmetic(self, sign: str, left: Any, right: Any, note: Note) -> Any:
        """An operator on two plain numbers."""
        whole = isinstance(left, int) and isinstance(right, int)
        if whole and (sign == "/" or (sign == "**" and right < 0)):
            left = Exact(self._context.mpf(left))
        return binary(sign, left, right, note)


def with_decimals(program: Program, context: Any) -> Code:
    """The program with its decimals as they are written, and with divisors that rules
    of the table may divide by without losing digits."""
    divisors = {
        id(node.right)
        for node in walk(program)
        if isinstance(node, Binary) and node.operator == "/"
    }

    def constant(node: Literal) -> object:
        if type(node.value) is float:
            return Exact(context.mpf(program.text(node).replace("_", "")))
        if type(node.value) is int and id(node) in divisors:
            return Exact(context.mpf(node.value))
        return node.value

    return compile_program(program, constant)
