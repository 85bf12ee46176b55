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
        for i, schedule in enumerate(schedulers):
            if not hasattr(schedule, "optimizer"):
                raise TypeError(
                    f"{name} at index {i} should have `optimizer` as its attribute."
                )
            if isinstance(schedule, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it "
                    "requires additional kwargs to be specified when calling `step`, "
                    f"but got one at index {i} in the given schedulers sequence."
                )
            if schedule.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, "
                    f"but got scheduler {type(schedule).__name__} at index {i} has "
                    f"{schedule.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
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
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, "
                "but got no scheduler."
            )
        self.optimizer = optimizer or schedulers[0].optimizer
        self._check(schedulers, self.optimizer)
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
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler, but got no "
                "scheduler."
            )
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one "
                "more than the number of milestone points, but got number of "
                f"schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
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
