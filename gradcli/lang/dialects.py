"""Expressions of other programs and languages, rewritten in the language.

A mark says whose formula a text is: an equals sign before it, `[ ]` behind a name in
capitals, `%*%` or `<-`, a point before an operator or a prime behind a matrix. Its
operators bind as they do there, and its functions are those of the foreign table.

Invariant: what is not known of a program's formulas is refused, never guessed.

    DialectReader("Excel", "=-x^2 + LOG(x)", {}).expression()    # "(-x)^2 + log10(x)"
"""

import re
from abc import abstractmethod

from .errors import ProgramError, Span
from .excerpt import shortened
from .foreign import Meaning, meanings, paths, program_of, refusal
from .grammars import (
    FIRST,
    GRAMMARS,
    NOT,
    OR,
    PERCENT,
    RAISE,
    TIMES,
    UNARY,
)
from .guards import BRACED, TYPED, is_integer, next_return, variables_of
from .marks import language_of
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
    chosen,
    joined,
    letter_name,
    multiplied,
    negative,
    raised,
    rank_of,
    transposed,
)
from .suggest import greek
from .tensor_library import CONSTANTS

_WHOLE = frozenset({"@", "outer", "mtimes", "mrdivide", "mldivide", "mpower"})
"""Operators of whole vectors and matrices."""

_GUARDED = {"+": "plus", "-": "minus", "*": "times", "/": "rdivide", "^": "power"}
"""Functions of the sections `programs` and `rstats`, by the operator that they compute
if its operands go together."""

