"""Convolutions and pooling as functions: a window slides over the input.

Invariant: arguments are PyTorch's, values and graph the table's. An input is
(N, C, spatial...) or a single item without N; sizes are one number for all spatial
dimensions or one for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...engine.tensor import Tensor
from .run import run

Sizes = int | Sequence[int]
Found = Tensor | tuple[Tensor, Tensor]

Convolution = Callable[..., Tensor]
Pooling = Callable[..., Any]


def _convolution(rank: int) -> Convolution:
    def conv(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
        padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
    ) -> Tensor:  # fmt: skip
        return run(
            f"conv{rank}d", input, weight, bias, stride, padding, dilation, groups
        )

    return _named(conv, f"conv{rank}d", "A weight (O, C/groups, window...) slid over "
                  "the input: sums of products, channel by channel.")  # fmt: skip


def _transposed(rank: int) -> Convolution:
    def conv_transpose(
        input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Sizes = 1,
        padding: Sizes = 0, output_padding: Sizes = 0, groups: int = 1,
        dilation: Sizes = 1,
    ) -> Tensor:  # fmt: skip
        return run(
            f"conv_transpose{rank}d", input, weight, bias, stride, padding,
            output_padding, groups, dilation,
        )  # fmt: skip

    return _named(conv_transpose, f"conv_transpose{rank}d", "The transpose of a "
                  "convolution with a weight (C, O/groups, window...).")  # fmt: skip


def _max_pool(rank: int) -> Pooling:
    def max_pool(
        input: Tensor, kernel_size: Sizes, stride: Sizes | None = None,
        padding: Sizes = 0, dilation: Sizes = 1, ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Found:  # fmt: skip
        return run(
            f"max_pool{rank}d", input, kernel_size, stride, padding, dilation,
            ceil_mode, return_indices,
        )  # fmt: skip

    return _named(max_pool, f"max_pool{rank}d", "The largest entry of each window; "
                  "with ``return_indices`` where it stands as well.")  # fmt: skip


def avg_pool1d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of each window."""
    return run(
        "avg_pool1d", input, kernel_size, stride, padding, ceil_mode, count_include_pad
    )


def avg_pool2d(
    input: Tensor, kernel_size: Sizes, stride: Sizes | None = None, padding: Sizes = 0,
    ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window, or its sum over ``divisor_override``."""
    return run(
        "avg_pool2d", input, kernel_size, stride, padding, ceil_mode,
        count_include_pad, divisor_override,
    )  # fmt: skip


def _adaptive_avg_pool(rank: int) -> Pooling:
    def adaptive_avg_pool(input: Tensor, output_size: Any) -> Tensor:
        return run(f"adaptive_avg_pool{rank}d", input, output_size)

    return _named(adaptive_avg_pool, f"adaptive_avg_pool{rank}d",
                  "The means of as many windows as are asked for.")  # fmt: skip


def _adaptive_max_pool(rank: int) -> Pooling:
    def adaptive_max_pool(
        input: Tensor, output_size: Any, return_indices: bool = False
    ) -> Found:
        return run(f"adaptive_max_pool{rank}d", input, output_size, return_indices)

    return _named(adaptive_max_pool, f"adaptive_max_pool{rank}d",
                  "The largest of as many windows as are asked for.")  # fmt: skip


def _named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


conv1d, conv2d, conv3d = map(_convolution, (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_transposed, (1, 2, 3))
max_pool1d, max_pool2d = map(_max_pool, (1, 2))
adaptive_avg_pool1d, adaptive_avg_pool2d = map(_adaptive_avg_pool, (1, 2))
adaptive_max_pool1d, adaptive_max_pool2d = map(_adaptive_max_pool, (1, 2))
