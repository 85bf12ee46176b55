"""Entries whose derivative is not defined, or depends on how a tie is decided.

A tie is a meeting of two equal numbers that are compared. The program runs twice more,
with every tie decided as less and as greater; a derivative that is the same in all runs
is not on a kink because of ties.

Invariant: this module only gives reasons against a verdict, never one for it.

    points = NonSmooth(subject, again)
    points.under(cotangent, entries)            # {step: (what, steps)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final

from ..numbers.balls import STEPS, Ball
from .entries import Entry
from .judge import same
from .subject import Place, Subject

MAX_JUMP_OUTPUTS: Final = 256
"""Largest number of the output's entries that are tested for a jump of the value."""

MAX_TIES: Final = 64
"""Largest number of ties that are searched for one that an entry is a part of."""

TIE: Final = "the derivative depends on which side of a tie is taken"
JUMP: Final = "the value depends on which side of a tie is taken"

Kinked = tuple[str, tuple[int, ...]]
"""Type of a kink or tie: a description, and the steps that are involved."""


class NonSmooth:
    """The kinks and ties at the point of one run."""

    def __init__(self, subject: Subject, again: Callable[[int], Subject]) -> None:
        self._subject = subject
        self._again = again
        self.beside: dict[int, Kinked] = {}
        """Kinks by the step of an entry that is on one unless its number is the true
        one. Two runs do not try each term of a tie of several, and where rounding
        decides a tie the other way is not known."""

    def any(self) -> Kinked | None:
        """Return one kink or tie that the point lies on; None if there is none."""
        for what, step in (*self._subject.kinks, *self._subject.edges()):
            return what, (step,)
        for tie in self._subject.ties():
            return TIE, tie
        return None

    def under(
        self, cotangent: Sequence[float], entries: Sequence[Entry]
    ) -> dict[int, Kinked]:
        """Return, by the step of an entry that is on a kink, the kink and its steps.

        Args:
            cotangent: the weights of the output's entries.
            entries: the entries that are asked about, with their true numbers.
        """
        subject = self._subject
        on: dict[int, Kinked] = {}
        for what, step in (*subject.kinks, *subject.edges()):
            for entry in self._below(step):
                on.setdefault(entry, (what, (step,)))
        lost = not all(e.true.is_finite() for e in entries)
        for what, step in self._without_slope(cotangent) if lost else ():
            for entry in self._below(step):
                on.setdefault(entry, (what, (step,)))
        self.beside = {}
        ties = subject.ties()
        if ties:
            jumps = self._jumps(cotangent)
            moved = self._moved(cotangent, entries)
            for step in (e.step for e in entries):
                if step in moved or jumps:
                    tie = self._tie_of(step, ties)
                    if tie is not None:
                        on.setdefault(step, (JUMP if jumps else TIE, tie))
                    elif step in moved:
                        on.setdefault(step, (TIE, ties[0]))
            if jumps or moved or self._crowd_matters(cotangent):
                self.beside = dict.fromkeys(self._crowd_entries, (TIE, ties[0]))
        unsure = self.any() if subject.unsure else None
        if unsure is not None:
            self.beside = {e.step: unsure for e in entries} | self.beside
        return on

    def _without_slope(self, cotangent: Sequence[float]) -> Iterator[tuple[str, int]]:
        """Yield steps on the way from the output whose functions have no derivative
        there, though no single argument shows it, with a description."""
        evaluation = self._subject.evaluation
        outputs = zip(self._subject.outputs, cotangent, strict=True)
        weighed = [step for step, weight in outputs if weight]
        for step in evaluation.order(weighed):
            own = STEPS.get(evaluation.graph.name(step))
            if own is not None and own.without is not None:
                slopes = [
                    evaluation.slope(step, position, evaluation.bits)
                    for position, _ in evaluation.graph.carrying(step)
                ]
                if not all(slope.is_finite() for slope in slopes):
                    yield f"{own.words} has no derivative {own.without}", step

    def _below(self, *steps: int) -> set[int]:
        return self._subject.evaluation.entries_below(steps)

    def _tie_of(
        self, entry: int, ties: Sequence[tuple[int, int]]
    ) -> tuple[int, int] | None:
        """Return the first tie that depends on an entry; None if none does."""
        return next((t for t in ties[:MAX_TIES] if entry in self._below(*t)), None)

    @cached_property
    def _sides(self) -> tuple[Subject | None, ...]:
        return tuple(map(self._side, (-1, 1)))

    def _side(self, tie_break: int) -> Subject | None:
        """Return the run with all ties decided one way; None if it fails."""
        try:
            return self._again(tie_break)
        except Exception:
            return None

    def _jumps(self, cotangent: Sequence[float]) -> bool:
        """Tell whether the value changes if ties are decided differently."""
        weighed = [k for k, w in enumerate(cotangent) if w][:MAX_JUMP_OUTPUTS]
        subject = self._subject
        here = subject.evaluation.settled([subject.outputs[k] for k in weighed])
        for side in self._sides:
            if side is None:
                continue
            there = side.evaluation.settled([side.outputs[k] for k in weighed])
            if not all(map(self._same, here, there)):
                return True
        return False

    def _moved(self, cotangent: Sequence[float], entries: Sequence[Entry]) -> set[int]:
        """Return the steps of entries whose derivative depends on the decision."""
        moved: set[int] = set()
        for side in self._sides:
            if side is None:
                return {e.step for e in entries}
            there = _derivatives(side, cotangent, [e.place for e in entries])
            pairs = zip(entries, there, strict=True)
            moved |= {e.step for e, b in pairs if not self._same(b, e.true)}
        return moved

    def _same(self, a: Ball, b: Ball) -> bool:
        unsure = self._subject.unsure
        return same(a, b, self._subject.job.dtype if unsure else None)

    @cached_property
    def _crowd_entries(self) -> set[int]:
        crowd = self._subject.crowd()
        return self._below(*crowd) if crowd else set()

    def _crowd_matters(self, cotangent: Sequence[float]) -> bool:
        """Tell whether deciding ties changes a derivative below a tie of many terms."""
        steps = self._crowd_entries
        if not steps or None in self._sides:
            return bool(steps)
        entries = self._subject.entries.items()
        places = [(n, k) for n, own in entries for k, s in enumerate(own) if s in steps]
        sides = [_derivatives(s, cotangent, places) for s in self._sides if s]
        return not all(map(same, *sides))


def _derivatives(
    side: Subject, cotangent: Sequence[float], places: Sequence[Place]
) -> list[Ball]:
    by_name: dict[str, list[int]] = {name: [] for name in side.asked}
    for name, at in places:
        by_name[name].append(at)
    side.mark(by_name)
    steps = [int(side.entries[name][at]) for name, at in places]
    return side.evaluation.gradient(side.outputs, cotangent, steps)
