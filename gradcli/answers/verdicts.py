"""Verdicts and evidence of the check, in the form in which they are shown.

Invariant: nothing is added to what the checking process reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from ..ops.records import record
from .fields import FLAT, IF_ANY, Verdict

if TYPE_CHECKING:
    from ..check.process.job import InputVerdict, Verification

UNASKED = "the check was switched off"

Texts: TypeAlias = Annotated[str | list[Any] | None, "formulas"]
"""Formulas, nested like the numbers that they stand for."""


@record
class Checked:
    """Verdict on one derivative, with its evidence.

    max_error       A proven bound on the relative error of the numbers.
    max_ulps        That bound in units of the last place.
    correct_digits  For a rounded number: the number of its correct digits.
    note            The reason for the verdict, where it needs one.
    """

    verdict: Verdict = "unknown"
    max_error: float | None = None
    max_ulps: float | None = None
    correct_digits: int | None = None
    note: str | None = UNASKED


@record
class LatexFormula:
    """A formula in LaTeX.

    latex  With --latex: the formula as LaTeX; null: there is none.
    """

    latex: str | None


@record
class Formulas:
    """The formulas of a block.

    symbolic       With --symbolic: the formulas, nested like the value; null if there
                   are none.
    symbolic_note  The reason why there is no formula.
    """

    symbolic: Texts
    symbolic_note: str | None
    latex: LatexFormula | None = field(metadata=FLAT)


@record
class Summary:
    """All verdicts in one: the weakest.

    checked          The number of derivatives that were checked.
    of               The number of derivatives in all.
    seconds          The time that the check took, in seconds.
    note             The reason why nothing was checked.
    side_conditions  The conditions under which the verdicts hold.
    kinks            Points without a derivative that were met.
    """

    shared: ClassVar = "verification"

    verdict: Verdict = "unknown"
    checked: int = 0
    of: int = 0
    seconds: float = 0.0
    note: str | None = field(default=None, metadata=IF_ANY)
    side_conditions: tuple[str, ...] | None = field(default=None, metadata=IF_ANY)
    kinks: tuple[str, ...] | None = field(default=None, metadata=IF_ANY)


def checked(verdict: InputVerdict | None) -> Checked:
    """Return the verdict on one derivative; None means that it was not checked."""
    if verdict is None:
        return Checked()
    return Checked(
        verdict.verdict,
        verdict.max_error,
        verdict.max_ulps,
        verdict.digits,
        verdict.note,
    )


def summary(verification: Verification | None) -> Summary:
    """Return all verdicts in one; None means that nothing was checked."""
    if verification is None:
        return Summary(note=UNASKED)
    return Summary(
        verification.verdict,
        verification.checked,
        verification.of,
        round(verification.seconds, 3),
        side_conditions=verification.side_conditions,
        kinks=verification.kinks,
    )


def by_name(verification: Verification | None) -> Mapping[str, InputVerdict]:
    """Return the verdicts by the names of the inputs; empty without a verification."""
    return {v.name: v for v in verification.inputs} if verification else {}
