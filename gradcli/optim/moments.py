"""Kin of Adam: other ways to correct or to replace its two running means."""

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


class _Moments(Descent):
    """An optimizer with a running mean of the gradient and one of its size."""

    def __init__(
        self, params: Params, lr: Any, betas: tuple[float, float], eps: float,
        weight_decay: float, differentiable: bool, options: dict[str, Any],
    ) -> None:  # fmt: skip
        check_rate(lr)
        at_least_0(eps=eps)
        check_betas(betas)
        at_least_0(weight_decay=weight_decay)
        no_graph_through_steps(differentiable)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "differentiable": differentiable, **options,
        }  # fmt: skip
        super().__init__(params, defaults)


def _decayed(p: Any, g: Any, group: Group, lr: float) -> Any:
    """The gradient with the parameter's share; or the parameter itself is shrunk."""
    decay = group["weight_decay"]
    if not decay:
        return g
    if group.get("decoupled_weight_decay"):
        p *= 1 - lr * decay
        return g
    return g + decay * p


def _means(parameter: Tensor, g: Any, state: State, group: Group) -> tuple[Any, Any]:
    """Adam's two running means, moved towards the gradient and towards its square."""
    if "exp_avg" not in state:
        state["exp_avg"] = zeros_beside(parameter)
        state["exp_avg_sq"] = zeros_beside(parameter)
    beta1, beta2 = group["betas"]
    mean, square = state["exp_avg"].raw, state["exp_avg_sq"].raw
    move_towards(mean, g, 1 - beta1)
    square *= beta2
    square += (1 - beta2) * g * g
    return mean, square


class Adamax(_Moments):
    """``p -= lr*m/u``, where u is the largest size so far, fading (Kingma and Ba 2015).

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the mean and of the largest size is kept.
        eps: added to the size of a gradient.
        weight_decay: how much of the parameter itself is added to its gradient.
        maximize: go uphill.
        foreach, capturable: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        options = {"foreach": foreach, "maximize": maximize, "capturable": capturable}
        super().__init__(params, lr, betas, eps, weight_decay, differentiable, options)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            state["step"] = step_counter()
            state["exp_avg"] = zeros_beside(parameter)
            state["exp_inf"] = zeros_beside(parameter)
        step = count_step(state)
        g = _decayed(p, g, group, lr)
        beta1, beta2 = group["betas"]
        mean, largest = state["exp_avg"].raw, state["exp_inf"].raw
        move_towards(mean, g, 1 - beta1)
        size = abs(g) + group["eps"]
        largest[...] = parameter.xp.maximum(largest * beta2, size)
        p += -(lr / (1 - beta1**step)) * mean / largest


class NAdam(_Moments):
    """`Adam` that looks ahead along its mean (Dozat 2016).

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the two means is kept.
        eps: added to the root.
        weight_decay: how much of the parameter itself is added to its gradient.
        momentum_decay: how the first mean's share grows from step to step.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
        maximize: go uphill.
        foreach, capturable: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        at_least_0(momentum_decay=momentum_decay)
        options = {
            "momentum_decay": momentum_decay, "maximize": maximize, "foreach": foreach,
            "decoupled_weight_decay": decoupled_weight_decay, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, differentiable, options)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            state["step"] = step_counter()
            state["mu_product"] = step_counter(1.0)
        step = count_step(state)
        g = _decayed(p, g, group, lr)
        mean, square = _means(parameter, g, state, group)
        (beta1, beta2), decay = group["betas"], group["momentum_decay"]
        now, then = (
            beta1 * (1 - 0.5 * 0.96 ** (at * decay)) for at in (step, step + 1)
        )
        product = state["mu_product"].raw
        product *= now
        scale = parameter.xp.sqrt(square / (1 - beta2**step)) + group["eps"]
        p += (-lr * (1 - now) / (1 - float(product))) * g / scale
        p += (-lr * then / (1 - float(product) * then)) * mean / scale


STEADY = 5
"""From this length on the approximated average of squares has a variance to correct."""


class RAdam(_Moments):
    """`Adam` that takes plain steps until its second mean is steady (Liu et al. 2020).

    Args:
        params: tensors or groups.
        lr: how far a step goes.
        betas: how much of the two means is kept.
        eps: added to the root.
        weight_decay: how much of the parameter itself is added to its gradient.
        decoupled_weight_decay: shrink the parameter instead of adding to its gradient.
        maximize: go uphill.
        foreach, capturable: taken for PyTorch's sake; they change no result.
    """

    def __init__(
        self, params: Params, lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        options = {
            "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, differentiable, options)

    def update(
        self, parameter: Tensor, p: Any, g: Any, state: State, group: Group, lr: float
    ) -> None:
        if not state:
            state["step"] = step_counter()
        step = count_step(state)
        g = _decayed(p, g, group, lr)
        mean, square = _means(parameter, g, state, group)
        beta1, beta2 = group["betas"]
        left = 1 - beta2**step
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / left
        move = mean / (1 - beta1**step) * lr
        if length > STEADY:
            rectified = (length - 4) * (length - 2) * longest
            rectified /= (longest - 4) * (longest - 2) * length
            scale = parameter.xp.sqrt(square) + group["eps"]
            move = move * (left**0.5 / scale) * rectified**0.5
        p -= move
