"""What a custom function gives for a whole batch by its own rule, ``Function.vmap``.

Invariant: the samples of a batch run one after another. A sample that meets a function
with a rule waits there; once all wait at the same call, the rule is run once on all
their arguments, and the samples run again from their start, each taking its part of
what the rule gave. Derivatives are those of the function's ``backward`` and ``jvp``.

    batch = Batch("error", 3)
    while True:
        for place in range(3):
            with batch.sample(place): ...
        if not batch.settle():
            break
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..engine.draws import Samples
from ..engine.errors import EngineError
from ..engine.modes import MODE, no_grad
from ..engine.record import call
from ..engine.tensor import Tensor

BOTH = (
    "You tried to vmap over {}, but it has both generate_vmap_rule=True and an "
    "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
    "overridden vmap staticmethod to avoid ambiguity."
)
NO_RULE = (
    "You tried to vmap over {}, but it does not have vmap support. Please override and "
    "implement the vmap staticmethod or set generate_vmap_rule=True."
)
NO_SETUP = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
    "jacrev, ...), it must override the setup_context staticmethod."
)
TWO_RETURNS = (
    "Expected the vmap staticmethod to have two returns, an output and out_dims with "
    "pytree structure compatible with the output. Got a {} instead"
)
APART = (
    "the samples of a batch call {} differently; a function with a vmap rule has to be "
    "called by all of them"
)


class VmapInfo(NamedTuple):
    """The size and the randomness of a batch, as a rule is told them."""

    batch_size: int
    randomness: str


class _Waiting(BaseException):
    """Ends a sample's run where it needs the result of a rule."""


class _Call(NamedTuple):
    """A function with a rule, and the arguments of one sample."""

    function: Any
    args: tuple[object, ...]


class Batch(Samples):
    """The samples of one call of a function that `vmap` maps.

    Args:
        origins: per argument the batch and the dimension that samples are taken from.
    """

    def __init__(
        self, randomness: str, size: int, origins: Sequence[tuple[Any, int | None]]
    ) -> None:
        super().__init__(randomness)
        self._info = VmapInfo(size, randomness)
        self._origins = origins
        self._came_from: dict[int, tuple[Tensor, int]] = {}
        self._held: list[object] = []
        self._known: list[list[Any]] = []
        self._waiting: dict[int, _Call] = {}
        self._nr = self._met = self._ran = 0

    @contextmanager
    def sample(self, nr: int, own: Sequence[object]) -> Iterator[None]:
        """Run a block as a sample on its ``own`` arguments; end it where it waits."""
        self._nr, self._met = nr, 0
        self._ran += 1
        self._held += own
        for x, (batch, dim) in zip(own, self._origins, strict=True):
            if dim is not None:
                self._came_from[id(x)] = batch, dim
        try:
            with self.one(nr):
                yield
        except _Waiting:
            if nr not in self._waiting:
                raise

    def ask(self, function: Any, args: tuple[object, ...]) -> Any:
        """Return this sample's part of what the function's rule gives for the batch."""
        if function.generate_vmap_rule:
            raise EngineError(BOTH.format(function.__name__))
        number = self._met
        self._met += 1
        if number < len(self._known):
            return self._known[number][self._nr]
        self._waiting[self._nr] = _Call(function, args)
        raise _Waiting

    def settle(self) -> bool:
        """Run the rule that samples wait for; return whether there was one."""
        calls, ran = list(self._waiting.values()), self._ran
        self._ran = 0
        if not calls:
            return False
        function = calls[0].function
        if len(calls) != ran or any(c.function is not function for c in calls):
            raise EngineError(APART.format(function.__name__))
        self._waiting = {}
        columns = zip(*(c.args for c in calls), strict=True)
        args, dims = zip(*map(self._together, columns), strict=True)
        with no_grad():
            returned = function.vmap(self._info, dims, *args)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise EngineError(TWO_RETURNS.format(type(returned)))
        output, out_dims = returned
        several = isinstance(output, tuple)
        parts = output if several else (output,)
        spread = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(parts)
        per_sample = [
            tuple(
                call("select", y, dim, nr)
                if dim is not None and isinstance(y, Tensor)
                else y
                for y, dim in zip(parts, spread, strict=True)
            )
            for nr in range(ran)
        ]
        self._known.append(per_sample if several else [one[0] for one in per_sample])
        self._held, self._came_from = [], {}
        return True

    def _together(self, values: tuple[object, ...]) -> tuple[Any, int | None]:
        """Stack an argument of all samples; return it and its batch dimension."""
        first = values[0]
        if not isinstance(first, Tensor) or all(v is first for v in values):
            return first, None
        origins = [self._came_from.get(id(v)) for v in values]
        batch = origins[0]
        if batch is not None and all(o and o[0] is batch[0] for o in origins):
            return batch
        return call("stack", list(values), 0), 0


def demand_transformable(function: Any, has_setup: bool, has_rule: bool) -> None:
    """Refuse a custom function that transforms of functions cannot follow.

    Raises:
        EngineError: in PyTorch's words, saying what it lacks.
    """
    batched = innermost_batch() is not None
    if (batched or MODE.traces) and not has_setup:
        raise EngineError(NO_SETUP)
    if batched and not has_rule and not function.generate_vmap_rule:
        raise EngineError(NO_RULE.format(function.__name__))


def innermost_batch() -> Batch | None:
    """Return the innermost of the batches of which a sample runs."""
    inside = MODE.samples
    return inside[-1] if inside and isinstance(inside[-1], Batch) else None
