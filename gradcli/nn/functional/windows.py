"""Pooling over windows that overlap at random, pooling that gives positions as well,
and the older names of `interpolate`.

Invariant: what is drawn comes of the generator that all draws come of.

    fractional_max_pool2d(x, 2, output_ratio=0.7)
"""

from __future__ import annotations

import warnings
from typing import Any, cast

from ...engine.draws import uniform
from ...engine.tensor import Tensor
from ...ops.resampling import Factor
from ...ops.types import Sizes
from .shared import run
from .table import interpolate


def _samples(input: Tensor, rank: int, given: Tensor | None) -> object:
    """A number per item, channel and dimension; drawn where none are given."""
    if given is not None or input.ndim not in (rank + 1, rank + 2):
        return given
    items = input.shape[0] if input.ndim == rank + 2 else 1
    shape = (items, input.shape[-rank - 1], rank)
    return Tensor(input.xp.array(uniform(shape, input.raw.dtype.name, None)), input.xp)


def _in_fractions(name: str, rank: int) -> object:
    def pooled(
        input: Tensor, kernel_size: Sizes, output_size: Sizes | None = None,
        output_ratio: Factor | None = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """The largest entry of each window, of windows that overlap at random.

        Args:
            kernel_size: the sizes of a window.
            output_size: how many windows there are.
            output_ratio: the same as a share of the input's sizes.
            return_indices: give the positions of the entries as well.
            _random_samples: numbers from 0 to 1, of the shape (items, channels,
                dimensions); None: drawn.
        """
        samples = _samples(input, rank, _random_samples)
        return run(
            name, input, kernel_size, output_size, output_ratio, return_indices, samples
        )

    pooled.__name__ = pooled.__qualname__ = name
    return pooled


fractional_max_pool2d = _in_fractions("fractional_max_pool2d", 2)
fractional_max_pool3d = _in_fractions("fractional_max_pool3d", 3)


def _with_places(name: str, rank: int) -> object:
    """``max_pool{rank}d``, which gives the positions of the entries as well."""
    base = f"max_pool{rank}d"

    def pooled(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0,
        dilation: Any = 1, ceil_mode: bool = False, return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The largest entry of each window, and its position.

        Args:
            kernel_size: the sizes of a window.
            stride: how far one window is from the next; None: as far as it is long.
            padding: how much is added at every side, smaller than any entry.
            dilation: how far one entry of a window is from the next.
            ceil_mode: windows that begin inside and end outside count too.
            return_indices: taken for PyTorch's sake; positions are always given.
        """
        found: Any = run(
            base, input, kernel_size, stride, padding, dilation, ceil_mode, True
        )
        return cast("tuple[Tensor, Tensor]", found)

    pooled.__name__ = pooled.__qualname__ = name
    return pooled


max_pool1d_with_indices = _with_places("max_pool1d_with_indices", 1)
max_pool2d_with_indices = _with_places("max_pool2d_with_indices", 2)
max_pool3d_with_indices = _with_places("max_pool3d_with_indices", 3)


def _adaptive_with_places(name: str, rank: int) -> object:
    base = f"adaptive_max_pool{rank}d"

    def pooled(
        input: Tensor, output_size: Any, return_indices: bool = False
    ) -> tuple[Tensor, Tensor]:
        """The largest entry of each of so many windows, and its position.

        Args:
            output_size: how many windows there are.
            return_indices: taken for PyTorch's sake; positions are always given.
        """
        return cast("tuple[Tensor, Tensor]", run(base, input, output_size, True))

    pooled.__name__ = pooled.__qualname__ = name
    return pooled


adaptive_max_pool1d_with_indices = _adaptive_with_places(
    "adaptive_max_pool1d_with_indices", 1
)
adaptive_max_pool2d_with_indices = _adaptive_with_places(
    "adaptive_max_pool2d_with_indices", 2
)
adaptive_max_pool3d_with_indices = _adaptive_with_places(
    "adaptive_max_pool3d_with_indices", 3
)


def _fractions_with_places(name: str, pool: Any) -> object:
    def pooled(
        input: Tensor, kernel_size: Any, output_size: Any = None,
        output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The largest entry of each window, of windows that overlap at random, and its
        position.

        Args:
            kernel_size: the sizes of a window.
            output_size: how many windows there are.
            output_ratio: the same as a share of the input's sizes.
            return_indices: taken for PyTorch's sake; positions are always given.
            _random_samples: numbers from 0 to 1, of the shape (items, channels,
                dimensions); None: drawn.
        """
        found = pool(
            input, kernel_size, output_size, output_ratio, True, _random_samples
        )
        return cast("tuple[Tensor, Tensor]", found)

    pooled.__name__ = pooled.__qualname__ = name
    return pooled


fractional_max_pool2d_with_indices = _fractions_with_places(
    "fractional_max_pool2d_with_indices", fractional_max_pool2d
)
fractional_max_pool3d_with_indices = _fractions_with_places(
    "fractional_max_pool3d_with_indices", fractional_max_pool3d
)


def _older(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` "
        "instead.",
        stacklevel=3,
    )


def upsample(
    input: Tensor, size: Sizes | None = None, scale_factor: Factor | None = None,
    mode: str = "nearest", align_corners: bool | None = None,
) -> Tensor:  # fmt: skip
    """The older name of `interpolate`."""
    _older("upsample")
    made: Tensor = interpolate(input, size, scale_factor, mode, align_corners)
    return made


def upsample_nearest(
    input: Tensor, size: Sizes | None = None, scale_factor: Factor | None = None
) -> Tensor:
    """The older name of `interpolate` by the nearest entries."""
    _older("upsample_nearest")
    made: Tensor = interpolate(input, size, scale_factor, "nearest")
    return made


def upsample_bilinear(
    input: Tensor, size: Sizes | None = None, scale_factor: Factor | None = None
) -> Tensor:
    """The older name of `interpolate` between four entries, corners kept."""
    _older("upsample_bilinear")
    made: Tensor = interpolate(input, size, scale_factor, "bilinear", True)
    return made
