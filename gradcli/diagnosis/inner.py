"""A factor of the chain rule that was forgotten: the derivative of an inner function.

The candidates are the local gradients of the program's own nodes, and the values it has
names for, since a forgotten power leaves one of those out.

Invariant: a candidate is taken only if it turns the claim into the derivative at every
sample.

    inner_derivative(evidence).text     # "the inner derivative 2 * x of x**2 is …"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ..engine import Node
from ..engine.walk import inputs_first
from ..views.claims import Diagnosis
from ..views.partials import raw_partials
from .evidence import Sample
from .hypothesis import Evidence
from .likeness import CLOSE, Array, Pair, all_same, constant_factor, number_text
from .limits import MAX_GRAPH_NODES, MAX_PAIRED_FACTORS
from .recorded import Texts

UNSPOKEN = "it"
"""Stands for a factor that the language has no text for."""

_COMMON: dict[str, Callable[[Array], Array]] = {
    "(1 - {})": lambda v: 1 - v,
    "log({})": np.log,
}
"""Parts of local gradients that come to be forgotten by themselves."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A factor: how it is written, and its value in each sample.

    source  the text whose derivative it is; None: it is a value of the program
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
    """The factor that the claim lacks, or has too much."""
    grids = [sample.aligned() for sample in evidence.samples]
    claimed = [grid for grid in grids if grid is not None]
    if len(claimed) < len(grids) or not any(grid.any() for grid in claimed):
        return None
    known = list(candidates(evidence))
    for test in (_missing, _surplus, _missing_with_factor):
        for found in known:
            mistake = test(evidence, claimed, found)
            if mistake is not None:
                return mistake
    inner = [c for c in known if c.source is not None]
    for a, b in combinations(inner[:MAX_PAIRED_FACTORS], 2):
        if not evidence.in_time():
            return None
        both = _missing_with_factor(evidence, claimed, _product(a, b))
        if both is not None:
            return both
    return None


def _missing(
    evidence: Evidence, claimed: Sequence[Array], found: Candidate
) -> Diagnosis | None:
    pairs = _multiplied(evidence, claimed, found)
    if pairs is None or not all_same(pairs):
        return None
    return Diagnosis("inner", f"{found.what} is missing", f"multiply by {found.factor}")


def _missing_with_factor(
    evidence: Evidence, claimed: Sequence[Array], found: Candidate
) -> Diagnosis | None:
    pairs = _multiplied(evidence, claimed, found)
    c = None if pairs is None else constant_factor(pairs)
    if c is None:
        return None
    if abs(c - 1) <= CLOSE:
        return _missing(evidence, claimed, found)
    number = number_text(c)
    return Diagnosis(
        "inner",
        f"{found.what} is missing, and the factor {number}",
        f"multiply by {found.factor} and by {number}",
    )


def _multiplied(
    evidence: Evidence, claimed: Sequence[Array], found: Candidate
) -> list[Pair] | None:
    """The derivative and the claim times the factor, where that says anything."""
    try:
        pairs = [
            (s.true, np.broadcast_to(g * v, s.true.shape))
            for s, g, v in zip(evidence.samples, claimed, found.values, strict=True)
        ]
    except ValueError:
        return None
    return pairs if any(a.any() for a, _ in pairs) else None


def _surplus(
    evidence: Evidence, claimed: Sequence[Array], found: Candidate
) -> Diagnosis | None:
    try:
        pairs = [
            (np.broadcast_to(s.true * v, s.true.shape), g)
            for s, g, v in zip(evidence.samples, claimed, found.values, strict=True)
        ]
    except ValueError:
        return None
    if not any(b.any() for _, b in pairs) or not all_same(pairs):
        return None
    text = f"{found.what} is there once too often"
    return Diagnosis("inner", text, f"divide by {found.factor}")


def candidates(evidence: Evidence) -> Iterator[Candidate]:
    """What a claim may lack: local gradients, then the values that have names."""
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
    """The local gradients on the ways to the inputs, unless they are constants, by the
    node's position in the graph."""
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
        for k, partial in enumerate(partials):
            if k in ways and hasattr(partial, "dtype"):
                found[nr, k] = node, k, np.asarray(partial)
    return found


def _product(a: Candidate, b: Candidate) -> Candidate:
    values = []
    for u, v in zip(a.values, b.values, strict=True):
        try:
            values.append(u * v)
        except ValueError:
            # Of different shapes: no product of these two explains anything.
            values.append(np.array(np.nan))
    factor = " * ".join(f"({c.factor})" if " " in c.factor else c.factor
                        for c in (a, b))  # fmt: skip
    return Candidate(factor, f"{a.source} and of {b.source}", tuple(values))
