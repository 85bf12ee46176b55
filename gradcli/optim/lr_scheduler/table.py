"""The schedules that are a formula of the epoch: in steps, along a line or a cosine.

Invariant: a declared schedule is a class as any other, whose options are attributes and
part of its state. Its formula gives an epoch's rate from the rate before it and the
initial one; in it ``s`` is the schedule.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from ...engine.raw import Params
from ...engine.signatures import constructor, new_class
from .base import ByFormula

Formula = Callable[[Any, Any, Any], Any]
"""Function of a schedule, a group's rate and its initial rate to the next rate."""

REQUIRED = Parameter.empty


def schedule(
    name: str,
    doc: str,
    following: Formula,
    settle: Callable[[Params], None] | None = None,
    /,
    **options: object,
) -> type[ByFormula]:
    """Return a new class of schedules.

    Args:
        name: the class's name.
        doc: the class's docstring, in a sentence.
        following: the rate in the epoch ``last_epoch``, from the current rate.
        settle: checks the options, and may change them.
        options: the constructor's options between the optimizer and ``last_epoch``.
    """
    kind = Parameter.POSITIONAL_OR_KEYWORD
    given = {"optimizer": REQUIRED, **options, "last_epoch": -1}
    shown = [Parameter(n, kind, default=value) for n, value in given.items()]

    def begin(self: Any, given: Params) -> None:
        if settle is not None:
            settle(given)
        optimizer, last_epoch = given.pop("optimizer"), given.pop("last_epoch")
        self.__dict__.update(given)
        ByFormula.__init__(self, optimizer, last_epoch)

    members = {
        "__doc__": doc,
        "__init__": constructor(name, shown, begin),
        "_next": following,
    }
    return new_class(name, (ByFormula,), members)


def _constant_factor(given: Params) -> None:
    if not 0 <= given["factor"] <= 1:
        raise ValueError("factor has to be between 0 and 1")


def _linear_factors(given: Params) -> None:
    if not 0 < given["start_factor"] <= 1 or not 0 <= given["end_factor"] <= 1:
        raise ValueError("factors have to be between 0 and 1, the first one above 0")


def _counted_milestones(given: Params) -> None:
    """Replace the milestones by counts of how often each epoch is named."""
    given["milestones"] = Counter(given["milestones"])


def _constant(s: Any, lr: Any, base: Any) -> Any:
    """Return the rate times ``factor`` at the beginning, divided by it at the end."""
    if s.last_epoch == 0:
        return lr * float(s.factor)
    return lr * (1 / float(s.factor) if s.last_epoch == s.total_iters else 1)


def _linear(s: Any, lr: Any, base: Any) -> Any:
    """Return the next of neighbouring points of a line."""
    if s.last_epoch == 0:
        return lr * float(s.start_factor)
    if s._is_initial or s.last_epoch > s.total_iters:
        return lr
    rise = s.end_factor - s.start_factor
    done = s.total_iters * s.start_factor + (s.last_epoch - 1) * rise
    return lr * (1.0 + rise / done)


def _cosine(s: Any, lr: Any, base: Any) -> Any:
    """Return the next of neighbouring points of a cosine."""
    epoch, low = s.last_epoch, s.eta_min
    if s._is_initial:
        return lr
    if (epoch - 1 - s.T_max) % (2 * s.T_max) == 0:
        return lr + (base - low) * ((1 - math.cos(math.pi / s.T_max)) / 2)
    ratio = (1 + math.cos(math.pi * epoch / s.T_max)) / (
        1 + math.cos(math.pi * (epoch - 1) / s.T_max)
    )
    return ratio * (lr - low) + low


StepLR = schedule(
    "StepLR", "Times ``gamma`` after every ``step_size`` epochs.",
    lambda s, lr, base:
    lr * s.gamma if s.last_epoch and not s.last_epoch % s.step_size else lr,
    step_size=REQUIRED, gamma=0.1,
)  # fmt: skip

MultiStepLR = schedule(
    "MultiStepLR", "Times ``gamma`` at each of the epochs in ``milestones``.",
    lambda s, lr, base: lr * s.gamma ** s.milestones[s.last_epoch],
    _counted_milestones, milestones=REQUIRED, gamma=0.1,
)  # fmt: skip

ExponentialLR = schedule(
    "ExponentialLR", "Times ``gamma`` after every epoch.",
    lambda s, lr, base: lr if s._is_initial else lr * s.gamma,
    gamma=REQUIRED,
)  # fmt: skip

ConstantLR = schedule(
    "ConstantLR",
    "The initial rate times ``factor`` for the first ``total_iters`` epochs.",
    _constant, _constant_factor, factor=1.0 / 3, total_iters=5,
)  # fmt: skip

LinearLR = schedule(
    "LinearLR",
    "The initial rate times a factor that goes evenly from one value to another.",
    _linear, _linear_factors, start_factor=1.0 / 3, end_factor=1.0, total_iters=5,
)  # fmt: skip

CosineAnnealingLR = schedule(
    "CosineAnnealingLR",
    "A schedule along half a cosine, down to ``eta_min`` in ``T_max`` epochs, and up "
    "again in as many.",
    _cosine, T_max=REQUIRED, eta_min=0.0,
)  # fmt: skip
