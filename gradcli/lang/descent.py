"""The descent, which minimises a program by changing its inputs step by step.

Invariant: whenever a descent ends, the inputs hold the values at which the last
reported loss was computed. A step evaluates the program once, except where the
optimizer calls its closure several times.

    descent = Descent(Session(prepared), partial(SGD, lr=0.1), ["w"])
    end = descent.run(100)
    end.reached.number, end.reached.loss, end.stopped       # 100, 1.2e-9, "steps"
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import accumulate, pairwise
from math import hypot, inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..engine import Tensor
from ..engine.errors import EngineError
from .errors import ProgramError

if TYPE_CHECKING:
    from numpy.random import Generator

    from ..engine.raw import Host
    from .run import Session


STILL_STEPS = 10
"""Number of steps without a change, after which a descent ends."""


class Batches:
    """An endless sequence of batches of ``size`` rows of tensors.

    A batch takes the same rows, which run along the first dimension, of every input. In
    each round every row comes once; the last batch of a round may be smaller. Rounds
    are shuffled by ``generator`` alone, if there is one.

    Raises:
        ProgramError: an input has no rows, or inputs differ in their number of rows.
    """

    def __init__(
        self,
        inputs: Mapping[str, Tensor],
        size: int,
        generator: "Generator | None" = None,
    ) -> None:
        counts = {name: int(x.shape[0]) if x.shape else 0 for name, x in inputs.items()}
        message, hint = "", "a batch takes the same rows of all of them"
        empty = next((name for name, count in counts.items() if not count), None)
        if empty is not None:
            shape, hint = (
                list(inputs[empty].shape),
                "rows run along the first dimension",
            )
            message = f"'{empty}' has no rows to take, its shape is {shape}"
        elif len(set(counts.values())) > 1:
            listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
            message = f"the inputs differ in their number of rows: {listed}"
        if message:
            raise ProgramError("E595", f"--batch: {message}", hint=hint)
        self._inputs = inputs
        self._size = size
        self._generator = generator
        self._start = self._rows = next(iter(counts.values()))
        self._order: Host | None = None

    def all_rows(self) -> dict[str, Tensor]:
        """Return all rows of each input, by name, as tensors without a gradient."""
        return {name: x.detach() for name, x in self._inputs.items()}

    def next_rows(self) -> dict[str, Tensor]:
        """Return a batch of each input, by name, as tensors without a gradient."""
        if self._start >= self._rows:
            self._start = 0
            if self._generator is not None:
                self._order = self._generator.permutation(self._rows)
        some = slice(self._start, self._start + self._size)
        self._start = some.stop
        order = self._order
        return {
            name: Tensor(
                x.raw[some if order is None else x.xp.as_index(order[some])], x.xp
            )
            for name, x in self._inputs.items()
        }


class DescentStep(NamedTuple):
    """The loss and the norm of its gradient after ``number`` steps."""

    number: int
    loss: float
    grad_norm: float

    @property
    def finite(self) -> bool:
        return isfinite(self.loss) and isfinite(self.grad_norm)


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """The end of a descent, which ``stopped`` by "steps", "tolerance", "interrupted",
    "diverged", or "still": no input changed for `STILL_STEPS` steps.

    reached  the last reported step
    lost     the step whose loss or gradient was not finite, or the program's error
    by       the exception of Ctrl-C, or of the signal, that interrupted it
    """

    reached: DescentStep | None
    stopped: str
    lost: DescentStep | Exception | None = None
    by: KeyboardInterrupt | None = None


class ProgramDescent:
    """A minimisation of a program, step by step.

    Args:
        program: the program, which gives the loss at the inputs' present values.
        make: a function from a list of one tensor to an optimizer that moves it; its
            entries are those of all inputs.
        names: the inputs that are moved.
        batches: the batches of data, one for each step; None: all data in each step.
        on_step: called with each step, before the next one is taken.
    """

    def __init__(
        self,
        program: "Session",
        make: Callable[[list[Tensor]], Any],
        names: Sequence[str],
        batches: Batches | None = None,
        on_step: Callable[[DescentStep], None] = lambda step: None,
    ) -> None:
        self._program = program
        self._names = names
        environment = program.prepared.environment
        inputs = [environment[name] for name in names]
        xp = inputs[0].xp
        whole = xp.np.concatenate([x.raw.reshape(-1) for x in inputs])
        ends = accumulate([0, *[x.numel() for x in inputs]])
        self._places = [slice(*each) for each in pairwise(ends)]
        for x, at in zip(inputs, self._places, strict=True):
            x.raw = whole[at].reshape(x.shape)
        self._moved = Tensor(whole, xp, requires_grad=True)
        self._optimizer = make([self._moved])
        optional = signature(self._optimizer.step).parameters["closure"].default is None
        self._given = () if optional else (self._closure,)
        self._batches = batches
        self._on_step = on_step
        self._reached: DescentStep | None = None
        self._values: Any = None
        self._fresh: Tensor | None = None

    def run(self, steps: int, tolerance: float = -inf) -> End:
        """Take ``steps`` steps, or fewer if the norm of the gradient gets down to
        ``tolerance``; return how the descent ended.

        Ctrl-C ends it too. After a loss or gradient that is not finite, or an error of
        the program, the inputs get the values of the last reported step again.

        Raises:
            ProgramError, EngineError: the program failed before the first loss.
        """
        with np.errstate(all="ignore"):
            try:
                return self._run(steps, tolerance)
            except KeyboardInterrupt as interrupt:
                return self._restored("interrupted", by=interrupt)
            except (ProgramError, EngineError) as error:
                if self._reached is None:
                    raise
                return self._restored("diverged", error)

    def _run(self, steps: int, tolerance: float) -> End:
        moved = 0
        for number in range(steps):
            if self._batches is not None:
                self._program.rebind(self._batches.next_rows())
            step = self._evaluate(number)
            if not step.finite:
                return self._restored("diverged", step)
            self._report(step)
            if step.grad_norm <= tolerance:
                return self._end(step, "tolerance")
            self._optimizer.step(*self._given)
            if (self._moved.raw != self._values).any():
                moved = number + 1
            elif number - moved >= STILL_STEPS and self._batches is None:
                return End(step._replace(number=moved), "still")
        return self._end(None, "steps", steps)

    def _end(self, step: DescentStep | None, stopped: str, number: int = 0) -> End:
        """Return the end of the descent, with the loss computed on all rows of data."""
        if self._batches is not None:
            self._program.rebind(self._batches.all_rows())
        elif step is not None:
            return End(step, stopped)
        last = self._evaluate(number if step is None else step.number)
        if not last.finite:
            return self._restored("diverged", last)
        if step is None:
            self._report(last)
        return End(last, stopped)

    def _evaluate(self, number: int) -> DescentStep:
        """Compute gradients at the present inputs; return the loss and their norm."""
        self._fresh = loss = self._differentiated()
        assert self._moved.grad is not None
        gradient = self._moved.grad.raw
        lengths = [_length(gradient[at]) for at in self._places]
        return DescentStep(number, float(loss.item()), hypot(*lengths))

    def _differentiated(self) -> Tensor:
        loss, found = self._program.differentiate(self._names)
        xp, parts = self._moved.xp, zip(found, self._places, strict=True)
        flat = [
            xp.np.zeros(at.stop - at.start) if g is None else g.reshape(-1)
            for g, at in parts
        ]
        self._moved.grad = Tensor(xp.np.concatenate(flat), xp)
        return Tensor(loss, xp)

    def _closure(self) -> Tensor:
        """Return the loss, after its gradients are computed; the first call in a step
        takes those that `_evaluate` computed."""
        loss, self._fresh = self._fresh, None
        return self._differentiated() if loss is None else loss

    def _report(self, step: DescentStep) -> None:
        self._values = self._moved.raw.copy()
        self._reached = step
        self._on_step(step)

    def _restored(
        self,
        stopped: str,
        lost: DescentStep | Exception | None = None,
        by: KeyboardInterrupt | None = None,
    ) -> End:
        if self._values is not None:
            self._moved.raw[...] = self._values
        return End(self._reached, stopped, lost, by)


def _length(flat: Any) -> float:
    square = float(flat.dot(flat))
    if isfinite(square):
        return sqrt(square)
    largest = float(abs(flat).max())
    if not isfinite(largest):
        return largest
    scaled = flat / largest
    return largest * sqrt(scaled.dot(scaled))
