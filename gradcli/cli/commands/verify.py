"""``gradcli verify``: verifies the gradients of a function in a Python file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ...answers.jsons import as_json
from ...answers.line import Line
from ...answers.verdict_lines import proof_lines
from ...check.process.job import UNKNOWN
from ...lang.errors import ProgramError
from ...lang.suggest import did_you_mean
from .. import ending
from ..options import Debug, Json, Requirement, VerifySeconds, listed
from ..output import BREAKS, MORE_TIME, Printer, note
from ..problems import Exit, wrong
from ..sources import shapes_of

if TYPE_CHECKING:
    from ...functions.function_proof import FunctionProof
    from ...functions.user_files import FileTarget


def main(
    words: Annotated[
        list[str],
        Argument(
            metavar="FILE.py[:NAME] [NAME=VALUE]...",
            help="A Function, a function or a module, and values for its parameters: "
            "x=randn(3,4), x=[1,2] or x=@data.npy. Without NAME, all Functions of the "
            "file. A number such as delta=0.7 stays a plain number. A parameter "
            "without a value gets its annotation (x: 'randn(3, 4)'), or else its "
            "default, or else a number if it is a float, and otherwise randn(3).",
        ),
    ],
    shape: Annotated[
        list[str] | None,
        Option(
            "--shape",
            metavar="NAME=SIZES",
            help="The shape of a parameter without a value: x=2,3; or of all of them: "
            "2,3.",
        ),
    ] = None,
    names: Annotated[
        bool,
        Option("--list", help="List the Functions of a file; verify none."),
    ] = False,
    whole: Annotated[
        str,
        Option("--whole", metavar="NAMES", help="These parameters hold integers: i,j."),
    ] = "",
    wrt: Annotated[
        str,
        Option(
            "--wrt",
            metavar="NAMES",
            help="Verify only the gradients by these parameters: x,weight. The default "
            "is all parameters for which backward does not return None.",
        ),
    ] = "",
    seed: Annotated[
        int,
        Option("--seed", metavar="N", min=0, help="Seed for random values."),
    ] = 0,
    once: Annotated[
        bool,
        Option("--once", help="Do not verify gradients of gradients."),
    ] = False,
    order: Annotated[
        int,
        Option(
            "--order",
            metavar="N",
            min=1,
            max=2,
            help="With 2, gradients of gradients count for the exit status and for "
            "--require.",
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

    This executes the file, with gradcli in the place of torch. NAME is a custom
    Function, a function or a module in it. Without NAME all its Functions are verified.
    The forward computation is run on numbers with error bounds and differentiated
    there. The backward, hand-written or not, is compared with this derivative, entry by
    entry. A wrong backward is diagnosed.

    Example: gradcli verify losses.py:Huber 'x=randn(5)' delta=0.7

    Example: gradcli verify losses.py --shape x=2,3
    """
    if once and order == 2:
        hint = "leave one of them out"
        raise wrong("E590", "--once does not look at what --order 2 asks for", hint)
    shapes = _shapes(shape)
    settings = FunctionOptions(
        words[1:], seed, tuple(listed(whole) or ()), shapes, tuple(listed(wrt) or ()),
        require or UNKNOWN, verify_seconds, not once, order, quiet,
    )  # fmt: skip
    if words[0].endswith(".py") and isfile(words[0]):
        return _file(Path(words[0]), settings, json, names)
    if names:
        hint = f"name the file alone: {words[0].partition(':')[0]}"
        raise wrong("E590", "--list lists the Functions of a whole file", hint)
    from ...functions.user_files import find, split

    path, _ = split(words[0])
    _announce(path, settings)
    proof = _proof(replace(find(words[0]), title=words[0]), path, settings)
    if json:
        Printer().lines(as_json(proof))
    else:
        _show(proof, quiet)
    return _status(proof)


@dataclass(frozen=True, slots=True)
class FunctionOptions:
    """How functions are verified; the fields are the options of the command."""

    bindings: list[str]
    seed: int
    whole: tuple[str, ...]
    shapes: dict[str, tuple[int, ...]]
    wrt: tuple[str, ...]
    require: str
    seconds: float
    double_backward: bool
    order: int
    quiet: bool

    def note(self, text: str) -> None:
        """Print a note, unless only the verdict is wanted."""
        if not self.quiet:
            note(text)

    def of(self, target: FileTarget) -> FunctionOptions:
        """Return the settings that concern the parameters of one of several
        functions."""
        return replace(
            self,
            bindings=[b for b in self.bindings if _name(b) in target.parameters],
            shapes={
                n: s for n, s in self.shapes.items() if not n or n in target.parameters
            },
            wrt=tuple(n for n in self.wrt if n in target.parameters),
        )


