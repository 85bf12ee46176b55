"""What all schedules share: the epoch, the rates, and saving both.

Invariant: a schedule changes ``group["lr"]`` (a cycle the momentum too); each step goes
on from the rate that it finds there, so that several schedules can act together.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..optimizer import Group, Optimizer

EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch "
    "1.1.0 and later, you should call them in the opposite order: `optimizer.step()` "
    "before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping "
    "the first value of the learning rate schedule."
)

DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the scheduler."
)


class LRScheduler:
    """The base of schedules; a subclass defines ``get_lr``.

    Args:
        optimizer: whose rates are changed.
        last_epoch: the epoch to go on from; -1: the beginning.
    """

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", group["lr"])
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when "
                    f"resuming scheduler with last_epoch >= 0: load the optimizer's "
                    "state first, or begin with last_epoch=-1"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._begin()

    def _begin(self) -> None:
        """Set the first epoch's rates."""
        self._step_count = 0
        self._advance(None)

    def get_lr(self) -> list[float]:
        """The rates of the epoch ``last_epoch``, one per group."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The rates that were set last, one per group."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch; call it after the optimizer's step."""
        if self._step_count == 1 and not self.optimizer.stepped:
            warnings.warn(EARLY, stacklevel=2)
        if epoch is not None:
            warnings.warn(DEPRECATED, stacklevel=2)
        self._advance(epoch)

    def _advance(self, epoch: int | None) -> None:
        self._step_count += 1
        self._set_rates(epoch)

    def _set_rates(self, epoch: int | None) -> None:
        """Go to an epoch, by its closed form if there is one; None: to the next."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = getattr(self, "_get_closed_form_lr", None)
        rates = self.get_lr() if epoch is None or closed is None else closed()
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._remember()

    def _remember(self) -> None:
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    def _each(self, rate: Callable[[Group], float]) -> list[float]:
        return [rate(group) for group in self.optimizer.param_groups]

    def _scaled(self, factor: float) -> list[float]:
        """The rates as they are, times a factor."""
        return self._each(lambda group: group["lr"] * factor)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule stands, without the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """One value for all groups, or a list with one for each.

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
