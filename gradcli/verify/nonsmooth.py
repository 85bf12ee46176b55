"""Entries whose derivative is not defined, or depends on how a tie is decided.

A tie is a meeting of two equal numbers that are compared. The program runs twice more,
with every tie decided as less and as greater; a derivative that is the same in all runs
is not on a kink because of ties.

Invariant: this module only gives reasons against a verdict, never one for it.

    points = NonSmooth(subject, again)
    points.under(cotangent, entries)            # ({step: (what, steps)}, {})
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Final

from ..numbers.balls import STEPS, Ball
from ..numbers.decided import EQUAL
from .entries import Entry
from .judge import same
from .subject import Place, Subject

MAX_JUMP_OUTPUTS: Final = 256
MAX_TIES: Final = 64

TIE: Final = "the derivative depends on which side of a tie is taken"
JUMP: Final = "the value depends on which side of a tie is taken"

Kinked = tuple[str, tuple[int, ...]]
"""Type of a kink or tie: a description, and the steps that are involved."""


class NonSmooth:
    """The kinks and ties at the point of one run."""

    def __init__(self, subject: Subject, again: Callable[[int], Subject]) -> None:
        self._subject = subject
        self._again = again

    def any(self) -> Kinked | None:
        """Return one kink or tie that the point lies on; None if there is none."""
        for what, step in (*self._subject.kinks, *self._subject.edges()):
            return what, (step,)
        for tie in self._subject.ties():
            return TIE, tie
        return None

    def under(
        self, cotangent: Sequence[float], entries: Sequence[Entry]
    ) -> tuple[dict[int, Kinked], dict[int, Kinked]]:
        """Return, by the step of an entry, the kink that it is on; and the kink that it
        is on unless its number is the true one: two runs do not try each term of a tie
        of several, and where rounding decides a tie the other way is not known."""
        subject, below = self._subject, self._subject.evaluation.entries_below
        lost = not all(e.true.is_finite() for e in entries)
        without = self._without_slope(cotangent) if lost else ()
        on: dict[int, Kinked] = {}
        for what, step in (*subject.kinks, *subject.edges(), *without):
            for entry in below([step]):
                on.setdefault(entry, (what, (step,)))
        beside: dict[int, Kinked] = {}
        ties = subject.ties()
        if ties:
            jumps = self._jumps(cotangent)
            moved = self._moved(cotangent, entries)
            for step in (e.step for e in entries):
                if step in moved or jumps:
                    own = (t for t in ties[:MAX_TIES] if step in below(t))
                    tie = next(own, None)
                    if tie is not None:
                        on.setdefault(step, (JUMP if jumps else TIE, tie))
                    elif step in moved:
                        on.setdefault(step, (TIE, ties[0]))
            if jumps or moved or self._crowd_matters(cotangent):
                beside = dict.fromkeys(self._crowd_entries, (TIE, ties[0]))
        unsure = self.any() if subject.unsure else None
        if unsure is not None:
            beside = {e.step: unsure for e in entries} | beside
        return on, beside

    def _without_slope(self, cotangent: Sequence[float]) -> Iterator[tuple[str, int]]:
        """Yield steps on the way from the output whose functions have no derivative
        there, though no single argument shows it, with a description."""
        evaluation = self._subject.evaluation
        outputs = zip(self._subject.outputs, cotangent, strict=True)
        for step in evaluation.order([step for step, weight in outputs if weight]):
            own = STEPS.get(evaluation.graph.name(step))
            if own is not None and own.without is not None:
                slopes = (
                    evaluation.slope(step, position, evaluation.bits)
                    for position, _ in evaluation.graph.carrying(step)
                )
                if not all(slope.is_finite() for slope in slopes):
                    yield f"{own.words} has no derivative {own.without}", step

    @cached_property
    def _sides(self) -> tuple[Subject | None, ...]:
        """The runs with all ties decided one way and the other, and as equal if the
        engine's numbers part what is equal; None for one that fails."""
        equal = (EQUAL,) if self._subject.system.parted else ()
        return tuple(map(self._side, (-1, 1, *equal)))

    def _side(self, tie_break: int) -> Subject | None:
        try:
            return self._again(tie_break)
        except Exception:
            return None

    def _jumps(self, cotangent: Sequence[float]) -> bool:
        weighed = [k for k, w in enumerate(cotangent) if w][:MAX_JUMP_OUTPUTS]
        here, *sides = (
            run.evaluation.settled([run.outputs[k] for k in weighed])
            for run in (self._subject, *filter(None, self._sides))
        )
        return not all(all(map(self._same, here, there)) for there in sides)

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
        return self._subject.evaluation.entries_below(crowd) if crowd else set()

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
    found: list[Ball] = side.evaluation.gradient(side.outputs, cotangent, steps)
    return found
