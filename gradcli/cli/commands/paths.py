"""``gradcli paths``: the chain rule, path by path."""

from __future__ import annotations

from typing import Annotated
from unicodedata import normalize

from typer import Option

from ...answers import paths as draw
from ...answers.paths import paths
from ...answers.symbol_paths import formula_listing
from ...answers.worked import paths_latex
from ..options import VERIFIES_NOTHING, GradOutput, Request, listed, without
from ..output import Printer, form
from ..problems import refuse_both, typed, wrong
from ..sources import question_of


@without(VERIFIES_NOTHING)
def main(
    request: Request,
    from_: Annotated[
        str | None,
        Option(
            "--from", metavar="NAME", help="Where paths start (default: the output)."
        ),
    ] = None,
    to: Annotated[
        str | None,
        Option(
            "--to", metavar="NAMES", help="Where paths end: a,b (default: every input)."
        ),
    ] = None,
    most: Annotated[
        int,
        Option(
            "--most",
            metavar="N",
            min=1,
            help="List only the N paths with the largest products.",
        ),
    ] = 10,
    latex: Annotated[
        bool,
        Option("--latex", help="Write the paths as equations in LaTeX."),
    ] = False,
    grad_output: GradOutput = None,
) -> int:
    """The chain rule, path by path, with each path's product.

    The products add up to the gradient. In a terminal they are formulas where inputs
    have no values.

    Example: gradcli paths "b = w1*a; c = w2*a; L = b*c" a=2 w1=3 w2=1
    """
    if from_ is not None and request.of is not None:
        raise wrong("E590", "--from and --of exclude each other", "leave --of out")
    if latex:
        refuse_both(typed(latex=latex, json=form.json, quiet=form.quiet))
    symbols = form.read and not typed(latex=latex, grad_output=grad_output)
    question = question_of(request, grad_output, symbols)
    ends = listed(to)
    if ends == []:
        raise wrong("E595", "--to gives no names", "give names: --to a,b")
    answer = paths(question, from_ and normalize("NFC", from_.strip()), ends, most)
    printer = Printer()
    if latex:
        return printer.show(answer, paths_latex(answer))
    if answer.symbols:
        return printer.show(answer, formula_listing(answer, printer.layout))
    listed_paths = draw.listing(answer, printer.layout)
    return printer.show(answer, listed_paths, draw.plain_products(answer))
