"""What PyTorch's own rules record of numbers beside tensors.

Invariant: only names, edges and what is saved change, no value. Where a program's
``x * 2`` leaves MulBackward0(x, None), a rule's leaves MulBackward1(x): its number
stays a number. The table's rules are written with the same operators as programs; the
nodes that they left in a recorded pass are renamed afterwards.

    name_as_in_rules(node, arrived, pulled)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops import OPS
from .node import ConstantNode, Node, Packed
from .record import recorder
from .tensor import Tensor

PLAIN = (int, float, bool)
"""Python's numbers; NumPy's are arrays without dimensions, and tensors here."""


def name_as_in_rules(node: Node, arrived: Any, pulled: Sequence[object]) -> None:
    """Rename the nodes that the rules of a node left.

    Args:
        arrived: the cotangent that they were given, or one for each output.
        pulled: what they gave.
    """
    # Below what the rules were given nothing is their own.
    seen: set[object] = {None, node, *node.edges}
    if isinstance(arrived, Tensor):
        seen.add(arrived.edge)
    else:
        seen.update([part.edge for part in arrived if part is not None])
    tops: list[Any] = [g.edge for g in pulled if isinstance(g, Tensor)]
    stack = [edge for edge in tops if edge not in seen]
    while stack:
        made = stack.pop()
        seen.add(made)
        if made.in_rules:
            _rename(made)
        stack += [edge for edge in made.edges if edge not in seen]


def _rename(node: Node) -> None:
    to = recorder(OPS[node.in_rules]).cls
    if issubclass(to, ConstantNode):
        # A number less a tensor: the tensor is the second operand.
        node.__class__ = to
        node.edges = (None, *node.edges)
        return
    saved = node.saved
    if isinstance(node.y, Packed) or type(saved) is not tuple:
        return
    x, number = saved
    if type(number) in PLAIN and hasattr(x, "dtype"):
        node.__class__ = to
        node.edges, node.saved = node.edges[:1], (x,)
        node.params = {"number": number}
