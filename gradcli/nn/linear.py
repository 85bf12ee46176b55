"""Layers that are linear in their input, lookup tables, and activations that are more
than a function and its options; for those see `table`.

Invariant: ``padding_idx`` is counted from the front; its row begins as zeros and is not
trained.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

from ..engine.creation import full
from ..engine.tensor import Tensor
from . import functional as F
from . import init
from .declare import applying, begin_weights, head, saying
from .module import Module
from .parameter import Parameter


class Identity(Module):
    """Gives its input back; takes and ignores any arguments."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class _Weighted(Module):
    """A layer of a weight and a bias, drawn within one over the root of the fan in."""

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        fan = math.prod(self.weight.shape[1:])
        if self.bias is not None:
            bound = 1 / math.sqrt(fan) if fan else 0
            init.uniform_(self.bias, -bound, bound)


class Linear(_Weighted):
    """``input @ weight.T + bias``; entries begin evenly within 1/sqrt(in_features)."""

    @head("bias")
    def __init__(
        self, in_features: int, out_features: int, bias: bool = True,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        weight, shift = (out_features, in_features), (out_features,) if bias else None
        begin_weights(self, device, dtype, weight=weight, bias=shift)

    forward = applying(F.linear)
    extra_repr = saying(
        "in_features={in_features}, out_features={out_features}, bias={bias}"
    )


class Bilinear(_Weighted):
    """``x1 @ weight[k] @ x2 + bias[k]`` for each output k."""

    @head("bias")
    def __init__(
        self, in1_features: int, in2_features: int, out_features: int,
        bias: bool = True, device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        shape, shift = (in1_features, in2_features), (out_features,) if bias else None
        begin_weights(self, device, dtype, weight=(out_features, *shape), bias=shift)

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


class Softmax2d(Module):
    """Softmax along the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        if input.ndim not in (3, 4):
            raise ValueError(f"Softmax2d takes 3D or 4D inputs, not {input.ndim}D")
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


T = TypeVar("T", bound="_TrainedRows")


class _TrainedRows(Module):
    """A table of trained rows."""

    weight: Parameter
    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _make(
        self, given: Tensor | None, trained: bool, device: object, dtype: object
    ) -> None:
        """Check the options, and make the rows, or take those that are given."""
        shape = count, _ = self.num_embeddings, self.embedding_dim
        if self.padding_idx is not None:
            inside = -count <= self.padding_idx < count
            assert inside, "padding_idx must be within num_embeddings"
            self.padding_idx %= count
        if given is None:
            begin_weights(self, device, dtype, weight=shape)
            self.weight.requires_grad_(trained)
        else:
            assert tuple(given.shape) == shape, f"weight has to have the shape {shape}"
            self.weight = Parameter(given, trained)

    def reset_parameters(self) -> None:
        """Draw all rows from the standard normal distribution, but for the padding."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(
        cls: type[T], embeddings: Tensor, freeze: bool = True, *options: Any,
        **named: Any,
    ) -> T:  # fmt: skip
        """Make a table of given rows, not to be trained unless ``freeze`` is False.

        Args:
            options, named: what the constructor takes after the sizes.
        """
        made = cls(*embeddings.shape, *options, _weight=embeddings, **named)
        made.weight.requires_grad_(not freeze)
        return made


class Embedding(_TrainedRows):
    """A table of trained rows, looked up by integers; the row of padding is zeros.

    The arguments are the number of rows and their length, and those of
    `functional.embedding`.
    """

    @head("_weight", "_freeze")
    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None,
        max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, sparse: bool = False,
        _weight: Tensor | None = None, _freeze: bool = False, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(_weight, not _freeze, device, dtype)

    forward = applying(F.embedding)
    extra_repr = saying(
        "{num_embeddings}, {embedding_dim}", padding_idx=None, max_norm=None,
        norm_type=2, scale_grad_by_freq=False, sparse=False,
    )  # fmt: skip


class EmbeddingBag(_TrainedRows):
    """A table of trained rows, looked up by integers and put together bag by bag.

    The arguments are the number of rows and their length, and those of
    `functional.embedding_bag`.
    """

    @head("_weight")
    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, mode: str = "mean",
        sparse: bool = False, _weight: Tensor | None = None,
        include_last_offset: bool = False, padding_idx: int | None = None,
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(_weight, True, device, dtype)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Look up bags; see `functional.embedding_bag` for their two forms."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights,
            self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        usual: dict[str, object] = {
            "max_norm": None,
            "norm_type": 2,
            "scale_grad_by_freq": False,
        }
        usual |= {"mode": ..., "padding_idx": None}
        values = {name: getattr(self, name) for name in usual}
        unusual = [f"{n}={v!r}" for n, v in values.items() if v != usual[n]]
        return ", ".join([f"{self.num_embeddings}, {self.embedding_dim}", *unusual])
