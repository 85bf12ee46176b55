"""The class of nodes, under its name in ``torch.autograd.graph``."""

from __future__ import annotations

from abc import ABC

from ..engine import node as nodes

__all__ = ["Node"]
__dir__ = __all__.copy


class NodeType(ABC):  # noqa: B024 (a name for `isinstance`)
    """Class of which every node of a graph is an instance."""


NodeType.register(nodes.Node)
NodeType.register(nodes.AccumulateGrad)
Node = NodeType
