"""Python's own functions on plain numbers, such as `len`, `range`, `int` and `max`.

They are called when every argument is a number or a list of numbers; otherwise the
library's function of the same name is called. Their time and memory are limited for
all numbers.

    FUNCTIONS["max"]([1, 3, 2])      # 3
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from .arithmetic import NUMBERS, Number, binary, bounded
from .errors import ProgramError
from .frame import described
from .maxima import MAX_INTEGER_BITS, MAX_RANGE_ENTRIES, MAX_ROUND_DIGITS


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
        number = float(value)
    if not number.is_integer():
        message = f"an integer is needed, not {number!r}"
        raise ProgramError("E307", message, hint="round it: int(...)")
    return bounded(int(number))


def make_range(*bounds: object) -> range:
    """Return a `range`; its bounds may be floats or tensors with integer values."""
    if not 1 <= len(bounds) <= 3:
        message = f"range takes one to three numbers, not {len(bounds)}"
        raise ProgramError("E302", message, hint="write range(stop)")
    numbers = [whole_number(bound) for bound in bounds]
    if len(numbers) == 3 and numbers[2] == 0:
        hint = "write 1, or -1 to count down"
        raise ProgramError("E302", "the step of a range cannot be 0", hint=hint)
    return range(*numbers)


def _limited(values: tuple[object, ...]) -> tuple[Any, ...]:
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


def _sum(items: Any, start: Number = 0) -> float:
    (items,) = _limited((items,))
    total = start
    for item in items:
        total = binary("+", total, item, _unnoted)
    return total


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


def _unnoted(text: str) -> None:
    pass


def called(
    name: str, values: tuple[Any, ...], arithmetic: Callable[..., object] = binary
) -> object:
    """Return the value of one of `FUNCTIONS`; NotImplemented leaves it to the library.

    Args:
        name: the function's name.
        values: its arguments, numbers or lists of numbers.
        arithmetic: applies an operator to two numbers.

    Raises:
        ProgramError: the function does not take these arguments.
    """
    try:
        if name in _OPERATORS:
            left, right = values
            return arithmetic(_OPERATORS[name], left, right, _unnoted)
        return FUNCTIONS[name](*values)
    except (TypeError, ValueError):
        message = f"{name} does not take {', '.join(map(_described, values))}"
        hint = f"write {_USAGES.get(name, f'{name}(x)')}"
        needs = message if values else f"{name} needs a value"
        raise ProgramError("E302", needs, hint=hint) from None


def _described(value: object) -> str:
    empty = isinstance(value, list | tuple) and not value
    return "an empty list" if empty else described(value)


_USAGES = {
    "max": "max(a, b) or max([a, b])",
    "min": "min(a, b) or min([a, b])",
    "pow": "pow(x, n)",
    "round": "round(x) or round(x, digits)",
    "sum": "sum([a, b])",
}

_OPERATORS = {"pow": "**"}
"""Operators, by the functions that do the same."""

FUNCTIONS: dict[str, Callable[..., object]] = {
    "abs": abs,
    "bool": bool,
    "float": _float,
    "int": _integer,
    "len": len,
    "max": lambda *values: max(*_limited(values)),
    "nCr": _choose,
    "min": lambda *values: min(*_limited(values)),
    "pow": pow,
    "range": make_range,
    "round": _round,
    "sum": _sum,
}

# Functions for other values, used if the library has none of the same name.
CONVERSIONS: dict[str, Callable[..., object]] = {
    **{made.__name__: made for made in (abs, bool, float, int, len, round)},
    "range": make_range,
}
