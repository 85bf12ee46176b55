"""``gradcli paths``: the chain rule, path by path."""

from __future__ import annotations

from typing import Annotated
from unicodedata import normalize

from ..options import VERIFIES_NOTHING, Request, without
from ..output import form, show
from ..problems import refuse_both, typed, wrong
from ..sources import listed, question_of


@without(VERIFIES_NOTHING)
def main(
    request: Request,
    from_: str | None = None,
    to: str | None = None,
    most: Annotated[int, {"min": 1}] = 10,
    latex: bool = False,
    grad_output: str | None = None,
) -> int:
    """The chain rule, path by path, with each path's product.

    The products add up to the gradient.

    Example: gradcli paths "b = w1*a; c = w2*a; L = b*c" a=2 w1=3 w2=1

    --from NAME: Where paths start (default: the output).
    --to NAMES: Where paths end: a,b (default: every input).
    --most N: List only the N paths with the largest products.
    --latex: Write the paths as equations in LaTeX.
    """
    if from_ is not None and request.of is not None:
        raise wrong("E590", "--from and --of exclude each other", "leave --of out")
    if latex:
        refuse_both(typed(latex=latex, json=form.json, quiet=form.quiet))
    from ...answers.paths import paths
    from ...render import paths as draw

    question = question_of(request, grad_output)
    ends = listed(to)
    if ends == []:
        raise wrong("E595", "--to gives no names", "give names: --to a,b")
    answer = paths(question, from_ and normalize("NFC", from_.strip()), ends, most)
    if latex:
        from ...render.worked import paths_latex

        return show(answer, text=lambda found, _: paths_latex(found))
    return show(answer, bare=draw.bare, text=draw.listing)
