"""Distributions of vectors, and those that are made of others.

Invariant: an event is what the rightmost dimensions hold; densities are of events.

    Independent(Normal(zeros(2), ones(2)), 1).log_prob(x)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from ..engine.creation import eye
from ..engine.modes import no_grad
from ..engine.queries import broadcast_shapes
from ..engine.record import call
from .base import Distribution
from .constraints import (
    Constraint,
    IndependentConstraint,
    lower_cholesky,
    positive_definite,
    real_vector,
)
from .continuous import standard_normal
from .discrete import Categorical


def sum_rightmost(value: Any, count: int) -> Any:
    """The sum over the last dimensions."""
    if not count:
        return value
    return value.reshape(*tuple(value.shape)[: value.dim() - count], -1).sum(-1)


class MultivariateNormal(Distribution):
    """Normal vectors, by a covariance, its inverse, or a factor of it."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {
        "loc": real_vector, "covariance_matrix": positive_definite,
        "precision_matrix": positive_definite, "scale_tril": lower_cholesky,
    }  # fmt: skip
    has_rsample = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix, "scale_tril": scale_tril,
        }  # fmt: skip
        known = [name for name, value in given.items() if value is not None]
        if len(known) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril "
                "may be specified."
            )
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrix = given[known[0]]
        if matrix.dim() < 2:
            raise ValueError(
                f"{known[0]} must be at least two-dimensional, with optional leading "
                "batch dimensions"
            )
        batch = broadcast_shapes(tuple(matrix.shape)[:-2], tuple(loc.shape)[:-1])
        self.__dict__[known[0]] = matrix.expand((*batch, *tuple(matrix.shape)[-2:]))
        self.loc = loc.expand((*batch, int(loc.shape[-1])))
        super().__init__(batch, tuple(loc.shape)[-1:], validate_args)
        self._tril = self._factor(known[0], matrix)

    @staticmethod
    def _factor(name: str, matrix: Any) -> Any:
        if name == "scale_tril":
            return matrix
        if name == "covariance_matrix":
            return call("linalg.cholesky", matrix)
        turned = call("linalg.cholesky", matrix.flip((-2, -1))).flip((-2, -1)).mT
        one = eye(int(matrix.shape[-1]), dtype=matrix.dtype, device=matrix.device)
        return call("linalg.solve_triangular", turned, one, upper=False)

    @cached_property
    def scale_tril(self) -> Any:
        """The lower factor of the covariance."""
        return self._tril.expand(
            (*self._batch_shape, *self._event_shape, *self._event_shape)
        )

    @cached_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return (self._tril @ self._tril.mT).expand(
            (*self._batch_shape, *self._event_shape, *self._event_shape)
        )

    @cached_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return call("cholesky_inverse", self.scale_tril)

    @property
    def support(self) -> Constraint:
        return real_vector

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return self._tril.pow(2).sum(-1).expand(self._extended_shape())

    def rsample(self, sample_shape: Any = ()) -> Any:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self._tril @ eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Any:
        return self._tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        gap = (value - self.loc).unsqueeze(-1)
        solved = call("linalg.solve_triangular", self._tril, gap, upper=False)
        square = solved.squeeze(-1).pow(2).sum(-1)
        constant = int(self._event_shape[0]) * math.log(2 * math.pi)
        return -0.5 * (constant + square) - self._half_log_det()

    def entropy(self) -> Any:
        constant = 0.5 * int(self._event_shape[0]) * (1.0 + math.log(2 * math.pi))
        return (constant + self._half_log_det()).expand(self._batch_shape)

    def expand(self, batch_shape: Any) -> Any:
        new = super().expand(batch_shape)
        new._tril = self._tril
        return new


class Independent(Distribution):
    """Some dimensions of a batch taken as one event."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        batch = tuple(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= "
                "len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        kept = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        event = (*batch[kept:], *base_distribution.event_shape)
        super().__init__(batch[:kept], event, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the distribution that it is made of has."""
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Constraint:
        inner: Constraint = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return IndependentConstraint(inner, count) if count else inner

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        found = self.base_dist.log_prob(value)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def expand(self, batch_shape: Any) -> Any:
        inner = tuple(self._event_shape)[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return Independent(base, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
        )


class MixtureSameFamily(Distribution):
    """One of several distributions of a kind, chosen first."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        count = mixture_distribution.logits.shape[-1]
        if count != tuple(component_distribution.batch_shape)[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                "`component_distribution.batch_shape[-1]` "
                f"({component_distribution.batch_shape[-1]})"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        batch = tuple(component_distribution.batch_shape)[:-1]
        super().__init__(batch, component_distribution.event_shape, validate_args)

    @property
    def support(self) -> Constraint:
        inner: Constraint = self.component_distribution.support
        return inner

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        return probs.reshape(*tuple(probs.shape), *(1 for _ in self._event_shape))

    @property
    def mean(self) -> Any:
        at = -1 - len(self._event_shape)
        return (self._weights() * self.component_distribution.mean).sum(at)

    @property
    def variance(self) -> Any:
        at = -1 - len(self._event_shape)
        own = self.component_distribution
        gap = own.mean - self.mean.unsqueeze(at)
        return (self._weights() * own.variance).sum(at) + (
            self._weights() * gap.pow(2)
        ).sum(at)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.unsqueeze(-1 - len(self._event_shape))
        logs = self.component_distribution.log_prob(value)
        mix = call("log_softmax", self.mixture_distribution.logits, dim=-1)
        return (logs + mix).logsumexp(dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            at = len(tuple(sample_shape)) + len(self._batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            ones = (1,) * (len(self._event_shape) + 1)
            chosen = chosen.reshape(*tuple(chosen.shape), *ones)
            event = tuple(self._event_shape)
            chosen = chosen.expand(*tuple(chosen.shape)[: at + 1], *event)
            return drawn.gather(at, chosen).squeeze(at)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution!r},\n  "
            f"{self.component_distribution!r})"
        )
