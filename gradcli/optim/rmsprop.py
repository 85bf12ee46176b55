"""Steps scaled by the gradient's running or total size: RMSprop and Adagrad."""

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
    move_towards,
    no_graph_through_steps,
    step_counter,
    zeros_beside,
)


class RMSprop(Descent):
    """``p -= lr*g/(sqrt(v) + eps)``, where v is the running mean of ``g**2``.

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        alpha: how much of the mean is kept from step to step.
        eps: added to the root.
        weight_decay: how much of the parameter itself is added to its gradient.
        momentum: how much of the last step's direction is kept.
        centered: divide by the deviation, not by the size.
        maximize: go uphill.
        capturable, foreach: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_0(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps,
            "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        momentum, centered = group["momentum"], group["centered"]
        if not state:
            state["step"] = step_counter()
            state["square_avg"] = zeros_beside(parameter)
            if momentum > 0:
                state["momentum_buffer"] = zeros_beside(parameter)
            if centered:
                state["grad_avg"] = zeros_beside(parameter)
        count_step(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        alpha, square = group["alpha"], state["square_avg"].raw
        square *= alpha
        square += (1 - alpha) * g * g
        if centered:
            mean = state["grad_avg"].raw
            move_towards(mean, g, 1 - alpha)
            square = square - mean * mean
        scale = parameter.xp.sqrt(square) + group["eps"]
        if momentum > 0:
            direction = state["momentum_buffer"].raw
            direction *= momentum
            direction += g / scale
            p += -lr * direction
        else:
            p += -lr * g / scale


class Adagrad(Descent):
    """``p -= lr*g/(sqrt(v) + eps)``, where v is the sum of all ``g**2``.

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        lr_decay: how the rate falls: ``lr/(1 + (step - 1)*lr_decay)``.
        weight_decay: how much of the parameter itself is added to its gradient.
        initial_accumulator_value: where the sum begins.
        eps: added to the root.
        maximize: go uphill.
        foreach, fused: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-2, lr_decay: float = 0,
        weight_decay: float = 0, initial_accumulator_value: float = 0,
        eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_0(
            lr_decay=lr_decay, weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value, eps=eps,
        )  # fmt: skip
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self._begin(parameter, group)

    def _begin(self, parameter: Tensor, group: Group) -> None:
        start = group["initial_accumulator_value"]
        total = parameter.xp.new_full(parameter.raw, parameter.raw.shape, start)
        self.state[parameter] = {
            "step": step_counter(),
            "sum": Tensor(total, parameter.xp),
        }

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            self._begin(parameter, group)
            state = self.state[parameter]
        step = count_step(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        rate = lr / (1 + (step - 1) * group["lr_decay"])
        total = state["sum"].raw
        total += g * g
        p += -rate * g / (parameter.xp.sqrt(total) + group["eps"])
