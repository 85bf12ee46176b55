"""The check of one job: which entries are checked, and the verdict on each.

First, numbers are compared: the derivative of every chosen entry as a ball, the
engine's rules on the same balls, and the engine's float (`certified`, `rounded`,
`refuted`). All entries of a small program are chosen at once; of a large one, growing
numbers are drawn by the job's seed, as work and time allow (`sampled`). Then SymPy
proves what it can (`proved`); it is imported only for that.

Invariant: a verdict claims no more than was done. The true numbers are made from the
program and the point; the engine's rules are only what is checked, and the basis of
the bounds on rounding errors.

    verify(job, evaluate).verdict       # "proved"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import compress
from math import isfinite, isnan
from random import Random
from typing import Any, Final

import numpy as np

from ..engine import Tensor
from ..engine.raw import Host
from ..engine.walk import inputs_first
from .balls import ZERO, Ball, ball, is_infinite, is_nan, size, to_float
from .decided import Way
from .graph import Evaluation
from .judge import (
    FEW_UNITS,
    Claimed,
    InputReport,
    JudgedEntry,
    Reference,
    Row,
    is_right,
    judge,
)
from .namespace import ObjectNamespace
from .nonsmooth import OVER_A_STEP, Equalities, Kinked, NonSmooth, excuse, gives
from .process.budget import Budget, OutOfTime, load_sympy
from .process.job import (
    CERTIFIED,
    PROVED,
    REFUTED,
    ROUNDED,
    UNKNOWN,
    Job,
    Verification,
    timed_out,
    words_of,
)
from .rounding import least_normal, numbers_moved, unit_roundoff
from .subject import (
    MAX_RULED_STEPS,
    Evaluate,
    Subject,
    run_of,
    unit,
)
from .tape import INSIDE, Tape, TapeNamespace
from .terms import Terms

OTHER_BRANCH: Final = "rounding took another branch than exact numbers take"
"""Remark on numbers for which no formula is proved."""

NOT_USED: Final = "what is made of it has no derivative there, and is not used"
"""Note on a NaN that comes of a value which no output uses."""

Tell = Callable[[Verification], None]

MAX_ENTRIES_ON_TERMS: Final = 2048
"""Largest number of entries of all inputs that are checked on terms, not a tape."""

MAX_ENTRIES_INSIDE: Final = 8_000
"""Largest number of entries of all inputs of a program with a derivative in it, which
only terms have."""

MAX_ROWS_ON_TERMS: Final = 4 * MAX_ENTRIES_ON_TERMS
"""Largest number of entries of a derivative that are checked on terms, not a tape."""

MAX_HESSIAN_ENTRIES: Final = 50_000

ROUNDS: Final = (4, 32, 256, 1024)
"""Numbers of an input's entries that are drawn, one for each round."""

MAX_SAMPLED_STEPS: Final = 400_000
"""Largest number of steps above the drawn entries of an input; above it, its
derivative is only compared with a pass in float64."""

MAX_FARTHEST: Final = 32

MAX_ROUND_STEPS: Final = 4_000_000
"""Largest number of steps of a round, summed over its rows; a round with more is not
begun."""

MAX_COMPARED_OUTPUTS: Final = 16

TERMS_SHARE: Final = 0.6
"""Part of the time that checking all entries on terms may take before the tape."""

STEP_SECONDS: Final = 2e-5
"""Estimate of the time that one step takes, in seconds."""

TRIALS_OF_NUMBERS: Final = 3
"""Number of trials in which numbers that a Python program computed are moved."""

TOO_MANY: Final = "too many entries for SymPy's derivative of the program"


