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
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import NamedTuple

from ..ops import OPS
from .excerpt import Span
from .lexicon import DERIVATIVE, KEYWORDS, LOOKALIKES, PREFIX_HEADS, SAME_SIGN
from .lexicon import WORDS_BETWEEN as WORDS
from .maxima import MAX_NESTED_NOTATION
from .plain import FUNCTIONS as PLAIN
from .suggest import other_spelling, parted
from .tensor_library import CONSTANTS, is_function

CHOICE, LOGIC, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(8)
"""Precedences in the language, of what binds least tightly first."""

_OF_WHAT = "derivatives are taken of what is written"


class Doubt(Exception):
    """An error: the text can be meant in several ways, or in none.

    message  why, if it can be meant in several ways
    at       where it cannot be read
    guess    the text with one of its meanings written out; None if there is none
    """

    def __init__(self, message: str, at: Span, guess: str | None = None) -> None:
        super().__init__(message)
        self.message, self.at, self.guess = message, at, guess


class Piece(NamedTuple):
    """A part that was read.

    text   it, in the language
    level  the precedence of its outermost operator
    rank   the number of its dimensions; None if it is not known
    row    whether it is a vector that was transposed
    each   whether it stands for the entries of a vector, each by itself
    """

    text: str
    level: int = ATOM
    rank: int | None = None
    row: bool = False
    each: bool = False

    def at(self, level: int) -> str:
        """Return the text, in brackets if it binds less tightly than ``level``."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def held(self) -> str:
        """The text without brackets around all of it."""
        inner = self.text[1:-1]
        around = self.text.startswith("(") and self.text.endswith(")")
        depth = least = 0
        for sign in inner:
            depth += (sign == "(") - (sign == ")")
            least = min(least, depth)
        return inner if around and not least else self.text


class Token(NamedTuple):
    """A word or a sign; ``spaced`` if a blank precedes it."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool


def _small(begin: str, *ranges: range) -> str:
    return "".join(
        chr(at)
        for each in ranges
        for at in each
        if unicodedata.decomposition(chr(at)).startswith(begin)
    )


_RAISED = _small("<super>", range(0xB2, 0xBA), range(0x2B0, 0x2E5),
                 range(0x1D2C, 0x1D62), range(0x2070, 0x2080))  # fmt: skip
_LOWERED = _small("<sub>", range(0x1D62, 0x1D6B), range(0x2080, 0x209D),
                  range(0x2C7C, 0x2C7D))  # fmt: skip
_FRACTION = _small("<fraction>", range(0xBC, 0xBF), range(0x2150, 0x215F))
_LETTER = rf"[^\W\d_{_RAISED}{_LOWERED}{_FRACTION}]"
_PATTERN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>\d{1,3}(?:(?:,\\!|\{,\})\d{3})+"
    r"|\d+(?:\.\d+|\.(?![\w.]))?(?:[eE][+-]?\d+(?!\w))?|\.\d+)"
    r"|(?P<command>\\(?:[A-Za-z]+|[^A-Za-z\s]))"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|\d)*)"
    rf"|(?P<raised>[{_RAISED}]+)|(?P<lowered>[{_LOWERED}]+)"
    rf"|(?P<fraction>[{_FRACTION}])"
    r"|(?P<string>\"[^\"]*\"|'[^']*')"
    r"|(?P<sign>\*\*|//|\.[*/^]|<=|>=|==|!=|<>|=<|\|\||[^\w\s]|_)"
)
IN_LATEX = re.compile(r"\\[A-Za-z|{,;!]|[_^]\s*\{|^\s*\$")
"""Pattern of text that only LaTeX has."""

_SAME = {
    **SAME_SIGN,
    **{name: sign for sign, names in {
        "*": r"\cdot \ast \odot \circ \times .*", "/": r"\div ./",
        "<=": r"\le \leq \leqslant =<", ">=": r"\ge \geq \geqslant", "<": r"\lt",
        ">": r"\gt", "!=": r"\ne \neq <>", "**": ".^", "|": r"\lvert \rvert \vert \mid",
        "norm": r"\lVert \rVert \Vert \| ‖ ||", "and": r"\wedge \land ∧",
        "or": r"\vee \lor ∨", "not": r"\neg \lnot ¬", "sum": r"\sum ∑ Σ",
        "prod": r"\prod ∏ Π", r"\frac": r"\dfrac \tfrac \cfrac", "%": r"\bmod \%",
        "T": r"⊤ ᵀ \top \intercal", "(": r"\{ ⟨ \langle", "over": r"\over",
        ")": r"\} ⟩ \rangle ⌋ ⌉ \rfloor \rceil", "sqrt": "√", "cbrt": "∛",
        "floor": r"⌊ \lfloor", "ceil": r"⌈ \lceil", r"\infty": "∞", "'": r"\prime",
    }.items() for name in names.split()},
    "∣": "|", "⟦": "|", "⟧": "|", "⟪": "norm", "⟫": "norm",
}  # fmt: skip
"""Kinds of tokens, by signs and commands that mean the same."""

_DOTS, _CROSSES = ("·", "⋅", "∙", "•", r"\cdot"), ("×", r"\times")
_BLANK = re.compile(
    r"(?m)^\s*%.*$|~|\$\$?|\\[][()]|\\(?:begin|end)\s*\{(?:equation|align|aligned|gather"
    r"|split)\*?\}|\\label\{[^}]*\}|(?<!\\)\\(?:[;:, ]|(?<!,\\)!|(?:q?quad|displaystyle"
    r"|limits|nonumber|notag|middle|[bB]igg?[lrm]?)(?![A-Za-z]))"
)
"""Pattern of what means nothing: comments, spaces, sizes and environments."""

