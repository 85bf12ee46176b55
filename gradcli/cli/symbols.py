"""Answers in symbols: the derivative of a program whose inputs have no values, as
formulas with the verdicts on them.

Invariant: no number is shown that depends on the numbers which the run had for symbols.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..answers.closed_forms import formulas_of
from ..lang.errors import ProgramError
from ..lang.maxima import MAX_SHOWN_NAMES
from .commands import COMMANDS
from .output import form

if TYPE_CHECKING:
    from ..answers.closed_forms import FormulaView
    from ..answers.derivatives import Derivative
    from ..answers.gradients import GradView
    from ..answers.line import Layout, Line
    from ..check.process.job import Verification
    from .checking import CheckProcess
    from .forms import Forms

MAX_COMMAND_CHARACTERS = 160
"""Largest length of a command that a hint writes out, in characters."""


class SymbolicAnswer:
    """The answer to a question in symbols, without numbers.

    forms    the forms of the formulas: in the language, if no other is asked for
    written  whether a program stands for formulas that were not found
    """

    def __init__(self, forms: Forms, check: CheckProcess) -> None:
        if form.json or forms.code is None:
            check.require()
        if not forms.formulas and forms.code is None:
            forms = replace(forms, symbolic=True)
        self.forms = forms
        self.written = False
        self._check = check
        self._lacking: ProgramError | None = None

    def finish(self, view: GradView | Derivative) -> Verification | None:
        """Return the verdicts on the formulas; an object without one is refused."""
        found = self._check.finish()
        if found is None:
            return None
        found = found.in_symbols()
        if self.forms.formulas and not self.written:
            self._lacking = _lacking(formulas_of(view, found.inputs))
        if form.json:
            self.refuse()
        return found

    def lines(
        self,
        view: GradView | Derivative,
        found: Verification | None,
        labels: Mapping[str, str],
        what: str,
        layout: Layout,
    ) -> Iterator[Line]:
        """Yield the formulas, then the verdicts on them unless they are beside them."""
        forms = self.forms
        if found is None or not forms.formulas or forms.code_only:
            yield from forms.lines(view, found, layout)
            return
        from ..answers.formula_lines import latex_lines
        from ..answers.line import BLANK
        from ..answers.verdict_lines import formula_lines, verdict_lines

        views = formulas_of(view, found.inputs)
        if forms.symbolic:
            yield from formula_lines(views, found, labels, what, layout)
        if forms.latex:
            yield from (BLANK,) if forms.symbolic else ()
            yield from latex_lines(views)
        if not forms.symbolic:
            yield from verdict_lines(found, labels, what)

    def refuse(self) -> None:
        """Refuse a derivative for which no formula was found."""
        if self._lacking is not None:
            raise self._lacking


def _lacking(views: Iterable[FormulaView]) -> ProgramError | None:
    """Return the error for the first of these without a formula; None if all have
    one."""
    for view in views:
        why = view.missing
        if why is not None:
            from ..check.process.job import lacked_time

            late = lacked_time(why)
            hint = "give values, NAME=VALUE, or draw them with --draw"
            hint = f"--verify-seconds N gives more time; or {hint}" if late else hint
            message = f"no formula for {view.title}: {why}"
            return ProgramError("E405" if late else "E398", message, hint=hint)
    return None


def with_command(problem: ProgramError, argv: Sequence[str]) -> ProgramError:
    """Return an error; if inputs have no value, its hint has the command with a place
    for each, and the formula's where the command has one."""
    if not problem.missing or argv[:1] == ["plot"] or argv[0] not in COMMANDS:
        return problem
    values = [f"{name}=VALUE" for name in problem.missing]
    command = shlex.join(["gradcli", *argv, *values])
    written = len(command) <= MAX_COMMAND_CHARACTERS and "\n" not in command
    shown = " ".join(values[:MAX_SHOWN_NAMES])
    give = f"type {command}" if written else f"give {shown}"
    ways = "" if form.strict else "; --draw takes random ones"
    if ways and argv[0] in ("grad", "jacobian", "hessian") and "--symbolic" not in argv:
        ways += ", --symbolic gives the formula"
    meant, _, _ = (problem.hint or "").partition("; else ")
    meant = f"{meant}; else " if meant != problem.hint else ""
    problem.hint = f"{meant}{give}{ways}"
    problem.message = f"{'--strict: ' * form.strict}{problem.message}"
    return problem
