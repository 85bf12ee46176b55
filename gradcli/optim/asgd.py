"""Gradient descent that keeps the mean of its path."""

from __future__ import annotations

from typing import Any

from .descent import Descent, Kept, decayed
from .optimizer import Group, Params
from .options import options


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
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr lambd alpha t0 weight_decay foreach maximize differentiable capturable",
        checked="lr weight_decay",
    )
    def __init__(
        self, params: Params, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
        t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        kept.begin("ax", eta=float(lr), mu=1.0)
        step = kept.count()
        g = decayed(p, g, o, lr)
        eta, mu, mean = kept.state["eta"].raw, kept.state["mu"].raw, kept["ax"]
        rate, share = float(eta), float(mu)
        p *= 1 - o["lambd"] * rate
        p += -rate * g
        if share == 1:
            mean[...] = p
        else:
            mean += (p - mean) * share
        lr = float(lr)
        eta[...] = lr / (1 + o["lambd"] * lr * step) ** o["alpha"]
        mu[...] = 1 / max(1, step - o["t0"])
