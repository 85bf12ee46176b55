"""Normalising layers, dropout, and lookup tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.creation import ones, tensor, zeros
from ..engine.dtypes import int64
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .linear import sized
from .module import Module
from .parameter import Parameter


class LayerNorm(Module):
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes = (
            (normalized_shape,)
            if isinstance(normalized_shape, int)
            else normalized_shape
        )
        self.normalized_shape = tuple(sizes)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        made = sized(self.normalized_shape, device, dtype)
        self.register_parameter("weight", made if elementwise_affine else None)
        made = sized(self.normalized_shape, device, dtype)
        self.register_parameter("bias", made if elementwise_affine and bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        _begin(self)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps
        )

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


def _begin(module: Module) -> None:
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


class BatchNorm1d(Module):
    """Mean 0 and variance 1 per channel of an input (N, C) or (N, C, L).

    Args:
        num_features: the number of channels.
        eps: added to the variance.
        momentum: how far running statistics move towards a batch's; None: their
            average over all batches so far.
        affine: scale and shift by trained parameters afterwards.
        track_running_stats: keep statistics for evaluation.
        bias: shift as well as scale.
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        shape = (num_features,)
        weight = sized(shape, device, dtype) if affine else None
        shift = sized(shape, device, dtype) if affine and bias else None
        self.register_parameter("weight", weight)
        self.register_parameter("bias", shift)
        tracked: dict[str, Any] = dict.fromkeys(STATISTICS)
        if track_running_stats:
            tracked = {
                "running_mean": zeros(shape, device=device, dtype=dtype),
                "running_var": ones(shape, device=device, dtype=dtype),
                "num_batches_tracked": tensor(0, dtype=int64, device=device),
            }
        for name, statistic in tracked.items():
            self.register_buffer(name, statistic)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the batches seen so far."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the batches, set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        _begin(self)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.ndim}D input)")

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or self.running_mean is None
        tracks = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracks else None,
            self.running_var if tracks else None,
            self.weight, self.bias, by_batch, momentum, self.eps,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class Dropout(Module):
    """In training sets entries to 0 with probability p and scales the others."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(
                f"dropout probability has to be between 0 and 1, but got {p}"
            )
        self.p = p
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Embedding(Module):
    """A table of trained rows, looked up by whole numbers.

    Args:
        num_embeddings: the number of rows.
        embedding_dim: the length of a row.
        padding_idx: a row that begins as zeros and is not trained.
        max_norm: rows that are looked up and longer are shortened, in place.
        norm_type: the p of the norm for ``max_norm``.
        scale_grad_by_freq: divide a row's gradient by how often it is looked up.
        sparse: has to be False: there are no sparse gradients.
    """

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False,
        _weight: Tensor | None = None, _freeze: bool = False, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            self.weight = sized((num_embeddings, embedding_dim), device, dtype)
            self.weight.requires_grad_(not _freeze)
            self.reset_parameters()
        else:
            if tuple(_weight.shape) != (num_embeddings, embedding_dim):
                raise AssertionError(
                    "Shape of weight does not match num_embeddings and embedding_dim"
                )
            self.weight = Parameter(_weight, not _freeze)

    def reset_parameters(self) -> None:
        """Draw all rows from the standard normal distribution, but for the padding."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(
        cls, embeddings: Tensor, freeze: bool = True, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Embedding:  # fmt: skip
        """A table of given rows, not to be trained unless ``freeze`` is False."""
        if embeddings.ndim != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        count, length = embeddings.shape
        return cls(
            count, length, padding_idx, max_norm, norm_type, scale_grad_by_freq,
            sparse, _weight=embeddings, _freeze=freeze,
        )  # fmt: skip

    def forward(self, input: Tensor) -> Tensor:
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self) -> str:
        shown = [f"{self.num_embeddings}, {self.embedding_dim}"]
        usual = {
            "padding_idx": None, "max_norm": None, "norm_type": 2,
            "scale_grad_by_freq": False, "sparse": False,
        }  # fmt: skip
        for name, default in usual.items():
            value = getattr(self, name)
            if value is not default and value != default:
                shown.append(f"{name}={value}")
        return ", ".join(shown)
