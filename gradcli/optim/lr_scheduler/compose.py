"""Schedules made of others: all at once, or one after the other.

Invariant: all parts change the rates of one optimizer; their states are part of the
composed schedule's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ...engine.raw import Params
from ..optimizer import Optimizer
from .base import LRScheduler
from .plateau import ReduceLROnPlateau


class _Composed(LRScheduler):
    """Schedules of one optimizer."""

    _schedulers: Sequence[LRScheduler]

    def _check(self, schedulers: Sequence[object], optimizer: object) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ValueError(f"{name} expects at least one scheduler")
        for i, schedule in enumerate(schedulers):
            by_epoch = isinstance(schedule, LRScheduler)
            by_epoch = by_epoch and not isinstance(schedule, ReduceLROnPlateau)
            if not by_epoch or getattr(schedule, "optimizer", None) is not optimizer:
                raise ValueError(
                    f"{name} expects schedulers of one optimizer that step by epochs "
                    f"alone, but got {type(schedule).__name__} at index {i}"
                )

    def state_dict(self) -> Params:
        """Give the attributes of the schedule and its parts, without the optimizer."""
        state = super().state_dict()
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict: Params) -> None:
        """Take over what `state_dict` gave."""
        states = self._load_own(state_dict, "_schedulers")
        for part, state in zip(self._schedulers, states, strict=True):
            part.load_state_dict(state)


class ChainedScheduler(_Composed):
    """All schedules at every step, in order."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if optimizer is None and schedulers:
            optimizer = getattr(schedulers[0], "optimizer", None)
        self._check(schedulers, optimizer)
        self.optimizer = schedulers[0].optimizer
        self._schedulers = schedulers
        self._remember()

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch."""
        for part in self._schedulers:
            part.step()
        self._remember()


class SequentialLR(_Composed):
    """One schedule after the other.

    Args:
        optimizer: whose rates are changed.
        schedulers: the schedules; each begins at its own epoch 0.
        milestones: the epochs at which the next one takes over.
        last_epoch: the epoch to go on from; -1: the beginning.

    Raises:
        ValueError: not one milestone less than schedules, or other optimizers.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler],
        milestones: Sequence[int], last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR expects one scheduler more than milestones, but got "
                f"{len(schedulers)} and {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Every part set its first rate when it was made: only the first one's counts.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        for part in schedulers:
            _step_back(part)
        first = self._at(0)
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _at(self, epoch: int) -> LRScheduler:
        return self._schedulers[bisect_right(self._milestones, epoch)]

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch."""
        self.last_epoch += 1
        part = self._at(self.last_epoch)
        if self.last_epoch in self._milestones:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


def _step_back(schedule: LRScheduler) -> None:
    if isinstance(schedule, _Composed):
        for part in schedule._schedulers:
            _step_back(part)
    else:
        schedule.last_epoch -= 1