def verify(
    job: Job, evaluate: Evaluate, tell: Tell = lambda verification: None
) -> Verification:
    """Return the verification of a job, whose program ``evaluate`` runs on tensors by
    name; ``tell`` is called after each improvement. Exceptions become notes."""
    budget = Budget(job.seconds)
    count = sum(i.value.count for i in job.inputs)
    claimed = sum(i.claim.count for i in job.inputs if i.claim is not None)
    many = count > MAX_ENTRIES_ON_TERMS or (
        job.kind == "jacobian" and claimed > MAX_ROWS_ON_TERMS
    )
    divisible = job.kind != "hessian" and not job.formulas
    if job.kind == "hessian" and count > MAX_HESSIAN_ENTRIES:
        return Verification.nothing(job, f"too large to check: {count} entries")
    if job.kind == "hessian" and any(i.claim and i.claim.places for i in job.inputs):
        return Check(job, evaluate, tell, budget, tape=False).within_time()
    if not (many and divisible):
        share = TERMS_SHARE if divisible and claimed > ROUNDS[0] else 1.0
        try:
            with budget.slice(budget.left * share):
                check = Check(job, evaluate, tell, budget, tape=False)
                check.numbers()
            return check.proved()
        except OutOfTime:
            if share == 1.0:
                return Verification.nothing(job, timed_out(job.seconds), budget.spent)
    large = Check(job, evaluate, tell, budget, tape=True)
    found = large.within_time()
    if large.reason == INSIDE and count <= MAX_ENTRIES_INSIDE:
        return Check(job, evaluate, tell, budget, tape=False).within_time()
    return found


