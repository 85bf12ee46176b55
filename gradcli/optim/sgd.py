"""Gradient descent, with momentum if wanted."""

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
    no_graph_through_steps,
)


class SGD(Descent):
    """``p -= lr*g``; with momentum ``p -= lr*b``, where ``b = momentum*b + g``.

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        momentum: how much of the last step's direction is kept.
        dampening: the part of a new gradient that is left out of the direction.
        weight_decay: how much of the parameter itself is added to its gradient.
        nesterov: look ahead along the direction.
        maximize: go uphill.
        foreach, fused: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-3, momentum: float = 0,
        dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
        maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_0(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
            "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        momentum = group["momentum"]
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = Tensor(parameter.xp.clone(g), parameter.xp)
                state["momentum_buffer"] = kept
                direction = kept.raw
            else:
                direction = kept.raw
                direction *= momentum
                direction += (1 - group["dampening"]) * g
            g = g + momentum * direction if group["nesterov"] else direction
        p += -lr * g
