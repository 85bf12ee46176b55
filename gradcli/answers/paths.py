"""The chain rule path by path: what each path from an output to an input contributes.

Invariants: a path's product is the cotangent pushed along that path alone, so the
products of all paths add up to the gradient. Where all its operations are elementwise,
the product is that of their local gradients. `count` is exact.

    view = paths.to("a", most=10)
    [p.product for p in view.paths]          # [-1.5, 0.375]
    view.sum, view.gradient                  # (-1.125, -1.125)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from heapq import nsmallest
from itertools import groupby, islice, pairwise
from math import isfinite, log10
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from numpy import errstate, unravel_index

from ..engine import Port, Tensor, grad
from ..lang.errors import ProgramError
from ..lang.excerpt import printable
from ..ops.types import Array, Namespace
from .factors import FactorWriter
from .fields import FLAT, HIDDEN, Count, named
from .graph_view import GraphView, NameCollector, NodeView, graph_of, raw_partials
from .line import BLANK, Layout, Line, Part
from .numbers import (
    ELLIPSIS,
    SHORTENED,
    Plain,
    array_lines,
    count_text,
    inline,
    number,
    plain,
    value_lines,
)
from .path_formulas import composed, gives
from .question import Question
from .survey import Path, PathStep, Survey, along, largest, met

if TYPE_CHECKING:
    from ..engine.raw import Raw


WORK_LIMIT = 200_000
"""Largest number of steps, over all paths, up to which paths of arrays are all
followed; steps on arrays of thousands of entries count for more."""

LOST = 100.0
"""Smallest ratio of a term to the sum at which it is called cancelled."""

ROUNDING = {8: 2.0**-40, 4: 2.0**-11, 2: 2.0**-2}
"""Relative rounding error allowed between two sums, by the bytes of a number."""

Ranking = Literal["exact", "estimated"]


@dataclass(frozen=True, slots=True)
class PathView:
    """One path.

    variables        The names of the values on the path.
    nodes            The names of the nodes on the path.
    sources          The text of each node, if it has one.
    local_gradients  The partial derivative on each edge, where it is elementwise.
    product          The contribution of the path to the gradient.
    elementwise      Whether all nodes on the path are elementwise.
    formula          The product of the local gradients as a formula, if short.
    share            The fraction of the sum over all paths; 1 is all.
    legs             The number of edges from each variable to the next.
    composed         the rules of the nodes as one formula, in an answer without numbers
    """

    variables: tuple[str, ...]
    nodes: tuple[str, ...]
    sources: tuple[str | None, ...]
    local_gradients: tuple[Plain | None, ...]
    product: Plain
    elementwise: bool
    formula: str | None
    share: float | None
    legs: tuple[int, ...]
    composed: str | None = field(default=None, metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class Cancellation:
    """Terms that are larger than their sum, at the entry where most is lost.

    entry    The index of the entry.
    largest  The size of the largest term.
    sum      The sum of the terms.
    ratio    The largest term, divided by the sum.
    """

    entry: tuple[int, ...]
    largest: float
    sum: float
    ratio: float


@dataclass(frozen=True, slots=True)
class PathsView:
    """The paths to one tensor, heaviest first; all of them or the heaviest alone.

    to            The value at which the paths end.
    count         The number of paths.
    ranking       Whether the listed paths are surely the heaviest.
    sum           The sum over all paths, listed or not.
    gradient      The gradient by the backward pass; null without a path.
    adds_up       Whether the sum is the gradient.
    cancellation  The cancellation among the terms, if it is large.
    """

    to: str
    count: Count
    ranking: Ranking
    paths: tuple[PathView, ...]
    sum: Plain
    gradient: Plain | None
    adds_up: bool
    cancellation: Cancellation | None


@dataclass(frozen=True, slots=True)
class PathsAnswer:
    """Answer of `gradcli paths`: the paths from one tensor to others.

    program   The program's text.
    start     The value at which the paths start.
    derived   the tensor's name in a derivative's label; empty if it has none
    weighted  whether it is contracted with a cotangent that was given
    only      With only one end: the paths to it.
    targets   The paths to each end.
    symbols   whether inputs have no values, so that no number is shown
    shapes    the shapes of the program's values, by name
    """

    command: ClassVar = "paths"

    program: str
    start: str = field(metadata=named("from"))
    derived: str = field(metadata=HIDDEN)
    weighted: bool = field(metadata=HIDDEN)
    only: PathsView | None = field(metadata=FLAT)
    targets: tuple[PathsView, ...]
    symbols: bool = field(default=False, metadata=HIDDEN)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict, metadata=HIDDEN)


def paths(
    question: Question, start: str | None, to: Sequence[str] | None, most: int
) -> PathsAnswer:
    """Return the paths from a value, or the output, to other values, or all inputs,
    each with its product; at most ``most`` are listed for an end."""
    run, names = question.run_with_names()
    if start is not None:
        # The values are those that the names have when the program ends.
        values = {
            run.output_name: run.output,
            **run.prepared.environment,
            **run.variables,
        }
        run = run.of_value(start, _value(start, "--from", values))
    run.require_graph()
    ends = {given.name: given.tensor for given in run.differentiated}
    if to is not None:
        # An input's name means the input, even if the program assigned to it.
        values = {**run.variables, **run.prepared.environment}
        ends = {name: _value(name, "--to", values) for name in to}
    cotangent = run.first_cotangent(question.grad_output)
    view = graph_of(run, local_gradients=False)
    question.refuse_decisions(run)
    symbols = question.symbols and bool(run.prepared.missing)
    with run.explained():
        known = {**run.prepared.environment, **run.variables}
        found = Paths(
            run.output, cotangent, ends, names, view, known if symbols else None
        )
        targets = tuple(found.to(name, most) for name in ends)
    return PathsAnswer(
        run.source,
        run.output_name,
        run.output_name if run.names_output else "",
        question.grad_output is not None,
        targets[0] if len(targets) == 1 else None,
        targets,
        symbols,
        run.shapes(),
    )


def _value(name: str, option: str, values: Mapping[str, object]) -> Tensor:
    found = values.get(name)
    if isinstance(found, Tensor):
        return found
    tensors = [n for n, value in values.items() if isinstance(value, Tensor)]
    known = f"the values are {', '.join(tensors)}"
    if name in values:
        from ..lang.plain import described

        message = f"{option}: '{name}' is {described(found)}, not a tensor"
        raise ProgramError("E507", message, hint=known)
    from ..lang.suggest import did_you_mean

    hint = did_you_mean(name, tensors) or known
    raise ProgramError("E507", f"{option}: no value is called '{name}'", hint=hint)


class Paths:
    """The facts that all paths from a tensor with a graph have in common, for its
    cotangent, which is of its shape, and for ends by name; with the ``values`` of the
    program paths are composed as formulas."""

    @errstate(all="ignore")
    def __init__(
        self,
        root: Tensor,
        cotangent: Tensor,
        ends: Mapping[str, Tensor],
        names: NameCollector,
        view: GraphView,
        values: Mapping[str, Any] | None = None,
    ) -> None:
        self._values = values or {}
        self._rules, self._known = None, frozenset[str]()
        if values is not None:
            from .textbook_rules import Rules, taken

            self._rules = Rules(names, view)
            self._known = taken(view.program, view.nodes)
        self._root, self._g, self._ends = root.edge, cotangent.raw, ends
        self._start = view.name
        self._names = names
        self._factors = FactorWriter(names, view)
        self._nodes = {node.address: node for node in view.nodes}
        edges = [t.edge for t in ends.values() if t.edge is not None]
        self._survey = Survey(root.edge, cotangent.raw, edges)
        reached = [t for t in ends.values() if t.edge in self._survey.counts]
        found = grad([root], reached, [cotangent], True) if reached else []
        self._gradients = {t.edge: g for t, g in zip(reached, found, strict=True)}

    @errstate(all="ignore")
    def to(self, name: str, most: int) -> PathsView:
        """Return the paths to one of the ends, listing at most ``most``."""
        tensor = self._ends[name]
        end, survey = tensor.edge, self._survey
        count = survey.counts.get(end, 0)
        found = self._gradients.get(end)
        if not count or found is None:
            nothing = plain(tensor.xp.zeros_like(tensor.raw))
            return PathsView(name, 0, "exact", (), nothing, None, True, None)
        ranking: Ranking = "exact"
        paths = survey.heaviest(end)
        work = survey.lengths[end] * (1 + survey.widest // 1000)
        # Paths of arrays are ranked by what they contribute, all of them if possible.
        if survey.exact(end) or work > WORK_LIMIT:
            ranking = "exact" if survey.exact(end) else "estimated"
            paths = islice(paths, most)
        tally = _Tally(tensor.xp)
        terms = ((path, along(self._root, self._g, path)) for path in paths)
        listed = nsmallest(most, tally.counting(terms), key=_heaviness)
        if self._rules is not None:
            # Numbers that were drawn put nothing in order.
            listed.sort(key=lambda pair: [s.nr for s in met(self._root, pair[0])])
        total = tally.sum if tally.count == count else survey.totals[end]
        return PathsView(
            to=name,
            count=count,
            ranking=ranking,
            paths=tuple(self._view(r, name, term, total) for r, term in listed),
            sum=plain(total),
            gradient=plain(found.raw),
            adds_up=_same(total, found.raw, tally.peak, tensor.xp),
            cancellation=_cancellation(tally.peak, total, tensor.xp),
        )

    def _view(self, path: Path, to: str, term: object, total: object) -> PathView:
        steps = met(self._root, path)
        nodes = [self._nodes[id(step.node)] for step in steps]
        partials = [raw_partials(step.node)[step.nr] for step in steps]
        stops = self._stops(steps, nodes)
        edge = self._ends[to].edge
        made = edge.node if isinstance(edge, Port) else edge
        end = () if made is None else (type(made).__name__,)
        # The product starts with the entry of a cotangent whose entries are all equal.
        g = self._g
        first = g.reshape(-1)[0] if g.size else 1.0
        start = float(first) if bool((g == first).all()) else "grad_output"
        pairs = [(step.node, step.nr) for step in steps]
        rules = self._rules
        texts = [] if rules is None else [rules(node, nr) for node, nr in pairs]
        return PathView(
            variables=(self._start, *stops.values(), to) if steps else (to,),
            nodes=(*map(_node_name, steps), *end),
            sources=(*(node.source for node in nodes), to),
            local_gradients=tuple(None if p is None else plain(p) for p in partials),
            product=plain(term),
            elementwise=all(p is not None for p in partials),
            formula=self._factors.product(pairs, start),
            share=_share(term, total),
            legs=tuple(b - a for a, b in pairwise([0, *stops, len(steps)])),
            composed=None if rules is None else self._composed(texts, term),
        )

    def _composed(self, rules: Iterable[str | None], term: Any) -> str | None:
        """Return the rules of a path as one formula; None if there is none that gives
        the path's product."""
        text = composed(rules, self._known)
        return text if text and gives(text, self._values, term) else None

    def _stops(self, steps: list[PathStep], nodes: list[NodeView]) -> dict[int, str]:
        """Return the names on the way, by the number of the step that leaves them; if
        there are none, the texts of the nodes."""
        names = {at: self._names.of(s.value) for at, s in enumerate(steps) if at}
        found = {at: name for at, name in names.items() if name is not None}
        if found:
            return found
        first: dict[str | None, int] = {}
        for at, node in enumerate(nodes):
            first.setdefault(node.source, at)
        return {at: text for text, at in first.items() if at and text is not None}


