"""Names and matrices in LaTeX: Greek letters, subscripts, upright words.

Invariant: two names of one set never look alike, and the LaTeX compiles whatever the
names are.

    names = Symbols(["w1", "alpha", "x_max"])
    names["w1"], names["alpha"], names["x_max"]
    # ("w_{1}", r"\\alpha", r"x_{\\mathrm{max}}")
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final
from unicodedata import name as described

from ...numbers.trees.tree import greek_letter

GREEK: Final = frozenset(
    {
        *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"),
        *("iota", "kappa", "lambda", "mu", "nu", "xi", "pi", "rho", "sigma", "tau"),
        *("upsilon", "phi", "chi", "psi", "omega", "varepsilon", "vartheta", "varphi"),
        *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi"),
        *("Psi", "Omega"),
    }
)
"""Greek letters that LaTeX has a command for."""

WORDS: Final = (r"\mathit", r"\mathtt", r"\text")
"""Commands of LaTeX that a name of several letters begins with."""

_GREEK: Final = "[\u0391-\u03c9]"

_PART: Final = re.compile(r"([^\W\d_]+)(\d*)|(\d+)")

_SIGNS: Final = re.compile(r"[-+*/=<>!@|]{2,}")
_UPRIGHT: Final = r"{\g<0>}"
"""Replacement that puts an operator of several characters in braces, so that LaTeX sets
it without space inside."""

_ESCAPED: Final = {sign: "\\" + sign for sign in "#$%&_{}"}


class Symbols:
    """The LaTeX symbols of a set of names, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        every = list(dict.fromkeys(names))
        nice = {name: _symbol(name) for name in every}
        counts = Counter(nice.values())
        self._symbols = {
            name: text if counts[text] == 1 else verbatim(name)
            for name, text in nice.items()
        }

    def __getitem__(self, name: str) -> str:
        found = self._symbols.get(name)
        return _symbol(name) if found is None else found

    def entry(self, name: str, index: str) -> str:
        """Return the symbol of an array's entry; ``index`` is its index as text, or
        empty."""
        symbol = self[name]
        if not index:
            return symbol
        base = f"({symbol})" if "_" in symbol.replace(r"\_", "") else symbol
        return f"{base}_{{{index}}}"


def verbatim(text: str) -> str:
    """Return a word letter by letter, as it is in the program; Greek letters by
    commands."""
    if text.isascii():
        return rf"\mathtt{{{_SIGNS.sub(_UPRIGHT, _escaped(text))}}}"
    pieces = [part for part in re.split(f"({_GREEK})", text) if part]
    return "".join(_greek(part) or rf"\text{{{_escaped(part)}}}" for part in pieces)


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(sign, sign) for sign in text)


def matrix(entries: Sequence[str], shape: Sequence[int]) -> str:
    """Return entries in C order as a matrix: a column for a vector, else rows."""
    if not shape:
        return entries[0]
    width = shape[-1] if len(shape) > 1 else 1
    rows = [entries[at : at + width] for at in range(0, len(entries), width or 1)]
    body = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _symbol(name: str) -> str:
    """Return ``x_max`` with a subscript; names of another form letter by letter."""
    base = name.rstrip("_")
    if base != name and base not in GREEK:
        return verbatim(name)
    parts = base.split("_")
    first = _PART.fullmatch(parts[0])
    rest = [_PART.fullmatch(part) for part in parts[1:]]
    if first is None or first[3] or None in rest:
        return verbatim(name)
    below = [first[2], *(_word(match[0], r"\mathrm") for match in rest if match)]
    shown = ",".join(part for part in below if part)
    symbol = _word(first[1], r"\mathit")
    return f"{symbol}_{{{shown}}}" if shown else symbol


def _word(text: str, style: str) -> str:
    """Return a letter as it is, a Greek one as its command, a word in one style."""
    if text in GREEK:
        return f"\\{text}"
    if not text.isascii():
        greek = _greek(text)
        return greek or rf"\text{{{text}}}"
    match = _PART.fullmatch(text)
    if len(text) == 1 or (match is not None and match[3]):
        return text
    return f"{style}{{{text}}}"


def _greek(text: str) -> str | None:
    """Return the command of a Greek letter without accents; None for any other text."""
    plain = len(text) == 1 and len(described(text, "").split()) == 4
    name = greek_letter(text) if plain else ""
    return f"\\{name}" if name in GREEK else None
