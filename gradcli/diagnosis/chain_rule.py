"""The derivative as it would be after a mistake inside the chain rule: a variable taken
for a constant, a function's own derivative passed over, a way back that ends too soon.

Invariant: an altered reverse pass is the true one but for the one change that it is
about, so a claim that equals it at every sample has made that very mistake.

    taken_for_constant(evidence).text       # "v is taken for a constant: the paths …"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from ..engine import Node
from ..engine.walk import inputs_first
from ..views.claims import Diagnosis
from ..views.partials import raw_partials
from .altered import Sent, altered
from .evidence import Sample
from .hypothesis import Evidence
from .likeness import Array, same
from .limits import MAX_GRAPH_NODES, MAX_OUTPUT_ENTRIES, MAX_VARIABLES
from .recorded import Texts

Change = Callable[[Sample], tuple[frozenset[object], Any]]
"""Per sample the edges that nothing passes, and the node whose rule is left out."""


def taken_for_constant(evidence: Evidence) -> Diagnosis | None:
    """One or two variables that the claim does not differentiate."""
    if not _fitting(evidence):
        return None
    names = _between(evidence.samples[0])
    for wrong in chain(combinations(names, 1), combinations(names, 2)):
        if not evidence.in_time():
            return None
        if _explains(evidence, _blocking(wrong)):
            listed, one = " and ".join(wrong), len(wrong) == 1
            verb = "is taken for a constant" if one else "are taken for constants"
            text = f"{listed} {verb}: the paths through {listed} are missing"
            return Diagnosis("path", text, f"differentiate {listed} as well")
    return None


def passed_over(evidence: Evidence) -> Diagnosis | None:
    """A function in the middle of the program whose derivative the claim leaves out."""
    if not _fitting(evidence):
        return None
    first = evidence.samples[0]
    for position, node in enumerate(_nodes(first)):
        if not evidence.in_time():
            return None
        if _is_function(node) and _explains(evidence, _skipping(position)):
            texts = Texts(evidence, first)
            local = texts.factors.local(node, 0)
            source = texts.source(node) or node.op.name
            factor = "its derivative" if local is None else local.written
            text = f"the inner derivative of {source} is missing"
            repair = f"multiply by {factor} on the way back through it"
            return Diagnosis("inner", text, repair)
    return None


def stops_short(evidence: Evidence) -> Diagnosis | None:
    """The derivative by a value on the way, where one by the input is asked for."""
    if not _fitting(evidence) or evidence.samples[0].target.numel() != 1:
        return None
    first, name = evidence.samples[0], evidence.claim.by[0]
    arriving = [_arriving(sample) for sample in evidence.samples]
    for position, node in enumerate(_nodes(first)):
        if not isinstance(node, Node) or not _leads_to(node, first.inputs[name].edge):
            continue
        pairs = zip(evidence.samples, arriving, strict=True)
        if all(_at_position(sample, found, position) for sample, found in pairs):
            source = Texts(evidence, first).source(node) or node.op.name
            text = f"this is the derivative by {source}: the inner derivative of it "
            repair = f"carry it on through {source} to {name}"
            return Diagnosis("inner", f"{text}by {name} is missing", repair)
    return None


def _leads_to(node: Node, end: object) -> bool:
    return any(below is end for below in inputs_first([node]))


def _arriving(sample: Sample) -> dict[object, Array]:
    """What arrives at each part of the graph in a reverse pass from a number."""
    ones = np.ones(tuple(sample.target.shape))
    return _pass(sample.target.edge, ones, frozenset(), None)


def _at_position(sample: Sample, arriving: dict[object, Array], position: int) -> bool:
    nodes = _nodes(sample)
    g = arriving.get(nodes[position]) if position < len(nodes) else None
    several = isinstance(g, tuple | list)
    if g is None or several or nodes[position] is sample.target.edge:
        return False
    return same(np.asarray(g), sample.claimed)


def _fitting(evidence: Evidence) -> bool:
    """Whether the claim is about a recorded first derivative of few entries."""
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
    """The variables that the program computes on its way, each value once."""
    ends = {x.edge for x in sample.inputs.values()} | {sample.target.edge, None}
    names: dict[object, str] = {}
    for name, value in sample.variables.items():
        if value.edge not in ends:
            names.setdefault(value.edge, name)
    return list(names.values())[:MAX_VARIABLES]


def _blocking(names: Sequence[str]) -> Change:
    return lambda sample: (
        frozenset(sample.variables[name].edge for name in names),
        None,
    )


def _skipping(position: int) -> Change:
    return lambda sample: (frozenset(), _nodes(sample)[position])


def _nodes(sample: Sample) -> list[Any]:
    return inputs_first([sample.target.edge])[:MAX_GRAPH_NODES]


def _is_function(node: object) -> bool:
    """Whether a node applies a function of one argument, entry by entry."""
    if not isinstance(node, Node) or len(node.edges) != 1:
        return False
    return hasattr(raw_partials(node)[0], "dtype")


def _explains(evidence: Evidence, change: Change) -> bool:
    end = evidence.claim.by[0]
    for sample in evidence.samples:
        claimed = sample.aligned()
        try:
            blocked, skipped = change(sample)
        except (KeyError, IndexError):
            # Another branch was taken there, and the graph has another form.
            return False
        if claimed is None or not same(
            _derivative(sample, end, blocked, skipped), claimed
        ):
            return False
    return True


def _derivative(
    sample: Sample, name: str, blocked: frozenset[object], skipped: object
) -> Array:
    target, end = sample.target, sample.inputs[name]
    rows = []
    for unit in np.eye(target.numel()):
        g = unit.reshape(tuple(target.shape))
        found = _pass(target.edge, g, blocked, skipped).get(end.edge)
        rows.append(np.zeros(tuple(end.shape)) if found is None else np.asarray(found))
    return np.stack(rows).reshape(sample.true.shape)


def _pass(
    root: object, g: Array, blocked: frozenset[object], skipped: Any
) -> dict[object, Any]:
    """What comes to each part of the graph in a reverse pass that ends at ``blocked``
    and leaves out ``skipped``'s rule."""

    def change(edge: Any, total: object) -> Sent | None:
        if edge in blocked:
            return ()
        return [(edge.edges[0], total)] if edge is skipped else None

    return altered({root: g}, change)
