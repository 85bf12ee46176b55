"""Losses as modules.

Invariant: a module keeps its function's parameters; weights are buffers, so that they
move with the module and are part of its state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.tensor import Tensor
from . import functional as F
from .functional.losses import Flag, reduction_of
from .module import Module


class _Loss(Module):
    """A loss of an input and its target, by the function of the same meaning.

    ``options`` names the attributes that the function takes beside the two.
    """

    function: ClassVar[Callable[..., Tensor]]
    options: ClassVar[tuple[str, ...]] = ("reduction",)
    reduction: str

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        given = {name: getattr(self, name) for name in self.options}
        return type(self).function(input, target, **given)


class _WeightedLoss(_Loss):
    """A loss whose entries or classes count by a weight."""

    options: ClassVar[tuple[str, ...]] = ("weight", "reduction")

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None,
        reduce: Flag = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class MSELoss(_Loss):
    """Mean squared error."""

    function = F.mse_loss


class L1Loss(_Loss):
    """Mean absolute error."""

    function = F.l1_loss


class SoftMarginLoss(_Loss):
    """Logistic loss for targets 1 and -1."""

    function = F.soft_margin_loss


class SmoothL1Loss(_Loss):
    """Squared error near the target, absolute error further than ``beta`` from it."""

    function = F.smooth_l1_loss
    options: ClassVar[tuple[str, ...]] = ("reduction", "beta")

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Loss):
    """Half the squared error near the target, absolute error away from it."""

    function = F.huber_loss
    options: ClassVar[tuple[str, ...]] = ("reduction", "delta")

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities and their targets."""

    function = F.binary_cross_entropy


class BCEWithLogitsLoss(_WeightedLoss):
    """Cross entropy of logits and their targets, without overflow."""

    function = F.binary_cross_entropy_with_logits
    options: ClassVar[tuple[str, ...]] = ("weight", "reduction", "pos_weight")

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None,
        reduce: Flag = None, reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)


class NLLLoss(_WeightedLoss):
    """Negative log likelihood of the target classes."""

    function = F.nll_loss
    options: ClassVar[tuple[str, ...]] = ("weight", "ignore_index", "reduction")

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None,
        ignore_index: int = -100, reduce: Flag = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class CrossEntropyLoss(NLLLoss):
    """Cross entropy of scores and classes, or of scores and probabilities."""

    function = F.cross_entropy
    options: ClassVar[tuple[str, ...]] = (
        "weight",
        "ignore_index",
        "reduction",
        "label_smoothing",
    )

    def __init__(
        self, weight: Tensor | None = None, size_average: Flag = None,
        ignore_index: int = -100, reduce: Flag = None, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, ignore_index, reduce, reduction)
        self.label_smoothing = label_smoothing


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of log probabilities from a target."""

    function = F.kl_div
    options: ClassVar[tuple[str, ...]] = ("reduction", "log_target")

    def __init__(
        self, size_average: Flag = None, reduce: Flag = None, reduction: str = "mean",
        log_target: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class PoissonNLLLoss(_Loss):
    """Negative log likelihood of counts."""

    function = F.poisson_nll_loss
    options: ClassVar[tuple[str, ...]] = ("log_input", "full", "eps", "reduction")

    def __init__(
        self, log_input: bool = True, full: bool = False, size_average: Flag = None,
        eps: float = 1e-8, reduce: Flag = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps


class GaussianNLLLoss(_Loss):
    """Negative log likelihood of normal observations."""

    function = F.gaussian_nll_loss
    options: ClassVar[tuple[str, ...]] = ("full", "eps", "reduction")

    def __init__(
        self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:  # type: ignore[override]
        return F.gaussian_nll_loss(
            input, target, var, self.full, self.eps, self.reduction
        )


class HingeEmbeddingLoss(_Loss):
    """Loss of distances that are to be small (1) or large (-1)."""

    function = F.hinge_embedding_loss
    options: ClassVar[tuple[str, ...]] = ("margin", "reduction")

    def __init__(
        self, margin: float = 1.0, size_average: Flag = None, reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_Loss):
    """Loss of pairs that stand in the wrong order."""

    function = F.margin_ranking_loss

    def __init__(
        self, margin: float = 0.0, size_average: Flag = None, reduce: Flag = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:  # type: ignore[override]
        return F.margin_ranking_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )
