"""``gradcli taylor``: the Taylor polynomial of a program at a point."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final

from typer import Option

from ...answers import taylor as draw
from ...answers.taylor import taylor
from ..checking import exit_status, needs_verdict
from ..limits import MAX_ORDER, allow
from ..options import DRAWS_NOTHING, Request, Requirement, without
from ..output import Printer, form, warn
from ..problems import wrong
from ..sources import question_of

ORDER: Final = 5
"""Largest power if none is asked for."""


@without(DRAWS_NOTHING)
def main(
    request: Request,
    order: Annotated[
        int | None,
        Option(
            "--order",
            metavar="N",
            min=0,
            max=MAX_ORDER,
            help="The largest power, 5 by default. With several inputs, the largest "
            "sum of powers. A whole number behind the program means the same.",
        ),
    ] = None,
    within: Annotated[
        float | None,
        Option(
            "--within",
            metavar="R",
            min=0,
            help="Bound the remainder up to this distance from the point.",
        ),
    ] = None,
    require: Requirement = None,
) -> int:
    """The Taylor polynomial at a point, with exact coefficients.

    Its variables are the inputs that have a value, or those of --wrt. If no input has a
    value, they are all inputs, at 0. Other inputs stay in the coefficients as symbols.

    Example: gradcli taylor "exp(x)*sin(y)" x=0 --order 3
    """
    if order is None:
        request, order = _with_order_among_words(request)
    question = question_of(request, symbols=True)
    wanted = needs_verdict(require)
    verified = wanted or (question.verified and not form.numbers_only)
    if verified or within is not None:
        allow(2 * question.seconds)
    view = taylor(question, order, verified, within)
    printer = Printer()
    printer.show(view, draw.lines(view, printer.layout), draw.plain_lines(view))
    return exit_status(view.found if wanted or verified else None, require, view.finite)


def _with_order_among_words(request: Request) -> tuple[Request, int]:
    """Return the request without a whole number behind its program, which is the order,
    and the order."""
    words = [*(request.words or ())]
    behind = range(request.file is None, len(words))
    numbers = [at for at in behind if words[at].strip().isdecimal()]
    if len(numbers) != 1:
        return request, ORDER
    order = int(words.pop(numbers[0]))
    if order > MAX_ORDER:
        message = f"the order {order} is above {MAX_ORDER}"
        raise wrong("E590", message, f"give --order {MAX_ORDER} or less")
    warn(f"{order} is read as --order {order}")
    return replace(request, words=words), order
