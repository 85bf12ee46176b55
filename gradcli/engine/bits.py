"""Functions of integers: their bits, ``& | ^ ~ << >>``, and their divisors.

Invariant: the type of a result is that of arithmetic on the same operands; a number
beside a tensor is first cut to the tensor's type. A shift by a negative number, or by
more bits than there are, moves all bits out. No gradient passes.

    tensor([6, 5]) & 3          # tensor([2, 1])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.checks import broadcast_shape
from .dtypes import named as named_type
from .methods import named
from .promote import result_of
from .public import with_out
from .record import function
from .tensor import Tensor, raw_of

Operand = Tensor | int | float

UFUNCS = {
    "bitwise_and": ("bitwise_and", "the bits that are set in both integers"),
    "bitwise_or": ("bitwise_or", "the bits that are set in one integer or in both"),
    "bitwise_xor": ("bitwise_xor", "the bits that are set in exactly one integer"),
    "bitwise_left_shift": (
        "left_shift", "integers with their bits moved up by ``other`` positions",
    ),
    "bitwise_right_shift": (
        "right_shift", "integers with their bits moved down by ``other``; signs stay",
    ),
    "gcd": ("gcd", "the greatest common divisor, which is never negative"),
    "lcm": ("lcm", "the least common multiple, which is never negative"),
}  # fmt: skip
"""NumPy's name of each function of two integers, and what it returns."""


def _of_two(name: str) -> Callable[..., Tensor]:
    ufunc, what = UFUNCS[name]

    def run(input: Operand, other: Operand) -> Tensor:
        return _combined(name, ufunc, input, other)

    made: Callable[..., Tensor] = with_out(named(run, name, f"Return {what}."))
    return made


def _combined(name: str, ufunc: str, a: Operand, b: Operand) -> Tensor:
    """Return what the array module's ``ufunc`` gives for integers or truth values.

    Raises:
        NotImplementedError: an operand is a float, or the function takes no truths.
        TypeError: neither operand is a tensor.
    """
    xp = next((x.xp for x in (a, b) if isinstance(x, Tensor)), None)
    if xp is None:
        raise TypeError(f"{name}(): one of the operands has to be a tensor")
    result = result_of([raw_of(a), raw_of(b)])
    logical = name in LOGICAL
    if logical and (xp.symbolic or result.kind == "b"):
        both: Tensor = function(LOGICAL[name])(a, b)
        return both
    if result.kind in "fb":
        kernel = name.replace("bitwise_left_", "l").replace("bitwise_right_", "r")
        kind = named_type(result.name).legacy
        raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{kind}'")
    cut: list[Any] = [xp.np.asarray(raw_of(x)).astype(result) for x in (a, b)]
    broadcast_shape(*[x.shape for x in cut])
    return Tensor(xp.np.asarray(getattr(xp.np, ufunc)(*cut)), xp)


LOGICAL = {f"bitwise_{word}": f"logical_{word}" for word in ("and", "or", "xor")}

bitwise_and = _of_two("bitwise_and")
bitwise_or = _of_two("bitwise_or")
bitwise_xor = _of_two("bitwise_xor")
bitwise_left_shift = _of_two("bitwise_left_shift")
bitwise_right_shift = _of_two("bitwise_right_shift")
gcd = _of_two("gcd")
lcm = _of_two("lcm")


@with_out
def bitwise_not(input: Tensor) -> Tensor:
    """Return integers with every bit inverted; truth values are negated."""
    if input.raw.dtype.kind == "f":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type "
            "tensors"
        )
    if input.raw.dtype.kind == "b" or input.xp.symbolic:
        negated: Tensor = function("logical_not")(input)
        return negated
    return Tensor(input.xp.np.invert(input.raw), input.xp)


OPERATORS = {
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "lshift": bitwise_left_shift,
    "rshift": bitwise_right_shift,
}
"""Functions by the names of Python's operators."""
