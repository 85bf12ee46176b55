"""Large programs: as many entries as time allows, drawn by the job's seed.

The program runs once, on a tape. Then come rounds of ever more entries: the drawn
ones' derivatives are summed with 50 digits over the steps that they go through, and
nothing else is computed. The last round is of all entries, if there is time for it.

Invariant: an entry that was not drawn has nothing said of it: `sampled` is the most
that a draw can show, and it comes with the share.

    Drawn(job, evaluate, report, budget).work().verdict         # "sampled"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from math import inf, isnan
from random import Random
from typing import Any, Final

import numpy as np

from ..numbers.precision import EXACT
from ..numbers.tape import entries_below, slopes
from .entries import Account, Entry
from .measure import JUMP, TIE, same, told
from .point import Evaluate, entry_name, unit
from .process.budget import Budget, OutOfTime
from .process.job import PER_NODE, REFUTED, UNKNOWN, Input, Job, Verification
from .rounding import Reference, distance, side_by_side
from .taped_run import References, Taped, engine_row, run_on_tape, value_of

ROUNDS: Final = (4, 32, 256, 1024)
"""Entries of an input that are drawn, round by round."""

OUTPUTS: Final = 16
"""Entries of the output whose value is compared."""

STEP_SECONDS: Final = 3e-5
"""What a step of a program costs where all entries are looked at at once."""

COMPARED: Final = 256
"""Entries of the output up to which it is asked whether its value jumps."""

CHEAP: Final = 100_000
"""Steps of a program up to which some of its output's values are compared."""

TOO_MANY: Final = "too many entries for SymPy's derivative of the whole"
UNDEFINED: Final = "the program's value is nan at this point"
Draws = dict[str, Any]
"""Per input the positions drawn in its claim, in order."""


