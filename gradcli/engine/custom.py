"""Nodes whose rules are somebody's own functions on tensors, not a row of the table.

Invariant: the passes know them only by `pull_tensors` and `push_tensors`; a cotangent
or a tangent that did not arrive is None there, and zeros are the node's own affair.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .node import Node
from .raw import Pulled
from .tensor import Tensor, lifted, raw_of


class CustomNode(Node):
    """A node that pulls and pushes tensors; its kinds say how."""

    __slots__ = ("__dict__",)
    saved = y = None
    born = 0
    holds = True

    @property
    def several(self) -> bool:
        """Return whether it has more than one output."""
        raise NotImplementedError

    def free(self) -> None:
        self._let_go()

    def output_like(self, nr: int) -> Tensor:
        """Return a tensor shaped and typed like an output; its values mean nothing."""
        raise NotImplementedError

    def pull_tensors(self, g: object) -> tuple[Tensor | None, ...]:
        """Return a cotangent per edge; ``g`` is a tensor, or a tuple of one per output.

        None stands for a cotangent that did not arrive.
        """
        raise NotImplementedError

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Any:
        """Return the tangent of each output, a tuple if several, from one per edge."""
        raise NotImplementedError

    def pull(self, g: Any) -> Pulled:
        several = isinstance(g, tuple)
        given = tuple([lifted(part, self.xp) for part in (g if several else (g,))])
        given = given if several else given[0]
        return tuple(map(raw_of, self.pull_tensors(given)))
