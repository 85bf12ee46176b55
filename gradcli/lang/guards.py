"""Checks of what would have another value here than in the language it was written in:
divisions of integers, and variables that are named like a function or a constant.

Invariant: a check errs on the side of a refusal, since its text is read with a value.

    is_integer(NotationPiece("n % 4"), {"n"}, "Java")         # True
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from ..ops.basis import KEEP_INTEGERS
from .notation import COMPARISON, NotationPiece, NotationToken

BRACED = frozenset({"C", "Java", "JavaScript"})
"""Titles of languages whose functions have a body in braces and a `return`."""

TYPED = frozenset({"C", "Java"})
"""Titles of languages with types before names, and in brackets before operands."""

_CONDITION = re.compile(r"\bif [^()]{0,80}(?:\([^()]{0,80}\)[^()]{0,80}){0,9} else\b")
"""Pattern of the condition of a choice, with brackets that hold none."""

_ROUNDED = re.compile(
    r"\bfloor\([^()]{0,80}(?:\([^()]{0,80}\)[^()]{0,80}){0,9}\+ 0\.5\)"
)
"""Pattern of what Java rounds to an integer."""

_CONSTANT = re.compile(r"\b(?:pi\s?=\s?Math\.PI|e\s?=\s?Math\.E)\b")
"""Pattern of a variable that has the value of the constant of its name."""


def is_integer(piece: NotationPiece, integers: set[str], title: str) -> bool:
    """Return whether an operand is made of integers alone.

    Args:
        integers: the names of variables and functions whose values are integers.
    """
    text = _ROUNDED.sub("1", piece.text) if title == "Java" else piece.text
    words = re.findall(r"[\w.]+", _CONDITION.sub(" ", text))
    known = integers | KEEP_INTEGERS
    made_of_them = all(word.isdecimal() or word in known for word in words)
    return made_of_them or piece.level == COMPARISON


def variables_of(source: str, tokens: Sequence[NotationToken]) -> set[str]:
    """Return the names in a text that are not called; but for one that is given the
    value of the constant of its name."""
    pairs = pairwise(tokens)
    names = {t.text for t, after in pairs if t.kind == "name" and after.kind != "("}
    same = {found.partition("=")[0].strip() for found in _CONSTANT.findall(source)}
    return names - same


def next_return(tokens: Sequence[NotationToken], at: int) -> int | None:
    """Return where the value stands that is returned next, behind a choice that returns
    and ends at a place: `if (x > 20) return x; return y;`. None: nothing is."""
    while tokens[at].kind == ";":
        at += 1
    word = tokens[at].text if tokens[at].kind == "name" else ""
    return at + (word == "return") if word in ("return", "if") else None
