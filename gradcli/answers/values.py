"""The forward values of a recorded graph: what each node made.

A node keeps what its rule needs and no more, so values come from three places: what a
program's library heard while it ran, the leaves, and what nodes saved of their inputs
and results. A value that nobody kept is not known.

    listener = Listener(factory)        # a library to run a program with
    made = values(run.output, listener.heard)
    made[run.output.edge]               # array(7.75)
"""

from __future__ import annotations

from collections.abc import Mapping

from ..engine import AccumulateGrad, Node, Port, Tensor
from ..engine.errors import EngineError
from ..engine.node import ConstantNode
from ..engine.walk import inputs_first
from ..lang.errors import Span
from ..lang.factory import Factory
from ..lang.tensor_library import TensorLibrary


class Listener(TensorLibrary):
    """A program's library that keeps the value of every step that is recorded."""

    def __init__(self, factory: Factory, stream: str = "") -> None:
        super().__init__(factory, stream)
        self.heard: dict[object, object] = {}

    def on_result(self, value: object, span: Span) -> None:
        super().on_result(value, span)
        if isinstance(value, tuple):
            return
        if isinstance(value, Tensor) and value.edge is not None:
            self.heard.setdefault(value.edge, value.raw)


def values(output: Tensor, heard: Mapping[object, object]) -> dict[object, object]:
    """Return the raw value of every edge below ``output``, as far as it is known."""
    known = {output.edge: output.raw, **heard}
    for edge in reversed(inputs_first([output.edge])):
        if isinstance(edge, AccumulateGrad):
            known.setdefault(edge, edge.raw)
        elif isinstance(edge, Node) and not isinstance(edge, ConstantNode):
            _add_saved(edge, known)
    return known


def _add_saved(node: Node, known: dict[object, object]) -> None:
    try:
        raw, y = node.restored()
    except EngineError:
        return
    outputs = y if isinstance(y, tuple) else (y,)
    edges = [node] if y is not outputs else [
        Port(node, nr) for nr in range(len(outputs))
    ]  # fmt: skip
    for edge, value in zip(edges, outputs, strict=True):
        if hasattr(value, "dtype"):
            known.setdefault(edge, value)
    slots = node.slots or range(len(node.edges))
    for below, slot in zip(node.edges, slots, strict=True):
        if below is not None and hasattr(raw[slot], "dtype"):
            known.setdefault(below, raw[slot])
