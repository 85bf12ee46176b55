"""Derivatives as formulas: matrices of texts with labelled rows and columns.

Invariant: a text is in the language's own syntax, or None where no formula was found;
``missing`` then says why.

    (view,) = formulas_of(gradients, verification.inputs)
    view.label(0, 1)        # "dL/dx[1]"
    view.nested()           # ["2*x[0]", "2*x[1]"]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Final

from ..lang.nested import nested
from .gradients import GradView
from .verdicts import Texts

if TYPE_CHECKING:
    from ..check.process.job import InputVerdict
    from .derivatives import Derivative

FIRST: Final = ("d", "/d")


@dataclass(frozen=True, slots=True)
class FormulaView:
    """One block of derivatives as formulas.

    ``of`` is differentiated by ``by``, an input: the output, whose name is empty if the
    program gives it none, or in a Hessian an input. ``around`` has the texts before
    both names, ``d`` and ``/d``, or ``d2L/d`` and `` d``; ``rows`` and ``columns`` have
    the indices of their entries: ``[0]``, ``[0,1]``, empty for a scalar. There are
    ``texts`` row by row, None where no formula was found, and the same as LaTeX, in
    which names stand between U+E000 and U+E001.
    """

    output: str
    of: str
    by: str
    around: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    shape: tuple[int, ...]
    texts: tuple[str | None, ...]
    missing: str | None
    latex: tuple[str | None, ...] = ()

    @property
    def second(self) -> bool:
        """Whether these are second derivatives."""
        return self.around != FIRST

    @property
    def title(self) -> str:
        before, between = self.around
        return before + self.of + between + self.by

    def label(self, row: int, column: int) -> str:
        """Return the name of an entry, as ``dL/dx[1]``."""
        before, between = self.around
        first, second = self.of + self.rows[row], self.by + self.columns[column]
        return before + first + between + second

    def text(self, row: int, column: int) -> str | None:
        return self.texts[row * len(self.columns) + column]

    def nested(self) -> Texts:
        """Return the texts as lists nested in the block's shape."""
        found: Texts = nested(self.texts, self.shape)
        return found


@dataclass(frozen=True, slots=True)
class ProgramView:
    """The adjoint program, and whether it repeats the gradients when it is run."""

    lines: tuple[str, ...]
    repeats: bool


def formulas_of(
    view: GradView | Derivative, found: Iterable[InputVerdict]
) -> tuple[FormulaView, ...]:
    """Return the formulas of each gradient as one row, or of each block of a Jacobian
    or a Hessian as a matrix."""
    by_name = {each.name: each for each in found}
    name = view.output.name if view.output.named else ""
    lead = view.output.shape
    if isinstance(view, GradView):
        return tuple(
            _view(name, (name, i.name), FIRST, (), i.shape, by_name)
            for i in view.differentiated
        )
    if view.command != "hessian":
        return tuple(
            _view(name, (name, b.input), FIRST, lead, b.shape[len(lead) :], by_name)
            for b in view.blocks
        )
    shapes = {
        block.by[0]: block.shape[: len(block.shape) // 2]
        for block in view.blocks
        if block.by[0] == block.by[1]
    }
    # A verdict is about a column of blocks, one below the other.
    sums = accumulate(map(prod, shapes.values()), initial=0)
    starts = dict(zip(shapes, sums, strict=False))
    around = f"d2{name}/d", " d"
    return tuple(
        _view(name, (a, b), around, shapes[a], shapes[b], by_name, starts[a])
        for a, b in (block.by for block in view.blocks)
    )


def _view(
    output: str,
    names: tuple[str, str],
    around: tuple[str, str],
    lead: tuple[int, ...],
    shape: tuple[int, ...],
    verdicts: Mapping[str, InputVerdict],
    start: int = 0,
) -> FormulaView:
    """Return a block's formulas, which begin at row ``start`` of the verdict's."""
    found = verdicts.get(names[1])
    first = start * prod(shape)
    positions = range(first, first + prod((*lead, *shape)))

    def at(known: Sequence[str | None]) -> tuple[str | None, ...]:
        return tuple(known[i] if i < len(known) else None for i in positions)

    texts = at(() if found is None else found.formulas)
    reason = found and (found.missing or found.note)
    return FormulaView(
        output,
        *names,
        around,
        indices(lead),
        indices(shape),
        (*lead, *shape),
        texts,
        reason or "SymPy ran out of time" if None in texts else None,
        at(() if found is None else found.latex),
    )


def indices(shape: Sequence[int]) -> tuple[str, ...]:
    """Return the index texts of a shape's entries in C order, as ``[0,1]``."""
    found = [""]
    for size in shape:
        found = [f"{text},{i}" for text in found for i in range(size)]
    return tuple(f"[{text[1:]}]" if text else "" for text in found)
