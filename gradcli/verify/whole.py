"""SymPy's derivative of the whole program, and the proof that the engine's is it.

Invariant: an entry rises to `agrees` only if SymPy's derivative of the program's one
expression was evaluated and matches, and to `proved` only from there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import chain
from random import Random
from typing import Any, Final

import sympy

from ..numbers.expressions import Expressions, NoMeaning, compiled, number
from ..numbers.precision import EXACT
from ..numbers.system import exact
from ..numbers.term import Term
from .closed import closed_form, formula, full_form
from .conditions import indifferent, side_conditions
from .entries import Account, Entry
from .measure import Row, rules_of, told
from .point import ReversePass, Run
from .process.budget import Budget, OutOfTime
from .process.job import AGREES, PER_NODE, PROVED, UNKNOWN, Job
from .prove import simplifies_away, vanishes, vanishes_here
from .rounding import Reference, amplified, lost, ruled, settle

SAMPLE: Final = 64
"""Entries of an input that are drawn, by the job's seed, where there are more."""

FORMULAS: Final = 1024
"""The same where every entry is wanted as a formula."""

CHOICES: Final = 32
"""Largest and smallest entries of which it is asked whether they matter."""

LARGEST: Final = 20_000
"""Size of an expression, written out as a tree, that SymPy is still given."""

COURTESY: Final = 0.5
"""Seconds that making one formula shorter may take."""

SHORT: Final = 9
"""Entries of an input up to which their formulas are shown beside the verdict."""

PATIENCE: Final = 3
"""Attempts that may run out of time before a stage is given up."""


