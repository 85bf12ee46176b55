"""The base of schedules, and those that are more than a formula: by functions, by a
measure, and one cycle.

Invariant: a schedule changes ``group["lr"]``; each step goes on from the rate in the
group, so that several schedules can act together. The state of a schedule by functions
has the attributes of callable objects, and nothing of plain functions.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from itertools import zip_longest
from typing import Any, TypeAlias

from ...engine.raw import Params
from ...engine.tensor import Tensor
from ..optimizer import Group, Optimizer

Rate: TypeAlias = "float | Tensor"
"""A learning rate; it is a tensor where the group's option is one."""


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

    _next: Callable[[Any, Any], Any]

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


class OneCycleLR(LRScheduler):
    """A schedule of one rise to the highest rate and a fall (Smith and Topin 2018).

    The momentum, which is the group's "momentum" or the first of its "betas", is lowest
    where the rate is highest.

    Args:
        max_lr: the highest rate, one number or one for each group.
        total_steps: the number of steps; None: ``epochs * steps_per_epoch``.
        pct_start: the share of the steps in which the rate rises.
        anneal_strategy: "cos" or "linear".
        div_factor, final_div_factor: the rate begins at ``max_lr/div_factor``, and ends
            at that divided by ``final_div_factor``.
        three_phase: whether the rate falls as fast as it rose, and then to its end.

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
        total = total_steps or (epochs or 0) * (steps_per_epoch or 0)
        if total <= 0 or not 0 <= pct_start <= 1:
            raise ValueError(
                "a cycle needs total_steps, or epochs and steps_per_epoch, and a "
                f"pct_start between 0 and 1, not {total} steps and {pct_start}"
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy is 'cos' or 'linear': {anneal_strategy}")
        if cycle_momentum and not {"momentum", "betas"} & optimizer.defaults.keys():
            raise ValueError(
                "optimizer must support momentum or beta1 with `cycle_momentum` option "
                "enabled"
            )
        self.total_steps = total
        self.cycle_momentum = cycle_momentum
        self._anneal_func_type = anneal_strategy
        top = pct_start * total - 1
        fall = ("max_lr", "initial_lr" if three_phase else "min_lr")
        end = 2 * top if three_phase else total - 1
        self._phases = [
            (top, ("initial_lr", "max_lr"), ("max_momentum", "base_momentum")),
            (end, fall, ("base_momentum", "max_momentum")),
        ]
        if three_phase:
            last = ("initial_lr", "min_lr"), ("max_momentum", "max_momentum")
            self._phases.append((total - 1, *last))
        bounds = {"max_lr": max_lr}
        if cycle_momentum:
            bounds |= {"max_momentum": max_momentum, "base_momentum": base_momentum}
        for name, value in bounds.items() if last_epoch == -1 else ():
            values = spread(name, optimizer, value)
            for group, each in zip(optimizer.param_groups, values, strict=True):
                group[name] = each
                if name == "max_lr":
                    group["initial_lr"] = each / div_factor
                    group["min_lr"] = group["initial_lr"] / final_div_factor
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is "
                f"{self.total_steps}"
            )
        ends = [end for end, *_ in self._phases]
        at = min(bisect_left(ends, step), len(ends) - 1)
        end, rates, momenta = self._phases[at]
        began = ends[at - 1] if at else 0.0
        share = (step - began) / (end - began)
        linear = self._anneal_func_type == "linear"

        def between(group: Group, names: tuple[str, str]) -> Any:
            first, last = (group[name] for name in names)
            if linear:
                return (last - first) * share + first
            return last + (first - last) / 2.0 * (math.cos(math.pi * share) + 1)

        for group in self.optimizer.param_groups if self.cycle_momentum else ():
            momentum = between(group, momenta)
            if "betas" in group:
                group["betas"] = (momentum, *group["betas"][1:])
            else:
                group["momentum"] = momentum
        return self._each(lambda group: between(group, rates))
