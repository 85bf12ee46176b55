"""The schedules that are more than a formula: by functions, by a measure.

Invariant: the state of a schedule by functions has the attributes of callable objects,
and nothing of plain functions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

from ...engine.raw import Params
from ..optimizer import Optimizer
from .base import DEPRECATED, LRScheduler, Rate, check_optimizer, set_option


class LambdaLR(LRScheduler):
    """A schedule of the initial rate times a function of the epoch, one function for
    all groups or one for each."""

    lr_lambdas: list[Callable[[int], float]]

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1
    ) -> None:
        count = len(optimizer.param_groups)
        several = isinstance(lr_lambda, list | tuple)
        self.lr_lambdas = list(lr_lambda) if several else [lr_lambda] * count
        if len(self.lr_lambdas) != count:
            raise ValueError(
                f"Expected {count} lr_lambdas, but got {len(self.lr_lambdas)}"
            )
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> Params:
        """Return the schedule's attributes, with nothing of plain functions."""
        state = super().state_dict()
        state["lr_lambdas"] = [dict(vars(f)) or None for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: Params) -> None:
        """Restore what `state_dict` returned; functions stay the schedule's own."""
        own = self.lr_lambdas
        super().load_state_dict(state_dict)
        for function, kept in zip(own, state_dict["lr_lambdas"], strict=True):
            if kept is not None:
                function.__dict__.update(kept)
        self.lr_lambdas = own

    def _rates(self) -> list[Rate]:
        return [
            base * function(self.last_epoch)
            for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)
        ]


class ReduceLROnPlateau(LRScheduler):
    """A schedule that lowers rates when a measure no longer improves.

    Args:
        optimizer: the optimizer whose rates are changed.
        mode: "min" or "max", what counts as better.
        factor: the factor, below 1, by which rates are multiplied.
        patience: the number of epochs without improvement before rates fall.
        threshold: how much better an improvement is at least.
        threshold_mode: "rel" or "abs".
        cooldown: epochs after a reduction in which none are counted.
        min_lr: the lowest rate, one for all groups or one for each.
        eps: the smallest change of a rate that is made.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1,
        patience: int = 10, threshold: float = 1e-4, threshold_mode: str = "rel",
        cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.factor = factor
        several = isinstance(min_lr, list | tuple)
        if several and len(min_lr) != len(optimizer.param_groups):
            raise ValueError(
                f"expected {len(optimizer.param_groups)} min_lrs, got {len(min_lr)}"
            )
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else self._each(lambda group: min_lr)
        self.patience = patience
        self.cooldown = cooldown
        self.eps = eps
        self.last_epoch = 0
        self._remember()
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self.mode = mode
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.best = self.mode_worse
        self.cooldown_counter = 0
        self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Go on to the next epoch, given the measure of the last one."""
        measured = float(metrics)
        if epoch is not None:
            warnings.warn(DEPRECATED, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        sign = 1 if self.mode == "min" else -1
        margin = sign * self.threshold
        relative = self.threshold_mode == "rel"
        bound = self.best * (1 - margin) if relative else self.best - margin
        if sign * measured < sign * bound:
            self.best = measured
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            groups = self.optimizer.param_groups
            for group, lowest in zip(groups, self.min_lrs, strict=True):
                before = float(group["lr"])
                rate = max(before * self.factor, lowest)
                if before - rate > self.eps:
                    set_option(group, "lr", rate)
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._remember()
