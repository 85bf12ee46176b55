"""Mistakes inside the chain rule: the derivative of an inner function is left out, a
variable is taken for a constant, the reverse pass ends too soon, or a path through the
graph is left out or has a wrong sign.

Factors that may be missing are the local gradients of the program's nodes and the named
values, since someone who differentiates a power wrongly may leave such a value out. The
derivative is the sum of its paths' contributions: if a claim is a sum of them with
other constants in front, those constants show the mistake.

Invariants: an altered reverse pass differs from the true one by a single change, so a
gradient that equals it at every point contains that mistake. Constants of paths fit
more equations than there are paths, up to rounding; if several choices fit, the one
with the fewest wrong paths is taken.

    taken_for_constant(evidence).text       # "v is taken for a constant: the paths …"
    inner_derivative(evidence).text     # "the inner derivative 2 * x of x**2 is …"
    wrong_path(evidence).text           # "the path L → d → b → a is missing"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, combinations, permutations, starmap
from typing import Any, Final

import numpy as np

from ..engine import Node
from ..engine.walk import accumulate, added, inputs_first
from .evidence import (
    CLOSE,
    Array,
    Diagnosis,
    Evidence,
    Pair,
    PointEvidence,
    Texts,
    alike,
    constant_factor,
    number_text,
    same,
    simple_number,
)
from .graph_view import raw_partials
from .survey import Path, Survey, below, largest, met

MAX_GRAPH_NODES = 200
"""Largest number of a graph's nodes that are tried."""

MAX_PAIRED_FACTORS = 16
"""Largest number of factors of which pairs are tried as well."""

MAX_VARIABLES = 12
"""Largest number of variables that are tried as constants."""

MAX_OUTPUT_ENTRIES = 64
"""Largest number of an output's entries for which a pass is run from each."""

# reverse passes with one change

TOLERANCE = 1e-7
"""Largest relative distance of a gradient from a sum of contributions that it fits."""

MAX_PATHS = 24
"""Largest number of paths to an input that are told one by one."""

MAX_WRONG = 2
"""Largest number of edges that a claim may have wrong."""

MAX_CUTS = 1_000
"""Largest number of reverse passes at one point in which an edge is cut."""

Sent = Iterable[tuple[object, Any]]

Change = Callable[[Any, Any], "Sent | None"]
"""Type of a function from an edge and the cotangent that arrives there to what the edge
sends on; None means what its rule gives."""


def altered(seeds: Mapping[Any, Any], change: Change | None) -> dict[object, Any]:
    """Return the cotangents that arrive below ``seeds`` if edges follow ``change``."""

    def pull(edge: Any, total: object) -> Sent:
        sent = None if change is None else change(edge, total)
        return below(edge, total) if sent is None else sent

    return accumulate(reversed(inputs_first(seeds)), seeds, pull, added)


def passing_over(start: object, end: object) -> Change:
    """Return a change in which ``start`` sends what arrives to ``end`` as it is."""
    return lambda edge, total: [(end, total)] if edge is start else None


@dataclass(frozen=True, slots=True)
class ChainGraph:
    """A recorded graph at one point, and the derivative by one input, true and given.

    rows   the cotangents of the outputs, by edge; the reverse pass is run from each
    end    the edge of the input
    named  the edges of the values that have names
    """

    rows: Sequence[Mapping[Any, Any]]
    end: Any
    true: Array
    given: Array
    named: Mapping[str, Any] = field(default_factory=dict)

    @property
    def nodes(self) -> list[Any]:
        return inputs_first(self.rows[0])[:MAX_GRAPH_NODES]

    def gradient(self, change: Change | None = None) -> Array:
        """Return the derivative that reverse passes with a change give."""
        found = [altered(seeds, change).get(self.end) for seeds in self.rows]
        size = self.true.size // (len(found) or 1)
        flat = [np.zeros(size) if g is None else np.ravel(g) for g in found]
        return np.stack(flat).reshape(self.true.shape)


