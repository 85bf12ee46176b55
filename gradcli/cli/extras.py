"""What `gradcli grad` adds on demand: more digits, condition numbers, ranges.

Invariant: all are made from the command line and the numbers that are there; none waits
for the check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..answers.box import ranges_of, spans_of

if TYPE_CHECKING:
    from ..answers.box import Box
    from ..answers.condition import Condition
    from ..answers.gradients import Gradients
    from ..answers.question import Question
    from ..diagnosis.blame import Trouble
    from ..render.line import Line
    from ..verify.box import Ranges
    from ..verify.digits import Precisely
    from ..verify.process.job import Job


@dataclass(frozen=True, slots=True)
class Extras:
    """Results beside the gradients; None where an option was not given."""

    precisely: Precisely | None
    conditions: tuple[Condition, ...] | None
    trouble: Trouble | None
    boxes: tuple[Box, ...]
    ranges: Ranges | None

    def lines(self, found: Gradients) -> Iterator[Line]:
        """The results as text."""
        if self.precisely is None and self.conditions is None and self.ranges is None:
            return
        from ..render.gradients import labels
        from ..render.precision import condition_lines, digit_lines

        if self.precisely is not None:
            yield from digit_lines(self.precisely, found.view, labels(found.view))
        if self.conditions is not None:
            yield from condition_lines(self.conditions, found.run.dtype)
        if self.ranges is not None:
            from ..render.box import range_lines

            box, view = spans_of(self.boxes), found.view
            yield from range_lines(self.ranges, box, view, labels(view))

    def bare(self, found: Gradients) -> Iterator[Line]:
        """The gradients with all their digits, or their ranges, one a line."""
        if self.ranges is not None:
            from ..render.box import bare_ranges

            return bare_ranges(self.ranges, found.view)
        from ..render.precision import bare_digits

        assert self.precisely is not None
        return bare_digits(self.precisely)

    def as_json(
        self, found: Gradients
    ) -> tuple[Mapping[str, Any], Mapping[str, Mapping[str, Any]]]:
        """What to add to the object, and what to add to each input."""
        from ..render.precision import condition_json, digits_json

        answer: dict[str, object] = {}
        inputs: dict[str, dict[str, object]] = {}
        if self.precisely is not None:
            answer, inputs = digits_json(self.precisely)
        for name, more in condition_json(self.conditions or ()).items():
            inputs[name] = inputs.get(name, {}) | more
        if self.ranges is not None:
            from ..render.box import range_json

            own, ranges = range_json(self.ranges, spans_of(self.boxes), found.view)
            answer |= own
            for name, more in ranges.items():
                inputs[name] = inputs.get(name, {}) | more
        if self.trouble is not None:
            answer["blame"] = self.trouble
        return answer, inputs


def extras_of(
    question: Question,
    found: Gradients,
    job: Job | None,
    digits: int | None,
    condition: bool,
    boxes: tuple[Box, ...],
) -> Extras:
    """Compute what was asked for."""
    precisely = None
    if digits is not None:
        assert job is not None
        precisely = _precisely(question, job, digits)
    conditions = _conditions(found) if condition else None
    ranges = None
    if boxes:
        assert job is not None
        ranges = ranges_of(boxes, job)
    return Extras(precisely, conditions, found.trouble, boxes, ranges)


def _conditions(found: Gradients) -> tuple[Condition, ...]:
    from ..answers.condition import conditions
    from ..views.numbers import plain

    given = found.cotangent
    return conditions(found.view, None if given is None else plain(given.raw))


def _precisely(question: Question, job: Job, digits: int) -> Precisely:
    from ..verify.digits import precise

    typed = {binding.name: binding.text for binding in question.values}
    return precise(job, typed, question.grad_output, digits)
