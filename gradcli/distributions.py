"""The normal distribution, that of 0 and 1, and that of choices, under PyTorch's names.

Invariant: samples have the shape asked for, followed by the batch's. They are drawn as
PyTorch draws them, so that a seed gives the same ones; only `rsample` records a graph.

    m = Categorical(logits=policy(state))
    action = m.sample()
    loss = -m.log_prob(action) * reward
"""

from __future__ import annotations

import math
import sys
from functools import cached_property
from typing import Any

from .engine.dtypes import Size
from .engine.modes import RecordingOff
from .engine.record import call
from .engine.tensor import Tensor
from .torch.absent import offer
from .torch.creation import tensor
from .torch.draws import bernoulli, multinomial, normal, randn
from .torch.queries import broadcast_shapes, finfo


def _broadcast(*values: Any) -> list[Any]:
    """Return numbers and tensors as tensors of one shape."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    options: Any = {} if like is None else {"dtype": like.dtype, "device": like.device}
    every = [
        v if isinstance(v, Tensor) else tensor(float(v), **options) for v in values
    ]
    shape = tuple(broadcast_shapes(*(tuple(v.shape) for v in every)))
    return [v if tuple(v.shape) == shape else v.expand(shape) for v in every]


class Distribution:
    """The base of distributions of batches of numbers, by named parameters, of which
    the last ``entries`` dimensions describe one sample."""

    has_rsample = False
    event_shape = Size(())
    entries = 0
    stddev: Any = property(lambda self: self.variance.sqrt())

    def __init__(self, validate_args: bool | None, **parameters: Any) -> None:
        known = {n: v for n, v in parameters.items() if v is not None}
        self._validates, self._parameters = validate_args is not False, list(known)
        vars(self).update(zip(known, _broadcast(*known.values()), strict=True))
        shape = vars(self)[self._parameters[0]].shape
        if len(shape) < self.entries:
            raise ValueError("the parameter must be at least one-dimensional.")
        self.batch_shape = Size(shape[: len(shape) - self.entries])

    def _shape(self, sample_shape: Any) -> Size:
        return Size((*sample_shape, *self.batch_shape))

    def _check(self, name: str, value: Any, holds: Any, what: str) -> None:
        """Raise ValueError where a parameter or a sample is not what it has to be."""
        if self._validates and not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        if self._validates and not bool(holds(value).all()):
            raise ValueError(
                f"Expected {name} of distribution {self!r} to be {what}, but found "
                f"invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        known = [(n, vars(self)[n]) for n in self._parameters]
        texts = [f"{n}: {v if v.numel() == 1 else v.size()}" for n, v in known]
        return f"{type(self).__name__}({', '.join(texts)})"


class Normal(Distribution):
    """The normal distribution, by a mean and a standard deviation."""

    has_rsample = True
    loc: Any
    scale: Any
    mean: Any = property(lambda self: self.loc)
    stddev: Any = property(lambda self: self.scale)
    variance: Any = property(lambda self: self.scale.pow(2))

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(validate_args, loc=loc, scale=scale)
        self._check("parameter loc", self.loc, lambda x: x == x, "numbers")
        self._check("parameter scale", self.scale, lambda x: x > 0, "above 0")

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return drawn numbers."""
        shape = self._shape(sample_shape)
        with RecordingOff():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return drawn numbers as differentiable functions of the parameters."""
        shape, loc = self._shape(sample_shape), self.loc
        return loc + randn(shape, dtype=loc.dtype, device=loc.device) * self.scale

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at ``value``."""
        self._check("value", value, lambda x: x == x, "numbers")
        gap = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return gap - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def entropy(self) -> Any:
        """Return the entropy, in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class _ByChance(Distribution):
    """A distribution by probabilities or by logits; the others are computed."""

    probs: Any
    logits: Any

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(
                "Either `probs` or `logits` must be specified, but not both."
            )
        super().__init__(validate_args, probs=probs, logits=logits)
        if logits is not None:
            if self.entries:
                self.logits = self.logits - self.logits.logsumexp(dim=-1, keepdim=True)
            self._check("logits", self.logits, lambda x: x == x, "numbers")
            return
        if self.entries:
            self.probs = self.probs / self.probs.sum(-1, keepdim=True)
        inside = "numbers from 0 to 1"
        self._check("probs", self.probs, lambda x: (x >= 0) & (x <= 1), inside)

    def _inside(self) -> Any:
        """Return the probabilities, moved off 0 and 1 so that logarithms are finite."""
        eps = finfo(self.probs.dtype).eps
        return self.probs.clamp(min=eps, max=1 - eps)


class Bernoulli(_ByChance):
    """The distribution of numbers that are 1 with a probability, and 0 otherwise."""

    probs: Any = cached_property(lambda self: self.logits.sigmoid())
    logits: Any = cached_property(
        lambda self: self._inside().log() - (-self._inside()).log1p()
    )
    mean: Any = property(lambda self: self.probs)
    variance: Any = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return drawn numbers 0 and 1."""
        with RecordingOff():
            return bernoulli(self.probs.expand(self._shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of ``value``."""
        self._check("value", value, lambda x: (x == 0) | (x == 1), "0 or 1")
        return -_cross_entropy(*_broadcast(self.logits, value))

    def entropy(self) -> Any:
        """Return the entropy, in nats."""
        return _cross_entropy(self.logits, self.probs)


def _cross_entropy(logits: Any, shares: Any) -> Any:
    name = "binary_cross_entropy_with_logits"
    return call(name, logits, shares, reduction="none")


class Categorical(_ByChance):
    """The distribution of an index, by probabilities in the last dimension."""

    entries = 1
    probs: Any = cached_property(lambda self: call("softmax", self.logits, dim=-1))
    logits: Any = cached_property(lambda self: self._inside().log())
    mean: Any = property(lambda self: self.probs[..., 0].detach() * float("nan"))
    variance: Any = property(lambda self: self.mean)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return drawn indices."""
        with RecordingOff():
            rows = self.probs.reshape(-1, self.probs.shape[-1])
            drawn = multinomial(rows, math.prod(map(int, sample_shape)), True).T
            return drawn.reshape(self._shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the probability of the indices ``value``."""
        count = int(self.logits.shape[-1])
        inside = f"indices below {count}"
        self._check("value", value, lambda x: (x >= 0) & (x < count), inside)
        value = value.long().unsqueeze(-1)
        shape = broadcast_shapes(tuple(value.shape), tuple(self.logits.shape))
        value, logs = value.expand(shape), self.logits.expand(shape)
        return logs.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """Return the entropy, in nats."""
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the divergence of Kullback and Leibler, KL(p || q), of two of one kind."""
    match p, q:
        case Normal(), Normal():
            ratio = (p.scale / q.scale).pow(2)
            return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())
        case Bernoulli(), Bernoulli():
            one = call("softplus", -q.logits) - call("softplus", -p.logits)
            none = call("softplus", q.logits) - call("softplus", p.logits)
            return p.probs * one + (1 - p.probs) * none
        case Categorical(), Categorical():
            return (p.probs * (p.logits - q.logits)).sum(-1)
    kinds = f"{type(p).__name__} and {type(q).__name__}"
    raise NotImplementedError(f"there is no formula for {kinds}: take two of one kind")


offer(__name__, sys.modules[__name__])
