"""The numbers of a claim, the verdict on each, and the verdict on a whole input.

Invariant: an entry's verdict rests only on what was done for that entry; an input's
verdict is that of its weakest entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, Final, Self

import numpy as np

from ..engine.raw import Host
from ..lang.nested import bracketed
from ..numbers.balls import ZERO, Ball
from ..numbers.graph import Evaluation
from ..numbers.rounding import Roundings
from .judge import Reference, judge
from .process.job import (
    CERTIFIED,
    MAX_FORM_CHARACTERS,
    PROVED,
    REFUTED,
    ROUNDED,
    SAMPLED,
    UNKNOWN,
    Input,
    InputVerdict,
    entry_name,
    weakest,
)
from .subject import Place

FLOAT_PASS_UNITS: Final = 2**30
"""Largest distance of two passes in floats that agree, in roundings of the sum of
absolute values that were added up."""

MIN_FLOAT_GAP: Final = 1e-300
"""Largest difference of two floats that always agree: floats this small lose digits."""

NOTABLE_RELATIVE_ERROR: Final = 1e-6
"""Smallest relative error from rounding that a note mentions."""

OUT_OF_TIME: Final = "SymPy ran out of time"


@dataclass(slots=True, eq=False)
class Entry:
    """One number of the engine, its verdict, and the evidence for it.

    row         the row of the derivative that it is in; 0 for a gradient
    place       the entry that is differentiated by
    step        the step of that entry
    true        the true number; set when the entry's row is computed
    rule        the step that the engine's rules give; None: they did not run
    derivative  SymPy's derivative of the program, if it meets the true number
    form        the derivative as a `gradcli.verify.closed.Form`
    """

    label: str
    number: float
    row: int = 0
    place: Place = ("", 0)
    step: int = -1
    true: Ball = ZERO
    rule: int | None = None
    derivative: Any = None
    form: Any = None
    verdict: str = UNKNOWN
    error: float | None = None
    ulps: float | None = None
    absolute: float | None = None
    digits: int | None = None
    reason: str | None = None
    on_kink: bool = False
    withheld: bool = False

    def judge(self, reference: Reference, roundings: Roundings, beside: float) -> None:
        """Set the verdict by comparing the number with the true one."""
        if self.withheld:
            return
        found = judge(self.number, reference, roundings, beside)
        self.verdict, self.digits = found.verdict, found.digits
        self.error, self.ulps = found.error, found.ulps
        self.absolute = found.absolute
        if found.reason is not None:
            self.reason = f"{self.label}: {found.reason}"

    def lower(self, verdict: str, reason: str) -> None:
        """Lower the verdict to ``verdict``, if that is weaker, with a reason."""
        if weakest([self.verdict, verdict]) == verdict != self.verdict:
            self.verdict, self.reason = verdict, reason
        elif verdict == self.verdict == ROUNDED:
            # The entry's own reason is kept, because it tells of another number.
            self.reason = "; ".join(filter(None, (self.reason, reason)))

    def leave_range(self, dtype: str) -> None:
        """Make the verdict unknown because floats on the way were 0 or infinite where
        the numbers are not."""
        self.verdict = UNKNOWN
        self.reason = f"{self.reason}; numbers on the way leave the range of {dtype}"

    def withhold(self, reason: str) -> None:
        """Make the verdict unknown for good, because the program has no value there."""
        self.verdict, self.reason, self.withheld = UNKNOWN, reason, True

    def is_next_to_zero(self) -> bool:
        """Tell whether the number is 0, and the true one is smaller than any float but
        is not known to be 0."""
        return self.number == 0 and self.absolute is not None

    def vanish(self) -> None:
        """Set the errors for a true number that was proved to be 0."""
        self.absolute = abs(self.number) or None
        self.error = None if self.number else 0.0

    def at_kink(self, what: str) -> None:
        """Make the verdict unknown: the point is on a kink, described by ``what``."""
        self.on_kink = True
        self.verdict, self.error, self.ulps, self.digits = UNKNOWN, None, None, None
        self.reason = (
            f"{self.label}: {what}; the engine's convention gave {self.number!r}"
        )


class Claimed:
    """The numbers of an input's claim; its length counts those not handed over, too.

    own     the number of entries of the input, and so of a row of the claim
    places  the positions of the numbers handed over, in order; None: all were
    order   the positions of these numbers, in the order that ``draw`` gives
    """

    def __init__(self, given: Input, draw: Random, drawn: int) -> None:
        claim = given.claim
        assert claim is not None
        self.given = given
        self.own = max(1, given.value.count)
        self.numbers = np.frombuffer(claim.data, dtype=np.float64)
        self.places = None
        if claim.places is not None:
            self.places = np.frombuffer(claim.places, dtype=np.int64)
        self._count = claim.count
        count = len(self.numbers)
        first = draw.sample(range(count), min(drawn, count))
        rest = np.ones(count, dtype=bool)
        rest[first] = False
        order = np.concatenate([np.array(first, dtype=np.int64), np.flatnonzero(rest)])
        self.order: Host = order if self.places is None else self.places[order]

    def __len__(self) -> int:
        return self._count

    def entries(self, positions: Host, steps: Any, in_rows: bool) -> Iterator[Entry]:
        """Yield the entries at some positions, which must have been handed over.

        Args:
            positions: the positions in the claim.
            steps: the steps of the input's entries.
            in_rows: whether the claim has several rows, which labels then name.
        """
        at = positions
        if self.places is not None:
            at = np.searchsorted(self.places, positions)
        name, shape = self.given.name, self.given.value.shape
        for position, number in zip(positions, self.numbers[at], strict=True):
            row, place = divmod(int(position), self.own)
            label = entry_name(name, [int(i) for i in np.unravel_index(place, shape)])
            label = f"row {row}, {label}" if in_rows else label
            step = int(steps[place])
            yield Entry(label, float(number), row, (name, place), step)


class Row:
    """The chosen entries of a row of the derivative: that of the weighted output.

    engine  a function that runs the engine's rules and returns their steps by input
    trues   a function that returns the true numbers of the entries in an evaluation
    """

    def __init__(
        self, cotangent: Sequence[float], entries: list[Entry],
        engine: Callable[[], dict[str, Any]],
        trues: Callable[[Evaluation], list[Ball]],
    ) -> None:  # fmt: skip
        self.trues = trues
        self.cotangent = cotangent
        self.entries = entries
        self._engine = engine

    @cached_property
    def rules(self) -> list[int] | None:
        """The step of each entry by the engine's rules; None: these do not run."""
        try:
            steps = self._engine()
            rules = [int(steps[e.place[0]][e.place[1]]) for e in self.entries]
        except Exception:
            # Without the rules' steps, the numbers alone are judged.
            return None
        for entry, rule in zip(self.entries, rules, strict=True):
            entry.rule = rule
        return rules


