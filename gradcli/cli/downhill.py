"""What a descent is made of: the optimizer, the batches, and what is told on the way.

Invariant: results go to standard output as they come; the bar goes to stderr, and only
where nothing is printed beside it.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..lang.batches import Batches
from ..lang.descent import Descent, End, Step
from ..lang.errors import ProgramError
from ..lang.repeat import Repeated
from ..lang.run import Input, Run
from ..render import descent as drawn
from ..render import jsons
from ..render.line import BLANK
from ..render.progress import Bar, wants_bar
from ..views.descent import DescentView, reached_views
from .ending import before_exit
from .interrupts import once
from .limits import renew
from .options import Request
from .output import Printer
from .problems import wrong
from .session import (
    differentiated,
    explained,
    named,
    require_graph,
    run_program,
    vector_output,
)

if TYPE_CHECKING:
    from ..engine import Tensor

TRIES = 25
"""Losses that a line search may look at in one step."""

UNCUT = "what is moved is not cut into batches"

PACE = 0.2
"""Seconds after which lines in a pipe are handed on."""


class Kind(NamedTuple):
    """An optimizer: its rate unless told, and what makes it."""

    lr: float
    make: Callable[..., Any]


def _sgd(inputs: list[Tensor], lr: float, momentum: float = 0.0) -> Any:
    from ..optim import SGD

    return SGD(inputs, lr=lr, momentum=momentum)


def _adam(inputs: list[Tensor], lr: float) -> Any:
    from ..optim import Adam

    return Adam(inputs, lr=lr)


def _lbfgs(inputs: list[Tensor], lr: float) -> Any:
    from ..optim import LBFGS

    return LBFGS(
        inputs,
        lr=lr,
        max_iter=1,
        max_eval=TRIES,
        tolerance_grad=0,
        tolerance_change=0,
        line_search_fn="strong_wolfe",
    )


OPTIMIZERS: dict[str, Kind] = {
    "sgd": Kind(0.1, _sgd),
    "adam": Kind(0.1, _adam),
    "lbfgs": Kind(1.0, _lbfgs),
}
"""A step of L-BFGS is one direction with its line search, for as long as there is any
way down: what is near enough, `--tolerance` says."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The options that decide how to descend."""

    optimizer: str
    lr: float | None
    momentum: float | None
    batch: str | None
    shuffle: bool

    @property
    def rate(self) -> float:
        return OPTIMIZERS[self.optimizer].lr if self.lr is None else self.lr


@dataclass(frozen=True, slots=True)
class Way:
    """A program that has run once, and what will move which of its inputs."""

    run: Run
    moving: list[Input]
    optimizer: Any
    batches: Batches | None
    choice: Choice


def way(request: Request, choice: Choice) -> Way:
    """Run the program once, and make ready to descend.

    Raises:
        ProgramError: an option does not fit, or the program has no gradient.
    """
    _refuse_what_does_not_fit(choice)
    run = run_program(request)
    cut, rows = _batch_asked(choice.batch, run, request.wrt)
    require_graph(run)
    if run.output.numel() != 1:
        raise vector_output(run)
    moving = [given for given in differentiated(run) if given.name not in cut]
    if not moving:
        raise ProgramError("E509", "--batch: no input is left to move", hint=UNCUT)
    generator = run.prepared.factory.stream("--batch") if choice.shuffle else None
    data = {i.name: i.tensor for i in run.inputs if i.name in cut}
    batches = Batches(data, rows, generator) if cut else None
    return Way(run, moving, _optimizer(choice, moving), batches, choice)


def _refuse_what_does_not_fit(choice: Choice) -> None:
    if choice.momentum is not None and choice.optimizer != "sgd":
        hint = "leave it out, or choose --optimizer sgd"
        raise wrong("E590", f"{choice.optimizer} takes no --momentum", hint)
    if choice.batch is not None and choice.optimizer == "lbfgs":
        hint = "it compares gradients of one loss; choose sgd or adam"
        raise wrong("E590", "lbfgs takes no --batch", hint)
    if choice.shuffle and choice.batch is None:
        raise wrong("E590", "--shuffle needs --batch", "say which rows: --batch x,y:10")


def _optimizer(choice: Choice, moving: list[Input]) -> Any:
    options = {} if choice.momentum is None else {"momentum": choice.momentum}
    tensors = [given.tensor for given in moving]
    try:
        return OPTIMIZERS[choice.optimizer].make(tensors, choice.rate, **options)
    except ValueError as error:
        raise wrong("E595", f"{choice.optimizer}: {error}") from None


