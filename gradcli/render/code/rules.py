"""A node's rule in words: the formula by which a gradient goes on along an edge.

Invariant: the formula is the row's own, run on names: of an elementwise node its
partial derivative, of any other what becomes of the cotangent ``g``.

    Rules(names, view)(node, 0)         # "w3", or of a product of matrices "g @ b.T"
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...engine import Node
from ...engine.node import ConstantNode, Shaped
from ...numbers.trees.namespace import TreeNamespace
from ...numbers.trees.texts import Text, partial_text
from ...numbers.trees.tree import TooLong, Unwritable
from ...ops import Op, parameters
from ...views.factors import Factors
from ...views.graph import GraphView
from ...views.names import Names
from .programs import inline

COTANGENT: Final = "g"
RESULT: Final = "y"

MAX_RULE_ENTRIES: Final = 4096
"""Entries of an input up to which the rule is run to be worded."""

MAX_RULE_CHARACTERS: Final = 80
"""Characters of a formula that is still worth reading."""


class Rules:
    """Words the rules of the nodes of one graph."""

    def __init__(self, names: Names, view: GraphView) -> None:
        self._names = names
        self._factors = Factors(names, view)
        self._found: dict[Any, str | None] = {}

    def __call__(self, node: Node, nr: int) -> str | None:
        if node.op.partials is None:
            return self._pulled(node, nr)
        local = self._factors.local(node, nr)
        return general(node.op, nr) if local is None else local.written

    def _pulled(self, node: Node, nr: int) -> str | None:
        op = node.op
        if op.variadic or op.returns != 1 or isinstance(node, ConstantNode):
            return None
        raw, y = node.raw_inputs(), node.restored()[1]
        called = self._called(node, raw)
        key = (op.name, nr, called, tuple(map(_shape, raw)), repr(node.params))
        if key not in self._found:
            self._found[key] = _worded(node, nr, raw, y, called)
        return self._found[key]

    def _called(self, node: Node, raw: tuple[Any, ...]) -> tuple[str, ...]:
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


def general(op: Op, nr: int) -> str | None:
    """The partial derivative by an edge's input, in the names of the row."""
    if op.partials is None:
        return None
    names = parameters(op)
    count = len(op.partials)
    given = {name: Text(name) for name in names[count:]}
    slots = [slot for slot, partial in enumerate(op.partials) if partial is not None]
    inputs = [Text(name) for name in names[:count]]
    text = partial_text(op.partials[slots[nr]], Text(RESULT), inputs, given)
    return None if text is None else text.written


def _shape(raw: Any) -> Any:
    return getattr(raw, "shape", None)


def _worded(
    node: Node, nr: int, raw: tuple[Any, ...], y: Any, called: tuple[str, ...]
) -> str | None:
    rules: Any = node.op.vjp
    rule = rules[node.slots[nr]]
    arrays = [each for each in raw if _shape(each) is not None]
    if any(np.prod(each.shape) > MAX_RULE_ENTRIES for each in arrays):
        return None
    xp = TreeNamespace(words=True)
    try:
        with np.errstate(all="ignore"):
            inputs = [
                each if _shape(each) is None else xp.named(name, numbers(each))
                for name, each in zip(called, raw, strict=True)
            ]
            made = node.op.fwd(xp, *inputs, **node.params).value if y is None else y
            result = xp.named(RESULT, numbers(made))
            g = xp.named(COTANGENT, np.ones(result.shape))
            found = inline(rule(xp, g, result, *inputs, **node.params)).written
    except (Unwritable, TooLong, AttributeError, ValueError, TypeError):
        return None
    return found if len(found) <= MAX_RULE_CHARACTERS else None


def numbers(raw: Any) -> Any:
    """An array on the host; of a shape alone, ones."""
    if isinstance(raw, Shaped):
        return np.ones(raw.shape)
    return np.asarray(raw.get() if hasattr(raw, "get") else raw)
