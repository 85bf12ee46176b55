"""Distributions whose events are batches of another's, and distances between two.

Invariant: an event is what the rightmost dimensions hold; densities are of events.

    Independent(Normal(zeros(2), ones(2)), 1).log_prob(x)
    kl_divergence(Normal(0.0, 1.0), Normal(1.0, 2.0))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..engine.record import call
from .base import Distribution
from .constraints import Constraint, independent
from .continuous import MultivariateNormal, Normal, Uniform
from .discrete import Bernoulli, Categorical


def sum_rightmost(value: Any, count: int) -> Any:
    """Return the sum over the last dimensions."""
    if not count:
        return value
    return value.reshape(*tuple(value.shape)[: value.dim() - count], -1).sum(-1)


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
        """True if samples of the base distribution may carry a gradient."""
        return bool(self.base_dist.has_rsample)

    @property
    def support(self) -> Constraint:
        inner: Constraint = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return independent(inner, count) if count else inner

    mean: Any = property(lambda self: self.base_dist.mean)
    mode: Any = property(lambda self: self.base_dist.mode)
    variance: Any = property(lambda self: self.base_dist.variance)

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


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the divergence of Kullback and Leibler of ``q`` from ``p``.

    Raises:
        NotImplementedError: there is no formula for the pair.
    """
    for kind, formula in DIVERGENCES.items():
        if isinstance(p, kind) and isinstance(q, kind):
            return formula(p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type "
        f"{type(q).__name__}"
    )


def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    gap = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + gap - 1 - ratio.log())


def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (call("softplus", -q.logits) - call("softplus", -p.logits))
    none = (1 - p.probs) * (call("softplus", q.logits) - call("softplus", p.logits))
    return one + none


def _categorical(p: Any, q: Any) -> Any:
    return (p.probs * (p.logits - q.logits)).sum(-1)


def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    outside = (q.low > p.low) | (q.high < p.high)
    return found.masked_fill(outside, float("inf"))


def _vectors(p: Any, q: Any) -> Any:
    half = q._half_log_det() - p._half_log_det()
    turned = call("linalg.solve_triangular", q._tril, p._tril, upper=False)
    gap = (q.loc - p.loc).unsqueeze(-1)
    solved = call("linalg.solve_triangular", q._tril, gap, upper=False).squeeze(-1)
    squares = turned.pow(2).sum((-2, -1)) + solved.pow(2).sum(-1)
    return half + 0.5 * (squares - int(p.event_shape[0]))


def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)


DIVERGENCES: dict[type, Callable[[Any, Any], Any]] = {
    Normal: _normal,
    Bernoulli: _bernoulli,
    Categorical: _categorical,
    Uniform: _uniform,
    MultivariateNormal: _vectors,
    Independent: _independent,
}
"""The divergence of two distributions of one kind, by the kind."""
