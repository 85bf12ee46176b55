"""What parameters and samples of distributions have to be.

Invariant: a constraint answers per entry, or per event where it is about several.

    positive.check(tensor([1.0, -1.0]))     # tensor([ True, False])
"""

from __future__ import annotations

from typing import Any

from ..engine.record import call


class Constraint:
    """A region of numbers; ``event_dim`` dimensions of an array are asked at once."""

    event_dim = 0
    is_discrete = False

    def check(self, value: Any) -> Any:
        """Whether each event lies inside."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Real(Constraint):
    """Any number."""

    def check(self, value: Any) -> Any:
        return value == value


class GreaterThan(Constraint):
    """Numbers above a bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return value > self.lower_bound

    def __repr__(self) -> str:
        return f"{type(self).__name__}(lower_bound={self.lower_bound})"


class LessThan(Constraint):
    """Numbers below a bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound

    def __repr__(self) -> str:
        return f"{type(self).__name__}(upper_bound={self.upper_bound})"


class GreaterThanEq(GreaterThan):
    """Numbers from a bound on."""

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class Interval(Constraint):
    """Numbers between two bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)

    def __repr__(self) -> str:
        ends = f"lower_bound={self.lower_bound}, upper_bound={self.upper_bound}"
        return f"{type(self).__name__}({ends})"


class IntegerInterval(Interval):
    """Whole numbers between two bounds."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class Boolean(Constraint):
    """0 or 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class Simplex(Constraint):
    """Rows of probabilities."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        near = abs(value.sum(-1) - 1) < 1e-6
        return (value >= 0).all(-1) & near


class OneHot(Constraint):
    """Rows with a 1 among zeros."""

    event_dim, is_discrete = 1, True

    def check(self, value: Any) -> Any:
        whole = (value == 0) | (value == 1)
        return whole.all(-1) & (value.sum(-1) == 1)


class IndependentConstraint(Constraint):
    """Several numbers, each of which lies inside."""

    def __init__(self, base: Constraint, count: int) -> None:
        self.base_constraint, self.reinterpreted_batch_ndims = base, count
        self.event_dim = base.event_dim + count
        self.is_discrete = base.is_discrete

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            found = found.all(-1)
        return found

    def __repr__(self) -> str:
        count = self.reinterpreted_batch_ndims
        return f"{type(self).__name__}({self.base_constraint!r}, {count})"


class LowerCholesky(Constraint):
    """Lower triangles with a positive diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        lower = (value.tril() == value).flatten(-2)
        diagonal = value.diagonal(dim1=-2, dim2=-1) > 0
        return lower.all(-1) & diagonal.all(-1)


class PositiveDefinite(Constraint):
    """Symmetric matrices of which all eigenvalues are positive."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        near = (abs(value - value.mT) <= 1e-6).flatten(-2)
        values = call("linalg.eigvalsh", value)
        return near.all(-1) & (values > 0).all(-1)


real = Real()
positive = GreaterThan(0.0)
nonnegative = GreaterThanEq(0.0)
unit_interval = Interval(0.0, 1.0)
boolean = Boolean()
simplex = Simplex()
one_hot = OneHot()
real_vector = IndependentConstraint(real, 1)
lower_cholesky = LowerCholesky()
positive_definite = PositiveDefinite()
