"""Distributions of choices, by probabilities or by their logarithms.

Invariant: of probabilities and logits the one that was given is kept, and the other
follows from it.

    Categorical(logits=tensor([0.0, 1.0])).sample()
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from ..engine.draws import bernoulli, multinomial
from ..engine.modes import no_grad
from ..engine.queries import broadcast_shapes, finfo
from ..engine.record import call
from .base import Distribution, broadcast_all
from .constraints import (
    Constraint,
    boolean,
    integer_interval,
    real,
    real_vector,
    simplex,
    unit_interval,
)


def clamped(probs: Any) -> Any:
    """Return probabilities whose logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def demand_one(probs: object, logits: object) -> None:
    """Refuse both, or neither."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Bernoulli(Distribution):
    """1 with a probability, else 0."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {
        "probs": unit_interval, "logits": real,
    }  # fmt: skip

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        demand_one(probs, logits)
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
        else:
            (self.logits,) = broadcast_all(logits)
        given = self.probs if probs is not None else self.logits
        super().__init__(given.shape, (), validate_args)

    @cached_property
    def probs(self) -> Any:
        """The probability of 1."""
        return self.logits.sigmoid()

    @cached_property
    def logits(self) -> Any:
        """The logarithm of the odds of 1."""
        ps = clamped(self.probs)
        return ps.log() - (-ps).log1p()

    support: Any = boolean
    mean: Any = property(lambda self: self.probs)
    variance: Any = property(lambda self: self.probs * (1 - self.probs))
    mode: Any = property(lambda self: (self.probs >= 0.5).to(self.probs.dtype))

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -call(
            "binary_cross_entropy_with_logits", logits, value, reduction="none"
        )

    def entropy(self) -> Any:
        return call(
            "binary_cross_entropy_with_logits", self.logits, self.probs,
            reduction="none",
        )  # fmt: skip


class Categorical(Distribution):
    """The number of a choice, by rows of probabilities."""

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {
        "probs": simplex, "logits": real_vector,
    }  # fmt: skip

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        demand_one(probs, logits)
        given = logits if probs is None else probs
        if given.dim() < 1:
            name = "logits" if probs is None else "probs"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = int(given.shape[-1])
        super().__init__(tuple(given.shape)[:-1], (), validate_args)

    @cached_property
    def probs(self) -> Any:
        """The probabilities, which add up to 1."""
        return call("softmax", self.logits, dim=-1)

    @cached_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return clamped(self.probs).log()

    @property
    def param_shape(self) -> Any:
        """The shape of the probabilities."""
        return self.logits.shape

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    support: Any = property(lambda self: integer_interval(0, self._num_events - 1))
    mean: Any = property(lambda self: self.probs[..., 0].detach() * float("nan"))
    variance: Any = property(lambda self: self.mean)
    mode: Any = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape: Any = ()) -> Any:
        count = 1
        for n in sample_shape:
            count *= int(n)
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = multinomial(rows, count, True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        shape = broadcast_shapes(tuple(value.shape), tuple(self.logits.shape))
        value, logs = value.expand(shape), self.logits.expand(shape)
        return logs.gather(-1, value[..., :1]).squeeze(-1)
