r"""Rules of nodes: the formula by which a gradient goes on along an edge, in the
program's names or as textbooks state it.

Invariants: the formula is the row's own, run on names, and nothing is written down
twice: it is the gradient that goes on, made from the cotangent ``g``, which an
elementwise node multiplies by its partial derivative. A value is called by its name in
the program, else by its text there, else by a letter of the row that is no name of the
program. In a textbook's rule, in the row's letters, a product of equal factors is a
square, a quotient of a quotient is one, and numbers such as log(2) have their names.

    Rules(names, view)(node, 0)     # "g * w3", or for a product of matrices "g @ b.T"
    stated(node, 0)                 # Stated("", "d tanh(x)/dx = 1 - tanh(x)**2", ...)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from math import log, pi, sqrt
from string import ascii_lowercase
from typing import Any, Final

import numpy as np

from ..engine import Node, Tensor
from ..engine.devices import host
from ..engine.node import ConstantNode, Shaped
from ..engine.walk import inputs_first
from ..formulas.latex import LatexDialect, symbol, verbatim
from ..formulas.namespace import TreeNamespace
from ..formulas.programs import inline, reachable
from ..formulas.texts import Text, lift, partial_text
from ..formulas.tree import NUMBER, TooLong, Tree, Unwritable
from ..ops import FUNCTIONS, Op, parameters
from ..ops.spellings import ATOM, PRODUCT, UNKNOWN
from .factors import SIMPLE_CALL, FactorWriter
from .graph_view import GraphView, NameCollector, NodeView
from .line import Line, dim

COTANGENT: Final = "g"
RESULT: Final = "y"

MAX_RULE_ENTRIES: Final = 4096
"""Largest number of entries of an input for which a rule is run on names."""

CANNOT_SAY: Final = (Unwritable, TooLong, AttributeError, ValueError, TypeError)
"""Errors that are raised where a rule, or a part of it, cannot be written."""

CUT: Final = "…"
"""Sign that stands for a part that is too long."""

MAX_RULE_CHARACTERS: Final = 80
"""Largest length of a formula that is shown, in characters."""

MAX_OPERANDS: Final = 6
"""Largest number of inputs of a node whose rule is run on names."""

MAX_TEXT: Final = 24
"""Largest length of a text that stands for a value without a name, in characters."""

INSIDE: Final = 0.7
"""Place where a row is evaluated, as a fraction of its domain from the lower end."""

KNOWN: Final = {
    repr(log(2)): ("log(2)", r"\log(2)"),
    repr(log(10)): ("log(10)", r"\log(10)"),
    repr(pi): ("pi", r"\pi"),
    repr(sqrt(2)): ("sqrt(2)", r"\sqrt{2}"),
    repr(sqrt(2 * pi)): ("sqrt(2*pi)", r"\sqrt{2 \pi}"),
    repr(2 / sqrt(pi)): ("(2 / sqrt(pi))", r"\frac{2}{\sqrt{\pi}}"),
}
"""Names of numbers as text and as LaTeX, by the numbers' digits."""

_LATEX: Final = LatexDialect()

_WORD: Final = re.compile(r"[^\W\d]\w*")
_QUOTED: Final = re.compile("'[^']*'")
_LETTER: Final = re.compile(r"(?<![\w.])(?:[a-z]|grad|result|operand\d)(?![\w(=])")
_DIGITS: Final = re.compile(r"(?<![\w.])\d\.\d{10,}(?![\w.])")


