"""The partial inverse of pooling.

Invariant: sizes are kept as tuples, a number for each dimension.

    MaxUnpool2d(2)(*MaxPool2d(2, return_indices=True)(x))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

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


MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = ranks(
    "MaxUnpool",
    _MaxUnpoolNd,
    function=(F.max_unpool1d, F.max_unpool2d, F.max_unpool3d),
)