@dataclass(slots=True)
class Report:
    """The entries of one input's claim that were checked, and notes on the others.

    closed   the derivative as a formula
    remark   why SymPy did not get further
    unseen   the number of entries that were not checked
    sampled  how the checked entries were chosen
    more     how the other entries were compared
    slopes   notes on rules of the program whose slope is not that of the value
    wanted   whether every entry's derivative is wanted as a formula
    """

    name: str
    entries: list[Entry]
    closed: str | None = None
    remark: str | None = None
    unseen: int = 0
    sampled: str | None = None
    more: str | None = None
    slopes: tuple[str, ...] = ()
    wanted: bool = False

    def verdict(self) -> InputVerdict:
        verdict = self._verdict()
        checked = [e for e in self.entries if e.verdict != UNKNOWN]
        worst = max((e.error for e in checked if e.error is not None), default=None)
        digits = [e.digits for e in self.entries if e.digits is not None]
        forms = [e.form for e in self.entries] if self.wanted else []
        return InputVerdict(
            self.name,
            verdict,
            worst,
            None if verdict == UNKNOWN else self.closed,
            self._note(verdict, worst, len(checked)),
            len(checked),
            len(self.entries) + self.unseen,
            tuple(form and form.text for form in forms),
            self._missing(forms),
            max((e.ulps for e in checked if e.ulps is not None), default=None),
            tuple(form and form.latex for form in forms),
            min(digits, default=None),
        )

    def _missing(self, forms: Sequence[object]) -> str | None:
        """Return why fewer formulas than wanted were found; None if all were."""
        lost = forms.count(None)
        if not lost:
            return None
        reasons = [e.reason for e in self.entries if e.form is None and e.reason]
        if lost == len(reasons):
            return reasons[0]
        return (
            f"{self.remark or OUT_OF_TIME}: {len(forms) - lost} of {len(forms)} "
            "formulas were found"
        )

    def _verdict(self) -> str:
        if not self.entries:
            unseen = SAMPLED if self.more else UNKNOWN
            return unseen if self.unseen else PROVED
        verdicts = [e.verdict for e in self.entries]
        return weakest([*verdicts, SAMPLED] if self.unseen else verdicts)

    def _note(self, verdict: str, worst: float | None, count: int) -> str | None:
        notes = []
        if verdict in (REFUTED, UNKNOWN, ROUNDED):
            notes += [e.reason for e in self.entries
                      if e.verdict == verdict and e.reason][:1]  # fmt: skip
        elif verdict in (CERTIFIED, PROVED):
            notes += [e.reason for e in self.entries if e.reason][:1]
        if verdict == REFUTED:
            notes += self.slopes
        counts = Counter(e.verdict for e in self.entries)
        if self.unseen:
            notes += [self.sampled] if self.sampled else []
            if worst is not None:
                notes.append(f"max_error is of these {count} alone")
            notes += [self.more] if self.more else []
        if len(counts) > 1:
            notes.append(", ".join(f"{n} {name}" for name, n in counts.items()))
        off = [e.absolute for e in self.entries if e.absolute is not None]
        if off and verdict in (CERTIFIED, PROVED, SAMPLED):
            notes.append(
                f"the true value{f' of {len(off)} entries' if len(off) > 1 else ''} is "
                f"0, with an absolute error of at most {_up(max(off))}"
            )
        if verdict in (CERTIFIED, SAMPLED) and self.remark:
            notes.append(self.remark)
        if (
            worst is not None
            and worst > NOTABLE_RELATIVE_ERROR
            and verdict in (CERTIFIED, PROVED)
        ):
            notes.append(f"rounding: a relative error of {worst:.1g}")
        return "; ".join(notes) or None

    def add(self, entries: Sequence[Entry]) -> None:
        """Add entries that were checked because they seemed to be wrong."""
        if entries:
            self.entries += entries
            self.unseen -= len(entries)
            self.sampled = ", and ".join(
                [*([self.sampled] if self.sampled else []),
                 f"the {len(entries)} that differ most from a pass in float64"]
            )  # fmt: skip

    def compare(self, gaps: Gaps, seen: Host) -> None:
        """Set the note on an independent pass in floats, or refute an entry that
        differs from it; ``seen`` are entries that were compared with true numbers
        instead."""
        rest = np.ones(len(gaps.numbers), dtype=bool)
        rest[seen] = False
        wrong = np.flatnonzero(rest & ~gaps.right)
        if len(wrong):
            at = int(wrong[0])
            number = float(gaps.numbers[at])
            entry = Entry(f"entry {at}", number, verdict=REFUTED)
            entry.reason = (
                f"{self.name}, entry {at}: the engine gave {number!r}, an independent "
                f"pass in float64 {float(gaps.found[at])!r}"
            )
            self.entries.append(entry)
            self.unseen -= 1
            return
        gap = float(np.max(gaps.relative[rest], initial=0.0))
        lost = int(np.count_nonzero(~np.isfinite(gaps.found[rest])))
        others = int(np.count_nonzero(rest))
        which = "all" if others == len(rest) else "the other"
        self.more = f"{which} {others} agree"
        if lost:
            self.more = f"of {which} {others} {others - lost} agree"
        self.more += " with an independent pass in float64 by SymPy's rules, "
        if lost:
            self.more += f"which has no number for {lost}, "
        if gap <= NOTABLE_RELATIVE_ERROR:
            self.more += f"to {_up(gap)} of each"
        else:
            beside = gaps.beside[rest & np.isfinite(gaps.beside)]
            worst = float(np.max(beside, initial=0.0))
            self.more += f"to {_up(worst)} of what was added up to each"

    def close(self, forms: Sequence[str | None], shape: tuple[int, ...]) -> None:
        """Keep the formulas of all entries as nested lists, if they are short."""
        known = [form for form in forms if form is not None]
        if len(known) == len(forms):
            text = bracketed(known, shape)
            self.closed = text if len(text) <= MAX_FORM_CHARACTERS else None