def _batch_asked(
    text: str | None, run: Run, wrt: str | None
) -> tuple[frozenset[str], int]:
    """The inputs to cut and the rows of a piece."""
    if text is None:
        return frozenset(), 0
    listed, _, count = text.rpartition(":")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if not names or not count.strip().isdecimal() or not int(count):
        raise wrong("E595", f"--batch: {text!r} is not NAMES:ROWS", "as in x,y:10")
    known = [given.name for given in run.inputs]
    moved = {given.name for given in differentiated(run)} if wrt is not None else ()
    for name in names:
        if name not in known:
            from ..lang.suggest import did_you_mean

            hint = did_you_mean(name, known) or f"the inputs are {', '.join(known)}"
            message = f"--batch: no input is called '{name}'"
            raise ProgramError("E507", message, hint=hint)
        if name in moved:
            raise ProgramError("E509", f"--batch: '{name}' is in --wrt", hint=UNCUT)
    return frozenset(names), int(count)


def lost(end: End, found: Way) -> ProgramError:
    """The error that a descent ended with."""
    if isinstance(end.lost, ProgramError):
        return end.lost
    if not isinstance(end.lost, Step):
        return ProgramError("E596", str(end.lost), source=found.run.source)
    at, reached = end.lost, end.reached
    finite = at.loss - at.loss == 0
    what = "gradient" if finite else "loss"
    number = at.grad_norm if finite else at.loss
    if reached is None:
        message = f"the {what} is {number} to begin with"
        return ProgramError("E521", message, hint="start from other values")
    message = (
        f"the {what} is {number} at step {at.number}; the values printed are those of "
        f"step {reached.number}, with a loss of {reached.loss!r}"
    )
    hint = f"a smaller --lr than {found.choice.rate:g} takes smaller steps"
    return ProgramError("E521", message, hint=hint)


class Report:
    """A descent that is told of while it goes on."""

    def __init__(
        self, request: Request, found: Way, steps: int, every: int | None
    ) -> None:
        self._request = request
        self._found = found
        self._printer = Printer()
        self._losses = array("d")
        self._flushed = monotonic()
        self._total = steps
        watched = self._printer.layout.width is not None and not request.json
        self._every = every if every is not None or watched else 1
        if request.quiet:
            self._every = None
        beside = self._every is not None and sys.stdout.isatty()
        wanted = wants_bar(sys.stderr) and not request.quiet and not beside
        self._bar = Bar(sys.stderr, steps) if wanted else None

    def descend(self, steps: int, tolerance: float | None) -> End:
        """Go down; Ctrl-C ends it with what was reached."""
        found = self._found
        run = found.run
        program = Repeated(run.prepared, run.of, sys.maxsize)
        inputs = [given.tensor for given in found.moving]
        descent = Descent(program, found.optimizer, inputs, found.batches, self._tell)
        limit = -inf if tolerance is None else tolerance
        if self._bar is not None:
            before_exit.append(self._bar.stop)
        try:
            with explained(run), once():
                return descent.run(steps, limit)
        finally:
            if self._bar is not None:
                self._bar.stop()

    def _tell(self, step: Step) -> None:
        renew()
        self._losses.append(step.loss)
        every = self._every
        if every and (step.number % every == 0 or step.number == self._total):
            self._print(step)
        if self._bar is not None:
            self._bar.at(step.number, lambda: f"loss {step.loss:.6g}")

    def _print(self, step: Step) -> None:
        if self._request.json:
            self._printer.lines([jsons.step(*step)])
        else:
            self._printer.lines([drawn.step_line(*step)])
        now = monotonic()
        if now - self._flushed > PACE:
            self._flushed = now
            self._printer.flush()

    def end(self, end: End) -> None:
        """Print where it ended, if it got anywhere."""
        if end.reached is None:
            return
        view = self._view(end.reached, end.stopped)
        layout = self._printer.layout
        if self._request.json:
            self._printer.lines([jsons.descent(view)])
        elif self._request.quiet:
            self._printer.lines(drawn.bare(view))
        else:
            if self._every is not None:
                self._printer.lines([BLANK])
            self._printer.lines(drawn.end(view, layout))
        self._printer.flush()

    def _view(self, reached: Step, stopped: str) -> DescentView:
        run, choice = self._found.run, self._found.choice
        return DescentView(
            program=run.source,
            device=run.device,
            dtype=run.dtype,
            seed=run.seed,
            optimizer=choice.optimizer,
            lr=choice.rate,
            output=run.output_name if named(run) else "loss",
            steps=reached.number,
            loss=reached.loss,
            grad_norm=reached.grad_norm,
            stopped=stopped,
            inputs=reached_views(self._found.moving),
            losses=self._losses,
        )
