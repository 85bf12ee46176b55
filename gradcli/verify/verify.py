"""The verdicts: what can be shown of the engine's derivatives, strongest last.

First every number is compared with the chain rule re-summed with 50 digits
(`per-node`, `refuted`); then SymPy differentiates the whole expression (`agrees`);
then the engine's own reverse pass, run on symbols, is proved equal to that
(`proved`). So whatever the time allows is had, and reported as it comes.

Invariant: a verdict claims no more than was done. The reference is made from the
program and the point; the engine's rules enter only as what is checked and into the
size of rounding errors.

    verify(job, evaluate).verdict       # "proved"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from ..numbers.chain import below
from ..numbers.precision import EXACT
from ..numbers.term import Term
from .conditions import kinks_shown, shown, undefined
from .conventions import Conventions
from .drawn import ROUNDS, TOO_MANY, Drawn
from .entries import Account, labelled
from .measure import Row, Turnings, cotangents, measure, told, values_of
from .point import Evaluate, ReversePass, Run, entry_name, run, spread
from .process.budget import Budget, OutOfTime
from .process.job import PER_NODE, PROVED, REFUTED, UNKNOWN, Input, Job, Verification
from .rounding import distance
from .whole import Whole

Report = Callable[[Verification], None]

MANY: Final = 2048
"""Entries of all inputs together beyond which as many are drawn as time allows."""

MANY_ROWS: Final = 4 * MANY
"""The same of a Jacobian's entries."""

ALL_AT_ONCE: Final = 20_000
"""Entries up to which a program of few steps is looked at as a whole all the same."""

SHARE: Final = 0.6
"""Of the time, for numbers of all entries, before some are drawn instead."""

LARGEST: Final = 50_000
"""Entries of all inputs beyond which a Hessian is not begun."""


def verify(
    job: Job, evaluate: Evaluate, report: Report = lambda verification: None
) -> Verification:
    """Check a job; ``report`` is told of every step forward.

    ``evaluate`` runs the program on tensors by name. Exceptions become reasons.
    """
    budget = Budget(job.seconds)
    count = sum(i.value.count for i in job.inputs)
    claimed = sum(i.claim.count for i in job.inputs if i.claim is not None)
    many = count > MANY or (job.kind == "jacobian" and claimed > MANY_ROWS)
    drawable = job.kind != "hessian" and not job.formulas
    if many and drawable:
        drawn = Drawn(job, evaluate, report, budget)
        few = job.kind == "gradient" and count <= ALL_AT_ONCE
        light = few and drawn.takes() < SHARE * budget.left
        if not light:
            return drawn.work()
    if count > LARGEST:
        return Verification.nothing(job, f"too large to check: {count} entries")
    divisible = drawable and claimed > ROUNDS[0]
    share = SHARE if divisible else 1.0
    try:
        return _on_terms(job, evaluate, report, budget, share, many and drawable)
    except OutOfTime:
        if divisible:
            return Drawn(job, evaluate, report, budget).work()
        return Verification.nothing(job, _time_out(job), budget.spent)


def _on_terms(
    job: Job, evaluate: Evaluate, report: Report, budget: Budget, share: float,
    many: bool,
) -> Verification:  # fmt: skip
    """Every entry at once, all its numbers within a share of the time; of ``many``,
    SymPy is not asked for the whole.

    Raises:
        OutOfTime: there are no numbers by then.
    """
    with budget.slice(budget.left * share):
        try:
            point = run(job, evaluate)
        except Exception as error:
            why = f"the program does not run on symbols: {told(error)}"
            return Verification.nothing(job, why, budget.spent)
        verifier = Verifier(job, evaluate, report, budget, point)
        reason = verifier.compare(TOO_MANY if many else None)
    return verifier.raised(reason)


def _time_out(job: Job) -> str:
    return f"time-out after {job.seconds:g} s"


