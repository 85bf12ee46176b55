"""Mistakes inside the chain rule: the derivative of an inner function is left out, a
variable is taken for a constant, the reverse pass ends too soon, or a path through the
graph is left out or has a wrong sign.

Factors that may be missing are the local gradients of the program's nodes and the named
values, since someone who differentiates a power wrongly may leave such a value out. The
derivative is the sum of its paths' contributions: if a claim is a sum of them with
other constants in front, those constants show the mistake.

Invariants: an altered reverse pass differs from the true one by a single change, so a
claim that equals it at every sample contains that mistake. Constants of paths fit more
equations than there are paths, up to rounding; if several choices fit, the one with the
fewest wrong paths is taken.

    taken_for_constant(evidence).text       # "v is taken for a constant: the paths …"
    inner_derivative(evidence).text     # "the inner derivative 2 * x of x**2 is …"
    wrong_path(evidence).text           # "the path L → d → b → a is missing"
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations, starmap
from typing import Any

import numpy as np

from ..engine import Node
from ..engine.walk import accumulate, added, inputs_first
from ..views.claims import Diagnosis
from ..views.graph import raw_partials
from ..views.survey import Path, Survey, along, below
from .evidence import Evidence, Sample, Texts, gather
from .hypotheses import (
    CLOSE,
    Array,
    Pair,
    alike,
    constant_factor,
    largest,
    number_text,
    same,
    simple_number,
)

MAX_GRAPH_NODES = 200
"""Largest number of a graph's nodes that are tried."""

MAX_PAIRED_FACTORS = 16
"""Largest number of factors of which pairs are tried as well."""

MAX_VARIABLES = 12
"""Largest number of variables that are tried as constants."""

MAX_OUTPUT_ENTRIES = 64
"""Largest number of an output's entries for which a pass is run from each."""

Sent = Iterable[tuple[object, Any]]

Change = Callable[[Any, Any], "Sent | None"]
"""Type of a function from an edge and the cotangent that arrives there to what the edge
sends on; None means what its rule gives."""


def altered(seeds: Mapping[Any, Any], change: Change) -> dict[object, Any]:
    """Return the cotangents that arrive below ``seeds`` if edges follow ``change``."""

    def pull(edge: Any, total: object) -> Sent:
        sent = change(edge, total)
        return below(edge, total) if sent is None else sent

    return accumulate(reversed(inputs_first(seeds)), seeds, pull, added)


def unchanged(edge: object, total: object) -> None:
    """Return None: the edge sends on what its rule gives."""


def blocking(parts: Collection[object]) -> Change:
    """Return a change in which the edges ``parts`` send nothing on."""
    return lambda edge, total: () if edge in parts else None


def passing_over(start: object, end: object) -> Change:
    """Return a change in which ``start`` sends what arrives to ``end`` as it is."""
    return lambda edge, total: [(end, total)] if edge is start else None


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
    """

    factor: str
    source: str | None
    values: tuple[Array, ...]

    @property
    def what(self) -> str:
        if self.source is None:
            return f"the factor {self.factor}"
        if self.factor in (UNSPOKEN, self.source):
            return f"the inner derivative of {self.source}"
        return f"the inner derivative {self.factor} of {self.source}"


def inner_derivative(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a factor that the claim lacks or has once too often."""
    sides = evidence.sides
    true, claimed = [a for a, _ in sides], [b for _, b in sides]
    if not any(grid.any() for grid in claimed):
        return None
    known = list(candidates(evidence))
    for found in known:
        if alike(_times(true, claimed, found)):
            return _missing(found, 1.0)
    for found in known:
        if alike(_times(claimed, true, found)):
            text = f"{found.what} is there once too often"
            return Diagnosis("inner", text, f"divide by {found.factor}")
    inner = [c for c in known if c.source is not None]
    several = combinations(inner[:MAX_PAIRED_FACTORS], 2)
    for found in chain(known, starmap(_product, several)):
        evidence.check()
        pairs = _times(true, claimed, found)
        c = constant_factor(pairs)
        if c is not None and (abs(c - 1) > CLOSE or alike(pairs)):
            return _missing(found, c)
    return None


