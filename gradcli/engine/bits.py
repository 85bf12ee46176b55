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
from .promote import result_of
from .record import function
from .tensor import Tensor, raw_of

Operand = Tensor | int | float

NO_BITS = "\"{name}_cpu\" not implemented for '{kind}'"


def bitwise_and(input: Operand, other: Operand) -> Tensor:
    """The bits that are set in both."""
    return _combined("bitwise_and", "bitwise_and", input, other)


def bitwise_or(input: Operand, other: Operand) -> Tensor:
    """The bits that are set in one or both."""
    return _combined("bitwise_or", "bitwise_or", input, other)


def bitwise_xor(input: Operand, other: Operand) -> Tensor:
    """The bits that are set in exactly one."""
    return _combined("bitwise_xor", "bitwise_xor", input, other)


def bitwise_left_shift(input: Operand, other: Operand) -> Tensor:
    """The bits moved up by so many places."""
    return _combined("lshift", "left_shift", input, other)


def bitwise_right_shift(input: Operand, other: Operand) -> Tensor:
    """The bits moved down by so many places; the sign stays."""
    return _combined("rshift", "right_shift", input, other)


def bitwise_not(input: Tensor) -> Tensor:
    """All bits turned over; of truth values the opposite."""
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
    """What is made of the bits of two; of truth values it is logic, except shifts."""
    tensors = [x for x in (a, b) if isinstance(x, Tensor)]
    symbolic = bool(tensors) and tensors[0].xp.symbolic
    if ufunc in LOGICAL and (symbolic or _common(name, a, b).kind == "b"):
        both: Tensor = function(LOGICAL[ufunc])(a, b)
        return both
    return of_whole_numbers(name, ufunc, a, b)


LOGICAL = {f"bitwise_{word}": f"logical_{word}" for word in ("and", "or", "xor")}


def _common(name: str, a: Operand, b: Operand) -> Any:
    """The type of what is made of two integers or truth values.

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
    """``ufunc`` of the array module; errors call it by PyTorch's ``name``.

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
