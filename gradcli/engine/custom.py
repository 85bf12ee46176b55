"""Nodes whose rules are functions on tensors instead of a row of the table.

Invariant: the passes know them only by `pull_tensors` and `push_tensors`; a cotangent
or a tangent that did not arrive is None there, and the node may make zeros of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Never

from .modes import MODE
from .node import FREED, Edge, Node
from .raw import Pulled
from .tensor import Tensor, lifted, raw_of, with_edge


class CustomNode(Node):
    """A node that pulls and pushes tensors, by methods that its subclasses define."""

    __slots__ = ("__dict__",)
    saved = y = None
    born = 0
    holds = True
    like: Tensor
    """The only output of the node, detached from the graph."""

    @property
    def several(self) -> bool:
        return False

    def lead(self, edges: Sequence[Edge], like: Tensor) -> None:
        """Set the edges of a node of one output, and that output."""
        self.edges, self.xp, self.span = tuple(edges), like.xp, None
        self.like = like.detach()

    def free(self) -> None:
        self.saved, self.y = FREED, None

    def input_shapes(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return a shape for each edge; ``shape`` is the output's."""
        return [shape] * len(self.edges)

    def output_like(self, nr: int) -> Tensor:
        """Return a tensor shaped and typed like an output; its values mean nothing."""
        return self.like

    def pull_tensors(self, g: object) -> tuple[Tensor | None, ...]:
        """Return a cotangent per edge; ``g`` is a tensor, or a tuple of one per output.

        None stands for a cotangent that did not arrive.
        """
        raise NotImplementedError

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Any:
        """Return the output's tangent, a tuple for several, from a tangent per edge."""
        raise NotImplementedError

    def pull(self, g: Any) -> Pulled:
        several = isinstance(g, tuple)
        given = tuple([lifted(part, self.xp) for part in (g if several else (g,))])
        given = given if several else given[0]
        return tuple(map(raw_of, self.pull_tensors(given)))


class UnheardBackward(CustomNode):
    """A node that leads to a tensor, and sends no gradient on to it."""

    __slots__ = ()
    holds = False

    def __init__(self, x: Tensor) -> None:
        self.lead((x.edge,), x)

    def pull_tensors(self, g: object) -> tuple[None]:
        return (None,)

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Tensor | None:
        """Return the tangent itself, to which no gradient goes either."""
        (t,) = tangents
        if t is None or t.edge is None:
            return t
        return with_edge(t.raw, t.xp, UnheardBackward(t))


def visible_edge(x: Tensor) -> Edge:
    """Return the edge to a tensor; it passes no gradient inside an `hidden_from` block
    whose node passes none."""
    return x.edge if x.edge is None or not MODE.muffled else UnheardBackward(x)


def hidden_from(node: CustomNode) -> AbstractContextManager[None]:
    """Return a block; if no gradient goes through ``node``, none goes through the nodes
    that are recorded in it."""
    unheard = any(isinstance(e, UnheardBackward) for e in node.edges)
    return MODE.having(muffled=MODE.muffled or unheard)


class RefusingNode(CustomNode):
    """A node through which no derivative passes: a pass that reaches it fails.

    Args:
        like: the output.
        error: the error that a pass raises there.
    """

    __slots__ = ("error",)
    holds = False

    def __init__(self, edges: Sequence[Edge], like: Tensor, error: Exception) -> None:
        self.lead(edges, like)
        self.error = error

    def pull_tensors(self, g: object) -> Never:
        raise self.error

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Never:
        raise self.error
