"""Extras of `gradcli grad` on demand: more digits, condition numbers, ranges.

Invariants: all are made from the question and the computed gradients; none waits for
the verdicts on these. Where the output is 0, relative errors are undefined, and a
condition number is infinite, or 0 if the input or its gradient is 0.

    conditions(view, [1.0])[0].norm          # |x * f'(x) / f(x)|
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import fsum, hypot, inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Final

from ..views.fields import HIDDEN
from ..views.numbers import Plain, flat, plain

if TYPE_CHECKING:
    from ..diagnosis.not_finite import Trouble
    from ..verify.box import Ranges
    from ..verify.digits import Precisely
    from ..verify.process.job import Job
    from .box import Box
    from .gradients import Gradients, GradView, InputView
    from .question import Question


UNSETTLED: Final = "not all digits are certain"
"""Remark on numerals whose last digits are not certain."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Reaction of the output to a relative change of one input.

    norm     The norm of the input times that of its gradient, divided by abs(output).
    largest  The largest of the entries' own condition numbers.
    entry    The entry with the largest condition number, as x[1].
    """

    name: str = field(metadata=HIDDEN)
    norm: float
    largest: float
    entry: str


@dataclass(frozen=True, slots=True)
class Extras:
    """Results shown with the gradients; None for options that were not given."""

    precisely: Precisely | None
    conditions: tuple[Condition, ...] | None
    trouble: Trouble | None
    boxes: tuple[Box, ...]
    ranges: Ranges | None

    @property
    def any(self) -> bool:
        """Whether digits, condition numbers or ranges are to be shown."""
        found = self.precisely, self.conditions, self.ranges
        return any(each is not None for each in found)


def doubt(number: float) -> str:
    """Return a sentence saying that a constant's digits after the 17th are a guess."""
    return f"{number!r} is known to 17 digits only; further digits rest on a guess"


def unsettled(found: Precisely) -> Iterator[str]:
    """Yield a sentence for the output and each gradient with uncertain digits."""
    by_label = {"the output": found.output} | {
        f"the gradient by {name}": numerals
        for name, numerals in found.gradients.items()
    }
    for label, numerals in by_label.items():
        if numerals is not None and numerals.unsettled:
            yield f"{label}: {UNSETTLED}"


def extras_of(
    question: Question,
    found: Gradients,
    job: Job | None,
    digits: int | None,
    condition: bool,
    boxes: tuple[Box, ...],
) -> Extras:
    """Return the digits, condition numbers and ranges that were asked for.

    Args:
        question: the program and its values, as they were typed.
        found: its gradients.
        job: the program and its values, for digits and ranges; None: neither is wanted.
        digits: the number of digits that are wanted; None: none are.
        condition: whether condition numbers are wanted.
        boxes: intervals of inputs.
    """
    precisely = None
    if digits is not None:
        assert job is not None
        precisely = _precisely(question, job, digits)
    conditioned = None
    if condition:
        given = found.cotangent
        cotangent = None if given is None else plain(given.raw)
        conditioned = conditions(found.view, cotangent)
    ranges = None
    if boxes:
        from .box import ranges_of

        assert job is not None
        ranges = ranges_of(boxes, job)
    return Extras(precisely, conditioned, found.trouble, boxes, ranges)


def _precisely(question: Question, job: Job, digits: int) -> Precisely:
    from ..verify.digits import precise

    typed = {binding.name: binding.text for binding in question.values}
    return precise(job, typed, question.grad_output, digits)


def conditions(view: GradView, cotangent: Plain | None) -> tuple[Condition, ...]:
    """Return the output's condition number for each differentiated input.

    Args:
        view: values and gradients.
        cotangent: the cotangent of the output; None: ones.
    """
    values = flat(view.output.value)
    weights = [1.0] * len(values) if cotangent is None else flat(cotangent)
    output = abs(_sum([w * v for w, v in zip(weights, values, strict=True)]))
    return tuple(_condition(given, output) for given in view.differentiated)


def _condition(given: InputView, output: float) -> Condition:
    values = [] if given.value is None else flat(given.value)
    slopes = [0.0] * len(values) if given.grad is None else flat(given.grad)
    parts = [_ratio(abs(x * g), output) for x, g in zip(values, slopes, strict=True)]
    norm = _ratio(hypot(*values) * hypot(*slopes), output)
    if not parts:
        return Condition(given.name, 0.0, 0.0, given.name)
    worst = max(range(len(parts)), key=lambda i: inf if isnan(parts[i]) else parts[i])
    from .closed_forms import indices

    entry = given.name + indices(given.shape)[worst]
    return Condition(given.name, norm, parts[worst], entry)


def _sum(terms: list[float]) -> float:
    try:
        return fsum(terms)
    except (OverflowError, ValueError):
        # `fsum` refuses a sum beyond the range, and inf - inf.
        return sum(terms)


def _ratio(change: float, output: float) -> float:
    if not isfinite(output):
        return nan
    if output:
        return change / output
    return nan if isnan(change) else inf if change else 0.0
