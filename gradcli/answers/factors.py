"""Local gradients, and their product along a path, as formulas in the program's names.

Invariant: a formula, evaluated with the values at the end of the program, gives the
local gradient. So a value is written as a name that meant no other value, or as the
text that computed it, if that ran once and reads only such names; else not at all.

    Factors(names, view).product([(node, 0), ...])      # "-1 * w3 * w1"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from ..engine import Node, Port
from ..engine.node import ConstantNode
from ..engine.raw import Raw
from ..formulas.texts import Nameless, Text, lift, partial_text
from ..ops.spellings import ATOM, PRODUCT, SIGN, UNKNOWN
from .graph_view import GraphView, NameCollector

MAX_FORMULA_CHARACTERS = 120
"""Largest length of a formula that is shown, in characters."""

MAX_EXACT_INTEGER = 1e15
"""Largest integer that is written without a decimal point."""

_NAMELESS = Nameless()
_WORD = re.compile(r"[^\W\d]\w*")
SIMPLE_CALL = re.compile(r"[\w.]+(\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))?")
"""Pattern of a text that needs no brackets wherever it stands."""


class FactorWriter:
    """A writer of the local gradients of one recorded graph as formulas."""

    def __init__(self, names: NameCollector, view: GraphView) -> None:
        self._names = names
        self._texts = _value_texts(names, view)
        self._found: dict[tuple[int, int], Text | None] = {}

    def product(
        self, steps: Iterable[tuple[Node, int]], start: str | float = 1
    ) -> str | None:
        """Return the product of local gradients, of nodes with the number of the edge,
        and of a ``start``, a number or a name, equal factors joined to a power; None if
        a factor has no formula or the product is too long."""
        number = 1.0
        factors: dict[str, tuple[Text, int]] = {}
        if isinstance(start, str):
            factors[start] = Text(start), 1
        else:
            number = float(start)
        length = 0
        for node, edge in steps:
            local = self.local(node, edge)
            if local is None:
                return None
            value = _number(local)
            if value is not None:
                number *= value
                continue
            known, times = factors.get(local.written, (local, 0))
            factors[local.written] = known, times + 1
            length += 0 if times else len(local.written)
            if length > MAX_FORMULA_CHARACTERS:
                return None
        return _joined(number, list(factors.values()))

    def local(self, node: Node, edge: int) -> Text | None:
        """Return a local gradient's formula; None where there is none."""
        key = id(node), edge
        if key not in self._found:
            self._found[key] = self._spelled(node, edge)
        return self._found[key]

    def _spelled(self, node: Node, edge: int) -> Text | None:
        op = node.row()
        partials = None if op is None else op.partials
        if partials is None or node.shapes is not None:
            return None
        partial = partials[node.slots[edge]]
        if isinstance(node, ConstantNode) or not callable(partial):
            return partial_text(partial, _NAMELESS, (), {})
        edges = dict(zip(node.slots, node.edges, strict=True))
        inputs = [
            self._input(edges.get(slot), raw)
            for slot, raw in enumerate(node.raw_inputs())
        ]
        return partial_text(partial, self._value(node), inputs, node.params)

    def _input(self, edge: object, raw: Raw) -> Raw | Text:
        if not hasattr(raw, "dtype"):
            return raw
        if edge is not None:
            return self._value(edge)
        name = self._names.of_constant(raw)
        if name is not None and self._names.sole(name):
            return Text(name)
        return lift(float(raw)) if raw.shape == () else _NAMELESS

    def _value(self, edge: object) -> Text:
        """Return the text of the value that an edge leads to, or a nameless one."""
        name = self._names.of(edge)
        if name is not None and self._names.sole(name):
            return Text(name)
        if isinstance(edge, Port):
            return _NAMELESS
        return self._texts.get(id(edge), _NAMELESS)


def _value_texts(names: NameCollector, view: GraphView) -> dict[int, Text]:
    """Return the texts that may stand for the values of nodes, by a node's address.

    A text is left out if several nodes share it: it is then a call made of several
    operations, or ran more than once.
    """
    ran = Counter(node.span for node in view.nodes)
    texts = {}
    for node in view.nodes:
        text = node.source
        if text is None or ran[node.span] > 1 or len(text) > MAX_FORMULA_CHARACTERS:
            continue
        if all(map(names.sole, _WORD.findall(text))):
            rank = ATOM if SIMPLE_CALL.fullmatch(text) else UNKNOWN
            texts[node.address] = Text(text, rank)
    return texts


def _number(text: Text) -> float | None:
    try:
        return float(text.written)
    except ValueError:
        return None


def _joined(number: float, factors: list[tuple[Text, int]]) -> str | None:
    parts: list[str] = []
    if number != 1 or not factors:
        integer = number.is_integer() and abs(number) < MAX_EXACT_INTEGER
        parts.append(repr(int(number) if integer else number))
    for text, times in factors:
        tight = SIGN if parts else PRODUCT
        one = text.within(tight)
        parts.append(one if times == 1 else f"{text.within(ATOM)}**{times}")
    formula = " * ".join(parts)
    return formula if len(formula) <= MAX_FORMULA_CHARACTERS else None
