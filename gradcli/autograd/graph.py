"""Names of ``torch.autograd.graph``: the class of nodes, and versions of memory."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable

from ..engine import node as nodes
from ..engine.tensor import Tensor
from ..engine.versions import touch

__all__ = ["Node", "increment_version"]
__dir__ = __all__.copy


class NodeType(ABC):  # noqa: B024 (a name for `isinstance`)
    """Class of which every node of a graph is an instance."""


NodeType.register(nodes.Node)
NodeType.register(nodes.AccumulateGrad)
Node = NodeType


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of a tensor's memory that the engine did not see.

    A backward pass that would read what was saved of it before is refused.
    """
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        touch(each._shareable())