def explains(
    graphs: Sequence[ChainGraph], change_of: Callable[[ChainGraph], Change]
) -> bool:
    """Tell whether one change gives the given derivative at every point."""
    for graph in graphs:
        try:
            found = graph.gradient(change_of(graph))
        except Exception:
            # Another branch was taken, or a step that is skipped changes the shape.
            return False
        if not same(found, graph.given):
            return False
    return True


Way = tuple[int, int]
"""Type of an edge of a graph: the position of its node, and its number there."""


def ways(nodes: Sequence[Any]) -> Iterator[tuple[Way, Any]]:
    """Yield the edges between nodes, outputs first."""
    for place in reversed(range(len(nodes))):
        held = nodes[place].edges if isinstance(nodes[place], Node) else ()
        for nr, edge in enumerate(held):
            if edge is not None:
                yield (place, nr), edge


def cutting(cut: Sequence[Way], graph: ChainGraph) -> Change:
    """Return the change in which some edges send nothing."""
    nodes = graph.nodes
    dropped = {(nodes[place], nr) for place, nr in cut}

    def change(edge: Any, total: object) -> Sent | None:
        if all(edge is not node for node, _ in dropped):
            return None
        held = [nr for nr, e in enumerate(edge.edges) if e is not None]
        pairs = zip(held, below(edge, total), strict=False)
        return [sent for nr, sent in pairs if (edge, nr) not in dropped]

    return change


def wrong_parts(
    graphs: Sequence[ChainGraph], most: int = 1
) -> Iterator[list[tuple[Way, float]]]:
    """Yield the choices of up to ``most`` edges, each with the constant in front of
    what comes through it, other than 1, that give the given derivative at every
    point."""
    edges = [way for way, _ in ways(graphs[0].nodes)]
    if len(edges) * len(graphs[0].rows) > MAX_CUTS:
        return
    whole = np.concatenate([g.true.ravel() for g in graphs])
    given = np.concatenate([g.given.ravel() for g in graphs])
    if given.shape != whole.shape:
        return
    scale = TOLERANCE * max(largest(given), largest(whole))
    parts: dict[Way, Array] = {}
    for way in edges:
        with suppress(Exception):
            # Another branch makes a graph with other edges.
            rest = [g.gradient(cutting([way], g)).ravel() for g in graphs]
            part = whole - np.concatenate(rest)
            if min(largest(part), largest(whole - part)) > scale:
                parts[way] = part
    for count in range(1, most + 1):
        for chosen in combinations(parts, count):
            matrix = np.stack([parts[way] for way in chosen], axis=1)
            found, _, rank, _ = np.linalg.lstsq(matrix, given - whole, rcond=1e-9)
            near = largest(matrix @ found - (given - whole)) <= scale
            every = largest(whole - matrix.sum(1)) <= scale
            plain = (abs(abs(found) - 1) <= TOLERANCE * 10).all()
            wrong = (abs(found) > TOLERANCE * 10).all() and (plain or not every)
            if near and rank == count and wrong:
                yield list(zip(chosen, (1 + found).tolist(), strict=True))
        if len(parts) > MAX_PATHS:
            return


def _graphs(evidence: Evidence) -> list[ChainGraph]:
    """Return the graphs of a claim about a recorded first derivative of few outputs;
    none of any other."""
    claim, target = evidence.claim, evidence.samples[0].target
    if (
        not (len(claim.by) == 1 and claim.is_complete and claim.expression is not None)
        or target.edge is None
        or target.numel() > MAX_OUTPUT_ENTRIES
        or not any(sample.claimed.any() for sample in evidence.samples)
    ):
        return []
    found = []
    for sample in evidence.samples:
        said = sample.aligned()
        given = sample.claimed if said is None else said
        named = {name: x.edge for name, x in sample.variables.items()}
        end = sample.inputs[claim.by[0]].edge
        found.append(ChainGraph(_units(sample), end, sample.true, given, named))
    return found


