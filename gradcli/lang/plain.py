"""Plain Python numbers in programs: their operators, and functions such as `max`.

Division by zero gives the IEEE value (`1/0` is inf, `0/0` nan) and a note; a negative
number to the power of a fraction is nan. A result that would need more than 4096 bits
is refused before it is computed, such as `9**9**9`; the time and memory of functions
are limited for all numbers. The functions are called when every argument is a number or
a list of numbers; otherwise the library's function of the same name is called.

    binary("/", 1, 0, note)          # inf, and note("division by zero") was called
    FUNCTIONS["max"]([1, 3, 2])      # 3
"""

import math
import operator
from collections.abc import Callable
from types import EllipsisType, NoneType
from typing import Any, TypeVar

from ..ops.families import enters_none
from .errors import ProgramError
from .maxima import MAX_INTEGER_BITS, MAX_RANGE_ENTRIES, MAX_ROUND_DIGITS

Number = int | float
Note = Callable[[str], None]
Value = TypeVar("Value")

NUMBERS = (int, float)

_ARITHMETIC = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
}
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    sign: getattr(operator, name) for sign, name in (_ARITHMETIC | _COMPARISONS).items()
}
IN_PLACE: dict[str, Callable[[object, object], object]] = {
    sign: getattr(operator, f"i{name}") for sign, name in _ARITHMETIC.items()
}
SIGNS: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos}

_KIND_NAMES: dict[type, str] = {
    str: "a string",
    list: "a list",
    tuple: "a tuple",
    range: "a range",
    NoneType: "None",
    EllipsisType: "'...'",
    bool: "a truth value",
    int: "a number",
    float: "a number",
}


def described(value: object) -> str:
    """Return the kind of a value in words, such as "a list"."""
    for kind, words in _KIND_NAMES.items():
        if isinstance(value, kind):
            return words
    return f"a {type(value).__name__}"


def unnoted(text: str) -> None:
    """Ignore a note."""


def binary(sign: str, left: Number, right: Number, note: Note = unnoted) -> Number:
    """Return the value of `left sign right` for two plain numbers."""
    if sign == "@":
        message = "'@' multiplies matrices and vectors, not two numbers"
        raise ProgramError("E301", message, hint="write '*'")
    if sign == "**" and isinstance(left, int) and isinstance(right, int) and right > 0:
        least_bits = (left.bit_length() - 1) * right
        if least_bits > MAX_INTEGER_BITS:
            raise _too_large()
    try:
        result: Number | complex = OPERATORS[sign](left, right)
    except ZeroDivisionError:
        note("division by zero")
        return _by_zero(sign, left, right)
    except OverflowError:
        if sign == "/":
            return -math.inf if (left < 0) != (right < 0) else math.inf
        if sign == "**" and isinstance(left, float):
            return -math.inf if left < 0 and right % 2 == 1 else math.inf
        message = f"an integer in '{sign}' is too large to become a float"
        hint = "compute with floats from the start"
        raise ProgramError("E402", message, hint=hint) from None
    if isinstance(result, complex):
        note("a negative number to the power of a fraction")
        return math.nan
    return _bounded(result)


def _by_zero(sign: str, left: Number, right: Number) -> float:
    """Return the IEEE value of a division by zero, or of zero to a negative power."""
    if sign == "**":
        odd = float(right).is_integer() and right % 2 == 1
        return math.copysign(math.inf, left) if odd else math.inf
    if sign == "%" or left == 0 or left != left:
        return math.nan
    negative = (left < 0) != (math.copysign(1.0, right) < 0)
    return -math.inf if negative else math.inf


def _bounded(result: Value) -> Value:
    """Return the result, or refuse an integer of more than `MAX_INTEGER_BITS` bits."""
    if isinstance(result, int) and result.bit_length() > MAX_INTEGER_BITS:
        raise _too_large()
    return result


def _too_large() -> ProgramError:
    message = f"an integer would have more than {MAX_INTEGER_BITS} bits"
    return ProgramError("E402", message, hint="compute with floats: 9.0 instead of 9")


