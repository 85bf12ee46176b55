"""A node's rule in words: the formula by which a gradient goes on along an edge.

Invariant: the formula is the row's own, run on names: of an elementwise node its
partial derivative, of any other what becomes of the cotangent ``g``.

    Rules(names, view)(node, 0)         # "w3", or of a product of matrices "g @ b.T"
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np

from ...engine import Node
from ...engine.devices import host
from ...engine.node import ConstantNode, Shaped
from ...numbers.trees.namespace import TreeNamespace
from ...numbers.trees.tree import TooLong, Tree, Unwritable
from ...ops import Op, parameters
from ...views.catalog import derivatives
from ...views.factors import Factors
from ...views.graph import GraphView
from ...views.names import Names
from .programs import inline

COTANGENT: Final = "g"
RESULT: Final = "y"

MAX_RULE_ENTRIES: Final = 4096
"""Entries of an input up to which the rule is run to be worded."""

CANNOT_SAY: Final = (Unwritable, TooLong, AttributeError, ValueError, TypeError)
"""What is raised where a rule, or a part of it, has no words."""

MAX_RULE_CHARACTERS: Final = 80
"""Characters of a formula that is still worth reading."""


class Rules:
    """Words the rules of the nodes of one graph."""

    def __init__(self, names: Names, view: GraphView) -> None:
        self._names = names
        self._factors = Factors(names, view)
        self._found: dict[object, str | None] = {}

    def __call__(self, node: Node, nr: int) -> str | None:
        if node.op.partials is None:
            return self._pulled(node, nr)
        local = self._factors.local(node, nr)
        return general(node.op, node.slots[nr]) if local is None else local.written

    def _pulled(self, node: Node, nr: int) -> str | None:
        if isinstance(node, ConstantNode):
            return None
        op, raw = node.op, node.raw_inputs()
        if op.variadic:
            return None
        called = self._called(node, raw)
        key = (op.name, nr, called, tuple(map(_shape, raw)), repr(node.params))
        if key not in self._found:
            self._found[key] = _worded(node, nr, raw, called)
        return self._found[key]

    def _called(self, node: Node, raw: tuple[object, ...]) -> tuple[str, ...]:
        """What the inputs are called: by the program, else as in the table."""
        own = parameters(node.op)[: len(raw)]
        edges = dict(zip(node.slots, node.edges, strict=True))
        names = [
            self._names.of(edges.get(slot)) or self._names.of_constant(each)
            for slot, each in enumerate(raw)
        ]
        called = [name or row for name, row in zip(names, own, strict=False)]
        clear = len({*called, COTANGENT, RESULT}) == len(called) + 2
        return tuple(called) if clear else tuple(own)


@cache
def general(op: Op, slot: int) -> str | None:
    """The partial derivative by an input, in the names of the row."""
    return derivatives(op).get(parameters(op)[slot])


def _shape(raw: object) -> object:
    return getattr(raw, "shape", None)


def _worded(
    node: Node, nr: int, raw: tuple[object, ...], called: tuple[str, ...]
) -> str | None:
    try:
        tree = pulled(node, nr, raw, called)
    except CANNOT_SAY:
        return None
    found = "" if tree is None else inline(tree).written
    return found if 0 < len(found) <= MAX_RULE_CHARACTERS else None


def pulled(
    node: Node, nr: int, raw: tuple[Any, ...], called: tuple[str, ...]
) -> Tree | None:
    """What becomes of the cotangent ``g`` along an edge of a node that is not
    elementwise: its rule, run on names.

    Args:
        node: its saved values decide shapes and indices, and no number of the result.
        nr: the edge.
        raw: the node's inputs.
        called: the names of the inputs.

    Returns:
        None where the rule is of many outputs, or the inputs are too large for it.

    Raises:
        CANNOT_SAY: what happens where a rule has no words.
    """
    op = node.op
    if op.variadic or op.returns != 1 or op.vjp is None:
        return None
    arrays = [each for each in raw if _shape(each) is not None]
    if any(np.prod(each.shape) > MAX_RULE_ENTRIES for each in arrays):
        return None
    rules: Any = op.vjp
    y = node.restored()[1]
    xp = TreeNamespace(words=True)
    with np.errstate(all="ignore"):
        inputs = [
            each if _shape(each) is None else xp.named(name, numbers(each))
            for name, each in zip(called, raw, strict=True)
        ]
        made = op.fwd(xp, *inputs, **node.params).value if y is None else y
        result = xp.named(RESULT, numbers(made))
        g = xp.named(COTANGENT, np.ones(result.shape))
        found: Tree = rules[node.slots[nr]](xp, g, result, *inputs, **node.params)
    return found


def numbers(raw: object) -> Any:
    """An array on the host; of a shape alone, ones."""
    if isinstance(raw, Shaped):
        return np.ones(raw.shape)
    return np.asarray(host(raw))
