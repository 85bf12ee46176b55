"""The recorded graph as an object of its own: nodes, edges and what nodes save.

Invariant: hooks on saved tensors see what the reverse rules will read, and nothing
else; a node whose values were packed is freed, retained and run twice as any other.

    with saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        y = model(x)                     # saved values take half the memory
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable

from ..engine import node as nodes
from ..engine.edges import GradientEdge, get_gradient_edge
from ..engine.node import AccumulateGrad
from ..engine.tensor import Tensor
from ..engine.versions import touch
from .multi_hook import register_multi_grad_hook
from .mutation import allow_mutation_on_saved_tensors
from .saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
__dir__ = __all__.copy


class Node(ABC):  # noqa: B024 (a name for `isinstance`)
    """Class of which every node of a graph is an instance."""


Node.register(nodes.Node)
Node.register(AccumulateGrad)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of a tensor's memory that the engine did not see.

    A backward pass that would read what was saved of it before is refused.
    """
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        touch(each._shareable())
