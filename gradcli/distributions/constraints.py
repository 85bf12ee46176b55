"""Regions that parameters and samples of distributions have to lie in.

Invariant: a constraint is checked for each entry, or for each event of several entries.

    positive.check(tensor([1.0, -1.0]))     # tensor([ True, False])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..engine.record import call


@dataclass(frozen=True, slots=True)
class Constraint:
    """A region of numbers.

    kind       PyTorch's name for the constraint
    check      returns whether each event lies inside
    event_dim  the number of dimensions of one event
    bounds     numbers that the constraint depends on, by their names
    """

    kind: str
    check: Callable[[Any], Any]
    event_dim: int = 0
    bounds: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        shown = [f"{name}={value}" for name, value in self.bounds.items()]
        return f"{self.kind}({', '.join(shown)})"


def greater_than(bound: Any) -> Constraint:
    """Return the constraint to numbers above a bound."""
    return Constraint("GreaterThan", lambda x: x > bound, 0, {"lower_bound": bound})


def less_than(bound: Any) -> Constraint:
    """Return the constraint to numbers below a bound."""
    return Constraint("LessThan", lambda x: x < bound, 0, {"upper_bound": bound})


def interval(low: Any, high: Any) -> Constraint:
    """Return the constraint to numbers between two bounds, both included."""
    bounds = {"lower_bound": low, "upper_bound": high}
    return Constraint("Interval", lambda x: (x >= low) & (x <= high), 0, bounds)


def integer_interval(low: int, high: int) -> Constraint:
    """Return the constraint to integers between two bounds, both included."""
    inside = interval(low, high)
    return Constraint(
        "IntegerInterval", lambda x: (x % 1 == 0) & inside.check(x), 0, inside.bounds
    )


def independent(inner: Constraint, count: int) -> Constraint:
    """Return the constraint to events of ``count`` more dimensions than ``inner`` has,
    all parts of which lie inside ``inner``."""

    def check(value: Any) -> Any:
        found = inner.check(value)
        for _ in range(count):
            found = found.all(-1)
        return found

    bounds = {"base": inner, "count": count}
    return Constraint("IndependentConstraint", check, inner.event_dim + count, bounds)


def _is_simplex(value: Any) -> Any:
    return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6)


def _is_lower_cholesky(value: Any) -> Any:
    lower = (value.tril() == value).flatten(-2)
    diagonal = value.diagonal(dim1=-2, dim2=-1) > 0
    return lower.all(-1) & diagonal.all(-1)


def _is_positive_definite(value: Any) -> Any:
    near = (abs(value - value.mT) <= 1e-6).flatten(-2)
    return near.all(-1) & (call("linalg.eigvalsh", value) > 0).all(-1)


real = Constraint("Real", lambda x: x == x)
positive = greater_than(0.0)
unit_interval = interval(0.0, 1.0)
boolean = Constraint("Boolean", lambda x: (x == 0) | (x == 1))
simplex = Constraint("Simplex", _is_simplex, 1)
real_vector = independent(real, 1)
lower_cholesky = Constraint("LowerCholesky", _is_lower_cholesky, 2)
positive_definite = Constraint("PositiveDefinite", _is_positive_definite, 2)
