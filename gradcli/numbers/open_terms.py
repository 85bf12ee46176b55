"""Terms that keep what the checker decides: comparisons and choices between values.

A comparison is a term that is 1 or 0, and picking one of two terms is a term too, so
that a program's code holds on both sides. Only where the run itself had to go one way,
in an ``if``, a sort or an index, the way it went is kept as a condition.

Invariant: what is made of these terms has the program's value wherever the conditions
hold, and a kink has the derivative that the engine gives it.

    terms = OpenTerms(most=1000)
    x = terms.symbol("x", 0.5)
    zero = terms.lift(0)
    terms.apply("select", terms.apply("gt", x, zero), x, zero)      # relu
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .precision import EXACT, guarded
from .scalars import SCALARS
from .system import Number
from .term import Term
from .terms import Terms

OPPOSITE: Final = {
    "lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"
}  # fmt: skip

SIGNS: Final = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}


def _remainder(m: Any, a: Any, b: Any) -> Any:
    return a - b * m.floor(a / b)


def _fmod(m: Any, a: Any, b: Any) -> Any:
    left = abs(a) - abs(b) * m.floor(abs(a) / abs(b))
    return -left if a < 0 else left


def _larger(m: Any, a: Any, b: Any) -> Any:
    return m.nan if m.isnan(a) or m.isnan(b) else max(a, b)


def _smaller(m: Any, a: Any, b: Any) -> Any:
    return m.nan if m.isnan(a) or m.isnan(b) else min(a, b)


def _ignoring_nan(choose: Callable[..., Any]) -> Callable[..., Any]:
    def rule(m: Any, a: Any, b: Any) -> Any:
        if m.isnan(a):
            return b
        return a if m.isnan(b) else choose(a, b)

    return rule


def _finite(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda m, x: rule(m, x) if m.isfinite(x) else x


RELATIONS: Final[dict[str, Callable[..., Any]]] = {
    "lt": lambda m, a, b: a < b,
    "le": lambda m, a, b: a <= b,
    "gt": lambda m, a, b: a > b,
    "ge": lambda m, a, b: a >= b,
    "eq": lambda m, a, b: a == b,
    "ne": lambda m, a, b: a != b,
}

TRUTHS: Final[dict[str, Callable[..., Any]]] = {
    **RELATIONS,
    "isnan": lambda m, x: m.isnan(x),
    "isinf": lambda m, x: m.isinf(x),
    "isfinite": lambda m, x: m.isfinite(x),
    "logical_and": lambda m, a, b: a and b,
    "logical_or": lambda m, a, b: a or b,
    "logical_xor": lambda m, a, b: bool(a) != bool(b),
    "logical_not": lambda m, a: not a,
}
"""Terms that are 1 where they hold and 0 elsewhere."""

CHOICES: Final[dict[str, Callable[..., Any]]] = {
    "select": lambda m, which, a, b: a if which else b,
    "maximum": _larger,
    "minimum": _smaller,
    "fmax": _ignoring_nan(max),
    "fmin": _ignoring_nan(min),
    "floor": _finite(lambda m, x: m.floor(x)),
    "ceil": _finite(lambda m, x: m.ceil(x)),
    "trunc": _finite(lambda m, x: m.floor(x) if x > 0 else m.ceil(x)),
    "round": _finite(lambda m, x: m.nint(x)),
    "remainder": _remainder,
    "fmod": _fmod,
    "floor_divide": lambda m, a, b: m.floor(a / b),
}
"""What `gradcli.numbers.decided` settles by value, as functions to `EXACT`."""

_OWN: Final = TRUTHS | CHOICES


class TooLong(ValueError):
    """A program of more steps than are written out."""


class OpenTerms(Terms):
    """The system whose comparisons and choices are terms."""

    def __init__(self, most: int) -> None:
        """``most`` bounds the terms that are made, needed or not."""
        super().__init__()
        self.most = most
        self.made = 0
        self.conditions: dict[tuple[str, tuple[int, ...]], Term] = {}
        """What the run took by value; each of these terms is 1."""
        self.pivoted = False
        """Whether rows of a matrix were put in order by value."""

    def apply(self, name: str, *elements: Term) -> Term:
        self.made += 1
        if self.made > self.most:
            raise TooLong
        shorter = _SHORTER.get(name)
        found = shorter(self, *elements) if shorter is not None else None
        if found is not None:
            return found
        rule = _OWN.get(name)
        if rule is None:
            return super().apply(name, *elements)
        value = guarded(EXACT, rule, *[e.value for e in elements])
        if all(e.name == "number" for e in elements) and EXACT.isint(value):
            return self.lift(int(value))
        return Term(name, elements, value)

    def total(self, elements: Any) -> Term:
        """A sum in the order of its parts: each step is one of the code."""
        result = self.lift(0)
        for element in elements:
            result = self.apply("add", result, element)
        return result

    def truth(self, element: Term) -> Term:
        """The element as a term that is 1 or 0."""
        if element.name in TRUTHS:
            return element
        if element.name == "number":
            return self.lift(int(bool(element.content)))
        return self.apply("ne", element, self.lift(0))

    def decide(self, element: Term) -> bool:
        """Whether the element holds; that it does, or does not, becomes a condition."""
        term = self.truth(element)
        holds = bool(term.value)
        if not term.constant:
            met = term if holds else self._denied(term)
            self.conditions.setdefault(_key(met), met)
        return holds

    def _denied(self, term: Term) -> Term:
        opposite = OPPOSITE.get(term.name)
        if opposite is None or any(EXACT.isnan(a.value) for a in term.args):
            return self.apply("logical_not", term)
        return self.apply(opposite, *term.args)

    def compare(self, relation: str, a: Term, b: Term) -> bool:
        return self.decide(self.apply(SIGNS[relation], a, b))

    def fixed(self, element: Term, value: Number) -> Term:
        """``value``, with the condition that the element is that."""
        if value == value and element.name != "number":
            self.decide(self.apply("eq", element, self.lift(value)))
        return self.lift(value)

    def choice(self, pick: Callable[[], Term]) -> Term:
        return pick()

    def stop(self, element: Term) -> Term:
        """The element: the engine's own reverse pass ends derivatives here."""
        return element

    def _note_edges(self, name: str, elements: Any) -> None:
        """The code has the engine's own convention where there is no derivative."""


