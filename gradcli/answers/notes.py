"""Notes on a run for stderr: what ran in parts, how the rows of a table ran, and where
a gradient stopped being finite.

trace: fused: tanh(a*b + c)*exp(-a*a) (line 1, column 1), then sum
trace:   10,000,000 entries in 1,024 parts, on 2 threads, forward and backward
trace: in one piece: it reads other entries: softmax (line 1, column 5)
trace: 20,000 rows together, in 3 runs, on 2 threads

sqrt(x) (line 1, column 14): incoming gradient 0.0 * local gradient inf = nan
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lang.excerpt import printable, shortened
from ..lang.fusion import Fused, Fusion, FusionRefusal
from ..lang.rows import Ways
from .graph import shorten
from .not_finite import NonFiniteEdge, Trouble
from .numbers import inline, number
from .plain_numbers import Plain

MAX_NOTE_CHARACTERS = 60
"""Largest length of a value that a note writes out, in characters."""


def fusion_notes(fusion: Fusion) -> Iterator[str]:
    """Yield lines on what ran in parts, and on why the rest did not."""
    for region in fusion.fused:
        then = f", then {region.reduction}" if region.reduction else ""
        yield f"trace: fused: {_text(region)}{then}"
        parts = "1 part" if region.parts == 1 else f"{region.parts:,} parts"
        threads = "1 thread" if region.threads == 1 else f"{region.threads} threads"
        on = f"in {parts}, on {threads}, forward and backward"
        yield f"trace:   {region.entries:,} entries {on}"
    for whole in fusion.rest:
        where = "" if whole.text is None else f": {_text(whole)}"
        yield f"trace: in one piece: {whole.reason}{where}"


def _text(place: Fused | FusionRefusal) -> str:
    text = "; ".join(filter(None, map(str.strip, (place.text or "").splitlines())))
    shown = printable(shortened(text, MAX_NOTE_CHARACTERS))
    return f"{shown} (line {place.line}, column {place.column})"


def ways_notes(ways: Ways) -> Iterator[str]:
    """Yield lines that say how the rows of a table ran."""
    if ways.runs:
        runs = "1 run" if ways.runs == 1 else f"{ways.runs:,} runs"
        threads = f", on {ways.threads} threads" if ways.threads > 1 else ""
        yield f"trace: {ways.rows - ways.alone:,} rows together, in {runs}{threads}"
    if ways.alone:
        shown = printable(shortened(ways.text, MAX_NOTE_CHARACTERS))
        why = f": {shown} is another number in each" if shown else ""
        yield f"trace: {ways.alone:,} rows one by one{why}"


def trouble_notes(found: Trouble) -> Iterator[str]:
    """Yield a sentence for each edge where a gradient stopped being finite, and the
    repair."""
    yield from map(_arose, found.edges)
    way = found.rewriting
    if way is not None:
        gradients = way.gradients.items()
        gives = [f"the value {_short(way.value)}"]
        gives += [f"d/d{printable(name)} = {_short(g)}" for name, g in gradients]
        text, instead = printable(way.text), printable(way.instead)
        yield f"write {text} for {instead}: that gives {', '.join(gives)}"


def _short(value: Plain | None) -> str:
    return "None" if value is None else shorten(inline(value), MAX_NOTE_CHARACTERS)


def _arose(edge: NonFiniteEdge) -> str:
    text = printable(edge.source or edge.node)
    place = "" if edge.line is None else f", line {edge.line}, column {edge.column}"
    at = f", entry {list(edge.entry)}" if edge.entry else ""
    head = f"the gradient becomes {number(edge.result)} at {text}"
    if edge.incoming is None or edge.local_gradient is None:
        return f"{head} ({edge.node} to {printable(edge.to)}{place}{at})"
    needs = f", which needs {edge.needs}" if edge.needs else ""
    return (
        f"{head}: {number(edge.incoming)} * {number(edge.local_gradient)}, incoming "
        f"times local gradient{needs} ({edge.node} to {printable(edge.to)}{place}{at})"
    )
