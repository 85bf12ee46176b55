"""Where a gradient stopped being finite, as notes.

sqrt(x) (line 1, column 14): incoming gradient 0.0 * local gradient inf = nan
"""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnosis.not_finite import Edge, Trouble
from ..diagnosis.rewriting import Rewriting
from ..lang.excerpt import printable
from ..views.numbers import Plain
from .labels import shorten
from .limits import MAX_NOTE_CHARACTERS
from .numbers import inline, number


def notes(found: Trouble) -> Iterator[str]:
    """Write a sentence per edge, and the way out."""
    for edge in found.edges:
        yield _arose(edge)
    if found.rewriting is not None:
        yield _advice(found.rewriting)


def _advice(way: Rewriting) -> str:
    parts = [f"the value {_short(way.value)}"]
    parts += [
        f"d/d{printable(name)} = {_short(g)}" for name, g in way.gradients.items()
    ]
    return (
        f"write {printable(way.text)} for {printable(way.instead)}: that gives "
        f"{', '.join(parts)}"
    )


def _short(value: Plain | None) -> str:
    return "None" if value is None else shorten(inline(value), MAX_NOTE_CHARACTERS)


def _arose(edge: Edge) -> str:
    text = printable(edge.source or edge.node)
    place = "" if edge.line is None else f", line {edge.line}, column {edge.column}"
    at = f", entry {list(edge.entry)}" if edge.entry else ""
    head = f"the gradient becomes {number(edge.result)} at {text}"
    if edge.incoming is None or edge.local_gradient is None:
        return f"{head} ({edge.node} to {printable(edge.to)}{place}{at})"
    return (
        f"{head}: {number(edge.incoming)} * {number(edge.local_gradient)}, incoming "
        f"times local gradient ({edge.node} to {printable(edge.to)}{place}{at})"
    )
