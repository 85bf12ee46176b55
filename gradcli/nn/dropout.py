"""Dropout as modules.

Invariant: in evaluation a module gives its input back.

    Dropout(0.2)(x)         # in training 1/5 of the entries are 0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ..engine.tensor import Tensor
from . import functional as F
from .functional.dropout import check_probability
from .module import Module


class _DropoutNd(Module):
    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        check_probability(p)
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return type(self).function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training sets entries to 0 with probability p and scales the others."""

    function = F.dropout


class Dropout1d(_DropoutNd):
    """In training sets whole channels of (N, C, L) to 0 and scales the others."""

    function = F.dropout1d


class Dropout2d(_DropoutNd):
    """In training sets whole channels of (N, C, H, W) to 0 and scales the others."""

    function = F.dropout2d


class Dropout3d(_DropoutNd):
    """In training sets whole channels of (N, C, D, H, W) to 0, scales the others."""

    function = F.dropout3d


class AlphaDropout(_DropoutNd):
    """Dropout after `SELU`, which keeps mean and variance."""

    function = F.alpha_dropout
