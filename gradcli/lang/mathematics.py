r"""Mathematical notation, in LaTeX or as it is typed, rewritten in the language.

A statement is read by precedence: factors side by side are a product, a function takes
the factors behind it, `x_i` is an entry of a vector inside of a sum over `i`, and a
matrix beside a matrix or a vector is multiplied as matrices are. `ranks` has the number
of dimensions of each name that has a value, None where it is not known.

Invariant: what can be meant in two ways raises `Doubt`; it is never guessed.

    rewritten("sin^2 x", {})                                  # "sin(x)^2"
    rewritten(r"\frac{1}{2}\|A x - b\|^2", {"A": 2, "x": 1})  # "1/2*norm(A @ x - b)^2"
"""

import re
from collections.abc import Iterator, Mapping

from ..ops import FUNCTIONS
from .copied import in_order
from .excerpt import Span
from .factors import DERIVED, FACTORS, NO_FACTORS, OF_WHAT, FactorReader
from .lexicon import BESIDE, CONDITIONAL, DERIVATIVE, KEYWORDS, OTHERWISE
from .lexicon import WORDS_BETWEEN as WORDS
from .maxima import MAX_NESTED_NOTATION
from .notation import (
    ATOM,
    CLOSING,
    COMPARISON,
    IN_LATEX,
    LOGIC,
    PRODUCT,
    SUM,
    Doubt,
    NotationPiece,
    NotationToken,
    call,
    chosen,
    joined,
    multiplied,
    negative,
    on_the_line,
    raised,
    transposed,
)
from .tensor_library import CONSTANTS
from .written_derivatives import NAMED_DERIVATIVE, PLAIN_DERIVATIVE

_BLANK = re.compile(
    r"(?m)^[^\S\n]*%.*$|~|\$\$?|\\[][()]|\\(?:begin|end)\s*\{(?:equation|align|aligned|gather"
    r"|split)\*?\}|\\(?:label|tag\*?)\{[^{}]*\}|(?<!\\)\\(?:[;:, ]|(?<!,\\)!|(?:q?quad"
    r"|displaystyle|limits|nonumber|notag|middle|[bB]igg?[lrm]?)(?![A-Za-z]))"
)
"""Pattern of what means nothing: comments, spaces, sizes and environments."""

_TEXT = re.compile(
    r"\\(?:text|mathrm|textrm|mbox)\s*\{\s*"
    rf"({'|'.join([*CONDITIONAL, *OTHERWISE])})\s*\}}"
)
"""Pattern of a word before a condition in LaTeX."""

_SIDE = re.compile(r"\\(left|right)\s*(\\?[|.]|(?=\W))")

_BETWEEN = re.compile(r"[,;]\s*\\q?quad(?![A-Za-z])")
"""Pattern of what separates two formulas on one line."""

_ENDS = re.compile(r"\\begin\b|\\end\b|\\\\|\\.|[{}();]|\n(?=[^=\n&]{1,60}&?\s*=)")

_BEHIND_PERCENT = frozenset({"*", "/", "+", "-", ")", "end", ","})

_NAMES = re.compile(r"[^\W\d]\w*")

_EQUAL = re.compile(r":=|≈|≡|≔|\\(?:approx|equiv|coloneqq|triangleq)(?![A-Za-z])")

_BELOW = re.compile(
    r"(?:\\(?:operatorname|text|mathrm) ?\{\w+\}|\w) ?_ ?(?:\{[^{}]*\}|\\?\w+) ?"
    r"\([^()]*\)"
)
"""Pattern of a function with a subscript and its inputs: `L_{\\delta}(a)`."""

_TITLE = re.compile(r"\s*(?:\\(?:text|mathrm|operatorname)\s*\{)?([\\\w{}^]+?)\}?\s*\(")
"""Pattern of the beginning of a function's definition, up to its inputs."""


def rewritten(text: str, ranks: Mapping[str, int | None]) -> str:
    """Return a program in mathematical notation as one of the language.

    Raises:
        Doubt: a part of it is unknown, nested too deeply, or can be meant in two ways.
    """
    try:
        return _rewritten(text, dict(ranks))
    except RecursionError:
        raise Doubt("", Span(0, 0)) from None