class Rules:
    """A writer of the rules of one graph's nodes in words.

    taken  the words of the program, which rules do not use as letters
    """

    def __init__(self, names: NameCollector, view: GraphView) -> None:
        self._names = names
        self._factors = FactorWriter(names, view)
        self._nodes = {node.address: node for node in view.nodes}
        self.taken = taken(view.program, view.nodes) | names.known()
        self._found: dict[object, str | None] = {}

    def __call__(self, node: Node, nr: int) -> str | None:
        op = node.row()
        if op is None:
            return None
        if op.partials is None:
            return self._pulled(node, nr)
        local = self._factors.local(node, nr)
        if local is None or len(local.written) > MAX_TEXT:
            other = self._partial(node, nr)
            if local is None or (other is not None and _shorter(other, local)):
                local = other
        if local is None:
            return None
        return multiplied(self._free(COTANGENT, "grad"), local)

    def _partial(self, node: Node, nr: int) -> Text | None:
        """Return the partial derivative in the program's names, or in the row's
        letters; a number that has no name and needs no gradient is itself."""
        assert node.op.partials is not None
        texts: list[object] = []
        raw = () if isinstance(node, ConstantNode) else node.raw_inputs()
        for slot, each in enumerate(raw):
            bare = _edge(node, slot) is None and self._names.of_constant(each) is None
            if _shape(each) is None:
                texts.append(each)
            elif _shape(each) == () and bare:
                texts.append(lift(float(each)))
            else:
                texts.append(self._called(node, slot, each))
        partial = node.op.partials[node.slots[nr]]
        return partial_text(partial, self._result(node), texts, node.params)

    def _pulled(self, node: Node, nr: int) -> str | None:
        if isinstance(node, ConstantNode):
            return None
        raw = node.raw_inputs()
        if len(raw) > MAX_OPERANDS:
            return None
        slots = range(len(raw))
        called = [self._called(node, n, raw[n]).within(ATOM) for n in slots]
        result = self._result(node).written
        cotangent = self._free(COTANGENT, "grad")
        if len({*called, cotangent, result}) < len(called) + 2:
            called = [self._letter(node.op, slot) for slot in slots]
            result = self._free(RESULT, "result")
        known = tuple(called), cotangent, result
        key = (*_kind(node, nr), known)
        if key not in self._found:
            found = CUT
            with suppress(*CANNOT_SAY):
                tree = _tree(node, nr, *known)
                found = CUT if tree is None else inline(tree, cut=CUT).written
            short = CUT not in found and len(found) <= MAX_RULE_CHARACTERS
            self._found[key] = found if short else None
        return self._found[key]

    def _result(self, node: Node) -> Text:
        """Return the name of a node's result."""
        return Text(self._names.of(node) or self._free(RESULT, "result"))

    def _called(self, node: Node, slot: int, raw: object) -> Text:
        """Return the name of a node's input, or its text, or the row's letter."""
        edge = _edge(node, slot)
        name = self._names.of(edge) or self._names.of_constant(raw)
        if name is not None:
            return Text(name)
        own, made = self._nodes[id(node)], self._nodes.get(id(edge))
        text = None if made is None or made.span == own.span else made.source
        if text is not None and len(text) <= MAX_TEXT and text.isprintable():
            return Text(text, ATOM if SIMPLE_CALL.fullmatch(text) else UNKNOWN)
        return Text(self._letter(node.op, slot))

    def _letter(self, op: Op, slot: int) -> str:
        """Return the row's letter for an input, or a numbered name if the letter is
        taken."""
        return self._free(_letters(op, slot + 1)[slot], f"operand{slot + 1}")

    def _free(self, word: str, other: str) -> str:
        return other if word in self.taken else word


def _shorter(other: Text, local: Text) -> bool:
    """Return whether a text is shorter, and has no operand without a name."""
    named = "operand" not in other.written
    return named and len(other.written) < len(local.written)


def multiplied(name: str, local: Text) -> str:
    """Return the product of a name and a local derivative: ``-g * w``, ``g / x``."""
    text, sign = local.written, ""
    if local.rank >= PRODUCT and text.startswith("-"):
        text, sign = text[1:], "-"
    if local.rank >= PRODUCT and text.startswith("1 / "):
        return f"{sign}{name}{text[1:]}"
    if text in ("1", "1.0"):
        return f"{sign}{name}"
    if text.replace(".", "", 1).isdecimal():
        return f"{sign}{text} * {name}"
    return f"{sign}{name} * {text if sign else local.within(PRODUCT)}"


def _edge(node: Node, slot: int) -> object:
    """Return the edge of an input; None if it needs no gradient."""
    slots = range(len(node.edges)) if node.op.variadic else node.slots
    return dict(zip(slots, node.edges, strict=True)).get(slot)


def _letters(op: Op, count: int) -> tuple[str, ...]:
    """Return a row's names for its first inputs; letters if it takes any number."""
    if not op.variadic:
        return tuple(parameters(op)[:count])
    return tuple(ascii_lowercase[:count])


def taken(program: str, nodes: Iterable[NodeView]) -> frozenset[str]:
    """Return a program's words and its nodes' names, which rules may not use as
    letters."""
    called = {name or "" for node in nodes for name in (node.variable, node.output)}
    return frozenset(called.union(_WORD.findall(program)))


def letters(rules: Iterable[str], known: frozenset[str]) -> dict[str, str]:
    """Return the meaning of the letters in the rules, by letter; known names are left
    out."""
    plain = (_QUOTED.sub("", rule) for rule in rules)
    found = {word for rule in plain for word in _LETTER.findall(rule)} - known
    arrives, made = "the incoming gradient", "the node's result"
    meant = {COTANGENT: arrives, "grad": arrives, RESULT: made, "result": made}
    told = {letter: meant[letter] for letter in meant if letter in found}
    others = sorted(found - set(meant))
    if others:
        told[", ".join(others)] = "input" + "s" * (len(others) > 1) + " of the node"
    return told


def meanings(rules: Iterable[str], known: frozenset[str]) -> str:
    """Return the letters in the rules with their meanings: ``g: the incoming …``."""
    found = letters(rules, known).items()
    return " · ".join(f"{letter}: {meant}" for letter, meant in found)


