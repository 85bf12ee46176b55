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
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from ..ops import OPS
from .excerpt import Span
from .lexicon import KEYWORDS, LOOKALIKES, PREFIX_HEADS, WORDS_BETWEEN
from .maxima import MAX_NESTED_NOTATION
from .plain import FUNCTIONS as PLAIN
from .suggest import other_spelling, parted
from .tensor_library import CONSTANTS, is_function

NOWHERE = Span(0, 0)
SUM, PRODUCT, SIGN, POWER, ATOM = 5, 6, 7, 8, 9
COMPARISON, LOGIC, CHOICE = 4, 2, 0


class Doubt(Exception):
    """An error: the text can be meant in several ways, or in none.

    message  why, if the text can be meant in several ways
    at       where it cannot be read, in characters
    guess    the text with one of the meanings written out; None if none was found
    """

    def __init__(self, message: str = "", at: Span = NOWHERE, guess: str | None = None):
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
        """The text without the brackets around all of it."""
        return self.text[1:-1] if _is_held(self.text) else self.text


class Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int
    spaced: bool


IN_LATEX = re.compile(r"\\[A-Za-z|{,;!]|[_^]\s*\{|^\s*\$")
_RAISED = "".join(
    chr(at)
    for at in (*range(0xB2, 0xBA), *range(0x2B0, 0x2E5), *range(0x1D2C, 0x1D6B),
               *range(0x2070, 0x2080))
    if unicodedata.decomposition(chr(at)).startswith("<super>")
)  # fmt: skip
_LOWERED = "".join(
    chr(at)
    for at in (*range(0x1D62, 0x1D6B), *range(0x2080, 0x209D), 0x2C7C)
    if unicodedata.decomposition(chr(at)).startswith("<sub>")
)
_LETTER = rf"[^\W\d_{_RAISED}{_LOWERED}½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜]"
_PATTERN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>\d{1,3}(?:(?:,\\!|\{,\})\d{3})+|\d+(?:\.\d+|\.(?![\w.]))?(?:[eE][+-]?\d+(?!\w))?|\.\d+)"
    r"|(?P<command>\\(?:[A-Za-z]+|[^A-Za-z\s]))"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|\d)*)"
    rf"|(?P<raised>[{_RAISED}]+)|(?P<lowered>[{_LOWERED}]+)"
    r"|(?P<string>\"[^\"]*\"|'[^']*')"
    r"|(?P<fraction>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅛⅜])"
    r"|(?P<sign>\*\*|//|\.[*/^]|<=|>=|==|!=|<>|=<|\|\||[^\w\s]|_)"
)
_SAME = {
    **dict.fromkeys("−–—‐‑‒﹣－", "-"),
    **dict.fromkeys(("×", "✕", "⨯", "✖"), "times"),
    **dict.fromkeys("·⋅∙∗•⊙", "dot"),
    **dict.fromkeys(("÷", "∕", "⁄", "./"), "/"),
    **dict.fromkeys(("≤", "⩽", "≦", "=<"), "<="),
    **dict.fromkeys(("≥", "⩾", "≧"), ">="),
    **dict.fromkeys(("≠", "<>"), "!="),
    **dict.fromkeys(("^", ".^"), "**"),
    **dict.fromkeys(("‖", "||", r"\|"), "norm"),
    **dict.fromkeys(("∧", r"\wedge", r"\land"), "and"),
    **dict.fromkeys(("∨", r"\vee", r"\lor"), "or"),
    **dict.fromkeys(("¬", r"\neg", r"\lnot"), "not"),
    **dict.fromkeys((r"\cdot", r"\ast", r"\odot", r"\circ"), "dot"),
    **dict.fromkeys((r"\le", r"\leq", r"\leqslant"), "<="),
    **dict.fromkeys((r"\ge", r"\geq", r"\geqslant"), ">="),
    **dict.fromkeys((r"\ne", r"\neq"), "!="),
    **dict.fromkeys((r"\lvert", r"\rvert", r"\vert", r"\mid", "∣"), "|"),
    **dict.fromkeys((r"\lVert", r"\rVert", r"\Vert"), "norm"),
    **dict.fromkeys(("∑", "Σ", r"\sum"), "sum"),
    **dict.fromkeys(("∏", "Π", r"\prod"), "prod"),
    **dict.fromkeys((r"\dfrac", r"\tfrac", r"\cfrac"), r"\frac"),
    **dict.fromkeys(("⊤", "ᵀ", r"\top", r"\intercal"), "T"),
    r"\{": "(", r"\}": ")", "⟨": "(", "⟩": ")",
    r"\times": "times", r"\div": "/", r"\bmod": "%", ".*": "*", r"\over": "over",
    r"\%": "percent", "√": "sqrt", "∛": "cbrt", r"\lt": "<", r"\gt": ">",
    "⌊": "floor", "⌈": "ceil", r"\lfloor": "floor", r"\lceil": "ceil",
    "⌋": ")", "⌉": ")", r"\rfloor": ")", r"\rceil": ")", "∞": r"\infty",
}  # fmt: skip
"""Kinds of signs and commands that mean the same in other notations."""

_BLANKS = re.compile(
    r"\\(?:[;: ]|,|(?<!,\\)!|quad|qquad|displaystyle|limits|nonumber|notag)(?![A-Za-z])"
    r"|\\label\{[^}]*\}|~|\$\$?|\\[][()]|\\[bB]igg?[lrm]?(?![A-Za-z])|\\middle\b"
)
_SIDES = re.compile(r"\\(left|right)\s*(\\?[|.]|(?=\W))")
_COMMENT = re.compile(r"(?m)^\s*%.*$")
_ENDS = re.compile(r"\\begin\b|\\end\b|\\\\|\\.|[{}();]|\n(?=[^=\n&]{1,60}&?\s*=)")
_AROUND = re.compile(
    r"\\(?:begin|end)\s*\{(?:equation|align|aligned|gather|split|math|displaymath)\*?\}"
)
_STYLES = frozenset(
    (r"\mathbf", r"\boldsymbol", r"\mathrm", r"\mathit", r"\mathsf", r"\mathtt", r"\bf",
     r"\rm", r"\it", r"\text", r"\textrm", r"\textit", r"\textbf", r"\mathcal", r"\bm",
     r"\operatorname", r"\vec", r"\mathbb", r"\mbox")
)  # fmt: skip
_ACCENTS = {r"\hat": "hat", r"\bar": "bar", r"\tilde": "tilde", r"\dot": "dot",
            r"\widehat": "hat", r"\overline": "bar", r"\widetilde": "tilde"}  # fmt: skip
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OTHERWISE = re.compile(r"(?:otherwise|else|sonst|sinon)\b")
_OF_NUMBER = frozenset(
    {"norm", "det", "trace", "sum", "mean", "prod", "max", "min", "logsumexp", "len"}
)
_EQUAL = re.compile(r":=|≈|≡|≔|\\(?:approx|equiv|coloneqq|triangleq)(?![A-Za-z])")


