"""Steps as long as earlier steps were, by the gradient's running size."""

from __future__ import annotations

from typing import Any

from .descent import Descent, Kept, decayed
from .optimizer import Group, Params
from .options import options


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
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr rho eps weight_decay maximize capturable foreach differentiable",
        checked="lr rho eps weight_decay",
    )
    def __init__(
        self, params: Params, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6,
        weight_decay: float = 0, foreach: bool | None = None, *,
        capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        kept.begin("square_avg", "acc_delta")
        kept.count()
        g = decayed(p, g, o, lr)
        rho, eps = o["rho"], o["eps"]
        square, steps = kept["square_avg"], kept["acc_delta"]
        square *= rho
        square += (1 - rho) * g * g
        delta = xp.sqrt(steps + eps) / xp.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * delta * delta
        p += -lr * delta
