"""Verdicts on claims: tests at points first, then a counterexample or a proof.

Invariant: `refuted` rests on a point where both sides are finite and differ clearly at
the working precision, `agrees` on all points that were compared, `proved` on SymPy.

    judge(task).rulings[0].verdict      # "proved"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import inf, log10
from typing import Final

import numpy as np

from ..engine.raw import Host
from .balls import to_float
from .claim_sides import (
    DEEP_BITS,
    Visit,
    are_finite,
    differing,
    distance,
    fits,
    fitted_array,
    on_equation,
    values_of,
    wrong_entries,
)
from .claims import (
    Claim,
    ClaimInput,
    ClaimsTask,
    Counterexample,
    Judgement,
    Point,
    Ruling,
    about_a_point,
    counting_point,
    random_points,
    simpler,
    small_points,
    typed_point,
)
from .graph import ACCURATE_BITS
from .nonsmooth import NOT_TOLD_APART
from .process.budget import Budget, OutOfTime, load_sympy
from .process.job import AGREES, PROVED, RAN_OUT, REFUTED, timed_out, words_of

MAX_CLAIM_ENTRIES: Final = 5_000
TRIES_PER_POINT: Final = 6

COMPARING_SHARE: Final = 0.6
"""Part of the time that comparing at points may take."""

FARTHER: Final = (10.0, -10.0, 100.0, -100.0, 1000.0, -1000.0)
"""Multiples of a point's numbers at which a claim that holds elsewhere is compared."""

MAX_REFUSALS: Final = 5
"""Number of points where the program fails before given values are kept fixed."""

MAX_BRANCHES: Final = 3

MAX_BRANCH_CONDITIONS: Final = 2
"""Largest number of a branch's conditions with which other branches are proved too."""

MAX_DECISIONS: Final = 8
"""Largest number of decisions at whose turns values are compared."""

SIMPLIFYING_PASSES: Final = 3

LOG_2: Final = log10(2)
"""Number of decimal digits that a bit is worth."""

MAX_SHOWN_ENTRIES: Final = 64
"""Largest number of entries of an array that is shown whole where shapes differ."""

Report = Callable[[Judgement], None]

Sides = tuple[Host, Host]
"""Type of the claimed and the true values at a point."""


@dataclass(slots=True)
class ClaimCase:
    """A claim, and what has been found out about it so far.

    pointed     whether the claim may be meant for the given point alone
    given_seen  whether it was compared at the given point
    right_here  whether it holds there
    undefined   the number of points where the derivative is finite, and it is not
    beyond      the number of points where only the second program has a finite value
    few         the decimals that have too few digits to tell the sides apart
    why         why there is no proof
    """

    claim: Claim
    pointed: bool = False
    ruling: Ruling = field(default_factory=Ruling)
    given_seen: bool = False
    right_here: bool = False
    wrong_at: Point | None = None
    seen: list[Visit] = field(default_factory=list)
    undefined: int = 0
    beyond: int = 0
    reason: str | None = None
    note: str | None = None
    few: dict[str, None] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)


def judge(task: ClaimsTask, report: Report = lambda judgement: None) -> Judgement:
    """Return the rulings on all claims; ``report`` gets each improved judgement."""
    return Judge(task, report).work()


