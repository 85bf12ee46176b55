"""Operators on plain Python numbers, whose results are bounded in size.

Division by zero gives the IEEE value (`1/0` is inf, `0/0` nan) and a note; a negative
number to the power of a fraction is nan. A result that would need more than 4096 bits
is refused before it is computed, such as `9**9**9`.

    binary("/", 1, 0, note)       # inf, and note("division by zero") was called
"""

import math
import operator
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import ProgramError
from .maxima import MAX_INTEGER_BITS

Number = int | float
Note = Callable[[str], None]
Value = TypeVar("Value")

NUMBERS = (int, float)

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

IN_PLACE: dict[str, Callable[[object, object], object]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "**": operator.ipow,
    "@": operator.imatmul,
}

SIGNS: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "+": operator.pos}


def binary(sign: str, left: Number, right: Number, note: Note) -> Number:
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
        return _BY_ZERO[sign](left, right)
    except OverflowError:
        return _overflowed(sign, left, right)
    if isinstance(result, complex):
        note("a negative number to the power of a fraction")
        return math.nan
    return bounded(result)


def bounded(result: Value) -> Value:
    """Return the result, or refuse an integer of more than `MAX_INTEGER_BITS` bits."""
    if isinstance(result, int) and result.bit_length() > MAX_INTEGER_BITS:
        raise _too_large()
    return result


def _too_large() -> ProgramError:
    message = f"an integer would have more than {MAX_INTEGER_BITS} bits"
    return ProgramError("E402", message, hint="compute with floats: 9.0 instead of 9")


def _divided_by_zero(left: Number, right: Number) -> float:
    if left == 0 or left != left:
        return math.nan
    negative = (left < 0) != (math.copysign(1.0, right) < 0)
    return -math.inf if negative else math.inf


def _zero_to_negative_power(base: Number, exponent: Number) -> float:
    odd = float(exponent).is_integer() and exponent % 2 == 1
    return math.copysign(math.inf, base) if odd else math.inf


_BY_ZERO: dict[str, Callable[[Number, Number], float]] = {
    "/": _divided_by_zero,
    "//": _divided_by_zero,
    "%": lambda left, right: math.nan,
    "**": _zero_to_negative_power,
}


def _overflowed(sign: str, left: Number, right: Number) -> float:
    if sign == "/":
        return -math.inf if (left < 0) != (right < 0) else math.inf
    if sign == "**" and isinstance(left, float):
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    message = f"an integer in '{sign}' is too large to become a float"
    raise ProgramError("E402", message, hint="compute with floats from the start")