_MIXED = r"@|solve|quantile|ends"
"""Pattern of formulas that may have a vector and a matrix among their operands."""

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*(?!\s*\(|\s*=[^=]|\.)")
"""Pattern of a name in a formula that is neither called nor a keyword."""


class TwoWays(Exception):
    """A sign that means one thing in a program, and another one in mathematics.

    ways  how often it can be read: as it is there, and as in mathematics
    """

    def __init__(self, message: str, at: Span, ways: int) -> None:
        super().__init__(message)
        self.message, self.at, self.ways = message, at, ways


class DialectReader:
    """The reader of expressions; a subclass reads the statements around them.

    functions  names of functions that the text defines
    given      the numbers of dimensions of what these are called with
    known      the same, as an earlier reading has it
    integers   names of integers
    way        which of two readings of a sign is taken; None: it is refused
    """

    def __init__(self, title: str, source: str, ranks: dict[str, int | None]) -> None:
        self.title, self.source, self.ranks = title, source, ranks
        self.functions: set[str] = set()
        self.given: dict[str, list[int | None]] = {}
        self.known: dict[str, list[int | None]] = {}
        self.integers: set[str] = set()
        self.way: int | None = None
        self.listing = False
        self.grammar = GRAMMARS[title]
        self.prefix = next(p[0] for p, t in paths().items() if t == title)
        self.at = 0
        self.tokens = self._tokens()
        self.variables = set[str]()
        if title in BRACED:
            self.variables = variables_of(source, self.tokens)

    def _tokens(self) -> list[NotationToken]:
        grammar = self.grammar
        signs = {*grammar.infix, *grammar.assigns, *grammar.signs}
        signs |= {*"()[]{},;%!~'\n=-+", ".'"}
        signs |= {"++", "--"} if self.title in BRACED else set()
        behind = r"[.*/^\\']" if "./" in signs else r"\."
        each = "|".join(map(re.escape, sorted(signs, key=len, reverse=True)))
        pattern = re.compile(
            rf"(?P<blank>[ \t\r$]+|{grammar.comment})"
            rf"|(?P<number>(?:\d+(?:\.(?!{behind}|[A-Za-z]\w)\d*)?|\.\d+)"
            r"(?:(?:[eE]|\*\^)[+-]?\d+)?)"
            rf"(?P<suffix>{grammar.suffix or '(?!)'})?"
            rf"|(?P<name>{grammar.names})|(?P<sign>{each})"
        )
        found, at, spaced = [], 0, False
        text = self.source.rstrip().rstrip(";")
        if self.title == "Excel":
            text = text.replace("=", " ", 1)
        while at < len(text):
            token = pattern.match(text, at)
            if token is None:
                raise self.refused(Span(at, at + 1))
            kind, at = token.lastgroup or "", token.end()
            blank = kind == "blank" or (token[0] == "\n" and not grammar.lines)
            if not blank:
                word = token[0].rpartition("::")[2] if kind == "name" else token[0]
                if kind == "name" and word == "lambda":
                    word = "lam"  # as \lambda is read
                kind = word if kind == "sign" or word in grammar.infix else kind
                if token["number"]:
                    kind, word = "number", token["number"].replace("*^", "e")
                    floats = (token["suffix"] or "l")[-1] not in "lL"
                    word += ".0" if floats and word.isdecimal() else ""
                found.append(NotationToken(kind, word, token.start(), at, spaced))
            spaced = blank
        # The token behind the next one is looked at, too.
        return [*found, *[NotationToken("end", "", at, at, spaced)] * 2]

    def _demand_free(self, text: str, token: NotationToken) -> None:
        """Refuse a formula that uses a name which is a variable of the text."""
        taken = self.variables.intersection(re.findall(r"[^\W\d]\w*", text))
        if taken:
            name = min(taken)
            hint = f"give the variable {name} another name"
            at = Span(token.start, token.end)
            raise self.refused(at, f"beside a variable {name} is not read", hint)

    @abstractmethod
    def form(self, name: str) -> NotationPiece | None: ...

    @abstractmethod
    def matrix(self, opened: NotationToken) -> NotationPiece: ...

    @abstractmethod
    def cells(self, first: NotationToken) -> NotationPiece: ...

    @property
    def token(self) -> NotationToken:
        return self.tokens[self.at]

    def take(self) -> NotationToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def take_if(self, *kinds: str) -> NotationToken | None:
        return self.take() if self.token.kind in kinds else None

    def expect(self, *kinds: str) -> None:
        if self.take_if(*kinds) is None:
            raise self.refused()

    def refused(
        self,
        at: Span | None = None,
        why: str = "is not read",
        hint: str = "write it in the language: sqrt(x), x^2, a/b, sum(x)",
    ) -> ProgramError:
        span = at or Span(self.token.start, self.token.end)
        shown = shortened(self.source[slice(*span)].strip() or "the end")
        message = f"{shown} {why} in a formula of {self.title}"
        return ProgramError("E201", message, span, self.source, hint=hint)

    def _with_quote(self, left: NotationPiece, quote: NotationToken) -> NotationPiece:
        """Return a number that a quote follows, as it is or derived by its name.

        Raises:
            ProgramError: the number may be a vector or a matrix, as it has no value.
        """
        names = {*re.findall(r"[^\W\d]\w*(?!\w*\()", left.text)} - {*CONSTANTS}
        if not names:
            return left
        message = "it is not clear whether ' transposes or means a derivative"
        derived = f"diff({left.unbracketed}, {'x' if 'x' in names else min(names)})"
        matlab = self._has_other_marks()
        if names <= self.ranks.keys():
            if matlab or self.asked(message, quote) == 0:
                return left
            return NotationPiece(derived, ATOM, 0)
        turned = re.sub(r"\.?'", ".T", re.sub(r"(?<!\.)\*", "@", self.source))
        hint = f"write {turned.strip()} to transpose, or {derived} to derive"
        if matlab:
            message = "it is not clear whether ' follows a number"
            hint = f"give a value, or a shape as in --shape {min(names)}=3"
        at = Span(quote.start, quote.end)
        raise ProgramError("E208", message, at, self.source, hint=hint)

    def _has_other_marks(self) -> bool:
        """Return whether a text would be MATLAB's without its quotes."""
        rest = self.source.replace("'", "")
        known = self.ranks.keys()
        return "MATLAB" in (language_of(rest, known), program_of(rest, known))

    def is_word(self, *words: str) -> bool:
        return self.token.kind == "name" and self.token.text in words

    def asked(self, message: str, token: NotationToken, ways: int = 2) -> int:
        """Return which of two readings is taken.

        Raises:
            TwoWays: nobody said which.
        """
        if self.way is None:
            raise TwoWays(message, Span(token.start, token.end), ways)
        return self.way

    def expression(self) -> NotationPiece:
        """Return an expression, which may be a choice."""
        if self.is_word("if"):
            return self._branches()
        piece = self.read(OR)
        if not self.take_if("?"):
            return piece
        then = self.expression()
        self.closed(":")
        return chosen(then, piece, self.expression())

    def _branches(self) -> NotationPiece:
        """Return a choice that is written with `if` and `else`, each of one value."""
        self.take()
        test = self.expression()
        opened = self.tokens[self.at : self.at + 2]
        returns = "return" in [token.text for token in opened]
        then = self._branch()
        if self.is_word("elseif"):
            return chosen(then, test, self._branches())
        behind = next_return(self.tokens, self.at)
        if returns and self.title in BRACED and behind:
            self.at = behind
            return chosen(then, test, self.expression())
        if not self.is_word("else"):
            raise self.refused(why="follows a choice that has no else, and is not read")
        self.take()
        if self.is_word("if"):
            return chosen(then, test, self._branches())
        piece = chosen(then, test, self._branch())
        if self.title in ("Julia", "MATLAB") and self.is_word("end"):
            self.take()
        return piece

    def _branch(self) -> NotationPiece:
        while self.take_if("\n"):
            pass
        closing = "}" if self.take_if("{") else ""
        while self.take_if("\n"):
            pass
        if self.is_word("return"):
            self.take()
        piece, at = self.expression(), self.at
        while self.take_if("\n", ";"):
            pass
        if closing:
            self.closed(closing)
        at = self.at if closing else at
        while self.take_if("\n", ";"):
            pass
        if not self.is_word("else", "elseif", "end"):
            self.at = at
        return piece

    def read(self, floor: int) -> NotationPiece:
        """Return operands with the operators that bind as tightly as ``floor``."""
        left = self._prefixed(floor)
        while True:
            token, grammar = self.token, self.grammar
            power, sign = grammar.infix.get(token.kind, (-1, ""))
            begins = token.kind in ("number", "name", "(")
            if grammar.beside and begins:
                power, sign = TIMES, "*"
            elif self._ends_item(token):
                return left
            elif token.kind == "." and self.title == "Rust":
                left = self._method(left)
                continue
            elif self.title == "Rust" and self.is_word("as"):
                self.at += 2
                left = joined(NotationPiece("1.0"), "*", left)
                continue
            elif token.kind == "%" and self.title == "Excel" and floor <= PERCENT:
                self.take()
                left = NotationPiece(f"{left.at(PRODUCT)}/100", PRODUCT, left.rank)
                continue
            elif token.kind in ("'", ".'") and floor <= RAISE:
                self.take()
                if left.rank == 0:
                    left = self._with_quote(left, token)
                    continue
                turned = left.rank is None
                left = transposed(left)
                left = NotationPiece(f"{left.at(ATOM)}.T") if turned else left
                continue
            elif token.kind == "!" and self.title == "Mathematica":
                self.take()
                if self.token.kind == "!":
                    raise self.refused(hint="write Factorial2[n]")
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
        nots = () if self.title == "Excel" else ("!", "~")
        if self.take_if(*(nots[:1] if self.title in BRACED else nots)):
            return NotationPiece(f"logical_not({self.read(NOT).text})")
        return self._operand()

    def _joined(
        self, left: NotationPiece, sign: str, right: NotationPiece, token: NotationToken
    ) -> NotationPiece:
        if (
            sign == "/"
            and self.title in ("C", "Rust", "Java")
            and self.both_integers(left, right)
        ):
            shown = f"{left.at(PRODUCT)}/{right.at(SIGN)}"
            message = f"{shown} divides integers in {self.title}, and drops the rest"
            if self.asked(message, token) == 0:
                return NotationPiece(f"trunc({shown})", ATOM, 0)
        if self.title == "JavaScript" and sign.startswith("logical_"):
            tests = [p.level == COMPARISON or "logical_" in p.text
                     for p in (left, right)]  # fmt: skip
            if not all(tests):
                at = Span(token.start, token.end)
                hint = "write a if c else b for the number that is chosen"
                raise self.refused(
                    at, "chooses one of two numbers, and is not read", hint
                )
        if sign == "xor":
            self.asked(f"^ is no power in {self.title}", token, 1)
            return raised(left, right)
        if sign in _WHOLE:
            return self._multiplied(left, sign, right, token)
        self._paired([left, right], Span(token.start, token.end))
        unsure, in_r = self._is_unsure(left, right), self.title == "R"
        if sign in _GUARDED and unsure:
            name = f"{'rstats' if in_r else 'programs'}.{_GUARDED[sign]}"
            return NotationPiece(f"{name}({left.text}, {right.text})")
        if sign == "//" and in_r:
            name = "rstats.quotient_of_arrays" if unsure else "rstats.quotient"
            text = f"{name}({left.text}, {right.text})"
            return NotationPiece(text, ATOM, rank_of(left, right))
        made = self._each(left, sign, right, token)
        return made._replace(row=left.row or right.row)

    def both_integers(self, *pieces: NotationPiece) -> bool:
        """Return whether operands are made of integers alone."""
        return all(is_integer(piece, self.integers, self.title) for piece in pieces)

    def _is_unsure(self, left: NotationPiece, right: NotationPiece) -> bool:
        """Return whether one operand may be a vector and the other one a matrix, or, in
        R, which repeats neither rows nor columns, both may be matrices."""
        ranks = {left.rank, right.rank}
        return 0 not in ranks and (None in ranks or (self.title == "R" and 2 in ranks))

    def _paired(self, pieces: list[NotationPiece], at: Span) -> None:
        """Refuse a vector beside a matrix, and a row beside a column: they are paired
        from the first dimension on in the programs, and from the last one on here."""
        if len({2 if p.row else p.rank for p in pieces if p.rank}) > 1:
            why = "pairs vectors, rows and matrices in a way of its own"
            hint = "write it in the language: M*v.unsqueeze(1) pairs v with M's rows"
            raise self.refused(at, why, hint)

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
        if sign.isidentifier():
            text = f"{sign}({left.text}, {right.text})"
            return NotationPiece(text, ATOM, rank_of(left, right))
        if COMPARISON in (left.level, right.level):
            raise self.refused(
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
                raise self.refused(at, "between two columns is not computed")
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
            piece = NotationPiece(token.text, ATOM, 0)
            beside = self.token.kind in ("name", "(") and not self.token.spaced
            if self.title == "Julia" and beside:  # 1/2x is 1/(2x) there
                return joined(piece, "*", self.read(RAISE))
            return piece
        if token.kind == "(":
            return self._bracketed()
        if token.kind == self.grammar.lists[0] and token.kind.strip():
            if self.title in ("MATLAB", "Julia"):
                return self.matrix(token)
            items = self.items(self.grammar.lists[1])[0]
            rank = items[0].rank if items else None
            text = f"[{', '.join(item.text for item in items)}]"
            return NotationPiece(text, ATOM, None if rank is None else rank + 1)
        if token.kind != "name":
            self.at = start
            raise self.refused()
        if self._is_indexed(token.text):
            return self._entry(token.text)
        if self.token.kind in (opens, f".{opens}") and not self.token.spaced:
            whole = self.take().kind == opens
            form = self.form(token.text)
            if form is not None:
                return form
            items, named = self.items(closes)
            if whole and self.title == "Julia" and any(i.rank for i in items):
                return self._of_arrays(token, items, named)
            return self._called(token, items, named)
        if self.token.kind == ":" and self.title == "Excel":
            return self.cells(token)
        if self.token.kind in ("[", "(", "!") and not self.grammar.beside:
            raise self.refused()
        known = [token.text, token.text.lower(), token.text.upper()]
        known = known if self.title == "Excel" else known[:1]
        known += [each for each in (greek(token.text), letter_name(token.text)) if each]
        own = next((name for name in known if name in self.ranks), None)
        if own is not None:
            return NotationPiece(own, ATOM, self.ranks[own])
        library = self.grammar.library
        for name in [n.removeprefix(library) for n in known if n.startswith(library)]:
            for meaning in meanings(self.title, name):
                if meaning.constant:
                    self._demand_free(meaning.text, token)
                    level = ATOM if meaning.text.isidentifier() else CHOICE
                    return NotationPiece(meaning.text, level, 0)
        return NotationPiece(token.text, ATOM, 0)

    def _is_indexed(self, name: str) -> bool:
        """Return whether an index follows a vector or a matrix that has a value."""
        opens = "(" if self.title == "MATLAB" else "["
        indexed = self.title in FIRST and self.token.kind == opens
        return indexed and bool(self.ranks.get(name))

    def _entry(self, name: str) -> NotationPiece:
        """Return an entry at numbers, which each program counts from a first one."""
        at, opened = Span(self.token.start, self.token.end), self.take().kind
        items, _ = self.items(")" if opened == "(" else "]")
        rank = self.ranks[name]
        if len(items) != rank or not all(item.text.isdecimal() for item in items):
            raise self.refused(at, "is an index, which is read only of numbers")
        numbers = [int(item.text) - FIRST[self.title] for item in items]
        if min(numbers) < 0:
            raise self.refused(at, "is an index before the first one")
        return NotationPiece(f"{name}[{', '.join(map(str, numbers))}]", ATOM, 0)

    def closed(self, closing: str) -> None:
        if self.take_if(closing) is None:
            raise self.refused()

    def items(
        self, closing: str
    ) -> tuple[list[NotationPiece], dict[str, NotationPiece]]:
        """Return what stands in brackets, with what is given by name."""
        items: list[NotationPiece] = []
        named: dict[str, NotationPiece] = {}
        used = set()
        listing, self.listing = self.listing, False
        while not self.take_if(closing):
            while self.take_if("\n"):
                pass
            after = self.tokens[self.at + 1].kind
            if self.title == "R" and self.token.kind == "name" and after == "=":
                name = self.take().text.replace(".", "_")
                self.take()
                named[name] = self.expression()
            else:
                items.append(self.expression())
            while self.take_if("\n"):
                pass
            if self.token.kind != closing:
                sign = self.take_if(*self.grammar.separators)
                used.add(sign.kind if sign else "")
                if sign is None or len(used) > 1:
                    self.at -= sign is not None
                    raise self.refused()
        self.listing = listing
        return items, named

    def _ends_item(self, token: NotationToken) -> bool:
        """Return whether a sign begins the next item of a list, as in `[a -b]`."""
        apart = self.listing and token.spaced and token.kind in ("+", "-")
        return apart and not self.tokens[self.at + 1].spaced

    def _bracketed(self) -> NotationPiece:
        """Return what stands in parentheses, or behind a type of C in these."""
        listing, self.listing = self.listing, False
        after = self.tokens[self.at + 1].kind
        if self.is_word(*self.grammar.types) and self.title in TYPED and after == ")":
            integer = self.is_word("int", "long", "size_t", "unsigned")
            if integer:
                raise self.refused(why="makes an integer, and is not read")
            self.at += 2
            return joined(NotationPiece("1.0"), "*", self.read(UNARY))
        piece = self.expression()
        self.closed(")")
        self.listing = listing
        return piece

    def _method(self, left: NotationPiece) -> NotationPiece:
        """Return a call of a method in Rust, as `x.powi(2)`."""
        self.take()
        token = self.take()
        if token.kind != "name" or self.take_if("(") is None:
            self.at -= 1
            raise self.refused()
        items, named = self.items(")")
        return self._called(token, [left, *items], named)

    def _called(
        self,
        token: NotationToken,
        items: list[NotationPiece],
        named: dict[str, NotationPiece],
    ) -> NotationPiece:
        """Return the call of a function of the program in the language."""
        name = token.text.upper() if self.title == "Excel" else token.text
        texts = [item.text for item in items]
        if name in self.functions:
            ranks = [item.rank for item in items]
            before = self.given.setdefault(name, ranks)
            both = zip(before, ranks, strict=False)
            self.given[name] = [a if a == b else None for a, b in both]
            rank = 0 if not any(ranks) and None not in ranks else None
            return NotationPiece(f"{name}({', '.join(texts)})", ATOM, rank)
        mapped = (
            self.title == "Julia" and len(items) == 2 and texts[0] not in self.ranks
        )
        if mapped and not all(m.constant for m in meanings("Julia", texts[0])):
            first = token._replace(text=texts[0])
            return self._called(token, [self._called(first, items[1:], {})], named)
        name = name.removeprefix(self.grammar.library)
        for meaning in meanings(self.title, name):
            fit = meaning.fitted(items, named, texts)
            if fit is None:
                continue
            given, rest = fit
            own = {*meaning.parameters, meaning.rest}
            called = {*re.findall(r"[^\W\d]\w*", meaning.text)} - own
            self._demand_free(" ".join(called | {meaning.own}), token)
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

    def _of_arrays(
        self,
        token: NotationToken,
        items: list[NotationPiece],
        named: dict[str, NotationPiece],
    ) -> NotationPiece:
        """Return the call of a function of Julia on arrays: one of numbers is that
        of a matrix there, as `exp(A)`, or none."""
        name = token.text
        if any(m.is_entrywise and len(items) == 1 for m in meanings("Julia", name)):
            message = f"{name} of a matrix is no function of its entries in Julia"
            ways = 2 if name == "exp" else 1
            if self.asked(message, token, ways) == 0 and ways == 2:
                return call("matrix_exp", items)
        return self._called(token, items, named)

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