class _Tally:
    """A running sum of terms, with the largest size that each entry had in a term."""

    def __init__(self, xp: Namespace) -> None:
        self._xp = xp
        self.count = 0
        self.sum: Any = None
        self.peak: Any = None

    def counting(
        self, found: Iterable[tuple[Path, Any]]
    ) -> Iterator[tuple[Path, object]]:
        for pair in found:
            term, size = pair[1], abs(pair[1])
            first = not self.count
            self.sum = term if first else self.sum + term
            self.peak = size if first else self._xp.maximum(self.peak, size)
            self.count += 1
            yield pair


def _node_name(step: PathStep) -> str:
    nr = step.value.nr if isinstance(step.value, Port) else 0
    return type(step.node).__name__ + (f"#{nr}" if nr else "")


def _heaviness(pair: tuple[Path, object]) -> float:
    """Return a key for sorting terms: NaN first, then the largest entry."""
    size = largest(pair[1])
    return -math.inf if math.isnan(size) else -size


def _share(term: Any, total: Any) -> float | None:
    """Return the term's part of the sum; of arrays, that of its projection."""
    if total.size == 1:
        part, over = float(term.reshape(())), float(total.reshape(()))
    else:
        part, over = float((term * total).sum()), float((total * total).sum())
    share = part / over if over else math.nan
    return share if math.isfinite(share) else None