def _shape(raw: object) -> Any:
    return getattr(raw, "shape", None)


def _kind(node: Node, nr: int) -> tuple[object, ...]:
    """Return a key that is equal for nodes with the same rule along an edge."""
    shapes = () if node.op.elementwise else tuple(map(_shape, node.raw_inputs()))
    return node.op.name, nr, repr(node.params), shapes


def _tree(
    node: Node,
    nr: int,
    called: tuple[str, ...],
    cotangent: str = COTANGENT,
    result: str = RESULT,
) -> Tree | None:
    """Return the cotangent that goes along an edge of a node that is not elementwise,
    as its rule makes it from the names of the inputs, of the cotangent and of the
    result; None where the node has several outputs or the inputs are too large. The
    node's saved values decide shapes and indices, but no number of the result. Raise
    one of `CANNOT_SAY` where the rule cannot be written."""
    op, raw = node.op, node.raw_inputs()
    # Some rows have a cotangent among their inputs.
    cotangent = "grad" if cotangent in called else cotangent
    if op.returns != 1 or op.vjp is None or len(raw) > MAX_OPERANDS:
        return None
    shapes = [_shape(each) for each in raw if _shape(each) is not None]
    if any(np.prod(shape) > MAX_RULE_ENTRIES for shape in shapes):
        return None
    rules: Any = op.vjp
    y = node.restored()[1]
    xp = TreeNamespace(words=True)
    with np.errstate(all="ignore"):
        inputs = [
            each if _shape(each) is None else xp.named(name, _numbers(each))
            for name, each in zip(called, raw, strict=True)
        ]
        made = op.fwd(xp, *inputs, **node.params).value if y is None else y
        own = xp.named(result, _numbers(made))
        given = (xp, xp.named(cotangent, np.ones(own.shape)), own, *inputs)
        if op.variadic:
            return _short(tuple(rules(*given, **node.params))[nr])
        return _short(rules[node.slots[nr]](*given, **node.params))


def _short(tree: Tree) -> Tree:
    """Return a rule as people write it: without a last expansion to the input's shape,
    and ``outer(g, v)`` for the product of a column and a row."""
    if tree.head == "expand":
        inner: Tree = tree.args[0]
        return inner
    if tree.head == "mul" and all(isinstance(each, Tree) for each in tree.args):
        column, row = tree.args
        if column.head == "unsqueeze" and column.args[1:] == (1,) and row.ndim == 1:
            return tree.xp.build("outer", (column.args[0], row), {}, tree.value)
    return tree


def _numbers(raw: object) -> Any:
    """Return an array on the host; ones where only the shape is known."""
    if isinstance(raw, Shaped):
        return np.ones(raw.shape)
    return np.asarray(host(raw))


@dataclass(frozen=True, slots=True)
class Stated:
    """A rule as text and as LaTeX; ``name`` is what textbooks call it, or empty.

    In rules of operations that are not elementwise, ``g`` is the cotangent of ``y``.
    """

    name: str
    text: str
    latex: str

    @property
    def named(self) -> str:
        """Return the text behind its name, if it has one."""
        return f"{self.name}: {self.text}" if self.name else self.text


def stated(node: Node, nr: int) -> Stated | None:
    """Return the rule by which a node's gradient goes on along one of its edges; None
    where it cannot be written."""
    try:
        with np.errstate(all="ignore"):
            return _in_books(node, nr)
    except (*CANNOT_SAY, KeyError):
        return None


WordedRule = Callable[[NodeView, int], str | None]
"""Function that gives the rule along an edge of a view's node, in the program's
names."""

StatedRules = Mapping[tuple[int, int], Stated | None]
"""Rules as textbooks state them, by the node's id and the number of its edge."""


class RuleRecorder:
    """A function that gives the rules of a view's edges, and records those that were
    asked for, so that a legend can explain their letters, except the ``known`` ones."""

    def __init__(self, rule: WordedRule, known: Callable[[], frozenset[str]]) -> None:
        self._rule = rule
        self._known = known
        self._shown: set[str] = set()

    def __call__(self, node: NodeView, nr: int) -> str | None:
        """Return the rule along an edge of a node; None if it cannot be written."""
        found = self._rule(node, nr)
        if found is not None:
            self._shown.add(found)
        return found

    def legend(self) -> Iterator[Line]:
        """Yield a line with the meanings of the letters, if there are any."""
        if self._shown:
            text = meanings(self._shown, self._known())
            yield from [dim(text)] * bool(text)