class Verifier:
    """One job under work; the accounts hold what has been shown so far."""

    def __init__(
        self, job: Job, evaluate: Evaluate, report: Report, budget: Budget, point: Run
    ) -> None:
        self.job = job
        self.evaluate = evaluate
        self.report = report
        self.budget = budget
        self.point = point
        self.reverse = ReversePass(point)
        self._conventions = Conventions(job)
        self.kinks = tuple(point.terms.kinks.values())
        self.rows: list[Row] = []
        self.turnings = Turnings(job, evaluate, point)
        self.accounts = {
            i.name: _account(job, i) for i in job.inputs if i.claim is not None
        }
        self.whole = Whole(job, point, self.reverse, self.rows, self.accounts, budget,
                           self._tell)  # fmt: skip

    def compare(self, enough: str | None = None) -> str | None:
        """Look at all numbers; why no more can be done where that is so, or why no
        more is wanted."""
        try:
            wrong = self._output_differs()
            if wrong is None:
                self._withhold()
                if self.job.kind != "hessian":
                    self._numbers()
        except Exception as error:
            return told(error)
        for account in self.accounts.values():
            account.remark = enough
        return wrong or enough

    def raised(self, reason: str | None) -> Verification:
        """What SymPy can make of it, unless there is a reason to leave it."""
        try:
            if reason is None:
                self.whole.work()
        except OutOfTime:
            reason = _time_out(self.job)
        except Exception as error:
            reason = told(error)
        return self._ended(reason)

    def _ended(self, reason: str | None) -> Verification:
        last = self._now()
        return last.ended(reason or "nothing could be shown")

    def _now(self) -> Verification:
        return Verification.about(
            [a.verdict() for a in self.accounts.values()],
            self.budget.spent,
            side_conditions=self.whole.conditions() if self._proved() else (),
            kinks=kinks_shown(self.point.terms, self._is_kink(), self.kinks),
        )

    def _proved(self) -> bool:
        """Whether there is a proof, which is what conditions are about."""
        entries = (e for a in self.accounts.values() for e in a.entries)
        return any(e.standing == PROVED for e in entries)

    def _is_kink(self) -> bool:
        return any(e.kinked for a in self.accounts.values() for e in a.entries)

    def _tell(self) -> None:
        self.report(self._now())

    def _output_differs(self) -> str | None:
        """The value must be right before its derivatives are looked at."""
        terms = self.point.outputs
        references = values_of(terms, self.point.roundings, self.job.dtype)
        numbers = self.job.output.values()
        for k, (number, reference) in enumerate(zip(numbers, references, strict=True)):
            wide = replace(reference, natural=16 * reference.natural)
            found = distance(number, wide, self.job.dtype, loose=True)
            exact = reference.value
            if EXACT.isfinite(exact) and not found.right and number == number:
                text = (
                    f"entry {k} of the output is {number!r}, with 50 digits "
                    f"{EXACT.nstr(exact, 17)}"
                )
                # Where there is a reason, rounding or no reference, nothing is wrong.
                if found.reason:
                    text = f"the output: {found.reason}"
                turning = self.turnings.any()
                if turning:
                    what, involved = turning
                    text = f"{what}{_place(involved)}: {text}"
                unsure = found.reason or turning
                for account in self.accounts.values():
                    for entry in account.entries:
                        entry.standing = UNKNOWN if unsure else REFUTED
                        entry.reason = text
                        entry.kinked = turning is not None
                return text
        return None

    def _withhold(self) -> None:
        """No derivative is claimed where the program's value is not a number."""
        rows = cotangents(self.job)
        if self.job.kind == "hessian":
            rows *= len(self.point.asked())
        for k, (reason, entries) in self._undefined().items():
            for number, cotangent in enumerate(rows):
                if cotangent[k]:
                    self._withhold_row(number, reason, entries)

    def _withhold_row(self, number: int, reason: str, entries: set[int]) -> None:
        for name, account in self.accounts.items():
            terms = self.point.entries[name]
            here = account.entries[number * len(terms) :]
            for entry, term in zip(here, terms, strict=False):
                if term.serial in entries:
                    entry.withhold(reason)

    def _undefined(self) -> dict[int, tuple[str, set[int]]]:
        """Per output without a value: why, and what the output is made of."""
        found = {}
        for k, (number, term) in enumerate(
            zip(self.job.output.values(), self.point.outputs, strict=True)
        ):
            if number != number or EXACT.isnan(term.value):
                reason = (
                    undefined(self.point.terms, term)
                    if EXACT.isnan(term.value)
                    else f"with 50 digits it is {EXACT.nstr(term.value, 17)}"
                )
                where = f" of entry {k}" if len(self.point.outputs) > 1 else ""
                text = f"the program's value{where} is nan at this point ({reason})"
                found[k] = text, below(term)
        return found

    def _numbers(self) -> None:
        """Compare every number with its reference."""
        turnings = self.turnings
        for number, cotangent in enumerate(cotangents(self.job)):
            row = measure(self.job, self.point, self.reverse, cotangent, self.budget)
            self.rows.append(row)
            self._compare(number, row, turnings)
        self._tell()

    def _compare(self, number: int, row: Row, turnings: Turnings) -> None:
        on_turning = turnings.on(row)
        entries = self.point.entries
        parts = spread(entries, row.references)
        for name, account in self.accounts.items():
            terms = entries[name]
            here = account.entries[number * len(terms) :]
            for entry, term, reference in zip(here, terms, parts[name], strict=False):
                turning = on_turning.get(term.serial)
                if turning is None or entry.withheld:
                    entry.judge(reference, self.job.dtype, PER_NODE)
                    if entry.standing == REFUTED:
                        turning = turnings.beside.get(term.serial)
                if turning is not None and not entry.withheld:
                    what, involved = turning
                    rule = self._conventions.at(involved)
                    told = what + _place(involved)
                    entry.on_kink(told if rule is None else f"{told}; {rule}")


def _place(involved: Sequence[Term]) -> str:
    parts = [text for text in map(shown, involved) if text is not None]
    return f" ({' and '.join(parts)})" if parts else ""


def _account(job: Job, given: Input) -> Account:
    assert given.claim is not None
    own = len(given.value.values())
    numbers = given.claim.values()
    rows = len(numbers) // own if own else 0
    names = [entry_name(given.name, place) for place in places(given.value.shape)]
    if job.kind != "gradient":
        names = [f"row {r}, {name}" for r in range(rows) for name in names]
    account = labelled(given.name, names, numbers)
    if job.formulas:
        account.formulas = [None] * len(account.entries)
        account.latex = [None] * len(account.entries)
    return account


def places(shape: Sequence[int]) -> list[tuple[int, ...]]:
    """Every position of a shape, in C order."""
    found: list[tuple[int, ...]] = [()]
    for n in shape:
        found = [(*place, i) for place in found for i in range(n)]
    return found
