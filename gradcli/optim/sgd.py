"""Gradient descent, with momentum if wanted."""

from __future__ import annotations

from typing import Any

from .descent import Descent, Kept, decayed
from .optimizer import Group, Params
from .options import options


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
        differentiable: record the step.
        foreach, fused: taken for PyTorch's sake; they change no result.
    """

    @options(
        "lr momentum dampening weight_decay nesterov maximize foreach differentiable "
        "fused",
        checked="lr momentum weight_decay",
    )
    def __init__(
        self, params: Params, lr: Any = 1e-3, momentum: float = 0,
        dampening: float = 0, weight_decay: float = 0, nesterov: bool = False, *,
        maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        g = decayed(p, g, o, lr)
        momentum = o["momentum"]
        if momentum:
            if kept.state.get("momentum_buffer") is None:
                direction = kept.hold("momentum_buffer", g)
            else:
                direction = kept["momentum_buffer"]
                direction *= momentum
                direction += (1 - o["dampening"]) * g
            g = g + momentum * direction if o["nesterov"] else direction
        p += -lr * g