def _same(total: Array, gradient: Raw, peak: object, xp: Any) -> bool:
    """Tell whether two sums of the same terms agree up to rounding."""
    scale = max(largest(gradient), largest(peak))
    room = ROUNDING[gradient.dtype.itemsize] * (scale if math.isfinite(scale) else 0)
    both_nan = xp.logical_and(xp.isnan(total), xp.isnan(gradient))
    close = xp.logical_or(abs(total - gradient) <= room, total == gradient)
    return bool(xp.logical_or(close, both_nan).all())


def _cancellation(peak: Raw, total: Any, xp: Any) -> Cancellation | None:
    """Return the entry that cancels most, if its terms are `LOST` times their sum."""
    if not total.size:
        return None
    size = abs(total)
    known = xp.logical_and(xp.isfinite(peak), peak > 0)
    ratios = xp.where(known, peak / xp.where(size > 0, size, 1), 0)
    ratios = xp.where(xp.logical_and(known, size == 0), math.inf, ratios)
    flat = ratios.reshape(-1)
    at = int(flat.argmax())
    ratio = float(flat[at])
    if ratio < LOST:
        return None
    return Cancellation(
        entry=tuple(map(int, unravel_index(at, total.shape))),
        largest=float(peak.reshape(-1)[at]),
        sum=float(total.reshape(-1)[at]),
        ratio=ratio,
    )


