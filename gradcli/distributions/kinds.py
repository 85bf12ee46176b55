"""Distributions of numbers, vectors, choices and batches, and their divergences.

Invariant: the shape of samples is the one asked for, followed by the batch's and by an
event's. Numbers are drawn as PyTorch draws them, so that a seed gives the same ones.
`sample` records no graph; `rsample` is differentiable in the parameters. Of
probabilities and logits, those given are kept, and the others computed from them.

    Normal(0.0, tensor([1.0, 2.0])).sample((3,)).shape      # torch.Size([3, 2])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

from ..engine.creation import eye, tensor
from ..engine.draws import bernoulli, multinomial, normal, rand, randn
from ..engine.dtypes import Size
from ..engine.modes import no_grad
from ..engine.queries import broadcast_shapes, finfo
from ..engine.record import call
from ..engine.tensor import Tensor
from .constraints import (
    Constraint,
    boolean,
    greater_than,
    independent,
    integer_interval,
    interval,
    less_than,
    lower_cholesky,
    positive,
    positive_definite,
    real,
    real_vector,
    simplex,
    unit_interval,
)

Constraints = Mapping[str, Constraint]

HALF_LOG_2PI = math.log(math.sqrt(2 * math.pi))


def broadcast_all(*values: Any) -> list[Any]:
    """Return numbers and tensors as tensors of one shape."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    options: Any = {} if like is None else {"dtype": like.dtype, "device": like.device}
    made = [v if isinstance(v, Tensor) else tensor(float(v), **options) for v in values]
    shape = broadcast_shapes(*(tuple(v.shape) for v in made))
    return [v if tuple(v.shape) == tuple(shape) else v.expand(shape) for v in made]


def _lacking(self: Distribution) -> Any:
    raise NotImplementedError(f"{type(self)} does not say so")


class Distribution:
    """The base of distributions of batches of events.

    arg_constraints  the constraints of its parameters
    has_rsample      whether `rsample` can draw samples that carry a gradient
    support          the constraint of its samples
    """

    arg_constraints: ClassVar[Constraints] = {}
    has_rsample: ClassVar[bool] = False
    _validate_args: bool = True

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check their parameters and samples from here on."""
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Any = (), event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        for name, constraint in self.arg_constraints.items():
            # What is computed from another parameter is not in the dict.
            if self._validate_args and name in self.__dict__:
                self._demand(constraint, self.__dict__[name], f"parameter {name}")

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch, which is the parameters' without that of an event."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event."""
        return self._event_shape

    support: Any = property(_lacking)
    mean: Any = property(_lacking)
    mode: Any = property(_lacking)
    variance: Any = property(_lacking)
    stddev: Any = property(lambda self: self.variance.sqrt())

    def sample(self, sample_shape: Any = ()) -> Any:
        """Return drawn events, without recording a graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Return drawn events as differentiable functions of the parameters."""
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density, or of the probability, of events."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """Return the probability of events that are at most ``value``."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """Return the value that events exceed with a probability of ``1 - value``."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """Return the entropy of the events, in nats."""
        raise NotImplementedError

    def expand(self, batch_shape: Any) -> Any:
        """Return the same distribution with a larger batch."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        shape = tuple(batch_shape)
        for name, constraint in self.arg_constraints.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                events = tuple(value.shape)[value.dim() - constraint.event_dim :]
                new.__dict__[name] = value.expand((*shape, *events))
        new._batch_shape = Size(shape)
        return new

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError for what cannot be a sample."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = value.dim() - len(self._event_shape)
        if tuple(value.shape)[events:] != tuple(self._event_shape):
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        self._demand(self.support, value, "value argument")

    def _demand(self, constraint: Constraint, value: Any, what: str) -> None:
        """Raise ValueError unless all events of a value lie inside a constraint."""
        if not bool(constraint.check(value).all()):
            raise ValueError(
                f"Expected {what} ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) of distribution {self!r} to satisfy the "
                f"constraint {constraint!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = [
            f"{name}: {v if v.numel() == 1 else v.size()}"
            for name, v in ((n, self.__dict__.get(n)) for n in self.arg_constraints)
            if isinstance(v, Tensor)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


class Normal(Distribution):
    """The normal distribution, by a mean and a standard deviation."""

    arg_constraints: ClassVar[Constraints] = {"loc": real, "scale": positive}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, (), validate_args)

    support: Any = real
    mean: Any = property(lambda self: self.loc)
    mode: Any = property(lambda self: self.loc)
    stddev: Any = property(lambda self: self.scale)
    variance: Any = property(lambda self: self.stddev.pow(2))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape, loc = self._extended_shape(sample_shape), self.loc
        eps = randn(shape, dtype=loc.dtype, device=loc.device)
        return loc + eps * self.scale

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


