"""``gradcli check``: tests whether a derivative that was worked out by hand is right,
and finds its mistake; tests whether two programs are the same function."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated

from typer import Option

from ...answers.check import check, claims_task, equation_claimed
from ...answers.verdict_lines import claims, plain_claims
from ...check.process.job import is_weaker, lacked_time
from ...lang.errors import ProgramError
from ..checking import CheckProcess
from ..options import DRAWS_NOTHING, IS_EXACT, Request, Requirement, without
from ..output import MORE_TIME, Printer, note
from ..problems import Exit, wrong
from ..sources import STDIN, program_and_bindings, question_of

_OF_DERIVATIVES = frozenset("/'′’∇∂.\\")
"""Signs of a left-hand side that is a derivative, not the name of an input."""

_OPERATORS = frozenset("+-*/^")
"""Signs on the left of an equation that defines no name."""

_IN_WORDS = re.compile(r"\s*(grad|nabla|gradient)[\s_(].*")
"""Pattern of a left-hand side such as ``grad f``."""

_SUBSCRIPT = re.compile(r"\s*[^\W\d_]+_\{?[^\W\d_]+\}?\s*")
"""Pattern of a left-hand side such as ``f_x``."""

_WORD = re.compile(r"\w+")

_FIELD = re.compile(r"((?:div|curl|rot|lap|laplacian)\b[^=]*)=(.*)", re.DOTALL)
"""Pattern of an equation about a derivative of a field."""

_EQUATION = re.compile(r"^[^\S\n]*(?:[d∂][\w²³^]*\s*/\s*[d∂]\w|∇)[^=\n]*=[^\n]+$", re.M)
"""Pattern of a line that is an equation about a derivative."""

_CLAIM = re.compile(r"(d\w*+\s*+/\s*+d\w++ ?)\s*+([^=]*+)=\s*+(.*)")


_CLAIM_IN_FILE = re.compile(r"#[^\S\n]*claim:[^\S\n]*(\S[^\n]*?)[^\S\n]*$", re.M)
"""Pattern of a claim in a comment."""


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
            help="Another program. Its values and gradients are compared.",
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

    A claim is compared with the program's derivative at your point and at random
    points, with error bounds. Then SymPy tries to prove it. A false claim gets a
    counterexample with simple numbers and, where possible, a correction.

    A file with a program may contain claims as comments: "# claim: d/dx = EXPR".

    Example: gradcli check "sin(x**2)" --claim "d/dx = cos(x**2)"
    """
    request, claim = _with_claims_among_words(request, claim or [])
    is_file = _is_file(request)
    _refuse(request, claim, same, is_file)
    request, claim = _with_equations_of_file(request, claim)
    request = _with_tied_name(request, claim)
    question = question_of(request, symbols=True, equations=same is None)
    claim = [*_CLAIM_IN_FILE.findall(question.program), *claim]
    if not claim and same is None:
        raise _nothing_to_check(request, is_file)
    checker = CheckProcess(question, needed=True)
    task = claims_task(question, claim, same, points)
    checker.submit(task)
    answer = check(task, checker.finish())
    Printer().show(answer, claims(answer), plain_claims(answer))
    verdict = answer.verification.verdict
    if any(lacked_time(each.note) for each in answer.claims):
        note(MORE_TIME)
    status = _STATUS.get(verdict, Exit.DONE)
    if status == Exit.DONE and require is not None and is_weaker(verdict, require):
        note(f"{verdict}, not {require}")
        return Exit.REFUTED
    return status


def _with_claims_among_words(
    request: Request, claim: list[str]
) -> tuple[Request, list[str]]:
    """Return the request without equations about derivatives behind the program, and
    the claims with them."""
    words = [*(request.words or ())]
    first = words[0] if words and request.file is None else ""
    rest = words[1:] if first else words
    read = {*_WORD.findall(first)}

    def is_claim(left: str) -> bool:
        subscript = _SUBSCRIPT.fullmatch(left) and left.strip() not in read
        return bool(_OF_DERIVATIVES & {*left} or _IN_WORDS.fullmatch(left) or subscript)

    parted = [(word, *word.partition("=")) for word in rest]
    behind = [
        word
        for word, left, sign, _ in parted
        if (is_claim(left) if sign else " " in word.strip())
    ]
    words = [*([first] if first else ()), *(w for w in rest if w not in behind)]
    return (replace(request, words=words), [*behind, *claim]) if behind else (
        request, claim
    )  # fmt: skip


def _with_equations_of_file(
    request: Request, claim: list[str]
) -> tuple[Request, list[str]]:
    """Return the request with the program of a file, and the claims with the file's
    lines that are equations about derivatives."""
    if not _is_file(request):
        return request, claim
    source, words = program_and_bindings(request)
    equations = [found[0].strip() for found in _EQUATION.finditer(source)]
    program = _EQUATION.sub(lambda found: f"# {found[0]}", source)
    whole = replace(request, file=None, words=[program, *words])
    return whole, [*equations, *claim]


def _with_tied_name(request: Request, claim: list[str]) -> Request:
    """Return the request with the name that its first claim differentiates, if the
    program is an equation that makes this name a function of the others."""
    if request.of is not None or not request.words or not claim:
        return request
    source = request.words[0]
    given = [word.partition("=")[0] for word in request.words[1:]]
    found = equation_claimed(source, claim[0], given)
    return request if found is None else replace(request, of=found.of)


def _refuse(
    request: Request, claim: list[str] | None, same: str | None, is_file: bool
) -> None:
    if not claim and same is None and not is_file:
        raise _nothing_to_check(request, is_file)
    if request.dtype != "float64":
        hint = "leave --dtype out"
        raise wrong("E590", "claims are checked in high precision", hint)
    if request.device == "cuda":
        hint = "leave --device out"
        raise wrong("E590", "claims are checked on the CPU", hint)


def _is_file(request: Request) -> bool:
    return request.file is not None or (request.words or [""])[0] == STDIN


def _nothing_to_check(request: Request, is_file: bool) -> ProgramError:
    """Return the error where neither a claim nor another program is given."""
    asked = filter(None, map(_CLAIM.match, request.words or ()))
    found = next(asked, None)
    of, program, right = found.groups() if found else ("d/dx ", "", "EXPR")
    program = program.strip()
    hint = f'give --claim "{of}= {right}" or --same EXPR'
    field = next(filter(None, map(_FIELD.fullmatch, request.words or ())), None)
    left, sign, _ = (request.words or [""])[0].partition("=")
    if sign and _OPERATORS & {*left} and field is None and not program:
        hint = 'give a claim about the equation, such as "dy/dx = EXPR"'
    if field is not None:
        shown = field[2].strip()
        hint = f'write {field[1].strip()} behind the program, and --same "{shown}"'
    if program:
        hint = f'write gradcli check "{program}" --claim "{of}= {right}"'
    elif is_file:
        hint += f', or write "# claim: {of}= {right}" in the file'
    return wrong("E590", "there is nothing to check", hint)


_STATUS = {"refuted": Exit.REFUTED, "unknown": Exit.LIMIT}
"""Exit statuses of verdicts; any other verdict exits with 0. An undecided claim counts
as a failure."""
