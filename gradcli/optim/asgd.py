"""Gradient descent that keeps the mean of its path."""

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


class ASGD(Descent):
    """Steps of a falling rate; ``ax`` in the state averages them from step ``t0`` on.

    Polyak and Juditsky 1992.

    Args:
        params: tensors or groups.
        lr: how far the first step goes.
        lambd: how fast the rate falls, and how much a parameter shrinks in a step.
        alpha: the power by which the rate falls.
        t0: the step at which averaging begins.
        weight_decay: how much of the parameter itself is added to its gradient.
        maximize: go uphill.
        foreach, capturable: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_0(weight_decay=weight_decay)
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0,
            "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            state["step"] = step_counter()
            state["eta"] = step_counter(lr)
            state["mu"] = step_counter(1.0)
            state["ax"] = zeros_beside(parameter)
        step = count_step(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        eta, mu, mean = state["eta"].raw, state["mu"].raw, state["ax"].raw
        rate, share = float(eta), float(mu)
        p *= 1 - group["lambd"] * rate
        p += -rate * g
        if share == 1:
            mean[...] = p
        else:
            mean += (p - mean) * share
        eta[...] = lr / (1 + group["lambd"] * lr * step) ** group["alpha"]
        mu[...] = 1 / max(1, step - group["t0"])
