"""Derivatives as formulas: matrices of texts with labelled rows and columns, as tables,
as lists, or as equations in LaTeX.

Invariants: a text is in the language's own syntax, or None where no formula was found;
``missing`` then says why. A table is written only where it fits, so no line of it is
broken; formulas are never shortened. An equation in LaTeX stands on one line and
compiles with the package amsmath; a block of more than two dimensions names the order
of its rows and columns.

    (view,) = formulas_of(gradients, verification.inputs)
    view.label(0, 1)        # "dL/dx[1]"
    view.nested()           # ["2*x[0]", "2*x[1]"]

    dy/dx
            x[0]       x[1]
      y[0]  2*x[0]     0
      y[1]  x[1]       x[0]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from typing import TYPE_CHECKING, Final

from ..formulas.latex import WORDS, LatexSymbols, matrix
from ..lang.excerpt import printable
from ..lang.nested import nested
from .gradients import GradView, indices
from .line import BLANK, Layout, Line, Part, aligned, dim, unbroken
from .verdicts import Formulas, LatexFormula, Texts

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


NONE_FOUND: Final = "?"

MAX_TABLE_COLUMNS: Final = 120
"""Largest width of a table where the layout sets no limit, in columns; a wider one is
written as a line per entry."""

_SYMBOL: Final = re.compile("\ue000([^\ue000\ue001]*)\ue001")
"""Pattern of a name in a formula's LaTeX that `written` replaces by its symbol."""

UNNAMED: Final = ("f", "F", "g", "h")
"""Names for an output without one: the first that no input has is taken."""


def formulas(views: Iterable[FormulaView], layout: Layout) -> Iterator[Line]:
    """Yield the blocks one after the other, each behind a blank line."""
    for view in views:
        yield BLANK
        if view.texts and not any(view.texts):
            missing = f"  no formula: {printable(view.missing or '')}"
            yield Line((printable(view.title), "name"), (missing, "dim"))
            continue
        yield from _table(view, layout) or _list(view)
        if view.missing:
            yield dim(f"{NONE_FOUND}: no formula: {printable(view.missing)}")


def _places(view: FormulaView) -> Iterator[tuple[int, int]]:
    return product(range(len(view.rows)), range(len(view.columns)))


def plain_formulas(views: Iterable[FormulaView]) -> Iterator[Line]:
    """Yield a formula a line, entry by entry; with several blocks each has its name."""
    views = list(views)
    for view in views:
        for place in _places(view):
            label, text = printable(view.label(*place)), view.text(*place)
            named = f"{label} = " if len(views) > 1 else ""
            if text is None:
                named = f"# {label}: no formula: "
                text = " ".join((view.missing or "none was found").split())
            yield unbroken(f"{named}{printable(text)}")


def program(view: ProgramView, symbols: bool = False) -> Iterator[Line]:
    """Yield the adjoint program, unbroken, so that it can be copied; among ``symbols``
    there are no gradients to compare it with."""
    gives = "the" if view.repeats else "other numbers than the"
    remark = "" if symbols else f"  run at this point it gives {gives} gradients above"
    yield BLANK
    yield Line(("adjoint program", "title"), (remark, "dim"))
    for text in view.lines:
        yield unbroken(printable(text))


def _shown(text: str | None) -> str:
    return NONE_FOUND if text is None else printable(text)


def _table(view: FormulaView, layout: Layout) -> list[Line]:
    """Return a matrix of formulas as lines; none if it is no matrix or too wide."""
    if len(view.rows) < 2 or len(view.columns) < 2:
        return []
    texts = [["", *(printable(view.by) + index for index in view.columns)]]
    for nr, index in enumerate(view.rows):
        cells = [_shown(view.text(nr, column)) for column in range(len(view.columns))]
        texts.append([printable(view.of) + index, *cells])
    widths = [max(map(len, column)) + 2 for column in zip(*texts, strict=True)]
    if sum(widths) > (layout.width or MAX_TABLE_COLUMNS):
        return []
    rows: list[list[Part]] = [
        [("  " + text, "plain" if nr and at else "dim") for at, text in enumerate(row)]
        for nr, row in enumerate(texts)
    ]
    title = Line((printable(view.title), "name"))
    return [title, *aligned(rows, len(view.columns))]


def _list(view: FormulaView) -> Iterator[Line]:
    rows: list[list[Part]] = [
        [
            (printable(view.label(*place)), "name"),
            (" = ", "plain"),
            (_shown(view.text(*place)), "plain"),
        ]
        for place in _places(view)
    ]
    return aligned(rows, 1)


