"""Steps by the gradient's sign alone."""

from __future__ import annotations

from typing import Any

from ..engine.tensor import Tensor
from .optimizer import (
    Descent,
    Group,
    Params,
    State,
    check_rate,
    count_step,
    no_graph_through_steps,
    step_counter,
    zeros_beside,
)


class Rprop(Descent):
    """A step size for every entry: longer while the gradient keeps its sign.

    Riedmiller and Braun 1993; where the sign turns no step is taken.

    Args:
        params: tensors or groups.
        lr: how far the first step goes.
        etas: what a step size is multiplied by where the sign turns, and where it is
            kept.
        step_sizes: the shortest and the longest step.
        maximize: go uphill.
        foreach, capturable: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0 < etas[0] < 1 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        xp = parameter.xp
        if not state:
            state["step"] = step_counter()
            state["prev"] = zeros_beside(parameter)
            first = xp.new_full(parameter.raw, parameter.raw.shape, lr)
            state["step_size"] = Tensor(first, xp)
        count_step(state)
        before, sizes = state["prev"].raw, state["step_size"].raw
        (shrink, grow), (shortest, longest) = group["etas"], group["step_sizes"]
        agreement = g * before
        sizes *= xp.where(agreement > 0, grow, xp.where(agreement < 0, shrink, 1))
        sizes[...] = xp.minimum(xp.maximum(sizes, shortest), longest)
        before[...] = xp.where(agreement < 0, 0, g)
        p -= xp.sign(before) * sizes
