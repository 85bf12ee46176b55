"""Schedules that raise the rate and lower it again, and the momentum against it.

Invariant: the momentum is lowest where the rate is highest. It is the group's
"momentum", or the first of its "betas".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...engine.raw import Params
from ..optimizer import Group, Optimizer
from .base import Rate, Rule, check_optimizer, check_strategy, per_group, state_of


def set_momentum(group: Group, momentum: float) -> None:
    if "betas" in group:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


def begin_momenta(
    optimizer: Optimizer, lowest: object, highest: object, last_epoch: int
) -> Params:
    """Note the bounds in the groups and begin at the highest.

    Returns:
        What a schedule remembers of them.

    Raises:
        ValueError: the optimizer has no momentum, or a list of another length.
    """
    if not {"momentum", "betas"} & optimizer.defaults.keys():
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` option "
            "enabled"
        )
    lows = per_group("base_momentum", optimizer, lowest)
    highs = per_group("max_momentum", optimizer, highest)
    if last_epoch == -1:
        for group, low, high in zip(optimizer.param_groups, lows, highs, strict=True):
            set_momentum(group, high)
            group["max_momentum"], group["base_momentum"] = high, low
    use_beta1 = "betas" in optimizer.defaults
    return {"use_beta1": use_beta1, "base_momentums": lows, "max_momentums": highs}


class CyclicLR(Rule):
    """Up and down between two rates, cycle after cycle (Smith 2017).

    Args:
        optimizer: whose rates are changed.
        base_lr, max_lr: the bounds, one number or one for each group.
        step_size_up, step_size_down: steps of the rise and of the fall; None: as many.
        mode: "triangular"; "triangular2": half as high in each new cycle;
            "exp_range": ``gamma**step`` as high.
        gamma: of "exp_range".
        scale_fn: takes the place of the mode: how high the rate rises.
        scale_mode: whether ``scale_fn`` is given the "cycle" or the step.
        cycle_momentum: move the momentum against the rate.
        base_momentum, max_momentum: its bounds.
        last_epoch: the step to go on from; -1: the beginning.

    Raises:
        ValueError: no such mode, no momentum to cycle, lists of a wrong length.
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: object, max_lr: object,
        step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
        cycle_momentum: bool = True, base_momentum: object = 0.8,
        max_momentum: object = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        lows = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, low in zip(optimizer.param_groups, lows, strict=True):
                group["lr"] = low
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if scale_fn is None and mode not in ("triangular", "triangular2", "exp_range"):
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        by_step = scale_fn is None and mode == "exp_range"
        self.scale_mode = "iterations" if by_step else scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.__dict__ |= begin_momenta(
                optimizer, base_momentum, max_momentum, last_epoch
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lows

    def scale_fn(self, x: float) -> float:
        """How high the rate rises in cycle or step ``x``."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular2":
            return float(2.0 ** (1 - x))
        return float(self.gamma**x) if self.mode == "exp_range" else 1.0

    def _rates(self) -> list[Rate]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        ratio = self.step_ratio
        height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
        x = cycle if self.scale_mode == "cycle" else self.last_epoch
        height *= self.scale_fn(x)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                low, high = group["base_momentum"], group["max_momentum"]
                set_momentum(group, high - (high - low) * height)
        bounds = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in bounds]

    def state_dict(self) -> Params:
        """Give the schedule's attributes; of a plain function nothing is kept."""
        state = super().state_dict()
        state["_scale_fn_custom"] = state_of(self._scale_fn_custom)
        return state

    def load_state_dict(self, state_dict: Params) -> None:
        """Take over what `state_dict` gave; a function stays the schedule's own."""
        kept = self._load_own(state_dict, "_scale_fn_custom")
        if kept is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(kept)


PHASE = ("end_step", "start_lr", "end_lr", "start_momentum", "end_momentum")
"""A stretch of `OneCycleLR`: its last step, and names of what it goes between."""


class OneCycleLR(Rule):
    """One rise to the highest rate and one long fall (Smith and Topin 2018).

    Args:
        optimizer: whose rates are changed.
        max_lr: the highest rate, one number or one for each group.
        total_steps: how many steps there will be; or give the next two.
        epochs, steps_per_epoch: their product is the number of steps.
        pct_start: the part of the steps in which the rate rises.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: move the momentum against the rate.
        base_momentum, max_momentum: its bounds.
        div_factor: the rate begins at ``max_lr/div_factor``.
        final_div_factor: and ends that much lower still.
        three_phase: fall as fast as it rose, and then on to the end.
        last_epoch: the step to go on from; -1: the beginning.

    Raises:
        ValueError: contradicting options, or more steps than there are.
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
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(
                f"Expected float between 0 and 1 pct_start, but got {pct_start}"
            )
        check_strategy(anneal_strategy)
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        highs = per_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, highs, strict=True):
                group["initial_lr"] = high / div_factor
                group["max_lr"] = high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            bounds = begin_momenta(optimizer, base_momentum, max_momentum, last_epoch)
            self.use_beta1 = bounds["use_beta1"]
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
                set_momentum(group, self._between(group, phase, "momentum", share))
        return self._each(lambda group: self._between(group, phase, "lr", share))

    def _phase_at(self, step: int) -> tuple[float, Params]:
        """Find the phase of a step, and the step at which it began."""
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


def _total(
    total_steps: int | None, epochs: int | None, steps_per_epoch: int | None
) -> int:
    """Compute the number of steps."""
    if total_steps is not None:
        return _positive("total_steps", total_steps)
    if epochs is None or steps_per_epoch is None:
        raise ValueError(
            "You must define either total_steps OR (epochs AND steps_per_epoch)"
        )
    of_epoch = _positive("steps_per_epoch", steps_per_epoch)
    return _positive("epochs", epochs) * of_epoch


def _positive(name: str, value: object) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {value}")
    return value


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
