"""PyTorch's questions about complex tensors, of tensors that are all real.

Invariant: the conjugate and the real part of a real tensor are the tensor itself, not
a copy and no node; there is no imaginary part.
"""

from __future__ import annotations

from typing import Any

from .errors import EngineError
from .tensor import Tensor


def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate: the tensor itself."""
    return input


def real(input: Tensor) -> Tensor:
    """Return the real part: the tensor itself."""
    return input


def imag(input: Tensor) -> Any:
    """Refuse to return the imaginary part: there is none.

    Raises:
        EngineError: always.
    """
    raise EngineError("imag is not implemented for tensors with non-complex dtypes.")


def is_complex(input: Tensor) -> bool:
    """Tell whether its entries are complex numbers: no."""
    return False
