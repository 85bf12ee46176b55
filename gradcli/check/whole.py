"""SymPy's derivative of the whole program, and proofs that the engine computes it.

Invariant: an entry becomes `proved` only if SymPy's derivative of the program's
expression, evaluated on balls, meets the certified number, and if the engine's reverse
pass on symbols minus that derivative simplifies to 0. The proof of a claim holds for
the shapes of a visit, and under its conditions.

    prove(visit, claim, budget).conditions      # ("x > 0",)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from math import prod
from random import Random
from typing import Any, Final

import sympy

from ..engine import Tensor
from ..ops.records import compared_record
from .balls import START_BITS, is_known, working
from .claim_sides import Visit, fitted_array, terms_of
from .claims import Claim
from .expressions import (
    Expressions,
    compiled,
    number,
    off_jumps,
    simplifies_away,
    vanishes,
    vanishes_at,
    vanishes_here,
)
from .formulas import closed_form, formula, full_form, indifferent, side_conditions
from .graph import ACCURATE_BITS
from .judge import OUT_OF_TIME, InputReport, JudgedEntry, Row
from .process.budget import Budget, OutOfTime
from .process.job import CERTIFIED, PROVED, Job, words_of
from .subject import Subject, objects
from .system import NoMeaning, exact
from .terms import Term, Terms

MAX_PROVED_ENTRIES: Final = 64
"""Largest number of an input's entries given to SymPy; the seed chooses among more."""

MAX_FORMULAS: Final = 1024
MAX_CHOICES: Final = 32
MAX_SYMPY_TREE_NODES: Final = 20_000
FORMULA_SECONDS: Final = 0.5
MAX_SHOWN_FORMULAS: Final = 9

MAX_TIMEOUTS: Final = 3
"""Number of attempts out of time after which a stage of SymPy's work is given up."""

MAX_DERIVATIVE_BITS: Final = 2048

NO_PROOF: Final = "SymPy found no proof"
"""Remark on a number that is certified, where nothing else hinders a proof."""

AT_A_TIE: Final = "two numbers meet here, and no formula holds wherever they do"
"""Note on an entry without a formula, though SymPy has its derivative here."""


