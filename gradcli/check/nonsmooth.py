"""Entries whose derivative is not defined, or depends on how a tie is decided.

A tie is a meeting of two equal numbers that are compared. The program runs again, with
every tie decided as less, as greater, and as numbers a little further on are compared,
on ways there and back; a derivative that is the same in all runs is not on a kink
because of ties. A derivative of higher order by a number needs those of all lower ones,
and all its ways are two.

Rounding may carry a constant's float to the other side of a step, so that the engine's
numbers are those of another branch. Such a number is excused only if the program and
the engine's rules give it where constants are computed in floats; constants count as
equal only if SymPy shows it.

Invariant: `NonSmooth` only gives reasons against a verdict, never one for it.

    points = NonSmooth(subject, again)
    points.under(cotangent, entries)            # ({step: (what, steps)}, {})
    points.obstacle(entry, 2)                     # (what, steps), or a run
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from random import Random
from typing import Any, Final

from .balls import STEPS, Ball
from .decided import EQUAL, Way
from .graph import derivatives
from .judge import JudgedEntry, Reference, judge, same
from .process.budget import Budget, OutOfTime, load_sympy
from .process.job import CERTIFIED, ROUNDED, UNKNOWN
from .subject import Place, Subject

MAX_JUMP_OUTPUTS: Final = 256
MAX_TIES: Final = 64

WAYS: Final = 4
"""Number of ways, each there and back, on which ties of several entries are tried."""

MAX_STEPS_OF_WAYS: Final = 2_000
"""Largest program, in steps, that is run on all ways; a larger one is run on one."""

TIE: Final = "the derivative depends on which side of a tie is taken"
JUMP: Final = "the value depends on which side of a tie is taken"

Kinked = tuple[str, tuple[int, ...]]
"""Type of a kink or tie: a description, and the steps that are involved."""


class NonSmooth:
    """The kinks and ties at the point of one run."""

    def __init__(self, subject: Subject, again: Callable[[int | Way], Subject]) -> None:
        self._subject = subject
        self._again = again

    def any(self) -> Kinked | None:
        """Return one kink or tie that the point lies on; None if there is none."""
        for what, step in (*self._subject.kinks, *self._subject.edges()):
            return what, (step,)
        for tie in self._subject.ties():
            return TIE, tie
        return None

    def twice(self) -> Kinked | None:
        """Return the kink or tie that keeps a single output from having second
        derivatives, as every one does if there are several entries."""
        steps = [int(step) for own in self._subject.entries.values() for step in own]
        if len(steps) > 1:
            return self.any()
        found = self.obstacle(steps[0], 2)
        if not isinstance(found, Subject):
            return found
        pair = (_coefficients(run, steps[0], 2) for run in (found, self._subject))
        return None if all(map(self._same, *pair)) else self.any()

    def obstacle(self, entry: int, order: int) -> Kinked | Subject:
        """Return the kink or tie that keeps a single output from having a derivative of
        this order by an entry; if there is none, a run with the derivatives that it has
        there: at a tie, one a little further on."""
        subject, below = self._subject, self._subject.evaluation.below
        for what, step in (*subject.kinks, *subject.edges()):
            if entry in below([step]):
                return what, (step,)
        ties = [tie for tie in subject.ties() if entry in below(tie)]
        if not ties:
            return subject
        ahead, *others = (self._side({entry: by}) for by in (1.0, -1.0))
        if any(side is None or side.system.level for side in (ahead, *others)):
            others += self._less_and_greater
        (value,) = _coefficients(subject, entry, 0)
        known = ahead and _coefficients(ahead, entry, order)
        for side in others:
            there = side and _coefficients(side, entry, order)
            if not (known and there):
                return TIE, ties[0]
            if not (self._same(known[0], value) and self._same(there[0], value)):
                return JUMP, ties[0]
            if not all(map(self._same, known, there)):
                return TIE, ties[0]
        return ahead or subject

    def named(self, what: str, steps: tuple[int, ...]) -> str:
        """Return a kink in words, with the terms that meet and the table's rule."""
        subject = self._subject
        named = what + subject.text_of(steps)
        if not subject.is_on_terms:
            return named
        load_sympy()
        from .formulas import shown

        rule = self._conventions.get(frozenset(map(shown, subject.terms_of(steps))))
        return named if rule is None else f"{named}; {rule}"

    @cached_property
    def _conventions(self) -> dict[frozenset[str | None], str]:
        load_sympy()
        from .crossings import conventions

        return conventions(self._subject.job)

    def shown(self) -> tuple[str, ...]:
        """Return the kinks at the point as texts."""
        subject = self._subject
        if not subject.is_on_terms:
            return tuple(dict.fromkeys(what for what, _ in subject.kinks))
        load_sympy()
        from .formulas import kinks_shown

        return kinks_shown(subject.terms, {step: what for what, step in subject.kinks})

    def under(
        self, cotangent: Sequence[float], entries: Sequence[JudgedEntry]
    ) -> tuple[dict[int, Kinked], dict[int, Kinked]]:
        """Return, by the step of an entry, the kink that it is on; and the kink that it
        is on unless its number is the true one: two runs do not try each term of a tie
        of several, and where rounding decides a tie the other way is not known."""
        subject, below = self._subject, self._subject.evaluation.below
        lost = not all(e.true.is_finite() for e in entries)
        without = self._without_slope(cotangent) if lost else ()
        on: dict[int, Kinked] = {}
        for what, step in (*subject.kinks, *subject.edges(), *without):
            for each in below([step]):
                on.setdefault(each, (what, (step,)))
        beside: dict[int, Kinked] = {}
        ties = subject.ties()
        if ties:
            jumps = self._jumps(cotangent)
            moved = self._moved(cotangent, entries)
            looked_at = ties[:MAX_TIES] if moved or jumps else ()
            met = [(tie, set(below(tie))) for tie in looked_at]
            for step in (e.step for e in entries):
                if step in moved or jumps:
                    tie = next((t for t, made in met if step in made), None)
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
    def _less_and_greater(self) -> tuple[Subject | None, ...]:
        """The runs with all ties decided as less and as greater, and as equal if the
        engine's numbers part what is equal; None for one that fails."""
        equal = (EQUAL,) if self._subject.system.parted else ()
        return tuple(map(self._side, (-1, 1, *equal)))

    @cached_property
    def _sides(self) -> tuple[Subject | None, ...]:
        """The runs with all ties decided otherwise; None for one that fails."""
        subject = self._subject
        steps = [int(step) for own in subject.entries.values() for step in own]
        count = WAYS if subject.size <= MAX_STEPS_OF_WAYS else 1
        draw, found = Random(subject.job.seed), list(self._less_and_greater)
        for _ in range(count if len(steps) > 1 else 1):
            there = {s: draw.choice((-1, 1)) * draw.uniform(0.5, 1) for s in steps}
            back = {step: -by for step, by in there.items()}
            found += map(self._side, (there, back))
        return tuple(found)

    def _side(self, tie_break: int | Way) -> Subject | None:
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

    def _moved(
        self, cotangent: Sequence[float], entries: Sequence[JudgedEntry]
    ) -> set[int]:
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
        first, *others = (_derivatives(s, cotangent, places) for s in self._sides if s)
        return not all(all(map(same, first, other)) for other in others)


def _derivatives(
    side: Subject, cotangent: Sequence[float], places: Sequence[Place]
) -> list[Ball]:
    steps = side.mark_places(places)
    found: list[Ball] = side.evaluation.gradient(side.outputs, cotangent, steps)
    return found


def _coefficients(side: Subject, entry: int, order: int) -> list[Ball]:
    """Return the value of a single output and its derivatives up to an order."""
    (output,) = side.outputs
    return derivatives(side.evaluation.graph, output, entry, range(order + 1))


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
    steps = other.subject.mark_places([e.place for e in lost])
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
        from .expressions import are_equal

        try:
            with self._budget.slice(self._budget.left / 4):
                return are_equal(self._subject.evaluation, a, b)
        except OutOfTime:
            self._budget.check()
            return False