class Check:
    """A check of one job; its reports hold what has been shown so far.

    terms, tapes  the namespaces in which its program runs
    called        what the program's output is called
    """

    terms: type[ObjectNamespace] = ObjectNamespace
    tapes: type[TapeNamespace] = TapeNamespace
    called: str = "the program's value"

    def __init__(
        self, job: Job, evaluate: Evaluate, tell: Tell, budget: Budget, tape: bool
    ) -> None:
        self.job = job
        self.budget = budget
        self._evaluate = evaluate
        self._tell = tell
        self.is_large = tape
        self.in_floats = False
        """Whether constants are computed in floats, as the engine computes them."""
        draw = Random(job.seed)
        self.claims = {
            i.name: Claimed(i, draw, ROUNDS[-1]) for i in job.inputs if i.claim
        }
        self.reports = {
            n: InputReport(n, [], unseen=len(c)) for n, c in self.claims.items()
        }
        self.rows: list[Row] = []
        self._unruled: list[tuple[Row, dict[int, Kinked]]] = []
        """Certified rows on which the engine's rules have not been run yet, each with
        the kinks of entries that are on one unless their number is the true one."""
        self._seen: dict[str, Host] = {}
        """Positions of the entries in the reports, by input."""
        self.reason: str | None = None
        self.whole: Any = None

    # running

    @cached_property
    def subject(self) -> Subject:
        return self._run(0)

    def _run(self, tie_break: int | Way) -> Subject:
        if self.is_large:
            tape = self.tapes(Tape(tie_break, self.job.dtype))
            tape.system.in_floats = self.in_floats
            return run_of(self.job, self._output, tape)
        terms = self.terms(Terms(tie_break, self.job.dtype))
        terms.system.in_floats = self.in_floats
        return run_of(self.job, self._output, terms)

    @cached_property
    def rounding(self) -> Check | None:
        """The check of the program whose constants are computed in floats; None if that
        does not run."""
        if self.in_floats:
            return None
        other = type(self)(
            self.job, self._evaluate, lambda found: None, self.budget, self.is_large
        )
        other.in_floats = True
        try:
            other.subject  # noqa: B018
        except Exception:
            return None
        return other

    def _output(self, tensors: dict[str, Tensor]) -> object:
        return self._evaluate(tensors)

    @cached_property
    def _nonsmooth(self) -> NonSmooth:
        return NonSmooth(self.subject, self._run)

    def numbers(self) -> None:
        """Compare all entries with the true numbers in one round."""
        try:
            self.subject  # noqa: B018
        except Exception as error:
            self.reason = f"the program does not run on symbols: {words_of(error)}"
            return
        try:
            self._round(max(map(len, self.claims.values()), default=0))
        except Exception as error:
            self.reason = words_of(error)

    def compared(self) -> Verification:
        """Compare all entries with the true numbers, and with the engine's rules."""

        def work() -> None:
            self.numbers()
            self.hold_rules()

        self._in_time(work)
        return self._ended()

    def within_time(self) -> Verification:
        """Compare growing numbers of entries, within time and the limits on work."""
        self._in_time(self._rounds)
        return self._ended()

    def _in_time(self, work: Callable[[], object]) -> None:
        """Work for the time that is left; note the reason if that ends early."""
        try:
            with self.budget.slice(self.budget.left):
                work()
        except OutOfTime:
            self.reason = timed_out(self.job.seconds)
        except Exception as error:
            self.reason = words_of(error)

    def proved(self) -> Verification:
        """Return the verification, with SymPy's proofs unless a reason forbids them."""
        if self.reason is None:
            self._tell(self._now())
            self._in_time(self.hold_rules)
        many = sum(map(len, self.claims.values())) > MAX_ROWS_ON_TERMS
        if many:
            for report in self.reports.values():
                report.remark = TOO_MANY
        elif self.reason is None:
            load_sympy()
            from .whole import SymbolicCheck

            subject = self.subject
            if subject.terms.is_crossed():
                for report in self.reports.values():
                    report.remark = OTHER_BRANCH
                return self._ended()
            note = lambda: self._tell(self._now())
            self.whole = SymbolicCheck(
                self.job, subject, self.rows, self.reports, self.budget, note
            )
            self._in_time(self.whole.work)
        return self._ended()

    def _ended(self) -> Verification:
        return self._now().ended(self.reason)

    def _now(self) -> Verification:
        entries = [e for report in self.reports.values() for e in report.entries]
        found = [report.verdict() for report in self.reports.values()]
        proved = any(e.verdict == PROVED for e in entries)
        stated = proved or any(each.stated for each in found)
        kinked = any(e.on_kink for e in entries)
        return Verification.about(
            found,
            self.budget.spent,
            side_conditions=self.whole.conditions() if stated and self.whole else (),
            kinks=self._nonsmooth.shown() if kinked else (),
        )

    # choosing entries

    def _rounds(self) -> None:
        most = max((len(c.order) for c in self.claims.values()), default=0)
        left = self._left_to_floats()
        cost = STEP_SECONDS
        for count in (*(r for r in ROUNDS if r < most), most):
            took = self.budget.spent
            chosen = self._chosen(count, left)
            work = self._mark(chosen) * len(self._row_numbers(chosen))
            slow = isfinite(self.job.seconds) and cost * work > self.budget.left / 2
            seen = any(report.entries for report in self.reports.values())
            if seen and (work > MAX_ROUND_STEPS or slow):
                break
            self._round(count, left)
            if count != ROUNDS[0]:
                # The first round also pays for work that all later rounds share.
                cost = (self.budget.spent - took) / max(1, work)
            self._tell(self._now())
        self._in_floats(left)

    def _left_to_floats(self) -> frozenset[str]:
        left = set()
        for name, claim in self.claims.items():
            few = {**dict.fromkeys(self.claims, _NONE), name: claim.order[: ROUNDS[0]]}
            if len(claim.order) and self._mark(few) > MAX_SAMPLED_STEPS:
                left.add(name)
        return frozenset(left)

    def _mark(self, chosen: Mapping[str, Host]) -> int:
        """Mark the entries at these positions of the claims; return their steps."""
        return self.subject.mark(
            {name: at % self.claims[name].own for name, at in chosen.items()}
        )

    def _chosen(self, count: int, left: frozenset[str]) -> dict[str, Host]:
        return {
            name: np.sort(claim.order[: 0 if name in left else count])
            for name, claim in self.claims.items()
        }

    def _row_numbers(self, chosen: dict[str, Host]) -> list[int]:
        """Return the rows to check: 0 for a gradient, for a Jacobian those chosen."""
        if self.job.kind == "gradient":
            return [0]
        rows = [at // self.claims[name].own for name, at in chosen.items()]
        found: list[int] = np.unique(np.concatenate(rows)).tolist()
        return found

    # looking at entries

    def _round(self, count: int, left: frozenset[str] = frozenset()) -> None:
        chosen = self._chosen(count, left)
        reports = {name: self._report(name, at) for name, at in chosen.items()}
        entries = [e for report in reports.values() for e in report.entries]
        self.rows = []
        for number in self._row_numbers(chosen):
            own = [e for e in entries if e.row == number]
            self.subject.mark_places([e.place for e in own])
            self.look(number, own)
            self.budget.check()
        # The reports of a round replace the older ones only once the round is complete.
        self.reports, self._seen = reports, chosen
        self._compare_output()

    @cached_property
    def _slopes(self) -> tuple[str, ...]:
        """Notes on the operations whose rule is not the slope of their value."""
        edge = self.subject.output.edge
        below = inputs_first([edge]) if edge is not None else []
        rows = (getattr(each, "op", None) for each in below)
        said = {op.base: op.slope for op in rows if op is not None and op.slope}
        return tuple(f"the slope of {name}: {text}" for name, text in said.items())

    def _report(self, name: str, chosen: Host) -> InputReport:
        claim, in_rows = self.claims[name], self.job.kind != "gradient"
        entries = list(claim.entries(chosen, self.subject.entries[name], in_rows))
        unseen, every = len(claim) - len(entries), len(claim)
        how = f"{len(entries)} of {every} entries, drawn with seed {self.job.seed}"
        report = InputReport(name, entries, unseen=unseen, slopes=self._slopes,
                        sampled=how if entries and unseen else None,
                        wanted=self.job.formulas)  # fmt: skip
        if self.is_large and not unseen:
            report.remark = TOO_MANY
        return report

    def look(self, number: int, entries: list[JudgedEntry]) -> None:
        """Compare one row's entries with the true numbers, and set their verdicts."""
        row = self._row(number, entries)
        self.rows.append(row)
        undefined = self._undefined(row.cotangent)
        if self.job.kind == "hessian":
            kink = self._nonsmooth.twice()
            on = {e.step: kink for e in entries} if kink is not None else {}
            beside: dict[int, Kinked] = {}
        else:
            on, beside = self._nonsmooth.under(row.cotangent, entries)
        roundings = self.subject.roundings
        if not self.is_large and all(
            is_right(e.number, e.true, roundings) for e in entries
        ):
            self._unruled.append((row, beside))
            self._judge(entries, map(Reference, (e.true for e in entries)), beside)
        else:
            self._judge(entries, self._references(row), beside)
        lost = [e for e in entries if e.verdict == REFUTED and isnan(e.number)]
        without = self.subject.without_value() if lost else ()
        for entry in lost:
            if entry.step in without:
                entry.withhold(f"{entry.reason}; {NOT_USED}")
        for entry in entries:
            if entry.step in undefined:
                entry.withhold(undefined[entry.step])
            elif entry.step in on:
                entry.at_kink(self._nonsmooth.named(*on[entry.step]))
        excuse(self, number, [e for e in entries if e.verdict == REFUTED])
        self._doubt(entries)

    @cached_property
    def _constants(self) -> Equalities:
        return Equalities(self.subject, self.budget)

    def _doubt(self, entries: Iterable[JudgedEntry]) -> None:
        reason = self._constants.doubt()
        for entry in entries if reason else ():
            entry.withhold(reason or "")

    def _judge(
        self, entries: Sequence[JudgedEntry], references: Iterable[Reference],
        beside: Mapping[int, Kinked],
    ) -> None:  # fmt: skip
        """Set verdicts by ``references``; ``beside`` has, by step, the kinks of entries
        that are on one unless their number is the true one."""
        largest = max((_size(e.true) for e in entries), default=0.0)
        for entry, reference in zip(entries, references, strict=True):
            entry.judge(reference, self.subject.roundings, largest)
            if entry.verdict == REFUTED and self.subject.leaves_range(reference.step):
                # Floats on the way were 0 or infinite where the numbers are not.
                left = f"intermediate numbers leave the range of {self.job.dtype}"
                entry.verdict, entry.reason = UNKNOWN, f"{entry.reason}; {left}"
            kink = beside.get(entry.step) if entry.verdict == REFUTED else None
            if kink is None and entry.verdict in (REFUTED, ROUNDED):
                kink = self.subject.sign_of_zero
            if kink is not None:
                entry.at_kink(self._nonsmooth.named(*kink))

    def hold_rules(self) -> None:
        """Compare the engine's rules with the true numbers for certified entries,
        because a wrong rule may still give a right number."""
        if self._unruled and self.subject.evaluation.graph.steps > MAX_RULED_STEPS:
            return
        for row, beside in self._unruled:
            shown = [e.verdict == CERTIFIED for e in row.entries]
            if any(shown):
                references = compress(self._references(row), shown)
                self._judge(list(compress(row.entries, shown)), references, beside)
                self._doubt(row.entries)
        self._unruled = []

    def _row(self, number: int, entries: list[JudgedEntry]) -> Row:
        subject, steps = self.subject, [e.step for e in entries]
        cotangent = self._cotangent(number)

        def trues(evaluation: Evaluation) -> list[Ball]:
            if self.job.kind != "hessian":
                return evaluation.gradient(subject.outputs, cotangent, steps)
            along = [int(s) for own in subject.entries.values() for s in own][number]
            return evaluation.second(subject.outputs, cotangent, steps, along)

        for entry, true in zip(entries, trues(subject.evaluation), strict=True):
            entry.true = true
        return Row(cotangent, entries, partial(self._engine_row, number, cotangent),
                   trues)  # fmt: skip

    def _engine_row(self, number: int, cotangent: Sequence[float]) -> dict[str, object]:
        if self.job.kind != "hessian":
            return self.subject.engine_row(cotangent)
        return self.subject.second_row(number)

    def _references(self, row: Row) -> list[Reference]:
        """Return each entry's true number and what the engine's rule gives on balls."""
        steps = row.rules
        if steps is None:
            return [Reference(e.true) for e in row.entries]
        subject = self.subject
        found, rules = [], subject.evaluation.settled(steps)
        pairs = zip(rules, row.entries, strict=True)
        met = all((rule - entry.true).contains(0) for rule, entry in pairs)
        moved = [ZERO] * len(rules) if met else self._by_numbers(row, steps, rules)
        for entry, rule, step, by in zip(row.entries, rules, steps, moved, strict=True):
            true, more = entry.true, (False, 0.0)
            if is_nan(rule) or not (rule - true).contains(0):
                more = is_nan(rule) and subject.is_single(step), subject.growth(step)
            found.append(Reference(true, rule, step, *more, by))
        return found

    def _by_numbers(
        self, row: Row, steps: Sequence[int], rules: Sequence[Ball]
    ) -> list[Ball]:
        """Return how far the rules move from the true numbers if each of the program's
        numbers that are off by a rounding is moved by as much, up or down."""
        graph: Any = self.subject.evaluation.graph
        largest = [ZERO] * len(rules)
        trials = TRIALS_OF_NUMBERS if graph.lost and not self.is_large else 0
        for seed in range(trials):
            other = Evaluation(numbers_moved(graph, seed))
            parts = zip(
                other.settled(steps), row.trues(other), rules, row.entries, strict=True
            )
            gaps = [abs((r - true) - (own - e.true)) for r, true, own, e in parts]
            pairs = zip(gaps, largest, strict=True)
            largest = [max(pair, key=to_float) for pair in pairs]
        return largest

    def _cotangent(self, number: int) -> list[float]:
        """Return the cotangent of one row: a weight for each entry of the output."""
        count = self.job.output.count
        if self.job.kind == "jacobian":
            return unit(count, number)
        given = self.job.cotangent
        return [1.0] * count if given is None else given.values()

    # the value itself

    @cached_property
    def _without_value(self) -> dict[int, str]:
        """Why there is no value around the point, by position of the output."""
        subject, numbers = self.subject, self.job.output.values()
        asked: Sequence[int] = range(len(numbers))
        if self.is_large:
            asked = [k for k in asked if not isfinite(numbers[k])]
            if not asked or _is_large(subject, asked):
                return {k: self._describe(k, known=False) for k in asked}
        steps = [subject.outputs[k] for k in asked]
        true, outside = subject.evaluation.settled(steps), subject.outside()
        below = subject.evaluation.below
        return {
            k: self._describe(k)
            for k, step, b in zip(asked, steps, true, strict=True)
            if is_nan(b) or is_infinite(b)
            or (outside and not outside.isdisjoint(below([step])))
        }  # fmt: skip

    def _describe(self, k: int, known: bool = True) -> str:
        where = f" of entry {k}" if self.job.output.count > 1 else ""
        number, subject = self.job.output.values()[k], self.subject
        said = f"{self.called}{where} is {number!r} at this point"
        if not known or not subject.is_on_terms:
            return said
        load_sympy()
        from .formulas import undefined

        return f"{said} ({undefined(subject.terms, subject.output_terms[k])})"

    def _undefined(self, cotangent: Sequence[float]) -> dict[int, str]:
        """Return, by an entry's step, why it has no derivative: an output with a weight
        has no value around the point, and may depend on the entry."""
        subject = self.subject
        below = subject.evaluation.entries_below
        weighed = [k for k, w in enumerate(cotangent) if w]
        without = [k for k in weighed if k in self._without_value]
        if not without:
            return {}
        # Steps that decided a branch are not below the output, so they are added.
        spoilt = below(
            [*(subject.outputs[k] for k in without), *subject.system.deciding()]
        )
        clean = below([subject.outputs[k] for k in weighed if k not in without])
        steps = {int(s) for own in subject.entries.values() for s in own}
        lost = steps - (clean - spoilt)
        found = dict.fromkeys(lost, self._without_value[without[0]])
        for k in reversed(without):
            own = below([subject.outputs[k]])
            found |= dict.fromkeys(own, self._without_value[k])
        return found

    def _compare_output(self) -> None:
        """Compare the output's value; a wrong one lowers the entries' verdicts."""
        subject, numbers = self.subject, self.job.output.values()
        chosen: Sequence[int] = range(len(numbers))
        if self.is_large:
            # The value of an output with too many steps is not compared.
            most = min(len(numbers), MAX_COMPARED_OUTPUTS)
            chosen = sorted(Random(self.job.seed).sample(chosen, most))
            if _is_large(subject, chosen):
                return
        steps = [int(subject.outputs[k]) for k in chosen]
        trues = subject.evaluation.settled(steps)
        for k, step, true in zip(chosen, steps, trues, strict=True):
            if k in self._without_value:
                continue
            reference = Reference(true, true, step)
            found = judge(numbers[k], reference, subject.roundings, _size(true))
            lost = found.verdict == ROUNDED and not _is_tiny(numbers[k], true, self.job)
            if lost or found.verdict in (REFUTED, UNKNOWN):
                where = f"entry {k} of " if len(numbers) > 1 else ""
                verdict, reason = found.verdict, f"{where}the output: {found.reason}"
                if verdict == REFUTED and gives(self.rounding, k):
                    verdict, reason = ROUNDED, f"{reason}: {OVER_A_STEP}"
                self._lower(reason, verdict)
                return

    def _lower(self, reason: str, verdict: str) -> None:
        kink = self._nonsmooth.any() if verdict == REFUTED else None
        if kink is None and verdict != UNKNOWN:
            kink = self.subject.sign_of_zero
        for report in self.reports.values():
            for entry in report.entries:
                if entry.verdict == UNKNOWN:
                    continue
                if kink is not None:
                    entry.at_kink(f"{self._nonsmooth.named(*kink)}: {reason}")
                else:
                    entry.lower(verdict, reason)

    # an independent pass in float64

    def _in_floats(self, left: frozenset[str]) -> None:
        """Compare the entries that were not certified with SymPy's rules in float64."""
        unseen = [n for n, report in self.reports.items() if report.unseen]
        if self.job.kind != "gradient" or not unseen:
            return
        load_sympy()
        from .floats import FloatPass, farthest, note_pass, suspects

        passed = FloatPass(self.subject).gradient(self._cotangent(0))
        unit, sides, wrong = unit_roundoff(self.job.dtype), {}, {}
        for name in unseen:
            claim = self.claims[name]
            found, sizes = (part[claim.places] for part in passed[name])
            sides[name] = claim.numbers, found, sizes
            wrong[name] = suspects(*sides[name], unit)
        self._look_at(
            {
                n: farthest(*own, MAX_FARTHEST)
                for n, own in sides.items()
                if n not in left
            }
        )
        for name, (numbers, found, sizes) in sides.items():
            report, places = self.reports[name], self.claims[name].places
            at = np.searchsorted(places, self._seen.get(name, _NONE))
            rest = np.setdiff1d(np.arange(len(numbers)), at)
            still = np.intersect1d(wrong[name], rest).tolist()
            if not still:
                note_pass(report, numbers, found, sizes, rest)
                continue
            number, other = float(numbers[still[0]]), float(found[still[0]])
            lead = f"{name}, entry {places[still[0]]}: the engine gave {number!r}"
            reason = f"{lead}, an independent pass in float64 {other!r}"
            entry = JudgedEntry("", number, verdict=REFUTED, reason=reason)
            report.entries.append(entry)
            report.unseen -= 1
        self._tell(self._now())

    def _look_at(self, farthest: Mapping[str, Host]) -> None:
        """Check the entries that differ most from the float64 pass, like drawn ones."""
        chosen = dict.fromkeys(self.claims, _NONE)
        for name, far in farthest.items():
            at = self.claims[name].places[far]
            chosen[name] = np.setdiff1d(at, self._seen.get(name, _NONE))
        if not any(map(len, chosen.values())) or self._mark(chosen) > MAX_SAMPLED_STEPS:
            return
        reports = {name: self._report(name, at) for name, at in chosen.items()}
        self.look(0, [e for report in reports.values() for e in report.entries])
        for name, report in reports.items():
            known, more = self.reports[name], len(report.entries)
            if more:
                known.entries += report.entries
                known.unseen -= more
                how = f"the {more} that differ most from a pass in float64"
                known.sampled = ", and ".join(filter(None, (known.sampled, how)))
            self._seen[name] = np.union1d(self._seen.get(name, _NONE), chosen[name])


_NONE: Final = np.zeros(0, dtype=np.int64)
"""Empty array of positions."""


def _is_large(subject: Any, chosen: Sequence[int]) -> bool:
    made = [subject.outputs[k] for k in chosen]
    return bool(subject.system.work(made) > MAX_SAMPLED_STEPS)


def _is_tiny(number: float, true: Ball, job: Job) -> bool:
    """Tell whether a normal float has an error of at most a few roundings of 1: a
    sum that cancels loses the value's digits, but its derivatives are right."""
    if not isfinite(number) or abs(number) < least_normal(job.dtype):
        return False
    return bool(abs(ball(number) - true) <= FEW_UNITS * unit_roundoff(job.dtype))


def _size(b: Ball) -> float:
    found = abs(to_float(size(b)))
    return found if isfinite(found) else 0.0
