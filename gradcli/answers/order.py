"""Derivatives of higher order, of a scalar by scalars.

found = orders(question, 2)                         # of "x**3" at x=2
found.derivatives                                   # {"x": 12.0}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..autograd.blocks import of_order
from ..lang.errors import ProgramError
from ..lang.run import Run
from ..verify.process.job import Block, Verification
from .gradients import GradView, view_of
from .jobs import job_for
from .question import Question


@dataclass(frozen=True, slots=True)
class Orders:
    """The derivatives of one order by each input.

    order        the order of the derivatives
    view         the output and the inputs
    derivatives  the derivatives by the input's name
    labels       each derivative's label by the input's name, as ``d2y/dx2``
    """

    run: Run
    order: int
    view: GradView
    derivatives: Mapping[str, float]
    labels: Mapping[str, str]

    def verified(self, seconds: float) -> Verification:
        """Return the verdicts of a check that takes at most ``seconds``."""
        from ..verify.judge import verified

        claims = {n: Block.of((), [value]) for n, value in self.derivatives.items()}
        job = job_for(self.run, seconds, "gradient", claims)
        return verified(job, self.order, self.derivatives)


def orders(question: Question, order: int) -> Orders:
    """Run the program; return its derivatives of this order by each input.

    Raises:
        ProgramError: the output or an input has more than one entry.
    """
    run = question.run()
    _refuse_arrays(run, order)
    with run.explained():
        found = {
            given.name: float(of_order(run.output, given.tensor, order).item())
            for given in run.differentiated
        }
    called = run.output_name if run.names_output else ""
    labels = {name: f"d{order}{called}/d{name}{order}" for name in found}
    return Orders(run, order, view_of(run, {}), found, labels)


def _refuse_arrays(run: Run, order: int) -> None:
    """Refuse an output or inputs with more than one entry.

    Raises:
        ProgramError: there is one.
    """
    run.require_graph()
    run.require_scalar()
    for given in run.differentiated:
        if given.tensor.numel() != 1:
            shape = list(given.tensor.shape)
            message = f"--order {order} is of numbers: {given.name} has shape {shape}"
            hint = "leave it out with --wrt, or index it"
            raise ProgramError("E596", message, hint=hint)
