"""``gradcli value``: a program's value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lang.excerpt import printable
from ..option_groups import Many
from ..options import HAS_NO_DERIVATIVES, VERIFIES_NOTHING, Request, without
from ..output import show
from ..sources import question_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...answers.gradients import ValueAnswer
    from ...answers.line import Layout, Line


@without(VERIFIES_NOTHING, HAS_NO_DERIVATIVES)
def main(request: Request, many: Many) -> int:
    """The value of a program, without derivatives.

    Example: gradcli value "y = x**3 + b" x=2 b=1
    """
    if many.asked():
        from ..at_points import run

        many.refuse(request)
        return run(question_of(request, others=None), many, "value")
    from ...answers.gradients import value
    from ...answers.numbers import SHORTENED, number_line, value_lines

    def text(answer: ValueAnswer, layout: Layout) -> Iterator[Line]:
        label = printable(answer.output.name)
        yield from value_lines(label, answer.output.value, layout)
        if layout.cut:
            yield SHORTENED

    answer = value(question_of(request))
    return show(answer, text=text, bare=lambda found: [number_line(found.output.value)])