@dataclass(frozen=True, slots=True)
class Gaps:
    """Distances of a claim's numbers from those of an independent pass in floats.

    relative  the distance divided by the number; infinite if that is not defined
    beside    the distance divided by the sum of absolute values that were added up
    right     whether rounding may explain the distance, or ``found`` is no finite
              number, so that nothing can be said
    """

    numbers: Host
    found: Host
    relative: Host
    beside: Host
    right: Host

    @classmethod
    def between(cls, numbers: Host, found: Host, sizes: Host, rounding: float) -> Self:
        """Return the distances of a claim's numbers from those of the other pass.

        Args:
            numbers: the claim's numbers.
            found: the other pass's numbers.
            sizes: the sums of the absolute values that were added up to ``found``.
            rounding: half the distance from 1 to the next number of the claim's type.
        """
        with np.errstate(all="ignore"):
            gaps = np.abs(numbers - found)
            to_itself, beside = (
                np.where(gaps == 0, 0.0, gaps / size)
                for size in (np.abs(found), np.maximum(np.abs(found), sizes))
            )
        right = beside <= FLOAT_PASS_UNITS * rounding
        right |= ~np.isfinite(found) | (gaps <= MIN_FLOAT_GAP)
        return cls(numbers, found, _or_infinite(to_itself), _or_infinite(beside), right)

    def farthest(self, count: int) -> Host:
        """Return the positions of ``count`` entries that differ most, half of them
        relative to the number and half relative to what was added up to it."""
        at = [
            np.argsort(-each, kind="stable")[: count // 2]
            for each in (self.relative, self.beside)
        ]
        far = np.unique(np.concatenate(at))
        differ: Host = far[self.relative[far] > 0]
        return differ


def _or_infinite(gaps: Host) -> Host:
    found: Host = np.where(np.isnan(gaps), np.inf, gaps)
    return found


def _up(gap: float) -> str:
    """Return a gap as a short decimal that is not smaller than it."""
    shown = f"{gap:.1g}"
    return shown if float(shown) >= gap else f"{gap * 1.06:.2g}"