def is_plain(value: object) -> bool:
    """Return whether the value is a number, or a list, tuple or range of numbers."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(item, NUMBERS) for item in value)
    return isinstance(value, (*NUMBERS, range))


def whole_number(value: Any) -> int:
    """Return a value as an integer; refuse a value that is not whole."""
    try:
        return operator.index(value)
    except TypeError:
        number = value if isinstance(value, float) else float(value)
    if not number.is_integer():
        message = f"an integer is needed, not {number!r}"
        raise ProgramError("E307", message, hint="round it: int(...)")
    return _bounded(int(number))


def _range(*bounds: object) -> range:
    """Return a `range`; its bounds may be floats or tensors with integer values."""
    if not 1 <= len(bounds) <= 3:
        message = f"range takes one to three numbers, not {len(bounds)}"
        raise ProgramError("E302", message, hint="write range(stop)")
    numbers = [whole_number(bound) for bound in bounds]
    if len(numbers) == 3 and numbers[2] == 0:
        hint = "write 1, or -1 to count down"
        raise ProgramError("E302", "the step of a range cannot be 0", hint=hint)
    return range(*numbers)


def _limited(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the values; refuse a range of more than `MAX_RANGE_ENTRIES` numbers."""
    for value in values:
        if isinstance(value, range) and value[MAX_RANGE_ENTRIES:]:
            message = f"a range of more than {MAX_RANGE_ENTRIES:,} numbers"
            raise ProgramError("E404", message, hint="loop over it with 'for'")
    return values


def _integer(value: Number = 0) -> int:
    try:
        return int(value)
    except (ValueError, OverflowError):
        message = f"{value!r} cannot become an integer"
        raise ProgramError("E307", message) from None


def _float(value: Number = 0.0) -> float:
    try:
        return value if isinstance(value, float) else float(value)
    except OverflowError:
        message = "the integer is too large to become a float"
        raise ProgramError("E307", message) from None


def _sum(items: Any, start: Number = 0) -> Number:
    (items,) = _limited((items,))
    for item in items:
        start = binary("+", start, item)
    return start


def _round(value: Number, digits: int | None = None) -> Number:
    if digits is None:
        return _integer(round(value)) if value - value == 0 else value
    most = MAX_ROUND_DIGITS
    return round(value, max(-most, min(whole_number(digits), most)))


def _choose(n: Number, k: Number) -> object:
    """Return the binomial coefficient of small whole numbers, or NotImplemented."""
    whole = float(n).is_integer() and float(k).is_integer() and 0 <= k <= n
    fewer = min(k, n - k)
    if whole and fewer * n < MAX_INTEGER_BITS:
        return math.comb(int(n), int(fewer))
    return NotImplemented


def _factorial(n: Number) -> object:
    """Return the factorial of a small whole number, or NotImplemented."""
    small = 0 <= n < MAX_INTEGER_BITS and float(n).is_integer()
    if small and int(n).bit_length() * n < MAX_INTEGER_BITS:
        return math.factorial(int(n))
    return NotImplemented


FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": abs,
    **dict.fromkeys(("binom", "nCr"), _choose),
    "bool": bool,
    "factorial": _factorial,
    "float": _float,
    "int": _integer,
    "len": len,
    "max": lambda *values: max(*_limited(values)),
    "min": lambda *values: min(*_limited(values)),
    "pow": pow,
    "range": _range,
    "round": _round,
    "sum": _sum,
}
enters_none(FUNCTIONS)

CONVERSIONS: dict[str, Callable[..., object]] = {
    **{made.__name__: made for made in (abs, bool, float, int, len, round)},
    "range": _range,
}
"""Functions for other values, used if the library has none of the same name."""

_OPERATORS = {"pow": "**"}
"""Operators, by the functions that do the same."""

_USAGES = {
    "max": "max(a, b) or max([a, b])",
    "min": "min(a, b) or min([a, b])",
    "pow": "pow(x, n)",
    "round": "round(x) or round(x, digits)",
    "sum": "sum([a, b])",
}


def called(
    name: str, values: tuple[Any, ...], arithmetic: Callable[..., object]
) -> object:
    """Return the value of one of `FUNCTIONS` on numbers or lists of numbers, computed
    by ``arithmetic`` where it is an operator's; NotImplemented leaves it to the
    library.

    Raises:
        ProgramError: the function does not take these arguments.
    """
    try:
        if name in _OPERATORS:
            left, right = values
            return arithmetic(_OPERATORS[name], left, right)
        return FUNCTIONS[name](*values)
    except (TypeError, ValueError):
        kinds = [described(v) if v not in ([], ()) else "an empty list" for v in values]
        message = f"{name} does not take {', '.join(kinds)}"
        hint = f"write {_USAGES.get(name, f'{name}(x)')}"
        needs = message if values else f"{name} needs a value"
        raise ProgramError("E302", needs, hint=hint) from None
