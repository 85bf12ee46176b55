"""The base of schedules, and those that are more than a formula: by functions, by a
measure.

Invariant: a schedule changes ``group["lr"]``; each step goes on from the rate in the
group, so that several schedules can act together. The state of a schedule by functions
has the attributes of callable objects, and nothing of plain functions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, TypeAlias

from ...engine.raw import Params
from ...engine.tensor import Tensor
from ..optimizer import Group, Optimizer

EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
    "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
    "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
    "the first value of the learning rate schedule."
)

DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the scheduler. "
    "During the deprecation, if epoch is different from None, the closed form is used "
    "instead of the new chainable form, where available."
)

ASKED_LATE = (
    "To get the last learning rate computed by the scheduler, please use "
    "`get_last_lr()`."
)

UNKNOWN_START = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler "
    "with last_epoch >= 0: load the optimizer's state first, or begin with "
    "last_epoch=-1"
)


Rate: TypeAlias = "float | Tensor"
"""A learning rate; it is a tensor where the group's option is one."""


class LRScheduler:
    """The base of schedules; a subclass defines ``get_lr``.

    Args:
        optimizer: the optimizer whose rates are changed.
        last_epoch: the epoch to go on from; -1: the beginning.
    """

    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(UNKNOWN_START.format(i))
        self.base_lrs = self._each(lambda group: copied(group["initial_lr"]))
        self.last_epoch = last_epoch
        if optimizer._opt_called is None:
            optimizer._opt_called = False
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Rate]:
        """Return the rates of the epoch ``last_epoch``, one per group."""
        if not self._get_lr_called_within_step:
            warnings.warn(ASKED_LATE, stacklevel=2)
        return self._rates()

    def _rates(self) -> list[Rate]:
        raise NotImplementedError

    def get_last_lr(self) -> list[Rate]:
        """Return the rates that were set last, one per group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, after the optimizer's step; or to a given ``epoch``,
        by the schedule's closed form if there is one."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(EARLY, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(DEPRECATED, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr() if epoch is None or closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._remember()

    def _remember(self) -> None:
        self._last_lr = self._each(lambda group: copied(group["lr"]))

    def _each(self, rate: Callable[[Group], float]) -> list[Rate]:
        return [rate(group) for group in self.optimizer.param_groups]

    def state_dict(self) -> Params:
        """Return the schedule's attributes, without the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: Params) -> None:
        """Restore what `state_dict` returned."""
        self.__dict__.update(state_dict)


class ByFormula(LRScheduler):
    """A schedule by two formulas: from rate to rate, and from the initial rate."""

    _next: Callable[[Any, Any], Any]
    _closed: Callable[[Any], Any]

    def _rates(self) -> list[Rate]:
        # A group that was added later has no initial rate.
        pairs = zip_longest(self.optimizer.param_groups, self.base_lrs)
        return [self._next(group["lr"], base) for group, base in pairs]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [self._closed(base) for base in self.base_lrs]


def check_optimizer(optimizer: object) -> None:
    """Raise TypeError if a value is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: object) -> Any:
    """Return a copy of a rate, which later changes of a tensor do not reach."""
    return value.clone() if isinstance(value, Tensor) else value


def set_option(group: Group, name: str, value: Any) -> None:
    """Set a group's option; if it is a tensor, change that in place."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


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
