"""Condition numbers: what a relative error of an input becomes in the output.

Invariant: computed from the values and gradients that are shown, and from nothing
else; where the output is 0 a relative error has no size, and the number is infinite.

    conditions(view, [1.0])[0].norm          # |x * f'(x) / f(x)|
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, hypot, inf, isfinite, isnan, nan

from ..views.fields import HIDDEN
from ..views.numbers import Plain, flat
from .closed_forms import indices
from .gradients import GradView, InputView


@dataclass(frozen=True, slots=True)
class Condition:
    """Description of how the output reacts to one input.

    norm     The norm of the input times the norm of its gradient, over the output.
    largest  The largest of the entries' own condition numbers.
    entry    The entry that it belongs to, as x[1].
    """

    name: str = field(metadata=HIDDEN)
    norm: float
    largest: float
    entry: str


def conditions(view: GradView, cotangent: Plain | None) -> tuple[Condition, ...]:
    """Return the condition number by each input that was differentiated.

    Args:
        view: values and gradients.
        cotangent: what a vector output was contracted with; None: ones.
    """
    values = flat(view.output.value)
    weights = [1.0] * len(values) if cotangent is None else flat(cotangent)
    output = abs(_sum([w * v for w, v in zip(weights, values, strict=True)]))
    return tuple(_condition(given, output) for given in view.differentiated)


def _condition(given: InputView, output: float) -> Condition:
    values = [] if given.value is None else flat(given.value)
    slopes = [0.0] * len(values) if given.grad is None else flat(given.grad)
    parts = [_ratio(abs(x * g), output) for x, g in zip(values, slopes, strict=True)]
    norm = _ratio(hypot(*values) * hypot(*slopes), output)
    if not parts:
        return Condition(given.name, 0.0, 0.0, given.name)
    worst = max(range(len(parts)), key=lambda i: inf if isnan(parts[i]) else parts[i])
    entry = given.name + indices(given.shape)[worst]
    return Condition(given.name, norm, parts[worst], entry)


def _sum(terms: list[float]) -> float:
    try:
        return fsum(terms)
    except (OverflowError, ValueError):
        # `fsum` refuses a sum beyond the range, and inf - inf.
        return sum(terms)


def _ratio(change: float, output: float) -> float:
    if not isfinite(output):
        return nan
    if output:
        return change / output
    return nan if isnan(change) else inf if change else 0.0