def _rewritten(text: str, known: dict[str, int | None]) -> str:
    if not IN_LATEX.search(text):
        derived = DERIVATIVE.match(text)
        named = NAMED_DERIVATIVE.match(text.lstrip())
        known_name = named is not None and any(
            each == named["of"] or each.startswith(f"{named['of']}(") for each in known
        )
        plain = PLAIN_DERIVATIVE.match(text.lstrip()) or known_name
        rest = text[derived.end() :] if derived and not plain else ""
        if rest.strip() and rest.lstrip()[0] != "=":
            raise Doubt(OF_WHAT, Span(0, len(text)), rest)
        return _StatementReader(text, known, False).statement()
    if r"\begin" not in text and _TEXT.search(text):
        text = _TEXT.sub(lambda found: found[1].center(len(found[0])), text)
    else:
        text = _BETWEEN.sub(lambda found: ";".ljust(len(found[0])), text)
    text = _SIDE.sub(_side, _BLANK.sub(lambda found: " " * len(found[0]), text))
    made = []
    for start, end in _statements(text):
        if text[start:end].strip(" \t\r\n.,;"):
            part = " " * start + text[start:end]
            made.append(_StatementReader(part, known, True).statement())
    return "; ".join(in_order(made))


def _side(found: re.Match[str]) -> str:
    """Return a sign of a pair; a bar as a character that says which side it is of."""
    signs = {"|": "⟦⟧", r"\|": "⟪⟫"}.get(found[2], "  ")
    return signs[found[1] != "left"].ljust(len(found[0]))


