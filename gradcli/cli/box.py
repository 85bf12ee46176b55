"""``--box``: an interval in the place of an input's value.

Invariant: the ends are values of the language, as in ``NAME=VALUE``; at the middle of
its interval an input has the value that everything else is shown for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ..lang.errors import ProgramError, Span
from .problems import wrong

if TYPE_CHECKING:
    from ..lang.bindings import Binding
    from ..verify.box import Ranges
    from ..verify.box import Span as Interval
    from ..verify.process.job import Job
    from .options import Request

FORM: Final = "write --box NAME=LOWER..UPPER, as in --box x=0.1..0.2"

_NEXT: Final = re.compile(r",(?=\s*[^\W\d]\w*\s*=[^=])")
"""Where a list of boxes goes on with the next name."""

_DOTS: Final = re.compile(r"\.\.(?!\.)")


@dataclass(frozen=True, slots=True)
class Box:
    """An input's interval, with the text that it was given by."""

    name: str
    text: str
    lower: Any
    upper: Any

    def middle(self) -> Binding:
        """The input's value where one number is wanted."""
        from ..lang.bindings import Binding

        value = (self.lower / 2 + self.upper / 2).tolist()
        argument = f"{self.name}={value!r}"
        return Binding(self.name, argument, Span(len(self.name) + 1, len(argument)))


def read_boxes(request: Request, asked: Sequence[str] | None) -> tuple[Box, ...]:
    """The intervals that are asked for.

    Raises:
        ProgramError: one of them is none, or its input has a value or is unknown.
    """
    if not asked:
        return ()
    boxes = [_read(part) for text in asked for part in _NEXT.split(text)]
    names = [box.name for box in boxes]
    for box in boxes:
        if names.count(box.name) > 1:
            raise wrong("E595", f"--box: two intervals for {box.name!r}", "keep one")
    _refuse_others(request, boxes)
    return tuple(boxes)


def _refuse_others(request: Request, boxes: Sequence[Box]) -> None:
    """Names that have a value already, or that the program does not read."""
    from ..lang.bindings import read_bindings
    from ..lang.parser import parse
    from ..lang.run import input_names
    from ..lang.suggest import did_you_mean
    from .sources import program_and_bindings

    if request.file == "-" or (request.words or [""])[0] == "-":
        # Standard input is read once: the run says what it does not read.
        return
    source, words = program_and_bindings(request)
    given = {binding.name for binding in read_bindings(words)}
    known = [*given, *(box.name for box in boxes)]
    names = input_names(parse(source, known), known)
    for box in boxes:
        if box.name in given:
            message = f"{box.name!r} has a value and a box"
            raise wrong("E595", message, "leave out one of the two")
        if box.name not in names:
            reads = f"it reads {', '.join(names)}" if names else "it has no inputs"
            message = f"--box: the program does not read {box.name!r}"
            raise wrong("E595", message, did_you_mean(box.name, names) or reads)


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


def tell_middles(boxes: Sequence[Box]) -> None:
    """Say on stderr what point everything but the ranges is shown for."""
    if not boxes:
        return
    from ..lang.excerpt import printable
    from .output import note

    point = ", ".join(printable(box.middle().argument) for box in boxes)
    note(f"note: but for the ranges, shown at the middle of the box: {point}")


def ranges_of(request: Request, boxes: Sequence[Box], job: Job) -> Ranges:
    """The ranges over the box, as narrow as the time for checks allows."""
    from ..verify.box import ranges
    from ..verify.process.budget import Budget
    from ..verify.process.runner import program_of

    return ranges(job, spans_of(boxes), program_of(job), Budget(request.verify_seconds))


def spans_of(boxes: Sequence[Box]) -> Mapping[str, Interval]:
    """The intervals by name, entry by entry."""
    from ..verify.box import Span as Ends

    return {
        box.name: Ends(tuple(box.lower.flat), tuple(box.upper.flat)) for box in boxes
    }
