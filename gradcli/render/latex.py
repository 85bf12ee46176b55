"""An expression of the language as LaTeX; functions as their rows in the table say.

Invariant: the reading is unambiguous: what binds more loosely than its place asks for
is bracketed, and a function's argument without brackets is one symbol, with nothing
multiplied behind it.

    latex("-a*w3*sin(x[0])**2/2", Symbols(["a", "w3", "x"]))
    # r"-\\frac{a w_{3} \\sin^{2} x_{0}}{2}"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from string import Formatter
from typing import Any, Final

from ..lang.parser import parse
from ..lang.syntax import Binary, Call, Expression, Index, Literal, Name, Unary, walk
from ..lang.syntax import Sequence as Several
from ..lang.trampoline import Steps, bounce
from ..ops import ALIASES, FUNCTIONS, Op, overloads, parameters
from .latex_names import Symbols, verbatim

SUM, PRODUCT, FUNCTION, POWER, ATOM = range(5)
"""How tightly a piece holds together."""

_PREFIX: Final = re.compile(r"(\\(?:operatorname\{\{\w+\}\}|[A-Za-z]+)(?:_\S+)?) \{0\}")
"""The template of a function that stands before its argument."""

_WORDS: Final = (r"\mathit", r"\mathtt", r"\text")
"""What a name of several letters begins with; side by side two would look like one."""

_OPENING: Final = "{(|,"
_CLOSING: Final = "})|,"


@dataclass(frozen=True, slots=True)
class Piece:
    """LaTeX of a part.

    closed   the same, fit to be followed by another factor
    head     of a function before its argument: the function
    behind   the argument, bracketed
    """

    text: str
    rank: int = ATOM
    closed: str | None = None
    head: str | None = None
    behind: str = ""

    def within(self, rank: int) -> str:
        return self.text if self.rank >= rank else bracketed(self.text)


def bracketed(text: str) -> str:
    return rf"\left({text}\right)"


def names_in(formula: str) -> list[str]:
    """The names that a formula reads."""
    return [n.name for n in walk(_expression(formula)) if isinstance(n, Name)]


def latex(formula: str, symbols: Symbols) -> str:
    """The LaTeX of a formula in the language's syntax."""
    piece: Piece = bounce(_Writer(symbols).of(_expression(formula)))
    return piece.text


def _expression(formula: str) -> Expression:
    (statement,) = parse(formula).body.statements
    value: Expression = statement.value  # type: ignore[attr-defined]
    return value