class Uniform(Distribution):
    """The uniform distribution between two bounds."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.shape, (), validate_args)

    @property
    def arg_constraints(self) -> Constraints:  # type: ignore[override]
        """The constraints of the bounds, which limit each other."""
        return {"low": less_than(self.high), "high": greater_than(self.low)}

    support: Any = property(lambda self: interval(self.low, self.high))
    mean: Any = property(lambda self: (self.high + self.low) / 2)
    mode: Any = property(lambda self: math.nan * self.high)
    variance: Any = property(lambda self: (self.high - self.low).pow(2) / 12)
    stddev: Any = property(lambda self: (self.high - self.low) / 12**0.5)

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


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, by a covariance, its inverse or a factor."""

    arg_constraints: ClassVar[Constraints] = {
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
        matrix = given[known[0]]
        if loc.dim() < 1 or matrix.dim() < 2:
            raise ValueError(f"loc must be a vector at least, and {known[0]} a matrix")
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

    def _for_all(self, matrix: Any) -> Any:
        """Return a matrix for each item of the batch."""
        return matrix.expand((*self._extended_shape(), *self._event_shape))

    @cached_property
    def scale_tril(self) -> Any:
        """The lower factor of the covariance."""
        return self._for_all(self._tril)

    @cached_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        return self._for_all(self._tril @ self._tril.mT)

    @cached_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return call("cholesky_inverse", self.scale_tril)

    support: Any = real_vector
    mean: Any = property(lambda self: self.loc)
    mode: Any = property(lambda self: self.loc)
    variance: Any = property(
        lambda self: self._tril.pow(2).sum(-1).expand(self._extended_shape())
    )

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape, loc = self._extended_shape(sample_shape), self.loc
        eps = randn(shape, dtype=loc.dtype, device=loc.device)
        return loc + (self._tril @ eps.unsqueeze(-1)).squeeze(-1)

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


class _ByProbabilities(Distribution):
    """A distribution by probabilities or by logits; the others are computed."""

    event_entries: ClassVar[int] = 0
    """The number of the parameter's last dimensions that describe one event."""
    probs: Any

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(
                "Either `probs` or `logits` must be specified, but not both."
            )
        name = "probs" if logits is None else "logits"
        given = self._settled(name, probs if logits is None else logits)
        self.__dict__[name] = given
        batch = tuple(given.shape)[: given.dim() - self.event_entries]
        super().__init__(batch, (), validate_args)

    def _settled(self, name: str, given: Any) -> Any:
        """Return the parameter as it is kept."""
        return broadcast_all(given)[0]

    def _clamped(self) -> Any:
        """Return the probabilities, moved off 0 and 1 so that logarithms are finite."""
        eps = finfo(self.probs.dtype).eps
        return self.probs.clamp(min=eps, max=1 - eps)


class Bernoulli(_ByProbabilities):
    """The distribution of numbers that are 1 with a probability, and 0 otherwise."""

    arg_constraints: ClassVar[Constraints] = {"probs": unit_interval, "logits": real}

    @cached_property
    def probs(self) -> Any:
        """The probability of 1."""
        return self.logits.sigmoid()

    @cached_property
    def logits(self) -> Any:
        """The logarithm of the odds of 1."""
        ps = self._clamped()
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
        return -self._cross_entropy(*broadcast_all(self.logits, value))

    def entropy(self) -> Any:
        return self._cross_entropy(self.logits, self.probs)

    @staticmethod
    def _cross_entropy(logits: Any, shares: Any) -> Any:
        name = "binary_cross_entropy_with_logits"
        return call(name, logits, shares, reduction="none")


class Categorical(_ByProbabilities):
    """The distribution of an index, by probabilities in the last dimension."""

    arg_constraints: ClassVar[Constraints] = {"probs": simplex, "logits": real_vector}
    event_entries = 1

    def _settled(self, name: str, given: Any) -> Any:
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        self._num_events = int(given.shape[-1])
        if name == "probs":
            return given / given.sum(-1, keepdim=True)
        return given - given.logsumexp(dim=-1, keepdim=True)

    @cached_property
    def probs(self) -> Any:
        """The probabilities, which add up to 1."""
        return call("softmax", self.logits, dim=-1)

    @cached_property
    def logits(self) -> Any:
        """The logarithms of the probabilities."""
        return self._clamped().log()

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    support: Any = property(lambda self: integer_interval(0, self._num_events - 1))
    mean: Any = property(lambda self: self.probs[..., 0].detach() * float("nan"))
    variance: Any = property(lambda self: self.mean)
    mode: Any = property(lambda self: self.probs.argmax(dim=-1))

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = multinomial(rows, math.prod(map(int, sample_shape)), True).T
            return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        shape = broadcast_shapes(tuple(value.shape), tuple(self.logits.shape))
        value, logs = value.expand(shape), self.logits.expand(shape)
        return logs.gather(-1, value[..., :1]).squeeze(-1)


def _sum_rightmost(value: Any, count: int) -> Any:
    """Return the sum over the last ``count`` dimensions."""
    if not count:
        return value
    return value.reshape(*tuple(value.shape)[: value.dim() - count], -1).sum(-1)


class Independent(Distribution):
    """A distribution whose events take in the last dimensions of another's batch."""

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        batch = tuple(base_distribution.batch_shape)
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(f"the batch has {len(batch)} dimensions alone")
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
        return _sum_rightmost(found, self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def expand(self, batch_shape: Any) -> Any:
        inner = tuple(self._event_shape)[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *inner))
        return Independent(base, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
        )


def kl_divergence(p: Any, q: Any) -> Any:
    """Return the divergence of Kullback and Leibler, KL(p || q).

    Raises:
        NotImplementedError: there is no formula for the pair.
    """
    for kind, formula in DIVERGENCES.items():
        if isinstance(p, kind) and isinstance(q, kind):
            return formula(p, q)
    raise NotImplementedError(
        f"there is no formula for {type(p).__name__} and {type(q).__name__}"
    )


def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    gap = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + gap - 1 - ratio.log())


def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (call("softplus", -q.logits) - call("softplus", -p.logits))
    none = (1 - p.probs) * (call("softplus", q.logits) - call("softplus", p.logits))
    return one + none


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
    return _sum_rightmost(found, p.reinterpreted_batch_ndims)


DIVERGENCES: dict[type, Callable[[Any, Any], Any]] = {
    Normal: _normal,
    Bernoulli: _bernoulli,
    Categorical: lambda p, q: (p.probs * (p.logits - q.logits)).sum(-1),
    Uniform: _uniform,
    MultivariateNormal: _vectors,
    Independent: _independent,
}
"""Formulas of the divergence of two distributions of one kind, by the kind."""
