"""Gradients kept within bounds before an optimizer takes its step.

Invariant: gradients are changed in place and nothing is recorded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...engine.creation import tensor
from ...engine.modes import RecordingOff
from ...engine.tensor import Tensor
from ..functional.declare import run

ADDED_TO_TOTAL_NORM = 1e-6
"""The number that a norm is raised by before it is divided by."""


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0,
    error_if_nonfinite: bool = False, foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Shorten all gradients, taken as one vector, to ``max_norm``.

    Returns:
        The norm that they had.

    Raises:
        RuntimeError: it is no finite number, where that was asked for.
    """
    gradients, p = _gradients(parameters), float(norm_type)
    with RecordingOff():
        if not gradients:
            return tensor(0.0)
        lengths = [run("linalg.vector_norm", each, p) for each in gradients]
        total = run("linalg.vector_norm", run("stack", lengths), p)
        if error_if_nonfinite and not math.isfinite(float(total)):
            raise RuntimeError("the norm is non-finite, so it cannot be clipped")
        factor = (float(max_norm) / (total + ADDED_TO_TOTAL_NORM)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float,
    foreach: bool | None = None,
) -> None:  # fmt: skip
    """Keep each entry of the gradients within ``clip_value`` of 0."""
    bound = float(clip_value)
    with RecordingOff():
        for gradient in _gradients(parameters):
            gradient.clamp_(-bound, bound)