class _Writer:
    """Walks an expression without recursion."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def of(self, node: Any) -> Steps[Piece]:
        if isinstance(node, Literal):
            return _number(node.value)
        if isinstance(node, Name):
            return Piece(self.symbols[node.name])
        if isinstance(node, Index):
            return self._entry(node)
        piece: Piece = yield self._made(node)
        return piece

    def _made(self, node: Any) -> Steps[Piece]:
        """What is made of parts."""
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Binary) and node.operator == "**":
            return self._power(node)
        if isinstance(node, Binary) and node.operator in "*/":
            return self._product(node)
        if isinstance(node, Binary | Unary) and node.operator in "+-":
            return self._sum(node)
        raise TypeError(f"no formula has a {type(node).__name__}")

    def _entry(self, node: Index) -> Piece:
        assert isinstance(node.value, Name)
        keys = node.key.items if isinstance(node.key, Several) else (node.key,)
        index = ",".join(str(key.value) for key in keys if isinstance(key, Literal))
        return Piece(self.symbols.entry(node.value.name, index))

    def _sum(self, node: Any) -> Steps[Piece]:
        """The chain of sums and signs that leans to the left, its last term first."""
        terms: list[tuple[str, Any]] = []
        while isinstance(node, Binary) and node.operator in ("+", "-"):
            terms.append((node.operator, node.right))
            node = node.left
        terms.append(("+", node))
        texts: list[str] = []
        for sign, term in reversed(terms):
            negative, part = yield self._signed(term)
            minus = (sign == "-") != negative
            between = " - " if minus else " + "
            texts.append(between if texts else "-" if minus else "")
            texts.append(part.within(SUM + (minus or len(terms) > 1)))
        return Piece("".join(texts), SUM)

    def _signed(self, node: Any) -> Steps[tuple[bool, Piece]]:
        """A term without its sign, and whether that was a minus."""
        negative = False
        while isinstance(node, Unary) and node.operator in ("+", "-"):
            negative = negative != (node.operator == "-")
            node = node.operand
        piece = yield self.of(node)
        if piece.text.startswith("-"):
            return not negative, Piece(piece.text[1:], PRODUCT)
        return negative, piece

    def _product(self, node: Any) -> Steps[Piece]:
        """Factors and divisors as one fraction, its sign in front."""
        above: list[Any] = []
        below: list[Any] = []
        while isinstance(node, Binary) and node.operator in ("*", "/"):
            (above if node.operator == "*" else below).append(node.right)
            node = node.left
        above.append(node)
        negative = False
        parts: list[list[Piece]] = []
        for factors in (above, below):
            parts.append([])
            for factor in reversed(factors):
                minus, piece = yield self._factor(factor)
                negative = negative != minus
                parts[-1].append(piece)
        text, closed = _joined(parts[0]), _joined(parts[0], closed=True)
        if below:
            text = closed = rf"\frac{{{text}}}{{{_joined(parts[1])}}}"
        if negative:
            return Piece(f"-{text}", SUM)
        return Piece(text, PRODUCT, closed)

    def _factor(self, node: Any) -> Steps[tuple[bool, Piece]]:
        if isinstance(node, Unary):
            signed: tuple[bool, Piece] = yield self._signed(node)
            return signed
        piece: Piece = yield self.of(node)
        return False, piece

    def _power(self, node: Binary) -> Steps[Piece]:
        base = yield self.of(node.left)
        exponent = yield self.of(node.right)
        whole = isinstance(node.right, Literal) and isinstance(node.right.value, int)
        if base.head is not None and whole:
            head = f"{base.head}^{{{exponent.text}}}"
            bare = base.text.removeprefix(base.head)
            closed = head + base.behind
            return Piece(head + bare, FUNCTION, closed)
        return Piece(f"{base.within(ATOM)}^{{{exponent.text}}}", POWER)

    def _call(self, node: Call) -> Steps[Piece]:
        pieces = []
        for argument in node.arguments:
            pieces.append((yield self.of(argument)))
        name = ALIASES.get(node.function, node.function)
        op = _row(name, len(pieces))
        if op is None:
            inside = ", ".join(piece.text for piece in pieces)
            head = rf"\operatorname{{{name}}}" if name.isalpha() else verbatim(name)
            return Piece(head + bracketed(inside), FUNCTION)
        return _filled(op, pieces)


def _number(value: Any) -> Piece:
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    if e:
        text = rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
        return Piece(text, PRODUCT)
    return Piece(text, ATOM)


def _joined(factors: Sequence[Piece], closed: bool = False) -> str:
    """Factors side by side, a dot where a number follows; ``closed``: fit to be
    followed by more."""
    kept = [p for p in factors if p.text != "1"] or [Piece("1")]
    kept.sort(key=_place)
    if len(kept) == 1 and not closed:
        return kept[0].text
    texts = [p.closed or p.within(PRODUCT) for p in kept]
    if not closed:
        texts[-1] = kept[-1].within(PRODUCT)
    joined = texts[0]
    for before, text in pairwise(texts):
        loose = before.startswith(_WORDS) or text.startswith(_WORDS)
        between = r" \cdot " if text[0].isdigit() else r" \, " if loose else " "
        joined += between + text
    return joined


def _place(factor: Piece) -> int:
    """Numbers stand first, functions before their arguments last."""
    if factor.text[0].isdigit():
        return 0
    open_ended = factor.closed not in (None, factor.text)
    return 2 if open_ended or (factor.closed and factor.rank == FUNCTION) else 1


@cache
def _row(name: str, count: int) -> Op | None:
    """The row that says how a function of so many arguments is written."""
    if name not in FUNCTIONS:
        return None
    fitting = [
        op for op in overloads(name) if op.latex and len(parameters(op)) == count
    ]
    return fitting[0] if fitting else None


def _filled(op: Op, pieces: Sequence[Piece]) -> Piece:
    prefix = _PREFIX.fullmatch(op.latex)
    if prefix is not None:
        head = prefix[1].replace("{{", "{").replace("}}", "}")
        behind = bracketed(pieces[0].text)
        alone = f" {pieces[0].text}" if pieces[0].rank == ATOM else behind
        return Piece(head + alone, FUNCTION, head + behind, head, behind)
    return Piece(_inserted(op, pieces), _rank(op.latex))


def _inserted(op: Op, pieces: Sequence[Piece]) -> str:
    """The template with its arguments, by place or by their parameter's name."""
    own, public = parameters(op), parameters(FUNCTIONS[op.base])
    named = {n: p for n, p in zip(public, pieces, strict=False) if n in own}
    rest = iter([p for n, p in zip(public, pieces, strict=False) if n not in own])
    given = [named[n] if n in named else next(rest) for n in own]
    by_name = dict(zip(own, given, strict=True))
    parts = list(Formatter().parse(op.latex))
    text = ""
    for place, (literal, field, _, _) in enumerate(parts):
        text += literal
        if field is None:
            continue
        after = parts[place + 1][0] if place + 1 < len(parts) else ""
        piece = given[int(field)] if field.isdigit() else by_name[field]
        inside = text[-1:] in set(_OPENING) and after[:1] in set(_CLOSING)
        text += piece.text if inside else piece.within(ATOM)
    return text


def _rank(template: str) -> int:
    """A template with a sum outside brackets is one."""
    depth = 0
    for place, sign in enumerate(template):
        depth += (sign in "{(") - (sign in "})")
        if not depth and sign in "+-" and template[place - 1 : place] in ("", " "):
            return SUM
    return FUNCTION
