"""Distributions of single real numbers.

Invariant: numbers are drawn as PyTorch draws them, so that one seed gives the same.

    Normal(0.0, 1.0).log_prob(tensor(0.5))
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from ..engine.creation import ones, zeros
from ..engine.draws import normal, rand
from ..engine.modes import no_grad
from ..engine.queries import finfo
from .base import Distribution, broadcast_all
from .constraints import (
    Constraint,
    GreaterThan,
    Interval,
    LessThan,
    nonnegative,
    positive,
    real,
)

HALF_LOG_2PI = math.log(math.sqrt(2 * math.pi))


def standard_normal(shape: Any, like: Any) -> Any:
    """Normal numbers of the type of a tensor."""
    options = {"dtype": like.dtype, "device": like.device}
    return normal(zeros(shape, **options), ones(shape, **options))


class _Placed(Distribution):
    """A distribution with a place and a width."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {
        "loc": real, "scale": positive,
    }  # fmt: skip
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    @property
    def support(self) -> Constraint:
        return real

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc


class Normal(_Placed):
    """Normal numbers of a mean and a standard deviation."""

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + eps * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        var = self.scale**2
        gap = -((value - self.loc) ** 2) / (2 * var)
        return gap - self.scale.log() - HALF_LOG_2PI

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        inside = (value - self.loc) * self.scale.reciprocal() / math.sqrt(2)
        return 0.5 * (1 + inside.erf())

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class LogNormal(Distribution):
    """Exponentials of normal numbers."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {
        "loc": real, "scale": positive,
    }  # fmt: skip
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(loc, scale, validate_args)
        super().__init__(self.base_dist.batch_shape, (), validate_args)

    @property
    def loc(self) -> Any:
        """The mean of the logarithms."""
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviation of the logarithms."""
        return self.base_dist.scale

    @property
    def support(self) -> Constraint:
        return positive

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        x = value.log()
        return self.base_dist.log_prob(x) - x

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class Laplace(_Placed):
    """Numbers whose distance from a place is exponential."""

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        least = finfo(self.loc.dtype).eps - 1
        u = zeros(shape, dtype=self.loc.dtype).uniform_(least, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        gap = value - self.loc
        return 0.5 - 0.5 * gap.sign() * (-gap.abs() / self.scale).expm1()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Uniform(Distribution):
    """Numbers between two bounds, all alike."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, (), validate_args)

    @property
    def arg_constraints(self) -> Mapping[str, Constraint]:  # type: ignore[override]
        """What the bounds have to be, by each other."""
        return {"low": LessThan(self.high), "high": GreaterThan(self.low)}

    @property
    def support(self) -> Constraint:
        return Interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        found = rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + found * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        above = self.low.le(value).type_as(self.low)
        below = self.high.gt(value).type_as(self.low)
        return above.mul(below).log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()


class Exponential(Distribution):
    """Times between events of a rate."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {"rate": positive}
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, (), validate_args)

    @property
    def support(self) -> Constraint:
        return nonnegative

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return self.rate * 0

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        return zeros(shape, dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()
