"""Steps by the gradient's sign alone."""

from __future__ import annotations

from typing import Any

from .descent import Descent, Kept
from .optimizer import Group, Params
from .options import options


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
        capturable: allowed on a GPU alone.
        differentiable: record the step.
        foreach: taken for PyTorch's sake; it changes no result.
    """

    @options(
        "lr etas step_sizes foreach maximize differentiable capturable",
        checked="lr etas",
    )
    def __init__(
        self, params: Params, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        """Nothing else to check."""

    def update(self, xp: Any, p: Any, g: Any, kept: Kept, o: Group, lr: Any) -> None:
        if kept.begin("prev"):
            kept.fill("step_size", float(lr))
        kept.count()
        before, sizes = kept["prev"], kept["step_size"]
        (shrink, grow), (shortest, longest) = o["etas"], o["step_sizes"]
        agreement = g * before
        sizes *= xp.where(agreement > 0, grow, xp.where(agreement < 0, shrink, 1))
        sizes[...] = xp.clamp(sizes, shortest, longest)
        before[...] = xp.where(agreement < 0, 0, g)
        p -= xp.sign(before) * sizes
