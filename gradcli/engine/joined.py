"""Nodes of reverse rules: what a recorded pass is connected to though nothing passes.

Invariant: they change no value. PyTorch records some rules as one node, which leads to
all that the rule was given; the table writes the same rule as a formula, which leads
only to what it depends on. `joined` adds the rest.

    (g,) = grad([relu(x)], [x], create_graph=True)
    g.grad_fn                # <ThresholdBackwardBackward0>, which hands zeros to x
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, ClassVar

from ..ops.op import RESULT, Rule
from .custom import CustomNode
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .modes import MODE
from .node import FREED, Edge, Node
from .record import call
from .tensor import Tensor, with_edge

_new = object.__new__


class Joined(CustomNode):
    """The node of a rule: its first edge is the formula's, the others are joined."""

    __slots__ = ()
    several: ClassVar[bool] = False
    zeros: bool
    shapes_given: tuple[tuple[int, ...], ...]
    like: Tensor

    def output_like(self, nr: int) -> Tensor:
        return self.like

    def pull_tensors(self, g: Any) -> tuple[Tensor | None, ...]:
        if self.saved is FREED:
            raise GradError(FREED_MESSAGE)
        given = [
            call("new_full", g, shape, 0) if self.zeros else None
            for shape in self.shapes_given
        ]
        return (g, *given)

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Any:
        return tangents[0]


def joined(node: Node, rule: Rule, pulled: tuple[Any, ...]) -> tuple[Any, ...]:
    """The cotangents that a node's rules gave, connected to what they were given."""
    if not MODE.enabled:
        return pulled
    by_slot = dict(zip(node.slots, node.edges, strict=True))
    edges: list[Edge] = []
    shapes: list[tuple[int, ...]] = []
    for slot in rule.given:
        edge = node if slot == RESULT else by_slot.get(slot)
        if edge is not None:
            edges.append(edge)
            raw, y = node.restored()
            shapes.append(tuple((y if slot == RESULT else raw[slot]).shape))
    if not edges:
        return pulled
    return tuple([
        _connected(g, rule, edges, tuple(shapes))
        if isinstance(g, Tensor) and (rule.gives is None or slot in rule.gives)
        else g
        for slot, g in zip(node.slots, pulled, strict=True)
    ])  # fmt: skip


def _connected(
    g: Tensor, rule: Rule, edges: list[Edge], shapes: tuple[tuple[int, ...], ...]
) -> Tensor:
    node = _new(_class(rule.node))
    node.edges = (g.edge, *edges)
    node.xp, node.span, node.zeros = g.xp, None, rule.zeros
    node.shapes_given, node.like = shapes, g.detach()
    return with_edge(g.raw, g.xp, node)


@cache
def _class(name: str) -> type[Joined]:
    return type(name, (Joined,), {"__slots__": ()})
