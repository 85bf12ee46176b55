"""What PyTorch offers for complex tensors, of tensors that are all real.

Invariant: the conjugate and the real part of a real tensor are the tensor itself, not
a copy and no node; there is no imaginary part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import EngineError
from .into import with_out
from .methods import named
from .record import function
from .tensor import Tensor


def _itself(name: str, doc: str) -> Callable[[Tensor], Tensor]:
    """The function of a name that gives its operand back."""

    def run(input: Tensor) -> Tensor:
        return input

    found: Callable[[Tensor], Tensor] = named(run, name, doc)
    return found


def _never(name: str, doc: str) -> Callable[[Tensor], bool]:
    """The question of a name that is answered no."""

    def run(input: Tensor) -> bool:
        return False

    found: Callable[[Tensor], bool] = named(run, name, doc)
    return found


conj = _itself("conj", "The complex conjugate: the tensor itself.")
conj_physical = with_out(
    _itself("conj_physical", "The complex conjugate: the tensor itself.")
)
resolve_conj = _itself("resolve_conj", "The tensor itself; nothing is conjugated.")
resolve_neg = _itself("resolve_neg", "The tensor itself; nothing is negated.")
real = _itself("real", "The real part: the tensor itself.")
is_complex = _never("is_complex", "Whether its entries are complex numbers: no.")
is_conj = _never("is_conj", "Whether a conjugation is left to be done: no.")
is_neg = _never("is_neg", "Whether a negation is left to be done: no.")


def imag(input: Tensor) -> Any:
    """There is no imaginary part.

    Raises:
        EngineError: always.
    """
    raise EngineError("imag is not implemented for tensors with non-complex dtypes.")


def isreal(input: Tensor) -> Any:
    """Whether each entry is a real number: yes."""
    return function("ones_like")(input.detach()) > 0