@dataclass
class SymbolicCheck:
    """SymPy's part of the check of one job.

    tell     a function that is called after each improvement of the reports
    assumed  conditions, as text, that proofs needed beside those of the program
    """

    job: Job
    subject: Subject
    rows: Sequence[Row]
    reports: dict[str, InputReport]
    budget: Budget
    tell: Callable[[], None]
    book: Expressions = field(default_factory=Expressions)
    assumed: dict[str, None] = field(default_factory=dict)

    def work(self) -> None:
        """Prove what can be proved, raise those verdicts, and note why others stay."""
        try:
            with self.budget.slice(self.budget.left / 2):
                bases = self._bases()
        except OutOfTime:
            self._remark(f"{OUT_OF_TIME} on the expression of the whole")
        except RecursionError:
            self._remark("the program is nested too deeply for SymPy's derivative")
        except Exception as error:
            self._remark(f"SymPy has no expression of the program: {words_of(error)}")
        else:
            self._each(lambda entry: self._derive(bases[entry.row], entry))
            for report in self.reports.values():
                if self.job.formulas:
                    self._write_out(report)
                if self.job.kind == "gradient":
                    self._close(report)
            self._each(self._prove)
            for report in self.reports.values():
                report.remark = report.remark or NO_PROOF
        self.tell()

    def conditions(self) -> tuple[str, ...]:
        """Return the proofs' conditions."""
        more = [text for text in self.assumed if text not in self._decided]
        return (*self._decided, *more)

    @cached_property
    def _decided(self) -> tuple[str, ...]:
        terms = self.subject.terms
        rules = chain.from_iterable(row.rules or () for row in self.rows)
        made = [*self.subject.output_terms, *self.subject.terms_of(rules)]
        return side_conditions(terms, made, indifferent(terms, self.book.free))

    @cached_property
    def _meeting(self) -> dict[Any, Any] | None:
        return meeting(self.book, self.subject.terms)

    def _remark(self, text: str) -> None:
        for report in self.reports.values():
            report.remark = text

    def _bases(self) -> list[object]:
        """Return the expressions that are differentiated, one for each row."""
        roots = self.subject.output_terms
        if sum(term.size for term in roots) > MAX_SYMPY_TREE_NODES:
            raise NoMeaning(f"it has more than {MAX_SYMPY_TREE_NODES} parts")
        for row in self.rows:
            # The engine's rules run first, because SymPy must know their choices.
            row.rules  # noqa: B018
        self.book = independent(self.subject.terms, roots, self.budget)
        outputs = [self.book.of(term) for term in roots]
        if self.job.kind == "hessian":
            symbols = [self.book.of(term) for term in self.subject.all_entries()]
            return [sympy.diff(sum(outputs), symbol) for symbol in symbols]
        return [
            sympy.Add(*[number(exact(c)) * y
                        for c, y in zip(row.cotangent, outputs, strict=True)])
            for row in self.rows
        ]  # fmt: skip

    def _each(self, step: Callable[[JudgedEntry], None]) -> None:
        """Run ``step`` on the chosen entries of all inputs, each in a slice of time."""
        lost = 0
        for report in self.reports.values():
            for entry in self._chosen(report):
                try:
                    with self.budget.slice(max(0.2, self.budget.left / 4)):
                        step(entry)
                except OutOfTime:
                    self.budget.check()
                    lost += 1
                    report.remark = f"{OUT_OF_TIME} on an entry"
                except RecursionError:
                    lost += 1
                    report.remark = "too deeply nested for SymPy"
                except Exception as error:
                    report.remark = f"SymPy could not: {words_of(error)}"
                if lost >= MAX_TIMEOUTS:
                    self.tell()
                    return
            self.tell()

    def _chosen(self, report: InputReport) -> list[JudgedEntry]:
        count = len(report.entries)
        most = MAX_FORMULAS if self.job.formulas else MAX_PROVED_ENTRIES
        if count <= most:
            return report.entries
        report.remark = f"SymPy was given {most} of {count} entries of the program"
        drawn = sorted(Random(self.job.seed).sample(range(count), most))
        return [report.entries[k] for k in drawn]

    def _derive(self, base: object, entry: JudgedEntry) -> None:
        """Keep SymPy's derivative for an entry if it meets the certified number."""
        symbol = self.book.of(self.subject.terms.made[entry.step])
        derivative = off_jumps(sympy.diff(base, symbol))
        if entry.verdict != CERTIFIED or self._meets(derivative, entry):
            entry.derivative = derivative
        else:
            entry.reason = entry.reason or (
                f"{entry.label}: SymPy's derivative of the program has no value there"
            )

    def _meets(self, derivative: sympy.Expr, entry: JudgedEntry) -> bool:
        """Tell whether SymPy's derivative, evaluated on balls, meets the true one."""
        program, bits = compiled(derivative), START_BITS
        while True:
            value = program.run(self.book.values, bits)
            if is_known(value, ACCURATE_BITS) or bits >= MAX_DERIVATIVE_BITS:
                break
            bits *= 2
        with working(bits):
            return bool(value.is_finite() and (value - entry.true).contains(0))

    def _holds(self, entry: JudgedEntry, form: sympy.Expr) -> bool:
        """Tell whether a rewritten form has the true value at the point, or there is
        none; rewriting may change where a formula is defined."""
        return not entry.true.is_finite() or self._meets(form, entry)

    def _prove(self, entry: JudgedEntry) -> None:
        """Prove an entry: the reverse pass on symbols minus SymPy's derivative is 0."""
        derivative, values = entry.derivative, self.book.values
        if entry.verdict != CERTIFIED or entry.rule is None or derivative is None:
            return
        engine = self.subject.terms.made[entry.rule]
        if engine.size > MAX_SYMPY_TREE_NODES:
            return
        claimed = self.book.of(engine)
        if entry.is_next_to_zero() and vanishes_at(derivative, values):
            entry.vanish()
        if entry.is_next_to_zero():
            # A formula says nothing about the rounding error of such a number.
            return
        difference = claimed - derivative
        if (
            vanishes(difference, values)
            or self._vanishes_here(difference)
            or simplifies_away(difference, values)
        ):
            entry.verdict = PROVED

    def _vanishes_here(self, difference: object) -> bool:
        """Prove a difference zero under the signs at the point, and keep these."""
        signs = vanishes_here(difference, self.book.values)
        texts = {formula(part): sign for part, sign in signs or ()}
        if signs is None or None in texts:
            return False
        self.assumed |= {
            f"{t} {'>' if s > 0 else '<'} 0": None for t, s in texts.items()
        }
        return True

    def _holds_at_ties(self, entry: JudgedEntry) -> bool:
        """Tell whether an entry's formula holds wherever the ties at the point hold:
        the engine's rules then give it there, too."""
        if not any(self.subject.terms.exact_ties()):
            return True
        known = self._meeting
        if entry.rule is None or known is None:
            return False
        engine = self.book.of(self.subject.terms.made[entry.rule])
        gap = self.book.released(engine - entry.derivative).xreplace(known)
        values = {s: v for s, v in self.book.values.items() if s not in known}
        try:
            with self._attempt():
                return vanishes(gap, values)
        except OutOfTime:
            self.budget.check()
            return False

    def _attempt(self) -> AbstractContextManager[None]:
        return self.budget.slice(min(FORMULA_SECONDS, self.budget.left / 8))

    def _close(self, report: InputReport) -> None:
        """Keep the derivatives as one formula, if there are few and short ones."""
        entries = report.entries
        if any(e.derivative is None for e in entries) or not (
            0 < len(entries) <= MAX_SHOWN_FORMULAS
            and all(map(self._holds_at_ties, entries))
        ):
            return
        try:
            with self._attempt():
                forms = [
                    closed_form(
                        self.book.released(e.derivative), partial(self._holds, e)
                    )
                    for e in entries
                ]
        except OutOfTime:
            self.budget.check()
        except Exception:
            # A formula is only a courtesy: without one the verdict is the same.
            return
        else:
            report.close(forms, self.subject.tensors[report.name].shape)

    def _write_out(self, report: InputReport) -> None:
        """Write every entry as a formula, unsimplified if rewriting takes too long."""
        for entry in report.entries:
            if entry.derivative is not None and not entry.on_kink:
                if not self._holds_at_ties(entry):
                    report.remark = AT_A_TIE
                    continue
                released = self.book.released(entry.derivative)
                holds = partial(self._holds, entry)
                entry.form = full_form(released, self._attempt, holds)
                if entry.form is None:
                    report.remark = "programs have no word for a function in it"
        self.tell()


