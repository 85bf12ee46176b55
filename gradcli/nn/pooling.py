"""Pooling as modules.

Invariant: a module's attributes are its function's parameters after the input, in
order, as they were given.

    MaxPool2d(2)(images)        # (N, C, H, W) -> (N, C, H//2, W//2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ..engine.tensor import Tensor
from . import functional as F
from .convolution import Sizes, each
from .module import Module


class _MaxPoolNd(Module):
    """The largest entry of each window; ``stride`` None: windows side by side."""

    function: ClassVar[Callable[..., Any]]

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        dilation: Sizes = 1, return_indices: bool = False, ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.dilation,
            self.ceil_mode, self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest entry of each window of sequences (N, C, L)."""

    function = F.max_pool1d


class MaxPool2d(_MaxPoolNd):
    """The largest entry of each window of pictures (N, C, H, W)."""

    function = F.max_pool2d


class _AvgPoolNd(Module):
    """The mean of each window; ``stride`` None: windows side by side."""

    function: ClassVar[Callable[..., Any]]

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Any:
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, "
            f"padding={self.padding}"
        )


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of sequences (N, C, L)."""

    function = F.avg_pool1d

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        step = None if stride is None else each(stride, 1)
        super().__init__(
            each(kernel_size, 1), step, each(padding, 1), ceil_mode, count_include_pad
        )


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of pictures (N, C, H, W), or its sum over
    ``divisor_override``."""

    function = F.avg_pool2d

    def __init__(
        self, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
        ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__(kernel_size, stride, padding, ceil_mode, count_include_pad)
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Any:
        return F.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip


class _Adaptive(Module):
    """As many windows as are asked for; None keeps a dimension's size."""

    function: ClassVar[Callable[..., Any]]

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Any:
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """The means of as many windows as are asked for, of sequences (N, C, L)."""

    function = F.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_Adaptive):
    """The means of as many windows as are asked for, of pictures (N, C, H, W)."""

    function = F.adaptive_avg_pool2d


class _AdaptiveMaxPoolNd(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        return type(self).function(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest entries of as many windows as are asked for, of (N, C, L)."""

    function = F.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest entries of as many windows as are asked for, of (N, C, H, W)."""

    function = F.adaptive_max_pool2d