class Whole:
    """SymPy's stages on one job."""

    def __init__(
        self, job: Job, point: Run, reverse: ReversePass, rows: list[Row],
        accounts: dict[str, Account], budget: Budget, tell: Callable[[], None],
    ) -> None:  # fmt: skip
        self.job = job
        self.point = point
        self.reverse = reverse
        self.rows = rows
        self.accounts = accounts
        self.budget = budget
        self.tell = tell
        self.book = Expressions()
        self.derivatives: dict[tuple[int, int], Any] = {}
        self.assumed: dict[str, None] = {}
        """Conditions, as text, that proofs needed on top."""
        self._decided: tuple[str, ...] | None = None

    def work(self) -> None:
        """Raise what can be raised; a reason is left where nothing can."""
        try:
            with self.budget.slice(self.budget.left / 2):
                bases = self._bases()
        except OutOfTime:
            self._remark("SymPy ran out of time on the expression of the whole")
            return
        except RecursionError:
            self._remark("the program is nested too deeply for SymPy's derivative")
            return
        except Exception as error:
            self._remark(f"SymPy has no expression of the whole: {told(error)}")
            return
        self._each(lambda row, entry, at, term: self._derive(bases[row], row, entry,
                                                             at, term))  # fmt: skip
        self._sampled()
        self._close()
        self._each(self._prove)
        self.tell()

    def conditions(self) -> tuple[str, ...]:
        """Where the proofs hold. Asked for once there is one, so all has been made."""
        terms = self.point.terms
        if self._decided is None:
            rows = [row.engine for row in self.rows if row.engine is not None]
            made = [*self.point.outputs, *chain.from_iterable(rows)]
            settled = indifferent(terms, self.book.free)
            self._decided = side_conditions(terms, made, settled)
        more = [text for text in self.assumed if text not in self._decided]
        return (*self._decided, *more)

    def _remark(self, text: str) -> None:
        for account in self.accounts.values():
            account.remark = text
            for entry in account.entries:
                if entry.standing == UNKNOWN and entry.reason is None:
                    entry.reason = text
        self.tell()

    def _bases(self) -> list[Any]:
        """What is differentiated, row by row."""
        size = sum(term.size for term in self.point.outputs)
        if size > LARGEST:
            raise NoMeaning(f"it has more than {LARGEST} parts")
        outputs = self._outputs()
        if self.job.kind == "hessian":
            symbols = [self.book.of(term) for term in self.point.asked()]
            first = [sympy.diff(sum(outputs), symbol) for symbol in symbols]
            self._second_rows()
            return first
        return [
            sympy.Add(*[number(exact(c)) * y
                        for c, y in zip(row.cotangent, outputs, strict=True)])
            for row in self.rows
        ]  # fmt: skip

    def _outputs(self) -> list[Any]:
        """The program's expressions. A choice that they are the same for, whatever is
        chosen, stands in them as a symbol: what is shown then holds for every choice.
        """
        free = frozenset(self.point.terms.choices)
        if len(free) > CHOICES:
            free = frozenset()
        while True:
            self.book = Expressions(free)
            outputs = [self.book.of(term) for term in self.point.outputs]
            matters = {
                serial
                for symbol, serial in self.book.chosen.items()
                if any(self._depends(output, symbol) for output in outputs)
            }
            if not matters:
                return outputs
            free = free - matters

    def _depends(self, output: Any, symbol: Any) -> bool:
        try:
            with self.budget.slice(self.budget.left / 8):
                change = sympy.diff(output, symbol)
                return not vanishes(change, self.book.values)
        except OutOfTime:
            self.budget.check()
            return True

    def _second_rows(self) -> None:
        """The engine's second derivatives on terms; the numbers come from SymPy."""
        count = len(self.point.asked())
        gradient = self.reverse.gradient()
        for r in range(count):
            self.rows.append(Row((), [], self.reverse.second(gradient, r)))

    def _each(self, step: Callable[[int, Entry, int, Term], None]) -> None:
        """Run ``step`` on the drawn entries of all inputs, a slice of time for each."""
        lost = 0
        for name, account in self.accounts.items():
            terms = self.point.entries[name]
            offset = self._offset(name)
            for place in self._drawn(account):
                row, at = divmod(place, len(terms))
                try:
                    with self.budget.slice(max(0.2, self.budget.left / 4)):
                        step(row, account.entries[place], offset + at, terms[at])
                except OutOfTime:
                    self.budget.check()
                    lost += 1
                    account.remark = "SymPy ran out of time on an entry"
                except RecursionError:
                    lost += 1
                    account.remark = "too deeply nested for SymPy"
                except Exception as error:
                    account.remark = f"SymPy could not: {told(error)}"
                if lost >= PATIENCE:
                    self.tell()
                    return
            self.tell()

    def _drawn(self, account: Account) -> list[int]:
        count = len(account.entries)
        most = FORMULAS if self.job.formulas else SAMPLE
        if count <= most:
            return list(range(count))
        account.remark = f"SymPy was given {most} of {count} entries of the whole"
        return sorted(Random(self.job.seed).sample(range(count), most))

    def _derive(self, base: Any, row: int, entry: Entry, at: int, term: Term) -> None:
        """SymPy's derivative of the whole against the engine's number."""
        derivative = off_jumps(sympy.diff(base, self.book.of(term)))
        program = compiled(derivative)
        if self.job.kind == "hessian":
            self._judge_second(program, row, entry, at)
        elif entry.standing == PER_NODE:
            reference = self.rows[row].references[at]
            if not reference.is_also(program.run(reference.context, self.book.values)):
                entry.reason = "SymPy's derivative of the whole has no value there"
                return
            entry.standing = AGREES
        self.derivatives[row, at] = derivative

    def _judge_second(self, program: Any, row: int, entry: Entry, at: int) -> None:
        if self.point.terms.kinks or self.point.terms.ties:
            entry.on_kink("the point lies on a tie or a pole")
            return
        roundings = self.point.roundings

        def told(context: Any) -> Any:
            return EXACT.mpf(program.run(context, self.book.values))

        value = told(EXACT)
        scale = amplified(value, [told(c) for c in roundings.shaken], self.job.dtype)
        references = [Reference(value, scale, lost(told(roundings.near), value))]
        settle(references, lambda context: [program.run(context, self.book.values)])
        engine = self.rows[row].engine
        if engine:
            rules = rules_of(engine[at], roundings)
            references = [ruled(references[0], rules, self.job.dtype)]
        entry.judge(references[0], self.job.dtype, AGREES)

    def _prove(self, row: int, entry: Entry, at: int, term: Term) -> None:
        """The engine's reverse pass on symbols minus SymPy's derivative is zero."""
        engine = self.rows[row].engine
        if (
            entry.standing != AGREES
            or engine is None
            or (row, at) not in self.derivatives
        ):
            return
        if engine[at].size > LARGEST:
            return
        claimed = self.book.of(engine[at])
        difference = claimed - self.derivatives[row, at]
        values = self.book.values
        if (
            vanishes(difference, values)
            or self._vanishes_here(difference)
            or simplifies_away(difference, values)
        ):
            entry.standing = PROVED

    def _vanishes_here(self, difference: Any) -> bool:
        """A proof for the signs at the point, which become side conditions."""
        signs = vanishes_here(difference, self.book.values)
        if signs is None:
            return False
        shown = [_sign_shown(quantity, sign) for quantity, sign in signs]
        if None in shown:
            return False
        self.assumed.update(dict.fromkeys(filter(None, shown)))
        return True

    def _sampled(self) -> None:
        """A Hessian's entries that were not drawn have nothing shown for them."""
        if self.job.kind != "hessian":
            return
        for account in self.accounts.values():
            account.partial = len(account.entries) > len(self._drawn(account))

    def _close(self) -> None:
        """Formulas of the derivatives: short ones, or all of them if that was asked."""
        for account in self.accounts.values():
            if self.job.formulas:
                self._write_out(account)
            if self.job.kind == "gradient":
                self._close_shortly(account)

    def _close_shortly(self, account: Account) -> None:
        terms = self.point.entries[account.name]
        offset = self._offset(account.name)
        keys = [(0, offset + at) for at in range(len(terms))]
        found = [self.derivatives[k] for k in keys if k in self.derivatives]
        if len(found) < len(keys) or not 0 < len(terms) <= SHORT:
            return
        try:
            with self.budget.slice(min(COURTESY, self.budget.left / 8)):
                forms = [closed_form(self.book.released(d)) for d in found]
        except OutOfTime:
            self.budget.check()
        except Exception:
            # A formula is a courtesy: without one the verdict stands as it is.
            return
        else:
            account.close(forms, self.point.tensors[account.name].shape)

    def _write_out(self, account: Account) -> None:
        """Every entry as a formula, as it is where rewriting it takes too long."""
        count = len(self.point.entries[account.name])
        offset = self._offset(account.name)

        def attempt() -> AbstractContextManager[None]:
            return self.budget.slice(min(COURTESY, self.budget.left / 8))

        for place, entry in enumerate(account.entries):
            row, at = divmod(place, count)
            derivative = self.derivatives.get((row, offset + at))
            if derivative is not None and not entry.kinked:
                released = self.book.released(derivative)
                form = full_form(released, attempt)
                if form is not None:
                    account.formulas[place], account.latex[place] = form
        self.tell()

    def _offset(self, name: str) -> int:
        """Where an input's entries begin among all that are asked for."""
        names = list(self.point.entries)
        before = names[: names.index(name)]
        return sum(len(self.point.entries[n]) for n in before)


def off_jumps(derivative: Any) -> Any:
    """Without the impulses of jumps, which are zero wherever the point may lie."""
    return derivative.replace(sympy.DiracDelta, lambda *at: sympy.S.Zero)


def _sign_shown(quantity: Any, sign: int) -> str | None:
    text = formula(quantity)
    return text and f"{text} {'>' if sign > 0 else '<'} 0"
