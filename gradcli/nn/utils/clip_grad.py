"""Gradients kept within bounds before an optimizer takes its step.

Invariant: gradients are changed in place and nothing is recorded.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable

from ...engine.creation import tensor
from ...engine.modes import no_grad
from ...engine.record import call
from ...engine.tensor import Tensor

ADDED_TO_TOTAL_NORM = 1e-6
"""What a norm is raised by before it is divided by."""


def _gradients(parameters: Tensor | Iterable[Tensor] | list[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def get_total_norm(
    tensors: Tensor | Iterable[Tensor], norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The norm of all tensors taken as one vector.

    Raises:
        RuntimeError: it is no finite number, where that was asked for.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    p = float(norm_type)
    with no_grad():
        if not given:
            return tensor(0.0)
        lengths = [call("linalg.vector_norm", each, p) for each in given]
        total: Tensor = call("linalg.vector_norm", call("stack", lengths), p)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise RuntimeError(
            f"The total norm of order {p} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor,
    foreach: bool | None = None,
) -> None:  # fmt: skip
    """Shorten all gradients, taken as one vector of norm ``total_norm``, to
    ``max_norm``."""
    with no_grad():
        factor = (float(max_norm) / (total_norm + ADDED_TO_TOTAL_NORM)).clamp(max=1.0)
        for gradient in _gradients(parameters):
            gradient.mul_(factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Shorten all gradients, taken as one vector, to ``max_norm``.

    Returns:
        The norm that they had.
    """
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """The older name of `clip_grad_norm_`."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite)


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float,
    foreach: bool | None = None,
) -> None:  # fmt: skip
    """Keep each entry of the gradients within ``clip_value`` of 0."""
    bound = float(clip_value)
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(-bound, bound)
