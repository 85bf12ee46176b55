"""Layers that are linear in their input."""

from __future__ import annotations

import math

from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import add_parameters, applying, head, saying
from .module import Module


class Identity(Module):
    """Gives its input back; takes and ignores any arguments."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """``input @ weight.T + bias``; entries begin evenly within 1/sqrt(in_features)."""

    @head("bias")
    def __init__(
        self, in_features: int, out_features: int, bias: bool = True,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        add_parameters(
            self, device, dtype, weight=(out_features, in_features),
            bias=(out_features,) if bias else None,
        )  # fmt: skip
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
            init.uniform_(self.bias, -bound, bound)

    forward = applying(F.linear)
    extra_repr = saying(
        "in_features={in_features}, out_features={out_features}, bias={bias}"
    )


class Bilinear(Module):
    """``x1 @ weight[k] @ x2 + bias[k]`` for each output k."""

    @head("bias")
    def __init__(
        self, in1_features: int, in2_features: int, out_features: int,
        bias: bool = True, device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        add_parameters(
            self, device, dtype, weight=(out_features, in1_features, in2_features),
            bias=(out_features,) if bias else None,
        )  # fmt: skip
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        bound = 1 / math.sqrt(self.in1_features)
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    forward = applying(F.bilinear, 2)
    extra_repr = saying(
        "in1_features={in1_features}, in2_features={in2_features}, "
        "out_features={out_features}, bias={bias}"
    )