def worded_rules(output: Tensor, names: NameCollector, view: GraphView) -> RuleRecorder:
    """Return the rules along the edges below an output. Nothing is read before the
    first one is asked for, because most graphs of numbers need none."""

    @cache
    def begun() -> tuple[Rules, dict[int, Any]]:
        below = inputs_first([output.edge])
        return Rules(names, view), {id(edge): edge for edge in below}

    def rule(node: NodeView, nr: int) -> str | None:
        rules, nodes = begun()
        return rules(nodes[node.address], nr)

    return RuleRecorder(rule, lambda: begun()[0].taken)


def rules_of(output: Tensor, view: GraphView) -> StatedRules:
    """Return the rules of all edges below an output, by node and number of the edge,
    except those of people's own functions."""
    found: dict[tuple[int, int], Stated | None] = {}
    known: dict[object, Stated | None] = {}
    nodes = {id(e): e for e in inputs_first([output.edge])}
    for each in view.nodes:
        node = nodes[each.address]
        for nr, (child, _) in enumerate(each.next_functions):
            if child is None or node.row() is None:
                continue
            key = _kind(node, nr)
            if key not in known:
                known[key] = stated(node, nr)
            found[each.id, nr] = known[key]
    return found


def _in_books(node: Node, nr: int) -> Stated | None:
    op = node.op
    if op.elementwise:
        by, y, made = _partial_in_books(node, nr)
        value, called = _in_words(y), _in_latex(y)
        of = f"({value})" if " " in value else f" {value}"
        text = f"d{of}/d{by} = {_in_words(made)}"
        before = rf"\frac{{\partial}}{{\partial {symbol(by)}}} \left({called}\right)"
    else:
        names = _letters(op, len(node.raw_inputs()))
        found = _tree(node, nr, names)
        if found is None:
            return None
        by, made = names[nr if op.variadic else node.slots[nr]], found
        text = f"{op.formula or op.name}: {by} gets {_in_words(made)}"
        before = rf"\bar{{{symbol(by)}}}"
    if CUT in _in_words(made):
        return None
    return Stated(op.taught, text, f"{before} = {_in_latex(made)}")


def _partial_in_books(node: Node, nr: int) -> tuple[str, Tree, Tree]:
    """Return the letter of the input at an edge, the value as a tree, and the partial
    derivative."""
    op, slot = node.op, node.slots[nr]
    assert op.partials is not None
    names = parameters(op)[: len(op.partials)]
    xp, case = TreeNamespace(words=True), op.cases[0]
    inside = float(case.low + INSIDE * (case.high - case.low))
    operands = [xp.named(name, inside) for name in names]
    given = {k: v for k, v in node.params.items() if isinstance(v, int | float | str)}
    y = op.fwd(xp, *operands, **given)
    if "where(" in inline(y).written and op.base in FUNCTIONS:
        # A function that chooses among cases is easier to read by its name.
        y = getattr(xp, op.base)(*operands, **given)
    partial = op.partials[slot]
    found = partial(xp, y, *operands, **given) if callable(partial) else partial
    made = found if isinstance(found, Tree) else xp.number(found)
    known: dict[int, Tree] = {}
    for part in reachable([made]):
        args = [known[e.serial] if isinstance(e, Tree) else e for e in part.args]
        known[part.serial] = _put(part, args, xp)
    return names[slot], y, known[made.serial]


def _put(tree: Tree, args: list[Any], xp: TreeNamespace) -> Tree:
    """Return a tree of these operands, with squares for products, and one quotient for
    two."""
    if tree.head == "mul" and not tree.params:
        a, b = args
        return _times(a, b, xp)
    if tree.head == "div" and not tree.params and args[0].head == "div":
        over, under = args[0].args
        return xp.build("div", (over, _times(under, args[1], xp)), {}, tree.value)
    if any(new is not old for new, old in zip(args, tree.args, strict=True)):
        return xp.build(tree.head, tuple(args), tree.params, tree.value)
    return tree


def _times(a: Tree, b: Tree, xp: TreeNamespace) -> Tree:
    """Return a product, or a power if the factors are equal."""
    base, power = a, 1
    if a.head == "pow" and a.args[1].head == NUMBER:
        base, power = a.args[0], a.args[1].args[0]
    if base is b and b.head != NUMBER:
        return xp.build("pow", (b, xp.number(power + 1)), {}, a.value * b.value)
    return xp.build("mul", (a, b), {}, a.value * b.value)


def _in_words(tree: Tree) -> str:
    return _named_numbers(inline(tree, cut=CUT).written, 0)


def _in_latex(tree: Tree) -> str:
    """Return the tree as LaTeX; one that is too long as its plain text."""
    found = inline(tree, _LATEX, CUT).written
    if CUT in found:
        return verbatim(_in_words(tree))
    return _named_numbers(found, 1)


def _named_numbers(text: str, column: int) -> str:
    return _DIGITS.sub(lambda m: KNOWN.get(m[0], (m[0], m[0]))[column], text)