class Judge:
    """The judge of one task's claims, with its time and the points it has visited."""

    def __init__(self, task: ClaimsTask, report: Report) -> None:
        self.task = task
        self.report = report
        self.budget = Budget(task.seconds)
        self.given = typed_point(task.inputs, task.seed)
        self.cases = [
            ClaimCase(claim, about_a_point(task, claim)) for claim in task.claims
        ]
        self.pinned: Point = {}
        self.tried = 0
        self.refusal: str | None = None

    def work(self) -> Judgement:
        count = sum(given.size for given in self.task.inputs)
        if count > MAX_CLAIM_ENTRIES:
            return self.task.unanswered().ended(
                f"too large to check: {count} entries; smaller shapes say as much"
            )
        reason = None
        try:
            self._compare()
            self.report(self._now())
            for case in self.cases:
                self._settle(case)
                self.report(self._now())
        except OutOfTime:
            reason = timed_out(self.task.seconds)
        except Exception as error:
            reason = words_of(error)
        return self._now().ended(reason)

    def _now(self) -> Judgement:
        rulings = tuple(case.ruling for case in self.cases)
        return Judgement(rulings, round(self.budget.spent, 3))

    # at points

    def _compare(self) -> None:
        """Compare every claim at every point, up to the first where it is wrong, and
        leave time for counterexamples and proofs."""
        try:
            with self.budget.slice(COMPARING_SHARE * self.budget.left):
                for point, visit in self._visits():
                    for case in self.cases:
                        if case.wrong_at is None:
                            self._look(case, point, visit)
        except OutOfTime:
            self.refusal = self.refusal or "time ran out; smaller shapes say as much"
        for case in self.cases:
            case.ruling = self._ruling(case)

    def _visits(self) -> Iterator[tuple[Point, Visit]]:
        if self.given is not None:
            visit = self._visit(self.given)
            if visit is not None:
                yield self.given, visit
        found = refused = 0
        points = random_points(self.task.inputs, self.task.seed)
        for sampled in islice(points, TRIES_PER_POINT * self.task.points):
            self.tried += 1
            refusals = self.refusal
            point = {**sampled, **self.pinned}
            visit = self._visit(point)
            refused += self.refusal is not refusals
            if refused >= MAX_REFUSALS and not found and not self.pinned:
                # Inputs that no claim differentiates by may be sizes.
                asked = {name for claim in self.task.claims for name in claim.by}
                self.pinned = {
                    given.name: given.values
                    for given in self.task.inputs
                    if given.values is not None and given.name not in asked
                }
            if visit is not None:
                found += 1
                yield point, visit
                if found == self.task.points:
                    return

    def _visit(self, point: Point) -> Visit | None:
        """Return the visit of a point; None if it is not usable: on a kink, unless
        values are compared, or where a target is not finite."""
        try:
            visit = Visit(self.task, point)
        except Exception as error:
            self.refusal = words_of(error)
            return None
        if visit.is_non_smooth() and all(case.claim.by for case in self.cases):
            return None
        if not visit.is_sure():
            self.refusal = NOT_TOLD_APART
            return None
        try:
            targets = [visit.target(claim) for claim in self.task.claims]
            if all(map(are_finite, map(values_of, targets))):
                return visit
        except KeyError:
            # Only another branch computes this variable; `_look` notes that.
            return visit
        if any(not case.claim.by for case in self.cases) and self._lacks_value(visit):
            for case in self.cases:
                case.beyond += not case.claim.by
        return None

    def _lacks_value(self, visit: Visit) -> bool:
        """Tell whether the second program has a value where the first has none."""
        try:
            return not are_finite(values_of(visit.output)) and are_finite(
                values_of(visit.other())
            )
        except Exception:
            # The second program has no value here, like the first.
            return False

    def _look(self, case: ClaimCase, point: Point, visit: Visit) -> None:
        try:
            sides = compared(visit, case.claim)
        except KeyError:
            case.reason = f"'{case.claim.output}' has no value there"
            return
        except Exception as error:
            case.reason = f"the claim does not run on symbols: {words_of(error)}"
            return
        if sides is None or not are_finite(sides[1]):
            return
        claimed, true = sides
        if not are_finite(claimed):
            case.undefined += 1
            return
        case.given_seen = case.given_seen or point is self.given
        fit = fits(claimed, true)
        deep = case.pointed and point is self.given
        if not fit or self._is_wrong(case, visit, sides, deep):
            case.wrong_at = point
        elif point is self.given:
            case.right_here = True
        case.seen.append(visit)
        said, has = list(claimed.shape), list(true.shape)
        case.note = f"the claim has shape {said}, the derivative {has}"
        if fit:
            stands = f"the claim's shape {said} means {has}"
            case.note = None if said == has else stands

    def _is_wrong(
        self, case: ClaimCase, visit: Visit, sides: Sides, deep: bool
    ) -> bool:
        wrong, few = wrong_entries(visit, case.claim, *sides, deep)
        case.few |= dict.fromkeys(few)
        return bool(wrong)

    def _ruling(self, case: ClaimCase) -> Ruling:
        seen = len(case.seen)
        if case.wrong_at is not None and case.pointed and case.right_here:
            return Ruling(AGREES, 1, note="the point given, and not everywhere")
        note = "; ".join(self._notes(case)) or None
        if case.wrong_at is not None:
            return Ruling(REFUTED, seen, note=note)
        if not seen:
            return Ruling(note=self._nothing(case))
        shallow = f"compared in {int(ACCURATE_BITS * LOG_2)} digits"
        return Ruling(AGREES, seen, note=f"{shallow}; {note}" if note else shallow)

    def _notes(self, case: ClaimCase) -> Iterator[str]:
        if case.note:
            yield case.note
        if case.few:
            yield f"to the digits of {', '.join(case.few)}, and no further"
        if self.given is not None and not case.given_seen:
            yield "the point given is on a kink or outside the domain"
        sides = ("the first program", "the second program")
        true, claimed = ("the derivative", "the claim") if case.claim.by else sides
        pairs = ((case.undefined, true, claimed), (case.beyond, claimed, true))
        for count, has, lacks in pairs:
            if count:
                yield f"at {count} more points {has} has a value and {lacks} has none"

    def _nothing(self, case: ClaimCase) -> str:
        if case.undefined:
            return "the claim has no finite value at any point looked at"
        why = case.reason or self.refusal
        tried = f"none of {self.tried} random points could be used"
        return f"{tried}: {why}" if why else f"{tried}: no finite values there"

    # what follows

    def _settle(self, case: ClaimCase) -> None:
        """Find a counterexample to a claim that is false, or a proof of another one."""
        if case.wrong_at is None and case.seen:
            # Formulas say more beside a kink than on it.
            case.seen.sort(key=Visit.is_non_smooth)
            if self.task.prove and not case.few:
                case.ruling = self._proved(case)
            self._look_closer(case)
        wrong = case.wrong_at
        if wrong is not None and case.ruling.verdict == REFUTED:
            search = self._search(case)
            here = case.pointed and wrong is self.given
            found = search.at(wrong) if here else search.smallest(wrong)
            case.ruling = replace(case.ruling, counterexample=found)
            if (
                found is not None
                and found.entry is not None
                and found.claimed == found.true
            ):
                point = {name: values for name, _, values in found.inputs}
                share = distance(Visit(self.task, point), case.claim)
                note = f"the two differ by {share} of their size"
                case.ruling = replace(case.ruling, note=note)

    def _look_closer(self, case: ClaimCase) -> None:
        """Compare the sides of a claim without a proof in more digits; those of values
        also where the program decides otherwise."""
        try:
            with self.budget.slice(self.budget.left / 2):
                for visit in [] if case.ruling.verdict == PROVED else case.seen:
                    sides = compared(visit, case.claim)
                    if sides is not None and self._is_wrong(case, visit, sides, True):
                        case.wrong_at = visit.point
                        break
                else:
                    derived = bool(case.claim.by)
                    here = _farther(case) if derived else self._neighbours(case.seen[0])
                    search = self._search(case)
                    case.wrong_at = next(filter(search.wrong_at, here), None)
                digits = int(DEEP_BITS * LOG_2)
        except OutOfTime:
            self.budget.check()
            digits = int(ACCURATE_BITS * LOG_2)
        if case.wrong_at is not None:
            case.ruling = Ruling(REFUTED, case.ruling.points)
        elif case.ruling.verdict != PROVED:
            notes = [] if case.few else [f"compared in {digits} digits"]
            case.ruling = replace(
                case.ruling,
                note="; ".join(dict.fromkeys([*notes, *self._notes(case), *case.why])),
            )

    def _neighbours(self, visit: Visit) -> Iterator[Point]:
        """Yield the points nearest to a visit's where sides of its decisions meet."""
        load_sympy()
        from .crossings import Crossing, Gap, meeting

        entries = {e.serial: (name, k) for name in visit.tensors
                   for k, e in enumerate(visit.entries(name))}  # fmt: skip
        for each in islice(visit.terms.decisions.values(), MAX_DECISIONS):
            gap = Gap(visit.terms, Crossing(None, None, each.left, each.right), entries)
            found = meeting(gap, inf)
            if found is not None:
                moved = {entries[s]: to_float(b) for s, b in found.moved.items()}
                yield {
                    name: tuple(moved.get((name, k), x) for k, x in enumerate(own))
                    for name, own in visit.point.items()
                }

    def _search(self, case: ClaimCase) -> Search:
        return Search(self.task, case.claim, frozenset(self.pinned), self.budget)

    def _proved(self, case: ClaimCase) -> Ruling:
        """Return the ruling after proofs on the first point's branch and others."""
        load_sympy()
        from .whole import Proof, prove

        proof = Proof(False)
        try:
            with self.budget.slice(self.budget.left / 2):
                proof = prove(case.seen[0], case.claim, self.budget)
            reason = proof.reason or "SymPy found no proof"
        except OutOfTime:
            self.budget.check()
            reason = f"SymPy {RAN_OUT} on the proof"
        except RecursionError:
            reason = "the expressions are nested too deeply for SymPy"
        except Exception as error:
            reason = f"no proof: {words_of(error)}"
        if not proof.done:
            case.why.append(reason)
            return case.ruling
        conditions = self._further(case, proof.conditions)
        note = "; ".join(self._notes(case)) or None
        return Ruling(PROVED, case.ruling.points, None, note, conditions)

    def _further(self, case: ClaimCase, first: tuple[str, ...]) -> tuple[str, ...]:
        """Return a proof's conditions, joined with those of further branches."""
        from .whole import branch, prove

        proved = {first: None}
        met = {branch(case.seen[0], case.claim)}
        for visit in case.seen[1:]:
            few = 0 < len(first) <= MAX_BRANCH_CONDITIONS
            if not few or len(proved) == MAX_BRANCHES:
                break
            here = branch(visit, case.claim)
            if here in met:
                continue
            met.add(here)
            try:
                with self.budget.slice(self.budget.left / 4):
                    proof = prove(visit, case.claim, self.budget)
            except (Exception, OutOfTime):
                # The proofs that were found before are kept.
                break
            if proof.done and len(proof.conditions) <= MAX_BRANCH_CONDITIONS:
                proved[proof.conditions] = None
        if len(proved) == 1 or () in proved:
            return first
        return (" or ".join(" and ".join(each) for each in proved),)


