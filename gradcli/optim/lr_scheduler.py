"""Schedules: in steps, along a curve, by functions of the epoch, and by a measure.

Invariant: a schedule changes ``group["lr"]``; each step goes on from the rate in the
group, so that several schedules can act together. The state of a schedule by functions
has the attributes of callable objects, and nothing of plain functions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from ..engine.raw import Params
from ..engine.tensor import Tensor
from ..torch.absent import offer
from .optimizer import Group, Optimizer, Rate


class LRScheduler:
    """The base of schedules; a subclass defines ``get_lr``.

    Args:
        optimizer: the optimizer whose rates are changed.
        last_epoch: the epoch to go on from; -1: the beginning.

    Raises:
        KeyError: there is no initial rate to go on from.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
        self.base_lrs = self._each(lambda group: copied(group["initial_lr"]))
        self.last_epoch = last_epoch
        self._is_initial = True
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[Rate]:
        """Return the rates of the epoch ``last_epoch``, one per group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Rate]:
        """Return the rates that were set last, one per group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, after the optimizer's step; or to a given ``epoch``,
        with the rates that all steps to it give."""
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            rates = self._rates_of(epoch)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_option(group, "lr", rate)
        self._remember()

    def _rates_of(self, epoch: int) -> list[Rate]:
        self.last_epoch = epoch
        return self.get_lr()

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
    """A schedule by a formula from a rate and the initial one to the next rate."""

    def _next(self, rate: Any, base: Any) -> Any:
        """Return the rate in ``last_epoch``, from that of the epoch before it."""
        raise NotImplementedError

    def get_lr(self) -> list[Rate]:
        # A group that was added later has no initial rate.
        pairs = zip_longest(self.optimizer.param_groups, self.base_lrs)
        return [self._next(group["lr"], base) for group, base in pairs]

    def _rates_of(self, epoch: int) -> list[Rate]:
        rates = list(self.base_lrs)
        for self.last_epoch in range(epoch + 1):
            self._is_initial = self.last_epoch == 0
            pairs = zip(rates, self.base_lrs, strict=True)
            rates = [self._next(rate, base) for rate, base in pairs]
        return rates


class StepLR(ByFormula):
    """Times ``gamma`` after every ``step_size`` epochs."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: Any, base: Any) -> Any:
        falls = self.last_epoch and not self.last_epoch % self.step_size
        return rate * self.gamma if falls else rate


class ExponentialLR(ByFormula):
    """Times ``gamma`` after every epoch."""

    def __init__(
        self, optimizer: Optimizer, gamma: float, last_epoch: int = -1
    ) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: Any, base: Any) -> Any:
        return rate if self._is_initial else rate * self.gamma


class CosineAnnealingLR(ByFormula):
    """A schedule along half a cosine, down to ``eta_min`` in ``T_max`` epochs, and up
    again in as many."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _next(self, rate: Any, base: Any) -> Any:
        epoch, half, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return rate
        if (epoch - 1 - half) % (2 * half) == 0:
            return rate + (base - low) * ((1 - math.cos(math.pi / half)) / 2)
        now, before = (1 + math.cos(math.pi * at / half) for at in (epoch, epoch - 1))
        return now / before * (rate - low) + low


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


def spread(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return one value, or a list's value, for each group.

    Raises:
        ValueError: the list has another length.
    """
    count = len(optimizer.param_groups)
    values = list(value) if isinstance(value, list | tuple) else [value] * count
    if len(values) != count:
        raise ValueError(f"expected {count} {name}, but got {len(values)}")
    return values


class LambdaLR(LRScheduler):
    """A schedule of the initial rate times a function of the epoch, one function for
    all groups or one for each."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1
    ) -> None:
        self.lr_lambdas = spread("lr_lambdas", optimizer, lr_lambda)
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

    def get_lr(self) -> list[Rate]:
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [base * function(self.last_epoch) for function, base in pairs]


class ReduceLROnPlateau(LRScheduler):
    """A schedule that lowers rates when a measure no longer improves.

    Args:
        mode: "min" or "max", what counts as better.
        factor: the factor, below 1, by which rates are multiplied.
        patience: the number of epochs without improvement before rates fall.
        threshold, threshold_mode: how much better an improvement is, "rel" or "abs".
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
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ValueError(f"{mode}, {threshold_mode}: one of these modes is unknown")
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.factor, self.patience, self.cooldown = factor, patience, cooldown
        self.min_lrs = spread("min_lrs", optimizer, min_lr)
        self.mode, self.threshold = mode, threshold
        self.threshold_mode, self.eps = threshold_mode, eps
        self.last_epoch = 0
        self.best = math.inf if mode == "min" else -math.inf
        self.cooldown_counter = 0
        self.num_bad_epochs = 0
        self._remember()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Go on to the next epoch, given the measure of the last one."""
        measured = float(metrics)
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
        if self.cooldown_counter > 0:
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


offer(__name__, sys.modules[__name__], kind=LRScheduler, but=("ByFormula",))