def rewritten(text: str, ranks: Mapping[str, int | None]) -> str:
    """Return a program in mathematical notation as one of the language.

    Raises:
        Doubt: a part of it is unknown, or can be meant in two ways.
    """
    latex = bool(IN_LATEX.search(text))
    if not latex:
        return _Reader(text, dict(ranks), False).statement()
    for pattern in (_COMMENT, _AROUND, _BLANKS):
        text = pattern.sub(_blank, text)
    text = _SIDES.sub(_side, text)
    known, made = dict(ranks), []
    for start, end in _statements(text):
        if text[start:end].strip(" \t\r\n.,;"):
            reader = _Reader(" " * start + text[start:end], known, True)
            made.append(reader.statement())
    return "\n".join(made)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _side(found: re.Match[str]) -> str:
    """Return a sign of a pair, marked with its side if it is a bar."""
    sign, side = found[2], found[1][0]
    marked = {"|": f"\\{side}vert", "\\|": f"\\{side}Vert", ".": ""}.get(sign, sign)
    return marked.ljust(len(found[0]))


def _statements(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield where the statements of a text of LaTeX begin and end: they end at `\\`,
    at `;` behind a formula, and before a line that assigns."""
    depth, start = 0, 0
    for found in re.finditer(_ENDS, text):
        sign = found[0]
        depth += sign in ("{", "(", r"\begin")
        depth -= sign in ("}", ")", r"\end")
        if not depth and sign in ("\\\\", ";", "\n"):
            yield start, found.start()
            start = found.end()
    yield start, len(text)


def _is_held(text: str) -> bool:
    """Return whether a pair of round brackets is around all of a text."""
    if not text.startswith("("):
        return False
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if not depth:
            return at == len(text) - 1
    return False


@cache
def _heads() -> dict[str, str]:
    r"""Return functions by what stands before their brackets in LaTeX: `J_0`, `\psi`."""
    found = {"Φ": "ndtr", "σ": "sigmoid"}
    for op in OPS.values():
        begun = re.match(r"([^{}()]+)\(\{0\}", op.latex or "")
        head = begun and _letters(begun[1].replace("\\", ""))
        if head and len(head.partition("_")[0]) == 1:
            found.setdefault(head, op.base)
    return found


def _letters(name: str) -> str:
    """Return a name with the Greek letter that it begins with as one character."""
    first, line, rest = name.partition("_")
    return (_greek(first) or first) + line + rest


@cache
def _greek(word: str) -> str:
    """Return the letter that a word names, as `theta`; an empty text for another."""
    size = "CAPITAL" if word[:1].isupper() else "SMALL"
    plain = {"varepsilon": "epsilon", "varphi": "phi", "vartheta": "theta"}
    plain["lambda"] = plain["lam"] = "lamda"
    try:
        return unicodedata.lookup(
            f"GREEK {size} LETTER {plain.get(word, word).upper()}"
        )
    except KeyError:
        return ""


@cache
def _named(letter: str) -> str:
    """Return the word for a Greek letter; an empty text for another letter."""
    words = unicodedata.name(letter, "").split() if len(letter) == 1 else []
    if len(words) != 4 or words[0] != "GREEK" or letter in LOOKALIKES:
        return ""
    word = {"LAMDA": "lambda"}.get(words[3], words[3].lower())
    return word.capitalize() if words[1] == "CAPITAL" else word


class _Reader:
    """The reader of one statement.

    over   the variables of the sums around, with what a name that has one as its index
           is: an entry ("entry"), or the whole vector ("each")
    """

    def __init__(self, text: str, ranks: dict[str, int | None], latex: bool) -> None:
        self.ranks = ranks
        self.latex = latex
        self.over: dict[str, str] = {}
        self.zero: set[str] = set()
        self.lengths: dict[str, str] = {}
        self.free: set[str] = set()
        self.depth = self.bars = 0
        self.unsure: tuple[str, Span] | None = None
        self.put(text)

    def put(self, text: str) -> None:
        self.text = text
        self.tokens = self._tokens(text)
        self.at = 0

    def _tokens(self, text: str) -> list[Token]:
        tokens: list[Token] = []
        at, spaced = 0, False
        while at < len(text):
            found = _PATTERN.match(text, at)
            if found is None:
                raise Doubt(at=Span(at, at + 1))
            kind, word, at = found.lastgroup or "", found[0], found.end()
            if kind == "blank":
                spaced = True
                continue
            if kind == "command" and word == r"\prime":
                kind, word = "sign", "'"
            if kind == "number":
                word = re.sub(r"[^\d.eE+-]", "", word)
            if word in ("Σ", "Π") and not self._is_bound(word):
                kind = "sign"
            if kind == "word":
                tokens += self._split(word, found.start(), spaced, text)
            else:
                kind = _SAME.get(word, word) if kind in ("sign", "command") else kind
                tokens.append(Token(kind, word, found.start(), at, spaced))
            spaced = False
        return [*tokens, Token("end", "", at, at, spaced)]

    def _split(self, word: str, start: int, spaced: bool, text: str) -> list[Token]:
        """Return the tokens of letters that stand together: a name, or several."""
        below, after = text[start - 1 : start] == "_", text[start + len(word) :]
        known = self._is_bound if after[:1] != "(" else self._is_known
        if below and self.latex:
            parts = [word[0], *(self._parts(word[1:]) if word[1:] else ())]
        elif below or (after[:1] == "_" and not self.latex):
            parts = [word]
        else:
            found = parted(word, lambda part: bool(known(part)))
            parts = found or self._parts(word)
        tokens, at = [], start
        for part in parts:
            kind = "number" if part.isdecimal() else "word"
            tokens.append(Token(kind, part, at, at + len(part), spaced and at == start))
            at += len(part)
        return tokens

    def _parts(self, word: str) -> list[str]:
        found = parted(word, self._is_known)
        letters = re.findall(rf"{_LETTER}|\d+", word) if self.latex else [word]
        return found or letters

    def _is_known(self, word: str) -> bool:
        return self._is_bound(word) or word in CONSTANTS or bool(self._meant(word))

    def _is_bound(self, word: str) -> str | None:
        """Return the name that has a value and is spelled so; None without one."""
        for each in (word, _greek(word), _named(word), {"λ": "lam"}.get(word, "")):
            if each and each in self.ranks:
                return each
        return None

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

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def take_if(self, *kinds: str) -> Token | None:
        return self.take() if self.kind in kinds else None

    def expect(self, *kinds: str) -> Token:
        if self.kind not in kinds:
            raise self.doubt()
        return self.take()

    def doubt(self, message: str = "") -> Doubt:
        """Return the error that the text cannot be read at the present token."""
        token = self.token if self.kind != "end" or not self.at else self.tokens[-2]
        return Doubt(message, Span(token.start, token.end))

    def guessed(self, message: str) -> None:
        """Remember that the text is in doubt here, though one meaning is read on."""
        token = self.tokens[max(0, self.at - 1)]
        self.unsure = self.unsure or (message, Span(token.start, token.end))

    def statement(self) -> str:
        """Return the statement, which may assign to a name or define a function."""
        text = _EQUAL.sub(lambda found: "=".ljust(len(found[0])), self.text)
        text = text if r"\begin" in text else text.replace("&", " ")
        text = text.rstrip().rstrip(",;" if self.latex else ";").rstrip()
        text = text.removesuffix(".") if self.latex else text
        left, right = _sides(text)
        head = "" if left is None else self._target(left)
        self.put(right)
        piece = self.choice()
        while self.take_if(","):
            if self.kind == "end":
                break
            piece = Piece(f"{piece.text}, {self.choice().text}", CHOICE)
        self.expect("end")
        if head.isidentifier():
            self.ranks[head] = piece.rank
        made = f"{head} = {piece.text}" if head else piece.text
        if self.unsure is not None:
            raise Doubt(*self.unsure, made)
        return made

    def _target(self, left: str) -> str:
        """Return what a statement assigns to: a name, a function of names, or nothing
        where its left side is no more than a title."""
        begun = re.match(r"\s*\\(?:text|mathrm|operatorname)\s*\{(\w+)\}\s*\(", left)
        left = left.replace(begun[0], f"{begun[1]}(") if begun else left
        inner = dict(self.ranks)
        try:
            self.put(left)
            name = self._plain_name()
            if self.take_if("end"):
                return name
            self.expect("(")
            inputs = [self._plain_name()]
            while self.take_if(","):
                inputs.append(self._plain_name())
            self.expect(")")
            if self.kind != "end" or self.free:
                raise self.doubt()
        except Doubt:
            return ""
        finally:
            self.ranks, self.free = inner, set()
            self.at = 0
        return f"{name}({', '.join(inputs)})"

    def _plain_name(self) -> str:
        text = self._factor().text
        if not text.isidentifier() or text in KEYWORDS:
            raise self.doubt()
        return text

    # Expressions, from the operators that bind least tightly to those that bind most.

    def choice(self) -> Piece:
        self.depth += 1
        if self.depth > MAX_NESTED_NOTATION:
            raise self.doubt()
        then = self._logic()
        if self.kind == "word" and self.token.text == "if":
            self.take()
            test = self._logic()
            if self.take().text != "else":
                raise self.doubt()
            other = self.choice()
            rank = _widest(then, other)
            text = f"{then.at(LOGIC)} if {test.at(LOGIC)} else {other.text}"
            then = Piece(text, CHOICE, rank)
        if self.take_if("over"):
            then = _binary(then, "/", self.choice())
        self.depth -= 1
        return then

    def _logic(self) -> Piece:
        if self._taken_word("not"):
            return Piece(f"not {self._logic().at(COMPARISON)}", LOGIC)
        left = self._comparison()
        while sign := self._taken_word("and", "or"):
            right = self._comparison()
            text = f"{left.at(COMPARISON)} {sign} {right.at(COMPARISON)}"
            left = Piece(text, LOGIC, _widest(left, right))
        return left

    def _taken_word(self, *words: str) -> str | None:
        if self.kind in words or (self.kind == "word" and self.token.text in words):
            taken = self.take()
            return taken.text if taken.kind == "word" else taken.kind
        return None

    def _comparison(self) -> Piece:
        left = self.sum()
        while sign := self.take_if("<", "<=", ">", ">=", "==", "!=", "="):
            right = self.sum()
            shown = {"=": "=="}.get(sign.kind, sign.kind)
            text = f"{left.at(COMPARISON)} {shown} {right.at(SUM)}"
            left = Piece(text, COMPARISON, _widest(left, right))
        return left

    def sum(self) -> Piece:
        left = self.product()
        while sign := self.take_if("+", "-"):
            right = self.product()
            text = f"{left.at(SUM)} {sign.kind} {right.at(PRODUCT)}"
            left = Piece(text, SUM, _widest(left, right), left.row, _each(left, right))
        return left

    def product(self) -> Piece:
        left = self._signed()
        while True:
            word = self.token.text if self.kind == "word" else self.kind
            between = WORDS_BETWEEN.get(word) if self.kind == "word" else None
            if word == "x" and self._is_times():
                self.guessed("it is not said whether x is a name here, or a sign")
                word = "*"
            if word in ("*", "dot", "times"):
                self.take()
                left = _product(left, self._signed(), word)
            elif word in ("/", "//", "%", "@") or (between and self._operand_next()):
                self.take()
                sign = between or word
                right = self._signed()
                if sign == "/" and self._joins() and not right.text.isdecimal():
                    self.guessed("it is not said how far / divides")
                    while self._joins():
                        right = _product(right, self._power(), "")
                left = _binary(left, sign, right)
            elif self._joins():
                left = _product(left, self._power(), "")
            else:
                return left

    def _is_times(self) -> bool:
        """Return whether a letter x stands between factors as a sign does: `) x 6`."""
        before, token, after = self.tokens[self.at - 1 : self.at + 2]
        apart = token.spaced and after.spaced
        return (
            apart and before.kind in ("number", ")") and after.kind in ("number", "(")
        )

    def _operand_next(self) -> bool:
        after = self.tokens[self.at + 1]
        return after.kind in ("word", "number", "(", "sqrt", "command")

    def _joins(self) -> bool:
        """Return whether a factor begins here that no sign precedes."""
        token, last = self.token, self.tokens[self.at - 1]
        kind = token.kind
        if kind == "number":
            if last.kind == "number" or last.kind == "fraction":
                raise self.doubt()
            return last.kind in ("word", ")", "}") and not last.text.isdecimal()
        if kind == "word":
            return token.text not in {*KEYWORDS, *WORDS_BETWEEN}
        if kind in ("|", "norm"):
            later = any(t.kind == kind for t in self.tokens[self.at + 1 :])
            return later and not self.bars and token.text not in (r"\rvert", r"\rVert")
        if kind == "(" and last.kind == "word" and not self._is_factor(last):
            raise self.doubt()
        return kind in _FACTORS or (kind.startswith("\\") and kind not in _NO_FACTORS)

    def _is_factor(self, name: Token) -> bool:
        """Return whether a name before a bracket is a value: it has one, or stands for
        one elsewhere."""
        if self._is_bound(name.text) or name.text in CONSTANTS or self.over:
            return True
        beside = zip(self.tokens, self.tokens[1:], strict=False)
        return any(a.text == name.text and b.kind != "(" for a, b in beside)

    def _signed(self) -> Piece:
        sign = self.take_if("-", "+")
        if sign is None:
            return self._power()
        piece = self._signed()
        if sign.kind == "+":
            return piece
        return piece._replace(text=f"-{piece.at(SIGN)}", level=SIGN)

    def _power(self) -> Piece:
        piece = self._factor()
        while True:
            token = self.token
            if token.kind == "raised":
                self.take()
                text = unicodedata.normalize("NFKC", token.text).replace("−", "-")
                piece = self._raised(piece, self._inside(text))
            elif token.kind == "T" and not token.spaced:
                self.take()
                piece = _transposed(piece)
            elif token.kind == "**":
                self.take()
                piece = self._to_power(piece)
            elif token.kind == "!" and self.tokens[self.at + 1].kind != "=":
                self.take()
                piece = Piece(f"exp(lgamma({piece.text} + 1))", ATOM, piece.rank)
            elif token.kind == "°":
                self.take()
                piece = Piece(f"{piece.at(PRODUCT)}*pi/180", PRODUCT, piece.rank)
            elif token.kind in ("%", "percent") and not self._operand_next():
                self.take()
                piece = Piece(f"{piece.at(PRODUCT)}/100", PRODUCT, piece.rank)
            else:
                return piece

    def _to_power(self, base: Piece) -> Piece:
        """Return a base with the exponent that follows: a power, a transpose, the index
        `(i)` or an inverse matrix."""
        start = self.at
        braces, brackets = self.kind == "{", self.kind == "("
        inner = self.tokens[self.at + 1 :]
        end = 2 if braces and inner[0].kind == "(" else 1 if brackets else None
        if end and inner[end - 1].text in self.over and inner[end].kind == ")":
            if braces or self.over[inner[end - 1].text] == "each" or base.rank == 1:
                self.at += 4 + braces - (0 if braces else 1)
                return self._entry(base.text, inner[end - 1].text)
        word = inner[0] if braces else self.token
        alone = not braces or inner[1].kind == "}"
        if word.text in ("T", "t", "⊤", r"\top", r"\intercal") and alone:
            if (word.text != "t" and not self._is_bound("T")) or word.kind == "T":
                self.at = start + (3 if braces else 1)
                return _transposed(base)
        if braces:
            exponent = self._group()
        else:
            exponent = self._glued(base)
        if base.rank == 2 and exponent.text == "-1":
            return Piece(f"inverse({base.text})", ATOM, 2)
        return self._raised(base, exponent)

    def _glued(self, base: Piece) -> Piece:
        """Return an exponent without brackets: with its sign, and all of the names that
        stand together, as `kt` in `e^-kt`."""
        sign = self.take_if("-", "+")
        first = self.token
        piece = self._factor()
        if self.take_if("**"):
            piece = self._raised(piece, self._glued(piece))
        after = self.token
        tight = not after.spaced and after.kind == "word" and not self.latex
        if tight and first.kind == "number" and not self._meant(after.text):
            if base.text == "e" or base.text[:1].isdigit():
                raise self.doubt()
        elif tight and first.kind == "word" and not self._meant(after.text):
            while self.kind == "word" and not self.token.spaced:
                piece = _product(piece, self._power(), "")
        if sign is not None and sign.kind == "-":
            return Piece(f"-{piece.at(SIGN)}", SIGN, piece.rank, each=piece.each)
        return piece

    def _raised(self, base: Piece, exponent: Piece) -> Piece:
        text = f"{base.at(ATOM)}^{exponent.at(POWER)}"
        each = _each(base, exponent)
        return Piece(text, POWER, _widest(base, exponent), each=each)

    def _inside(self, text: str) -> Piece:
        """Return what a text within this statement, as an exponent, means."""
        outside = self.text, self.tokens, self.at
        self.put(text)
        piece = self.choice()
        if self.kind != "end":
            raise self.doubt()
        self.text, self.tokens, self.at = outside
        return piece

    # Factors.

    def _factor(self) -> Piece:
        token, kind = self.token, self.kind
        if kind == "number":
            self.take()
            if self.kind == "fraction" and not self.token.spaced:
                sign = unicodedata.normalize("NFKC", self.take().text)
                return Piece(f"({token.text} + {sign.replace('⁄', '/')})", ATOM, 0)
            return Piece(token.text, ATOM, 0)
        if kind == "fraction":
            text = unicodedata.normalize("NFKC", self.take().text).replace("⁄", "/")
            return Piece(text, PRODUCT, 0)
        if kind == "string":
            return Piece(self.take().text)
        if kind == "word":
            return self._word()
        if kind in _CLOSING:
            return self._brackets()
        if kind in ("|", "norm"):
            return self._bars()
        if kind in ("sqrt", "cbrt", r"\sqrt"):
            return self._root()
        if kind in ("sum", "prod"):
            return self._over_index()
        if kind in ("floor", "ceil"):
            self.take()
            return self._called(kind, [self._until(")")])
        if kind == r"\frac":
            self.take()
            return _binary(self._argument(), "/", self._argument())
        if kind == r"\begin":
            return self._environment()
        if kind == r"\binom":
            self.take()
            n, k = self._argument(), self._argument()
            return Piece(f"nCr({n.held}, {k.held})", ATOM, 0)
        if kind in _ACCENTS:
            self.take()
            inner = self._argument()
            return self._subscripts(f"{inner.held}_{_ACCENTS[kind]}")
        if kind in _STYLES:
            return self._styled()
        if kind == r"\infty":
            self.take()
            return Piece("inf", ATOM, 0)
        if kind.startswith("\\") and kind[1:].isalpha():
            return self._command(kind[1:])
        raise self.doubt()

    def _group(self) -> Piece:
        self.expect("{")
        piece = self.choice()
        self.expect("}")
        return piece

    def _argument(self) -> Piece:
        r"""Return an argument of a command: a group, or a single letter or digit."""
        if self.kind == "{":
            return self._group()
        token = self.token
        if token.kind == "number" and len(token.text) > 1:
            first, rest = token.text[0], token.text[1:]
            at = token.start
            self.tokens[self.at : self.at + 1] = [
                Token("number", first, at, at + 1, token.spaced),
                Token("number", rest, at + 1, token.end, False),
            ]
        return (
            self._factor()
            if self.kind != "word"
            else self._subscripts(self.take().text)
        )

    def _styled(self) -> Piece:
        r"""Return what a command of type stands around: `\mathbf{w}`, `\text{softmax}`."""
        self.take()
        if self.kind != "{":
            return self._factor()
        end = next(
            (at for at in range(self.at, len(self.tokens))
             if self.tokens[at].kind == "}"), 0
        )  # fmt: skip
        inner = self.text[self.token.end : self.tokens[end].start].replace(r"\_", "_")
        word = inner.strip()
        if word.isidentifier():
            self.at = end + 1
            if word == "e" and not self._is_bound("e"):
                return Piece("e", ATOM, 0)
            return self._applied(word) if self._meant(word) else self._subscripts(word)
        return self._group()

    def _command(self, word: str) -> Piece:
        self.take()
        if self._meant(word):
            return self._applied(word)
        if word == "pi" and not self._is_bound(word):
            return Piece("pi", ATOM, 0)
        if word in ("Gamma",) and self.kind == "(":
            return Piece(f"exp(lgamma({self._brackets().held}))", ATOM)
        if not _greek(word):
            raise self.doubt()
        return self._subscripts(word)

    def _word(self) -> Piece:
        token = self.take()
        word = token.text
        if word in PREFIX_HEADS and self.kind == "." and word not in self.ranks:
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
                start, end = self.token.start, self._skip("[", "]")
                piece = Piece(f"{piece.text}[{self.text[start:end]}]")
                continue
            name = self.expect("word").text
            piece = Piece(f"{piece.text}.{name}")
            if self.kind == "(":
                piece = Piece(f"{piece.text}({', '.join(self._arguments())})")
        return piece

    def _skip(self, opened: str, closed: str) -> int:
        """Pass over the tokens up to the end of brackets, and return where they end."""
        depth = 1
        while depth:
            token = self.take()
            depth += (token.kind == opened) - (token.kind == closed)
            if token.kind == "end":
                raise self.doubt()
        return self.tokens[self.at - 1].start

    def _subscripts(self, base: str) -> Piece:
        """Return a name with the subscript behind it, or an entry of a vector."""
        below = ""
        if self.kind == "lowered":
            below = unicodedata.normalize("NFKC", self.take().text)
        elif self.kind == "_" and not (self.token.spaced and not self.latex):
            self.take()
            if self.take_if("{"):
                start, end = self.token.start, self._skip("{", "}")
                below = re.sub(r"\\[a-z]+\s*\{(\w+)\}|\s+", r"\1", self.text[start:end])
            else:
                below = self.take().text.removeprefix("\\")
                while self.kind == "_" and not self.latex:
                    below += "_" + self.take() and self.expect("word", "number").text
        primes = 0
        while self.take_if("'"):
            primes += 1
        base += "_prime" * primes
        return self._applied_letter(base, below) or self._indexed(base, below)

    def _applied_letter(self, base: str, below: str) -> Piece | None:
        r"""Return the call of a function that has a letter as its name, as `\sigma(x)`
        or `J_0(x)`."""
        own = base + (f"_{below}" if below else "")
        if self.kind != "(" or self._is_bound(own) or self._is_bound(base):
            return None
        head = _heads().get(_letters(own))
        if head is None or not (self.latex or own == "σ"):
            return None
        return self._applied(head)

    def _indexed(self, base: str, below: str) -> Piece:
        spelled = self._is_bound(base)
        for joined in (f"{base}_{below}", f"{base}{below}") if below else ():
            name = self._is_bound(joined)
            first, _, rest = joined.partition("_")
            for each in (name, f"{_greek(first)}_{rest}", f"{_named(first)}_{rest}"):
                if each and each in self.ranks:
                    return Piece(each, ATOM, self.ranks[each])
        if below:
            parts = re.split(",", below) if "," in below else [below]
            if not {*parts} & {*self.over} and len(below) > 1 and below.isalpha():
                letters = list(below)
                if all(each in self.over for each in letters):
                    parts = letters
            if any(
                re.search(rf"\b{re.escape(i)}\b", p) for p in parts for i in self.over
            ):
                return self._entry(spelled or self._own(base), *parts)
            rank = self.ranks.get(spelled) if spelled else None
            if rank:
                if all(part.isdecimal() for part in parts):
                    if "0" in parts:
                        raise self.doubt()  # the first entry has the index 1 in notation
                    where = ", ".join(str(int(part) - 1) for part in parts)
                    return Piece(f"{spelled}[{where}]", ATOM, rank - len(parts))
                if len(parts) == 1 and len(below) == 1:
                    self.free.add(below)
                    return Piece(str(spelled), ATOM, rank, each=True)
            own = f"{self._own(base)}_{below}"
            if not own.isidentifier():
                raise self.doubt()
            return Piece(own)
        if base in self.over:
            if self.over[base] == "each":
                raise self.doubt()
            return Piece(base if base in self.zero else f"({base} + 1)", ATOM, 0)
        if spelled:
            return Piece(spelled, ATOM, self.ranks[spelled])
        if base in self.lengths:
            return Piece(self.lengths[base], ATOM, 0)
        if base in CONSTANTS:
            return Piece(base, ATOM, 0)
        return Piece(self._own(base))

    def _own(self, word: str) -> str:
        """Return a name without a value as the language spells it."""
        return "lam" if word == "lambda" else {"σ": "σ"}.get(word, word)

    def _entry(self, base: str, *indices: str) -> Piece:
        """Return the entry of a vector at indices of sums around it."""
        rank = self.ranks.get(base)
        if all(self.over.get(each) == "each" for each in indices):
            return Piece(base, ATOM, rank, each=True)
        shown = []
        for each in indices:
            found = re.fullmatch(r"(\w+?)(?:([+-])(\d+))?", each)
            if found is None or self.over.get(found[1]) == "each":
                raise self.doubt()
            if found[1] in self.over:
                self.lengths.setdefault(f"#{found[1]}", f"len({base})")
                shown.append(found[1] + (f" {found[2]} {found[3]}" if found[2] else ""))
            elif found[1].isdecimal() and not found[2]:
                shown.append(str(int(found[1]) - 1))
            else:
                raise self.doubt()
        left = None if rank is None else max(0, rank - len(indices))
        return Piece(f"{base}[{', '.join(shown)}]", ATOM, left)

    def _applied(self, word: str) -> Piece:
        """Return the call of a function on what follows: in brackets, or the factors up
        to the next sign."""
        name = self._meant(word) or word
        power, base = "", None
        while self.kind in ("**", "raised", "_", "lowered"):
            if self.kind == "raised":
                raised = unicodedata.normalize("NFKC", self.take().text)
                power = raised.replace("−", "-")
            elif self.take_if("**"):
                piece = self._group() if self.kind == "{" else self._exponent()
                power = piece.at(POWER)
            elif self.kind == "lowered":
                base = Piece(unicodedata.normalize("NFKC", self.take().text))
            else:
                self.take()
                base = self._argument()
        if power in ("-1", "(-1)"):
            inverse = self._meant(f"a{name}")
            if inverse is None:
                raise self.doubt()
            name, power = inverse, ""
        if name == "sqrt" and self.kind == "[":
            self.take()
            degree, argument = self._until("]"), None
            return self._called("root", [self._operand(), degree])
        if self.kind == "(" or (self.kind in ("[", "{") and not self.latex):
            call = self._called_with(name, self._arguments(), base)
        elif self.kind == "{":
            inner = self._group()
            call = self._called(name, [inner], base)
        else:
            call = self._called(name, [self._operand()], base)
        return self._raised(call, Piece(power, ATOM)) if power else self._members(call)

    def _exponent(self) -> Piece:
        sign = self.take_if("-")
        if self.kind == "(":
            piece = self._brackets()
            piece = Piece(piece.held, piece.level)
        else:
            piece = Piece(self.expect("number", "word").text)
        return Piece(f"-{piece.text}", SIGN) if sign else piece

    def _operand(self) -> Piece:
        """Return the argument of a function that has no brackets."""
        if self.kind == "-" and not self.tokens[self.at + 1].spaced:
            self.take()
            piece = self._operand()
            return Piece(f"-{piece.at(SIGN)}", SIGN, piece.rank)
        if self.kind == "word" and self._meant(self.token.text):
            return self._power()
        alone = self.kind in (r"\frac", r"\sqrt", "norm", "|", "[", "sqrt")
        piece = self._power()
        while not alone and self._joins():
            if self.kind in ("sum", "prod", r"\frac") or self._begins_function():
                break
            if self.kind in _CLOSING and self.tokens[self.at - 1].kind != "number":
                raise self.doubt()  # in sin x (x + 1), is the bracket in the argument?
            piece = _product(piece, self._power(), "")
        return piece

    def _begins_function(self) -> bool:
        word = self.token.text.removeprefix("\\")
        return self.kind in (r"\operatorname", r"\text", r"\mathrm") or bool(
            self._meant(word)
        )

    def _called_with(
        self, name: str, arguments: list[str], base: Piece | None
    ) -> Piece:
        first = self.last_rank
        text = arguments
        if base is not None:
            if name not in ("log", "ln"):
                return Piece(f"{name}({', '.join(text)})", ATOM, first)
            return _logarithm(text[0], base, first)
        return self._with_dim(name, text, first)

    def _called(
        self, name: str, arguments: list[Piece], base: Piece | None = None
    ) -> Piece:
        self.last_rank = arguments[0].rank
        self.last_each = any(argument.each for argument in arguments)
        return self._called_with(name, [a.held for a in arguments], base)

    def _with_dim(self, name: str, arguments: list[str], rank: int | None) -> Piece:
        if name in ("softmax", "log_softmax", "softmin") and len(arguments) == 1:
            arguments = [*arguments, "1" if rank == 2 else "0"]
        text = f"{name}({', '.join(arguments)})"
        small = name in _OF_NUMBER and len(arguments) == 1
        return Piece(text, ATOM, 0 if small else rank, each=self.last_each)

    def _arguments(self) -> list[str]:
        """Return what stands between the commas in brackets."""
        closing = _CLOSING[self.take().kind]
        found: list[str] = []
        ranks: list[int | None] = []
        each = False
        while self.kind != closing:
            after = self.tokens[self.at + 1]
            name = ""
            if self.kind == "word" and after.kind == "=":
                name = f"{self.take().text}="
                self.take()
            outside, self.bars = self.bars, 0
            piece = self.choice()
            self.bars = outside
            ranks.append(piece.rank)
            each = each or piece.each
            found.append(name + piece.held)
            if not self.take_if(",", ";"):
                break
        self.expect(closing)
        self.last_rank = max(
            (r for r in ranks if r is not None), default=None if ranks else 0
        )
        self.last_each = each
        return found

    def _until(self, closing: str) -> Piece:
        outside, self.bars = self.bars, 0
        piece = self.choice()
        self.bars = outside
        self.expect(closing)
        return piece

    def _brackets(self) -> Piece:
        """Return what is in brackets: a value, or a list if there are commas."""
        opened = self.kind
        before = self.tokens[self.at - 1].kind if self.at else ""
        closing = _CLOSING[self.take().kind]
        outside, self.bars = self.bars, 0
        pieces = [self.choice()]
        while self.take_if(","):
            pieces.append(self.choice())
        self.bars = outside
        self.expect(closing)
        if len(pieces) > 1:
            text = f"[{', '.join(piece.text for piece in pieces)}]"
            inner = pieces[0].rank
            return Piece(text, ATOM, None if inner is None else inner + 1)
        (piece,) = pieces
        if opened == "[" and before == "" and self.kind == "end" and not self.latex:
            return Piece(f"[{piece.text}]", ATOM, 1)
        if opened == "{" or piece.level == ATOM:
            return self._members(piece) if opened != "{" else piece
        return self._members(piece._replace(text=f"({piece.text})", level=ATOM))

    def _bars(self) -> Piece:
        opened = self.take()
        norm = opened.kind == "norm"
        outside, self.bars = self.bars, self.bars + 1
        piece = self.choice()
        self.bars = outside
        self.expect(opened.kind)
        if not norm:
            name = "det" if piece.rank == 2 else "abs"
            rank = 0 if piece.rank == 2 else piece.rank
            return Piece(f"{name}({piece.held})", ATOM, rank, each=piece.each)
        kind = ""
        if self.take_if("_"):
            word = self._argument().text
            kind = {"1": ", 1", "inf": ", inf"}.get(word, "")
            if word not in ("1", "2", "F", "inf"):
                kind = f", {word}"
        elif self.kind == "lowered":
            word = unicodedata.normalize("NFKC", self.take().text)
            kind = "" if word == "2" else f", {word}"
        return Piece(f"norm({piece.held}{kind})", ATOM, 0)

    def _root(self) -> Piece:
        sign = self.take()
        if sign.kind == r"\sqrt":
            degree = None
            if self.take_if("["):
                degree = self._until("]")
            inner = self._argument()
            if degree is None:
                return self._called("sqrt", [inner])
            return self._called("root", [inner, degree])
        inner = self._factor()
        if self.kind in ("**", "raised"):
            raise self.doubt()  # is the power of the root, or under it?
        return self._called("sqrt" if sign.kind == "sqrt" else "cbrt", [inner])

    def _over_index(self) -> Piece:
        """Return a sum or a product over an index, or over all entries."""
        name = self.take().kind
        index, lower, upper = "", None, None
        for _ in range(2):
            if self.take_if("_"):
                index, lower = self._lower_bound()
            elif self.take_if("**"):
                upper = self._group() if self.kind == "{" else self._argument()
        start = self.at
        how = "entry" if lower is not None and upper is not None else "each"
        unknown = how == "entry" and upper is not None and upper.text.isidentifier()
        unknown = unknown and upper is not None and upper.text not in self.ranks
        for each in ["each", "entry"] if unknown and lower == "1" else [how]:
            inside = self.over, self.lengths
            self.over = (
                {**self.over, **dict.fromkeys(index, each)} if index else self.over
            )
            self.at, self.lengths = start, dict(self.lengths)
            if lower == "0":
                self.zero.add(index)
            try:
                body = self._summed(index)
            except Doubt:
                if each == "each" and unknown:
                    continue
                raise
            finally:
                found, self.over = self.lengths, inside[0]
                self.zero.discard(index)
            if each == "each":
                if upper is not None and body.each:
                    vector = re.search(r"\b[^\W\d]\w*\b", body.text)
                    self.lengths[upper.text] = _length_in(body.text, self.ranks)
                elif upper is not None:
                    continue
                return Piece(f"{name}({body.held})", ATOM, 0)
            assert upper is not None
            if unknown:
                length = found.get(f"#{index}")
                if length is None:
                    raise self.doubt()
                self.lengths[upper.text] = length
                upper = Piece(length)
            ends = upper.text if lower == "1" else self._range(str(lower), upper)
            loop = f"for {index} in range({ends})"
            return Piece(f"{name}([{body.text} {loop}])", ATOM, body.rank)
        raise self.doubt()

    def _range(self, lower: str, upper: Piece) -> str:
        if lower == "0":
            return f"{upper.at(SUM)} + 1"
        first = str(int(lower) - 1) if lower.isdecimal() else f"{lower} - 1"
        return f"{first}, {upper.text}"

    def _lower_bound(self) -> tuple[str, str | None]:
        """Return the index of a sum, and its first value if it has one."""
        grouped = self.take_if("{")
        index = self.expect("word").text
        lower = None
        if grouped:
            while self.kind == "word" and len(self.token.text) == 1:
                index += self.take().text
            while self.take_if(","):
                index += self.expect("word").text
            if self.take_if("="):
                lower = self.choice().text
            self.expect("}")
        return index, lower

    def _summed(self, index: str) -> Piece:
        """Return the product behind a sum's sign, with the terms behind it that have
        the index, too."""
        body = self.product()
        while self.kind in ("+", "-") and index and self._index_in_next_term(index):
            sign = self.take().kind
            right = self.product()
            text = f"{body.at(SUM)} {sign} {right.at(PRODUCT)}"
            body = Piece(text, SUM, _widest(body, right), each=_each(body, right))
        return body

    def _index_in_next_term(self, index: str) -> bool:
        depth = 0
        for at in range(self.at + 1, len(self.tokens)):
            token = self.tokens[at]
            depth += (token.kind in _CLOSING) - (token.kind in (")", "]", "}"))
            if depth < 0 or (not depth and token.kind in ("+", "-", "end", ",")):
                return False
            below = self.tokens[at - 1].kind == "_" or depth
            if token.text == index and below:
                return True
        return False

    def _environment(self) -> Piece:
        r"""Return `cases` as a choice, and a matrix as a list of rows."""
        self.take()
        kind = self._name_of_environment()
        if kind == "array" and self.kind == "{":
            self.take()
            self._skip("{", "}")
            kind = "cases"
        rows: list[list[Piece | None]] = [[]]
        while self.kind != r"\end":
            if self.take_if(r"\\"):
                rows.append([])
            elif self.take_if("&"):
                pass
            else:
                rows[-1].append(self._cell())
        self.take()
        self._name_of_environment()
        rows = [row for row in rows if row]
        if kind == "cases":
            return self._cases(rows)
        cells = [[cell for cell in row if cell is not None] for row in rows]
        if all(len(row) == 1 for row in cells):
            return Piece(f"[{', '.join(row[0].text for row in cells)}]", ATOM, 1)
        lines = [f"[{', '.join(cell.text for cell in row)}]" for row in cells]
        return Piece(f"[{', '.join(lines)}]", ATOM, 2)

    def _name_of_environment(self) -> str:
        self.expect("{")
        start = self.token.start
        return self.text[start : self._skip("{", "}")].rstrip("*")

    def _cell(self) -> Piece | None:
        """Return one cell; None for the word of a case that is left over."""
        while self.kind in (r"\text", r"\textrm", r"\mbox", r"\mathrm"):
            end = self.text.find("}", self.token.end)
            word = self.text[self.token.end : end].strip("{ ,")
            if word.strip(" ,:") not in ("if", "for", "when", "wenn", "si", ""):
                if _OTHERWISE.match(word):
                    self._skip_text()
                    return None
                break
            self._skip_text()
        while self.kind == "word" and self.token.text in ("if", "for"):
            self.take()
        if self.kind == "word" and _OTHERWISE.match(self.token.text):
            self.take()
            return None
        piece = self._logic()
        self.take_if(",", ".", ";")
        return piece

    def _skip_text(self) -> None:
        self.take()
        self.expect("{")
        self._skip("{", "}")
        self.take_if(",", ".")

    def _cases(self, rows: list[list[Piece | None]]) -> Piece:
        value = Piece("nan", ATOM, 0)
        for row in reversed(rows):
            then, test = (row + [None])[:2]
            if then is None or len(row) > 2:
                raise self.doubt()
            if test is None:
                value = then
            elif test.rank or then.rank or value.rank:
                text = f"where({test.text}, {then.text}, {value.text})"
                value = Piece(text, ATOM, _widest(then, value, test))
            else:
                text = f"{then.at(LOGIC)} if {test.text} else {value.text}"
                value = Piece(text, CHOICE, _widest(then, value))
        return Piece(f"({value.text})", ATOM, value.rank)


_FACTORS = frozenset(
    {"word", "(", "[", "{", "sqrt", "cbrt", "sum", "prod", "floor", "ceil", "fraction"}
)
_NO_FACTORS = frozenset({r"\end", r"\\", r"\&", r"\in", r"\to", r"\int", r"\partial"})


def _sides(text: str) -> tuple[str | None, str]:
    """Return the two sides of the first equals sign that is in no brackets."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "({[") - (sign in ")}]")
        if sign == "=" and not depth:
            near = text[at - 1 : at] + text[at + 1 : at + 2]
            if not re.search("[=<>!:]", near) and text[:at].strip():
                return text[:at], " " * (at + 1) + text[at + 1 :]
            if not text[:at].strip():
                return None, " " * (at + 1) + text[at + 1 :]
    return None, text


def _widest(*pieces: Piece) -> int | None:
    ranks = [piece.rank for piece in pieces]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) or any(known) else None


