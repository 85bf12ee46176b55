"""Verdicts as text: one line per input, what they depend on, and a summary.

Invariant: nothing is said here that the checking process did not report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..lang.excerpt import printable
from .line import BLANK, Line, Part, Role


class VerdictLike(Protocol):
    """What was found out about one gradient."""

    @property
    def name(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def max_error(self) -> float | None: ...
    @property
    def max_ulps(self) -> float | None: ...
    @property
    def digits(self) -> int | None: ...
    @property
    def closed_form(self) -> str | None: ...
    @property
    def note(self) -> str | None: ...
    @property
    def formulas(self) -> Sequence[str | None]: ...
    @property
    def latex(self) -> Sequence[str | None]: ...
    @property
    def missing(self) -> str | None: ...


class VerificationLike(Protocol):
    """What was found out about all of them."""

    @property
    def verdict(self) -> str: ...
    @property
    def checked(self) -> int: ...
    @property
    def of(self) -> int: ...
    @property
    def seconds(self) -> float: ...
    @property
    def inputs(self) -> Sequence[VerdictLike]: ...
    @property
    def side_conditions(self) -> Sequence[str]: ...
    @property
    def kinks(self) -> Sequence[str]: ...


ROLES: Mapping[str, Role] = {
    "proved": "good",
    "certified": "good",
    "sampled": "fair",
    "rounded": "fair",
    "unknown": "fair",
    "refuted": "bad",
}

EXCEPTIONS = ("refuted", "unknown", "rounded")
"""Verdicts that hold for the gradients named alone, not for all that are better."""


def verdict_lines(
    verification: VerificationLike, labels: Mapping[str, str], what: str
) -> Iterator[Line]:
    """Everything that was found out.

    Args:
        verification: the verdicts.
        labels: what to call the derivative by each input.
        what: "gradients" or "blocks", for the summary.
    """
    rows = verification.inputs
    if rows:
        yield BLANK
        width = max(len(labels.get(row.name, row.name)) for row in rows)
        kinds = max(len(row.verdict) for row in rows)
        for row in rows:
            label = printable(labels.get(row.name, row.name))
            yield Line((*_row(row, label.ljust(width), kinds),))
    if verification.side_conditions:
        conditions = ", ".join(map(printable, verification.side_conditions))
        yield Line((("where ", "dim"), (conditions, "plain")))
    for kink in verification.kinks:
        yield Line((("kink: ", "fair"), (printable(kink), "plain")))
    yield Line((*_summary(verification, what),))


def _row(row: VerdictLike, label: str, kinds: int) -> list[Part]:
    parts: list[Part] = [
        (label, "name"),
        ("  " + row.verdict.ljust(kinds), ROLES.get(row.verdict, "plain")),
    ]
    if row.closed_form:
        parts.append((f"  {printable(row.closed_form)}", "plain"))
    if row.max_error is not None:
        parts.append((f"  max_error {row.max_error:.2g}{_ulps(row.max_ulps)}", "dim"))
    if row.note:
        parts.append((f"  ({printable(row.note)})", "dim"))
    return parts


def _ulps(ulps: float | None) -> str:
    return f" ({ulps:.2g} ulp)" if ulps else ""


def _summary(verification: VerificationLike, what: str) -> list[Part]:
    overall = verification.verdict
    counts = Counter(row.verdict for row in verification.inputs)
    total = sum(counts.values()) or verification.of
    said = counts[overall] if overall in EXCEPTIONS and counts else total
    text = f": {said} of {total} {what}"
    if len(counts) > 1:
        text += f" ({_listed(counts.items())})"
    parts: list[Part] = [(overall, ROLES.get(overall, "plain")), (text, "plain")]
    parts.append((f", {verification.seconds:.2f} s", "dim"))
    return parts


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts)
