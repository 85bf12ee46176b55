"""What ``--require`` asks of each row of a table: finite numbers, or a verdict.

Invariant: a row's verdict is that of the command at that point alone; it is reached by
a checking process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers.question import Question
from ..lang.bindings import read_binding
from ..lang.errors import ProgramError

if TYPE_CHECKING:
    from ..check.process.job import Verification

FINITE = "finite"
"""Requirement that no number is infinite or nan."""


def silent(text: str) -> None:
    """Drop a remark."""


@dataclass(frozen=True, slots=True)
class Required:
    """A requirement of the rows of a table.

    question  the program, with the values that all rows share
    kind      what is computed: the command's name
    least     the weakest verdict that is no failure, or `FINITE`
    """

    question: Question
    kind: str
    least: str

    def shortfalls(
        self, given: Mapping[str, Any], results: Sequence[Any], rows: Sequence[int]
    ) -> list[tuple[int, str]]:
        """Return the numbers of the rows that fall short, of these ``rows``, and why.

        Args:
            given: the columns of the inputs.
            results: the columns of values and derivatives.
        """
        found = []
        for nr in rows:
            if not all(np.isfinite(column[nr]).all() for column in results):
                found.append((nr, f"not {FINITE}"))
            elif self.least != FINITE:
                text = self._weakness({name: c[nr] for name, c in given.items()})
                found += [(nr, text)] if text else []
        return found

    def _weakness(self, values: Mapping[str, Any]) -> str:
        """Return why the verdict on one row is too weak; nothing if it is not."""
        from ..check.process.job import is_weaker

        words = (f"{name}={np.asarray(v).tolist()!r}" for name, v in values.items())
        bound = (*self.question.values, *map(read_binding, words))
        try:
            verification = self._verified(replace(self.question, values=bound))
        except ProgramError as error:
            return error.message
        weak = [v for v in verification.inputs if is_weaker(v.verdict, self.least)]
        if not weak:
            return ""
        reason = f": {weak[0].note}" if weak[0].note else ""
        return f"{weak[0].name}: {weak[0].verdict}, not {self.least}{reason}"

    def _verified(self, question: Question) -> Verification:
        """Return the verdicts on the derivatives at one point."""
        from .checking import CheckProcess

        check = CheckProcess(question, needed=True)
        run = question.run()
        if self.kind == "grad":
            from ..answers.gradients import gradients

            found = gradients(run, question.grad_output, with_graph=False)
            check.submit(*found.job(question.seconds))
        else:
            from ..answers import derivatives

            if self.kind == "hessian":
                blocks = derivatives.hessian(run)
            else:
                blocks = derivatives.jacobian(run, "auto")
            check.submit(blocks.job(question.seconds, False))
        verification = check.finish()
        assert verification is not None
        return verification
