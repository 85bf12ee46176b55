"""Plain numbers that keep their exact value: fractions, and functions of fractions.

An `Exact` is a float, with the value that float arithmetic gives. It also holds the
number that it stands for: a fraction, or a scalar function of the table applied to
`Exact` numbers. Arrays compute with the float, every other number system with the exact
value.

Invariants: an operation on an `Exact` and a plain number returns an `Exact` whose float
is the result for two floats; a float operand is taken as its shortest decimal.
Comparisons, roundings and conversions to integers are those of the exact numbers, which
may lie on the other side of a step than their floats. Of fractions they are computed
here; other numbers are decided by the number system at work (`deciding`).

    decimal("0.1") + decimal("0.2")         # 0.30000000000000004, and 3/10
    decimal("2") ** decimal("0.5")          # 1.4142135623730951, and pow(2, 1/2)
    decimal("0.6") // decimal("0.2")        # 3.0, where floats give 2.0
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from typing import Any, Final, Protocol, TypeAlias

from .basis import BINARY, COMPARISONS, OPERATORS

MAX_EXACT_BITS: Final = 4096
"""Largest size of a fraction's numerator and denominator, in bits; an operation with a
longer result is kept as a function of its operands."""

MAX_DECIMAL_EXPONENT: Final = 1200
"""Largest exponent of ten in a decimal that is made a fraction; others stay floats."""

Ratio: TypeAlias = tuple[int, int]
"""A numerator and a positive denominator, in lowest terms."""


class Exact(float):
    """A float, and the number that it stands for.

    If ``name`` is ``number``, ``args`` is a `Ratio`; if it is ``element``, ``args`` has
    one element of a number system; otherwise ``name`` is a function of the table and
    ``args`` are its operands.
    """

    __slots__ = ("args", "name")
    name: str
    args: tuple[Any, ...]

    def __neg__(self) -> float:
        return function("neg", -float(self), self)

    def __pos__(self) -> Exact:
        return self

    def __abs__(self) -> float:
        return -self if self < 0 else self

    def __bool__(self) -> bool:
        return _side(self, 0) != 0

    __hash__ = float.__hash__

    def __trunc__(self) -> int:
        return _rounded("trunc", self)

    __int__ = __trunc__

    def __floor__(self) -> int:
        return _rounded("floor", self)

    def __ceil__(self) -> int:
        return _rounded("ceil", self)

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return _rounded("round", self)
        tens = fraction(10**digits) if digits > 0 else fraction(1, 10**-digits)
        return _whole(_rounded("round", self * tens)) / tens

    def is_integer(self) -> bool:
        """Return whether the exact number is an integer."""
        return _side(self, _rounded("round", self)) == 0

    def __mod__(self, other: Any) -> Any:
        return _remainder(self, other)

    def __rmod__(self, other: Any) -> Any:
        return _remainder(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _turns(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _turns(other, self)


class Decider(Protocol):
    """A number system that decides on which side of a step an exact number lies."""

    def side(self, a: Exact, b: Exact) -> int:
        """Return 1, 0 or -1 if ``a`` is greater than, equal to or less than ``b``."""

    def to_integer(self, rounding: str, number: Exact) -> int:
        """Return a number rounded to an integer by the function of this name."""


_DECIDER: Final[ContextVar[Decider | None]] = ContextVar("decider", default=None)


@contextmanager
def deciding(decider: Decider) -> Iterator[None]:
    """Let a number system decide, in this block, about numbers that are no fractions;
    otherwise their floats do."""
    before = _DECIDER.set(decider)
    try:
        yield
    finally:
        _DECIDER.reset(before)


def _side(a: float, b: float) -> int | None:
    """Return the sign of ``a - b``; None if one of them is not finite."""
    x, y = exactly(a), exactly(b)
    decider = _DECIDER.get()
    if x is None or y is None or math.isnan(x) or math.isnan(y):
        return None
    if x.name == y.name == "number":
        (p, q), (r, s) = x.args, y.args
        gap = p * s - r * q
    elif decider is not None:
        return decider.side(x, y)
    else:
        gap = _in_floats(x) - _in_floats(y)
    return int(gap > 0) - int(gap < 0)


_ROUNDINGS: Final[dict[str, Callable[[Any], int]]] = {
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round,
}  # fmt: skip


def _rounded(rounding: str, number: float) -> int:
    found, decider = exactly(number), _DECIDER.get()
    rule = _ROUNDINGS[rounding]
    if found is not None and found.name == "number":
        return rule(Fraction(*found.args))
    if found is None or decider is None or not math.isfinite(float(number)):
        return rule(_in_floats(number))
    return decider.to_integer(rounding, found)


def _whole(number: int) -> Exact:
    return _exact_result(_nearest(number), "number", (number, 1))


def _nearest(p: int, q: int = 1) -> float:
    """Return the float nearest to a fraction with a positive denominator."""
    try:
        return p / q
    except OverflowError:
        return math.inf if p > 0 else -math.inf


def _over(x: Exact, y: Exact) -> float:
    near = float(y)
    return function("div", float(x) / near if near else math.inf, x, y)


def _turns(a: Any, b: Any) -> Any:
    """Return ``a // b``."""
    if not (is_plain(a) and is_plain(b)):
        return NotImplemented
    x, y = exactly(a), exactly(b)
    if x is None or y is None:
        return _in_floats(a) // _in_floats(b)
    if not y:
        raise ZeroDivisionError("float floor division by zero")
    return _whole(_rounded("floor", _over(x, y)))


