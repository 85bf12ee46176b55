"""Steps as long as earlier steps were, by the gradient's running size."""

from __future__ import annotations

from typing import Any

from ..engine.tensor import Tensor
from .optimizer import (
    Descent,
    Group,
    Params,
    State,
    at_least_0,
    check_rate,
    count_step,
    no_graph_through_steps,
    step_counter,
    zeros_beside,
)


class Adadelta(Descent):
    """``p -= lr*g*sqrt(d + eps)/sqrt(v + eps)``: d and v are running means of the
    squares of steps and of gradients (Zeiler 2012).

    Args:
        params: tensors or groups.
        lr: what a step is multiplied by.
        rho: how much of the means is kept from step to step.
        eps: added below the roots.
        weight_decay: how much of the parameter itself is added to its gradient.
        maximize: go uphill.
        foreach, capturable: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *,
        capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0 <= rho <= 1:
            raise ValueError(f"Invalid rho value: {rho}")
        at_least_0(eps=eps, weight_decay=weight_decay)
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize, "capturable": capturable, "foreach": foreach,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            state["step"] = step_counter()
            state["square_avg"] = zeros_beside(parameter)
            state["acc_delta"] = zeros_beside(parameter)
        count_step(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        rho, eps, xp = group["rho"], group["eps"], parameter.xp
        square, steps = state["square_avg"].raw, state["acc_delta"].raw
        square *= rho
        square += (1 - rho) * g * g
        delta = xp.sqrt(steps + eps) / xp.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * delta * delta
        p += -lr * delta
