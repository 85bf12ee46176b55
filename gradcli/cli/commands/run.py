"""``gradcli run``: runs a PyTorch script with gradcli in the place of torch."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand

from ..exits import Exit
from ..options import NarrowHelp, VerifySeconds, stand_in
from ..output import MORE_TIME
from ..problems import wrong

if TYPE_CHECKING:
    from pathlib import Path

    from ...lang.errors import ProgramError
    from ...python.script_passes import Pass
    from ...render.line import Line, Role


_READS_WORDS: Final = re.compile(rb"argv|argparse|click|typer|docopt|\bfire\b|hydra")
"""Pattern of text in scripts that read words of the command line."""


class ScriptCommand(NarrowHelp, TyperCommand):
    """A command whose words after the script are the script's own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            spelling
            for param in self.get_params(ctx)
            for spelling in param.opts
            if spelling.startswith("-") and not getattr(param, "is_flag", False)
        }
        position = 0
        while position < len(args) and args[position].startswith("-"):
            if args[position] == "--":
                stand_in(ctx, self, args[:position])
                return super().parse_args(ctx, args)
            position += 2 if args[position] in takes_value else 1
        stand_in(ctx, self, args[:position])
        return super().parse_args(ctx, [*args[:position], "--", *args[position:]])


COMMAND = ScriptCommand

UNSEEN: Final = (
    "only a run shows what is asked of objects that the text does not say to be "
    "tensors, and whether functions do what PyTorch's do"
)
"""Reason to run a script after reading it: reading cannot tell these things."""

VERIFY_SECONDS = 5.0
"""Seconds for verifying one backward pass."""


def main(
    words: list[str],
    check: bool = False,
    graph: bool = False,
    explain: bool = False,
    verify: bool = False,
    verify_seconds: VerifySeconds = VERIFY_SECONDS,
    debug: bool = False,
) -> int:
    """Run a PyTorch script unchanged, with gradcli as torch.

    This executes the file; it prints what it prints. With --graph, --explain or
    <words> SCRIPT.py [ARGS]...: The script and its own arguments.
    --verify the first backward() of each line is reported on stderr, with file and
    line. Options stand before the script; what stands behind it is the script's.

    Example: gradcli run --verify train.py --epochs 3

    --check: List what the script, and the files beside it that it imports, ask of torch
        and gradcli lacks; run nothing.
    --graph: Draw the graph of each backward() on stderr.
    --explain: Write each backward() out, step by step.
    --verify: Prove or refute the gradients of each backward().
    """
    from pathlib import Path

    path = Path(words[0])
    if not path.is_file():
        raise wrong("E511", f"there is no file {words[0]!r}", "name a script: train.py")
    if check:
        asked = {"--graph": graph, "--explain": explain, "--verify": verify}
        extra = next((option for option, given in asked.items() if given), None)
        if extra is not None:
            message = f"{extra} does nothing: --check runs no backward()"
            raise wrong("E590", message, "leave one of them out")
        return _listed(path)
    if verify_seconds != VERIFY_SECONDS and not verify:
        message = "--verify-seconds does nothing: nothing is verified"
        raise wrong("E590", message, "add --verify, or leave it out")
    _tell_misplaced(path, words[1:])
    with Reports(graph, explain, verify, verify_seconds) as reports:
        status = _executed(path, words[1:], debug)
    return Exit.REFUTED if reports.refuted and not status else status


def _tell_misplaced(path: Path, arguments: list[str]) -> None:
    """Write a note on an option of gradcli that is given to a script which reads
    none."""
    own = {"--check", "--graph", "--explain", "--verify"}
    given = sorted(own.intersection(arguments))
    if given and _READS_WORDS.search(path.read_bytes()) is None:
        from ..output import note

        right = f"gradcli run {given[0]} {path.name}"
        note(f"note: {given[0]} stands behind the script, which reads none: {right}")


def _listed(path: Path) -> int:
    """Print what gradcli lacks for the script; return the exit status."""
    from ...lang.excerpt import enumerated, printable
    from ...python.missing import looked_through
    from ...render.line import Line
    from ..output import Printer, note

    look = looked_through(path)
    printer = Printer()
    for each in (*look.missing, *look.possible):
        where = f"{each.file.name}:{each.line}: "
        printer.lines(
            [Line((printable(where), "dim"), (printable(each.text), "plain"))]
        )
    if not look.missing:
        names = printable(enumerated([file.name for file in look.files]))
        text = "gradcli has every name that is asked of torch"
        printer.lines([Line((f"{names}: {text}", "plain"))])
    note(f"note: {UNSEEN}")
    return Exit.PROGRAM if look.missing else Exit.DONE


