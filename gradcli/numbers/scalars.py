"""The scalar functions: where each holds and is smooth.

Invariant: one row per function. What a function is to balls stands in
`gradcli.numbers.balls`, what it is to SymPy in `gradcli.numbers.expressions`.

    SCALARS["log"].domain(x)            # ((0, ">", 0),)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .balls import FUNCTIONS, whole
from .system import Number

Bound = tuple[int, str, Number]
"""An argument's position, a relation and a number: ``(0, ">", 0)``."""

Bounds = tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """One function; ``domain``: from the arguments to where it holds and is smooth."""

    name: str
    domain: Callable[..., Bounds]


_positive: Bounds = ((0, ">", 0),)
_within: Bounds = ((0, ">", -1), (0, "<", 1))


def _power_domain(base: Any, exponent: Any) -> Bounds:
    """A whole exponent takes every base; one that may vary takes those above 0, or
    is held where it is whole; 0 itself takes exponents above 0."""
    written = exponent.content if exponent.name == "number" else None
    if isinstance(written, int):
        return () if written >= 0 else ((0, "!=", 0),)
    if base.name == "number" and base.value.is_zero():
        return ((1, ">", 0),)
    held = None if base.value > 0 else whole(exponent.value)
    return _positive if written or held is None else ((1, "==", held),)


def _length_domain(a: Any, b: Any) -> Bounds:
    """A length is smooth but where both sides are 0."""
    if not b.value.contains(0):
        return ()
    return ((0, "!=", 0),) if not a.value.contains(0) else ((0, "!=", 0), (1, "!=", 0))


_DOMAINS: Final[dict[str, Bounds | Callable[..., Bounds]]] = {
    "div": ((1, "!=", 0),),
    "pow": _power_domain,
    "abs": ((0, "!=", 0),),
    "sign": ((0, "!=", 0),),
    "sqrt": _positive,
    "log": _positive,
    "log2": _positive,
    "log10": _positive,
    "log1p": ((0, ">", -1),),
    "asin": _within,
    "acos": _within,
    "atan2": lambda y, x: () if x.value > 0 else ((0, "!=", 0),),
    "acosh": ((0, ">", 1),),
    "atanh": _within,
    "hypot": _length_domain,
    "erfinv": _within,
    "ndtri": ((0, ">", 0), (0, "<", 1)),
    "xlogy": ((1, ">", 0),),
}


def _domain(name: str) -> Callable[..., Bounds]:
    found = _DOMAINS.get(name, ())
    return found if callable(found) else lambda *arguments: found


SCALARS: Final = {
    name: Scalar(name, _domain(name)) for name in FUNCTIONS if name != "dot"
}

LITERAL: Final = frozenset({"pow", "polygamma"})
"""Functions of which a number that is written as an argument is part of the formula."""

_INTERNAL: Final = {"add", "sub", "mul", "div", "neg", "pow", "total", "choice"}
"""What rows reach through operators and reductions alone."""


def own_names() -> dict[str, str]:
    """The scalar functions by the names that rows call them under."""
    arithmetic = {f"elementwise_{n}": n for n in _INTERNAL}
    return {n: n for n in SCALARS if n not in _INTERNAL} | arithmetic
