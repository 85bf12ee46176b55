"""Pooling that gives positions as well, and the older names of `interpolate`."""

from __future__ import annotations

import warnings
from inspect import signature
from typing import cast

from ...engine.signatures import Parameters
from ...engine.tensor import Tensor
from ...ops.resampling import Factor
from ...ops.types import Sizes
from .declare import Function, published
from .table import (
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    interpolate,
    max_pool1d,
    max_pool2d,
    max_pool3d,
)


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
