"""``gradcli value``: a program's value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .options import HAS_NO_DERIVATIVES, VERIFIES_NOTHING, Request, without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..render.line import Layout, Line
    from ..views.gradients import OutputView


@without(VERIFIES_NOTHING, HAS_NO_DERIVATIVES)
def main(request: Request) -> int:
    """The value of a program, without derivatives.

    Example: gradcli value "y = x**3 + b" x=2 b=1
    """
    from ..render.arrays import bare_line
    from ..render.jsons import answer, output_object
    from .output import show
    from .session import output_of_run, run_program

    run = run_program(request, differentiate=False)
    view = output_of_run(run)
    return show(
        request,
        json=lambda: [answer("value", program=run.source, output=output_object(view))],
        bare=lambda: [bare_line(view.value)],
        text=lambda layout: _text(view, layout),
    )


def _text(view: OutputView, layout: Layout) -> Iterator[Line]:
    from ..lang.excerpt import printable
    from ..render.arrays import SHORTENED, value_lines

    if (yield from value_lines(printable(view.name), view.value, layout)):
        yield SHORTENED
