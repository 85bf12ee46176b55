"""``gradcli verify``: verifies the gradients of a function in a Python file."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from typer import Argument, Option

from .. import ending
from ..options import Debug, Json, Requirement, VerifySeconds
from ..output import MORE_TIME, Printer, note
from ..problems import Exit, wrong
from ..sources import listed


def main(
    words: Annotated[
        list[str],
        Argument(
            metavar="FILE.py:NAME [NAME=VALUE]...",
            help="The function, Function or module, and a value for each of its "
            "parameters, as x=randn(3,4), x=[1,2] or x=@data.npy; a number that is "
            "written out, as delta=0.7, stays a number. Without a value, an "
            "annotation counts (x: 'randn(3, 4)'), then a default, then a number "
            "for a float, else randn(3).",
        ),
    ],
    whole: Annotated[
        str,
        Option("--whole", metavar="NAMES", help="These parameters hold integers: i,j."),
    ] = "",
    wrt: Annotated[
        str,
        Option(
            "--wrt",
            metavar="NAMES",
            help="Look at the gradients by these parameters alone: x,weight. Without "
            "it, at all but those that a Function's backward returns None for.",
        ),
    ] = "",
    seed: Annotated[
        int,
        Option("--seed", metavar="N", min=0, help="Seed of what is drawn."),
    ] = 0,
    once: Annotated[
        bool,
        Option("--once", help="Do not look at gradients of gradients."),
    ] = False,
    order: Annotated[
        int,
        Option(
            "--order",
            metavar="N",
            min=1,
            max=2,
            help="With 2, gradients of gradients have to be right as well: they count "
            "for the exit status and --require.",
        ),
    ] = 1,
    require: Requirement = None,
    verify_seconds: VerifySeconds = 30.0,
    json: Json = False,
    quiet: Annotated[
        bool,
        Option("--quiet", "-q", help="Print the verdict only."),
    ] = False,
    debug: Debug = False,
) -> int:
    """Prove or refute the gradients of functions in a file.

    This executes the file, with gradcli in the place of torch; NAME is a custom
    Function, a function or a module of it. What the function computes forward is run on
    numbers with error bounds and differentiated there; its backward, hand-written or
    not, is held against that, entry by entry, and a wrong one is diagnosed.

    Example: gradcli verify losses.py:Huber 'x=randn(5)' delta=0.7
    """
    from ...answers.jsons import as_json
    from ...answers.line import Line
    from ...answers.verdict_lines import proof_lines
    from ...check.process.job import UNKNOWN
    from ...functions.user_files import (
        arguments_of,
        detach_unwanted,
        executing,
        find,
        split,
        taken_as_constants,
    )
    from ...functions.user_lines import words_of
    from ...functions.verify_function import verify

    if once and order == 2:
        hint = "leave one of them out"
        raise wrong("E590", "--once does not look at what --order 2 asks for", hint)
    path, _ = split(words[0])
    tell = (lambda text: None) if quiet else note
    tell(f"note: {path} is executed, with gradcli in the place of torch")
    ending.runs_users_code = True
    target = find(words[0])
    arguments = arguments_of(target, words[1:], seed, tuple(listed(whole) or ()))
    for name, text in arguments.drawn.items():
        tell(f"note: {name}={text} was drawn with seed {seed}")
    wanted = tuple(listed(wrt) or ())
    with executing(path):
        fixed = () if wanted else taken_as_constants(target, arguments)
    if fixed:
        known = ", ".join(fixed)
        note(
            f"note: backward returns None for {known}, so no gradient by it was "
            f"looked at; --wrt {fixed[0]} asks for one"
        )
        wanted = tuple(
            name
            for name, x in zip(target.parameters, arguments.values, strict=False)
            if name not in fixed and getattr(x, "requires_grad", False)
        )
    if wanted:
        arguments = detach_unwanted(arguments, target, wanted)
    try:
        with executing(path):
            proof = verify(
                target.value, arguments.values, at_least=require or UNKNOWN,
                seconds=verify_seconds, seed=seed, double_backward=not once,
                order=order,
            )  # fmt: skip
    except Exception as error:
        hint = "give each of its parameters a value that it takes: x=randn(2,4)"
        message = f"{target.title} raises {words_of(error)}"
        raise wrong("E519", message, hint) from error
    if proof.ran_out_of_time:
        tell(MORE_TIME)
    proof = replace(proof, function=words[0])
    if json:
        Printer().lines(as_json(proof))
    elif quiet:
        Printer().lines([Line((proof.asked, "plain"))])
    else:
        Printer().lines(proof_lines(proof.lines(), proof.verdict))
    if proof:
        return Exit.DONE
    if proof.asked != "refuted":
        note(f"{proof.asked}, not {proof.at_least}: {words[0]}")
    return Exit.REFUTED