def _key(term: Term) -> tuple[str, tuple[int, ...]]:
    return term.name, tuple(a.serial for a in term.args)


def _is(term: Term, number: Number) -> bool:
    return term.name == "number" and bool(term.content == number)


def _shorter_mul(terms: OpenTerms, a: Term, b: Term) -> Term | None:
    for one, other in ((a, b), (b, a)):
        if _is(one, -1):
            return terms.apply("neg", other)
    return None


def _shorter_add(terms: OpenTerms, a: Term, b: Term) -> Term | None:
    for one, other in ((a, b), (b, a)):
        if other.name == "neg" and not _is(one, 0):
            return terms.apply("sub", one, other.args[0])
    return None


def _shorter_sub(terms: OpenTerms, a: Term, b: Term) -> Term | None:
    if _is(a, 0):
        return terms.apply("neg", b)
    return terms.apply("add", a, b.args[0]) if b.name == "neg" else None


def _shorter_select(terms: OpenTerms, which: Term, a: Term, b: Term) -> Term | None:
    if which.name == "number":
        return a if which.content else b
    return a if a is b else None


def _shorter_pow(terms: OpenTerms, a: Term, b: Term) -> Term | None:
    if _is(b, 1):
        return a
    return terms.apply("square", a) if _is(b, 2) else None


def _shorter_and(terms: OpenTerms, a: Term, b: Term) -> Term | None:
    for one, other in ((a, b), (b, a)):
        if one.name == "number":
            return other if one.content else one
    return None


def _shorter_or(terms: OpenTerms, a: Term, b: Term) -> Term | None:
    for one, other in ((a, b), (b, a)):
        if one.name == "number":
            return one if one.content else other
    return None


_SHORTER: Final[dict[str, Callable[..., Term | None]]] = {
    "mul": _shorter_mul,
    "add": _shorter_add,
    "sub": _shorter_sub,
    "neg": lambda terms, a: a.args[0] if a.name == "neg" else None,
    "pow": _shorter_pow,
    "select": _shorter_select,
    "logical_and": _shorter_and,
    "logical_or": _shorter_or,
}
"""The same value by fewer steps, with no other rounding."""

FUNCTIONS: Final = (frozenset(SCALARS) | frozenset(_OWN)) - {"total", "choice"}
"""Every function that a term of this system can be made by."""
