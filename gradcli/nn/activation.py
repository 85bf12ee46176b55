"""Activations that are more than a function and its options; for those see `table`."""

from __future__ import annotations

import warnings

from ..engine.creation import full
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .heads import applying, head, saying
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


class Hardtanh(Module):
    """The input, kept between two bounds."""

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
        min_value: float | None = None, max_value: float | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        for older, newer, given in (
            ("min_value", "min_val", min_value), ("max_value", "max_val", max_value),
        ):  # fmt: skip
            if given is not None:
                words = f"keyword argument `{older}` is deprecated and renamed to"
                warnings.warn(f"{words} `{newer}`", FutureWarning, stacklevel=2)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(
                f"max_val ({self.max_val}) must be greater than min_val "
                f"({self.min_val})"
            )

    forward = applying(F.hardtanh)
    extra_repr = saying("min_val={min_val}, max_val={max_val}", inplace=False)


class ReLU6(Hardtanh):
    """``min(max(0, input), 6)``."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    extra_repr = saying("", inplace=False)


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
