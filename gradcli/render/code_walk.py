"""Steps as statements: what is used once stands where it is used, the rest has a name.

Invariant: the order in which the code computes, brackets included, is that of the
steps, so that the numbers are those of the steps to the last bit.

    walk = Walk(listing, C, Names(C), ["x", "b"])
    walk.statements         # ["const double t1 = sin(x[0]);", …]
    walk.texts[place]       # a result's expression
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .code_names import Names
from .code_spelling import ATOM, RELATION, UNARY, Language, Piece, repeated, spell

if TYPE_CHECKING:
    from ..verify.straight_line import Listing, Step

WIDEST: Final = 44
"""Characters of an expression beyond which it gets a name."""

WIDEST_TRUTH: Final = 20
"""The same of a comparison that is made more than once."""

SMALL: Final = 12
"""Steps up to which a condition is written out."""

UNUSED: Final = Piece("")

LEAVES: Final = frozenset({"input", "number"})


class Walk:
    """One pass over the steps of a listing, and the language it is written in."""

    def __init__(
        self, listing: Listing, language: Language, names: Names, inputs: Sequence[str]
    ) -> None:
        self.language = language
        self.statements: list[str] = []
        self.functions: dict[str, None] = {}
        """The functions that were called."""
        self.read: set[str] = set()
        """The inputs that were read."""
        self._listing = listing
        self._names = names
        self._inputs = inputs
        self._count = 0
        self._returned = {p for result in listing.results for p in result.places}
        self._pieces: list[Piece] = []
        self._write()
        # What is returned is an array's entry also where it is a mere number.
        self.texts = {place: self._pieces[place].tensor for place in self._returned}

    def _write(self) -> None:
        steps = self._listing.steps
        uses, plain = self._uses(), self._wanted_plain()
        for place, step in enumerate(steps):
            if not uses[place]:
                # Conditions alone need it, and write it out themselves.
                self._pieces.append(UNUSED)
                continue
            piece = self._piece(step, self._pieces)
            if step.entry is not None:
                self.read.add(self._inputs[step.entry[0]])
            if step.name not in LEAVES:
                self.functions[step.name] = None
                if place in plain or self._deserves_name(place, piece, uses[place]):
                    piece = self._named(step, piece)
            self._pieces.append(piece)

    def _deserves_name(self, place: int, piece: Piece, uses: int) -> bool:
        if self._listing.steps[place].truth:
            return len(piece.text) > (WIDEST_TRUTH if uses > 1 else WIDEST)
        if uses > 1:
            return True
        return len(piece.text) > WIDEST and place not in self._returned

    def _uses(self) -> list[int]:
        """How often each step's text will stand somewhere; a comparison always stands
        where it is used, and so does what it compares."""
        steps = self._listing.steps
        uses = [0] * len(steps)
        for result in self._listing.results:
            for place in result.places:
                uses[place] += 1
        for place in reversed(range(len(steps))):
            step = steps[place]
            times = uses[place] if step.truth else min(uses[place], 1)
            for argument in step.args:
                uses[argument] += times
        return uses

    def _wanted_plain(self) -> set[int]:
        """Steps that a template repeats, which must not be computed twice."""
        return {
            step.args[k]
            for step in self._listing.steps
            if step.name not in LEAVES
            for k in repeated(self.language.spelled[step.name].template)
        }

    def _named(self, step: Step, piece: Piece) -> Piece:
        self._count += 1
        name = self._names.claim(f"t{self._count}")
        self.statements.append(self.language.assign.format(name=name, text=piece.text))
        if step.truth:
            return Piece(name, ATOM, f"{name} != 0.0", RELATION)
        return Piece(name)

    def _piece(self, step: Step, pieces: Sequence[Piece]) -> Piece:
        language = self.language
        if step.number is not None:
            text = language.number(step.number)
            rank = UNARY if text.startswith("-") else ATOM
            tensor = language.tensor.format(text)
            return Piece(text, rank, tensor_text=tensor, number=step.number)
        if step.entry is not None:
            return Piece(self._entry(*step.entry))
        spelling = language.spelled[step.name]
        text = spell(spelling.template, [pieces[a] for a in step.args])
        if not step.truth:
            return Piece(text, spelling.rank)
        truth = Piece(text, spelling.rank, text, spelling.rank)
        number = language.from_truth
        return Piece(spell(number.template, [truth]), number.rank, text, spelling.rank)

    def _entry(self, number: int, flat: int) -> str:
        name, shape = self._inputs[number], self._listing.inputs[number][1]
        if not shape:
            return name
        index = ", ".join(map(str, _place(flat, shape)))
        return self.language.entry.format(name=name, flat=flat, index=index)

    def conditions(self) -> Iterator[str | None]:
        """What has to hold, written out; None for what is too long for that."""
        steps = self._listing.steps
        sizes: list[int] = []
        for step in steps:
            sizes.append(min(SMALL, sum(sizes[a] for a in step.args)) + 1)
        for place in self._listing.conditions:
            yield self._written_out(place) if sizes[place] <= SMALL else None

    def _written_out(self, place: int) -> str:
        """Recursion is as deep as a small expression."""
        return self._inline(place).truth

    def _inline(self, place: int) -> Piece:
        step = self._listing.steps[place]
        pieces = [self._inline(a) for a in step.args]
        return self._piece(replace(step, args=tuple(range(len(pieces)))), pieces)


def _place(flat: int, shape: Sequence[int]) -> tuple[int, ...]:
    place: list[int] = []
    for size in reversed(shape):
        flat, at = divmod(flat, size)
        place.append(at)
    return tuple(reversed(place))
