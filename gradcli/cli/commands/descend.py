"""``gradcli descend``: moves the inputs of a program downhill, to a smaller value."""

from __future__ import annotations

from ..option_groups import Choice
from ..options import VERIFIES_NOTHING, Request, without
from ..sources import question_of


@without(VERIFIES_NOTHING)
def main(request: Request, choice: Choice) -> int:
    """Minimise a scalar program over its inputs.

    With --wrt only those are moved. Ctrl-C ends it with what was reached.

    Example: gradcli descend "(w - 3)^2 + (b + 1)^2" w=0 b=0 --lr 0.2
    """
    choice.check()
    from ..downhill import Downhill

    return Downhill(question_of(request), choice).run()
