"""Formulas of Excel, Mathematica, R and MATLAB, rewritten in the language.

A mark says whose formula a text is: an equals sign before it, `[ ]` behind a name in
capitals, `%*%` or `<-`, a point before an operator or a prime behind a matrix. Its
operators bind as they do there, and its functions are those of the foreign table.

Invariant: what is not known of a program's formulas is refused, never guessed.

    rewritten_from("Excel", "=-x^2 + LOG(x)", {})     # "(-x)^2 + log10(x)"
    rewritten_from("R", "2*5 %% 3", {})               # "2*(5 % 3)"
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from .errors import ProgramError, Span
from .excerpt import shortened
from .foreign import Meaning, meanings, paths, refusal
from .notation import (
    ATOM,
    CHOICE,
    COMPARISON,
    POWER,
    PRODUCT,
    SIGN,
    SUM,
    NotationPiece,
    NotationToken,
    call,
    joined,
    multiplied,
    negative,
    raised,
    rank_of,
    transposed,
)

OR, AND, NOT, COMPARE, ADD, TIMES, SPECIAL, UNARY, RAISE, PERCENT, TIGHT = range(11)
"""Precedences in the programs, of what binds least tightly first."""


class Grammar(NamedTuple):
    """How a program writes its formulas.

    infix    operators between operands: how tightly each binds, and what it is here
    unary    how tightly a sign binds to its operand
    rightmost  whether powers of powers begin on the right
    calls, lists  brackets of arguments and of lists
    separators  signs between arguments
    names, comment, assigns  patterns of names and comments; signs that assign
    beside   whether factors stand side by side
    """

    infix: Mapping[str, tuple[int, str]]
    unary: int = UNARY
    rightmost: bool = True
    calls: str = "()"
    lists: str = "  "
    separators: str = ","
    names: str = r"[^\W\d_][\w.]*"
    comment: str = r"(?!)"
    assigns: tuple[str, ...] = ()
    beside: bool = False


_SUMS = {"+": (ADD, "+"), "-": (ADD, "-"), "*": (TIMES, "*"), "/": (TIMES, "/")}
_ORDER = {sign: (COMPARE, sign) for sign in ("<", ">", "<=", ">=")}
_EQUAL = {"==": (COMPARE, "=="), "!=": (COMPARE, "!=")}
_LOGIC = {"&&": (AND, "logical_and"), "||": (OR, "logical_or")}
_MASKS = {"&": (AND, "logical_and"), "|": (OR, "logical_or")}

GRAMMARS = {
    "Excel": Grammar(
        {**_SUMS, **_ORDER, "=": (COMPARE, "=="), "<>": (COMPARE, "!="),
         "^": (RAISE, "^")},
        unary=TIGHT, rightmost=False, separators=",;",
    ),
    "Mathematica": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, "^": (RAISE, "^"),
         ".": (SPECIAL, "@"), "\u00d7": (TIMES, "*")},
        calls="[]", lists="{}", names=r"[^\W\d_]\w*", assigns=("=",), beside=True,
        comment=r"\(\*(?:[^(*\n]|\((?!\*)|\*(?!\)))*+\*\)",
    ),
    "R": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, **_MASKS, "^": (RAISE, "^"),
         "%%": (SPECIAL, "%"), "%/%": (SPECIAL, "//"), "%*%": (SPECIAL, "@"),
         "%o%": (SPECIAL, "outer")},
        names=r"[^\W\d_][\w.]*", comment=r"#[^\n]*", assigns=("<-", "="),
    ),
    "MATLAB": Grammar(
        {"+": (ADD, "+"), "-": (ADD, "-"), ".*": (TIMES, "*"), "./": (TIMES, "/"),
         "*": (TIMES, "mtimes"), "/": (TIMES, "mrdivide"), "\\": (TIMES, "mldivide"),
         "^": (RAISE, "mpower"), ".^": (RAISE, "^"), **_ORDER, **_LOGIC, **_MASKS,
         "==": (COMPARE, "=="), "~=": (COMPARE, "!=")},
        rightmost=False, lists="[]", names=r"[^\W\d_]\w*", comment=r"%[^\n]*",
        assigns=("=",),
    ),
}  # fmt: skip
"""The programs whose formulas are read, by the titles of their sections."""

_WHOLE = frozenset({"@", "outer", "mtimes", "mrdivide", "mldivide", "mpower"})
"""Operators of whole vectors and matrices."""

_GUARDED = {"+": "plus", "-": "minus", "*": "times", "/": "rdivide", "^": "power"}
"""Functions of the section `programs`, which compute what an operator does if none of
the operands is a vector beside a matrix."""

_MIXED = r"@|solve|quantile|ends"
"""Pattern of formulas that may have a vector and a matrix among their operands."""

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\s*\(|\s*=[^=]|\.)")
"""Pattern of a name in a formula that is neither called nor a keyword."""


def rewritten_from(title: str, source: str, ranks: Mapping[str, int | None]) -> str:
    """Return a text of another program as one of the language.

    Raises:
        ProgramError: a part of it is not known.
    """
    try:
        return _DialectReader(title, source, dict(ranks)).statements()
    except RecursionError:
        message = f"this formula of {title} is nested too deeply"
        raise ProgramError("E404", message, None, source) from None


class _DialectReader:
    """The reader of one text."""

    def __init__(self, title: str, source: str, ranks: dict[str, int | None]) -> None:
        self.title, self.source, self.ranks = title, source, ranks
        self.grammar = GRAMMARS[title]
        self.prefix = next(p[0] for p, t in paths().items() if t == title)
        self.at = 0
        self.tokens = self._tokens()

    def _tokens(self) -> list[NotationToken]:
        grammar = self.grammar
        signs = {*grammar.infix, *grammar.assigns, *"()[]{},;%!~'\n=-+", ".'"}
        each = "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))
        pattern = re.compile(
            rf"(?P<blank>[ \t\r$]+|{grammar.comment})"
            r"|(?P<number>(?:\d+(?:\.(?![*/^\\'])\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
            rf"|(?P<name>{grammar.names})|(?P<sign>{each})"
        )
        found, at, spaced = [], 0, False
        text = self.source.rstrip().rstrip(";")
        if self.title == "Excel":
            text = text.replace("=", " ", 1)
        while at < len(text):
            token = pattern.match(text, at)
            if token is None:
                raise self._refused(Span(at, at + 1))
            kind, at = token.lastgroup or "", token.end()
            if kind != "blank":
                kind = token[0] if kind == "sign" else kind
                found.append(NotationToken(kind, token[0], token.start(), at, spaced))
            spaced = kind == "blank"
        # The token behind the next one is looked at, too.
        return [*found, *[NotationToken("end", "", at, at, spaced)] * 2]

    @property
    def token(self) -> NotationToken:
        return self.tokens[self.at]

    def take(self) -> NotationToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def take_if(self, *kinds: str) -> NotationToken | None:
        return self.take() if self.token.kind in kinds else None

    def _refused(
        self,
        at: Span | None = None,
        why: str = "is not read",
        hint: str = "write it in the language: sqrt(x), x^2, a/b, sum(x)",
    ) -> ProgramError:
        span = at or Span(self.token.start, self.token.end)
        shown = shortened(self.source[slice(*span)].strip() or "the end")
        message = f"{shown} {why} in a formula of {self.title}"
        return ProgramError("E201", message, span, self.source, hint=hint)

    def statements(self) -> str:
        made = []
        while self.token.kind != "end":
            if self.take_if("\n", ";"):
                continue
            head, after = self.token, self.tokens[self.at + 1]
            assigned = head.kind == "name" and after.kind in self.grammar.assigns
            if assigned:
                self.at += 2
            piece = self.read(OR)
            if self.token.kind not in ("end", "\n", ";"):
                raise self._refused()
            if assigned:
                self.ranks[head.text] = piece.rank
            made.append(f"{head.text} = {piece.text}" if assigned else piece.text)
        if not made:
            raise self._refused()
        return "; ".join(made)

    def read(self, floor: int) -> NotationPiece:
        """Return operands with the operators that bind as tightly as ``floor``."""
        left = self._prefixed(floor)
        while True:
            token, grammar = self.token, self.grammar
            power, sign = grammar.infix.get(token.kind, (-1, ""))
            begins = token.kind in ("number", "name", "(")
            if grammar.beside and begins:
                power, sign = TIMES, "*"
            elif token.kind == "%" and self.title == "Excel" and floor <= PERCENT:
                self.take()
                left = NotationPiece(f"{left.at(PRODUCT)}/100", PRODUCT, left.rank)
                continue
            elif token.kind in ("'", ".'") and floor <= RAISE:
                self.take()
                turned = left.rank is None
                left = transposed(left)
                left = NotationPiece(f"{left.at(ATOM)}.T") if turned else left
                continue
            elif token.kind == "!" and self.title == "Mathematica":
                self.take()
                if self.token.kind == "!":
                    raise self._refused(hint="write Factorial2[n]")
                left = NotationPiece(f"factorial({left.text})", ATOM, left.rank)
                continue
            if power < floor:
                return left
            if not (grammar.beside and begins):
                self.take()
            right = self.read(power + (power != RAISE or not grammar.rightmost))
            left = self._joined(left, sign, right, token)

    def _prefixed(self, floor: int) -> NotationPiece:
        if self.take_if("-"):
            return negative(self.read(max(self.grammar.unary, floor)))
        if self.take_if("+"):
            return self.read(max(self.grammar.unary, floor))
        if self.title != "Excel" and self.take_if("!", "~"):
            return NotationPiece(f"logical_not({self.read(NOT).text})")
        return self._operand()

    def _joined(
        self, left: NotationPiece, sign: str, right: NotationPiece, token: NotationToken
    ) -> NotationPiece:
        if sign in _WHOLE:
            return self._multiplied(left, sign, right, token)
        self._paired([left, right], Span(token.start, token.end))
        if sign in _GUARDED and self._is_unsure(left, right):
            name = _GUARDED[sign]
            return NotationPiece(f"programs.{name}({left.text}, {right.text})")
        made = self._each(left, sign, right, token)
        return made._replace(row=left.row or right.row)

    def _is_unsure(self, left: NotationPiece, right: NotationPiece) -> bool:
        """Return whether one operand may be a vector and the other one a matrix."""
        return None in (left.rank, right.rank) and 0 not in (left.rank, right.rank)

    def _paired(self, pieces: list[NotationPiece], at: Span) -> None:
        """Refuse a vector beside a matrix, and a row beside a column: they are paired
        from the first dimension on in the programs, and from the last one on here."""
        if len({2 if p.row else p.rank for p in pieces if p.rank}) > 1:
            why = "pairs vectors, rows and matrices in a way of its own"
            hint = "write it in the language: M*v.unsqueeze(1) pairs v with M's rows"
            raise self._refused(at, why, hint)

    def _each(
        self, left: NotationPiece, sign: str, right: NotationPiece, token: NotationToken
    ) -> NotationPiece:
        """Return what an operator makes of operands entry by entry."""
        if sign in ("+", "-"):
            return joined(left, f" {sign} ", right, SUM, PRODUCT)
        if sign in ("*", "/"):
            return joined(left, sign, right)
        if sign in ("%", "//"):
            return joined(left, f" {sign} ", right)
        if sign == "^":
            return raised(left, right)
        if sign.startswith("logical"):
            text = f"{sign}({left.text}, {right.text})"
            return NotationPiece(text, ATOM, rank_of(left, right))
        if COMPARISON in (left.level, right.level):
            raise self._refused(
                Span(token.start, token.end), "behind a comparison is not read"
            )
        text = f"{left.at(SUM)} {sign} {right.at(SUM)}"
        return NotationPiece(text, COMPARISON, rank_of(left, right))

    def _multiplied(
        self, left: NotationPiece, sign: str, right: NotationPiece, token: NotationToken
    ) -> NotationPiece:
        """Return what an operator makes of whole vectors and matrices."""
        ranks = left.rank, right.rank
        if sign == "mtimes" and 0 in ranks:
            return joined(left, "*", right)._replace(row=left.row or right.row)
        if sign == "mpower" and ranks == (0, 0):
            return raised(left, right)
        if sign == "@":
            rank = (left.rank or 0) + (right.rank or 0) - 2 if all(ranks) else None
            return NotationPiece(
                f"{left.at(PRODUCT)} @ {right.at(SIGN)}", PRODUCT, rank
            )
        if sign == "mtimes" and None not in ranks:
            if ranks == (1, 1) and left.row == right.row:
                at = Span(token.start, token.end)
                raise self._refused(at, "between two columns is not computed")
            return multiplied(left, right, "")
        if sign == "mrdivide" and right.rank == 0:
            return joined(left, "/", right)
        if sign == "mldivide" and left.rank == 0:
            return joined(right, "/", left)._replace(row=right.row)
        if sign == "mldivide" and left.rank == 2:
            return NotationPiece(f"solve({left.text}, {right.text})", ATOM, right.rank)
        if sign == "outer":
            return NotationPiece(f"outer({left.text}, {right.text})", ATOM, 2)
        if sign == "mpower" and left.rank == 2:
            return NotationPiece(f"matrix_power({left.text}, {right.text})", ATOM, 2)
        return NotationPiece(f"{self.prefix}.{sign}({left.text}, {right.text})")

    def _operand(self) -> NotationPiece:
        opens, closes = self.grammar.calls[0], self.grammar.calls[1]
        start = self.at
        token = self.take()
        if token.kind == "number":
            return NotationPiece(token.text, ATOM, 0)
        if token.kind == "(":
            piece = self.read(OR)
            self._closed(")")
            return piece
        if token.kind == self.grammar.lists[0] and token.kind.strip():
            items = self._items(self.grammar.lists[1])[0]
            rank = items[0].rank if items else None
            text = f"[{', '.join(item.text for item in items)}]"
            row = self.title == "MATLAB"
            if row and any(item.rank for item in items):
                at = Span(token.start, self.tokens[self.at - 1].end)
                raise self._refused(at, "joins vectors, which is not read")
            return NotationPiece(
                text, ATOM, None if rank is None else rank + 1, row=row
            )
        if token.kind != "name":
            self.at = start
            raise self._refused()
        if self.token.kind == opens and not self.token.spaced:
            self.take()
            items, named = self._items(closes)
            return self._called(token, items, named)
        if self.token.kind in ("[", "(", "!") and not self.grammar.beside:
            raise self._refused()
        known = [token.text, token.text.lower(), token.text.upper()]
        known = known if self.title == "Excel" else known[:1]
        own = next((name for name in known if name in self.ranks), None)
        if own is not None:
            return NotationPiece(own, ATOM, self.ranks[own])
        for name in known:
            for meaning in meanings(self.title, name):
                if meaning.constant:
                    level = ATOM if meaning.text.isidentifier() else CHOICE
                    return NotationPiece(meaning.text, level, 0)
        return NotationPiece(token.text, ATOM, 0)

    def _closed(self, closing: str) -> None:
        if self.take_if(closing) is None:
            raise self._refused()

    def _items(
        self, closing: str
    ) -> tuple[list[NotationPiece], dict[str, NotationPiece]]:
        """Return what stands in brackets, with what is given by name."""
        items: list[NotationPiece] = []
        named: dict[str, NotationPiece] = {}
        used = set()
        while not self.take_if(closing):
            while self.take_if("\n"):
                pass
            after = self.tokens[self.at + 1].kind
            if self.title == "R" and self.token.kind == "name" and after == "=":
                name = self.take().text
                self.take()
                named[name] = self.read(OR)
            else:
                items.append(self.read(OR))
            while self.take_if("\n"):
                pass
            if self.token.kind != closing:
                sign = self.take_if(*self.grammar.separators)
                used.add(sign.kind if sign else "")
                if sign is None or len(used) > 1:
                    self.at -= sign is not None
                    raise self._refused()
        return items, named

    def _called(
        self,
        token: NotationToken,
        items: list[NotationPiece],
        named: dict[str, NotationPiece],
    ) -> NotationPiece:
        """Return the call of a function of the program in the language."""
        name = token.text.upper() if self.title == "Excel" else token.text
        texts = [item.text for item in items]
        for meaning in meanings(self.title, name):
            fit = meaning.fitted(items, named, texts)
            if fit is None:
                continue
            given, rest = fit
            if not meaning.rest and not re.search(_MIXED, meaning.text):
                self._paired([*given.values()], Span(token.start, token.end))
            if meaning.own:
                made = call(meaning.own, [*given.values()])
                row = made.rank == 1 and any(each.row for each in items)
                return made._replace(row=row)
            return self._in_place(name, meaning, given, rest, texts)
        message, hint = refusal(self.title, name, name)
        at = Span(token.start, token.end)
        raise ProgramError("E108", message, at, self.source, hint=hint)

    def _in_place(
        self,
        name: str,
        meaning: Meaning,
        given: dict[str, NotationPiece],
        rest: list[NotationPiece],
        texts: list[str],
    ) -> NotationPiece:
        """Return a formula of the table with its parameters replaced; the call itself
        where a longer one would stand twice."""
        pieces = {
            n: NotationPiece(text) for n, text in meaning.defaults.items()
        } | given
        if meaning.rest:
            turn = ".T" if meaning.text == meaning.rest else ""
            flat = [
                r.text if r.rank == 1
                else f"flatten({r.at(ATOM)}{turn if r.rank != 0 else ''})"
                for r in rest
            ]  # fmt: skip
            listed = (
                f"[{', '.join(flat if meaning.joined else [r.text for r in rest])}]"
            )
            flat = [f"cat({listed})"] if len(flat) > 1 else flat
            pieces[meaning.rest] = NotationPiece(
                flat[0] if meaning.joined and flat else listed
            )
        reduced = meaning.joined and meaning.text != meaning.rest
        reduced |= meaning.text.endswith(".numel()")
        each = meaning.is_entrywise
        rank = None
        if reduced or not (given or rest):
            rank = 0
        elif each:
            rank = rank_of(*given.values())
        row = each and any(piece.row for piece in given.values())
        words = _WORD.findall(meaning.text)
        often = any(
            words.count(n) > (3 if re.fullmatch(r"[\w.]+", piece.text) else 1)
            for n, piece in pieces.items()
        )
        dotted = any(f"{n}." in meaning.text for n in pieces)
        if dotted or meaning.conditions or often:
            inner = [*texts, *(f"{n}={p.text}" for n, p in given.items() if n not in
                              meaning.parameters[: len(texts)])]  # fmt: skip
            text = f"{self.prefix}.{name}({', '.join(inner)})"
            return NotationPiece(text, ATOM, rank, row)
        put = lambda found: self._put(pieces.get(found[0]), found)
        text = _WORD.sub(put, meaning.text)
        whole = re.fullmatch(r"[\w.]+\([^()]*(?:\([^()]*\)[^()]*)*\)|\w+", text)
        return NotationPiece(text, ATOM if whole else CHOICE, rank, row)

    def _put(self, piece: NotationPiece | None, found: re.Match[str]) -> str:
        if piece is None:
            return found[0]
        text = found.string
        alone = (
            text[: found.start()][-1:] in ("(", "")
            or text[: found.start()][-2:] == ", "
        )
        alone = alone and text[found.end() :][:1] in (")", ",", "")
        return (
            piece.text if alone else piece.at(POWER if piece.level == POWER else ATOM)
        )
