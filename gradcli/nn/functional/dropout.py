"""Dropout as functions.

Invariant: out of training, or with p 0, the input itself comes back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.draws import uniform
from ...engine.tensor import Tensor
from ...ops.activation import SELU_ALPHA, SELU_SCALE
from .shared import check_probability, run

LOWEST = float(SELU_ALPHA * SELU_SCALE)
"""What `selu` of large negative entries approaches, but for the sign."""


def _kept(input: Tensor, shape: Sequence[int], p: float) -> Tensor:
    """Draw 1 where an entry is kept and 0 where it is dropped."""
    xp = input.xp
    drawn = xp.array(uniform(tuple(shape), "float64", None))
    return Tensor(xp.as_type_of(xp.lt(drawn, 1 - p), input.raw), xp)


def _dropped(
    input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool
) -> Tensor:
    check_probability(p)
    if not training or not p:
        return input
    kept = _kept(input, shape, p)
    noise = Tensor(kept.raw / (1 - p) if p < 1 else kept.raw * 0, kept.xp)
    return input.mul_(noise) if inplace else input * noise


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Entries set to 0 with probability p and the others scaled by ``1/(1 - p)``."""
    return _dropped(input, input.shape, p, training, inplace)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Channels of (N, C, L) or (C, L) set to 0 as a whole, the others scaled."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. "
            "Note that dropout1d exists to provide channel-wise dropout on inputs with "
            "1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _channels(input, input.ndim - 1, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Channels of (N, C, H, W) set to 0 as a whole, the others scaled."""
    return _channels(input, 2, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Channels of (N, C, D, H, W) or (C, D, H, W) set to 0 as a whole."""
    return _channels(input, 2 if input.ndim == 5 else 1, p, training, inplace)


def _channels(
    input: Tensor, lead: int, p: float, training: bool, inplace: bool
) -> Tensor:
    """Drop by the first dimensions together: items and channels, or channels."""
    shape = (*input.shape[:lead], *(1,) * (input.ndim - lead))
    return _dropped(input, shape, p, training, inplace)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Entries set to what `selu` has at minus infinity, with mean and variance kept.

    Klambauer et al. 2017, section 3.
    """
    return _lowered(input, input.shape, p, training, inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Channels of (N, C, ...) set to what `selu` has at minus infinity as a whole, with
    mean and variance kept."""
    check_probability(p)
    if training and p and input.ndim < 2:
        raise RuntimeError(
            "Feature dropout requires at least 2 dimensions in the input"
        )
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    return _lowered(input, shape, p, training, inplace)


def _lowered(
    input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool
) -> Tensor:
    check_probability(p)
    if not training or not p:
        return input
    if p == 1:
        return run("mul", input, 0)
    kept = _kept(input, shape, p)
    scale = ((LOWEST**2 * p + 1) * (1 - p)) ** -0.5
    noise = kept * scale
    shift = (kept - 1) * (LOWEST * scale) + LOWEST * scale * p
    return input.mul_(noise).add_(shift) if inplace else input * noise + shift
