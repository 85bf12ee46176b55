"""Where a gradient stopped being finite: the edge, and what was multiplied there.

Invariant: found by watching the engine's own reverse pass, run once more; the first
edge is named whose result is not finite though what came in was, and, if that was an
infinity, the first one after it that made nan of it.

    trouble(run, None).edges[0].incoming, .local        # 0.0, inf
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine import Node, Tensor, grad
from ..engine.walk import inputs_first
from ..lang.errors import Span
from ..lang.excerpt import locate
from ..lang.run import Run, all_finite, execute
from ..views.numbers import Plain, plain
from ..views.partials import raw_partials
from .rewriting import Rewriting, rewriting

LONGEST = 60
"""Characters of a text that is still shown whole."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of the reverse pass.

    ``entry`` is the index that the numbers are of; ``incoming`` and ``local`` are None
    where the node is not elementwise, and its result is more than a product.
    """

    node: str
    source: str | None
    span: Span | None
    line: int | None
    column: int | None
    to: str
    entry: tuple[int, ...]
    incoming: float | None
    local: float | None
    result: float


@dataclass(frozen=True, slots=True)
class WayOut:
    """What to write in place of what, the program with it, and what that gives."""

    text: str
    instead: str
    program: str
    value: Plain
    gradients: tuple[tuple[str, Plain | None], ...]


@dataclass(frozen=True, slots=True)
class Trouble:
    """The edges where it arose, nearest to the output first, and a way out."""

    edges: tuple[Edge, ...]
    way_out: WayOut | None


def trouble(run: Run, cotangent: Tensor | None) -> Trouble:
    """Watch the reverse pass of a run whose value or gradients are not finite."""
    edges = tuple(_edges(run, cotangent))
    spans = [edge.span for edge in edges if edge.span is not None]
    found = rewriting(run, spans, cotangent)
    return Trouble(edges, None if found is None else _way_out(found))


def _way_out(found: Rewriting) -> WayOut:
    gradients = tuple(
        (name, None if raw is None else plain(raw))
        for name, raw in found.gradients.items()
    )
    return WayOut(
        found.text, found.instead, found.program, plain(found.value), gradients
    )


def _edges(run: Run, cotangent: Tensor | None) -> Iterator[Edge]:
    again = execute(run.prepared, of=run.of)
    if again.output.edge is None:
        return
    watch = _Watch(again)
    nodes = [n for n in inputs_first([again.output.edge]) if isinstance(n, Node)]
    handles = [node.register_hook(watch.seen(node)) for node in nodes]
    given = [i.tensor for i in again.inputs if i.requires_grad]
    if cotangent is None:
        cotangent = Tensor(again.output.xp.ones_like(again.output.raw), again.output.xp)
    try:
        with np.errstate(all="ignore"):
            grad([again.output], given, [cotangent])
    finally:
        for handle in handles:
            handle.remove()
    yield from watch.found


class _Watch:
    """Keeps the first edge that made an infinity or nan, and the first to make nan."""

    def __init__(self, run: Run) -> None:
        self.found: list[Edge] = []
        self._source = run.source
        self._leaves = {i.tensor.edge: i.name for i in run.inputs}

    def seen(self, node: Node) -> Any:
        def look(pulled: Any, arrived: Any) -> None:
            if not self._settled():
                self._look(node, pulled, arrived)

        return look

    def _settled(self) -> bool:
        return bool(self.found) and bool(np.isnan(self.found[-1].result))

    def _look(self, node: Node, pulled: Any, arrived: Any) -> None:
        came_bad = any(g is not None and not all_finite(g) for g in arrived)
        for place, g in enumerate(pulled):
            if g is None or all_finite(g):
                continue
            edge = self._edge(node, place, g, arrived)
            # What only hands an infinity on is not where it arose.
            if not came_bad or (np.isnan(edge.result) and self._made_nan(arrived)):
                self.found.append(edge)
                return

    def _made_nan(self, arrived: Any) -> bool:
        return not any(g is not None and bool(g.xp.isnan(g.raw).any()) for g in arrived)

    def _edge(self, node: Node, place: int, g: Tensor, arrived: Any) -> Edge:
        span = None if node.span is None else Span(node.span[0], node.span[1])
        where = None if span is None else locate(self._source, span)
        following = node.next_functions[place][0]
        target = self._leaves.get(following) or type(following).__name__
        entry, incoming, local, result = _product(node, place, g, arrived)
        return Edge(
            type(node).__name__, _text(span, self._source), span,
            where.line if where else None, where.column if where else None,
            target, entry, incoming, local, result,
        )  # fmt: skip


def _product(
    node: Node, place: int, pulled: Tensor, arrived: Any
) -> tuple[tuple[int, ...], float | None, float | None, float]:
    """The first entry that is not finite, as incoming times local."""
    partial = raw_partials(node)[place]
    if partial is None or len(arrived) != 1 or arrived[0] is None:
        entry = _first(pulled.raw)
        return entry, None, None, float(pulled.raw[entry])
    incoming, local = _host(arrived[0].raw), _host(partial)
    incoming, local = np.broadcast_arrays(incoming, local)
    product = incoming * local
    if bool(np.isfinite(product).all()):
        entry = _first(pulled.raw)
        return entry, None, None, float(pulled.raw[entry])
    entry = _first(product)
    return entry, float(incoming[entry]), float(local[entry]), float(product[entry])


def _host(raw: Any) -> Any:
    return np.asarray(plain(raw))


def _first(raw: Any) -> tuple[int, ...]:
    """The first entry that is nan, or else infinite."""
    values = _host(raw)
    bad = np.isnan(values)
    if not bool(bad.any()):
        bad = ~np.isfinite(values)
    return tuple(int(i) for i in np.argwhere(bad)[0])


def _text(span: Span | None, source: str) -> str | None:
    if span is None:
        return None
    text = " ".join(source[span.start : span.end].split())
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
