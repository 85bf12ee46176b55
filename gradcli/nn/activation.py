"""Activations that are more than a function and its options; for those see `table`."""

from __future__ import annotations

from ..engine.creation import full
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import applying, head, saying
from .module import Module
from .parameter import Parameter


class Softmax2d(Module):
    """Softmax along the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.ndim}D instead"
            )
        return F.softmax(input, -3)


class PReLU(Module):
    """A leaky rectifier whose slope is trained, one for all channels or one each."""

    @head()
    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self.weight = Parameter(
            full((num_parameters,), float(init), device=device, dtype=dtype)
        )

    def reset_parameters(self) -> None:
        """Set every slope to its initial value."""
        init.constant_(self.weight, self.init)

    forward = applying(F.prelu)
    extra_repr = saying("num_parameters={num_parameters}")
