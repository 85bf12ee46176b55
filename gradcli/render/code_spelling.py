"""How a step is written: templates, and pieces of code that know when to bracket
themselves.

Invariant: a piece put into a template means what it means alone, because a slot asks
for the loosest binding that it takes: ``{0.sum}`` may be a sum, ``{0.atom}`` not.

    spell("{0.product} * {1.unary}", [Piece("a + b", SUM), Piece("c", ATOM)])
    # "(a + b) * c"
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from string import Formatter
from typing import Final, NamedTuple

CHOICE, LOGIC, RELATION, SUM, PRODUCT, UNARY, ATOM = range(7)
"""How tightly a piece holds together."""


class Spelling(NamedTuple):
    """A template, and how tightly what it gives holds together."""

    template: str
    rank: int = ATOM


@dataclass(frozen=True, slots=True)
class Piece:
    """An expression in some language.

    truth    the same as a truth value, where it is one
    tensor   the same where a plain number will not do
    number   the constant that it is
    """

    text: str
    rank: int = ATOM
    truth_text: str | None = None
    truth_rank: int = ATOM
    tensor_text: str | None = None
    number: float | None = None

    def __str__(self) -> str:
        return self.text

    def _at(self, rank: int) -> str:
        return self.text if self.rank >= rank else f"({self.text})"

    @property
    def branch(self) -> str:
        return self._at(LOGIC)

    @property
    def sum(self) -> str:
        return self._at(SUM)

    @property
    def product(self) -> str:
        return self._at(PRODUCT)

    @property
    def unary(self) -> str:
        return self._at(UNARY)

    @property
    def atom(self) -> str:
        return self._at(ATOM)

    @property
    def tensor(self) -> str:
        return self.tensor_text or self.text

    @property
    def whole(self) -> str:
        """A whole number without a point."""
        return self.text if self.number is None else str(int(self.number))

    @property
    def truth(self) -> str:
        return self.truth_text or self.text

    @property
    def clause(self) -> str:
        """A truth value among others."""
        text = self.truth
        return text if self.truth_rank > LOGIC else f"({text})"


def spell(template: str, pieces: Sequence[Piece]) -> str:
    return template.format(*pieces)


@cache
def repeated(template: str) -> frozenset[int]:
    """The arguments that a template writes more than once."""
    fields = [field for _, field, _, _ in Formatter().parse(template) if field]
    counts = Counter(int(field.partition(".")[0]) for field in fields)
    return frozenset(place for place, count in counts.items() if count > 1)


INFIX: Final[Mapping[str, Spelling]] = {
    "add": Spelling("{0.sum} + {1.product}", SUM),
    "sub": Spelling("{0.sum} - {1.product}", SUM),
    "mul": Spelling("{0.product} * {1.unary}", PRODUCT),
    "div": Spelling("{0.product} / {1.unary}", PRODUCT),
    "neg": Spelling("-{0.atom}", UNARY),
    "square": Spelling("{0.atom} * {0.atom}", PRODUCT),
    "lt": Spelling("{0.sum} < {1.sum}", RELATION),
    "le": Spelling("{0.sum} <= {1.sum}", RELATION),
    "gt": Spelling("{0.sum} > {1.sum}", RELATION),
    "ge": Spelling("{0.sum} >= {1.sum}", RELATION),
    "eq": Spelling("{0.sum} == {1.sum}", RELATION),
    "ne": Spelling("{0.sum} != {1.sum}", RELATION),
}
"""What C and Python write alike. The brackets keep the order of the engine's steps."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language as tables.

    spelled    each function's template
    helpers    functions of our own by name, and the text that defines each
    number     a literal for a finite number, an infinity or nan
    tensor     a literal where a plain number will not do
    from_truth a truth value as a number
    entry      ``{name}``, ``{flat}`` its place in C order, ``{index}`` its indices
    assign     naming an intermediate result
    reserved   names that an input cannot have
    ascii      whether names are limited to it
    """

    name: str
    spelled: Mapping[str, Spelling]
    helpers: Mapping[str, str]
    number: Callable[[float], str]
    tensor: str
    from_truth: Spelling
    entry: str
    assign: str
    reserved: frozenset[str]
    ascii: bool
