"""Steps scaled by the gradient's running or total size: RMSprop and Adagrad."""

from __future__ import annotations

from typing import Any

from .descent import Descent, Kept, decayed, move_towards
from .optimizer import Group, Params
from .options import options


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
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr momentum alpha eps centered weight_decay capturable foreach maximize "
        "differentiable",
        checked="lr eps momentum weight_decay alpha",
    )
    def __init__(
        self, params: Params, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        momentum, centered = o["momentum"], o["centered"]
        also = {"momentum_buffer": momentum > 0, "grad_avg": centered}
        kept.begin("square_avg", *[name for name, wanted in also.items() if wanted])
        kept.count()
        g = decayed(p, g, o, lr)
        alpha, square = o["alpha"], kept["square_avg"]
        square *= alpha
        square += (1 - alpha) * g * g
        if centered:
            mean = kept["grad_avg"]
            move_towards(mean, g, 1 - alpha)
            square = square - mean * mean
        scale = xp.sqrt(square) + o["eps"]
        if momentum > 0:
            direction = kept["momentum_buffer"]
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
        differentiable: record the step.
        foreach, fused: taken for PyTorch's sake; they change no result.
    """

    @options(
        "lr lr_decay eps weight_decay initial_accumulator_value foreach maximize "
        "differentiable fused",
        checked="lr lr_decay weight_decay initial_accumulator_value eps",
    )
    def __init__(
        self, params: Params, lr: Any = 1e-2, lr_decay: float = 0,
        weight_decay: float = 0, initial_accumulator_value: float = 0,
        eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def _begin(self, params: Any, defaults: Group) -> None:
        super()._begin(params, defaults)
        for group in self.param_groups:
            for parameter in group["params"]:
                self._start(Kept(parameter, self.state[parameter], False), group)

    def _start(self, kept: Kept, o: Group) -> None:
        if kept.begin():
            kept.fill("sum", o["initial_accumulator_value"])

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        self._start(kept, o)
        step = kept.count()
        g = decayed(p, g, o, lr)
        rate = lr / (1 + (step - 1) * o["lr_decay"])
        total = kept["sum"]
        total += g * g
        p += -rate * g / (xp.sqrt(total) + o["eps"])
