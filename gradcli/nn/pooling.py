"""Pooling over windows that overlap at random, and the partial inverse of pooling.

Invariant: sizes are kept as tuples, a number for each dimension.

    MaxUnpool2d(2)(*MaxPool2d(2, return_indices=True)(x))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ..engine.raw import Run
from ..engine.tensor import Tensor
from . import functional as F
from .convolution import Sizes, each
from .declare import ranks
from .families import WINDOWS
from .heads import head, saying
from .module import Module


class _MaxUnpoolNd(Module):
    """The largest entries back where they were found, zeros beside them.

    Args:
        kernel_size, stride, padding: those of the pooling.
    """

    rank: ClassVar[int]
    function: ClassVar[Callable[..., Tensor]]

    @head()
    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0
    ) -> None:
        self.kernel_size = each(kernel_size, self.rank)
        self.stride = self.kernel_size if stride is None else each(stride, self.rank)
        self.padding = each(padding, self.rank)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        return type(self).function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    extra_repr = saying(WINDOWS)


class _Fractional(Module):
    """The largest entry of each window, of windows that overlap at random.

    Args:
        kernel_size: the sizes of a window.
        output_size: how many windows there are.
        output_ratio: the same as a share of the input's sizes, between 0 and 1.
        return_indices: give the positions of the entries as well.
    """

    rank: ClassVar[int]
    function: ClassVar[Run]

    @head("_random_samples")
    def __init__(
        self, kernel_size: Sizes, output_size: Sizes | None = None,
        output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:  # fmt: skip
        if self.rank == 3 and min(each(kernel_size, 1)) <= 0:
            raise ValueError(
                f"kernel_size must be greater than 0, but got {kernel_size}"
            )
        self.kernel_size = each(kernel_size, self.rank)
        self.register_buffer("_random_samples", _random_samples)
        if output_size is not None:
            self.output_size = each(output_size, self.rank)
        if output_ratio is None and output_size is None:
            raise ValueError(
                f"FractionalMaxPool{self.rank}d requires specifying either an output "
                "size, or a pooling ratio"
            )
        if output_ratio is None:
            return
        if output_size is not None:
            raise ValueError(
                "only one of output_size and output_ratio may be specified"
            )
        several = isinstance(output_ratio, list | tuple)
        ratios = tuple(output_ratio) if several else (output_ratio,) * self.rank
        if not all(0 < ratio < 1 for ratio in ratios):
            raise ValueError(
                f"output_ratio must be between 0 and 1 (got {output_ratio})"
            )
        self.output_ratio = ratios

    def forward(self, input: Tensor) -> Any:
        return type(self).function(
            input, self.kernel_size, self.output_size, self.output_ratio,
            self.return_indices, self._random_samples,
        )  # fmt: skip


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = ranks(
    "MaxUnpool",
    _MaxUnpoolNd,
    function=(F.max_unpool1d, F.max_unpool2d, F.max_unpool3d),
)
FractionalMaxPool2d, FractionalMaxPool3d = ranks(
    "FractionalMaxPool",
    _Fractional,
    function=(None, F.fractional_max_pool2d, F.fractional_max_pool3d),
)[1:]
