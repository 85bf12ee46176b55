"""The values of terms in any precision, and how far a float may lie from one.

Invariant: a value is computed once for each precision, in the order of serials; what is
`Known` in a precision is never computed there again.

    values_in(MORE, ordered([y]))[y.serial]     # more than 100 digits
    Roundings("float64").slack(y)               # 0 for an input's entry
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from .precision import EXACT, engine_precision, guarded, held, jostled, shaking
from .scalars import SCALARS
from .system import is_float, to_context
from .term import Term, ordered

Known = dict[int, Any]
"""Values of terms in one precision, by serial, as far as they have been computed."""

SLACK: Final = 32
"""How many times as far as in two trials roundings are believed to carry a number."""


def values_in(context: Any, terms: Sequence[Term], known: Known | None = None) -> Known:
    """The value of every term, computed anew in another precision.

    ``known`` are values in that precision; it is added to.
    """
    if context is EXACT:
        return {t.serial: t.value for t in terms}
    values: Known = {} if known is None else known
    for term in terms:
        if term.serial not in values:
            values[term.serial] = _value(context, term, values)
    return values


def _value(context: Any, term: Term, values: Known) -> Any:
    if term.name == "number":
        value = to_context(context, term.content)
        return value if is_float(term.content) else held(context, value)
    if term.name == "symbol":
        return context.mpf(term.value)
    arguments = [values[a.serial] for a in term.args]
    if term.name == "stop":
        return arguments[0]
    if term.name == "total":
        arguments = [*jostled(context, arguments)]
    return held(context, guarded(context, SCALARS[term.name].number, *arguments))


def slack_of(value: Any, trials: Sequence[Any]) -> Any:
    """How far a number may lie from a value by rounding, after trials of it; 0 where
    one of them left the range of numbers."""
    found = SLACK * max([abs(EXACT.mpf(trial) - value) for trial in trials])
    return found if EXACT.isfinite(found) else EXACT.zero


class Roundings:
    """What rounding at the engine's precision does to the terms of one run."""

    def __init__(self, dtype: str) -> None:
        self.near = engine_precision(dtype)
        """The precision of the engine, with its range."""
        self.shaken = shaking(dtype)
        """The same, in which every number is moved a little; one for each trial."""
        self._known: dict[Any, Known] = {}

    def known(self, context: Any) -> Known:
        """The values that were computed in a precision, to be added to."""
        return self._known.setdefault(context, {})

    def rounded(self, term: Term) -> Any:
        """A term's value where every step is rounded as the engine's are."""
        return self.told(term, self.near)

    def moved(self, term: Term) -> list[Any]:
        """A term's value in trials where every step is moved by some roundings."""
        return [self.told(term, context) for context in self.shaken]

    def slack(self, term: Term) -> Any:
        """How far the engine's number may lie from a term's value; 0 if it is that."""
        if term.name == "symbol":
            return EXACT.zero
        return slack_of(term.value, [self.rounded(term), *self.moved(term)])

    def told(self, term: Term, context: Any) -> Any:
        """A term's value in a precision."""
        if context is EXACT:
            return term.value
        known = self.known(context)
        if term.serial not in known:
            values_in(context, ordered([term], known), known)
        return known[term.serial]