@dataclass(slots=True)
class Search:
    """A search for the simplest point at which a claim is false: both sides have finite
    values there, which differ."""

    task: ClaimsTask
    claim: Claim
    pinned: frozenset[str]
    budget: Budget
    best: Point = field(default_factory=dict)

    def smallest(self, start: Point) -> Counterexample | None:
        """Return the simplest counterexample that is found in time, or ``start``."""
        self.best = start
        sides = self.wrong_at(start)
        inputs, pinned = self.task.inputs, self.pinned
        if sides is not None and not fits(*sides):
            self._take(counting_point(inputs, pinned))
            return self.at(self.best)
        try:
            with self.budget.slice(self.budget.left / 2):
                any(map(self._take, small_points(inputs, self.task.seed, pinned)))
                free = [given for given in inputs if given.name not in pinned]
                self._clear(free)
                self._simplify(free)
        except OutOfTime:
            self.budget.check()
        return self.at(self.best)

    def at(self, point: Point) -> Counterexample | None:
        """Return a point as a counterexample; None if the claim is true there."""
        sides = self.wrong_at(point)
        if sides is None:
            return None
        return shown(self.task, on_equation(self.task, point), sides)

    def _take(self, point: Point) -> bool:
        """Take a point as the best if the claim is false there; tell whether it is."""
        if self.wrong_at(point) is None:
            return False
        self.best = point
        return True

    def _put(self, name: str, start: int, numbers: list[float]) -> bool:
        """Take the best point with some numbers replaced, if it is wrong there."""
        own = list(self.best[name])
        own[start : start + len(numbers)] = numbers
        return self._take({**self.best, name: tuple(own)})

    def wrong_at(self, point: Point) -> Sides | None:
        """Return the claimed and the true values; None if they agree or fail."""
        try:
            visit = Visit(self.task, point)
            sides = compared(visit, self.claim)
            if sides is None or not all(map(are_finite, sides)):
                return None
            if fits(*sides) and not wrong_entries(visit, self.claim, *sides, True)[0]:
                return None
        except Exception:
            # A point at which the program fails is no counterexample.
            return None
        return sides

    def _clear(self, free: Sequence[ClaimInput]) -> None:
        """Set shorter and shorter runs of entries to zero; the claim stays wrong."""
        for given in free:
            size = given.size
            while size > 1:
                for start in range(0, given.size, size):
                    held = self.best[given.name][start : start + size]
                    if any(held):
                        self._put(given.name, start, [0.0] * len(held))
                size //= 2

    def _simplify(self, free: Sequence[ClaimInput]) -> None:
        """Set every entry to the simplest number that leaves the claim wrong."""
        for _ in range(SIMPLIFYING_PASSES):
            before = self.best
            for given in free:
                for at in range(given.size):
                    simple = simpler(self.best[given.name][at])
                    any(self._put(given.name, at, [value]) for value in simple)
            if self.best == before:
                return