def _name(binding: str) -> str:
    return binding.partition("=")[0].strip()


def _shapes(words: list[str] | None) -> dict[str, tuple[int, ...]]:
    """Return the shapes in ``x=2,3``; the one without a name is that of all others."""
    named = [word for word in words or () if "=" in word]
    shapes = shapes_of(named)
    for word in words or ():
        if word not in named:
            shapes[""] = shapes_of([f"x={word}"])["x"]
    return shapes


def _announce(path: Path, settings: FunctionOptions) -> None:
    settings.note(f"note: {path} is executed, with gradcli in the place of torch")
    ending.runs_users_code = True


def _file(path: Path, settings: FunctionOptions, json: bool, names: bool) -> int:
    """List or verify all Functions of a file; return the worst exit status."""
    from ...functions.function_proof import FileProof, Unverified
    from ...functions.user_files import functions_of

    _announce(path, settings)
    targets = functions_of(path)
    if names:
        rows = [f"{t.title}({', '.join(t.parameters)})" for t in targets]
        Printer().lines(Line((row, "plain")) for row in rows)
        return Exit.DONE
    known = {name for target in targets for name in target.parameters}
    for name in (*map(_name, settings.bindings), *settings.shapes, *settings.wrt):
        if name and name not in known:
            hint = did_you_mean(name, known) or f"they have {', '.join(sorted(known))}"
            raise wrong("E505", f"no Function of {path} has a parameter {name!r}", hint)
    proofs: list[FunctionProof] = []
    failed: list[Unverified] = []
    for target in targets:
        try:
            proof = _proof(target, path, settings.of(target))
        except ProgramError as error:
            failed.append(Unverified(target.title, error.message, error.hint))
            if not json:
                help_line = f"\n  = help: {error.hint}" if error.hint else ""
                note(f"not verified: {error.message}{help_line}", BREAKS)
            continue
        proofs.append(proof)
        if not json:
            _show(proof, settings.quiet, f"{target.title}: ")
    if json:
        Printer().lines(as_json(FileProof(str(path), tuple(failed), tuple(proofs))))
    status = max((_status(proof) for proof in proofs), default=Exit.DONE)
    return status or (Exit.PROGRAM if failed else Exit.DONE)


def _proof(target: FileTarget, path: Path, settings: FunctionOptions) -> FunctionProof:
    """Return the proof of one function of a file that was executed.

    Raises:
        ProgramError: an argument is wrong, or the function raises.
    """
    from ...functions.drawn_shapes import refuse_unfit
    from ...functions.user_files import (
        arguments_of,
        detach_unwanted,
        executing,
        taken_as_constants,
    )
    from ...functions.user_lines import words_of
    from ...functions.verify_function import verify

    arguments = arguments_of(
        target, settings.bindings, settings.seed, settings.whole, settings.shapes
    )
    for name, text in arguments.drawn.items():
        settings.note(f"note: {name}={text} was drawn with seed {settings.seed}")
    wanted = settings.wrt
    with executing(path):
        refuse_unfit(target, arguments, settings.seed)
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
                target.value, arguments.values, at_least=settings.require,
                seconds=settings.seconds, seed=settings.seed,
                double_backward=settings.double_backward, order=settings.order,
            )  # fmt: skip
    except Exception as error:
        hint = "give each of its parameters a value that it takes: x=randn(2,4)"
        numbers = [n for n, x in zip(target.parameters, arguments.values, strict=False)
                   if isinstance(x, int | float)]  # fmt: skip
        if numbers:
            hint += f"; {numbers[0]} is a number, {numbers[0]}=tensor(0.5) is a tensor"
        message = f"{target.title} raises {words_of(error)}"
        raise wrong("E519", message, hint) from error
    if proof.ran_out_of_time:
        settings.note(MORE_TIME)
    return replace(proof, function=target.title)


def _show(proof: FunctionProof, quiet: bool, name: str = "") -> None:
    if quiet:
        Printer().lines([Line((name + proof.asked, "plain"))])
    else:
        Printer().lines(proof_lines(proof.lines(), proof.verdict))


def _status(proof: FunctionProof) -> Exit:
    """Return the exit status for a proof; say which one is too weak."""
    if proof:
        return Exit.DONE
    if proof.asked != "refuted":
        note(f"{proof.asked}, not {proof.at_least}: {proof.function}")
    return Exit.REFUTED
