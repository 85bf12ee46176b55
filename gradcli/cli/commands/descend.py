"""``gradcli descend``: moves the inputs of a program downhill, to a smaller value.

Invariant: results go to standard output as they come; the bar goes to stderr, and only
if nothing is printed beside it.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from time import monotonic
from typing import Annotated, Final, Literal, NamedTuple

from typer import Option

from ... import optim
from ...answers import descent as text
from ...answers import jsons
from ...answers.descent import DescentView, StepLine, reached_views
from ...answers.line import BLANK, plain
from ...answers.question import Question
from ...answers.writer import Bar, wants_bar
from ...lang.descent import Batches, DescentStep, End, ProgramDescent
from ...lang.errors import ProgramError
from ...lang.prepare import differentiated
from ...lang.run import Run, Session
from ..ending import before_exit, status_of
from ..limits import once, renew
from ..options import VERIFIES_NOTHING, Request, without
from ..output import Printer, form, note, warn
from ..problems import Exit, wrong
from ..sources import question_of

MAX_LINE_SEARCH_LOSSES: Final = 25
"""Largest number of losses that a line search computes in one step."""

FLUSH_SECONDS: Final = 0.2
"""Time after which lines in a pipe are flushed, in seconds."""

UNCUT: Final = "an input that is cut into batches is data, and is not optimized"


class OptimizerKind(NamedTuple):
    """An optimizer: its class, its default learning rate, and its other options."""

    name: str
    lr: float
    options: Mapping[str, object] = {}


OPTIMIZERS: Final = {
    "sgd": OptimizerKind("SGD", 0.1),
    "adam": OptimizerKind("Adam", 0.1),
    "lbfgs": OptimizerKind(
        "LBFGS",
        1.0,
        {
            "max_iter": 1,
            "max_eval": MAX_LINE_SEARCH_LOSSES,
            "tolerance_grad": 0,
            "tolerance_change": 0,
            "line_search_fn": "strong_wolfe",
        },
    ),
}
"""Optimizers by name. A step of L-BFGS is one direction with its line search, without
tolerances of its own: only `--tolerance` ends a descent early."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A group of options: how to descend."""

    optimizer: Annotated[
        Literal["sgd", "adam", "lbfgs"],
        Option("--optimizer", help="The optimizer, as in PyTorch."),
    ] = "sgd"
    lr: Annotated[
        float | None,
        Option(
            "--lr",
            metavar="RATE",
            help="Learning rate (default: 0.1). For lbfgs it is the first step of the "
            "line search (default: 1).",
        ),
    ] = None
    momentum: Annotated[
        float | None,
        Option("--momentum", metavar="M", help="Momentum of sgd."),
    ] = None
    steps: Annotated[
        int,
        Option("--steps", metavar="N", min=0, help="Steps to take."),
    ] = 100
    tolerance: Annotated[
        float | None,
        Option(
            "--tolerance",
            metavar="LENGTH",
            min=0,
            help="Stop when the gradient's norm is at most this.",
        ),
    ] = None
    batch: Annotated[
        str | None,
        Option(
            "--batch",
            metavar="NAMES:ROWS",
            help="Rows of inputs in each step, as in x,y:10. The loss "
            "at the end is computed from all rows.",
        ),
    ] = None
    shuffle: Annotated[
        bool,
        Option("--shuffle", help="Shuffle the rows of batches in each round."),
    ] = False
    every: Annotated[
        int | None,
        Option(
            "--every",
            metavar="N",
            min=1,
            help="Print every Nth step. The default is no step in a terminal, and "
            "every step in a pipe, up to 1,000 lines.",
        ),
    ] = None

    def check(self) -> None:
        """Refuse options that do not fit the optimizer or each other."""
        if self.momentum is not None and self.optimizer != "sgd":
            hint = "leave it out, or choose --optimizer sgd"
            raise wrong("E590", f"{self.optimizer} takes no --momentum", hint)
        if self.batch is not None and self.optimizer == "lbfgs":
            hint = "lbfgs compares gradients of one loss; choose sgd or adam"
            raise wrong("E590", "lbfgs takes no --batch", hint)
        if self.shuffle and self.batch is None:
            hint = "say which rows: --batch x,y:10"
            raise wrong("E590", "--shuffle needs --batch", hint)


@without(VERIFIES_NOTHING)
def main(request: Request, choice: Choice) -> int:
    """Minimise a scalar program over its inputs.

    With --wrt only those inputs change. Ctrl-C ends the descent and prints the values
    reached so far.

    Example: gradcli descend "(w - 3)^2 + (b + 1)^2" w=0 b=0 --lr 0.2
    """
    choice.check()
    return Downhill(question_of(request), choice).run()


