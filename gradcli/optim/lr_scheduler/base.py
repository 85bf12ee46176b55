"""What all schedules share: the epoch, the rates, and saving both.

Invariant: a schedule changes ``group["lr"]`` (a cycle the momentum too); each step goes
on from the rate that it finds there, so that several schedules can act together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeAlias
from weakref import ref

from ...engine.raw import Params
from ...engine.tensor import Tensor
from ..optimizer import Group, Optimizer

EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
    "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
    "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
    "the first value of the learning rate schedule."
)

OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
    "initialization. Please, make sure to call `optimizer.step()` before "
    "`lr_scheduler.step()`."
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
"""A rate of learning; a tensor where the group's own is one."""


class LRScheduler:
    """The base of schedules; a subclass defines ``get_lr``.

    Args:
        optimizer: whose rates are changed.
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
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Set the first epoch's rates."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self) -> list[Rate]:
        """The rates of the epoch ``last_epoch``, one per group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[Rate]:
        """The rates that were set last, one per group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch; call it after the optimizer's step."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(OVERRIDDEN, stacklevel=2)
            elif not self.optimizer._opt_called:
                warnings.warn(EARLY, stacklevel=2)
        self._step_count += 1
        if epoch is not None:
            warnings.warn(DEPRECATED, stacklevel=2)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Go to an epoch, by its closed form if there is one; None: to the next."""
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
        """Give the schedule's attributes, without the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: Params) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def _load_own(self, state: Params, apart: str) -> Any:
        """Take over a state but for one name, whose value is given back."""
        self.__dict__.update({k: v for k, v in state.items() if k != apart})
        return state[apart]


class Rule(LRScheduler):
    """A schedule by a rule: a subclass defines ``_rates``, the groups' next rates, and
    ``_get_closed_form_lr`` if they have a closed form in the epoch."""

    def get_lr(self) -> list[Rate]:
        """The rates of the epoch ``last_epoch``, one per group."""
        if not self._get_lr_called_within_step:
            warnings.warn(ASKED_LATE, stacklevel=2)
        return self._rates()

    def _rates(self) -> list[Rate]:
        raise NotImplementedError

    def _scaled(self, factor: float) -> list[Rate]:
        """The rates as they are, times a factor."""
        return self._each(lambda group: group["lr"] * factor)


def check_optimizer(optimizer: object) -> None:
    """Raise TypeError for what is no optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def copied(value: object) -> Any:
    """Copy a rate, so that later changes of a tensor do not reach it."""
    return value.clone() if isinstance(value, Tensor) else value


def set_option(group: Group, name: str, value: Any) -> None:
    """Set a group's option; one that is a tensor keeps its memory."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def _note_steps(optimizer: Optimizer) -> None:
    """Let an optimizer remember that it took a step since it has a schedule."""
    step: Any = optimizer.step
    if hasattr(step, "_wrapped_by_lr_sched"):
        return
    weak = ref(optimizer)
    optimizer._opt_called = False

    @wraps(step)
    def counted(*args: object, **kwargs: object) -> object:
        own = weak()
        if own is not None:
            own._opt_called = True
        return step.__func__(own, *args, **kwargs)

    counted._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = counted  # type: ignore[method-assign]


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """List one value per group, from one for all or from a list.

    Raises:
        ValueError: a list of another length.
    """
    count = len(optimizer.param_groups)
    if not isinstance(value, list | tuple):
        return [value] * count
    if len(value) != count:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has "
            f"{len(value)} values, param_groups has {count}."
        )
    return list(value)


STRATEGIES = ("cos", "linear")
"""Ways to go from one number to another: along half a cosine, or along a line."""


def check_strategy(strategy: str) -> None:
    """Raise ValueError for a strategy that is none of these."""
    if strategy not in STRATEGIES:
        raise ValueError(
            f"anneal_strategy must be one of 'cos' or 'linear', instead got {strategy}"
        )


def state_of(function: object) -> Params | None:
    """Give what a callable object holds; None for a plain function."""
    plain = function is None or isinstance(function, FunctionType)
    return None if plain else dict(function.__dict__)
