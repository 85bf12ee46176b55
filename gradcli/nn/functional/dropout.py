"""Functions that draw: dropout, a rectifier of random slopes, draws from categories.

Invariant: out of training, or with p 0, dropout gives the input itself back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine.changes import change
from ...engine.draws import uniform
from ...engine.modes import no_grad
from ...engine.tensor import Tensor
from .declare import run


def check_probability(p: float) -> None:
    """Raise ValueError for a number that is no probability."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set entries to 0 with probability p and scale the others by ``1/(1 - p)``."""
    return _dropped(input, input.shape, p, training, inplace)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set channels of (N, C, L) or (C, L) to 0 as a whole, and scale the others."""
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
    """Set channels of (N, C, H, W) to 0 as a whole, and scale the others."""
    return _channels(input, 2, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Set channels of (N, C, D, H, W) or (C, D, H, W) to 0 as a whole."""
    return _channels(input, 2 if input.ndim == 5 else 1, p, training, inplace)


def _channels(
    input: Tensor, lead: int, p: float, training: bool, inplace: bool
) -> Tensor:
    """Drop by the first dimensions together: items and channels, or channels."""
    shape = (*input.shape[:lead], *(1,) * (input.ndim - lead))
    return _dropped(input, shape, p, training, inplace)


def _dropped(
    input: Tensor, shape: Sequence[int], p: float, training: bool, inplace: bool
) -> Tensor:
    check_probability(p)
    if not training or not p:
        return input
    xp = input.xp
    drawn = xp.array(uniform(tuple(shape), "float64", None))
    kept = xp.as_type_of(xp.lt(drawn, 1 - p), input.raw)
    noise = Tensor(kept / (1 - p) if p < 1 else kept * 0, xp)
    return input.mul_(noise) if inplace else input * noise


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
    training: bool = False, inplace: bool = False,
) -> Tensor:  # fmt: skip
    """Return ``input`` where it is positive, else times a slope (Xu et al. 2015).

    Args:
        lower, upper: between what slopes are drawn; their mean is the slope out of
            training.
        training: draw a slope for each entry.
        inplace: change the input.
    """
    if inplace:
        return rrelu_(input, lower, upper, training)
    slopes = None
    if training:
        drawn = uniform(tuple(input.shape), input.raw.dtype.name, None)
        slopes = Tensor(input.xp.array(lower + drawn * (upper - lower)), input.xp)
    return run("rrelu", input, lower, upper, training, slopes)


def rrelu_(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3,
    training: bool = False,
) -> Tensor:  # fmt: skip
    """Apply `rrelu` in place."""
    changed: Tensor = change(input, lambda old: rrelu(old, lower, upper, training))
    return changed


def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10,
    dim: int = -1,
) -> Tensor:  # fmt: skip
    """Draw from categories, differentiably in their logits (Jang et al. 2017).

    Args:
        logits: logarithms of probabilities, not normalised.
        tau: the temperature; near 0 draws are nearly ones and zeros.
        hard: give ones and zeros, with the gradient of the soft draw.
        eps: taken for PyTorch's sake.
        dim: along which the categories lie.
    """
    with no_grad():
        noise = -logits.detach().clone().exponential_().log()
    soft = run("softmax", (logits + noise) / tau, dim)
    if not hard:
        return soft
    best = soft.detach().argmax(dim, True)
    ones = soft.detach().mul(0).scatter_(dim, best, 1.0)
    return ones - soft.detach() + soft
