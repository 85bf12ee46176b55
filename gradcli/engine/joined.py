"""Nodes of reverse rules in a recorded pass, with the edges that PyTorch's have.

Invariant: they change no value. PyTorch records some rules as one node, which leads to
the cotangent and to all that the rule was given; the table writes the same rule as a
formula, whose nodes lead to what it depends on. `joined` adds the rest, and shows what
PyTorch shows: ``next_functions`` is what the rule was given, ``edges`` is what the pass
goes through.

    (g,) = grad([relu(x)], [x], create_graph=True)
    g.grad_fn                # <ThresholdBackwardBackward0>, which hands zeros to x
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ..ops.op import RESULT, Rule
from .custom import CustomNode
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .modes import MODE
from .node import FREED, AccumulateGrad, Edge, Node, output_at
from .record import call
from .tensor import Tensor, with_edge

_new = object.__new__


class Joined(CustomNode):
    """The node of a rule: its first edge is the formula's, the others are joined."""

    __slots__ = ()
    zeros: bool
    shapes_given: tuple[tuple[int, ...], ...]
    shown: tuple[Edge, ...]
    """Edges of PyTorch's node: the cotangent, and what the rule was given."""

    @property
    def next_functions(self) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
        return tuple([output_at(edge) for edge in self.shown])

    def pull_tensors(self, g: Any) -> tuple[Tensor | None, ...]:
        if self.saved is FREED:
            raise GradError(FREED_MESSAGE)
        given = [
            call("new_full", g, shape, 0) if self.zeros else None
            for shape in self.shapes_given
        ]
        return (g, *given)

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Tensor | None:
        return tangents[0]


def joined(node: Node, rule: Rule, arrived: Tensor, pulled: tuple[Any, ...]) -> Any:
    """Return the cotangents that a node's rules gave, with edges to all that the rules
    were given: the cotangent that ``arrived``, the inputs and the result."""
    if not MODE.enabled:
        return pulled
    by_slot: dict[int | None, Edge] = dict(zip(node.slots, node.edges, strict=True))
    by_slot[RESULT] = node
    shapes: list[tuple[int, ...]] = []
    edges: list[Edge] = []
    if not rule.passes:
        raw, y = node.restored()
        for slot in rule.given:
            edge = by_slot.get(slot)
            if slot is not None and edge is not None:
                edges.append(edge)
                shapes.append(tuple((y if slot == RESULT else raw[slot]).shape))
    if not edges and arrived.edge is None and not rule.passes:
        return pulled
    found = []
    for slot, g in zip(node.slots, pulled, strict=True):
        given = isinstance(g, Tensor) and (rule.gives is None or slot in rule.gives)
        if not given or (rule.passes and g.edge is None):
            found.append(g)
            continue
        made = _new(_class(rule.node))
        made.edges = (g.edge, *edges)
        first = [slot] if rule.turns else []
        order = [*first, *[s for s in rule.given if s not in first]]
        made.shown = (
            (arrived.edge, *[by_slot.get(s) for s in order])
            if rule.whole
            else made.edges
        )
        made.xp, made.span, made.zeros = g.xp, None, rule.zeros
        made.shapes_given, made.like = tuple(shapes), g.detach()
        found.append(with_edge(g.raw, g.xp, made))
    return tuple(found)


@cache
def _class(name: str) -> type[Joined]:
    return type(name, (Joined,), {"__slots__": ()})
