"""The base of distributions: shapes, samples, checks of parameters and samples.

Invariant: the shape of samples is the one asked for, followed by the batch's and by an
event's. `sample` records no graph; `rsample` is differentiable in the parameters.

    Normal(0.0, tensor([1.0, 2.0])).sample((3,)).shape      # torch.Size([3, 2])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ..engine.creation import tensor
from ..engine.dtypes import Size
from ..engine.modes import no_grad
from ..engine.queries import broadcast_shapes
from ..engine.tensor import Tensor
from .constraints import Constraint


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

    arg_constraints: ClassVar[Mapping[str, Constraint]] = {}
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
            if not self._validate_args or name not in self.__dict__:
                continue  # what is computed from another parameter is not in the dict
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape "
                    f"{tuple(value.shape)}) of distribution {self!r} to satisfy the "
                    f"constraint {constraint!r}, but found invalid values:\n{value}"
                )

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

    def perplexity(self) -> Any:
        """Return the exponential of the entropy."""
        return self.entropy().exp()

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
        if not bool(self.support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) to be within the support ({self.support!r}) of "
                f"the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        shown = [
            f"{name}: {v if v.numel() == 1 else v.size()}"
            for name, v in ((n, self.__dict__.get(n)) for n in self.arg_constraints)
            if isinstance(v, Tensor)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"
