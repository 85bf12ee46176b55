"""Constants at a step: rounding may carry a constant's float to the other side of a
step, so that the engine's numbers are those of another branch.

Invariant: a number is excused only if the program and the engine's rules give it where
constants are computed in floats; constants count as equal only if SymPy shows it.

    excuse(check, 0, entries)               # refuted entries may become `rounded`
    Equalities(subject, budget).doubt()     # a reason against a verdict, or None
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .entries import JudgedEntry
from .judge import Reference, judge
from .process.budget import Budget, OutOfTime, load_sympy
from .process.job import CERTIFIED, ROUNDED, UNKNOWN
from .subject import Subject

NOT_TOLD_APART: Final = "no precision tells two constants apart"
"""Reason why it stays open on which side of a step a constant lies."""

OVER_A_STEP: Final = "the rounding of a constant carries it over a step"
"""Note on a number that the program gives if its constants are floats."""


def excuse(check: Any, number: int, lost: Sequence[JudgedEntry]) -> None:
    """Make refuted entries of a row `rounded` whose numbers the program and the
    engine's rules give if constants are floats; they are open if it lies on a kink."""
    other = check.rounding if lost else None
    if other is None:
        return
    places: dict[str, list[int]] = {name: [] for name in check.claims}
    for name, at in (e.place for e in lost):
        places[name].append(at)
    other.subject.mark(places)
    steps = [
        int(other.subject.entries[name][at]) for name, at in (e.place for e in lost)
    ]
    twins = [e.twin(step) for e, step in zip(lost, steps, strict=True)]
    other.look(number, twins)
    other.hold_rules()
    for entry, twin in zip(lost, twins, strict=True):
        if twin.verdict in (CERTIFIED, ROUNDED):
            entry.round_off(OVER_A_STEP)
        elif twin.on_kink:
            entry.verdict, entry.reason, entry.on_kink = UNKNOWN, twin.reason, True


def gives(other: Any, k: int) -> bool:
    """Tell whether the program of another check gives an entry of the output."""
    if other is None:
        return False
    step, number = int(other.subject.outputs[k]), other.job.output.values()[k]
    (true,) = other.subject.evaluation.settled([step])
    found = judge(number, Reference(true, true, step), other.subject.roundings, 1.0)
    return found.verdict in (CERTIFIED, ROUNDED)


class Equalities:
    """The constants of a run that count as equal, and whether they are."""

    def __init__(self, subject: Subject, budget: Budget) -> None:
        self._subject, self._budget = subject, budget
        self._shown: dict[tuple[int, int], bool] = {}

    def doubt(self) -> str | None:
        """Return why it is open whether constants are equal; None if none is so."""
        for pair in tuple(self._subject.system.assumed):
            if pair not in self._shown:
                self._shown[pair] = self._are_equal(*pair)
            if not self._shown[pair]:
                return NOT_TOLD_APART + self._subject.text_of(pair)
        return None

    def _are_equal(self, a: int, b: int) -> bool:
        load_sympy()
        from .prove import are_equal

        try:
            with self._budget.slice(self._budget.left / 4):
                return are_equal(self._subject.evaluation, a, b)
        except OutOfTime:
            self._budget.check()
            return False