_SIDE = re.compile(r"\\(left|right)\s*(\\?[|.]|(?=\W))")
_ENDS = re.compile(r"\\begin\b|\\end\b|\\\\|\\.|[{}();]|\n(?=[^=\n&]{1,60}&?\s*=)")
_EQUAL = re.compile(r":=|≈|≡|≔|\\(?:approx|equiv|coloneqq|triangleq)(?![A-Za-z])")
_STYLES = frozenset(
    (r"\mathbf", r"\boldsymbol", r"\mathrm", r"\mathit", r"\mathsf", r"\mathtt", r"\bf",
     r"\rm", r"\it", r"\text", r"\textrm", r"\textit", r"\textbf", r"\mathcal", r"\bm",
     r"\operatorname", r"\vec", r"\mathbb", r"\mbox")
)  # fmt: skip
_ACCENTS = {r"\hat": "hat", r"\widehat": "hat", r"\bar": "bar", r"\overline": "bar",
            r"\tilde": "tilde", r"\widetilde": "tilde", r"\dot": "dot"}  # fmt: skip
_TITLE = re.compile(r"\s*(?:\\(?:text|mathrm|operatorname)\s*\{)?([\\\w{}^]+?)\}?\s*\(")
"""Pattern of the beginning of a function's definition, up to its inputs."""

