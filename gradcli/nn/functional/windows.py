"""Pooling over windows that overlap at random, pooling that gives positions as well,
and the older names of `interpolate`.

Invariant: what is drawn comes of the generator that all draws come of.

    fractional_max_pool2d(x, 2, output_ratio=0.7)
"""

from __future__ import annotations

import warnings
from inspect import signature
from typing import cast

from ...engine.draws import uniform
from ...engine.signatures import Parameters
from ...engine.tensor import Tensor
from ...ops.resampling import Factor
from ...ops.types import Sizes
from .declare import Function, published
from .shared import run
from .table import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    interpolate,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)


def _samples(input: Tensor, rank: int, given: Tensor | None) -> object:
    """A number per item, channel and dimension; drawn where none are given."""
    if given is not None or input.ndim not in (rank + 1, rank + 2):
        return given
    items = input.shape[0] if input.ndim == rank + 2 else 1
    shape = (items, input.shape[-rank - 1], rank)
    return Tensor(input.xp.array(uniform(shape, input.raw.dtype.name, None)), input.xp)


def _in_fractions(name: str, rank: int) -> Function:
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


def _with_places(base: Function) -> object:
    """A pooling that always gives the positions of the entries as well."""
    name = f"{base.__name__}_with_indices"
    parameters = [*signature(base).parameters.values()]
    bind = Parameters(name, parameters).bind

    def pooled(*args: object, **kwargs: object) -> tuple[Tensor, Tensor]:
        found = base(**bind(args, kwargs) | {"return_indices": True})
        return cast("tuple[Tensor, Tensor]", found)

    return published(pooled, name, parameters, base.__name__)


max_pool1d_with_indices = _with_places(max_pool1d)
max_pool2d_with_indices = _with_places(max_pool2d)
max_pool3d_with_indices = _with_places(max_pool3d)
adaptive_max_pool1d_with_indices = _with_places(adaptive_max_pool1d)
adaptive_max_pool2d_with_indices = _with_places(adaptive_max_pool2d)
adaptive_max_pool3d_with_indices = _with_places(adaptive_max_pool3d)
fractional_max_pool2d_with_indices = _with_places(fractional_max_pool2d)
fractional_max_pool3d_with_indices = _with_places(fractional_max_pool3d)


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