def _missing(found: Candidate, c: float) -> Diagnosis:
    """Return the diagnosis of a missing factor and a missing constant."""
    text, repair = f"{found.what} is missing", f"multiply by {found.factor}"
    if abs(c - 1) > CLOSE:
        text += f", and the factor {number_text(c)}"
        repair += f" and by {number_text(c)}"
    return Diagnosis("inner", text, repair)


def _times(
    whole: Sequence[Array], part: Sequence[Array], found: Candidate
) -> list[Pair]:
    """Return pairs of arrays and products with a factor; none if shapes do not fit."""
    try:
        return [
            (a, np.broadcast_to(b * v, a.shape))
            for a, b, v in zip(whole, part, found.values, strict=True)
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
                texts.source(node) or node.op.name,
                tuple(graph[key][2] for graph in graphs),
            )
    for name in samples[0].variables:
        if all(name in sample.variables for sample in samples):
            values = tuple(np.asarray(s.variables[name].raw) for s in samples)
            yield Candidate(name, None, values)
            for text, function in _COMMON.items():
                found = tuple(function(value) for value in values)
                yield Candidate(text.format(name), None, found)


def _locals(
    sample: Sample, by: Sequence[str]
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
    return Candidate(factor, f"{a.source} and of {b.source}", tuple(values))


def taken_for_constant(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of one or two variables that are taken for constants."""
    if not _fitting(evidence):
        return None
    names = _between(evidence.samples[0])

    def blocked(wrong: Sequence[str]) -> Callable[[Sample], Change]:
        return lambda s: blocking({s.variables[name].edge for name in wrong})

    for wrong in chain(combinations(names, 1), combinations(names, 2)):
        if _explains(evidence, blocked(wrong)):
            listed, one = " and ".join(wrong), len(wrong) == 1
            verb = "is taken for a constant" if one else "are taken for constants"
            text = f"{listed} {verb}: the paths through {listed} are missing"
            return Diagnosis("path", text, f"differentiate {listed} as well")
    return None


def passed_over(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a function whose derivative is left out on the way."""
    if not _fitting(evidence):
        return None
    first = evidence.samples[0]

    def skipping(position: int, sample: Sample) -> Change:
        node = _nodes(sample)[position]
        return passing_over(node, node.edges[0])

    for position, node in enumerate(_nodes(first)):
        if _is_function(node) and _explains(evidence, partial(skipping, position)):
            texts = Texts(evidence, first)
            local = texts.factors.local(node, 0)
            source = texts.source(node) or node.op.name
            factor = "its derivative" if local is None else local.written
            text = f"the inner derivative of {source} is missing"
            repair = f"multiply by {factor} on the way back through it"
            return Diagnosis("inner", text, repair)
    return None


def stops_short(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a claim that is the derivative by a value on the way."""
    if not _fitting(evidence) or evidence.samples[0].target.numel() != 1:
        return None
    first, name = evidence.samples[0], evidence.claim.by[0]
    end = first.inputs[name].edge
    arriving = [
        altered({s.target.edge: np.ones(tuple(s.target.shape))}, unchanged)
        for s in evidence.samples
    ]
    for position, node in enumerate(_nodes(first)):
        if not isinstance(node, Node) or end not in inputs_first([node]):
            continue
        pairs = zip(evidence.samples, arriving, strict=True)
        if all(_at_position(sample, found, position) for sample, found in pairs):
            source = Texts(evidence, first).source(node) or node.op.name
            text = f"this is the derivative by {source}: the inner derivative of it "
            repair = f"carry it on through {source} to {name}"
            return Diagnosis("inner", f"{text}by {name} is missing", repair)
    return None


def _at_position(sample: Sample, arriving: dict[object, Any], position: int) -> bool:
    nodes = _nodes(sample)
    g = arriving.get(nodes[position]) if position < len(nodes) else None
    several = isinstance(g, tuple | list)
    if g is None or several or nodes[position] is sample.target.edge:
        return False
    return same(np.asarray(g), sample.claimed)


def _fitting(evidence: Evidence) -> bool:
    """Tell whether a claim is about a recorded first derivative of few outputs."""
    claim, first = evidence.claim, evidence.samples[0]
    return (
        len(claim.by) == 1
        and claim.is_complete
        and claim.expression is not None
        and first.target.edge is not None
        and first.target.numel() <= MAX_OUTPUT_ENTRIES
        and any(sample.claimed.any() for sample in evidence.samples)
    )


def _between(sample: Sample) -> list[str]:
    """Return the variables between inputs and output, one name for each value."""
    ends = {x.edge for x in sample.inputs.values()} | {sample.target.edge, None}
    names: dict[object, str] = {}
    for name, value in sample.variables.items():
        if value.edge not in ends:
            names.setdefault(value.edge, name)
    return list(names.values())[:MAX_VARIABLES]


def _nodes(sample: Sample) -> list[Any]:
    return inputs_first([sample.target.edge])[:MAX_GRAPH_NODES]


def _is_function(node: object) -> bool:
    """Tell whether a node applies a function of one argument, entry by entry."""
    if not isinstance(node, Node) or len(node.edges) != 1:
        return False
    return hasattr(raw_partials(node)[0], "dtype")


def _explains(evidence: Evidence, change_of: Callable[[Sample], Change]) -> bool:
    """Tell whether the claim equals the altered derivative at every sample."""
    end = evidence.claim.by[0]
    evidence.check()
    for sample in evidence.samples:
        claimed = sample.aligned()
        try:
            change = change_of(sample)
        except (KeyError, IndexError):
            # Another branch was taken, so the graph of this sample has other nodes.
            return False
        if claimed is None or not same(_derivative(sample, end, change), claimed):
            return False
    return True


def _derivative(sample: Sample, name: str, change: Change) -> Array:
    target, end = sample.target, sample.inputs[name]
    rows = []
    for unit in np.eye(target.numel()):
        found = altered({target.edge: unit.reshape(tuple(target.shape))}, change)
        arrived = found.get(end.edge, np.zeros(tuple(end.shape)))
        rows.append(np.asarray(arrived))
    return np.stack(rows).reshape(sample.true.shape)


TOLERANCE = 1e-7
"""Largest relative distance of a claim from a sum of contributions that it fits."""

MAX_PATHS = 24
"""Largest number of paths to an input that are followed one by one."""

EQUATIONS_PER_CONSTANT = 3
"""Number of equations that are wanted for each unknown constant."""

MAX_WRONG_PATHS = 3
"""Largest number of paths that a claim may have wrong."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Paths whose contributions are multiples of each other and share a constant."""

    paths: tuple[Path, ...]
    total: Array


def wrong_path(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of paths whose contributions the claim has wrong."""
    claim = evidence.claim
    if len(claim.by) != 1 or claim.expression is None or not claim.is_complete:
        return None
    paths = _paths(evidence, evidence.samples[0])
    if paths is None:
        return None
    per_sample = evidence.samples[0].true.size or 1
    wanted = -(-EQUATIONS_PER_CONSTANT * len(paths) // per_sample) + 1
    enough = evidence
    if wanted > len(evidence.samples):
        samples = gather(evidence.task, claim, wanted, evidence.until)
        enough = replace(evidence, samples=samples)
    columns, sides = _columns(enough, paths), enough.sides
    if columns is None or not sides:
        return None
    claimed = np.concatenate([np.ravel(grid) for _, grid in sides])
    bundles = _bundles(paths, columns)
    least = TOLERANCE * max([largest(b.total) for b in bundles], default=0.0)
    if any(largest(bundle.total) <= least for bundle in bundles):
        # A sum that cancels leaves only rounding errors, which any constant fits.
        return None
    constants = _constants([b.total for b in bundles], claimed)
    if constants is None:
        return None
    return _diagnosis(evidence, paths, list(zip(bundles, constants, strict=True)))


def _paths(evidence: Evidence, sample: Sample) -> list[Path] | None:
    """Return all paths in a fixed order; None if there are too many, or none."""
    root, end = sample.target.edge, sample.inputs[evidence.claim.by[0]].edge
    if root is None or sample.target.numel() > MAX_OUTPUT_ENTRIES:
        return None
    ones = np.ones(tuple(sample.target.shape))
    survey = Survey(root, ones, [end])
    if not 0 < survey.counts.get(end, 0) <= MAX_PATHS:
        return None
    return sorted(survey.heaviest(end))


def _columns(evidence: Evidence, paths: list[Path]) -> list[Array] | None:
    """Return each path's contribution, all samples in a row; None if graphs differ."""
    parts: list[list[Array]] = [[] for _ in paths]
    for sample in evidence.samples:
        evidence.check()
        # Another branch makes another graph, with paths of its own.
        if _paths(evidence, sample) != paths:
            return None
        root, shape = sample.target.edge, tuple(sample.target.shape)
        for column, path in zip(parts, paths, strict=True):
            for unit in np.eye(sample.target.numel()):
                column.append(np.ravel(along(root, unit.reshape(shape), path)))
    return [np.concatenate(column) for column in parts]


def _bundles(paths: Sequence[Path], columns: Sequence[Array]) -> list[Bundle]:
    bundles: list[Bundle] = []
    for path, column in zip(paths, columns, strict=True):
        for k, bundle in enumerate(bundles):
            if constant_factor([(column, bundle.total)]) is not None:
                both = bundle.total + column
                bundles[k] = Bundle((*bundle.paths, path), both)
                break
        else:
            bundles.append(Bundle((path,), column))
    return [bundle for bundle in bundles if largest(bundle.total)]


def _constants(columns: Sequence[Array], claimed: Array) -> list[float] | None:
    if not columns or len(claimed) < 2 * len(columns):
        return None
    sizes = [largest(column) for column in columns]
    matrix = np.stack([c / s for c, s in zip(columns, sizes, strict=True)], axis=1)
    found, _, rank, _ = np.linalg.lstsq(matrix, claimed, rcond=1e-9)
    scale = max(largest(claimed), max(sizes))
    if rank < len(columns):
        return _few_wrong(columns, claimed, TOLERANCE * scale)
    if largest(matrix @ found - claimed) > TOLERANCE * scale:
        return None
    return [float(a / s) for a, s in zip(found, sizes, strict=True)]


def _few_wrong(
    columns: Sequence[Array], claimed: Array, allowed: float
) -> list[float] | None:
    """Return the constants of paths whose contributions depend on each other: one or
    two paths are missing, or one has the wrong sign; None if neither fits."""
    total = np.sum(columns, axis=0)
    positions = range(len(columns))
    for constant, count in ((0.0, 1), (-1.0, 1), (0.0, 2)):
        for wrong in combinations(positions, count):
            left = total + (constant - 1) * sum(columns[k] for k in wrong)
            if largest(left - claimed) <= allowed:
                return [constant if k in wrong else 1.0 for k in positions]
    return None


def _diagnosis(
    evidence: Evidence, paths: list[Path], found: list[tuple[Bundle, float]]
) -> Diagnosis | None:
    wrong = [(b, a) for b, a in found if abs(a - 1) > TOLERANCE * 10]
    plain = all(min(abs(a), abs(a - 2)) <= TOLERANCE * 10 for _, a in wrong)
    all_wrong = len(wrong) == len(found) and not plain
    if not 0 < len(wrong) <= MAX_WRONG_PATHS or all_wrong:
        return None
    texts = Texts(evidence, evidence.samples[0])
    labels = dict(zip(paths, texts.unique(paths, evidence.claim.by[0]), strict=True))
    mistakes = [_mistake(texts, labels, bundle, a) for bundle, a in wrong]
    known = [mistake for mistake in mistakes if mistake is not None]
    if len(known) < len(mistakes):
        return None
    return Diagnosis(
        known[0].cause,
        "; ".join(mistake.text for mistake in known),
        "; ".join(mistake.repair for mistake in known),
    )


def _mistake(
    texts: Texts, labels: dict[Path, str], bundle: Bundle, a: float
) -> Diagnosis | None:
    """Return the diagnosis that a constant ``a`` in front of some paths means."""
    constant = simple_number(a) if abs(a) > TOLERANCE * 10 else 0
    if constant is None:
        return None
    names = list(dict.fromkeys(labels[path] for path in bundle.paths))
    one = len(names) == 1
    path = f"the path{'' if one else 's'} {' and '.join(names)}"
    if constant == 0:
        terms = [texts.product(path) for path in bundle.paths]
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
