"""The schedule of one cycle: a rise to the highest rate, and a fall.

Invariant: the momentum is lowest where the rate is highest; it is the group's
"momentum", or the first of its "betas".
"""

from __future__ import annotations

import math
from typing import Any

from ...engine.raw import Params
from ..optimizer import Group, Optimizer
from .base import LRScheduler, Rate, check_optimizer

PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
"""Names of a phase's fields: its last step, and the options it begins and ends with."""


class OneCycleLR(LRScheduler):
    """A schedule of one rise to the highest rate and a fall (Smith and Topin 2018).

    Args:
        optimizer: the optimizer whose rates are changed.
        max_lr: the highest rate, one number or one for each group.
        total_steps: the number of steps; None: ``epochs * steps_per_epoch``.
        epochs, steps_per_epoch: numbers whose product is the number of steps.
        pct_start: the share of the steps in which the rate rises.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: whether the momentum moves against the rate.
        base_momentum, max_momentum: the lowest and highest momentum.
        div_factor: the rate begins at ``max_lr/div_factor``.
        final_div_factor: the rate ends at its beginning divided by this.
        three_phase: whether the rate falls as fast as it rose, and then to its end.
        last_epoch: the step to go on from; -1: the beginning.

    Raises:
        ValueError: the options contradict each other, or a step is beyond the last one.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: object, total_steps: int | None = None,
        epochs: int | None = None, steps_per_epoch: int | None = None,
        pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: object = 0.85,
        max_momentum: object = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError(
                    "You must define either total_steps OR (epochs AND steps_per_epoch)"
                )
            total_steps = epochs * steps_per_epoch
        if not isinstance(total_steps, int) or total_steps <= 0:
            raise ValueError(
                f"Expected positive integer total_steps, but got {total_steps}"
            )
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(
                f"Expected float between 0 and 1 pct_start, but got {pct_start}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        self.total_steps = total_steps
        self._schedule_phases = _phases(total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            if not {"momentum", "betas"} & optimizer.defaults.keys():
                raise ValueError(
                    "optimizer must support momentum or beta1 with `cycle_momentum` "
                    "option enabled"
                )
            self.use_beta1 = "betas" in optimizer.defaults
        bounds = {"max_lr": max_lr}
        if cycle_momentum:
            bounds |= {"max_momentum": max_momentum, "base_momentum": base_momentum}
        if last_epoch == -1:
            for name, value in bounds.items():
                _spread(name, optimizer, value)
            for group in optimizer.param_groups:
                group["initial_lr"] = group["max_lr"] / div_factor
                group["min_lr"] = group["initial_lr"] / final_div_factor
                if cycle_momentum:
                    _set_momentum(group, group["max_momentum"])
        super().__init__(optimizer, last_epoch)

    def _rates(self) -> list[Rate]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        began, phase = self._phase_at(step)
        share = (step - began) / (phase["end_step"] - began)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                _set_momentum(group, self._between(group, phase, "momentum", share))
        return self._each(lambda group: self._between(group, phase, "lr", share))

    def _phase_at(self, step: int) -> tuple[float, Params]:
        """Return the step at which a step's phase began, and that phase."""
        began = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                return began, phase
            began = phase["end_step"]
        return began, self._schedule_phases[-1]

    def _between(self, group: Group, phase: Params, what: str, share: float) -> Any:
        first, last = (group[phase[f"{end}_{what}"]] for end in ("start", "end"))
        if self._anneal_func_type == "linear":
            return (last - first) * share + first
        return last + (first - last) / 2.0 * (math.cos(math.pi * share) + 1)


def _set_momentum(group: Group, momentum: float) -> None:
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def _spread(name: str, optimizer: Optimizer, value: Any) -> None:
    """Put one value, or a list's value for each group, into the groups.

    Raises:
        ValueError: the list has another length.
    """
    groups = optimizer.param_groups
    values = value if isinstance(value, list | tuple) else [value] * len(groups)
    if len(values) != len(groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(values)} values, param_groups has {len(groups)}."
        )
    for group, each in zip(groups, values, strict=True):
        group[name] = each


def _phases(total: int, rising: float, three: bool) -> list[Params]:
    up = (
        rising * total - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum",
    )  # fmt: skip
    down = ("base_momentum", "max_momentum")
    rest: list[tuple[object, ...]] = [(total - 1, "max_lr", "min_lr", *down)]
    if three:
        rest = [
            (2 * rising * total - 2, "max_lr", "initial_lr", *down),
            (total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
        ]
    return [dict(zip(PHASE, stretch, strict=True)) for stretch in (up, *rest)]