_DERIVED = re.compile(
    r"\\[dt]?frac\s*\{\s*(?:d|\\partial)\s*[^{}]*\}\s*\{\s*(?:d|\\partial)\s*[^{}]*\}"
)
_INDEX = re.compile(r"-?\d+|(?:-?\d+)?:(?:-?\d+)?")
_OTHERWISE = re.compile(r"\W*(?:otherwise|else|sonst|sinon)\b")
_OF_ALL = frozenset({"norm", "det", "trace", "sum", "mean", "prod", "len", "logsumexp"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_FACTORS = frozenset(
    {"(", "[", "{", "sqrt", "cbrt", "sum", "prod", "floor", "ceil", "fraction"}
)
_NO_FACTORS = frozenset(rf"\{name}" for name in ("end", "\\", "&", "in", "to", "int"))


def rewritten(text: str, ranks: Mapping[str, int | None]) -> str:
    """Return a program in mathematical notation as one of the language.

    Raises:
        Doubt: a part of it is unknown, or can be meant in two ways.
    """
    known = dict(ranks)
    if not IN_LATEX.search(text):
        derived = DERIVATIVE.match(text)
        rest = text[derived.end() :] if derived else ""
        if of := re.fullmatch(r"\s*[d∂]\s*(\(.*\))\s*/\s*[d∂]\s*\w+\s*", text):
            rest = of[1]
        if rest.strip() and rest.lstrip()[0] != "=":
            raise Doubt(_OF_WHAT, Span(0, len(text)), rest)
        return _Reader(text, known, False).statement()
    text = _SIDE.sub(_side, _BLANK.sub(lambda found: " " * len(found[0]), text))
    made = []
    for start, end in _statements(text):
        if text[start:end].strip(" \t\r\n.,;"):
            part = " " * start + text[start:end]
            made.append(_Reader(part, known, True).statement())
    return "; ".join(made)


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


@cache
def _heads() -> dict[str, str]:
    r"""Return functions by their names in LaTeX, where these are others: `J_0`, `\psi`,
    `Ai`."""
    found = {"Φ": "ndtr", "σ": "sigmoid"}
    for op in OPS.values():
        latex = (op.latex or "").replace("{{", "{").replace("}}", "}")
        begun = re.match(r"\\?(?:operatorname\{)?(\w+)\}?('?)\(\{0\}", latex)
        name, line, below = begun[1].partition("_") if begun else ("", "", "")
        own = (
            (_greek(name) or name)
            + line
            + below
            + "_prime" * len(begun[2] if begun else "")
        )
        if name and not is_function(own):
            found.setdefault(own, op.base)
    return found


@cache
def _greek(word: str) -> str:
    """Return the letter that a word names, as `theta`; an empty text for another."""
    size = "CAPITAL" if word[:1].isupper() else "SMALL"
    name = {"lambda": "lamda", "lam": "lamda"}.get(word, word.removeprefix("var"))
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return ""


@cache
def _named(letter: str) -> str:
    """Return the word for a Greek letter; an empty text for another letter."""
    words = unicodedata.name(letter, "").split() if len(letter) == 1 else []
    if len(words) != 4 or words[0] != "GREEK" or letter in LOOKALIKES:
        return ""
    word = words[3].lower().replace("lamda", "lam")
    return word.capitalize() if words[1] == "CAPITAL" else word


def _plain(text: str) -> str:
    """Return raised or lowered characters as they stand on the line."""
    return unicodedata.normalize("NFKC", text).translate({0x2212: "-", 0x2044: "/"})


class _Reader:
    """The reader of one statement.

    over     how a name is read that has the variable of a sum as its index: as an
             entry ("entry"; "zero" if the first is 0), or as the whole vector ("each")
    lengths  lengths of vectors, by the names of upper bounds that have no value
    unsure   why the text is in doubt, though it is read on with one meaning
    """

    def __init__(self, text: str, ranks: dict[str, int | None], latex: bool) -> None:
        self.ranks = ranks
        self.latex = latex
        self.over: dict[str, str] = {}
        self.vectors: dict[str, str] = {}
        self.lengths: dict[str, str] = {}
        self.depth = self.bars = 0
        self.unsure: tuple[str, Span] | None = None
        self.put(text)

    def put(self, text: str) -> None:
        """Begin to read a text."""
        self.text, self.tokens, self.at = text, self._tokens(text), 0

    def _tokens(self, text: str) -> list[Token]:
        tokens: list[Token] = []
        at, spaced = 0, False
        while at < len(text):
            found = _PATTERN.match(text, at)
            if found is None:
                raise Doubt("", Span(at, at + 1))
            kind, word, start, at = found.lastgroup or "", found[0], at, found.end()
            if kind == "blank":
                spaced = True
                continue
            if kind == "number":
                word = re.sub(r"[^\d.eE+-]", "", word)
            elif kind in ("sign", "command") or (
                word in _SAME and word not in self.ranks
            ):
                kind = _SAME.get(word, word)
            if kind == "word":
                follower = text[at:].lstrip()[:1]
                for part in self._split(word, text[start - 1 : start], follower):
                    kind = "number" if part.isdecimal() else "word"
                    end = start + len(part)
                    tokens.append(Token(kind, part, start, end, spaced))
                    start, spaced = end, False
            else:
                tokens.append(Token(kind, word, start, at, spaced))
            spaced = False
        return [*tokens, Token("end", "", at, at, spaced)]

    def _split(self, word: str, before: str, after: str) -> list[str]:
        """Return the names that letters stand for, which have no blank between them."""
        if before == "_" and self.latex:
            return [word[0], *(self._split(word[1:], "", after) if word[1:] else ())]
        if before == "_" or (after == "_" and not self.latex):
            return [word]
        bound: Callable[[str], bool] = lambda part: bool(self._bound(part))
        heads = _heads() if self.latex and after in ("(", "^", "'") else {}

        def known(part: str) -> bool:
            return (
                bound(part) or part in {*CONSTANTS, *heads} or bool(self._meant(part))
            )

        found = (parted(word, bound) if after != "(" else None) or parted(word, known)
        letters = re.findall(rf"{_LETTER}|\d+", word) if self.latex else [word]
        return found or letters

    def _bound(self, word: str) -> str | None:
        """Return the name with a value that is spelled so; None without one."""
        first, line, below = word.partition("_")
        spelled = (first, _greek(first), _named(first))
        return next((s + line + below for s in spelled
                     if s and s + line + below in self.ranks), None)  # fmt: skip

    def _meant(self, word: str) -> str | None:
        """Return the function that a word means; None for any other word."""
        if len(word) == 1 or word in self.ranks or word in KEYWORDS:
            return None
        if is_function(word) or word in PLAIN:
            return word
        return other_spelling(word, is_function)

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    @property
    def kind(self) -> str:
        return self.tokens[self.at].kind

    @property
    def after(self) -> Token:
        """The token behind the present one."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def take(self) -> Token:
        token = self.token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def take_if(self, *kinds: str) -> Token | None:
        return self.take() if self.kind in kinds else None

    def expect(self, *kinds: str) -> Token:
        if self.kind not in kinds:
            raise self.doubt()
        return self.take()

    def doubt(self) -> Doubt:
        """Return the error that the text cannot be read at the present token."""
        token = self.tokens[max(0, self.at - (self.kind == "end"))]
        return Doubt("", Span(token.start, token.end))

    def guessed(self, message: str) -> None:
        """Remember that the text is in doubt here, though one meaning is read on."""
        self.unsure = self.unsure or (message, Span(self.token.start, self.token.end))

    def statement(self) -> str:
        """Return the statement, which may assign to a name or define a function."""
        text = _EQUAL.sub(lambda found: "=".ljust(len(found[0])), self.text)
        text = re.sub(r"&(?=\s*=)", " ", text)
        text = text if r"\begin" in text else text.replace("&", " ")
        text = text.rstrip().rstrip(",;" if self.latex else ";").rstrip()
        text = text.removesuffix(".") if self.latex else text
        left, right = _sides(text)
        head = "" if left is None else self._target(left)
        self.put(right)
        items = [self.choice()]
        while self.take_if(",") and self.kind != "end":
            items.append(self.choice())
        self.expect("end")
        if head.isidentifier():
            self.ranks[head] = items[0].rank if len(items) == 1 else None
            if items[0].level in (LOGIC, COMPARISON):
                self.ranks[f"[{head}]"] = items[0].rank
        made = ", ".join(piece.text for piece in items)
        for name, length in self.lengths.items():
            made = re.sub(rf"\b{re.escape(name)}\b", length, made)
        made = f"{head} = {made}" if head else made
        if self.unsure is not None:
            raise Doubt(*self.unsure, made)
        return made

    def _target(self, left: str) -> str:
        """Return what a statement assigns to: a name, a function of names, or nothing
        where its left side is no more than a title."""
        if _DERIVED.fullmatch(left.strip()):
            return ""
        begun = _TITLE.match(left)
        try:
            self.put(left[: begun.end(1)] if begun else left)
            name = self._name_alone().text
            self.expect("end")
            if begun is None:
                return name
            self.put(left[begun.end() :].rstrip().removesuffix(")"))
            inputs = [self._name_alone()]
            while self.take_if(","):
                inputs.append(self._name_alone())
            self.expect("end")
            listed = ", ".join(piece.text for piece in inputs)
            return "" if any(piece.each for piece in inputs) else f"{name}({listed})"
        except Doubt:
            if begun is None:
                raise
            return ""

    def _name_alone(self) -> Piece:
        if self.kind == "word" and self.after.kind in ("end", ","):
            return Piece(self._own(self.take().text))
        piece = self._factor()
        if not piece.text.isidentifier() or piece.text in KEYWORDS:
            raise self.doubt()
        return piece

    # Expressions, from the operators that bind least tightly to those that bind most.

    def choice(self) -> Piece:
        self.depth += 1
        if self.depth > MAX_NESTED_NOTATION:
            raise self.doubt()
        piece = self._logic()
        if self._taken("if"):
            test = self._logic()
            if not self._taken("else"):
                raise self.doubt()
            piece = _chosen(piece, test, self.choice())
        elif self.take_if("over"):
            piece = _joined(piece, "/", self.choice())
        self.depth -= 1
        return piece

    def _taken(self, *words: str) -> str | None:
        """Return the word or the sign that was taken, if it is one of ``words``."""
        word = self.token.text if self.kind == "word" else self.kind
        return word if word in words and self.take() else None

    def _logic(self) -> Piece:
        if self._taken("not"):
            return Piece(f"not {self._logic().at(COMPARISON)}", LOGIC)
        left = self._comparison()
        while sign := self._taken("and", "or"):
            left = _joined(left, f" {sign} ", self._comparison(), LOGIC, COMPARISON)
        return left

    def _comparison(self) -> Piece:
        left = self._sum()
        while sign := self._taken("<", "<=", ">", ">=", "==", "!=", "="):
            sign = "==" if sign == "=" else sign
            left = _joined(left, f" {sign} ", self._sum(), COMPARISON, SUM)
        return left

    def _sum(self) -> Piece:
        left = self._product()
        while sign := self._taken("+", "-"):
            left = _joined(left, f" {sign} ", self._product(), SUM, PRODUCT)
        return left

    def _product(self) -> Piece:
        left = self._signed()
        while True:
            word = self.token.text if self.kind == "word" else self.kind
            if word == "x" and self._is_times():
                self.guessed("it is not said whether x is a name here, or a sign")
                self.take()
                left = _multiplied(left, self._signed(), "*")
            elif word == "*":
                left = _multiplied(left, *self._signed_behind())
            elif self.kind == "word" and word in WORDS and self._is_operand(self.after):
                self.take()
                left = _joined(left, f" {WORDS[word]} ", self._signed())
            elif word == "/":
                left = _joined(left, "/", self._divisor())
            elif word in ("//", "%", "@"):
                self.take()
                left = _joined(left, f" {word} ", self._signed())
            elif self._joins():
                left = _multiplied(left, self._power(), "")
            else:
                return left

    def _signed_behind(self) -> tuple[Piece, str]:
        sign = self.take().text
        return self._signed(), sign

    def _divisor(self) -> Piece:
        sign = self.take()
        piece = self._signed()
        if self._joins() and not piece.text.isdecimal():
            self.unsure = (
                "it is not said how far / divides",
                Span(sign.start, sign.end),
            )
            while self._joins():
                piece = _multiplied(piece, self._power(), "")
        return piece

    def _is_times(self) -> bool:
        """Return whether a letter x stands between factors as a sign does: `) x 6`."""
        before = self.tokens[self.at - 1].kind
        apart = self.token.spaced and self.after.spaced
        return (
            apart and before in ("number", ")") and self.after.kind in ("number", "(")
        )

    def _is_operand(self, token: Token) -> bool:
        return token.kind in ("word", "number", "(", "sqrt") or token.kind[:1] == "\\"

    def _joins(self) -> bool:
        """Return whether a factor begins here that no sign precedes."""
        token, last, kind = self.token, self.tokens[self.at - 1], self.kind
        if kind == "number":
            if last.kind in ("number", "fraction"):
                raise self.doubt()
            return last.kind in ("word", ")", "}", "lowered")
        if kind == "word":
            return token.text not in KEYWORDS and token.text not in WORDS
        if kind in ("|", "norm"):
            later = any(t.kind == kind for t in self.tokens[self.at + 1 :])
            opens = not self.bars or token.text in "⟦⟪"
            return later and opens and token.text not in (r"\rvert", r"\rVert", *"⟧⟫")
        if kind == "(" and last.kind == "word" and not self._is_value(last.text):
            raise self.doubt()
        command = kind[:1] == "\\" and kind not in _NO_FACTORS
        return command or kind in _FACTORS

    def _is_value(self, name: str) -> bool:
        """Return whether a name before a bracket is a factor: it has a value, or stands
        for one elsewhere."""
        beside = zip(self.tokens, self.tokens[1:], strict=False)
        elsewhere = any(a.text == name and b.kind != "(" for a, b in beside)
        return bool(elsewhere or self._bound(name) or name in CONSTANTS or self.over)

    def _signed(self) -> Piece:
        sign = self._taken("-", "+")
        if sign is None:
            return self._power()
        piece = self._signed()
        return _negative(piece) if sign == "-" else piece

    def _power(self) -> Piece:
        piece = self._factor()
        while True:
            token = self.token
            if token.kind == "raised":
                self.take()
                piece = _raised(piece, self._inside(_plain(token.text)))
            elif token.kind == "T" and not token.spaced:
                self.take()
                piece = _transposed(piece)
            elif token.kind == "**":
                self.take()
                piece = self._to_power(piece)
            elif token.kind == "!":
                self.take()
                piece = Piece(f"exp(lgamma({piece.text} + 1))", ATOM, piece.rank)
            elif token.kind == "°":
                self.take()
                piece = Piece(f"{piece.at(PRODUCT)}*pi/180", PRODUCT, piece.rank)
            elif token.kind == "%" and not self._is_operand(self.after):
                self.take()
                piece = Piece(f"{piece.at(PRODUCT)}/100", PRODUCT, piece.rank)
            else:
                return piece

    def _to_power(self, base: Piece) -> Piece:
        """Return a base with the exponent behind it: a power, a transpose, the index
        `(i)` or an inverse matrix."""
        start, closing = self.at, _CLOSING.get(self.kind)
        inner = self.take().text
        inner = self._skip(closing) if closing else inner
        turned = inner.strip("{} ") in ("T", "⊤", r"\top", r"\intercal")
        if turned and (not self._bound("T") or base.rank in (1, 2)):
            return _transposed(base)
        index = re.fullmatch(r"\s*\(?(\w)\)?\s*", inner) if closing else None
        if index and index[1] in self.over and (closing == ")" or "(" in inner):
            return self._entry(base.text, index[1])
        self.at = start
        exponent = self._group() if closing == "}" else self._glued(base)
        if base.rank == 2 and exponent.text == "-1":
            return Piece(f"inverse({base.text})", ATOM, 2)
        return _raised(base, exponent)

    def _glued(self, base: Piece) -> Piece:
        """Return an exponent without brackets: with its sign, and with all names that
        stand together, as `kt` in `e^-kt`."""
        sign, first = self._taken("-", "+"), self.token
        piece = self._factor()
        if self.take_if("**"):
            piece = _raised(piece, self._glued(piece))
        while (
            self.kind == "word" and not (self.token.spaced or self.latex)
            and not self._meant(self.token.text)
        ):  # fmt: skip
            if first.kind == "number":
                if base.text == "e" or base.text[:1].isdigit():
                    raise self.doubt()
                break
            piece = _multiplied(piece, self._factor(), "")
        return _negative(piece) if sign == "-" else piece

    def _inside(self, text: str) -> Piece:
        """Return what another text means at this place."""
        outside = self.text, self.tokens, self.at
        self.put(text)
        piece = self.choice()
        self.expect("end")
        self.text, self.tokens, self.at = outside
        return piece

    def _skip(self, closing: str | None) -> str:
        """Pass over the rest of brackets, and return what is in them."""
        start, depth = self.token.start, 1
        opening = self.tokens[self.at - 1].kind
        while depth:
            token = self.take()
            depth += (token.kind == opening) - (token.kind == closing)
            if token.kind == "end":
                raise self.doubt()
        return self.text[start : token.start]

    # Factors.

    def _factor(self) -> Piece:
        kind = self.kind
        if kind in _CLOSING:
            return self._brackets()
        if kind in _STYLES:
            return self._styled()
        if kind == r"\frac" and (
            derived := _DERIVED.match(self.text, self.token.start)
        ):
            self.guessed(_OF_WHAT)
            while self.token.start < derived.end() and self.kind != "end":
                self.take()
            return self._product()
        token = self.take()
        if kind == "number":
            if self.kind == "fraction" and not self.token.spaced:
                return Piece(f"({token.text} + {_plain(self.take().text)})", ATOM, 0)
            return Piece(token.text, ATOM, 0)
        if kind == "fraction":
            return Piece(_plain(token.text), PRODUCT, 0)
        if kind == "string":
            return Piece(token.text)
        if kind == "word":
            return self._word(token.text)
        if kind in ("|", "norm"):
            return self._between_bars(token)
        if kind in ("sqrt", "cbrt", r"\sqrt"):
            return self._root(kind)
        if kind in ("sum", "prod"):
            return self._over_index(kind)
        if kind in ("floor", "ceil"):
            return _call(kind, [self._until(")")])
        if kind == r"\frac":
            return _joined(self._argument(), "/", self._argument())
        if kind == r"\binom":
            return _call("nCr", [self._argument(), self._argument()])
        if kind == r"\begin":
            return self._environment()
        if kind in _ACCENTS:
            return self._subscripts(f"{self._argument().held}_{_ACCENTS[kind]}")
        if kind == r"\infty":
            return Piece("inf", ATOM, 0)
        word = kind.removeprefix("\\")
        if self._meant(word):
            return self._applied(word)
        if word == "Gamma" and self.kind == "(" and not self._bound(word):
            return Piece(f"exp(lgamma({self._brackets().held}))")
        if kind == word or not _greek(word):
            self.at -= 1
            raise self.doubt()
        return self._subscripts(word)

    def _until(self, *closing: str) -> Piece:
        outside, self.bars = self.bars, 0
        piece = self.choice()
        self.bars = outside
        self.expect(*closing)
        return piece

    def _group(self) -> Piece:
        self.expect("{")
        return self._until("}")

    def _argument(self) -> Piece:
        """Return an argument of a command: a group, or a single letter or digit."""
        token = self.token
        if token.kind == "number" and len(token.text) > 1:
            middle = token.start + 1
            self.tokens[self.at : self.at + 1] = [
                token._replace(text=token.text[0], end=middle),
                Token("number", token.text[1:], middle, token.end, False),
            ]
        if self.kind == "word":
            return self._indexed(self.take().text, "")
        return self._group() if self.kind == "{" else self._factor()

    def _styled(self) -> Piece:
        r"""Return what a command of type stands around: `\mathbf{w}`, `\text{relu}`."""
        self.take()
        if self.kind != "{":
            return self._factor()
        start = self.at
        self.take()
        word = self._skip("}").replace(r"\_", "_").strip()
        if word == "e" and not self._bound("e"):
            return Piece("e", ATOM, 0)
        if word in ("0", "1") and self.take_if("_"):  # an array of it, with its sizes
            self.expect("{")
            sizes = self._skip("}").replace(r"\times", ",").replace(" ", "")
            return Piece(f"full(({sizes},), {word})", ATOM, 1 + sizes.count(","))
        if word.isidentifier():
            return self._applied(word) if self._meant(word) else self._subscripts(word)
        self.at = start
        return self._group()

    def _word(self, word: str) -> Piece:
        if word in PREFIX_HEADS and word not in self.ranks:
            while self.take_if("."):
                word = self.expect("word").text
        if self._meant(word) and self.kind != "lowered":
            return self._applied(word)
        if word in KEYWORDS and not _greek(word):
            raise self.doubt()
        return self._members(self._subscripts(word))

    def _members(self, piece: Piece) -> Piece:
        """Return a value with the methods, attributes and indices behind it."""
        while not self.token.spaced and self.kind in (".", "["):
            if self.take().kind == "[":
                piece = Piece(f"{piece.text}[{self._skip(']')}]")
                continue
            piece = Piece(f"{piece.text}.{self.expect('word').text}")
            if self.kind == "(":
                piece = _call(piece.text, self._listed())
        return piece

    def _subscripts(self, base: str) -> Piece:
        """Return a name with the subscript behind it, or an entry of a vector."""
        below = ""
        if self.kind == "lowered":
            below = _plain(self.take().text)
        elif self.kind == "_" and (self.latex or not self.token.spaced):
            self.take()
            if self.take_if("{"):
                below = re.sub(r"\\[a-z]+\s*\{(\w+)\}|\s+", r"\1", self._skip("}"))
            else:
                below = self.take().text.removeprefix("\\")
                while not self.latex and self.take_if("_"):
                    below += "_" + self.expect("word", "number").text
        if self.kind == "**" and self.after.kind == "'":
            self.take()
        own = f"{base}_{below}" if below else base
        while self.take_if("'"):
            own, base = f"{own}_prime", f"{base}_prime"
        free = not self._bound(own) and not self._bound(base)
        first, line, rest = own.partition("_")
        head = _heads().get((_greek(first) or first) + line + rest)
        if free and head is not None and self._calls() and (self.latex or own == "σ"):
            return self._applied(head)
        if free and "_prime" in own:
            raise self.doubt()
        return self._indexed(base, below)

    def _calls(self) -> bool:
        """Return whether brackets with an argument follow, perhaps after a power."""
        if self.kind != "**":
            return self.kind == "("
        start = self.at
        self.take()
        closing = _CLOSING.get(self.take().kind)
        if closing:
            self._skip(closing)
        called, self.at = self.kind == "(", start
        return called

    def _indexed(self, base: str, below: str) -> Piece:
        """Return the meaning of a name with a subscript, or without one."""
        name, how = self._bound(base), self.over.get(base)
        if not below:
            if how is not None:
                if how == "each":
                    raise self.doubt()
                return Piece(base if how == "zero" else f"({base} + 1)", ATOM, 0)
            number = base in CONSTANTS and not name
            return Piece(base, ATOM, 0) if number else Piece(
                name or self._own(base), ATOM, self.ranks.get(name or "")
            )  # fmt: skip
        joined = self._bound(f"{base}_{below}") or self._bound(base + below)
        if joined:
            return Piece(joined, ATOM, self.ranks[joined])
        parts = below.split(",")
        if len(parts) == 1 and below.isalpha() and {*below} <= self.over.keys():
            parts = list(below)
        if any(re.match(r"\w", p) and p[0] in self.over for p in parts):
            return self._entry(name or self._own(base), *parts)
        rank = self.ranks.get(name) if name else None
        numbers = all(_INDEX.fullmatch(part) for part in parts)
        if numbers and ((name and rank) or not base.isidentifier()):
            if "0" in parts:  # in notation the first entry has the index 1
                raise self.doubt()
            counted = lambda found: str(int(found[0]) - 1)
            where = re.sub(r"(?<![:\d-])\d+(?!\d)", counted, ", ".join(parts))
            whole = sum(":" not in part for part in parts)
            rank = None if rank is None else rank - whole
            return Piece(f"{name or base}[{where}]", ATOM, rank)
        if name and rank and len(below) == 1:
            return Piece(name, ATOM, rank, each=True)
        own = f"{self._own(base)}_{below}"
        if not own.isidentifier():
            raise self.doubt()
        return Piece(own)

    def _own(self, word: str) -> str:
        """Return a name without a value as the language spells it."""
        return self._bound(word) or ("lam" if word == "lambda" else word)

    def _entry(self, base: str, *indices: str) -> Piece:
        """Return the entry of a vector at variables of the sums around."""
        rank = self.ranks.get(base)
        if all(self.over.get(each) == "each" for each in indices):
            return Piece(base, ATOM, rank, each=True)
        shown = []
        for each in indices:
            found = re.fullmatch(r"([^\W\d]?)(?:([+-]?)(\d+))?", each)
            if found is None or self.over.get(found[1], found[1] and "each") == "each":
                raise self.doubt()
            name, sign, number = found[1], found[2], found[3] or ""
            if name:
                self.vectors.setdefault(name, base)
                shown.append(f"{name} {sign} {number}" if number else name)
            else:
                shown.append(str(int(number) - 1))
        left = None if rank is None else max(0, rank - len(indices))
        return Piece(f"{base}[{', '.join(shown)}]", ATOM, left)

    def _applied(self, word: str) -> Piece:
        """Return the call of a function on what follows: in brackets, or the factors up
        to the next sign."""
        name, power, base = self._meant(word) or word, None, None
        while self.kind in ("**", "raised", "_", "lowered"):
            token = self.take()
            if token.kind == "raised":
                power = self._inside(_plain(token.text))
            elif token.kind == "lowered":
                base = Piece(_plain(token.text))
            elif token.kind == "_":
                base = self._argument()
            elif self.kind in ("{", "("):
                opened = self.take().kind
                power = self._until(_CLOSING[opened])
            else:
                minus = self._taken("-")
                power = Piece(self.expect("number", "word").text)
                power = _negative(power) if minus else power
        if power and power.text == "-1":
            spelled = (f"a{name}", f"{name}inv", f"{name}i")
            inverse = next((each for each in spelled if self._meant(each)), None)
            if inverse is None:
                raise self.doubt()
            name, power = self._meant(inverse) or "", None
        if (
            name in ("digamma", "psi") and power
        ):  # its derivatives are written as powers of it
            base, power, name = power, None, "polygamma"
        if name == "sqrt" and self.take_if("["):
            degree = self._until("]")
            return _call("root", [self._operand(), degree])
        if self.kind == "(" or (self.kind in ("[", "{") and not self.latex):
            given = self._listed()
        else:
            given = [self._group() if self.kind == "{" else self._operand()]
        if base is not None and name == "log":
            own = {"2": "log2", "10": "log10", "e": "log"}.get(base.held)
            call = _call(own or "log", given if own else [*given, base])
        elif base is not None and name in ("polygamma", "li"):
            call = _call(name.replace("li", "polylog"), [base, *given])
        else:
            call = _call(name, given)
        return _raised(call, power) if power else self._members(call)

    def _operand(self) -> Piece:
        """Return the argument of a function that has no brackets."""
        if self.kind == "-" and not self.after.spaced:
            self.take()
            return _negative(self._operand())
        if self._begins_function():
            return self._power()
        alone = self.kind in (r"\frac", r"\sqrt", "norm", "|", "[", "sqrt")
        piece = self._power()
        while not alone and self._joins():
            if self.kind in ("sum", "prod", r"\frac") or self._begins_function():
                break
            if self.kind in _CLOSING and self.tokens[self.at - 1].kind != "number":
                raise self.doubt()  # in sin x (x + 1), is the bracket in the argument?
            piece = _multiplied(piece, self._power(), "")
        return piece

    def _begins_function(self) -> bool:
        if self.kind in (r"\operatorname", r"\text", r"\mathrm"):
            return True
        named = self.kind == "word" or self.kind[:1] == "\\"
        return named and bool(self._meant(self.token.text.removeprefix("\\")))

    def _listed(self) -> list[Piece]:
        """Return what stands between the commas in brackets, with keywords."""
        opened = self.take().kind
        closing = _CLOSING[opened]
        found: list[Piece] = []
        outside, self.bars = self.bars, 0
        while self.kind != closing:
            start, name = self.at, ""
            if self.kind in _STYLES and self.after.kind == "{":
                self.at += 2
                name = self._skip("}")
            elif self.kind == "word":
                name = self.take().text
            if not name or opened != "(" or not self.take_if("="):
                self.at, name = start, ""
            piece = self.choice()
            found.append(piece if not name else Piece(f"{name}={piece.text}"))
            if not self.take_if(",", ";"):
                break
        self.bars = outside
        self.expect(closing)
        return found

    def _brackets(self) -> Piece:
        """Return what is in brackets: a value, or a list if there are commas."""
        alone = self.at == 0 and not self.latex
        opened = self.kind
        pieces = self._listed()
        if opened == "{" and len(pieces) == 1:
            return pieces[0]
        if len(pieces) > 1 or (opened == "[" and alone and self.kind == "end"):
            rank = pieces[0].rank
            text = f"[{', '.join(piece.text for piece in pieces)}]"
            return Piece(text, ATOM, None if rank is None else rank + 1)
        if not pieces:
            raise self.doubt()
        (piece,) = pieces
        test = piece.level in (LOGIC, COMPARISON) or f"[{piece.text}]" in self.ranks
        if opened == "[" and test and self.latex:
            return Piece(f"where({piece.text}, 1, 0)", ATOM, piece.rank)
        if opened == "(" and self.kind == "_" and self.latex:
            return self._subscripts(f"({piece.text})")
        if piece.level < ATOM:
            piece = piece._replace(text=f"({piece.text})", level=ATOM)
        return self._members(piece)

    def _between_bars(self, opened: Token) -> Piece:
        outside, self.bars = self.bars, self.bars + 1
        piece = self.choice()
        self.bars = outside
        self.expect(opened.kind)
        if opened.kind == "|":
            return _call("det" if piece.rank == 2 else "abs", [piece])
        kind = ""
        if self.take_if("_"):
            kind = self._argument().text
        elif self.kind == "lowered":
            kind = _plain(self.take().text)
        which = [] if kind in ("", "2", "F") else [Piece(kind)]
        return _call("norm", [piece, *which])._replace(rank=0)

    def _root(self, kind: str) -> Piece:
        if kind == r"\sqrt":
            degree = [self._until("]")] if self.take_if("[") else []
            return _call("root" if degree else "sqrt", [self._argument(), *degree])
        word = self.kind == "word"
        inner = self._factor()
        while word and self.kind == "word" and not self.token.spaced:
            inner = _multiplied(inner, self._factor(), "")
        if self.kind in ("**", "raised"):
            raise self.doubt()  # is the power of the root, or under it?
        return _call(kind, [inner])

    # Sums and products over an index, matrices and cases.

    def _over_index(self, name: str) -> Piece:
        """Return a sum or a product over an index, or over all entries.

        Over all entries, or up to a bound that has no value, names with the index are
        whole vectors; with bounds it goes over the index, from 0.
        """
        index, lower, upper = "", None, None
        for _ in range(2):
            if self.take_if("_"):
                index, lower = self._lower_bound()
            elif self.take_if("**"):
                upper = self._argument()
        if lower is None or upper is None:
            return _call(name, [self._summed(index, "each")])._replace(rank=0)
        start, end = self.at, upper.text
        unknown = end.isidentifier() and end not in self.ranks
        if unknown and lower == "1":
            try:
                body = self._summed(index, "each")
            except Doubt:
                self.at = start
            else:
                vector = next((n for n in re.findall(r"[^\W\d]\w*", body.text)
                               if self.ranks.get(n) == 1), None)  # fmt: skip
                if vector is not None and body.each:
                    self.lengths[end] = f"len({vector})"
                    return _call(name, [body])._replace(rank=0)
                self.at = start
        body = self._summed(index, "zero" if lower == "0" else "entry")
        if unknown and index in self.vectors:
            self.lengths[end] = f"len({self.vectors[index]})"
        first = "" if lower == "1" else f"{lower} - 1, "
        first = f"{int(lower) - 1}, " if lower.isdecimal() and lower != "1" else first
        ends = f"{upper.at(SUM)} + 1" if lower == "0" else f"{first}{end}"
        loop = Piece(f"[{body.text} for {index} in range({ends})]")
        return _call(name, [loop])._replace(rank=body.rank)

    def _lower_bound(self) -> tuple[str, str | None]:
        """Return the index of a sum, and its first value if it has one."""
        grouped, lower = self.take_if("{"), None
        index = self.expect("word").text
        if grouped:
            while self.kind in ("word", ","):
                index += self.take().text.strip(",")
            if self.take_if("="):
                lower = self.choice().text
            self.expect("}")
        return index, lower

    def _summed(self, index: str, how: str) -> Piece:
        """Return the product behind a sum's sign, with the terms behind it that have
        the index, too."""
        outside = self.over
        self.over = {**outside, **dict.fromkeys(index, how)}
        body = self._product()
        while self.kind in ("+", "-") and self._in_next_term(index):
            body = _joined(body, f" {self.take().kind} ", self._product(), SUM, PRODUCT)
        self.over = outside
        return body

    def _in_next_term(self, index: str) -> bool:
        depth = 0
        for at in range(self.at + 1, len(self.tokens)):
            kind, text = self.tokens[at].kind, self.tokens[at].text
            depth += (kind in _CLOSING) - (kind in (")", "]", "}"))
            if depth < 0 or (not depth and kind in ("+", "-", "end", ",")):
                return False
            if text in {*index} and (depth or self.tokens[at - 1].kind == "_"):
                return True
        return False

    def _environment(self) -> Piece:
        r"""Return `cases` as a choice, and a matrix as a list of rows."""
        self.expect("{")
        kind = self._skip("}").rstrip("*")
        if kind == "array" and self.take_if("{"):
            self._skip("}")
            kind = "cases"
        rows: list[list[Piece | None]] = [[]]
        while self.kind != r"\end":
            if self.take_if(r"\\"):
                rows.append([])
            elif not self.take_if("&"):
                rows[-1].append(self._cell())
        self.take()
        self.expect("{")
        self._skip("}")
        if kind == "cases":
            return self._cases([row for row in rows if row])
        cells = [[cell.text for cell in row if cell] for row in rows if row]
        if all(len(row) == 1 for row in cells):
            return Piece(f"[{', '.join(row[0] for row in cells)}]", ATOM, 1)
        lines = [f"[{', '.join(row)}]" for row in cells]
        return Piece(f"[{', '.join(lines)}]", ATOM, 2)

    def _cell(self) -> Piece | None:
        """Return one cell; None for the word of a case that is left over."""
        while self.kind in (r"\text", r"\textrm", r"\mbox", r"\mathrm"):
            start = self.at
            self.take()
            self.expect("{")
            word = self._skip("}")
            if _OTHERWISE.match(word):
                self.take_if(",", ".")
                return None
            if word.strip(" ,:") not in ("if", "for", "when", "wenn", "si", ""):
                self.at = start
                break
        self._taken("if", "for")
        if self.kind == "word" and _OTHERWISE.match(self.text, self.token.start):
            while self.kind == "word":
                self.take()
            return None
        piece = self._logic()
        self.take_if(",", ".", ";")
        return piece

    def _cases(self, rows: list[list[Piece | None]]) -> Piece:
        value = Piece("nan", ATOM, 0)
        for row in reversed(rows):
            then, test = [*row, None][:2]
            if then is None or len(row) > 2:
                raise self.doubt()
            value = then if test is None else _chosen(then, test, value)
        return Piece(f"({value.text})", ATOM, value.rank)


def _sides(text: str) -> tuple[str | None, str]:
    """Return the two sides of the first equals sign that is in no brackets, the right
    one at its place; None and the text without such a sign."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({[") - (sign in ")}]")
        near = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
        if sign == "=" and not depth and not re.search("[=<>!]", near):
            return text[:at] if text[:at].strip() else None, (
                " " * (at + 1) + text[at + 1 :]
            )
    return None, text


def _rank(*pieces: Piece) -> int | None:
    """Return the number of dimensions of what is computed entry by entry."""
    ranks = [piece.rank for piece in pieces]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) or any(known) else None