MAX_TERMINAL_RUNS = 12
"""Largest number of parts of a path or a product, single or counted, that a terminal
shows."""

MIN_COUNTED_NEIGHBOURS = 4
"""Smallest number of equal neighbours that are counted rather than written out."""

MAX_FACTORS_CHARACTERS = 60
"""Largest length of a product of arrays that is written out, in characters."""

MAX_COUNT_DIGITS = 24
"""Largest number of digits of a count that a terminal shows."""

ARROW = " → "

OUT_OF_RANGE = "beyond the range of floats a sum depends on the order of its terms"

LISTED = {"exact": "the heaviest", "estimated": "those that seem heaviest"}


def listing(answer: PathsAnswer, layout: Layout) -> Iterator[Line]:
    """Yield every target with its paths, their sum, and remarks on it."""
    for nr, target in enumerate(answer.targets):
        if nr:
            yield BLANK
        yield from _target(answer, target, layout)
    if layout.cut:
        yield BLANK
        yield SHORTENED


def _target(answer: PathsAnswer, target: PathsView, layout: Layout) -> Iterator[Line]:
    label = f"d{printable(answer.derived)}/d{printable(target.to)}"
    if not target.count:
        start, end = printable(answer.start), printable(target.to)
        note = f"no path leads from {start} to {end}"
        yield from value_lines(label, None, layout, note)
        return
    shown = count_text(target.count)
    if layout.rows is not None and len(shown) > MAX_COUNT_DIGITS:
        shown = "about " + f"{Decimal(target.count):.3e}".replace("e+", "e")
        layout.cut = True
    paths = "path" if target.count == 1 else "paths"
    yield from value_lines(label, target.gradient, layout, f"{shown} {paths}")
    width = len(str(len(target.paths)))
    for nr, path in enumerate(target.paths, 1):
        yield BLANK
        yield from _path(path, str(nr).rjust(width), target.count == 1, layout)
    yield BLANK
    yield from _sum(answer, target, label)


