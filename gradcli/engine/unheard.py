"""Edges that tangents pass, and gradients do not: those of what `no_grad` made.

Invariant: while tangents are to be pushed through the graph of a function, its blocks
of `no_grad` are recorded, as in PyTorch they stop no tangent; what is recorded there
leads to what it was made from through nodes of this kind, which send no cotangent on.

    jvp(lambda x: square(x) * x, (x,), (t,))    # square within no_grad has a tangent
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .custom import CustomNode
from .modes import MODE
from .node import Edge
from .tensor import Tensor, with_edge


class UnheardBackward(CustomNode):
    """A node that leads to a tensor, and sends no gradient on to it."""

    __slots__ = ("like",)
    several = holds = False

    def __init__(self, x: Tensor) -> None:
        self.edges = (x.edge,)
        self.xp = x.xp
        self.span = None
        self.like = x.detach()

    def output_like(self, nr: int) -> Tensor:
        return self.like

    def pull_tensors(self, g: object) -> tuple[None]:
        return (None,)

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Tensor | None:
        """Return the tangent itself, to which no gradient goes either."""
        (t,) = tangents
        if t is None or t.edge is None:
            return t
        return with_edge(t.raw, t.xp, UnheardBackward(t))


def heard(x: Tensor) -> Edge:
    """The edge that a node has to what it is made from, by the blocks that run."""
    return x.edge if x.edge is None or not MODE.muffled else UnheardBackward(x)


@contextmanager
def as_heard(node: CustomNode) -> Iterator[None]:
    """Run a block in which no gradient goes through what is recorded, if none goes
    through the node."""
    before = MODE.muffled
    MODE.muffle(before or any(isinstance(e, UnheardBackward) for e in node.edges))
    try:
        yield
    finally:
        MODE.muffle(before)
