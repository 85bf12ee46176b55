"""Kin of Adam: other ways to correct or to replace its two running means."""

from __future__ import annotations

from typing import Any

from .descent import Descent, Kept, decayed, move_towards
from .optimizer import Group, Params
from .options import options

CHECKED = "lr eps betas weight_decay"


def _means(g: Any, kept: Kept, o: Group) -> tuple[Any, Any]:
    """Adam's two running means, moved towards the gradient and towards its square."""
    beta1, beta2 = o["betas"]
    mean, square = kept["exp_avg"], kept["exp_avg_sq"]
    move_towards(mean, g, 1 - beta1)
    square *= beta2
    square += (1 - beta2) * g * g
    return mean, square


class Adamax(Descent):
    """``p -= lr*m/u``, where u is the largest size so far, fading (Kingma and Ba 2015).

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the mean and of the largest size is kept.
        eps: added to the size of a gradient.
        weight_decay: how much of the parameter itself is added to its gradient.
        maximize: go uphill.
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr betas eps weight_decay foreach maximize differentiable capturable",
        checked=CHECKED,
    )
    def __init__(
        self, params: Params, lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        kept.begin("exp_avg", "exp_inf")
        step = kept.count()
        g = decayed(p, g, o, lr)
        beta1, beta2 = o["betas"]
        mean, largest = kept["exp_avg"], kept["exp_inf"]
        move_towards(mean, g, 1 - beta1)
        largest[...] = xp.maximum(largest * beta2, abs(g) + o["eps"])
        p += -(lr / (1 - beta1**step)) * mean / largest


class NAdam(Descent):
    """`Adam` that looks ahead along its mean (Dozat 2016).

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the two means is kept.
        eps: added to the root.
        weight_decay: how much of the parameter itself is added to its gradient.
        momentum_decay: how the first mean's share grows from step to step.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
        maximize: go uphill.
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr betas eps weight_decay momentum_decay decoupled_weight_decay maximize "
        "foreach capturable differentiable",
        checked=f"{CHECKED} momentum_decay",
    )
    def __init__(
        self, params: Params, lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        kept.begin("exp_avg", "exp_avg_sq", mu_product=1.0)
        step = kept.count()
        g = decayed(p, g, o, lr)
        mean, square = _means(g, kept, o)
        (beta1, beta2), decay = o["betas"], o["momentum_decay"]
        now, then = (
            beta1 * (1 - 0.5 * 0.96 ** (at * decay)) for at in (step, step + 1)
        )
        product = kept["mu_product"]
        product *= now
        scale = xp.sqrt(square / (1 - beta2**step)) + o["eps"]
        p += (-lr * (1 - now) / (1 - float(product))) * g / scale
        p += (-lr * then / (1 - float(product) * then)) * mean / scale


STEADY = 5
"""From this length on the approximated average of squares has a variance to correct."""


class RAdam(Descent):
    """`Adam` that takes plain steps until its second mean is steady (Liu et al. 2020).

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the two means is kept.
        eps: added to the root.
        weight_decay: how much of the parameter itself is added to its gradient.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
        maximize: go uphill.
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay "
        "differentiable",
        checked=CHECKED,
    )
    def __init__(
        self, params: Params, lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        kept.begin("exp_avg", "exp_avg_sq")
        step = kept.count()
        g = decayed(p, g, o, lr)
        mean, square = _means(g, kept, o)
        beta1, beta2 = o["betas"]
        left = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / left
        move = mean / (1 - beta1**step) * lr
        if length > STEADY:
            rectified = (length - 4) * (length - 2) * longest
            rectified = rectified / ((longest - 4) * (longest - 2) * length)
            scale = xp.sqrt(square) + o["eps"]
            move = move * (left**0.5 / scale) * rectified**0.5
        p -= move
