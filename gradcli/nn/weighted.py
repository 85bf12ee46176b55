"""Layers that have weights: linear ones, lookup tables, convolutions, normalisations.
Activations that are more than a function and its options are here, too; for the others
see `table`.

Invariant: ``padding_idx`` is counted from the front; its row begins as zeros and is not
trained. ``kernel_size``, ``stride``, ``padding``, ``dilation`` and ``output_padding``
are tuples with one entry per spatial dimension; a padding may be the word "same" or
"valid" instead. Weights of normalisations begin as ones and biases as zeros. Over a
batch, its own statistics are used in training, and running ones, if there are any,
follow them; in evaluation the running ones are used.

    Conv2d(3, 6, kernel_size=5)(images)         # (N, 3, H, W) -> (N, 6, H - 4, W - 4)
    BatchNorm2d(3)(images)                      # (N, 3, H, W)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar, cast

from ..engine.dtypes import int64
from ..engine.modes import RecordingOff
from ..engine.tensor import Tensor
from ..torch.creation import full, ones, tensor, zeros
from . import functional as F
from . import init
from .declare import Sizes, applying, begin_weights, each, head, saying
from .module import Module
from .parameter import Parameter

MODES = ("zeros", "reflect", "replicate", "circular")


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
        """Draw all rows from the standard normal distribution, except the padding."""
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


class _ConvNd(_Weighted):
    """The sizes, the weight and the bias that all convolutions have."""

    rank: ClassVar[int]
    transposed: ClassVar[bool] = False
    function: ClassVar[Callable[..., Tensor]]
    padding: tuple[int, ...] | str
    output_padding: Any = 0

    def _make(self, bias: bool, device: object, dtype: object) -> None:
        """Check the options, and make the weight and the bias that they ask for."""
        _check(self)
        for name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            if not isinstance(getattr(self, name), str):
                setattr(self, name, each(getattr(self, name), self.rank))
        outer, inner = self.out_channels, self.in_channels
        if self.transposed:
            outer, inner = inner, outer
        shape = (outer, inner // self.groups, *self.kernel_size)
        shift = (self.out_channels,) if bias else None
        begin_weights(self, device, dtype, weight=shape, bias=shift)

    extra_repr = saying(
        "{in_channels}, {out_channels}, kernel_size={kernel_size}, stride={stride}",
        padding=0, dilation=1, output_padding=0, groups=1, bias=True,
        padding_mode="zeros",
    )  # fmt: skip


def _check(layer: _ConvNd) -> None:
    """Raise ValueError for options that contradict each other."""
    groups, padding, mode = layer.groups, layer.padding, layer.padding_mode
    if groups <= 0 or layer.in_channels % groups or layer.out_channels % groups:
        raise ValueError(
            "in_channels and out_channels must be multiples of groups, which is above 0"
        )
    if padding == "same" and set(each(layer.stride, 1)) != {1}:
        raise ValueError("padding='same' is not supported for strided convolutions")
    if isinstance(padding, str) and padding not in ("valid", "same"):
        raise ValueError(f"padding is a number, 'valid' or 'same', not {padding!r}")
    modes = ("zeros",) if layer.transposed else MODES
    if mode not in modes:
        raise ValueError(f"padding_mode must be one of {modes}, but got {mode!r}")


class _Conv(_ConvNd):
    """A convolution.

    Args:
        padding: how much is added at every side; "same": so much that the size is kept;
            "valid": nothing.
        dilation: how far one entry of a window is from the next.
        groups: channels are divided into this many groups that do not mix.
        padding_mode: what is added: "zeros", or entries from inside: "reflect",
            "replicate" or "circular", as `functional.pad` has them.
    """

    @head("bias")
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes,
        stride: Sizes = 1, padding: Sizes | str = 0, dilation: Sizes = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        padding: tuple[int, ...] | str = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._borders(), mode=self.padding_mode)
            padding = (0,) * self.rank
        return type(self).function(
            input, self.weight, self.bias, self.stride, padding, self.dilation,
            self.groups,
        )  # fmt: skip

    def _borders(self) -> list[int]:
        """How much is added before and behind each dimension, the last one first."""
        if self.padding == "same":
            spans = zip(self.dilation, self.kernel_size, strict=True)
            both = [divmod(d * (k - 1), 2) for d, k in spans]
            pairs = [(half, half + odd) for half, odd in both]
        elif isinstance(self.padding, str):
            pairs = [(0, 0)] * self.rank
        else:
            pairs = [(p, p) for p in self.padding]
        return [n for pair in reversed(pairs) for n in pair]


class _ConvTransposeNd(_ConvNd):
    """The transpose of a convolution, which spreads each entry over a window.

    Args:
        padding: how much is cut off at every side.
        output_padding: how much is added at the far end, to choose among the sizes
            that the convolution takes to one.

    The other arguments are those of a convolution.
    """

    transposed = True

    @head("bias")
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Sizes,
        stride: Sizes = 1, padding: Sizes = 0, output_padding: Sizes = 0,
        groups: int = 1, bias: bool = True, dilation: Sizes = 1,
        padding_mode: str = "zeros", device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(
        self, input: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """Apply it; ``output_size`` chooses the spatial sizes of the result."""
        extra = self.output_padding
        if output_size is not None:
            extra = self._extra(input, tuple(output_size)[-self.rank :])
        return type(self).function(
            input, self.weight, self.bias, self.stride, self.padding, extra,
            self.groups, self.dilation,
        )  # fmt: skip

    def _extra(self, input: Tensor, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """Compute the output padding that gives the wanted sizes."""
        sizes, padding = tuple(input.shape)[-self.rank :], cast("Any", self.padding)
        spans = zip(
            sizes, self.stride, padding, self.dilation, self.kernel_size, strict=True
        )
        least = [(n - 1) * s - 2 * p + d * (k - 1) + 1 for n, s, p, d, k in spans]
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        bounds = zip(least, wanted, most, strict=True)
        if not all(low <= n <= high for low, n, high in bounds):
            raise ValueError(
                f"requested an output size of {wanted}, but valid sizes range from "
                f"{least} to {most}"
            )
        return tuple([n - low for n, low in zip(wanted, least, strict=True)])


class _Affine(Module):
    """A layer that scales by a weight and shifts by a bias, where it has them."""

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if "bias" in self._parameters and self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions, then scaled and shifted."""

    @head("bias")
    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5,
        elementwise_affine: bool = True, bias: bool = True, device: object = None,
        dtype: object = None,
    ) -> None:  # fmt: skip
        self.normalized_shape = each(normalized_shape, 1)
        shape = self.normalized_shape if elementwise_affine else None
        begin_weights(self, device, dtype, weight=shape, bias=shape if bias else None)

    forward = applying(F.layer_norm)
    extra_repr = saying(
        "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}, "
        "bias={bias}"
    )


