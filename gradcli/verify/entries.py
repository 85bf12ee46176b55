"""What was shown of each number, and what that makes of an input.

Invariant: an entry's standing only ever rests on what was done for that very entry;
an input is as strong as its weakest entry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Final

from ..numbers.precision import EXACT
from .closed import LONGEST
from .process.job import (
    PER_NODE,
    PROVED,
    REFUTED,
    SAMPLED,
    UNKNOWN,
    InputVerdict,
    weakest,
)
from .rounding import Reference, distance

OUT_OF_TIME: Final = "SymPy ran out of time"

DIGITS_LOST: Final = 1e-6
"""A relative error from which on the rounding itself deserves a word."""


@dataclass(slots=True)
class Entry:
    """One number of the engine: its standing and how that came about."""

    label: str
    number: float
    standing: str = UNKNOWN
    error: float | None = None
    ulps: float | None = None
    reason: str | None = None
    kinked: bool = False
    withheld: bool = False

    def judge(self, reference: Reference, dtype: str, standing: str) -> None:
        """Give it ``standing`` if the number is the reference's, or what it earns."""
        if self.withheld:
            return
        found = distance(self.number, reference, dtype)
        self.error, self.ulps = found.error, found.ulps
        if found.right:
            self.standing = standing
        elif found.reason is not None:
            self.standing, self.reason = UNKNOWN, f"{self.label}: {found.reason}"
        else:
            shown = EXACT.nstr(reference.value, 17)
            self.standing = REFUTED
            self.reason = (
                f"{self.label}: the engine gave {self.number!r}, SymPy {shown}"
            )
            if reference.rule is not None:
                exactly = EXACT.nstr(reference.rule, 17)
                self.reason += f"; exactly, the engine's rules give {exactly}"

    def withhold(self, reason: str) -> None:
        """Nothing is shown where the program itself has no value."""
        self.standing, self.reason, self.withheld = UNKNOWN, reason, True

    def on_kink(self, what: str) -> None:
        """Nothing can be shown where there is no derivative."""
        self.kinked = True
        self.standing = UNKNOWN
        self.reason = (
            f"{self.label}: {what}; the engine's convention gave {self.number!r}"
        )


@dataclass(slots=True)
class Account:
    """All entries of one input's claim.

    closed   the derivative as a formula
    remark   why the symbolic stages did not get further
    partial  entries that were not drawn are left out of the verdict
    unseen   how many more entries there are, which were not drawn
    drawn    how those here were
    formulas every entry's derivative as a formula, if they are wanted
    latex    the same as LaTeX, symbols left open
    """

    name: str
    entries: list[Entry]
    closed: str | None = None
    remark: str | None = None
    partial: bool = False
    formulas: list[str | None] = field(default_factory=list)
    latex: list[str | None] = field(default_factory=list)
    unseen: int = 0
    drawn: str | None = None

    def verdict(self) -> InputVerdict:
        standing = self._standing()
        checked = [e for e in self.entries if e.standing != UNKNOWN]
        errors = [e.error for e in checked if e.error is not None]
        worst = max(errors, default=None)
        return InputVerdict(
            self.name,
            standing,
            worst,
            None if standing == UNKNOWN else self.closed,
            self._note(standing, worst),
            len(checked),
            len(self.entries) + self.unseen,
            tuple(self.formulas),
            self._missing(),
            max((e.ulps for e in checked if e.ulps is not None), default=None),
            tuple(self.latex),
        )

    def _missing(self) -> str | None:
        """Why there are fewer formulas than were wanted."""
        lost = self.formulas.count(None)
        if not lost:
            return None
        kinks = [e.reason for e in self.entries if e.kinked]
        if lost == len(kinks):
            return kinks[0]
        return (
            f"{self.remark or OUT_OF_TIME}: {len(self.formulas) - lost} of "
            f"{len(self.formulas)} formulas were found"
        )

    def _standing(self) -> str:
        if not self.entries:
            return UNKNOWN if self.unseen else PROVED
        standings = [e.standing for e in self.entries]
        if self.unseen:
            return weakest([*standings, SAMPLED])
        if not self.partial:
            return weakest(standings)
        seen = [e.standing for e in self.entries if e.standing != UNKNOWN or e.reason]
        return weakest([*seen, SAMPLED]) if seen else UNKNOWN

    def _note(self, standing: str, worst: float | None) -> str | None:
        notes = []
        if standing in (REFUTED, UNKNOWN):
            notes += [e.reason for e in self.entries
                      if e.standing == standing and e.reason][:1]  # fmt: skip
        counts = Counter(e.standing for e in self.entries)
        if self.unseen and self.entries:
            every = len(self.entries) + self.unseen
            notes.append(f"{len(self.entries)} of {every} entries, {self.drawn}")
        if len(counts) > 1 or (standing == SAMPLED and not self.unseen):
            notes.append(", ".join(f"{n} {name}" for name, n in counts.items()))
        if standing in (PER_NODE, SAMPLED) and self.remark:
            notes.append(self.remark)
        if worst is not None and worst > DIGITS_LOST and standing != REFUTED:
            notes.append(f"rounding: a relative error of {worst:.1g}")
        return "; ".join(notes) or None

    def close(self, forms: Sequence[str | None], shape: tuple[int, ...]) -> None:
        """Keep the formulas of all entries, as nested lists, if they are short."""
        known = [form for form in forms if form is not None]
        if len(known) == len(forms):
            text = nested(known, shape)
            self.closed = text if len(text) <= LONGEST else None


def nested(texts: Sequence[str], shape: tuple[int, ...]) -> str:
    """``[[a, b], [c, d]]``; a scalar's text as it is."""
    level = list(texts)
    for size in reversed(shape):
        level = [
            f"[{', '.join(level[i : i + size])}]" for i in range(0, len(level), size)
        ]
    return level[0] if prod(shape) else "[]"


def labelled(name: str, labels: Sequence[str], numbers: Sequence[Any]) -> Account:
    pairs = zip(labels, numbers, strict=True)
    return Account(name, [Entry(label, number) for label, number in pairs])
