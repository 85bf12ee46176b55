"""Parts of a program's domain: a formula that was shown may hold in one of several.

Invariant: a place is named only if the program has a finite value there.

    elsewhere(question.run(), ["x < 1"])        # "x=2.3"
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import product
from typing import Final

from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.prepare import prepare
from ..lang.run import Run, Session, all_finite

PLACES: Final = (2.3, -1.3, 0.4, 4.1, -0.6, 9.2, 1.6, -3.7)
"""Values of inputs, by which a part of the domain is looked for."""

MAX_PLACED: Final = 2
"""Largest number of inputs that are given such values."""


def elsewhere(run: Run, conditions: Iterable[str]) -> str | None:
    """Return values of the inputs, as they are typed, at which the program has a value
    and one of the inequalities in ``conditions`` does not hold; None if none is found.

    Example: the conditions of the formula of `x^2 if x < 1 else 2*x` are `x < 1`; the
    values are `x=2.3`.
    """
    bounds = [text for text in conditions if "<" in text or ">" in text]
    names = [given.name for given in run.inputs]
    numbers = all(given.tensor.ndim == 0 for given in run.inputs)
    if not bounds or len(names) > MAX_PLACED or not numbers:
        return None
    # All inputs are read, as a value that is not is an error.
    text = f"[{', '.join(bounds)}] + 0*({' + '.join(names)})"
    for values in product(PLACES, repeat=len(names)):
        words = [f"{name}={value}" for name, value in zip(names, values, strict=True)]
        given = read_bindings(words)
        with suppress(ProgramError):
            value = Session(prepare(run.source, given), run.of).run().output
            held = Session(prepare(text, given)).run().output
            if all_finite(value) and not held.raw.all():
                return " ".join(words)
    return None
