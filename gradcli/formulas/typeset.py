r"""A part of a program's text, typeset as mathematics.

Invariant: the text is run on trees, where names stand for arrays of their shapes; what
cannot be said without their values has no formula.

    typeset("sin(x)*x**2", {"x": ()}, LatexSymbols(["x"]))    # \sin x \cdot x^{2}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from ..engine import Tensor
from ..engine.dtypes import default_dtype
from ..lang.compiler import compile_program
from ..lang.errors import ProgramError
from ..lang.parser import parse
from ..lang.run import computed
from .latex import Formula, LatexDialect, LatexSymbols
from .namespace import TreeNamespace
from .program import TreeFactory, TreeLibrary, rows_as_calls
from .programs import inline
from .texts import Text
from .tree import TooLong, Unwritable

CUT: Final = "…"
"""Sign that stands for a part that is too long."""

MAX_CHARACTERS: Final = 120
"""Largest length of a formula that is typeset, in characters of LaTeX."""

CANNOT_SAY: Final = (Unwritable, TooLong, ProgramError, ValueError)
"""Errors that mean that a text has no formula."""


class _NamedDialect(LatexDialect):
    """LaTeX in which names have the symbols of a set of names."""

    def __init__(self, symbols: LatexSymbols) -> None:
        super().__init__()
        self._symbols = symbols

    def named(self, name: str) -> Text:
        return Formula(self._symbols[name])


def typeset(
    source: str, shapes: Mapping[str, tuple[int, ...]], symbols: LatexSymbols
) -> str | None:
    """Return a text in LaTeX; None if it has no short formula.

    Args:
        source: an expression of the language.
        shapes: the shapes of the names, those of the text among them.
        symbols: the symbols of the names.
    """
    xp = TreeNamespace(words=True)
    given = {
        name: Tensor(xp.named(name, np.full(shape, 0.5)), xp)
        for name, shape in shapes.items()
    }
    try:
        with default_dtype("float64"), rows_as_calls(), np.errstate(all="ignore"):
            code = compile_program(parse(source, given))
            library = TreeLibrary(TreeFactory(xp, "float64", 0))
            output, _, _ = computed(code, given, library)
            text = inline(output.raw, _NamedDialect(symbols), CUT).written
    except CANNOT_SAY:
        return None
    short = CUT not in text and len(text) <= MAX_CHARACTERS
    return text if short and not xp.decisions else None
