"""The distance whose option has another name than its function's."""

from __future__ import annotations

from ..engine.tensor import Tensor
from . import functional as F
from .heads import head
from .module import Module


class PairwiseDistance(Module):
    """The norm of ``x1 - x2 + eps`` along the last dimension."""

    @head("p")
    def __init__(
        self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
    ) -> None:
        self.norm = p

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
