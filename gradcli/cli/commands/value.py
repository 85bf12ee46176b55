"""``gradcli value``: a program's value."""

from __future__ import annotations

from typing import Annotated

from typer import Option

from ...answers.gradients import ValueAnswer, value, value_in_symbols
from ...answers.line import Line
from ...answers.numbers import SHORTENED, number_line, value_lines
from ...lang.excerpt import printable
from ..limits import allow
from ..options import HAS_NO_DERIVATIVES, VERIFIES_NOTHING, Many, Request, without
from ..output import Printer
from ..sources import question_of


@without(VERIFIES_NOTHING, HAS_NO_DERIVATIVES)
def main(
    request: Request,
    many: Many,
    symbolic: Annotated[
        bool,
        Option(
            "--symbolic",
            help="Show the value as a formula; inputs without a value stay symbols.",
        ),
    ] = False,
) -> int:
    """The value of a program, without derivatives.

    Example: gradcli value "y = x**3 + b" x=2 b=1
    """
    if many.asked():
        from ..at_points import run

        many.refuse(request, symbolic=symbolic)
        return run(question_of(request, others=None), many, "value")
    printer = Printer()
    if symbolic:
        question = question_of(request, symbols=True)
        allow(question.seconds)
        return _formula(value_in_symbols(question), printer)
    answer = value(question_of(request))
    output, layout = answer.output, printer.layout
    text = value_lines(printable(output.name), output.value, layout)
    status = printer.show(answer, text, map(number_line, [output.value]))
    if layout.cut:
        printer.text([SHORTENED])
    return status


def _formula(answer: ValueAnswer, printer: Printer) -> int:
    """Print a value as formulas, with the conditions on which they hold."""
    text = str(answer.symbolic).replace("'", "")
    name = printable(answer.output.name)
    lines = [Line((name, "name"), (" = ", "plain"), (text, "number"))]
    if answer.where:
        where = ", ".join(answer.where)
        lines.append(Line(("where ", "dim"), (where, "plain")))
    return printer.show(answer, lines, [Line((text, "plain"))])
