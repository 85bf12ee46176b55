"""The signs and words of mathematical notation, and what they are in the language.

Invariant: signs and commands that mean the same have one kind of token.

    Words("2 sin x", {}, False).tokens[1].kind       # "word"
    multiplied(Piece("A", rank=2), Piece("x", rank=1), "").text      # "A @ x"
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..engine import NUMPY
from ..ops import ALIASES, FUNCTIONS, OPS, Op, defaults, parameters
from .derivatives import FIELDS
from .excerpt import Span
from .lexicon import CONDITIONAL, KEYWORDS, LOOKALIKES, OTHERWISE, SAME_SIGN
from .plain import FUNCTIONS as PLAIN
from .suggest import greek, other_spelling, parted
from .tensor_library import CONSTANTS, is_function

CHOICE, LOGIC, COMPARISON, SUM, PRODUCT, SIGN, POWER, ATOM = range(8)
"""Precedences in the language, of what binds least tightly first."""


class Doubt(Exception):
    """An error: the text can be meant in several ways, or in none.

    message  why, if it can be meant in several ways
    at       where it cannot be read
    guess    the text with one of its meanings written out; None if there is none
    """

    def __init__(self, message: str, at: Span, guess: str | None = None) -> None:
        super().__init__(message)
        self.message, self.at, self.guess = message, at, guess


class NotationPiece(NamedTuple):
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
    def unbracketed(self) -> str:
        """The text without brackets around all of it."""
        inner = self.text[1:-1]
        around = self.text.startswith("(") and self.text.endswith(")")
        depth = least = 0
        for sign in inner:
            depth += (sign == "(") - (sign == ")")
            least = min(least, depth)
        return inner if around and not least else self.text


class NotationToken(NamedTuple):
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
LETTER = rf"[^\W\d_{_RAISED}{_LOWERED}{_FRACTION}]"
_PATTERN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>\d{1,3}(?:(?:,\\!|\{,\})\d{3})+"
    r"|\d+(?:\.\d+|\.(?![\w.]))?(?:[eE][+-]?\d+(?!\w))?|\.\d+)"
    r"|(?P<command>\\(?:[A-Za-z]+|[^A-Za-z\s]))"
    rf"|(?P<word>{LETTER}(?:{LETTER}|\d)*)"
    rf"|(?P<raised>[{_RAISED}]+)|(?P<lowered>[{_LOWERED}]+)"
    rf"|(?P<fraction>[{_FRACTION}])"
    r"|(?P<string>\"[^\"]*\"|'[^']*')"
    r"|(?P<sign>\*\*|//|\.[*/^]|<=|>=|==|!=|<>|=<|\|\||[^\w\s]|_)"
)
_COMPARED = re.compile(r"[^,;\n]*?(?:[<>≤≥≠]|!=|\\(?:leq?|geq?|neq?|lt|gt)\b)")
"""Pattern of a condition behind a word."""

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
IN_LATEX = re.compile(r"\\[A-Za-z|{,;!]|[_^]\s*\{|^\s*\$")
"""Pattern of text that only LaTeX has."""

_SAME = {
    **SAME_SIGN,
    **{name: sign for sign, names in {
        "*": r"\cdot \ast \odot \circ \times .*", "/": r"\div ./",
        "<=": r"\le \leq \leqslant =<", ">=": r"\ge \geq \geqslant", "<": r"\lt",
        ">": r"\gt", "!=": r"\ne \neq <>", "**": ".^", "|": r"\lvert \rvert \vert \mid",
        "norm": r"\lVert \rVert \Vert \| ‖ ||", "and": r"\wedge \land ∧",
        "or": r"\vee \lor ∨", "not": r"\neg \lnot ¬", "∑": r"\sum Σ",
        "∏": r"\prod Π", r"\frac": r"\dfrac \tfrac \cfrac", "%": r"\bmod \%",
        "T": r"⊤ ᵀ \top \intercal", "(": r"\{", "over": r"\over", "choose": r"\choose",
        ")": r"\} ⌋ ⌉ \rfloor \rceil",
        "⌊": r"\lfloor", "⌈": r"\lceil", r"\infty": "∞", "'": r"\prime", "∇": r"\nabla",
    }.items() for name in names.split()},
    "∣": "|", "⟦": "|", "⟧": "|", "⟪": "norm", "⟫": "norm",
}  # fmt: skip
"""Kinds of tokens, by signs and commands that mean the same."""

_DOTS, CROSSES = ("·", "⋅", "∙", "•", r"\cdot"), ("×", r"\times")
CLOSING = {"(": ")", "[": "]", "{": "}"}


@cache
def heads() -> dict[str, str]:
    r"""Return functions by their names in LaTeX, where these are others: `J_0`, `\psi`,
    `Ai`."""
    found = {"Φ": "ndtr", "σ": "sigmoid"}
    for op in OPS.values():
        latex = (op.latex or "").replace("{{", "{").replace("}}", "}")
        begun = re.match(r"\\?(?:operatorname\{)?(\w+)\}?('?)\(\{0\}", latex)
        name, line, below = begun[1].partition("_") if begun else ("", "", "")
        prime = "_prime" * len(begun[2] if begun else "")
        own = (greek(name) or name) + line + below + prime
        if name and not is_function(own):
            found.setdefault(own, op.base)
    return found


@cache
def commands() -> tuple[str, ...]:
    """Return the commands of LaTeX that are read, by which a slip is put right."""
    signs = [sign for sign in _SAME if re.fullmatch(r"\\[A-Za-z]+", sign)]
    words = [n for n in (*FUNCTIONS, *ALIASES) if n.isalpha() and is_function(n)]
    known = ["left", "right", "begin", "end", "text", "mathrm"]
    return (*signs, *(rf"\{name}" for name in (*known, *words)))


@cache
def letter_name(letter: str) -> str:
    """Return the word for a Greek letter; an empty text for another letter."""
    words = unicodedata.name(letter, "").split() if len(letter) == 1 else []
    if len(words) != 4 or words[0] != "GREEK" or letter in LOOKALIKES:
        return ""
    word = words[3].lower().replace("lamda", "lam")
    return word.capitalize() if words[1] == "CAPITAL" else word


def on_the_line(text: str) -> str:
    """Return raised or lowered characters as they stand on the line."""
    return unicodedata.normalize("NFKC", text).translate({0x2212: "-", 0x2044: "/"})


class StatementWords:
    """The reader of one statement.

    over     how a name is read that has the variable of a sum as its index: as an
             entry ("entry"; "zero" if the first is 0), or as the whole vector ("each")
    innermost  the variables of the sum around, one letter each
    lengths  lengths of vectors, by the names of upper bounds that have no value
    listing  whether a blank may stand between the items of a list
    unknown  words without a value that may be misspelt, and no factors
    unsure   why the text is in doubt, though it is read on with one meaning
    powers   whether a power of a matrix was read
    whole    whether powers of matrices are not meant entry by entry
    functions  definitions of functions that the statement calls, by their names
    """

    def __init__(self, text: str, ranks: dict[str, int | None], latex: bool) -> None:
        self.ranks = ranks
        self.latex = latex
        self.over: dict[str, str] = {}
        self.vectors: dict[str, str] = {}
        self.lengths: dict[str, str] = {}
        self.depth = self.bars = 0
        self.listing = False
        self.unknown: set[str] = set()
        self.innermost = ""
        self.unsure: tuple[str, Span] | None = None
        self.functions: dict[str, str] = {}
        self.powers = self.whole = False
        self.put(text)

    def put(self, text: str) -> None:
        """Begin to read a text."""
        self.text, self.tokens, self.at = text, self._tokens(text), 0

    def _tokens(self, text: str) -> list[NotationToken]:
        tokens: list[NotationToken] = []
        at, spaced = 0, False
        while at < len(text):
            whole = None if self.latex else _IDENTIFIER.match(text, at)
            if whole is not None and self._is_whole(whole[0]):
                tokens.append(NotationToken("word", whole[0], at, whole.end(), spaced))
                at, spaced = whole.end(), False
                continue
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
            elif word in CONDITIONAL - {"if"} and tokens and word not in self.ranks:
                kind = "if" if _COMPARED.match(text, at) else kind
            if kind == "word":
                follower = text[at:].lstrip()[:1]
                for part in self._split(word, text[start - 1 : start], follower):
                    kind = "number" if part.isdecimal() else "word"
                    end = start + len(part)
                    tokens.append(NotationToken(kind, part, start, end, spaced))
                    start, spaced = end, False
            else:
                tokens.append(NotationToken(kind, word, start, at, spaced))
            spaced = False
        return [*tokens, NotationToken("end", "", at, at, spaced)]

    def _is_whole(self, word: str) -> bool:
        """Return whether a word with lines below is one name, and has no subscript."""
        first, line, below = word.partition("_")
        function = bool(self.meant(first)) and len(below) > 1 and not below.isdecimal()
        return bool(line and (self.bound(word) or self.meant(word) or function))

    def _split(self, word: str, before: str, after: str) -> list[str]:
        """Return the names that letters stand for, which have no blank between them."""
        below = before == "_" and any(name.endswith(f"_{word}") for name in self.ranks)
        field = word in FIELDS and not self.bound(word)
        if below or field or word in KEYWORDS or word in OTHERWISE:
            return [word]
        if before == "_" and self.latex:
            return [word[0], *(self._split(word[1:], "", after) if word[1:] else ())]
        if before == "_" or (after == "_" and not self.latex):
            return [word]
        if before == "^" and word[0] == "T" and word[1:] and not self.bound(word):
            return ["T", *self._split(word[1:], "", after)]
        bound: Callable[[str], bool] = lambda part: bool(self.bound(part))
        letters = heads() if self.latex and after in ("(", "^", "'") else {}

        def known(part: str) -> bool:
            named = bound(part) or part in {*CONSTANTS, *letters}
            return named or bool(self.meant(part))

        parts = parted(word, bound, self.meant) if after != "(" else None
        parts = parts or parted(word, known, self.meant)
        if not parts and self.meant(word[:-1]) and word[-1].isalpha():
            parts = [word[:-1], word[-1]]  # a function of one letter: sinx
        return parts or (re.findall(rf"{LETTER}|\d+", word) if self.latex else [word])

    def bound(self, word: str) -> str | None:
        """Return the name with a value that is spelled so; None without one."""
        first, line, below = word.partition("_")
        spelled = (first, greek(first), letter_name(first))
        return next((s + line + below for s in spelled
                     if s and s + line + below in self.ranks), None)  # fmt: skip

    def meant(self, word: str) -> str | None:
        """Return the function that a word means; None for any other word."""
        if len(word) == 1 or word in self.ranks or word in KEYWORDS:
            return None
        if is_function(word) or word in PLAIN:
            return word
        return other_spelling(word, is_function)

    @property
    def token(self) -> NotationToken:
        return self.tokens[self.at]

    @property
    def kind(self) -> str:
        return self.tokens[self.at].kind

    @property
    def after(self) -> NotationToken:
        """The token behind the present one."""
        return self.tokens[min(self.at + 1, len(self.tokens) - 1)]

    def take(self) -> NotationToken:
        token = self.token
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def take_if(self, *kinds: str) -> NotationToken | None:
        return self.take() if self.kind in kinds else None

    def expect(self, *kinds: str) -> NotationToken:
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


def rank_of(*pieces: NotationPiece) -> int | None:
    """Return the number of dimensions of what is computed entry by entry."""
    ranks = [piece.rank for piece in pieces]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) or any(known) else None


def joined(
    left: NotationPiece,
    sign: str,
    right: NotationPiece,
    level: int = PRODUCT,
    behind: int = SIGN,
) -> NotationPiece:
    text = f"{left.at(level)}{sign}{right.at(behind)}"
    return NotationPiece(
        text, level, rank_of(left, right), left.row, left.each or right.each
    )


def negative(piece: NotationPiece) -> NotationPiece:
    return piece._replace(text=f"-{piece.at(SIGN)}", level=SIGN)


def raised(base: NotationPiece, exponent: NotationPiece) -> NotationPiece:
    text = f"{base.at(ATOM)}^{exponent.at(POWER)}"
    each = base.each or exponent.each
    return NotationPiece(text, POWER, rank_of(base, exponent), each=each)


def transposed(piece: NotationPiece) -> NotationPiece:
    if piece.rank == 1:
        return piece._replace(row=not piece.row)
    if piece.rank in (2, None):
        return NotationPiece(f"{piece.at(ATOM)}.T", ATOM, piece.rank)
    return piece


def multiplied(left: NotationPiece, right: NotationPiece, sign: str) -> NotationPiece:
    """Return a product: of matrices and vectors as such where the notation means that,
    and else entry by entry; an empty ``sign`` means that none was written."""
    a, b = left.rank, right.rank
    if right.row and a == 1:
        return NotationPiece(f"outer({left.unbracketed}, {right.unbracketed})", ATOM, 2)
    whole = bool(a and b) and not (left.each or right.each)
    if whole and sign in CROSSES and a == b == 1:
        return NotationPiece(f"cross({left.unbracketed}, {right.unbracketed})", ATOM, 1)
    inner = sign in _DOTS or left.row or (not sign and (a, b) != (1, 1))
    if not (whole and inner):
        made = joined(left, "*", right)
        return made._replace(row=left.row or (right.row and not a))
    made = joined(left, " @ ", right)
    rank = (a or 0) + (b or 0) - 2
    return made._replace(rank=rank, row=left.row and rank == 1)


def chosen(
    then: NotationPiece, test: NotationPiece, other: NotationPiece
) -> NotationPiece:
    rank = rank_of(then, test, other)
    if rank:
        return NotationPiece(
            f"where({test.text}, {then.text}, {other.text})", ATOM, rank
        )
    text = f"{then.at(LOGIC)} if {test.at(LOGIC)} else {other.text}"
    return NotationPiece(text, CHOICE, rank)


def _rank_of_call(name: str, given: list[NotationPiece]) -> int | None:
    """Return the number of dimensions of a function's result; None if unknown.

    The function is called on small arrays with the dimensions of its operands.
    """
    arrays: list[Any] = []
    for piece in given:
        if piece.text.isdecimal():
            arrays.append(int(piece.text))
        elif piece.rank in (0, 1, 2):
            arrays.append(np.eye(2)[(0,) * (2 - piece.rank)])
        else:
            return None
    try:
        with np.errstate(all="ignore"):
            result = NUMPY.call(name, *arrays)
    except Exception:
        # A function refuses operands with an error of any kind.
        return None
    return getattr(result, "ndim", None)


def call(name: str, given: list[NotationPiece]) -> NotationPiece:
    """Return the call of a function; one that asks for a dimension gets the last."""
    shown, rank = (
        [piece.unbracketed for piece in given],
        rank_of(*given) if given else None,
    )
    entry = FUNCTIONS.get(name)
    names = parameters(entry) if entry else ()
    if "keepdim" in names and len(given) == 1:
        rank = 0
    elif names[1:2] == ("dim",) and entry and "dim" not in defaults(entry):
        shown += ["1" if rank == 2 else "0"] if len(given) == 1 else []
    elif entry is not None and not (isinstance(entry, Op) and entry.partials):
        rank = _rank_of_call(name, given)
    text = f"{name}({', '.join(shown)})"
    each = any(piece.each for piece in given) and rank != 0
    return NotationPiece(text, ATOM, rank, each=each)
