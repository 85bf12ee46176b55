"""Whole numbers as rows of bits: ``& | ^ ~ << >>`` and their functions.

Invariant: the type of a result is that of arithmetic on the same operands; a number
beside a tensor is first cut to the tensor's type. A shift by a negative number, or by
more bits than there are, shifts everything out. No gradient passes.

    tensor([6, 5]) & 3          # tensor([2, 1])
    bitwise_left_shift(x, 1)
"""

from __future__ import annotations

from typing import Any

from ..ops.checks import broadcast_shape
from .dtypes import of
from .fast import operand
from .promote import result_of
from .record import function
from .tensor import Tensor

__all__ = [
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
]

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
    """``ufunc`` of the array module; errors call it by PyTorch's ``name``.

    Raises:
        NotImplementedError: an operand is a float, or truth values are shifted.
        TypeError: neither operand is a tensor.
    """
    tensors = [x for x in (a, b) if isinstance(x, Tensor)]
    if not tensors:
        raise TypeError(f"{name}(): one of the operands has to be a tensor")
    xp = tensors[0].xp
    raw = [x.raw if isinstance(x, Tensor) else x for x in (a, b)]
    result = result_of(raw)
    shifts = ufunc.endswith("shift")
    if result.kind == "f" or (shifts and result.kind == "b"):
        kind = of(xp.np.empty((), result)).legacy
        raise NotImplementedError(NO_BITS.format(name=name, kind=kind))
    if result.kind == "b" or xp.symbolic:
        both: Tensor = function(f"logical_{name.removeprefix('bitwise_')}")(a, b)
        return both
    cut = [xp.np.asarray(x).astype(result) for x in raw]
    broadcast_shape(*[x.shape for x in cut])
    return Tensor(xp.np.asarray(getattr(xp.np, ufunc)(*cut)), xp)


OPERATORS = {
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "lshift": bitwise_left_shift,
    "rshift": bitwise_right_shift,
}


def operator(name: str, reflected: bool = False) -> Any:
    """The operator of a name in `OPERATORS`."""
    combine = OPERATORS[name]

    def run(x: Tensor, other: Any) -> Any:
        y = operand(other)
        if y is NotImplemented:
            return y
        return combine(y, x) if reflected else combine(x, y)

    return run