def _path(path: PathView, nr: str, only: bool, layout: Layout) -> Iterator[Line]:
    """Yield the names, the nodes, and ``formula = factors = product  (note)``; an array
    has its own lines."""
    indent = " " * (len(nr) + 2)
    hang = indent + "  "
    names = _runs(path.variables, ARROW, layout)
    nodes = _runs(path.nodes, ARROW, layout)
    yield Line((nr, "dim"), ("  ", "plain"), (names, "name"), hang=hang)
    yield Line((indent, "plain"), (nodes, "node"), hang=hang)
    known = [printable(path.formula or ""), _factors(path, layout)]
    before = indent + "".join(f"{text} = " for text in known if text)
    shown = path.share is not None and not only
    notes = [f"{100 * (path.share or 0):.4g} % of the sum"] if shown else []
    notes += [] if path.elementwise else ["pushed along the path, not elementwise"]
    tail: list[Part] = [(f"  ({', '.join(notes)})", "dim")] if notes else []
    if not isinstance(path.product, list):
        result = number(path.product)
        yield Line((before, "plain"), (result, "number"), *tail, hang=hang)
        return
    if any(known):
        yield Line((before.removesuffix(" = "), "plain"), hang=hang)
    yield from array_lines(path.product, indent, layout, tail, hang)


def _factors(path: PathView, layout: Layout) -> str:
    """Return the local gradients as a product; empty if they are not short."""
    partials = path.local_gradients
    if len(partials) < 2 or not path.elementwise:
        return ""
    texts = [inline(p) for p in partials if p is not None]
    arrays = any(isinstance(p, list) for p in partials)
    if arrays and sum(map(len, texts)) > MAX_FACTORS_CHARACTERS:
        return ""
    return _runs(texts, " * ", layout, "**")


def _runs(texts: Sequence[str], between: str, layout: Layout, power: str = " ×") -> str:
    """Return texts joined, equal neighbours counted; of many the middle is left out."""
    parts: list[str] = []
    for text, same in groupby(map(printable, texts)):
        times = sum(1 for _ in same)
        few = times < MIN_COUNTED_NEIGHBOURS
        parts += [text] * times if few else [f"{text}{power}{times}"]
    if layout.rows is not None and len(parts) > MAX_TERMINAL_RUNS:
        layout.cut = True
        half = MAX_TERMINAL_RUNS // 2
        parts = [*parts[:half], ELLIPSIS, *parts[-half:]]
    return between.join(parts)


def _sum(answer: PathsAnswer, target: PathsView, label: str) -> Iterator[Line]:
    which = f"{LISTED[target.ranking]} are listed; the sum over all paths"
    if len(target.paths) == target.count:
        which = "the path's product" if target.count == 1 else "the sum over the paths"
    parts: list[Part] = [(f"{which} ", "dim"), (f"is {label}", "dim")]
    if not target.adds_up:
        parts[1] = (f"is {inline(target.sum)}, not {label}", "fair")
    added = _added(target)
    parts += [(f": {added}", "number")] if added else []
    parts += [(", contracted with --grad-output", "dim")] if answer.weighted else []
    yield Line(*parts)
    if not target.adds_up:
        yield Line((OUT_OF_RANGE, "fair"))
    if target.cancellation is not None:
        yield Line(("cancellation: ", "fair"), (_lost(target.cancellation), "plain"))


def _added(target: PathsView) -> str:
    """Return ``-1.5 + 0.375 = -1.125``; empty unless all terms are listed numbers."""
    terms = [number(p.product) for p in target.paths if isinstance(p.product, float)]
    if not 1 < len(terms) == target.count or isinstance(target.sum, list):
        return ""
    later = [f"({term})" if term.startswith("-") else term for term in terms[1:]]
    return f"{' + '.join([terms[0], *later])} = {number(target.sum)}"


def _lost(found: Cancellation) -> str:
    where = f" at {list(found.entry)}" if found.entry else ""
    large, left = number(found.largest), number(found.sum)
    text = f"of a term of size {large} the sum leaves {left}{where}"
    if not isfinite(found.ratio):
        return f"{text}, and no digit of it"
    return f"{text}: about {log10(found.ratio):.0f} digits are lost"


def plain_products(answer: PathsAnswer) -> Iterator[Line]:
    """Yield the products alone, one a line, target by target."""
    for target in answer.targets:
        for path in target.paths:
            yield Line((inline(path.product), "number"))
