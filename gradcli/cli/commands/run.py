"""``gradcli run``: runs a PyTorch script with gradcli in the place of torch."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, nullcontext
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from typer import Argument, Option
from typer.core import TyperCommand

from .. import ending
from ..group import HelpPage, stand_in
from ..options import Debug, VerifySeconds
from ..output import BREAKS, MORE_TIME, nobody_reads, note
from ..problems import Exit, wrong

if TYPE_CHECKING:
    from ...answers.line import Line, Role
    from ...functions.script_passes import ScriptPass
    from ...lang.errors import ProgramError


_READS_WORDS: Final = re.compile(rb"argv|argparse|click|typer|docopt|\bfire\b|hydra")
"""Pattern of text in scripts that read words of the command line."""


class ScriptCommand(HelpPage, TyperCommand):
    """A command whose words after the script are the script's own."""

    allow_interspersed_args = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        _, words, _ = self.make_parser(ctx).parse_args([*args])
        stand_in(ctx, self, args[: len(args) - len(words)])
        return super().parse_args(ctx, args)


COMMAND = ScriptCommand

VERIFY_SECONDS = 5.0
"""Seconds for verifying one backward pass."""

OWN: Final = frozenset({"--graph", "--explain", "--verify"})


def main(
    words: Annotated[
        list[str],
        Argument(
            metavar="SCRIPT.py [ARGS]...", help="The script and its own arguments."
        ),
    ],
    graph: Annotated[
        bool,
        Option("--graph", help="Draw the graph of each backward() on stderr."),
    ] = False,
    explain: Annotated[
        bool,
        Option("--explain", help="Write each backward() out, step by step."),
    ] = False,
    verify: Annotated[
        bool,
        Option("--verify", help="Prove or refute the gradients of each backward()."),
    ] = False,
    verify_seconds: VerifySeconds = VERIFY_SECONDS,
    debug: Debug = False,
) -> int:
    """Run a PyTorch script unchanged, with gradcli as torch.

    This executes the file; it prints what it prints. With --graph, --explain or
    --verify the first backward() of each line is reported on stderr, with file and
    line. Options stand before the script; what stands behind it is the script's.

    Example: gradcli run --verify train.py --epochs 3
    """
    path = Path(words[0])
    if not isfile(path):
        raise wrong("E511", f"there is no file {words[0]!r}", "name a script: train.py")
    if verify_seconds != VERIFY_SECONDS and not verify:
        message = "--verify-seconds does nothing: nothing is verified"
        raise wrong("E590", message, "add --verify, or leave it out")
    given = sorted(OWN.intersection(words[1:]))
    if given and _READS_WORDS.search(path.read_bytes()) is None:
        right = f"gradcli run {given[0]} {path.name}"
        note(f"note: {given[0]} stands behind the script, which reads none: {right}")
    with Reports(graph, explain, verify, verify_seconds) as reports:
        status = _executed(path, words[1:])
    return Exit.REFUTED if reports.refuted and not status else status


def _executed(path: Path, arguments: list[str]) -> int:
    """Run a script to the end of its last thread; return its exit status."""
    from ...functions.user_files import restored, run
    from ...functions.user_lines import is_internal

    ours = ending.process_is_ours
    if ours:
        ending.be_pythons()
    status: int = Exit.DONE
    try:
        with nullcontext() if ours else restored():
            run(path, arguments)
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            status = ended.code or Exit.DONE
        else:
            note(str(ended.code), BREAKS)
            status = 1
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, BrokenPipeError) and nobody_reads():
            raise
        trace = error.__traceback__
        while trace is not None and is_internal(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        error.__traceback__ = trace or error.__traceback__
        if ours and sys.excepthook is not sys.__excepthook__:
            sys.excepthook(type(error), error, trace)
            return 1
        raise _failure(error) from error
    if ours:
        # Passes of the script's threads are reported as well.
        vars(threading)["_shutdown"]()
    return status


def _failure(error: BaseException) -> ProgramError:
    """Return the error for an exception of the script, or for a name that gradcli
    lacks."""
    from ...functions.torch_names import lacking
    from ...functions.user_lines import place_of
    from ...lang.errors import text_of

    where = place_of(error.__traceback__)
    said = lacking(error)
    if said is not None:
        hint = "gradcli help pytorch says what is covered"
        return wrong("E101", f"{said} ({where})" if where else said, hint)
    kind, text = type(error).__name__, text_of(error)
    shown = f"{kind}: {text}" if text else kind
    message = f"the script raises {shown} ({where})" if where else shown
    return wrong("E513", message, "--debug shows Python's traceback")


class Reports(ExitStack):
    """A block in which passes are reported; ``refuted`` tells whether a gradient was
    refuted."""

    def __init__(
        self, graph: bool, explain: bool, verify: bool, seconds: float
    ) -> None:
        super().__init__()
        self.refuted = False
        self._graph, self._explain, self._verify = graph, explain, verify
        self._seconds = seconds
        self._tape: Any = None
        self._passes: Any = None

    def __enter__(self) -> Reports:
        if self._graph or self._explain or self._verify:
            from ...functions.script_passes import recording, watched

            if self._verify:
                self._tape = self.enter_context(recording())
            after = self._tape.passed if self._tape is not None else None
            self._passes = self.enter_context(watched(self._report, after))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(None, None, None)
        if self._passes is not None and error is None:
            from ...functions.script_passes import times

            self._say(f"backward() ran at {line}" for line in times(self._passes))

    def _report(self, made: ScriptPass, run: Callable[..., object]) -> None:
        from ...answers.graph import tree
        from ...answers.graph_view import graph_view

        self._say([f"{made.place}: {made.name}.backward()"], "title")
        view = None
        if self._graph or self._explain:
            view = graph_view(
                made.root, source="", name=made.name, variables=made.variables
            )
        if self._graph and view is not None:
            self._write(tree(view, self._writer().layout))
        if self._verify:
            self._judge(made)
        if self._explain:
            self._write(self._explained(made, view, run))
        else:
            run()

    def _explained(
        self, made: ScriptPass, view: Any, run: Callable[..., object]
    ) -> Iterable[Line]:
        from ...answers.explanation import Explanation, explain, lines
        from ...answers.gradients import output_view
        from ...answers.names import NameCollector
        from ...answers.plain_numbers import plain
        from ...engine.tensor import ones_for

        names, root, given = NameCollector(), made.root, made.cotangent is not None
        names.settle((), made.variables, frozenset())
        start = ones_for(root) if made.cotangent is None else made.cotangent
        output = output_view(root, made.name, made.name != "output")
        steps = explain(root, start, names, view, run=run)
        found = Explanation("", output, plain(start.raw), given, steps)
        return lines(found, self._writer().layout)

    def _judge(self, made: ScriptPass) -> None:
        from ...answers.verdict_lines import proof_lines
        from ...functions.verify_function import judged

        proof = judged(self._tape, made, self._seconds)
        self.refuted = self.refuted or proof.verdict == "refuted"
        self._write(proof_lines(proof.lines(), proof.verdict))
        if proof.ran_out_of_time:
            self._say([MORE_TIME])

    def _writer(self) -> Any:
        from ...answers.writer import open_writer

        return open_writer(sys.stderr)

    def _write(self, lines: Iterable[Line]) -> None:
        writer = self._writer()
        writer.lines(lines)
        writer.flush()

    def _say(self, texts: Iterable[str], role: Role = "dim") -> None:
        from ...answers.line import Line

        self._write([Line((text, role)) for text in texts])