def _exact_result(value: float, name: str, args: tuple[Any, ...]) -> Exact:
    made = Exact(value)
    made.name, made.args = name, args
    return made


def fraction(p: int, q: int = 1) -> Exact:
    """Return ``p / q`` for a positive ``q``."""
    shared = math.gcd(p, q)
    return _exact_result(_nearest(p, q), "number", (p // shared, q // shared))


def decimal(text: str) -> float:
    """Return the number that a decimal text stands for, with all its digits."""
    digits, _, power = text.replace("_", "").lower().partition("e")
    whole, _, part = digits.partition(".")
    tens = int(power or 0) - len(part)
    if abs(tens) > MAX_DECIMAL_EXPONENT:
        return float(text)
    p, q = int(whole + part) * 10 ** max(tens, 0), 10 ** max(-tens, 0)
    shared = math.gcd(p, q)
    return _exact_result(float(text), "number", (p // shared, q // shared))


def standing_for(element: object, value: float) -> Exact:
    """Return a float that stands for an element of a number system."""
    return _exact_result(value, "element", (element,))


def exactly(number: float) -> Exact | None:
    """Return a plain number as an `Exact`, with its shortest decimal for a float; None
    for an infinity or a NaN."""
    if isinstance(number, Exact):
        return number
    if isinstance(number, int):
        return _whole(int(number))
    found = decimal(repr(float(number))) if math.isfinite(number) else None
    return found if isinstance(found, Exact) else None


def function(name: str, value: float, *operands: float) -> float:
    """Return a scalar function of the table applied to plain numbers.

    Args:
        value: the result in floats.
    """
    args = [each for each in map(exactly, operands) if each is not None]
    if len(args) < len(operands):
        return value
    if all(each.name == "number" for each in args):
        fold = _FOLDED.get(name)
        found = fold(*[each.args for each in args]) if fold else None
        if found is not None:
            return _exact_result(value, "number", found)
    return _exact_result(value, name, tuple(args))


def _lowest(p: int, q: int) -> Ratio | None:
    shared = math.gcd(p, q)
    p, q = p // shared, q // shared
    return (p, q) if max(p.bit_length(), q.bit_length()) <= MAX_EXACT_BITS else None


def _quotient(a: Ratio, b: Ratio) -> Ratio | None:
    if not b[0]:
        return None
    p, q = a[0] * b[1], a[1] * b[0]
    return _lowest(-p, -q) if q < 0 else _lowest(p, q)


def _power(a: Ratio, b: Ratio) -> Ratio | None:
    """Return ``a**b`` if it is a fraction that is not too long, else None."""
    n, root = abs(b[0]), b[1]
    if (root > 1 and a[0] < 0) or not (a[0] or b[0] > 0):
        return None
    p, q = a if root == 1 else (_root(a[0], root), _root(a[1], root))
    if p is None or q is None:
        return None
    if max(p.bit_length(), q.bit_length()) * n > MAX_EXACT_BITS:
        return None
    return (p**n, q**n) if b[0] >= 0 else _quotient((1, 1), (p**n, q**n))


def _root(number: int, order: int) -> int | None:
    """Return the integer whose power of this order is ``number``, or None."""
    try:
        near = round(number ** (1 / order))
    except OverflowError:
        return None
    bounded = near.bit_length() * order <= 2 * MAX_EXACT_BITS
    return near if bounded and near**order == number else None


_FOLDED: Final[dict[str, Callable[..., Ratio | None]]] = {
    "add": lambda a, b: _lowest(a[0] * b[1] + b[0] * a[1], a[1] * b[1]),
    "sub": lambda a, b: _lowest(a[0] * b[1] - b[0] * a[1], a[1] * b[1]),
    "mul": lambda a, b: _lowest(a[0] * b[0], a[1] * b[1]),
    "div": _quotient,
    "pow": _power,
    "neg": lambda a: (-a[0], a[1]),
}
"""Operations on fractions by name; they return None if the result is no fraction or is
longer than `MAX_EXACT_BITS`."""


def is_plain(value: object) -> bool:
    """Return whether a value is a plain Python number, not a scalar with a dtype."""
    return isinstance(value, int | float) and not hasattr(value, "dtype")


def _operation(own: str, reflected: bool) -> Callable[[Exact, Any], Any]:
    name, plain = OPERATORS[own], BINARY[own]

    def run(self: Exact, other: Any) -> Any:
        if not is_plain(other):
            return NotImplemented
        pair = (other, self) if reflected else (self, other)
        value = plain(*map(_in_floats, pair))
        return function(name, value, *pair) if isinstance(value, float) else value

    return run


def _in_floats(number: float) -> float:
    return float(number) if isinstance(number, Exact) else number


def _remainder(a: Any, b: Any) -> Any:
    turns = _turns(a, b)
    if turns is NotImplemented:
        return turns
    x, y = _in_floats(a), _in_floats(b)
    if not isinstance(turns, Exact):
        return x % y
    taken = float(turns)
    value = x % y if y and x // y == taken else x - taken * y
    return function("sub", value, a, function("mul", taken * y, turns, b))


def _comparison(name: str) -> Callable[[Exact, Any], Any]:
    holds = getattr(operator, name)

    def run(self: Exact, other: Any) -> Any:
        if not is_plain(other):
            return NotImplemented
        side = _side(self, other)
        floats = _in_floats(self), _in_floats(other)
        return holds(*floats) if side is None else holds(side, 0)

    return run


for _own in COMPARISONS:
    setattr(Exact, f"__{_own}__", _comparison(_own))
for _own in BINARY:
    setattr(Exact, f"__{_own}__", _operation(_own, reflected=False))
    setattr(Exact, f"__r{_own}__", _operation(_own, reflected=True))

PI: Final = function("mul", math.pi, 4, function("atan", math.pi / 4, 1))
E: Final = function("exp", math.e, 1)


def logarithm(number: float) -> float:
    """Return the natural logarithm of a plain number."""
    return function("log", math.log(number), number)


def exact_for(x: Any, number: float) -> float:
    """Return ``number`` unchanged if ``x``, a namespace or a value, is symbolic, else
    as a float, since other types would change the dtype of arrays."""
    return number if _is_symbolic(x) else float(number)


def reciprocal(x: Any, number: float) -> float:
    """Return ``1 / number``, exact if ``x``, a namespace or a value, is symbolic."""
    return fraction(1) / number if _is_symbolic(x) else 1 / number


def _is_symbolic(x: Any) -> bool:
    return bool(getattr(x if hasattr(x, "symbolic") else x.xp, "symbolic", False))
