"""Dropout as modules.

Invariant: in evaluation a module gives its input back.

    Dropout(0.2)(x)         # in training 1/5 of the entries are 0
"""

from __future__ import annotations

from ..engine.tensor import Tensor
from . import functional as F
from .declare import Applied, attributes
from .functional.dropout import check_probability


class _DropoutNd(Applied):
    shown = "p={p}, inplace={inplace}"
    p: float
    inplace: bool

    @attributes
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        check_probability(p)

    def forward(self, input: Tensor) -> Tensor:
        out: Tensor = type(self).function(input, self.p, self.training, self.inplace)
        return out


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