def _units(sample: PointEvidence) -> list[dict[Any, Array]]:
    """Return a cotangent for each entry of the output."""
    shape, units = tuple(sample.target.shape), np.eye(sample.target.numel())
    return [{sample.target.edge: unit.reshape(shape)} for unit in units]


def taken_for_constant(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of one or two variables that are taken for constants."""
    graphs, names = _graphs(evidence), _between(evidence.samples[0])

    def blocked(wrong: Sequence[str], graph: ChainGraph) -> Change:
        parts = {graph.named[name] for name in wrong}
        return lambda edge, total: () if edge in parts else None

    several = chain(combinations(names, 1), combinations(names, 2))
    for wrong in several if graphs else ():
        evidence.check()
        if explains(graphs, partial(blocked, wrong)):
            listed, one = " and ".join(wrong), len(wrong) == 1
            verb = "is taken for a constant" if one else "are taken for constants"
            text = f"{listed} {verb}: the paths through {listed} are missing"
            return Diagnosis("path", text, f"differentiate {listed} as well")
    return None


def _between(sample: PointEvidence) -> list[str]:
    """Return the variables between inputs and output, one name for each value."""
    ends = {x.edge for x in sample.inputs.values()} | {sample.target.edge, None}
    names: dict[object, str] = {}
    for name, value in sample.variables.items():
        if value.edge not in ends:
            names.setdefault(value.edge, name)
    return list(names.values())[:MAX_VARIABLES]


def passed_over(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a function whose derivative is left out on the way."""
    graphs = _graphs(evidence)

    def skipping(position: int, graph: ChainGraph) -> Change:
        node = graph.nodes[position]
        return passing_over(node, node.edges[0])

    for position, node in enumerate(graphs[0].nodes if graphs else ()):
        evidence.check()
        if _is_function(node) and explains(graphs, partial(skipping, position)):
            texts = Texts(evidence, evidence.samples[0])
            local = texts.factors.local(node, 0)
            factor = "its derivative" if local is None else local.written
            text = f"the inner derivative of {texts.named(node)} is missing"
            repair = f"multiply by {factor} on the way back through it"
            return Diagnosis("inner", text, repair)
    return None


def _is_function(node: object) -> bool:
    """Tell whether a node applies a function of one argument, entry by entry."""
    if not isinstance(node, Node) or len(node.edges) != 1:
        return False
    return hasattr(raw_partials(node)[0], "dtype")


def stops_short(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a claim that is the derivative by a value on the way."""
    graphs = _graphs(evidence)
    if not graphs or len(graphs[0].rows) != 1:
        return None
    arriving = [altered(graph.rows[0], None) for graph in graphs]

    def arrives(position: int) -> bool:
        for graph, found in zip(graphs, arriving, strict=True):
            node = graph.nodes[position] if position < len(graph.nodes) else None
            g = None if node in graph.rows[0] else found.get(node)
            if g is None or isinstance(g, tuple | list) or not same(g, graph.given):
                return False
        return True

    for position, node in enumerate(graphs[0].nodes):
        reaches = isinstance(node, Node) and graphs[0].end in inputs_first([node])
        if reaches and arrives(position):
            source = Texts(evidence, evidence.samples[0]).named(node)
            name = evidence.claim.by[0]
            return Diagnosis(
                "inner", f"this is the derivative by {source}: the inner derivative "
                f"of it by {name} is missing",
                f"carry it on through {source} to {name}",
            )  # fmt: skip
    return None


# factors that are left out

UNSPOKEN = "it"
"""Word for a factor that has no text in the language."""

_COMMON: dict[str, Callable[[Array], Array]] = {
    "(1 - {})": lambda v: 1 - v,
    "log({})": np.log,
}
"""Functions of a value that are often left out of a local gradient, by their texts."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A factor that may be missing: its text, and its value in each sample.

    source  the text that it is the derivative of; None: it is a value of the program
    places  the node and the operand of each local gradient that it consists of
    """

    factor: str
    source: str | None
    values: tuple[Array, ...]
    places: tuple[tuple[Node, int], ...] = ()

    @property
    def is_on_one_path(self) -> bool:
        """Return whether the chain rule multiplies the local gradients."""
        return len(self.places) < 2 or any(
            b in inputs_first([a.edges[nr]])
            for (a, nr), (b, _) in permutations(self.places, 2)
        )

    @property
    def what(self) -> str:
        if self.source is None or not self.is_on_one_path:
            return f"the factor {self.factor}"
        if self.factor in (UNSPOKEN, self.source):
            return f"the inner derivative of {self.source}"
        return f"the inner derivative {self.factor} of {self.source}"


def inner_derivative(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a factor that the claim lacks or has once too often."""
    sides = evidence.sides
    turned = [(b, a) for a, b in sides]
    if not any(claimed.any() for _, claimed in sides):
        return None
    known = [c for c in candidates(evidence) if "where(" not in c.factor]
    for found in known:
        if alike(times(sides, found.values)):
            return _missing(found, 1.0)
    for found in known:
        if alike(times(turned, found.values)):
            text = f"{found.what} is there once too often"
            return Diagnosis("inner", text, f"divide by {found.factor}")
    inner = [c for c in known if c.source is not None]
    several = combinations(inner[:MAX_PAIRED_FACTORS], 2)
    for found in chain(known, starmap(_product, several)):
        evidence.check()
        pairs = times(sides, found.values)
        c = constant_factor(pairs)
        if c is not None and (abs(c - 1) > CLOSE or alike(pairs)):
            return _missing(found, c)
    return None


def _missing(found: Candidate, c: float) -> Diagnosis:
    cause = "inner" if found.is_on_one_path else "factor"
    text, factor = f"{found.what} is missing", found.factor
    if abs(c - 1) > CLOSE:
        text += f", and the factor {number_text(c)}"
        factor = _scaled(c, factor)
    return Diagnosis(cause, text, f"multiply by {factor}")


def _scaled(c: float, factor: str) -> str:
    """Return a number times a factor, with one number in front."""
    leading, rest = _LEADING.fullmatch(factor).groups()  # type: ignore[union-attr]
    c *= float(leading or 1)
    rest = f"({rest})" if " + " in rest or " - " in rest else rest
    number = "-" if c == -1 else f"{number_text(c)} * "
    return f"{number}{rest}" if c != 1 else rest


_LEADING: Final = re.compile(r"(?:(-?\d+(?:\.\d+)?) \* )?(.*)", re.DOTALL)
"""Pattern of a factor with a number in front."""


def times(pairs: Sequence[Pair], factors: Sequence[Array]) -> list[Pair]:
    """Return the pairs with a factor beside the second of each; none if the shape of
    one does not fit."""
    try:
        return [
            (a, np.broadcast_to(b * v, a.shape))
            for (a, b), v in zip(pairs, factors, strict=True)
        ]
    except ValueError:
        return []


def candidates(evidence: Evidence) -> Iterator[Candidate]:
    """Yield the factors that a claim may lack: local gradients, then named values."""
    samples = evidence.samples
    graphs = [_locals(sample, evidence.claim.by) for sample in samples]
    if all(set(graph) == set(graphs[0]) for graph in graphs):
        texts = Texts(evidence, samples[0])
        for key, (node, edge, _) in graphs[0].items():
            spelled = texts.factors.local(node, edge)
            yield Candidate(
                UNSPOKEN if spelled is None else spelled.written,
                texts.named(node),
                tuple(graph[key][2] for graph in graphs),
                ((node, edge),),
            )
    for name in samples[0].variables:
        if all(name in sample.variables for sample in samples):
            values = tuple(np.asarray(s.variables[name].raw) for s in samples)
            yield Candidate(name, None, values)
            for text, function in _COMMON.items():
                found = tuple(function(value) for value in values)
                yield Candidate(text.format(name), None, found)


def _locals(
    sample: PointEvidence, by: Sequence[str]
) -> dict[tuple[int, int], tuple[Node, int, Array]]:
    """Return the local gradients on the paths to the inputs that are arrays, by the
    node's position in the graph and the operand's."""
    found: dict[tuple[int, int], tuple[Node, int, Array]] = {}
    if sample.target.edge is None:
        return found
    reaching = {sample.inputs[name].edge for name in by}
    for nr, node in enumerate(inputs_first([sample.target.edge])[:MAX_GRAPH_NODES]):
        ways = [k for k, edge in enumerate(node.edges) if edge in reaching]
        if not ways:
            continue
        reaching.add(node)
        partials = raw_partials(node) if isinstance(node, Node) else []
        for k, local in enumerate(partials):
            if k in ways and hasattr(local, "dtype"):
                found[nr, k] = node, k, np.asarray(local)
    return found


def _product(a: Candidate, b: Candidate) -> Candidate:
    values = []
    for u, v in zip(a.values, b.values, strict=True):
        try:
            values.append(u * v)
        except ValueError:
            # The shapes differ, so this product explains nothing.
            values.append(np.array(np.nan))
    factor = " * ".join(f"({c.factor})" if " " in c.factor else c.factor
                        for c in (a, b))  # fmt: skip
    source = f"{a.source} and of {b.source}"
    return Candidate(factor, source, tuple(values), a.places + b.places)


# paths with a wrong constant in front


def wrong_path(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of paths whose contributions the claim has wrong."""
    graphs = _graphs(evidence)
    root, end = evidence.samples[0].target.edge, graphs[0].end if graphs else None
    if not graphs:
        return None
    survey = Survey(root, np.ones(tuple(evidence.samples[0].target.shape)), [end])
    if not 1 < survey.counts.get(end, 0) <= MAX_PATHS:
        return None
    paths = sorted(survey.heaviest(end))
    texts = Texts(evidence, evidence.samples[0])
    labels = dict(zip(paths, texts.unique(paths, evidence.claim.by[0]), strict=True))
    for wrong in wrong_parts(graphs, MAX_WRONG):
        evidence.check()
        through = [
            [
                path
                for path in paths
                if (graphs[0].nodes[place], nr)
                in [(step.node, step.nr) for step in met(root, path)]
            ]
            for (place, nr), _ in wrong
        ]
        met_ones = [path for several in through for path in several]
        if len(met_ones) > len(set(met_ones)):
            continue
        constants = [c for _, c in wrong]
        mistakes = [
            _mistake(texts, labels, several, c)
            for several, c in zip(through, constants, strict=True)
        ]
        known = [mistake for mistake in mistakes if mistake is not None]
        if len(known) == len(mistakes):
            told = Diagnosis(
                known[0].cause,
                "; ".join(mistake.text for mistake in known),
                "; ".join(mistake.repair for mistake in known),
            )
            # Paths that are missing have a name if a variable stands for them.
            left_out = len(met_ones) > 1 and max(map(abs, constants)) <= TOLERANCE * 10
            return (left_out and taken_for_constant(evidence)) or told
    return None


def _mistake(
    texts: Texts, labels: dict[Path, str], paths: Sequence[Path], a: float
) -> Diagnosis | None:
    constant = simple_number(a) if abs(a) > TOLERANCE * 10 else 0
    if constant is None:
        return None
    names = list(dict.fromkeys(labels[path] for path in paths))
    one = len(names) == 1
    path = f"the path{'' if one else 's'} {' and '.join(names)}"
    if constant == 0:
        terms = [texts.product(path) for path in paths]
        what = " + ".join(t for t in terms if t is not None)
        if None in terms:
            what = "what it contributes" if one else "what they contribute"
        verb = "is" if one else "are"
        return Diagnosis("path", f"{path} {verb} missing", f"add {what}")
    if constant == -1:
        verb = "has" if one else "have"
        return Diagnosis(
            "sign", f"{path} {verb} the wrong sign", "turn the sign of that term"
        )
    verb = "counts" if one else "count"
    text = f"{path} {verb} {number_text(a)} times instead of once"
    return Diagnosis("factor", text, f"multiply that term by {number_text(1 / a)}")