class Downhill:
    """A program that has run once, and the descent from there."""

    def __init__(self, question: Question, choice: Choice) -> None:
        self._choice = choice
        self._kind = OPTIMIZERS[choice.optimizer]
        self._lr = self._kind.lr if choice.lr is None else choice.lr
        self._run = question.run()
        cut, rows = _batch_asked(choice.batch, self._run, question.wrt)
        self._run.require_graph()
        self._run.require_scalar()
        self._moving = [i for i in self._run.differentiated if i.name not in cut]
        if not self._moving:
            message = "--batch: no input is left to optimize"
            raise ProgramError("E595", message, hint=UNCUT)
        self._batches = None
        if cut:
            stream = self._run.prepared.factory.stream
            data = {i.name: i.tensor for i in self._run.inputs if i.name in cut}
            shuffled = stream("--batch") if choice.shuffle else None
            self._batches = Batches(data, rows, shuffled)
        own = {} if choice.momentum is None else {"momentum": choice.momentum}
        options = {"lr": self._lr, **self._kind.options, **own}
        make = partial(getattr(optim, self._kind.name), **options)
        session = Session(self._run.prepared, self._run.of, max_steps=sys.maxsize)
        names = [given.name for given in self._moving]
        try:
            self._descent = ProgramDescent(
                session, make, names, self._batches, self._on_step
            )
        except ValueError as error:
            hint = "see gradcli descend --help"
            raise wrong("E595", f"{choice.optimizer}: {error}", hint) from None
        self._printer = Printer()
        self._losses = array("d")
        self._flushed = monotonic()
        watched = self._printer.layout.rows is not None and not form.json
        usual = None if watched else max(1, choice.steps // 1000)
        self._every = usual if choice.every is None else choice.every
        if form.quiet:
            self._every = None
        beside = self._every is not None and sys.stdout.isatty()
        wanted = wants_bar(sys.stderr) and not form.quiet and not beside
        self._bar = Bar(sys.stderr, choice.steps) if wanted else None

    def run(self) -> int:
        """Run the descent, print its end, and return the exit status.

        Ctrl-C ends the descent, and the point that it reached is printed.
        """
        end = self._descend()
        if end.reached is not None:
            self._print_end(end.reached, end.stopped)
        if end.lost is not None:
            raise self._lost(end)
        losses = self._losses
        if self._batches is None and len(losses) > 1 and losses[-1] > losses[0]:
            warn(
                f"the loss grew from {losses[0]:.6g} to {losses[-1]:.6g}: a smaller "
                f"--lr than {self._lr:g} takes smaller steps"
            )
        if end.by is None:
            return Exit.DONE
        if end.reached is None:
            note("interrupted before there was a loss")
        elif not form.full:
            note(f"interrupted: the values are those after step {end.reached.number}")
        return status_of(end.by)

    def _descend(self) -> End:
        tolerance = self._choice.tolerance
        if self._bar is not None:
            before_exit.append(self._bar.stop)
        try:
            with self._run.explained(), once():
                least = -inf if tolerance is None else tolerance
                return self._descent.run(self._choice.steps, least)
        finally:
            if self._bar is not None:
                self._bar.stop()

    def _on_step(self, step: DescentStep) -> None:
        renew()
        self._losses.append(step.loss)
        every = self._every
        if every and (step.number % every == 0 or step.number == self._choice.steps):
            if form.json:
                row = plain(jsons.line_of(StepLine(*step)).text)
            else:
                row = text.step_line(*step)
            due = monotonic() - self._flushed > FLUSH_SECONDS
            self._printer.lines([row], due)
            if due:
                self._flushed = monotonic()
        if self._bar is not None:
            self._bar.at(step.number, lambda: f"loss {step.loss:.6g}")

    def _print_end(self, reached: DescentStep, stopped: str) -> None:
        run = self._run
        view = DescentView(
            program=run.source,
            device=run.device,
            dtype=run.dtype,
            seed=run.seed,
            optimizer=self._choice.optimizer,
            lr=self._lr,
            output=run.output_name if run.names_output else "loss",
            steps=reached.number,
            loss=reached.loss,
            grad_norm=reached.grad_norm,
            stopped=stopped,
            inputs=reached_views(self._moving),
            losses=self._losses,
        )
        if form.json:
            self._printer.lines(jsons.as_json(view))
        elif form.quiet:
            self._printer.lines(text.plain_values(view))
        else:
            if self._every is not None:
                self._printer.lines([BLANK])
            self._printer.lines(text.end(view, self._printer.layout))

    def _lost(self, end: End) -> ProgramError:
        """Return the error that a descent ended with."""
        if isinstance(end.lost, ProgramError):
            return end.lost
        if not isinstance(end.lost, DescentStep):
            return ProgramError("E596", str(end.lost), source=self._run.source)
        at, reached = end.lost, end.reached
        finite = at.loss - at.loss == 0
        what = "gradient" if finite else "loss"
        number = at.grad_norm if finite else at.loss
        if reached is None:
            message = f"the {what} is {number} at the start"
            return ProgramError("E521", message, hint="start from other values")
        message = (
            f"the {what} is {number} at step {at.number}; the values printed are those "
            f"of step {reached.number}, with a loss of {reached.loss!r}"
        )
        hint = f"a smaller --lr than {self._lr:g} takes smaller steps"
        return ProgramError("E521", message, hint=hint)


def _batch_asked(
    text: str | None, run: Run, wrt: Sequence[str] | None
) -> tuple[frozenset[str], int]:
    """Return the inputs to cut into batches and the number of rows in a batch."""
    if text is None:
        return frozenset(), 0
    listed, _, count = text.rpartition(":")
    names = [name.strip() for name in listed.split(",") if name.strip()]
    if not names or not count.strip().isdecimal() or not int(count):
        raise wrong("E595", f"--batch: {text!r} is not NAMES:ROWS", "as in x,y:10")
    cut = differentiated(names, [given.name for given in run.inputs], "--batch")
    moved = {given.name for given in run.differentiated} if wrt is not None else ()
    for name in cut.intersection(moved):
        raise ProgramError("E595", f"--batch: '{name}' is in --wrt", hint=UNCUT)
    return cut, int(count)
