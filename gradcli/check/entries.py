"""The numbers of a claim, the verdict on each, and the verdict on a whole input.

Invariant: an entry's verdict rests only on what was done for that entry; an input's
verdict is that of its weakest entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import floor, log10
from random import Random
from typing import Any, Final

import numpy as np

from ..engine.raw import Host
from ..lang.nested import bracketed
from .balls import ZERO, Ball
from .graph import Evaluation
from .judge import Finding, Reference, judge
from .process.job import (
    CERTIFIED,
    MAX_FORM_CHARACTERS,
    PROVED,
    RAN_OUT,
    REFUTED,
    ROUNDED,
    SAMPLED,
    UNKNOWN,
    InputVerdict,
    JobInput,
    entry_name,
    weakest,
)
from .rounding import Roundings
from .subject import Place

NOTABLE_RELATIVE_ERROR: Final = 1e-6
"""Smallest relative error from rounding that a note mentions."""

OUT_OF_TIME: Final = f"SymPy {RAN_OUT}"


@dataclass(slots=True, eq=False)
class JudgedEntry(Finding):
    """One number of the engine, the verdict on it, and the evidence.

    row         the row of the derivative that it is in; 0 for a gradient
    place       the entry that is differentiated by
    step        the step of that entry
    true        the true number; set when the entry's row is computed
    rule        the step that the engine's rules give; None: they did not run
    derivative  SymPy's derivative of the program, if it meets the true number
    form        the derivative as a `gradcli.check.formulas.Form`
    withheld    whether the program has no value there, so that the verdict stays
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
    on_kink: bool = False
    withheld: bool = False

    def judge(self, reference: Reference, roundings: Roundings, beside: float) -> None:
        """Set the verdict by comparing the number with the true one."""
        if self.withheld:
            return
        found, before = judge(self.number, reference, roundings, beside), self.reason
        for each in fields(found):
            setattr(self, each.name, getattr(found, each.name))
        told = found.reason is not None
        self.reason = f"{self.label}: {found.reason}" if told else before

    def twin(self, step: int) -> JudgedEntry:
        """Return an entry for the same number in another run of the program."""
        return JudgedEntry(self.label, self.number, self.row, self.place, step)

    def round_off(self, why: str) -> None:
        """Make a refuted entry `rounded`, for a reason, with its count of digits."""
        self.verdict, self.reason = ROUNDED, f"{self.reason}: {why}"
        self.digits = max(0, floor(-log10(self.error))) if self.error else 0

    def lower(self, verdict: str, reason: str) -> None:
        """Lower the verdict to ``verdict``, if that is weaker, with a reason."""
        if weakest([self.verdict, verdict]) == verdict != self.verdict:
            self.verdict, self.reason = verdict, reason
        elif verdict == self.verdict == ROUNDED:
            # The entry's own reason is kept, because it tells of another number.
            self.reason = "; ".join(filter(None, (self.reason, reason)))

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
    places  the positions of the numbers handed over, in order
    order   the positions of these numbers, in the order that ``draw`` gives
    """

    def __init__(self, given: JobInput, draw: Random, drawn: int) -> None:
        claim = given.claim
        assert claim is not None
        self.given = given
        self.own = max(1, given.value.count)
        self.numbers = np.frombuffer(claim.data, dtype=np.float64)
        count = len(self.numbers)
        self.places: Host = np.arange(count)
        if claim.places is not None:
            self.places = np.frombuffer(claim.places, dtype=np.int64)
        self._count = claim.count
        first = draw.sample(range(count), min(drawn, count))
        rest = np.ones(count, dtype=bool)
        rest[first] = False
        order = np.concatenate([np.array(first, dtype=np.int64), np.flatnonzero(rest)])
        self.order: Host = self.places[order]

    def __len__(self) -> int:
        return self._count

    def entries(
        self, positions: Host, steps: Any, in_rows: bool
    ) -> Iterator[JudgedEntry]:
        """Yield the entries at some positions, which must have been handed over;
        ``steps`` are those of the input's entries, and labels name the row if there are
        several."""
        at = np.searchsorted(self.places, positions)
        name, shape = self.given.name, self.given.value.shape
        for position, number in zip(positions, self.numbers[at], strict=True):
            row, place = divmod(int(position), self.own)
            label = entry_name(name, [int(i) for i in np.unravel_index(place, shape)])
            label = f"row {row}, {label}" if in_rows else label
            yield JudgedEntry(
                label, float(number), row, (name, place), int(steps[place])
            )


@dataclass
class Row:
    """The chosen entries of a row of the derivative: that of the weighted output.

    engine  a function that runs the engine's rules and returns their steps by input
    trues   a function that returns the true numbers of the entries in an evaluation
    """

    cotangent: Sequence[float]
    entries: list[JudgedEntry]
    engine: Callable[[], dict[str, Any]]
    trues: Callable[[Evaluation], list[Ball]]

    @cached_property
    def rules(self) -> list[int] | None:
        """The step of each entry by the engine's rules; None: these do not run."""
        try:
            steps = self.engine()
            rules = [int(steps[e.place[0]][e.place[1]]) for e in self.entries]
        except Exception:
            # Without the rules' steps, the numbers alone are judged.
            return None
        for entry, rule in zip(self.entries, rules, strict=True):
            entry.rule = rule
        return rules


@dataclass(slots=True)
class InputReport:
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
    entries: list[JudgedEntry]
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
            "; ".join(self._notes(verdict, worst, len(checked))) or None,
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

    def _notes(self, verdict: str, worst: float | None, count: int) -> Iterator[str]:
        shown = verdict in (CERTIFIED, PROVED)
        if verdict != SAMPLED:
            reasons = [e.reason for e in self.entries
                       if e.reason and (shown or e.verdict == verdict)]  # fmt: skip
            yield from reasons[:1]
        if verdict == REFUTED:
            yield from self.slopes
        if self.unseen:
            yield from [self.sampled] if self.sampled else []
            if worst is not None:
                yield f"max_error is of these {count} alone"
            yield from [self.more] if self.more else []
        counts = Counter(e.verdict for e in self.entries)
        if len(counts) > 1:
            yield ", ".join(f"{n} {name}" for name, n in counts.items())
        off = [e.absolute for e in self.entries if e.absolute is not None]
        if off and (shown or verdict == SAMPLED):
            yield (
                f"the true value{f' of {len(off)} entries' if len(off) > 1 else ''} is "
                f"0, with an absolute error of at most {at_most(max(off))}"
            )
        if verdict in (CERTIFIED, SAMPLED) and self.remark:
            yield self.remark
        if shown and worst is not None and worst > NOTABLE_RELATIVE_ERROR:
            yield f"rounding: a relative error of {worst:.1g}"

    def close(self, forms: Sequence[str | None], shape: tuple[int, ...]) -> None:
        """Keep the formulas of all entries as nested lists, if they are short."""
        known = [form for form in forms if form is not None]
        if len(known) == len(forms):
            text = bracketed(known, shape)
            self.closed = text if len(text) <= MAX_FORM_CHARACTERS else None


def at_most(gap: float) -> str:
    """Return a gap as a short decimal that is not smaller than it."""
    shown = f"{gap:.1g}"
    return shown if float(shown) >= gap else f"{gap * 1.06:.2g}"
