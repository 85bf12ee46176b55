"""``--box``: an interval in the place of an input's value.

Invariant: the ends are values of the language, as in ``NAME=VALUE``; everything but the
ranges is shown with each input at the middle of its interval.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..engine import NUMPY
from ..lang.bindings import Binding, read_binding
from ..lang.errors import ProgramError, Span
from ..lang.excerpt import printable
from ..lang.factory import Factory
from ..lang.parser import parse
from ..lang.prepare import value_of
from ..lang.run import input_names
from ..lang.suggest import did_you_mean
from .question import Question

if TYPE_CHECKING:
    from ..check.box import InputInterval as Interval

FORM: Final = "write --box NAME=LOWER..UPPER, as in --box x=0.1..0.2"

_NEXT: Final = re.compile(r",(?=\s*[^\W\d]\w*\s*=[^=])")
"""Pattern of the comma before the next ``NAME=`` in a list of boxes."""


RANGE = re.compile(
    r"(?P<name>\s*[^\W\d]\w*\s*)=(?!=)"
    r"(?:(?P<start>[^@:]+?)\.\.(?!\.)|(?P<old>[^@:\[]+?):)"
    r"(?P<stop>[^:]*[^:\s][^:]*?)(?::(?P<count>[^:]*))?"
)
"""Pattern of NAME=START..STOP:COUNT, or of the older NAME=START:STOP:COUNT."""


class InputRange(NamedTuple):
    """An interval of an input, its ends as expressions, with the text of a count of
    points, or None; ``old`` if it was written with a colon for the dots."""

    start: Binding
    stop: Binding
    points: str | None
    old: bool

    @property
    def text(self) -> str:
        ends = f"{self.start.text.strip()}..{self.stop.text.strip()}"
        return ":".join([f"{self.start.name}={ends}", *filter(None, [self.points])])


def read_range(argument: str) -> InputRange | None:
    """Return the range that an argument means; None if it is no range."""
    found = RANGE.fullmatch(argument)
    if found is None or not (found["start"] or found["old"]).strip():
        return None
    name, first = read_binding(argument).name, "start" if found["start"] else "old"
    start, stop = (
        Binding(name, argument, Span(*found.span(k))) for k in (first, "stop")
    )
    return InputRange(start, stop, found["count"], first == "old")


@dataclass(frozen=True, slots=True)
class Box:
    """An input's interval."""

    name: str
    lower: Any
    upper: Any

    def middle(self) -> Binding:
        """Return the input bound to the middle of its interval."""
        value = (self.lower / 2 + self.upper / 2).tolist()
        argument = f"{self.name}={value!r}"
        return Binding(self.name, argument, Span(len(self.name) + 1, len(argument)))


def read_boxes(question: Question, asked: Sequence[str]) -> tuple[Box, ...]:
    """Return the boxes that the texts of ``--box`` name."""
    tell = question.tell
    boxes = [_read(part.strip(), tell) for text in asked for part in _NEXT.split(text)]
    named = [box.name for box in boxes]
    given = {binding.name for binding in question.values}
    known = [*given, *named]
    names = input_names(parse(question.program, known), known)
    for name in named:
        if named.count(name) > 1:
            message, hint = f"--box: two intervals for {name!r}", "keep one"
        elif name in given:
            message, hint = (
                f"{name!r} has a value and a box",
                "leave out one of the two",
            )
        elif name not in names:
            reads = f"it reads {', '.join(names)}" if names else "it has no inputs"
            message = f"--box: the program does not read {name!r}"
            hint = did_you_mean(name, names) or reads
        else:
            continue
        raise ProgramError("E595", message, hint=hint)
    return tuple(boxes)


def _read(text: str, tell: Callable[[str], None]) -> Box:
    found, span = read_range(text), read_binding(text).value

    def wrong(message: str, hint: str) -> ProgramError:
        return ProgramError("E595", message, span, text, hint=hint)

    if found is None:
        raise wrong("a box has two ends", FORM)
    if found.points is not None:
        hint = f"write {found._replace(points=None).text}"
        raise wrong("a box has all points between its ends, not a count", hint)
    factory = Factory(NUMPY, "float64", 0)
    lower, upper = (
        np.asarray(value_of(end, factory), np.float64)
        for end in (found.start, found.stop)
    )
    if lower.shape != upper.shape:
        shapes = f"the ends have shapes {list(lower.shape)} and {list(upper.shape)}"
        raise wrong(shapes, "give both ends the input's shape")
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise wrong("an end of a box is not finite", "give a number")
    if (lower > upper).any():
        hint = f"write {found._replace(start=found.stop, stop=found.start).text}"
        raise wrong("the lower end is above the upper one", hint)
    if found.old:
        tell(f"a range is written with two dots: {found.text}")
    return Box(found.start.name, lower, upper)


def at_middles(question: Question, boxes: Sequence[Box]) -> Question:
    """Return the question with each boxed input at the middle of its interval."""
    middles = [box.middle() for box in boxes]
    return replace(question, values=(*question.values, *middles))


def note_middles(question: Question, boxes: Sequence[Box]) -> None:
    """Tell the user the point that everything but the ranges is shown for."""
    point = ", ".join(printable(box.middle().argument) for box in boxes)
    question.tell(
        f"everything except the ranges is shown at the middle of the box: {point}"
    )


def spans_of(boxes: Sequence[Box]) -> Mapping[str, Interval]:
    """Return the ends of each input's interval, entry by entry, by the input's name."""
    from ..check.box import InputInterval as Ends

    return {
        box.name: Ends(tuple(box.lower.flat), tuple(box.upper.flat)) for box in boxes
    }