def _each(*pieces: Piece) -> bool:
    return any(piece.each for piece in pieces)


def _binary(left: Piece, sign: str, right: Piece) -> Piece:
    spaced = f" {sign} " if sign in ("//", "%", "@") else sign
    text = f"{left.at(PRODUCT)}{spaced}{right.at(SIGN)}"
    return Piece(text, PRODUCT, _widest(left, right), left.row, _each(left, right))


def _transposed(piece: Piece) -> Piece:
    if piece.rank == 1:
        return piece._replace(row=not piece.row)
    if piece.rank == 2:
        return Piece(f"{piece.at(ATOM)}.T", ATOM, 2)
    return piece


def _product(left: Piece, right: Piece, sign: str) -> Piece:
    """Return a product: of matrices and vectors as such where the notation means that,
    and entry by entry else; an empty ``sign`` means that none was written."""
    a, b = left.rank, right.rank
    if right.row and a == 1:
        return Piece(f"outer({left.held}, {right.held})", ATOM, 2)
    matrices = bool(a and b) and not _each(left, right)
    if matrices and sign == "times" and a == b == 1:
        return Piece(f"cross({left.held}, {right.held})", ATOM, 1)
    plain = sign == "*" or (a == b == 1 and sign != "dot")
    if not matrices or (plain and not left.row):
        text = f"{left.at(PRODUCT)}*{right.at(SIGN)}"
        rank = _widest(left, right)
        row = left.row or (right.row and not a)
        return Piece(text, PRODUCT, rank, row, _each(left, right))
    rank = (a or 0) + (b or 0) - 2
    text = f"{left.at(PRODUCT)} @ {right.at(SIGN)}"
    return Piece(text, PRODUCT, rank, left.row and rank == 1)


def _logarithm(text: str, base: Piece, rank: int | None) -> Piece:
    own = {"2": "log2", "10": "log10", "e": "log"}.get(base.held)
    call = f"{own}({text})" if own else f"log({text}, {base.held})"
    return Piece(call, ATOM, rank)


def _length_in(text: str, ranks: Mapping[str, int | None]) -> str:
    """Return the length of the first vector in a text."""
    for found in re.finditer(r"[^\W\d]\w*", text):
        if ranks.get(found[0]) == 1:
            return f"len({found[0]})"
    raise Doubt