def equations(views: Sequence[FormulaView]) -> list[str | None]:
    """Return the equation of each block; None where there is no formula."""
    names = list(_names(views))
    output = next((n for n in UNNAMED if n not in names), "f_")
    symbols = LatexSymbols([*names, output])
    return [_equation(view, symbols, view.output or output) for view in views]


def as_formulas(views: Sequence[FormulaView], latex: bool) -> list[Formulas]:
    """Return the formulas of each block, with its equation if ``latex`` is true."""
    texts = (
        [LatexFormula(text) for text in equations(views)]
        if latex
        else [None] * len(views)
    )
    return [
        Formulas(view.nested(), view.missing, text)
        for view, text in zip(views, texts, strict=True)
    ]


def latex_lines(views: Sequence[FormulaView]) -> Iterator[Line]:
    """Yield an equation a line, and a comment where entries have no formula."""
    for view, text in zip(views, equations(views), strict=True):
        if text is not None:
            yield unbroken(text)
        if view.missing:
            title = printable(view.title)
            reason = " ".join(printable(view.missing).split())
            what = f"{NONE_FOUND}: no formula" if text else f"{title}: no formula"
            yield Line((f"% {what}: {reason}", "dim"), hang="")


def _names(views: Iterable[FormulaView]) -> Iterator[str]:
    for view in views:
        yield from filter(None, (view.output, view.of, view.by))
        for text in view.latex:
            yield from symbols_in(text or "")


def _equation(view: FormulaView, symbols: LatexSymbols, output: str) -> str | None:
    if view.latex and not any(view.latex):
        return None
    known = (None if text is None else written(text, symbols) for text in view.latex)
    entries = [text or NONE_FOUND for text in known]
    shape = view.shape
    if len(shape) > 2:
        shape = (1, len(view.columns))
    elif len(shape) == 1 and view.second and _dimensions(view.columns):
        # A Hessian's derivatives by a vector are a row, a gradient is a column.
        shape = (1, *shape)
    return f"{_left(view, symbols, output)} = {matrix(entries, shape)}"


def symbols_in(latex: str) -> list[str]:
    """Return the names that occur in a formula's LaTeX."""
    return [found.partition("[")[0] for found in _SYMBOL.findall(latex)]


def written(latex: str, symbols: LatexSymbols) -> str:
    """Return a formula's LaTeX with its names replaced by their symbols."""
    parts = _SYMBOL.split(latex)
    for at in range(1, len(parts), 2):
        name, _, index = parts[at].rstrip("]").partition("[")
        parts[at] = symbols.entry(name, index)
    for at in range(2, len(parts) - 1, 2):
        # Two words side by side would look like one, so a space is put between them.
        beside = parts[at - 1], parts[at + 1]
        if parts[at] == " " and any(each.startswith(WORDS) for each in beside):
            parts[at] = r" \, "
    return "".join(parts)


def _dimensions(indices: Sequence[str]) -> int:
    """Return the number of dimensions that these index texts have; 1 without any
    text."""
    return indices[0].count(",") + bool(indices[0]) if indices else 1


def _left(view: FormulaView, symbols: LatexSymbols, output: str) -> str:
    """Return the derivative that an equation is about; where the block has more than
    two dimensions, its rows and columns are named in their order."""
    of, by = view.of or output, view.by
    named = len(view.shape) > 2
    above = _listed(of, view.rows, symbols) if named else symbols[of]
    below = _listed(by, view.columns, symbols) if named else symbols[by]
    if not view.second:
        return rf"\frac{{\partial {above}}}{{\partial {below}}}"
    top = rf"\partial^{{2}} {symbols[output]}"
    if not view.shape and of == by:
        return rf"\frac{{{top}}}{{\partial {symbols[by]}^{{2}}}}"
    turned = "" if named or _dimensions(view.columns) != 1 else r"^{\top}"
    return rf"\frac{{{top}}}{{\partial {above} \, \partial {below}{turned}}}"


def _listed(name: str, indices: Sequence[str], symbols: LatexSymbols) -> str:
    """Return all entries in their order, as the notation of a Jacobian determinant
    does."""
    entries = [symbols.entry(name, index.strip("[]")) for index in indices]
    if len(entries) == 1:
        return entries[0]
    if len(entries) > 9:
        entries = [*entries[:3], r"\ldots", entries[-1]]
    return rf"\left({', '.join(entries)}\right)"
