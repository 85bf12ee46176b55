"""What PyTorch offers for complex tensors, of tensors that are all real.

Invariant: the conjugate and the real part of a real tensor are the tensor itself, not
a copy and no node; there is no imaginary part.
"""

from __future__ import annotations

from typing import Any

from .errors import EngineError
from .record import function
from .tensor import Tensor

__all__ = [
    "conj",
    "conj_physical",
    "imag",
    "is_complex",
    "is_conj",
    "is_neg",
    "isreal",
    "real",
    "resolve_conj",
    "resolve_neg",
]


def conj(input: Tensor) -> Tensor:
    """The complex conjugate: the tensor itself."""
    return input


def conj_physical(input: Tensor) -> Tensor:
    """The complex conjugate: the tensor itself."""
    return input


def resolve_conj(input: Tensor) -> Tensor:
    """The tensor itself; nothing is left to be conjugated."""
    return input


def resolve_neg(input: Tensor) -> Tensor:
    """The tensor itself; nothing is left to be negated."""
    return input


def real(input: Tensor) -> Tensor:
    """The real part: the tensor itself."""
    return input


def imag(input: Tensor) -> Any:
    """There is no imaginary part.

    Raises:
        EngineError: always.
    """
    raise EngineError("imag is not implemented for tensors with non-complex dtypes.")


def is_complex(input: Tensor) -> bool:
    """Whether its entries are complex numbers: no."""
    return False


def is_conj(input: Tensor) -> bool:
    """Whether a conjugation is left to be done: no."""
    return False


def is_neg(input: Tensor) -> bool:
    """Whether a negation is left to be done: no."""
    return False


def isreal(input: Tensor) -> Any:
    """Whether each entry is a real number: yes."""
    return function("ones_like")(input.detach()) > 0
