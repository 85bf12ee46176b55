"""The search for the step at which values stop being finite, by a second run.

This module is loaded only when an output is infinite or NaN. The first step whose
result is not finite is reported with its text, its place and, if known, the reason.

    first_not_finite(run)
    # ["log(x) is nan: the logarithm of a negative number (line 1, column 5)"]
"""

from collections.abc import Iterator

import numpy as np

from ..engine import AccumulateGrad, Node, Port, Tensor
from ..engine.node import Edge
from ..ops import FUNCTIONS
from .errors import ProgramError, Span
from .excerpt import place_of, shortened
from .maxima import MAX_STEP_QUOTE_CHARACTERS, MAX_STEPS
from .run import Run, Session, all_finite
from .tensor_library import TensorLibrary


class _Found(Exception):
    """An exception that ends the second run at the first value that is not finite."""

    def __init__(self, value: Tensor, span: Span) -> None:
        self.value = value
        self.span = span


class _Watching(TensorLibrary):
    def on_result(self, value: object, span: Span) -> None:
        super().on_result(value, span)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Tensor) and not all_finite(part):
                raise _Found(part, span)


def first_not_finite(run: Run, max_steps: int = MAX_STEPS) -> list[str]:
    """Return sentences on what is not finite; an empty list if the output is finite."""
    if all_finite(run.output):
        return []
    prepared = run.prepared
    given = [i.name for i in prepared.inputs if not all_finite(i.tensor)]
    if given:
        return [f"the input {name} is not finite" for name in given]
    library = _Watching(prepared.factory)
    try:
        Session(prepared, run.of, max_steps=max_steps, library=library).run()
    except ProgramError as error:
        found = error.__cause__
        if isinstance(found, _Found):
            return [_sentence(found.value, found.span, prepared.source)]
    return []


def _nodes(output: Tensor) -> Iterator[Node]:
    """Yield all nodes of the graph below the output, nearest first."""
    seen: set[int] = set()
    level = [output.edge]
    while level:
        following: list[Edge] = []
        for edge in level:
            node = edge.node if isinstance(edge, Port) else edge
            if node is None or isinstance(node, AccumulateGrad) or id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            following.extend(node.edges)
        level = following


def _sentence(value: Tensor, span: Span, source: str) -> str:
    kind = "-inf" if bool((value.raw == -np.inf).any()) else "inf"
    if bool(value.xp.isnan(value.raw).any()):
        kind = "nan"
    # One operator can make several nodes: 1/x is a Mul of a Reciprocal.
    made = [node for node in _nodes(value) if node.span == span]
    known = [FUNCTIONS[n.op.base].not_finite for n in made if n.op.base in FUNCTIONS]
    reasons = [facts[kind] for facts in known if kind in facts]
    because = f": {reasons[0]}" if reasons else ""
    text = " ".join(source[span.start : span.end].split())
    quoted = shortened(text, MAX_STEP_QUOTE_CHARACTERS)
    return f"{quoted} is {kind}{because} ({place_of(span, source)})"