def _executed(path: Path, arguments: list[str], debug: bool) -> int:
    """Run the script; return its exit status."""
    from ...python.user_files import run

    try:
        run(path, arguments)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or Exit.DONE
        from ..output import note

        note(str(ended.code))
        return 1
    except BrokenPipeError:
        raise
    except Exception as error:
        raise _failure(error) from error
    return Exit.DONE


def _failure(error: Exception) -> ProgramError:
    """Return the error for an exception of the script, or for a name that gradcli
    lacks."""
    from ...python.torch_names import lacking
    from ...python.user_lines import place_of

    where = place_of(error.__traceback__)
    at = f"{where}\n  " if where else ""
    said = lacking(error)
    if said is not None:
        hint = "gradcli run --check lists all that the script asks for and is not there"
        return wrong("E101", f"{at}{said}", hint) if not at else wrong(
            "E101", f"{said} ({where})", hint
        )  # fmt: skip
    kind, text = type(error).__name__, str(error)
    shown = f"{kind}: {text}" if text else kind
    return wrong(
        "E513", f"the script raises {shown} ({where})" if where else shown,
        "--debug shows Python's traceback",
    )  # fmt: skip


class Reports:
    """A block in which passes are reported; ``refuted`` tells whether a gradient was
    refuted."""

    def __init__(
        self, graph: bool, explain: bool, verify: bool, seconds: float
    ) -> None:
        self.refuted = False
        self._asked = graph or explain or verify
        self._graph, self._explain, self._verify = graph, explain, verify
        self._seconds = seconds
        self._stack = ExitStack()
        self._tape: Any = None
        self._passes: Any = None

    def __enter__(self) -> Reports:
        if self._asked:
            from ...python.script_passes import recording, watched

            if self._verify:
                self._tape = self._stack.enter_context(recording())
            after = self._tape.passed if self._tape is not None else None
            self._passes = self._stack.enter_context(watched(self._report, after))
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._stack.close()
        if self._passes is not None and error is None:
            self._say(f"backward() ran at {line}" for line in self._passes.lines())

    def _report(self, made: Pass, run: Callable[..., object]) -> None:
        self._say([f"{made.place}: {made.name}.backward()"], "title")
        view = None
        if self._graph or self._explain:
            from ...views.graph import graph_view

            view = graph_view(
                made.root, source="", name=made.name, variables=made.variables
            )
        if self._graph:
            from ...render.graph import tree

            assert view is not None
            self._write(tree(view, self._writer().layout))
        if self._verify:
            self._judge(made)
        if self._explain:
            self._write(self._explained(made, view, run))
        else:
            run()

    def _explained(
        self, made: Pass, view: Any, run: Callable[..., object]
    ) -> Iterable[Line]:
        from ...answers.explanation import Explanation, explain
        from ...answers.gradients import output_view
        from ...engine.tensor import ones_for
        from ...render.explanation import lines
        from ...views.names import Names
        from ...views.numbers import plain

        names = Names()
        names.settle((), made.variables, frozenset())
        root = made.root
        start = ones_for(root) if made.cotangent is None else made.cotangent
        output = output_view(root, made.name, made.name != "output")
        steps = explain(root, start, names, view, run=run)
        given = made.cotangent is not None
        return lines(
            Explanation("", output, plain(start.raw), given, steps),
            self._writer().layout,
        )

    def _judge(self, made: Pass) -> None:
        from ...python.verify_function import judged
        from ...render.verdicts import proof_lines

        proof = judged(self._tape, made, self._seconds)
        self.refuted = self.refuted or proof.verdict == "refuted"
        self._write(proof_lines(proof.lines(), proof.verdict))
        if proof.ran_out_of_time:
            self._say([MORE_TIME.format(self._seconds)])

    def _writer(self) -> Any:
        from ...render.writer import open_writer

        return open_writer(sys.stderr)

    def _write(self, lines: Iterable[Line]) -> None:
        writer = self._writer()
        writer.lines(lines)
        writer.flush()

    def _say(self, texts: Iterable[str], role: Role = "dim") -> None:
        from ...lang.excerpt import printable
        from ...render.line import Line

        self._write([Line((printable(text), role)) for text in texts])