class RMSNorm(_Affine):
    """Mean square 1 over the last dimensions, scaled; ``eps`` None: the dtype's."""

    @head()
    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None,
        elementwise_affine: bool = True, device: object = None, dtype: object = None,
    ) -> None:  # fmt: skip
        self.normalized_shape = each(normalized_shape, 1)
        shape = self.normalized_shape if elementwise_affine else None
        begin_weights(self, device, dtype, weight=shape)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    extra_repr = saying(
        "{normalized_shape}, eps={eps}, elementwise_affine={elementwise_affine}"
    )


class GroupNorm(_Affine):
    """Mean 0 and variance 1 over each group of channels of an input (N, C, ...).

    Raises:
        ValueError: channels that do not divide into the groups.
    """

    @head("bias")
    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5,
        affine: bool = True, device: object = None, dtype: object = None, *,
        bias: bool = True,
    ) -> None:  # fmt: skip
        if num_channels % num_groups:
            raise ValueError("num_channels must be divisible by num_groups")
        shape = (num_channels,) if affine else None
        begin_weights(self, device, dtype, weight=shape, bias=shape if bias else None)

    forward = applying(F.group_norm)
    extra_repr = saying(
        "{num_groups}, {num_channels}, eps={eps}, affine={affine}, bias={bias}"
    )


class _NormBase(_Affine):
    """Mean 0 and variance 1 per channel.

    Args:
        num_features: the number of channels.
        momentum: how far running statistics move towards a batch's; None: their
            average over all batches so far.
        affine: scale and shift by trained parameters afterwards.
        track_running_stats: keep statistics for evaluation.
    """

    ranks: ClassVar[tuple[int, ...]]
    num_features: int
    affine: bool
    track_running_stats: bool

    def _make(self, bias: bool, device: Any, dtype: Any) -> None:
        """Make the parameters and statistics that the options ask for."""
        shape = (self.num_features,)
        statistics = {
            "running_mean": zeros(shape, device=device, dtype=dtype),
            "running_var": ones(shape, device=device, dtype=dtype),
            "num_batches_tracked": tensor(0, dtype=int64, device=device),
        }
        for name, value in statistics.items():
            self.register_buffer(name, value if self.track_running_stats else None)
        own = shape if self.affine else None
        begin_weights(self, device, dtype, weight=own, bias=own if bias else None)

    def reset_running_stats(self) -> None:
        """Forget the batches seen so far."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget the batches, set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        super().reset_parameters()

    def _load_from_state_dict(
        self, state_dict: dict[str, object], prefix: str, *rest: Any
    ) -> None:
        """Keep the count of batches where an older state holds none."""
        if self.track_running_stats:
            own = self.num_batches_tracked
            state_dict.setdefault(prefix + "num_batches_tracked", own)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def _check(self, input: Tensor) -> None:
        if input.ndim not in self.ranks:
            words = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {words} input (got {input.ndim}D input)")

    extra_repr = saying(
        "{num_features}, eps={eps}, momentum={momentum}, affine={affine}, bias={bias}, "
        "track_running_stats={track_running_stats}"
    )


class _BatchNorm(_NormBase):
    """Over a batch."""

    @head("bias")
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1,
        affine: bool = True, track_running_stats: bool = True, device: object = None,
        dtype: object = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        counts = self.training and self.track_running_stats
        if counts and self.num_batches_tracked is not None:
            with RecordingOff():
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


class _InstanceNorm(_NormBase):
    """Over each item by itself; an item may come without a batch."""

    @head("bias")
    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1,
        affine: bool = False, track_running_stats: bool = False, device: object = None,
        dtype: object = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        self._make(bias, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        self._check(input)
        alone = input.ndim == self.ranks[0]
        out = F.instance_norm(
            input.unsqueeze(0) if alone else input, self.running_mean,
            self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum or 0.0,
            self.eps,
        )  # fmt: skip
        return out.squeeze(0) if alone else out
