"""Plain numbers of a program with as many digits as are asked for.

An `Exact` is a float to everything that only wants one, and carries the number that
was written, as a ball: the decimal as it was typed, the quotient of two integers,
pi.

Invariant: an operation on an `Exact` gives an `Exact`; where a number reaches the run
by a way that keeps 17 digits only, `Precise.doubtful` has it.

    Exact(arb("0.1")) + 1           # 1.1, to all bits of the working precision
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
from flint import arb

from ..engine.raw import Host
from ..lang.arithmetic import Note, binary
from ..lang.code import Code
from ..lang.compiler import compile_program
from ..lang.factory import Factory
from ..lang.syntax import Binary, Literal, Program, walk
from ..lang.tensors import CONSTANTS, TensorLibrary
from ..ops.basis import ARITHMETIC, OPERATORS, UNARY
from .arrays import OBJECT, boxed
from .balls import Ball, apply, ball, is_nan, to_float
from .decided import ratio
from .limits import SURE_DIGITS
from .namespace import ObjectNamespace
from .numbers import Balls
from .system import RELATIONS, Number, exact


class Exact(float):
    """A float that remembers more digits."""

    __slots__ = ("number",)
    number: Ball

    def __new__(cls, number: float | Ball) -> Exact:
        given = number if isinstance(number, arb) else arb(number)
        made = super().__new__(cls, to_float(given))
        made.number = given
        return made

    def __neg__(self) -> Exact:
        return Exact(-self.number)

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> Exact:
        return Exact(abs(self.number))

    def __int__(self) -> int:
        return math.trunc(Fraction(*ratio(self.number.mid())))

    __hash__ = float.__hash__


def _number_of(value: object) -> Ball | None:
    if isinstance(value, Exact):
        return value.number
    return ball(exact(value)) if isinstance(value, int | float) else None


def _floored(a: Ball, b: Ball) -> Ball:
    return ball(math.floor(Fraction(*ratio((a / b).mid()))))


_ARITHMETIC: Final[dict[str, Callable[[Ball, Ball], Ball]]] = {
    **{own: partial(apply, name) for own, name in OPERATORS.items()
       if name in ARITHMETIC and own not in UNARY},
    "floordiv": _floored,
    "mod": lambda a, b: a - b * _floored(a, b),
}  # fmt: skip


def _operator(name: str, reflected: bool) -> Callable[[Exact, object], object]:
    rule, plain = _ARITHMETIC[name], getattr(operator, name)

    def run(self: Exact, other: object) -> object:
        number = _number_of(other)
        if number is None:
            return NotImplemented
        pair = (number, self.number) if reflected else (self.number, number)
        found = rule(*pair)
        # Off the real line, and for what no number is divided by, Python's own words.
        return plain(*map(to_float, pair)) if is_nan(found) else Exact(found)

    return run


def _comparison(relation: str) -> Callable[[Exact, object], object]:
    holds = RELATIONS[relation]

    def run(self: Exact, other: object) -> object:
        number = _number_of(other)
        if number is None:
            return NotImplemented
        return bool(holds((self.number - number).mid(), 0))

    return run


for _name in _ARITHMETIC:
    setattr(Exact, f"__{_name}__", _operator(_name, reflected=False))
    setattr(Exact, f"__r{_name}__", _operator(_name, reflected=True))
for _sign, _rule in RELATIONS.items():
    setattr(Exact, f"__{_rule.__name__}__", _comparison(_sign))


class Precise(Balls):
    """Balls that keep what an `Exact` remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.doubtful: dict[float, None] = {}

    def lift(self, number: Number) -> Ball:
        if isinstance(number, Exact):
            return number.number
        written = exact(number)
        if isinstance(written, Fraction) and _may_miss_digits(number, written):
            self.doubtful[float(number)] = None
        return super().lift(number)


def _may_miss_digits(number: Number, written: Fraction) -> bool:
    """Whether the float may have had more digits than its shortest decimal shows."""
    if isinstance(number, Fraction):
        return False
    digits = repr(float(number)).partition("e")[0].replace(".", "").strip("-0")
    return len(digits) > SURE_DIGITS


class PreciseNamespace(ObjectNamespace):
    """The basis, to which an `Exact` is more than the float in it."""

    def elements(self, x: object) -> Host:
        if isinstance(x, Exact):
            return boxed(self.system.lift(x))
        return super().elements(x)


class _PreciseFactory(Factory):
    """Constants keep what an `Exact` remembers, in lists as well."""

    def raw(self, values: object) -> Any:
        if isinstance(values, Exact) or getattr(values, "dtype", None) == OBJECT:
            return self.xp.array(values)
        return super().raw(values)

    def numbers_of(self, value: object) -> Host:
        shape = super().numbers_of(value).shape
        flat: list[Any] = [value]
        for _ in shape:
            flat = [entry for row in flat for entry in row]
        kept = np.empty(len(flat), dtype=object)
        kept[:] = flat
        return kept.reshape(shape)


class PreciseLibrary(TensorLibrary):
    """The library whose constants and quotients of integers are exact."""

    def __init__(self, namespace: PreciseNamespace, seed: int) -> None:
        super().__init__(_PreciseFactory(namespace, "float64", seed))
        pi = arb.pi()
        named = {"pi": pi, "π": pi, "e": arb.const_e(), "tau": 2 * pi}
        self.constants = {**CONSTANTS, **{n: Exact(v) for n, v in named.items()}}

    def arithmetic(self, sign: str, left: Any, right: Any, note: Note) -> Any:
        """An operator on two plain numbers."""
        integers = isinstance(left, int) and isinstance(right, int)
        if integers and (sign == "/" or (sign == "**" and right < 0)):
            left = Exact(left)
        return binary(sign, left, right, note)


def with_decimals(program: Program) -> Code:
    """The program with its decimals as they are written, and with divisors that rules
    of the table may divide by without losing digits."""
    divisors = {
        id(node.right)
        for node in walk(program)
        if isinstance(node, Binary) and node.operator == "/"
    }

    def constant(node: Literal) -> object:
        if type(node.value) is float:
            return Exact(arb(program.text(node).replace("_", "")))
        if type(node.value) is int and id(node) in divisors:
            return Exact(node.value)
        return node.value

    return compile_program(program, constant)
