"""Losses that have trained weights of their own.

Invariant: a loss of many classes is the one that all classes' scores would give.

    LinearCrossEntropyLoss(8, 100)(x, target)
    AdaptiveLogSoftmaxWithLoss(8, 1000, [100, 500])(x, target).loss
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

from ..engine.tensor import Tensor
from . import functional as F
from .containers import ModuleList, Sequential
from .families import _WeightedLoss
from .functional.shared import run
from .linear import Linear
from .module import Module


class LinearCrossEntropyLoss(_WeightedLoss):
    """The cross entropy of a linear layer's scores.

    Args:
        in_features: the length of an item.
        num_classes: how many classes.
        out_features: further sizes of the target.
        bias: whether the layer has a bias.
        reduction: "none", "mean" or "sum".
        weight: what each class counts.
        ignore_index: targets that do not count; None: -100.
        label_smoothing: how much all classes count alike.
        options: has to be None: scores are computed at once, never in parts.
    """

    linear: Linear
    options: Any  # type: ignore[misc]  # PyTorch's name of it

    def __init__(
        self, in_features: int, num_classes: int, *,
        out_features: tuple[int, ...] = (), bias: bool = False, device: object = None,
        dtype: object = None, reduction: str = "mean", weight: Tensor | None = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0,
        options: object = None,
    ) -> None:  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got "
                f"{tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        count = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, count, bias, device, dtype)
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        outer, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*outer, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(outer),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        layer = self.linear
        return (
            f"in_features={layer.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={layer.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


class _ASMoutput(NamedTuple):
    """The logarithm of each item's probability, and the loss."""

    output: Tensor
    loss: Tensor


# Grave et al. 2017, arXiv:1609.04309.
class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of many classes, of which the frequent ones come first.

    The others lie in clusters, which have a score of their own among the frequent
    classes and projections that are the shorter, the rarer their classes are.

    Args:
        in_features: the length of an item.
        n_classes: how many classes.
        cutoffs: where each cluster begins.
        div_value: by how much projections become shorter from cluster to cluster.
        head_bias: whether the scores of frequent classes have a bias.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int],
        div_value: float = 4.0, head_bias: bool = False, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        super().__init__()
        ends = list(cutoffs)
        if not ends:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        rising = all(a < b for a, b in pairwise(ends))
        whole = all(int(c) == c for c in ends)
        if not (rising and whole and ends[0] > 0 and ends[-1] < n_classes):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in "
                "an increasing order, where each value is between 1 and n_classes-1"
            )
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*ends, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = ends[0]
        self.n_clusters = len(ends)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device, dtype)
        self.tail = ModuleList()
        for nr, (begin, end) in enumerate(pairwise(self.cutoffs), start=1):
            length = int(in_features // div_value**nr)
            first = Linear(in_features, length, False, device, dtype)
            second = Linear(length, end - begin, False, device, dtype)
            self.tail.append(Sequential(first, second))

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for projection in cast("Any", self.tail):
            for layer in projection:
                layer.reset_parameters()

    def forward(self, input_: Tensor, target_: Tensor) -> _ASMoutput:
        """The log probabilities of the targets, and minus their mean."""
        _check_target(input_, target_)
        batched = target_.ndim > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        classes = target.tolist()
        if not all(0 <= at < self.n_classes for at in classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in "
                f"range [{min(classes)}, {max(classes)}] were found. "
            )
        output = run("new_zeros", input, (len(classes),))
        heads = [at if at < self.shortlist_size else -1 for at in classes]
        for nr, (begin, end) in enumerate(pairwise(self.cutoffs)):
            rows = [i for i, at in enumerate(classes) if begin <= at < end]
            if not rows:
                continue
            places = _positions(target, rows)
            scores = self.tail[nr](run("index_select", input, 0, places))
            own = _positions(target, [classes[i] - begin for i in rows])
            found = F.log_softmax(scores, dim=1).gather(1, own.unsqueeze(1))
            output = run("index_copy", output, 0, places, found.squeeze(1))
            for i in rows:
                heads[i] = self.shortlist_size + nr
        chances = F.log_softmax(self.head(input), dim=1)
        at = _positions(target, heads).unsqueeze(1)
        output = output + chances.gather(1, at).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input: Tensor) -> Tensor:
        """The logarithms of the probabilities of all classes, (N, n_classes)."""
        return self._of_all(input, self.head(input))

    def _of_all(self, input: Tensor, scores: Tensor) -> Tensor:
        first = F.log_softmax(scores, dim=1)
        out = run("new_zeros", input, (scores.shape[0], self.n_classes))
        out[:, : self.shortlist_size] = first[:, : self.shortlist_size]
        for nr, (begin, end) in enumerate(pairwise(self.cutoffs)):
            own = F.log_softmax(self.tail[nr](input), dim=1)
            chance = first[:, self.shortlist_size + nr].unsqueeze(1)
            out[:, begin:end] = own + chance
        return out

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class of each item."""
        return self.log_prob(input).argmax(dim=1)


def _positions(like: Tensor, numbers: Sequence[int]) -> Tensor:
    return like.new_tensor(list(numbers))


def _check_target(input: Tensor, target: Tensor) -> None:
    if target.ndim == 1:
        if input.shape[0] != target.shape[0]:
            raise RuntimeError(
                "Input and target should have the same size in the batch dimension."
            )
        if input.ndim != 2:
            raise RuntimeError(
                "1D target tensor expects 2D input tensors, but found inputs with size "
                f"{input.size()}"
            )
    elif target.ndim:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported"
        )
    elif input.ndim != 1:
        raise RuntimeError(
            "0D target tensor expects 1D input tensors, but found inputs with size "
            f"{input.size()}"
        )