def _farther(case: ClaimCase) -> list[Point]:
    """Return points at which the inputs that a claim derives by are larger, or have the
    other sign: a kink may lie between. There are none for a claim about the
    point that was given."""
    by, point = case.claim.by, case.seen[0].point
    return [
        {n: tuple(k * x for x in own) if n in by else own for n, own in point.items()}
        for k in FARTHER
        if not (case.pointed and case.right_here)
    ]


def compared(visit: Visit, claim: Claim) -> Sides | None:
    """Return the claimed and the true values; None on a kink, where a program has a
    value alone."""
    true = visit.truth(claim)
    if claim.by and visit.is_non_smooth():
        return None
    claimed = visit.claimed(claim)
    # The second program may have kinks of its own.
    other = claim.expression is None and claim.by and visit.is_non_smooth()
    return None if other else (claimed, true)


def shown(task: ClaimsTask, point: Point, sides: Sides) -> Counterexample:
    """Return the counterexample at a point, with the first entry that differs."""
    claimed, true = sides
    inputs = tuple((g.name, g.shape, tuple(point[g.name])) for g in task.inputs)
    entry = None
    values = fitted_array(claimed, true.shape)
    few = [side if side.size <= MAX_SHOWN_ENTRIES else side[:0] for side in sides]
    parts = [list(side.flat) for side in few]
    if values is not None:
        wrong = (differing(claimed, true) or [0])[0]
        entry = tuple(map(int, np.unravel_index(wrong, true.shape)))
        parts = [[values.flat[wrong]], [true.flat[wrong]]]
    said, has = (tuple(map(to_float, part)) for part in parts)
    return Counterexample(inputs, entry, said, has, claimed.shape, true.shape)
