"""Schedules declared by two formulas of the epoch.

Invariant: a declared schedule is a class as any other, whose options are attributes and
part of its state; stepping multiplies the rate as it is by ``factor``, which gives the
same rates as ``closed`` times the first rate, up to rounding.

    ExponentialLR = schedule(
        "ExponentialLR", "Times ``gamma`` after every epoch.",
        lambda s: 1 if s._is_initial else s.gamma, lambda s: s.gamma**s.last_epoch,
        gamma=REQUIRED,
    )
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from typing import Any

from ...engine.raw import Params
from ...engine.signatures import constructor, new_class
from .base import Rate, Rule

Formula = Callable[[Any], float]
"""A factor, from the schedule."""

REQUIRED = Parameter.empty


class ByFactor(Rule):
    """A schedule that multiplies rates."""

    def _factor(self) -> float:
        raise NotImplementedError

    def _closed(self) -> float:
        raise NotImplementedError

    def _rates(self) -> list[Rate]:
        return self._scaled(self._factor())

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = self._closed()
        return [base * factor for base in self.base_lrs]


def schedule(
    name: str,
    doc: str,
    factor: Formula,
    closed: Formula,
    settle: Callable[[Params], None] | None = None,
    /,
    **options: object,
) -> type[ByFactor]:
    """Make a class of schedules.

    Args:
        name: the class's name.
        doc: what it does, in a sentence.
        factor: what the rate as it is is multiplied by in the epoch ``last_epoch``.
        closed: what the first rate is multiplied by in that epoch.
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
        ByFactor.__init__(self, optimizer, last_epoch)

    members = {
        "__doc__": doc,
        "__init__": constructor(name, shown, begin),
        "_factor": factor,
        "_closed": closed,
    }
    return new_class(name, (ByFactor,), members)