def _statements(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield where the statements of LaTeX begin and end: they end at `\\` and `;`
    outside of brackets and environments, and before a line that assigns."""
    depth = start = 0
    for found in _ENDS.finditer(text):
        sign = found[0]
        depth += sign in ("{", "(", r"\begin")
        depth -= sign in ("}", ")", r"\end")
        if not depth and sign in (r"\\", ";", "\n"):
            yield start, found.start()
            start = found.end()
    yield start, len(text)


def _is_test(piece: NotationPiece) -> bool:
    return piece.level in (LOGIC, COMPARISON)


class _StatementReader(FactorReader):
    """The reader of one statement."""

    def statement(self) -> str:
        """Return the statement, which may assign to a name or define a function."""
        text = _EQUAL.sub(lambda found: "=".ljust(len(found[0])), self.text)
        if self.latex:
            text = re.sub(r"&(?=\s*=)", " ", text)
            text = text if r"\begin" in text else text.replace("&", " ")
        text = text.rstrip().rstrip(",;" if self.latex else ";").rstrip()
        text = text.removesuffix(".") if self.latex else text
        left, right = _sides(text)
        doubt = None
        try:
            head = "" if left is None else self._target(left)
        except Doubt as unread:
            doubt = unread
            if left is None or not self.latex:
                raise
            if _BELOW.fullmatch(left.strip()):
                head, doubt = "", None
        if doubt is not None and left is not None:
            self.put(self._first_readable(left, right))
            guess = self._with_other_side(left, self._choices()[0].text)
            message = "an equation is no definition of a name"
            raise Doubt(message, doubt.at, guess) from None
        right = self._first_readable(left, right) if self.latex else right
        self.put(right)
        items = self._choices()
        if self.powers and any(" @ " in item.text for item in items):
            self.whole = True  # products are those of matrices, and so are powers
            self.put(right)
            items = self._choices()
        if head.endswith(")"):
            self.ranks[head] = None
        if head.isidentifier():
            self.ranks[head] = items[0].rank if len(items) == 1 else None
            if items[0].level in (LOGIC, COMPARISON):
                self.ranks[f"[{head}]"] = items[0].rank
        made = ", ".join(piece.text for piece in items)
        for name, length in self.lengths.items():
            made = re.sub(rf"\b{re.escape(name)}\b", length, made)
        made = f"{head} = {made}" if head else made
        made = "; ".join([*self.functions.values(), made])
        if self.unsure is not None:
            raise Doubt(*self.unsure, made)
        return made

    def _with_other_side(self, left: str, right: str) -> str:
        """Return one side of an equation: the right one, or the difference of both if
        only the left one has some name."""
        try:
            self.put(left)
            (piece,) = self._choices()
        except (Doubt, ValueError):
            return right
        lost = {*_NAMES.findall(piece.text)} - {*_NAMES.findall(right)} - {*FUNCTIONS}
        if not lost:
            return right
        if right == "0":
            return piece.text
        single = re.fullmatch(r"[\w.]+", right)
        return f"{piece.text} - {right if single else f'({right})'}"

    def _first_readable(self, left: str | None, right: str) -> str:
        """Return the first side of a chain of equalities that is more than a name and
        can be read: `f(x) = x^+ = max(0, x)` is `max(0, x)`."""
        sides, rest = [], right
        while True:
            head, after = _sides(rest)
            if head is None:
                break
            sides.append(head)
            rest = after
        if not sides or left is None:
            return right
        sides.append(rest)
        if re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", rest) and len(sides) > 1:
            raise Doubt("", Span(0, len(right)))  # an equation
        for side in sides:
            try:
                self.put(side)
                if len(self._choices()) == 1 and not side.strip().isalnum():
                    return side
            except Doubt:
                continue
        return sides[-1]

    def _choices(self) -> list[NotationPiece]:
        """Return what stands between the commas of a statement; formulas with
        conditions are one choice."""
        items = [(self.choice(), self._condition())]
        last = False
        while self.take_if(",") and self.kind != "end":
            last = bool(self.taken(*OTHERWISE))
            items.append((self.choice(), self._condition()))
        last = bool(self.taken(*OTHERWISE)) or last
        self.expect("end")
        if not any(test for _, test in items):
            return [piece for piece, _ in items]
        value = NotationPiece("nan", ATOM, 0)
        if last and items[-1][1] is None:
            value = items.pop()[0]
        for piece, test in reversed(items):
            if test is None:
                raise self.doubt()
            value = chosen(piece, test, value)
        return [value]

    def _condition(self) -> NotationPiece | None:
        """Return the condition behind a formula; None without one."""
        return self.logic() if self.taken("if") else None

    def _target(self, left: str) -> str:
        """Return what a statement assigns to: a name, a function of names, or nothing
        where its left side is no more than a title."""
        if DERIVED.fullmatch(left.strip()):
            return ""
        begun = _TITLE.match(left)
        inputs = f"({left[begun.end() :].strip()}" if begun else "()"
        if "." in left or NotationPiece(inputs).unbracketed == inputs:
            raise Doubt("", Span(0, len(left)))  # an equation, and no definition
        try:
            self.put(left[: begun.end(1)] if begun else left)
            name = self._single_name().text
            self.expect("end")
            if begun is None:
                return name
            self.put(NotationPiece(inputs).unbracketed)
            names = [self._single_name()]
            while self.take_if(","):
                names.append(self._single_name())
            self.expect("end")
            listed = ", ".join(piece.text for piece in names)
            return "" if any(piece.each for piece in names) else f"{name}({listed})"
        except Doubt:
            if begun is None:
                raise
            return ""

    def _single_name(self) -> NotationPiece:
        if self.kind == "word" and self.after.kind in ("end", ","):
            return NotationPiece(self.spelling(self.take().text))
        piece = self.factor()
        if not piece.text.isidentifier() or piece.text in KEYWORDS:
            raise self.doubt()
        return piece

    # Expressions, from the operators that bind least tightly to those that bind most.

    def choice(self) -> NotationPiece:
        self.depth += 1
        if self.depth > MAX_NESTED_NOTATION:
            raise self.doubt()
        piece = self.logic()
        start = self.at
        if self.taken("if"):
            test = self.logic()
            if self.taken("else"):
                piece = chosen(piece, test, self.choice())
            elif self.depth == 1 and self.kind in ("end", ",") and _is_test(test):
                self.at = start
            else:
                raise self.doubt()
        elif self.take_if("over"):
            piece = joined(piece, "/", self.choice())
        elif self.take_if("choose"):
            piece = call("binom", [piece, self.choice()])
        self.depth -= 1
        return piece

    def logic(self) -> NotationPiece:
        if self.taken("not"):
            return NotationPiece(f"not {self.logic().at(COMPARISON)}", LOGIC)
        left = self._comparison()
        while sign := self.taken("and", "or"):
            left = joined(left, f" {sign} ", self._comparison(), LOGIC, COMPARISON)
        return left

    def _comparison(self) -> NotationPiece:
        left = self._sum()
        equal = "=" if self.latex and self.depth > 1 else "=="
        while sign := self.taken("<", "<=", ">", ">=", "==", "!=", equal):
            sign = "==" if sign == "=" else sign
            left = joined(left, f" {sign} ", self._sum(), COMPARISON, SUM)
        return left

    def _sum(self) -> NotationPiece:
        left = self.product()
        while sign := self.taken("+", "-"):
            left = joined(left, f" {sign} ", self.product(), SUM, PRODUCT)
        return left

    def product(self) -> NotationPiece:
        left = self._signed()
        while True:
            word = self.token.text if self.kind == "word" else self.kind
            if word == "x" and self._is_times():
                self.guessed("it is not clear whether x is a name here, or a sign")
                self.take()
                left = multiplied(left, self._signed(), "*")
            elif word == "*":
                sign = self.take().text
                left = multiplied(left, self._signed(), sign)
            elif self.kind == "word" and word in WORDS and self._is_operand(self.after):
                self.take()
                left = joined(left, f" {WORDS[word]} ", self._signed())
            elif word == "/":
                left = joined(left, "/", self._divisor(left))
            elif word in ("//", "%", "@"):
                self.take()
                left = joined(left, f" {word} ", self._signed())
            elif self.joins():
                token, beside = self.token, self.tokens[self.at - 1]
                right = self.power()
                if not self.latex and {left.text, right.text} & self.unknown:
                    message = f"no operator between {beside.text} and {token.text}"
                    at = Span(beside.start, token.end)
                    self.unsure = self.unsure or (message, at)
                left = multiplied(left, right, "")
            else:
                return left

    def _divisor(self, left: NotationPiece) -> NotationPiece:
        sign = self.take()
        piece = self._signed()
        if self.joins() and not (left.text.isdecimal() and piece.text.isdecimal()):
            at = Span(sign.start, sign.end)
            self.unsure = "it is not clear how far / divides", at
            while self.joins():
                piece = multiplied(piece, self.power(), "")
        return piece

    def _is_times(self) -> bool:
        """Return whether a letter x stands between factors as a sign does: `) x 6`."""
        before = self.tokens[self.at - 1].kind
        apart = self.token.spaced and self.after.spaced
        beside = before in ("number", ")") and self.after.kind in ("number", "(")
        return apart and beside

    def _is_operand(self, token: NotationToken) -> bool:
        return token.kind in ("word", "number", "(", "√") or token.kind[:1] == "\\"

    def joins(self) -> bool:
        """Return whether a factor begins here that no sign precedes."""
        token, last, kind = self.token, self.tokens[self.at - 1], self.kind
        if self.listing and token.spaced and (kind == "word" or kind in FACTORS):
            raise self.doubt()
        if kind == "number":
            if last.kind in ("number", "fraction"):
                raise self.doubt()
            return last.kind in ("word", ")", "}", "lowered")
        if kind == "word":
            if token.text in BESIDE:
                raise self.doubt()
            return token.text not in {*KEYWORDS, *WORDS, *OTHERWISE} - {*self.ranks}
        if kind in ("|", "norm"):
            later = any(t.kind == kind for t in self.tokens[self.at + 1 :])
            opens = not self.bars or token.text in "⟦⟪"
            return later and opens and token.text not in (r"\rvert", r"\rVert", *"⟧⟫")
        turned = self.at > 1 and self.tokens[self.at - 2].kind == "**"
        named = kind == "(" and last.kind == "word" and not turned
        if named and not self._is_value(last.text):
            raise self.doubt()
        command = kind[:1] == "\\" and kind not in NO_FACTORS
        return command or kind in FACTORS

    def _is_value(self, name: str) -> bool:
        """Return whether a name before a bracket is a factor: it has a value, or stands
        for one elsewhere."""
        beside = zip(self.tokens, self.tokens[1:], strict=False)
        elsewhere = any(a.text == name and b.kind != "(" for a, b in beside)
        return bool(elsewhere or self.bound(name) or name in CONSTANTS or self.over)

    def _signed(self) -> NotationPiece:
        sign = self.taken("-", "+")
        if sign is None:
            return self.power()
        piece = self._signed()
        return negative(piece) if sign == "-" else piece

    def power(self) -> NotationPiece:
        piece = self.factor()
        while True:
            token = self.token
            if token.kind == "raised":
                self.take()
                piece = self._raised(piece, self.inside(on_the_line(token.text)))
            elif token.kind == "T" and not token.spaced:
                self.take()
                piece = transposed(piece)
            elif token.kind == "**":
                self.take()
                piece = self._to_power(piece)
            elif token.kind == "!" and self.after.kind != "!":
                self.take()
                piece = NotationPiece(
                    f"factorial({piece.unbracketed})", ATOM, piece.rank
                )
            elif token.kind == "°":
                self.take()
                piece = NotationPiece(
                    f"{piece.at(PRODUCT)}*pi/180", PRODUCT, piece.rank
                )
            elif token.kind == "%" and self.after.kind in _BEHIND_PERCENT:
                self.take()
                piece = NotationPiece(f"{piece.at(PRODUCT)}/100", PRODUCT, piece.rank)
            else:
                return piece

    def _to_power(self, base: NotationPiece) -> NotationPiece:
        """Return a base with the exponent behind it: a power, a transpose, the index
        `(i)` or an inverse matrix."""
        start, closing = self.at, CLOSING.get(self.kind)
        inner = self.take().text
        inner = self.skip(closing) if closing else inner
        turned = inner.strip("{} ") in ("T", "⊤", r"\top", r"\intercal")
        if turned and (not self.bound("T") or base.rank in (1, 2)):
            return transposed(base)
        index = re.fullmatch(r"\s*\(?(\w)\)?\s*", inner) if closing else None
        if index and index[1] in self.over and (closing == ")" or "(" in inner):
            return self.entry(base.text, index[1])
        self.at = start
        if self.latex and re.fullmatch(r"\s*[(\[]\s*\d+\s*[)\]]\s*", inner):
            raise self.doubt()  # an index above the line, and no power
        exponent = self.group() if closing == "}" else self._glued(base)
        return self._raised(base, exponent)

    def _raised(self, base: NotationPiece, exponent: NotationPiece) -> NotationPiece:
        """Return a power: of a matrix as such in LaTeX, and where products are."""
        if base.rank == 2 and exponent.text == "-1":
            return NotationPiece(f"inverse({base.unbracketed})", ATOM, 2)
        if 2 not in (base.rank, exponent.rank) or base.each:
            return raised(base, exponent)
        self.powers = True
        if not (self.latex or self.whole):
            return raised(base, exponent)
        if base.rank != 2 or not re.fullmatch(r"-?\d+", exponent.text):
            raise self.doubt()
        return NotationPiece(
            f"matrix_power({base.unbracketed}, {exponent.text})", ATOM, 2
        )

    def _glued(self, base: NotationPiece) -> NotationPiece:
        """Return an exponent without brackets: with its sign, and with all names that
        stand together, as `kt` in `e^-kt`."""
        sign, first = self.taken("-", "+"), self.token
        piece = self.factor()
        if self.take_if("**"):
            piece = raised(piece, self._glued(piece))
        glues = first.kind in ("word", "number") and not self.latex
        while (
            glues and self.kind == "word" and not self.token.spaced
            and not self.meant(self.token.text)
        ):  # fmt: skip
            if first.kind == "number":
                if base.text == "e" or base.text[:1].isdigit():
                    raise self.doubt()
                break
            piece = multiplied(piece, self.factor(), "")
        return negative(piece) if sign == "-" else piece

    def inside(self, text: str) -> NotationPiece:
        """Return what another text means at this place."""
        outside = self.text, self.tokens, self.at
        self.put(text)
        piece = self.choice()
        self.expect("end")
        self.text, self.tokens, self.at = outside
        return piece


def _sides(text: str) -> tuple[str | None, str]:
    """Return the two sides of the first equals sign that is in no brackets, the right
    one at its place; None and the text without such a sign."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({[") - (sign in ")}]")
        near = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
        if sign == "=" and not depth and not re.search("[=<>!]", near):
            left = text[:at] if text[:at].strip() else None
            return left, " " * (at + 1) + text[at + 1 :]
    return None, text
