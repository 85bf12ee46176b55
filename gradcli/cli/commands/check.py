"""``gradcli check``: tests whether a derivative that was worked out by hand is right,
and finds its mistake; tests whether two programs are the same function."""

from __future__ import annotations

import re
from typing import Annotated

from typer import Option

from ..checking import CheckProcess
from ..options import DRAWS_NOTHING, IS_EXACT, Request, Requirement, without
from ..output import MORE_TIME, note, show
from ..problems import Exit, wrong
from ..sources import question_of

_CLAIM = re.compile(r"(d\w*+\s*+/\s*+d\w++ ?)\s*+([^=]*+)=\s*+(.*)")


@without(IS_EXACT, DRAWS_NOTHING)
def main(
    request: Request,
    claim: Annotated[
        list[str] | None,
        Option(
            "--claim",
            metavar="EQUATION",
            help="A derivative worked out by hand: 'd/dw = EXPR', 'dL/dw[0] = EXPR', "
            "'w.grad = EXPR' or 'd2L/dw dv = EXPR', in the program's inputs and "
            "variables. Several may be given.",
        ),
    ] = None,
    same: Annotated[
        str | None,
        Option(
            "--same",
            metavar="EXPR",
            help="Another program, to be compared in values and gradients.",
        ),
    ] = None,
    points: Annotated[
        int,
        Option(
            "--points", metavar="K", min=1, help="Compare at this many random points."
        ),
    ] = 8,
    require: Requirement = None,
) -> int:
    """Claims about derivatives: proved, or refuted with the mistake.

    A claim is compared with the program's derivative at the point given and at random
    points, with error bounds; then SymPy proves it, or the smallest counterexample is
    looked for, and what would repair the claim.

    Example: gradcli check "sin(x**2)" --claim "d/dx = cos(x**2)"
    """
    _refuse(request, claim, same)
    from ...answers.check import check, claims_task
    from ...answers.verdict_lines import claims, plain_claims
    from ...check.process.job import is_weaker, lacked_time

    question = question_of(request, symbols=True)
    checker = CheckProcess(question, needed=True)
    task = claims_task(question, claim or [], same, points)
    answer = check(task, checker.judge(task))
    show(answer, bare=plain_claims, text=lambda found, _: claims(found))
    verdict = answer.verification.verdict
    if any(lacked_time(each.note) for each in answer.claims):
        note(MORE_TIME)
    status = _STATUS.get(verdict, Exit.DONE)
    if status == Exit.DONE and require is not None and is_weaker(verdict, require):
        note(f"{verdict}, not {require}")
        return Exit.REFUTED
    return status


def _refuse(request: Request, claim: list[str] | None, same: str | None) -> None:
    if not claim and same is None:
        asked = filter(None, map(_CLAIM.match, request.words or ()))
        found = next(asked, None)
        of, program, right = found.groups() if found else ("d/dx ", "", "EXPR")
        program = program.strip()
        hint = f'give --claim "{of}= {right}" or --same EXPR'
        if program:
            hint = f'write gradcli check "{program}" --claim "{of}= {right}"'
        raise wrong("E590", "there is nothing to check", hint)
    if request.dtype != "float64":
        hint = "leave --dtype out"
        raise wrong("E590", "claims are checked in high precision", hint)
    if request.device == "cuda":
        hint = "leave --device out"
        raise wrong("E590", "claims are checked on the CPU", hint)
    if request.wrt is not None and same is None:
        hint = "leave --wrt out, or compare two programs with --same"
        raise wrong("E590", "a claim names its inputs itself", hint)


_STATUS = {"refuted": Exit.REFUTED, "unknown": Exit.LIMIT}
"""Exit statuses of verdicts; any other verdict exits with 0. An undecided claim counts
as a failure."""