def meeting(book: Expressions, terms: Terms) -> dict[Any, Any] | None:
    """Return expressions of symbols that hold wherever the ties at the point hold: none
    if there are no ties, and None if a tie cannot be solved for a symbol."""
    known: dict[Any, Any] = {}
    for tie in terms.exact_ties():
        gap = book.released(book.of(tie.left) - book.of(tie.right)).xreplace(known)
        slopes = {s: sympy.diff(gap, s) for s in gap.free_symbols}
        if gap == 0:
            continue
        alone = [s for s, slope in slopes.items() if slope.is_number and slope != 0]
        if not alone:
            return None
        symbol = min(alone, key=str)
        found = sympy.expand(symbol - gap / slopes[symbol])
        known = {s: e.xreplace({symbol: found}) for s, e in known.items()}
        known[symbol] = found
    return known


def independent(terms: Terms, roots: Sequence[Term], budget: Budget) -> Expressions:
    """Return the expressions of terms, in which a choice that no term depends on is a
    symbol: what is proved then holds for every choice."""
    free = frozenset(terms.choices)
    if len(free) > MAX_CHOICES:
        free = frozenset()
    while True:
        book = Expressions(free)
        made = [book.of(term) for term in roots]
        matters = {
            serial
            for symbol, serial in book.chosen.items()
            if any(_depends(each, symbol, book, budget) for each in made)
        }
        if not matters:
            return book
        free -= matters


