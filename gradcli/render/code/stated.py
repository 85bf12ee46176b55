r"""The rule of an operation as a textbook states it, in the letters of its row.

Invariant: it is the row's own rule, run on names; nothing is written down twice.

    stated(node, 0)
    # Stated("", "d tanh(x)/dx = 1 - tanh(x) * tanh(x)", ...)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...engine import Node, Tensor
from ...engine.walk import inputs_first
from ...numbers.trees.namespace import TreeNamespace
from ...numbers.trees.texts import Text
from ...numbers.trees.tree import Tree
from ...ops import Op, parameters
from ...views.graph import GraphView
from .latex import Latex, symbol
from .programs import inline
from .rules import CANNOT_SAY, pulled

INSIDE: Final = 0.7
"""How far from the lower end of its domain a row is tried."""

LATEX: Final = Latex()


@dataclass(frozen=True, slots=True)
class Stated:
    """A rule as text and as LaTeX; ``name`` is what textbooks call it, or empty.

    Of an operation that is not elementwise ``g`` is what arrives at its result ``y``.
    """

    name: str
    text: str
    latex: str


def stated(node: Node, nr: int) -> Stated | None:
    """The rule by which a node's gradient goes on along one of its edges; None where
    it has no words."""
    try:
        with np.errstate(all="ignore"):
            return _partial(node, nr) if node.op.elementwise else _pulled(node, nr)
    except (*CANNOT_SAY, KeyError):
        return None


def rules_of(output: Tensor, view: GraphView) -> dict[tuple[int, int], Stated | None]:
    """The rules of all edges below an output, by node and number of the edge."""
    found: dict[tuple[int, int], Stated | None] = {}
    known = {}
    nodes = {id(e): e for e in inputs_first([output.edge])}
    for each in view.nodes:
        node = nodes[each.address]
        for nr, (child, _) in enumerate(each.next_functions):
            if child is None:
                continue
            key = _kind(node, nr)
            if key not in known:
                known[key] = stated(node, nr)
            found[each.id, nr] = known[key]
    return found


def _kind(node: Node, nr: int) -> object:
    """What nodes with the same rule have in common."""
    op, params = node.op, repr(node.params)
    if op.elementwise or op.variadic:
        return op.name, nr, params
    shapes = [getattr(each, "shape", None) for each in node.raw_inputs()]
    return op.name, nr, params, tuple(shapes)


def _partial(node: Node, nr: int) -> Stated | None:
    op = node.op
    assert op.partials is not None
    slot = node.slots[nr]
    names = parameters(op)[: len(op.partials)]
    xp = TreeNamespace(words=True)
    operands = [xp.named(name, _inside(op)) for name in names]
    given = {k: v for k, v in node.params.items() if isinstance(v, int | float | str)}
    partial = op.partials[slot]
    y = op.fwd(xp, *operands, **given)
    found = partial(xp, y, *operands, **given) if callable(partial) else partial
    made = found if isinstance(found, Tree) else xp.number(found)
    of, by = _value(op, inline(y)), names[slot]
    called = _in_latex(y)
    return Stated(
        op.taught,
        f"d{of}/d{by} = {inline(made).written}",
        rf"\frac{{\partial}}{{\partial {symbol(by)}}} \left({called}\right) = "
        + _in_latex(made),
    )


def _value(op: Op, text: Text) -> str:
    return f"({text.written})" if " " in text.written else f" {text.written}"


def _inside(op: Op) -> float:
    case = op.cases[0]
    return float(case.low + INSIDE * (case.high - case.low))


def _pulled(node: Node, nr: int) -> Stated | None:
    op, raw = node.op, node.raw_inputs()
    names = parameters(op)[: len(raw)]
    found = None if op.variadic else pulled(node, nr, raw, names)
    if found is None:
        return None
    by = names[node.slots[nr]]
    return Stated(
        op.taught,
        f"{op.formula or op.name}: {by} gets {inline(found).written}",
        rf"\bar{{{symbol(by)}}} = {_in_latex(found)}",
    )


def _in_latex(tree: Tree) -> str:
    return inline(tree, LATEX).written
