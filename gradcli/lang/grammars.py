"""Operators, signs and names of the programs and languages whose formulas are read.

Invariant: a sign that a program does not have stands in none of its fields.

    GRAMMARS["MATLAB"].infix[".*"]      # (5, "*")
"""

from collections.abc import Mapping
from typing import NamedTuple

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
    signs    further signs, as those of functions and types
    suffix   pattern of what ends a number and says its type
    types    words before a name that say its type
    lines    whether the end of a line ends a statement
    library  what stands before the names of all functions and constants
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
    signs: tuple[str, ...] = ()
    suffix: str = ""
    types: frozenset[str] = frozenset()
    lines: bool = True
    library: str = ""


_SUMS = {"+": (ADD, "+"), "-": (ADD, "-"), "*": (TIMES, "*"), "/": (TIMES, "/")}
_ORDER = {sign: (COMPARE, sign) for sign in ("<", ">", "<=", ">=")}
_EQUAL = {"==": (COMPARE, "=="), "!=": (COMPARE, "!=")}
_LOGIC = {"&&": (AND, "logical_and"), "||": (OR, "logical_or")}
_MASKS = {"&": (AND, "logical_and"), "|": (OR, "logical_or")}

_SLASHES = r"//[^\n]*|/\*(?:[^*/]|\*(?!/)|/(?!\*))*+\*/"

GRAMMARS = {
    "Excel": Grammar(
        {**_SUMS, **_ORDER, "=": (COMPARE, "=="), "<>": (COMPARE, "!="),
         "^": (RAISE, "^")},
        unary=TIGHT, rightmost=False, separators=",;", signs=(":",),
    ),
    "Mathematica": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, "^": (RAISE, "^"),
         ".": (SPECIAL, "@"), "\u00d7": (TIMES, "*")},
        calls="[]", lists="{}", names=r"[^\W\d_]\w*", assigns=(":=", "="),
        beside=True, signs=("//", ":"),
        comment=r"\(\*(?:[^(*\n]|\((?!\*)|\*(?!\)))*+\*\)",
    ),
    "R": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, **_MASKS, "^": (RAISE, "^"),
         "%%": (SPECIAL, "%"), "%/%": (SPECIAL, "//"), "%*%": (SPECIAL, "@"),
         "%o%": (SPECIAL, "outer")},
        names=r"[^\W\d_][\w.]*", comment=r"#[^\n]*", assigns=("<-", "="),
        signs=("\\",),
    ),
    "MATLAB": Grammar(
        {"+": (ADD, "+"), "-": (ADD, "-"), ".*": (TIMES, "*"), "./": (TIMES, "/"),
         "*": (TIMES, "mtimes"), "/": (TIMES, "mrdivide"), "\\": (TIMES, "mldivide"),
         "^": (RAISE, "mpower"), ".^": (RAISE, "^"), **_ORDER, **_LOGIC, **_MASKS,
         "==": (COMPARE, "=="), "~=": (COMPARE, "!=")},
        rightmost=False, lists="[]", names=r"[^\W\d_]\w*", comment=r"%[^\n]*",
        assigns=("=",), signs=("@",),
    ),
    "Julia": Grammar(
        {"+": (ADD, "+"), "-": (ADD, "-"), ".+": (ADD, "+"), ".-": (ADD, "-"),
         ".*": (TIMES, "*"), "./": (TIMES, "/"), "*": (TIMES, "mtimes"),
         "/": (TIMES, "mrdivide"), "//": (TIMES, "/"), "\\": (TIMES, "mldivide"),
         "%": (TIMES, "fmod"), "^": (RAISE, "mpower"), ".^": (RAISE, "^"), **_ORDER,
         **_EQUAL, **_LOGIC, **{f".{s}": (COMPARE, s) for s in ("<", ">", "<=", ">=")}},
        lists="[]", names=r"[^\W\d]\w*", comment=r"#[^\n]*", assigns=("=",),
        signs=("->", "::", "?", ":", ".("),
    ),
    "Maple": Grammar(
        {**_SUMS, "*": (TIMES, "mtimes"), "^": (RAISE, "mpower"),
         "**": (RAISE, "mpower"), **_ORDER, "=": (COMPARE, "=="),
         "<>": (COMPARE, "!="), "and": (AND, "logical_and"), "or": (OR, "logical_or")},
        lists="[]", names=r"[^\W\d]\w*", comment=r"#[^\n]*", assigns=(":=",),
        signs=("->", "..", ":"),
    ),
    "C": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, "^": (RAISE, "xor")},
        names=r"(?:std::)?[^\W\d]\w*", comment=_SLASHES + r"|#[^\n]*", assigns=("=",),
        signs=("?", ":", "->", "[&]", "[=]"), suffix=r"\.?[fFlL]\b", lines=False,
        types=frozenset({"double", "float", "auto", "const", "static", "inline", "long",
                         "constexpr", "int", "unsigned", "size_t"}),
    ),
    "Java": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, "%": (TIMES, "fmod"),
         "^": (RAISE, "xor")},
        names=r"(?:Math\.)?[^\W\d]\w*", comment=_SLASHES, assigns=("=",),
        signs=("?", ":", "->"), suffix=r"\.?[fFdDlL]\b", lines=False, library="Math.",
        types=frozenset({"public", "private", "protected", "static", "final", "double",
                         "float", "int", "long", "var", "Integer", "Long"}),
    ),
    "JavaScript": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, "===": (COMPARE, "=="),
         "!==": (COMPARE, "!="), "%": (TIMES, "fmod"), "**": (RAISE, "^"),
         "^": (RAISE, "xor")},
        names=r"(?:Math\.)?[^\W\d]\w*", comment=_SLASHES, assigns=("=",),
        signs=("?", ":", "=>"), lines=False, library="Math.",
        types=frozenset({"const", "let", "var", "export"}),
    ),
    "Rust": Grammar(
        {**_SUMS, **_ORDER, **_EQUAL, **_LOGIC, "^": (RAISE, "xor")},
        names=r"[^\W\d]\w*(?:::\w+)*+", comment=_SLASHES, assigns=("=",),
        signs=("->", ":", ".", "|", "&"), suffix=r"\.?_?f(?:32|64)\b", lines=False,
        types=frozenset({"let", "mut", "const", "pub", "fn"}),
    ),
    "SymPy": Grammar(
        {**_SUMS, "*": (TIMES, "mtimes"), "**": (RAISE, "mpower"), **_ORDER, **_EQUAL,
         **_MASKS},
        lists="[]", names=r"[^\W\d]\w*", comment=r"#[^\n]*", assigns=("=",),
    ),
}  # fmt: skip
"""The programs whose formulas are read, by the titles of their sections."""

FIRST = {
    "MATLAB": 1, "Julia": 1, "R": 1, "C": 0, "Rust": 0, "Java": 0, "JavaScript": 0,
}  # fmt: skip
"""First indices of vectors, by titles."""