class Drawn:
    """One large job under work."""

    def __init__(
        self, job: Job, evaluate: Evaluate, report: Callable[[Verification], None],
        budget: Budget,
    ) -> None:  # fmt: skip
        self.job = job
        self.evaluate = evaluate
        self.report = report
        self.budget = budget
        self.asked = [i for i in job.inputs if i.claim is not None]
        self.claims = {i.name: _numbers(i) for i in self.asked}
        self.output = np.array(job.output.values())
        self.accounts = {
            name: Account(name, [], unseen=len(c)) for name, c in self.claims.items()
        }
        self.orders = self._orders()
        self._kept: tuple[int | None, dict[str, Any] | None] = (None, None)

    def work(self) -> Verification:
        reason = "nothing could be shown"
        try:
            with self.budget.slice(self.budget.left):
                self._rounds(self.point)
        except OutOfTime:
            reason = f"time-out after {self.job.seconds:g} s"
        except Exception as error:
            reason = told(error)
        return self._now().ended(reason)

    @cached_property
    def point(self) -> Taped:
        """The program's run."""
        return run_on_tape(self.job, self.evaluate)

    def takes(self) -> float:
        """Seconds, roughly, that it would take to look at all entries at once."""
        try:
            with self.budget.slice(self.budget.left / 4):
                return STEP_SECONDS * _steps(self.point)
        except (Exception, OutOfTime):
            return inf

    def _rounds(self, point: Taped) -> None:
        """Ever more entries, while what a round has cost lets expect that the next one
        ends in time."""
        most = max((len(c) for c in self.claims.values()), default=0)
        every = self._mark(point, most)
        spent = last = 0.0
        for number, count in enumerate((*(r for r in ROUNDS if r < most), most)):
            if number > 1 and spent * every / last < self.budget.left / 2:
                count = most
            live = self._mark(point, count)
            if number > 1 and spent * live / last > self.budget.left:
                self._remark(spent * every / last)
                return
            if number == 1 and spent > self.budget.left:
                return
            # What the first round computed, the values, all later ones have: its cost
            # says little of theirs.
            began = self.budget.spent
            self._round(point, count)
            spent, last = self.budget.spent - began, live
            if not number and _steps(point) <= CHEAP:
                self._check_output(point)
            self.report(self._now())
            if count == most:
                return

    def _now(self) -> Verification:
        verdicts = [account.verdict() for account in self.accounts.values()]
        return Verification.about(verdicts, self.budget.spent)

    def _remark(self, expected: float) -> None:
        for account in self.accounts.values():
            account.remark = f"all of them would take about {expected:.0f} s"

    def _round(self, point: Taped, count: int) -> None:
        draws = {name: np.sort(order[:count]) for name, order in self.orders.items()}
        accounts = {name: self._account(name, at) for name, at in draws.items()}
        for row in self._rows(draws):
            self._check_row(point, draws, accounts, row)
        # Only what is complete replaces what was shown before.
        self.accounts = accounts

    def _mark(self, point: Taped, count: int) -> float:
        """Make the first so many entries live; how many terms that makes live."""
        point.mark(
            {
                i.name: self.orders[i.name][:count] % max(1, i.value.count)
                for i in self.asked
            }
        )
        return float(point.tape.live.sum())

    def _orders(self) -> Draws:
        random = Random(self.job.seed)
        orders = {}
        for name, numbers in self.claims.items():
            every = range(len(numbers))
            first = random.sample(every, min(ROUNDS[-1], len(numbers)))
            rest = np.ones(len(numbers), dtype=bool)
            rest[first] = False
            orders[name] = np.concatenate(
                [np.array(first, dtype=np.int64), np.flatnonzero(rest)]
            )
        return orders

    def _account(self, name: str, draw: Any) -> Account:
        given = next(i for i in self.asked if i.name == name)
        numbers = self.claims[name]
        entries = [Entry(self._label(given, at), float(numbers[at])) for at in draw]
        unseen = len(numbers) - len(draw)
        drawn = f"drawn with seed {self.job.seed}"
        remark = None if unseen else TOO_MANY
        return Account(name, entries, unseen=unseen, drawn=drawn, remark=remark)

    def _label(self, given: Input, at: int) -> str:
        row, place = divmod(int(at), given.value.count)
        where = [int(i) for i in np.unravel_index(place, given.value.shape)]
        name = entry_name(given.name, where)
        return name if self.job.kind == "gradient" else f"row {row}, {name}"

    # runs

    # rows: one for a gradient, for a Jacobian one per entry of the output

    def _rows(self, draws: Draws) -> list[int]:
        if self.job.kind == "gradient":
            return [0]
        own = {i.name: i.value.count for i in self.asked}
        rows = [draw // own[name] for name, draw in draws.items() if own[name]]
        return np.unique(np.concatenate(rows)).tolist()  # type: ignore[no-any-return]

    def _cotangent(self, row: int) -> list[float]:
        if self.job.kind == "jacobian":
            return unit(len(self.output), row)
        if self.job.cotangent is not None:
            return self.job.cotangent.values()
        return [1.0] * len(self.output)

    def _check_row(
        self, point: Taped, draws: Draws, accounts: dict[str, Account], row: int
    ) -> None:
        cotangent = self._cotangent(row)
        references = References(self.job, point, cotangent, self._engine(point, row))
        turning = self._turning(point, cotangent, references)
        crowded = cache(lambda: self._crowded(point, cotangent))
        drawn = list(self._drawn_in(draws, accounts, row))
        told = side_by_side([references.of(name, place) for name, place, _ in drawn])
        for (name, place, entry), reference in zip(drawn, told, strict=True):
            serial = int(point.inputs[name][1][place])
            if serial not in turning:
                entry.judge(reference, self.job.dtype, PER_NODE)
                if entry.standing == REFUTED and self._is_unsure(serial, crowded):
                    entry.on_kink(TIE)
            elif turning[serial] == UNDEFINED:
                entry.withhold(UNDEFINED)
            else:
                entry.on_kink(turning[serial])

    def _is_unsure(self, serial: int, crowded: Callable[[], set[int]]) -> bool:
        """Whether a number that is not the reference may be that of another side."""
        return self.point.tape.unsure or serial in crowded()

    def _engine(self, point: Taped, row: int) -> dict[str, Any] | None:
        """The engine's own reverse pass on the tape. A gradient's is kept for all
        rounds; of a Jacobian's rows, the last one alone stays on the tape."""
        if row != self._kept[0]:
            point.tape.cut(point.size)
            self._kept = row, engine_row(point, self._cotangent(row))
        return self._kept[1]

    def _drawn_in(
        self, draws: Draws, accounts: dict[str, Account], row: int
    ) -> Iterator[tuple[str, int, Entry]]:
        for given in self.asked:
            own = given.value.count
            drawn = zip(draws[given.name], accounts[given.name].entries, strict=True)
            for at, entry in drawn:
                of_row, place = divmod(int(at), own)
                if of_row == row:
                    yield given.name, place, entry

    def _turning(
        self, point: Taped, cotangent: list[float], references: References
    ) -> dict[int, str]:
        """Why nothing can be said of some entries."""
        found: dict[int, str] = {}
        for k in np.flatnonzero(np.isnan(self.output)).tolist():
            if cotangent[k]:
                for serial in entries_below(point.tape, int(point.outputs[k])):
                    found.setdefault(serial, UNDEFINED)
        for root, what in (*point.kinks.items(), *point.tape.edges(point.size)):
            for serial in entries_below(point.tape, root):
                found.setdefault(serial, what)
        live = point.tape.live
        if any(live[a].any() or live[b].any() for a, b in point.ties):
            jumps = self._jumps(point, cotangent)
            for serial in self._leaning(point, cotangent, references, jumps):
                found.setdefault(serial, JUMP if jumps else TIE)
        return found

    @cached_property
    def _others(self) -> tuple[Taped, ...]:
        """The program where ties are decided to either side."""
        return tuple(run_on_tape(self.job, self.evaluate, lean) for lean in (-1, 1))

    def _jumps(self, point: Taped, cotangent: list[float]) -> bool:
        """Whether values differ with the way that ties are decided."""
        for other in self._others:
            for k in np.flatnonzero(cotangent).tolist()[:COMPARED]:
                here = value_of(point.tape, int(point.outputs[k]), self.job.dtype)
                there = other.tape.value(int(other.outputs[k]))
                if not self._same(there, here):
                    return True
        return False

    def _leaning(
        self, point: Taped, cotangent: list[float], references: References, jumps: bool
    ) -> Iterator[int]:
        """The entries whose derivative changes with the way that ties are decided; if
        the value does, all that decide a tie."""
        if jumps:
            ends = [int(end) for tie in point.ties for side in tie for end in side]
            yield from entries_below(point.tape, *ends)
        live = {
            name: np.flatnonzero(point.tape.live[terms])
            for name, (_, terms) in point.inputs.items()
        }
        for other in self._others:
            other.mark(live)
            moved = slopes(other.tape, other.outputs, cotangent)
            for name, places in live.items():
                for place in places.tolist():
                    reference = references.of(name, place)
                    twin = int(other.inputs[name][1][place])
                    if not self._same(moved.get(twin, EXACT.zero), reference):
                        yield int(point.inputs[name][1][place])

    def _same(self, value: Any, reference: Reference) -> bool:
        """Whether a number of another side is the reference, as far as can be told
        where roundings decide."""
        unsure = self.point.tape.unsure
        return same(value, reference, self.job.dtype if unsure else None)

    def _crowded(self, point: Taped, cotangent: list[float]) -> set[int]:
        """The entries below ties of more than two terms, if the derivative depends on
        ties: the two ways of deciding them do not try each of those terms."""
        crowd = entries_below(point.tape, *point.tape.crowd(point.ties))
        if not crowd:
            return crowd
        low, high = (self._all_slopes(other, cotangent) for other in self._others)
        moves = any(
            not same(a, Reference(b, EXACT.zero, EXACT.zero))
            for a, b in zip(low, high, strict=True)
        )
        return crowd if moves else set()

    def _all_slopes(self, other: Taped, cotangent: list[float]) -> list[Any]:
        terms = {name: serials for name, (_, serials) in other.inputs.items()}
        other.mark({name: np.arange(len(s)) for name, s in terms.items()})
        moved = slopes(other.tape, other.outputs, cotangent)
        return [moved.get(int(n), EXACT.zero) for s in terms.values() for n in s]

    # the value itself

    def _check_output(self, point: Taped) -> None:
        """The value must be right; where it is not, no derivative is said to be."""
        count = len(self.output)
        for k in sorted(
            Random(self.job.seed).sample(range(count), min(count, OUTPUTS))
        ):
            number = float(self.output[k])
            found = value_of(point.tape, int(point.outputs[k]), self.job.dtype)
            reference = replace(found, natural=16 * found.natural)
            distant = distance(number, reference, self.job.dtype, loose=True)
            exact = reference.value
            if isnan(number) or not EXACT.isfinite(exact) or distant.right:
                continue
            text = (
                f"entry {k} of the output is {number!r}, with 50 digits "
                f"{EXACT.nstr(exact, 17)}"
            )
            turns = bool(point.kinks or point.ties)
            standing = UNKNOWN if distant.reason or turns else REFUTED
            if distant.reason:
                text = f"the output: {distant.reason}"
            for account in self.accounts.values():
                for entry in account.entries:
                    entry.standing, entry.reason = standing, text


def _steps(point: Taped) -> int:
    return sum(block.steps for block in point.tape.blocks if block.start < point.size)


def _numbers(given: Input) -> Any:
    assert given.claim is not None
    return np.frombuffer(given.claim.data, dtype=np.float64)
