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
from .labels import made, shape_text, size_text
from .limits import MAX_LABEL_COLUMNS, MAX_VALUE_CHARACTERS
from .line import BLANK, Layout, Line, Part, aligned
from .numbers import inline, six_digits

INDENT = "  "


def lines(explanation: Explanation, layout: Layout) -> Iterator[Line]:
    """Yield the whole explanation: the start of the pass, then every step."""
    yield from opening(explanation, layout)
    for each in explanation.steps:
        yield from step(each, layout)


def opening(explanation: Explanation, layout: Layout) -> Iterator[Line]:
    """Yield the output and the gradient that the pass starts with."""
    output = explanation.output
    name = printable(output.name)
    yield Line(
        (name, "name"), (" = ", "plain"), (value(output.value, layout), "number")
    )
    seed = derived(output)
    label = "--grad-output" if explanation.given else f"d{seed}/d{seed}" * bool(seed)
    parts: list[Part] = [("the pass starts with ", "dim")]
    if label:
        parts += (label, "name"), (" = ", "plain")
    yield Line(*parts, (value(explanation.start, layout), "number"))


def step(view: StepView, layout: Layout) -> Iterator[Line]:
    """Yield a blank line, the node, and what happened there."""
    yield BLANK
    number = str(view.number)
    yield Line(
        (number, "dim"),
        (f"  {view.node}", "node"),
        (f"  {made(view.name, view.source)}", "name" if view.is_leaf else "plain"),
    )
    margin = " " * len(number) + INDENT
    several = len(view.incoming) > 1
    rows = [(f"arrives{f' #{nr}' * several}", value(g, layout), "")
            for nr, g in enumerate(view.incoming)]  # fmt: skip
    incoming = view.incoming[0] if len(view.incoming) == 1 else None
    rows += [(*_going(send, incoming, layout),) for send in view.sends]
    rows += _accumulated(view, layout)
    lines: list[list[Part]] = [
        [
            (margin + label, "dim"),
            (f"  {said}", "number"),
            (note and f"  ({note})", "dim"),
        ]
        for label, said, note in rows
    ]
    yield from aligned(lines, 1, margin + INDENT, len(margin) + MAX_LABEL_COLUMNS)


def _going(send: Send, incoming: Plain | None, layout: Layout) -> tuple[str, str, str]:
    """Return the label, the product and the note of one edge."""
    label = f"to {printable(send.name or send.to)}"
    label += f" #{send.output_nr}" if send.output_nr else ""
    said, notes = value(send.gradient, layout), []
    if send.local_gradient is None:
        notes.append("not elementwise: by the node's own rule")
    elif incoming is not None:
        factor = value(send.local_gradient, layout)
        said = f"{value(incoming, layout)} * {factor} = {said}"
    if send.reduced is not None:
        notes.append(f"summed to the shape {shape_text(send.reduced) or '[]'}")
    if send.held is not None:
        held, total = value(send.held, layout), value(send.total, layout)
        notes.append(f"{held} had arrived: together {total}")
    return label, said, ", ".join(notes)


def _accumulated(view: StepView, layout: Layout) -> list[tuple[str, str, str]]:
    if not view.is_leaf:
        return []
    label = f"{printable(view.name or 'leaf')}.grad"
    after = value(view.grad_after, layout)
    if view.grad_before is None:
        return [(label, after, "was None")]
    return [(label, f"{value(view.grad_before, layout)} + what arrives = {after}", "")]


def value(number: Shown | None, layout: Layout) -> str:
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
