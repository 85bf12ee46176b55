"""Integers as rows of bits: ``& | ^ ~ << >>`` and their functions.

Invariant: the type of a result is that of arithmetic on the same operands; a number
beside a tensor is first cut to the tensor's type. A shift by a negative number, or by
more bits than there are, shifts everything out. No gradient passes.

    tensor([6, 5]) & 3          # tensor([2, 1])
    bitwise_left_shift(x, 1)
"""

from __future__ import annotations

from typing import Any

from ..ops.checks import broadcast_shape
from .dtypes import named
from .into import with_out
from .promote import result_of
from .record import function
from .tensor import Tensor, raw_of

Operand = Tensor | int | float

NO_BITS = "\"{name}_cpu\" not implemented for '{kind}'"


@with_out
def bitwise_and(input: Operand, other: Operand) -> Tensor:
    """Return the bits that are set in both integers."""
    return _combined("bitwise_and", "bitwise_and", input, other)


@with_out
def bitwise_or(input: Operand, other: Operand) -> Tensor:
    """Return the bits that are set in one integer or in both."""
    return _combined("bitwise_or", "bitwise_or", input, other)


@with_out
def bitwise_xor(input: Operand, other: Operand) -> Tensor:
    """Return the bits that are set in exactly one of two integers."""
    return _combined("bitwise_xor", "bitwise_xor", input, other)


@with_out
def bitwise_left_shift(input: Operand, other: Operand) -> Tensor:
    """Move the bits of integers up by ``other`` positions."""
    return _combined("lshift", "left_shift", input, other)


@with_out
def bitwise_right_shift(input: Operand, other: Operand) -> Tensor:
    """Move the bits of integers down by ``other`` positions; the sign stays."""
    return _combined("rshift", "right_shift", input, other)


@with_out
def bitwise_not(input: Tensor) -> Tensor:
    """Invert every bit; truth values are negated."""
    if input.raw.dtype.kind == "f":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type "
            "tensors"
        )
    if input.raw.dtype.kind == "b" or input.xp.symbolic:
        negated: Tensor = function("logical_not")(input)
        return negated
    return Tensor(input.xp.np.invert(input.raw), input.xp)


def _combined(name: str, ufunc: str, a: Operand, b: Operand) -> Tensor:
    """Combine the bits of two integers; truth values by logic, except in shifts."""
    tensors = [x for x in (a, b) if isinstance(x, Tensor)]
    symbolic = bool(tensors) and tensors[0].xp.symbolic
    if ufunc in LOGICAL and (symbolic or _common(name, a, b).kind == "b"):
        both: Tensor = function(LOGICAL[ufunc])(a, b)
        return both
    return of_whole_numbers(name, ufunc, a, b)


LOGICAL = {f"bitwise_{word}": f"logical_{word}" for word in ("and", "or", "xor")}


def _common(name: str, a: Operand, b: Operand) -> Any:
    """Return the type of the result for two integers or truth values.

    Raises:
        NotImplementedError: an operand is a float.
        TypeError: neither operand is a tensor.
    """
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        raise TypeError(f"{name}(): one of the operands has to be a tensor")
    result = result_of([raw_of(a), raw_of(b)])
    if result.kind == "f":
        raise _no_kernel(name, result)
    return result


def _no_kernel(name: str, result: Any) -> NotImplementedError:
    return NotImplementedError(
        NO_BITS.format(name=name, kind=named(result.name).legacy)
    )


def of_whole_numbers(name: str, ufunc: str, a: Operand, b: Operand) -> Tensor:
    """Run ``ufunc`` of the array module on integers; errors speak of ``name``.

    Raises:
        NotImplementedError: an operand is a float, or both are truth values.
        TypeError: neither operand is a tensor.
    """
    result = _common(name, a, b)
    if result.kind == "b":
        raise _no_kernel(name, result)
    xp = next(x.xp for x in (a, b) if isinstance(x, Tensor))
    cut = [xp.np.asarray(raw_of(x)).astype(result) for x in (a, b)]
    broadcast_shape(*[x.shape for x in cut])
    return Tensor(xp.np.asarray(getattr(xp.np, ufunc)(*cut)), xp)


OPERATORS = {
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "lshift": bitwise_left_shift,
    "rshift": bitwise_right_shift,
}
