"""Steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

from typing import Any

from ..engine.tensor import Tensor
from .descent import Descent, Kept, decayed, move_towards
from .optimizer import Group, Params
from .options import options

ORDER = (
    "lr betas eps weight_decay amsgrad maximize foreach capturable differentiable "
    "fused decoupled_weight_decay"
)


class Adam(Descent):
    """``p -= lr*m/(sqrt(v) + eps)``, where m and v are corrected running means.

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the two means is kept from step to step.
        eps: added to the root.
        weight_decay: how much of the parameter itself is added to its gradient.
        amsgrad: divide by the largest mean so far.
        maximize: go uphill.
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach, fused: taken for PyTorch's sake; they change no result.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
    """

    @options(ORDER, checked="lr eps betas weight_decay")
    def __init__(
        self, params: Params, lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _check_tensors(lr, betas, bool(foreach), capturable)

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        largest_too = ("max_exp_avg_sq",) if o["amsgrad"] else ()
        kept.begin("exp_avg", "exp_avg_sq", *largest_too)
        step = kept.count()
        g = decayed(p, g, o, lr)
        beta1, beta2 = o["betas"]
        mean, square = kept["exp_avg"], kept["exp_avg_sq"]
        move_towards(mean, g, 1 - beta1)
        square *= beta2
        square += (1 - beta2) * g * g
        if o["amsgrad"]:
            largest = kept["max_exp_avg_sq"]
            largest[...] = xp.maximum(largest, square)
            square = largest
        scale = xp.sqrt(square) / (1 - beta2**step) ** 0.5 + o["eps"]
        p += -(lr / (1 - beta1**step)) * mean / scale


class AdamW(Adam):
    """`Adam` that shrinks parameters apart from their gradients."""

    @options(ORDER, checked="lr eps betas weight_decay", decoupled_weight_decay=True)
    def __init__(
        self, params: Params, lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        _check_tensors(lr, betas, bool(foreach), capturable)


def _check_tensors(lr: Any, betas: Any, foreach: bool, capturable: bool) -> None:
    """Raise for options that are tensors where they have to be numbers."""
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError(
            "lr as a Tensor is not supported for capturable=False and foreach=True"
        )
    if len({isinstance(beta, Tensor) for beta in betas}) > 1:
        raise ValueError("betas must be either both floats or both Tensors")
