"""Steps scaled by running means of the gradient and of its square."""

from __future__ import annotations

from typing import Any

from ..engine.tensor import Tensor
from .optimizer import (
    Descent,
    Group,
    Params,
    State,
    at_least_0,
    check_betas,
    check_rate,
    count_step,
    move_towards,
    no_graph_through_steps,
    step_counter,
    zeros_beside,
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
        foreach, capturable, fused: taken for PyTorch's sake; they change no result.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_0(eps=eps)
        check_betas(betas)
        at_least_0(weight_decay=weight_decay)
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            state["step"] = step_counter()
            state["exp_avg"] = zeros_beside(parameter)
            state["exp_avg_sq"] = zeros_beside(parameter)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_beside(parameter)
        step = count_step(state)
        decay = group["weight_decay"]
        if decay and group["decoupled_weight_decay"]:
            p *= 1 - lr * decay
        elif decay:
            g = g + decay * p
        (beta1, beta2), xp = group["betas"], parameter.xp
        mean, square = state["exp_avg"].raw, state["exp_avg_sq"].raw
        move_towards(mean, g, 1 - beta1)
        square *= beta2
        square += (1 - beta2) * g * g
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"].raw
            largest[...] = xp.maximum(largest, square)
            square = largest
        scale = xp.sqrt(square) / (1 - beta2**step) ** 0.5 + group["eps"]
        p += -(lr / (1 - beta1**step)) * mean / scale


class AdamW(Adam):
    """`Adam` that shrinks parameters apart from their gradients."""

    def __init__(
        self, params: Params, lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
        foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach,
            maximize=maximize, capturable=capturable, differentiable=differentiable,
            fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip
