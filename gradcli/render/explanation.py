"""The backward pass step by step, as text.

1  RsubBackward1  L = 10 - d
   arrives  1.0
   to d     1.0 * -1.0 = -1.0

Invariant: a pipe gets every number; a terminal shows the shape and the range of a large
array.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..answers.explanation import Explanation, Send, StepView
from ..lang.excerpt import printable
from ..views.briefly import extent
from ..views.numbers import Plain, Shown
from .gradients import derived
from .graph import made, shape_text, size_text
from .line import BLANK, Layout, Line, Part, aligned
from .numbers import inline, six_digits

MAX_LABEL_COLUMNS = 16
"""Largest width that labels are padded to, in columns."""

MAX_VALUE_CHARACTERS = 40
"""Largest length of an array that a terminal writes out, in characters; for a longer
one it shows the shape and the range."""


def lines(explanation: Explanation, layout: Layout) -> Iterator[Line]:
    """Yield the whole explanation: the start of the pass, then every step."""
    yield from opening(explanation, layout)
    for each in explanation.steps:
        yield from step(each, layout)


def opening(explanation: Explanation, layout: Layout) -> Iterator[Line]:
    """Yield the output and the gradient that the pass starts with."""
    output, seed = explanation.output, derived(explanation.output)
    equals: Part = (" = ", "plain")
    found = _value(output.value, layout)
    yield Line((printable(output.name), "name"), equals, (found, "number"))
    label = "--grad-output" if explanation.given else f"d{seed}/d{seed}" * bool(seed)
    named = [(label, "name"), equals] if label else []
    start = _value(explanation.start, layout)
    yield Line(("the pass starts with ", "dim"), *named, (start, "number"))


def step(view: StepView, layout: Layout) -> Iterator[Line]:
    """Yield a blank line, the node, and what happened there."""
    yield BLANK
    number = str(view.number)
    yield Line(
        (number, "dim"),
        (f"  {view.node}", "node"),
        (f"  {made(view.name, view.source)}", "name" if view.is_leaf else "plain"),
    )
    margin = " " * (len(number) + 2)
    rows: list[list[Part]] = [
        [(margin + label, "dim"), (f"  {said}", "number"), (note, "dim")]
        for label, said, note in _happened(view, layout)
    ]
    yield from aligned(rows, 1, margin + "  ", len(margin) + MAX_LABEL_COLUMNS)


def _happened(view: StepView, layout: Layout) -> Iterator[tuple[str, str, str]]:
    """Yield the label, the numbers and the note of each row of a step."""
    several = len(view.incoming) > 1
    for nr, g in enumerate(view.incoming):
        yield f"arrives{f' #{nr}' * several}", _value(g, layout), ""
    for send in view.sends:
        said, notes = _value(send.gradient, layout), []
        both = factors(view, send)
        if both:
            said = " * ".join(_value(each, layout) for each in both) + f" = {said}"
        if send.local_gradient is None:
            notes.append("not elementwise: by the node's own rule")
        if send.reduced is not None:
            notes.append(f"summed to the shape {shape_text(send.reduced) or '[]'}")
        if send.held is not None:
            held, total = _value(send.held, layout), _value(send.total, layout)
            notes.append(f"{held} had arrived: together {total}")
        note = f"  ({', '.join(notes)})" if notes else ""
        yield f"to {printable(target(send))}", said, note
    if view.is_leaf:
        label = f"{printable(view.name or 'leaf')}.grad"
        after, before = _value(view.grad_after, layout), view.grad_before
        if before is None:
            yield label, after, "  (was None)"
        else:
            yield label, f"{_value(before, layout)} + what arrives = {after}", ""


def target(send: Send) -> str:
    """Return the name of the value that an edge leads to, else its node's; an output
    that is not the first has its number."""
    return (send.name or send.to) + (f" #{send.output_nr}" if send.output_nr else "")


def factors(view: StepView, send: Send) -> tuple[Plain, ...]:
    """Return the two factors of the gradient that a step sends along an edge; nothing
    if it is no product."""
    arrived = view.incoming[0] if len(view.incoming) == 1 else None
    if arrived is None or send.local_gradient is None:
        return ()
    return arrived, send.local_gradient


def _value(number: Shown | None, layout: Layout) -> str:
    """Return a value on one line; in a terminal a large array's shape and range."""
    if number is None:
        return "None"
    text = inline(number)
    if layout.rows is None or len(text) <= MAX_VALUE_CHARACTERS:
        return text
    size, among = size_text(number), extent(number)
    if among.low > among.high:
        return f"{size} of nan" if among.nan else size
    nan = ", nan among them" if among.nan else ""
    return f"{size} from {six_digits(among.low)} to {six_digits(among.high)}{nan}"


def bare(explanation: Explanation) -> Iterator[Line]:
    """Yield the gradients that arrive at each step, a step a line."""
    for view in explanation.steps:
        text = " ".join("None" if g is None else inline(g) for g in view.incoming)
        yield Line((text, "number"))