def _joined(
    left: Piece, sign: str, right: Piece, level: int = PRODUCT, behind: int = SIGN
) -> Piece:
    text = f"{left.at(level)}{sign}{right.at(behind)}"
    return Piece(text, level, _rank(left, right), left.row, left.each or right.each)


def _negative(piece: Piece) -> Piece:
    return piece._replace(text=f"-{piece.at(SIGN)}", level=SIGN)


def _raised(base: Piece, exponent: Piece) -> Piece:
    text = f"{base.at(ATOM)}^{exponent.at(POWER)}"
    each = base.each or exponent.each
    return Piece(text, POWER, _rank(base, exponent), each=each)


def _transposed(piece: Piece) -> Piece:
    if piece.rank == 1:
        return piece._replace(row=not piece.row)
    return Piece(f"{piece.at(ATOM)}.T", ATOM, 2) if piece.rank == 2 else piece


def _multiplied(left: Piece, right: Piece, sign: str) -> Piece:
    """Return a product: of matrices and vectors as such where the notation means that,
    and else entry by entry; an empty ``sign`` means that none was written."""
    a, b = left.rank, right.rank
    if right.row and a == 1:
        return Piece(f"outer({left.held}, {right.held})", ATOM, 2)
    whole = bool(a and b) and not (left.each or right.each)
    if whole and sign in _CROSSES and a == b == 1:
        return Piece(f"cross({left.held}, {right.held})", ATOM, 1)
    inner = sign in _DOTS or left.row or (not sign and (a, b) != (1, 1))
    if not (whole and inner):
        made = _joined(left, "*", right)
        return made._replace(row=left.row or (right.row and not a))
    made = _joined(left, " @ ", right)
    rank = (a or 0) + (b or 0) - 2
    return made._replace(rank=rank, row=left.row and rank == 1)


def _chosen(then: Piece, test: Piece, other: Piece) -> Piece:
    rank = _rank(then, test, other)
    if rank:
        return Piece(f"where({test.text}, {then.text}, {other.text})", ATOM, rank)
    text = f"{then.at(LOGIC)} if {test.at(LOGIC)} else {other.text}"
    return Piece(text, CHOICE, rank)


def _call(name: str, given: list[Piece]) -> Piece:
    rank = _rank(*given) if given else None
    shown = [piece.held for piece in given]
    if name in ("softmax", "log_softmax", "softmin") and len(given) == 1:
        shown.append("1" if rank == 2 else "0")
    if name in _OF_ALL and len(given) == 1:
        rank = 0
    text = f"{name}({', '.join(shown)})"
    return Piece(text, ATOM, rank, each=any(piece.each for piece in given))
