"""The names and formulas of a sample's graph, for a diagnosis to speak in.

Invariant: a text stands for the value beside it at the end of the program, so none is
taken from a line that a loop may have run several times with other values.

    texts = Texts(evidence, sample)
    texts.path(path)                   # ("L", "d", "b", "a")
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..engine import Node
from ..lang.parser import parse
from ..lang.run import Input
from ..lang.syntax import For, Target, While, walk
from ..views.factors import Factors
from ..views.graph import graph_view
from ..views.names import Names
from ..views.survey import Path, Step, met
from .evidence import Sample
from .hypothesis import Evidence

UNNAMED = "output"


class Texts:
    """What the parts of one recorded graph are called."""

    def __init__(self, evidence: Evidence, sample: Sample) -> None:
        source = evidence.task.source
        self._root = sample.target.edge
        self._names = Names()
        inputs = [Input(name, x, True, True) for name, x in sample.inputs.items()]
        made = {k: v for k, v in sample.variables.items() if k not in sample.inputs}
        self._names.settle(inputs, made, _ambiguous(source))
        view = graph_view(
            sample.target, source=source, name=UNNAMED,
            variables=sample.variables, local_gradients=False,
        )  # fmt: skip
        self._sources = {node.address: node.source for node in view.nodes}
        self.factors = Factors(self._names, view)

    def path(self, path: Path, end: str, in_full: bool = False) -> tuple[str, ...]:
        """The names along a path; ``in_full`` with the texts of nameless values."""
        steps = met(self._root, path)
        labels = [self._label(step, in_full or k == 0) for k, step in enumerate(steps)]
        return (*[label for label in labels if label], end)

    def product(self, path: Path) -> str | None:
        """What a path contributes, as a formula; None where the language has none."""
        steps = [(step.node, step.nr) for step in met(self._root, path)]
        return self.factors.product(steps)

    def source(self, node: Node) -> str | None:
        """The text that a node came from."""
        return self._sources.get(id(node))

    def _label(self, step: Step, spelled: bool) -> str | None:
        name = self._names.of(step.value)
        if name is None and spelled:
            name = self.source(step.node)
        return name

    def unique(self, paths: Sequence[Path], end: str) -> list[str]:
        """A label for each path, by names alone if that tells them apart."""
        short = [self.path(path, end) for path in paths]
        if len(set(short)) < len(short):
            short = [self.path(path, end, in_full=True) for path in paths]
        return [" → ".join(labels) for labels in short]


def _ambiguous(source: str) -> frozenset[str]:
    """The names that may have meant several values while the program ran."""
    nodes = list(walk(parse(source)))
    targets = Counter(node.name for node in nodes if isinstance(node, Target))
    looped = any(isinstance(node, For | While) for node in nodes)
    return frozenset(name for name, n in targets.items() if looped or n > 1)
