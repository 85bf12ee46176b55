"""``--box``: an interval in the place of an input's value.

Invariant: the ends are values of the language, as in ``NAME=VALUE``; everything but the
ranges is shown with each input at the middle of its interval.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ..lang.errors import ProgramError, Span

if TYPE_CHECKING:
    from ..lang.bindings import Binding
    from ..verify.box import Ranges
    from ..verify.box import Span as Interval
    from ..verify.process.job import Job
    from .question import Question

FORM: Final = "write --box NAME=LOWER..UPPER, as in --box x=0.1..0.2"

_NEXT: Final = re.compile(r",(?=\s*[^\W\d]\w*\s*=[^=])")
"""Pattern of the comma before the next ``NAME=`` in a list of boxes."""

_DOTS: Final = re.compile(r"\.\.(?!\.)")


@dataclass(frozen=True, slots=True)
class Box:
    """An input's interval, with the text that it was given by."""

    name: str
    text: str
    lower: Any
    upper: Any

    def middle(self) -> Binding:
        """Return the input bound to the middle of its interval."""
        from ..lang.bindings import Binding

        value = (self.lower / 2 + self.upper / 2).tolist()
        argument = f"{self.name}={value!r}"
        return Binding(self.name, argument, Span(len(self.name) + 1, len(argument)))


def read_boxes(question: Question, asked: Sequence[str]) -> tuple[Box, ...]:
    """Return the boxes that the texts of ``--box`` name.

    Raises:
        ProgramError: a text is no box, or its input has a value or is unknown.
    """
    boxes = [_read(part) for text in asked for part in _NEXT.split(text)]
    names = [box.name for box in boxes]
    for box in boxes:
        if names.count(box.name) > 1:
            message = f"--box: two intervals for {box.name!r}"
            raise ProgramError("E595", message, hint="keep one")
    _refuse_others(question, boxes)
    return tuple(boxes)


def _refuse_others(question: Question, boxes: Sequence[Box]) -> None:
    """Refuse boxes of inputs with a value, and of names that the program does not
    read."""
    from ..lang.parser import parse
    from ..lang.run import input_names
    from ..lang.suggest import did_you_mean

    given = {binding.name for binding in question.values}
    known = [*given, *(box.name for box in boxes)]
    names = input_names(parse(question.program, known), known)
    for box in boxes:
        if box.name in given:
            message = f"{box.name!r} has a value and a box"
            raise ProgramError("E595", message, hint="leave out one of the two")
        if box.name not in names:
            reads = f"it reads {', '.join(names)}" if names else "it has no inputs"
            message = f"--box: the program does not read {box.name!r}"
            hint = did_you_mean(box.name, names) or reads
            raise ProgramError("E595", message, hint=hint)


def _read(text: str) -> Box:
    import numpy as np

    from ..engine import NUMPY
    from ..lang.bindings import Binding, read_binding
    from ..lang.factory import Factory
    from ..lang.inputs import value_of

    text = text.strip()
    binding = read_binding(text)
    ends = _DOTS.split(binding.text)
    if len(ends) != 2 or not all(end.strip() for end in ends):
        message = "a box has two ends"
        raise ProgramError("E595", message, binding.value, text, hint=FORM)
    start = binding.value.start
    middle = start + len(ends[0])
    spans = Span(start, middle), Span(middle + 2, len(text))
    factory = Factory(NUMPY, "float64", 0)
    lower, upper = (
        np.asarray(value_of(Binding(binding.name, text, span), factory), np.float64)
        for span in spans
    )
    if lower.shape != upper.shape:
        message = f"the ends have shapes {list(lower.shape)} and {list(upper.shape)}"
        hint = "give both ends the input's shape"
        raise ProgramError("E595", message, binding.value, text, hint=hint)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        message = "an end of a box is not finite"
        raise ProgramError("E595", message, binding.value, text, hint="give a number")
    if (lower > upper).any():
        message = "the lower end is above the upper one"
        hint = f"write {binding.name}={ends[1].strip()}..{ends[0].strip()}"
        raise ProgramError("E595", message, binding.value, text, hint=hint)
    return Box(binding.name, text, lower, upper)


def at_middles(question: Question, boxes: Sequence[Box]) -> Question:
    """Return the question with each boxed input at the middle of its interval."""
    middles = [box.middle() for box in boxes]
    return replace(question, values=(*question.values, *middles))


def tell_middles(question: Question, boxes: Sequence[Box]) -> None:
    """Tell the user the point that everything but the ranges is shown for."""
    from ..lang.excerpt import printable

    point = ", ".join(printable(box.middle().argument) for box in boxes)
    question.tell(f"but for the ranges, shown at the middle of the box: {point}")


def ranges_of(boxes: Sequence[Box], job: Job) -> Ranges:
    """Return the ranges over the box, as narrow as the time for checks allows."""
    from ..verify.box import ranges
    from ..verify.process.budget import Budget
    from ..verify.subject import program_of

    return ranges(job, spans_of(boxes), program_of(job), Budget(job.seconds))


def spans_of(boxes: Sequence[Box]) -> Mapping[str, Interval]:
    """Return the ends of each input's interval, entry by entry, by the input's name."""
    from ..verify.box import Span as Ends

    return {
        box.name: Ends(tuple(box.lower.flat), tuple(box.upper.flat)) for box in boxes
    }
