"""Paths of the chain rule without numbers: the product of each as a formula.

Invariants: a formula is the rules of a path's nodes, each put in the place of the
gradient that arrives at the next one; evaluated, it gives the path's product.

    composed(["g * w3", "outer(g, x)"], frozenset({"w3", "x"}))     # "outer(w3, x)"
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from ..lang.errors import ProgramError
from ..lang.run import evaluate

MAX_FORMULA_CHARACTERS: Final = 120
"""Largest length of a formula that is shown, in characters."""

_ATOM: Final = re.compile(r"[\w.]+(\([^()]*\))?(\*\*\d+)?")
_PRODUCT: Final = re.compile(r"[^-+@ ]+( [*/] [^-+@ ]+)*")
"""Pattern of a product without blanks in its factors."""


def composed(rules: Iterable[str | None], known: frozenset[str]) -> str | None:
    """Return the gradient at the end of rules, the first of which gets 1; None if one
    is not known, or the formula is too long or needs letters of a rule.

    Args:
        rules: formulas of ``g``, the gradient that arrives.
        known: the names of the program, which are no letters.
    """
    from .textbook_rules import COTANGENT, letters

    g = "grad" if COTANGENT in known else COTANGENT
    word = re.compile(rf"\b{g}\b")
    found = ""
    for rule in rules:
        if rule is None or {*letters([rule], known)} - {g}:
            return None
        if not found:
            first = rule.removeprefix(f"{g} * ")
            found = "" if rule == g else word.sub("1", first)
        else:
            alone = re.search(rf"(?:^|[(,] ?){g}(?:$|[),])", rule)
            leads = rule.startswith(f"{g} ") and _PRODUCT.fullmatch(found)
            inside = found if alone or leads else _within(found)
            found = word.sub(inside.replace("\\", r"\\"), rule)
        if len(found) > MAX_FORMULA_CHARACTERS:
            return None
    return found or "1"


def gives(text: str, values: Mapping[str, Any], product: Any) -> bool:
    """Return whether a formula has a path's product as its value."""
    try:
        found = np.asarray(evaluate(text, values)[0].raw)
        made = np.broadcast_to(found, product.shape)
    except (ProgramError, ValueError):
        return False
    return bool(np.allclose(made, product, rtol=1e-9, equal_nan=True))


def _within(text: str) -> str:
    return text if _ATOM.fullmatch(text) else f"({text})"