def _depends(
    expression: object, symbol: object, book: Expressions, budget: Budget
) -> bool:
    try:
        with budget.slice(budget.left / 8):
            return not vanishes(sympy.diff(expression, symbol), book.values)
    except OutOfTime:
        budget.check()
        return True


MAX_CLAIM_PROOF_ENTRIES: Final = 64
"""Largest number of entries of a derivative that is proved."""


@compared_record
class Proof:
    """The outcome of a proof, with the reason for a failure if it is known."""

    done: bool
    conditions: tuple[str, ...] = ()
    reason: str | None = None


def prove(visit: Visit, claim: Claim, budget: Budget) -> Proof:
    """Return the proof of a claim, for the shapes and the branches of a visit."""
    target, said = _sides(visit, claim)
    claimed = terms_of(said)
    roots = [*target, *claimed]
    sizes = [len(visit.entries(name)) for name in claim.by]
    entries = len(target) * prod(sizes)
    if entries > MAX_CLAIM_PROOF_ENTRIES:
        return Proof(False, reason=f"{entries} entries are too many for a proof")
    if sum(term.size for term in roots) > MAX_SYMPY_TREE_NODES:
        return Proof(False, reason="the expressions are too large for a proof")
    book = independent(visit.terms, roots, budget)
    true = derivatives(book, target, visit, claim.by)
    if claim.expression is None:
        said_to_be = derivatives(book, claimed, visit, claim.by)
    else:
        positions = visit.positions(claim)
        true = [true[k] for k in positions.reshape(-1).tolist()]
        given = objects([book.of(t) for t in claimed], said.shape)
        found = fitted_array(given, positions.shape)
        said_to_be = [] if found is None else list(found.flat)
    for a, b in zip(said_to_be, true, strict=True):
        with budget.slice(max(0.3, budget.left / 2)):
            gap = book.released(off_jumps(a - b))
            if vanishes(gap, book.values) or simplifies_away(gap, book.values):
                continue
            if not _by_equation(gap, visit, book):
                return Proof(False)
    settled = indifferent(visit.terms, book.free)
    return Proof(True, side_conditions(visit.terms, roots, settled))


def _by_equation(gap: sympy.Expr, visit: Visit, book: Expressions) -> bool:
    """Tell whether a difference is zero because the program's equation holds: whether
    its numerator is a multiple of the equation's."""
    tied = visit.task.tied
    if tied is None:
        return False
    (name,), (step,) = visit.entries(tied), terms_of(visit.output)
    equation = book.released(book.of(name) - book.of(step))
    above, zero = (sympy.numer(sympy.together(e)) for e in (gap, equation))
    try:
        return bool(sympy.reduced(above, [zero])[1] == 0)
    except sympy.PolynomialError:
        return False


def branch(visit: Visit, claim: Claim) -> tuple[str, ...]:
    """Return the conditions of a visit's branch, by which two visits are compared."""
    target, said = _sides(visit, claim)
    return side_conditions(visit.terms, [*target, *terms_of(said)])


def _sides(visit: Visit, claim: Claim) -> tuple[list[Term], Tensor]:
    """Return the terms to differentiate, and the claimed or the compared tensor."""
    alone = claim.expression is None
    return terms_of(visit.target(claim)), (
        visit.other() if alone else visit.expression(claim)
    )


def derivatives(
    book: Expressions, outputs: Sequence[Term], visit: Visit, by: Sequence[str]
) -> list[sympy.Expr]:
    """Return SymPy's derivative of each output by each entry, in C order."""
    found = [book.of(term) for term in outputs]
    for name in by:
        symbols = [book.of(term) for term in visit.entries(name)]
        found = [sympy.diff(e, symbol) for e in found for symbol in symbols]
    return found
