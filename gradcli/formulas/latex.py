r"""LaTeX: trees as the equations of a program, functions in their rows' own notation;
names as symbols, and matrices.

Invariants: the notation is unambiguous: an operand that binds less tightly than its
operator needs is put in brackets, and two names of one set never look alike. The lines
compile with the package amsmath, whatever the names are.

    Latex().text(tree, texts)       # \sin x \cdot 2
    Symbols(["w1", "alpha", "x_max"])["x_max"]          # x_{\mathrm{max}}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import TYPE_CHECKING, Final
from unicodedata import name as described

from ..ops import FUNCTIONS, overloads, parameters
from ..ops.spellings import PRODUCT, SUM, Precedence, Template, spelling
from .dialect import PLAIN, Dialect, Written
from .texts import Text, filled
from .tree import Tree, greek_letter

if TYPE_CHECKING:
    from ..engine.raw import Host

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


class LatexSymbols:
    """The LaTeX symbols of a set of names, by name."""

    def __init__(self, names: Iterable[str]) -> None:
        names = {*names}
        counts = Counter(map(symbol, names))
        self._alike = {name for name in names if counts[symbol(name)] > 1}

    def __getitem__(self, name: str) -> str:
        return verbatim(name) if name in self._alike else symbol(name)

    def entry(self, name: str, index: str) -> str:
        """Return the symbol of an array's entry; ``index`` is its index as text, or
        empty. In LaTeX the first entry has the index 1, as in books."""
        symbol = self[name]
        if not index:
            return symbol
        index = re.sub(r"\d+", lambda found: str(int(found[0]) + 1), index)
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


def symbol(name: str) -> str:
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
        return _greek(text) or rf"\text{{{text}}}"
    match = _PART.fullmatch(text)
    if len(text) == 1 or (match is not None and match[3]):
        return text
    return f"{style}{{{text}}}"


def _greek(text: str) -> str | None:
    """Return the command of a Greek letter without accents; None for any other text."""
    plain = len(text) == 1 and len(described(text, "").split()) == 4
    name = greek_letter(text) if plain else ""
    return f"\\{name}" if name in GREEK else None


_TWICE: Final = re.compile(r"(?<!\w)(\w+_\{[^{}]*\})_\{")
_ENTRYWISE: Final = Template(r"{0:PRODUCT} \odot {1:SIGN}", PRODUCT)
_OPENING: Final = frozenset("{(|,")
_CLOSING: Final = frozenset("})|,")


class Formula(Text):
    """A text of LaTeX whose brackets grow with what they hold."""

    __slots__ = ()
    brackets = r"\left({}\right)"


class LatexDialect(Dialect):
    """The dialect of LaTeX: equations that are aligned at their equals signs."""

    column = "latex"
    nan, inf = r"\mathrm{nan}", r"\infty"
    made = Formula

    def named(self, name: str) -> Text:
        return Formula(symbol(name))

    def spelled(self, name: str) -> str | Template:
        return spelling(name).latex or rf"\operatorname{{{name}}}"

    def _function(self, tree: Tree, texts: Mapping[int, Text]) -> Text:
        if tree.head == "mul" and all(getattr(a, "ndim", 0) for a in tree.args):
            # Entry by entry, where a dot would be the inner product of vectors.
            args = [texts[a.serial] for a in tree.args if isinstance(a, Tree)]
            return filled(_ENTRYWISE, args, made=Formula)
        if spelling(tree.head).latex is None:
            args = [Formula(self.argument(a, texts)) if not isinstance(a, Tree)
                    else texts[a.serial] for a in tree.args]  # fmt: skip
            params = {k: self.argument(v, texts) for k, v in tree.params.items()}
            found = _from_row(tree.head, args, params)
            if found is not None:
                return found
        made = super()._function(tree, texts)
        # LaTeX refuses a subscript behind a subscript.
        apart = _TWICE.sub(r"\\left(\1\\right)_{", made.written)
        return Formula(apart, made.rank)

    def called(self, name: str, args: Sequence[str], params: Mapping[str, str]) -> str:
        named = [rf"\mathrm{{{key}}} = {text}" for key, text in params.items()]
        inside = ", ".join([*args, *named])
        return name.replace("_", r"\_") + Formula.brackets.format(inside)

    def argument(self, value: object, texts: Mapping[int, Text]) -> str:
        if isinstance(value, bool | str) or value is None:
            return verbatim(str(value))
        return super().argument(value, texts)

    def decimal(self, value: object) -> str:
        if isinstance(value, bool):
            return rf"\text{{{str(value).lower()}}}"
        mantissa, e, exponent = super().decimal(value).partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else mantissa

    def plain(self, value: object) -> Text:
        made = super().plain(value)
        return Formula(made.written, PRODUCT) if "cdot" in made.written else made

    def filled(self, value: float, shape: tuple[int, ...]) -> Text:
        sizes = r" \times ".join(map(str, shape))
        if value in PLAIN and not isinstance(value, bool):
            return Formula(rf"\mathbf{{{int(value)}}}_{{{sizes}}}")
        return Formula(rf"{self.plain(value):SIGN} \cdot \mathbf{{1}}_{{{sizes}}}",
                       PRODUCT)  # fmt: skip

    def literal(self, array: Host) -> Text:
        if array.ndim > 2:
            return Formula(rf"\left{self.nested(array)[:-1]}\right]")
        entries = [self.plain(each).written for each in array.flat]
        return Formula(matrix(entries, array.shape))

    def index(
        self, value: object, shape: tuple[int, ...], texts: Mapping[int, Text]
    ) -> str:
        return super().index(value, shape, texts).replace(" ", "")

    def _item(self, item: object, texts: Mapping[int, Text]) -> str:
        """Return an index, counted from 1; negative ones count from the end."""
        if isinstance(item, slice) and isinstance(item.start, int) and item.start >= 0:
            item = slice(item.start + 1 if item.start else 0, item.stop, item.step)
        elif isinstance(item, int) and item >= 0:
            item += 1
        return super()._item(item, texts)

    def assigned(self, name: str, text: str) -> str:
        return f"{symbol(name)} &= {text}"

    def program(self, written: Written) -> Iterator[str]:
        yield from (f"% {comment}" for comment in written.comments())
        equations = [self.assigned(*step) for step in written.steps]
        equations += [
            self.assigned(result.name, matrix(result.texts, result.shape))
            for result in written.results
            if result.texts is not None
        ]
        yield from aligned(equations)


def aligned(equations: Sequence[str]) -> Iterator[str]:
    """Yield the lines of an environment of equations."""
    yield r"\begin{align*}"
    yield from (rf"  {each} \\" for each in equations[:-1])
    yield from (f"  {each}" for each in equations[-1:])
    yield r"\end{align*}"


def _from_row(
    name: str, args: Sequence[Text], params: Mapping[str, str]
) -> Text | None:
    """Return a function in its row's notation; None if that is not given, or if
    arguments are missing."""
    if name not in FUNCTIONS:
        return None
    public = parameters(FUNCTIONS[name])
    given = dict(zip(public, args, strict=False))
    given |= {key: Formula(text) for key, text in params.items()}
    for op in overloads(name):
        own = parameters(op)
        if op.latex and len(args) + len(params) == len(own) == len(given):
            template = _in_slots(op.latex)
            rest = iter([p for n, p in given.items() if n not in own])
            operands = [given[n] if n in given else next(rest) for n in own]
            named = dict(zip(own, operands, strict=True))
            return filled(template, operands, named, Formula)
    return None


@cache
def _in_slots(latex: str) -> Template:
    """Return a row's LaTeX as a template; a slot in brackets gets no further ones."""
    parts = list(Formatter().parse(latex))
    text, depth, rank = "", 0, Precedence.POWER
    for nr, (literal, field, _, _) in enumerate(parts):
        for at, sign in enumerate(literal):
            depth += (sign in "{(") - (sign in "})")
            if not depth and sign in "+-" and literal[at - 1 : at] in ("", " "):
                rank = SUM
        text += literal.replace("{", "{{").replace("}", "}}")
        if field is not None:
            after = parts[nr + 1][0] if nr + 1 < len(parts) else ""
            inside = text[-1:] in _OPENING and after[:1] in _CLOSING
            text += f"{{{field}}}" if inside and after else f"{{{field}:ATOM}}"
    return Template(text, rank)
