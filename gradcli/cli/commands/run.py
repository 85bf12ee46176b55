"""``gradcli run``: runs a PyTorch script with gradcli in the place of torch."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from itertools import chain
from os.path import isfile
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from typer import Argument, Option
from typer.core import TyperCommand

from ...answers.explanation import Explanation, explain, lines, rule_letters
from ...answers.gradients import output_view
from ...answers.graph import tree
from ...answers.graph_comparison import compare
from ...answers.graph_comparison import lines as comparison_lines
from ...answers.graph_view import NameCollector, graph_view
from ...answers.line import Line, chosen
from ...answers.numbers import briefly, plain
from ...answers.textbook_rules import Rules, rules_of, worded_rules
from ...answers.verdict_lines import proof_lines
from ...answers.writer import open_writer
from ...engine.tensor import ones_for
from ...lang.errors import text_of
from ...pictures.picture import picture_of, values
from ...pictures.shown import ENDINGS, ShownGraph
from .. import ending
from ..group import HelpPage, stand_in
from ..options import Debug, VerifySeconds
from ..output import BREAKS, MORE_TIME, nobody_reads, note, warn
from ..problems import Exit, put, suffix_of, wrong

if TYPE_CHECKING:
    from ...answers.graph_view import GraphView
    from ...answers.line import Role
    from ...functions.pytorch_passes import PyTorchRun
    from ...functions.script_passes import ScriptPass
    from ...lang.errors import ProgramError


_READS_WORDS: Final = re.compile(rb"argv|argparse|click|typer|docopt|\bfire\b|hydra")
"""Pattern of text in scripts that read words of the command line."""


class ScriptCommand(HelpPage, TyperCommand):
    """A command whose words after the script are the script's own."""

    allow_interspersed_args = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = _with_file(args)
        words = self._script(ctx, args)
        args = [*args[: len(args) - len(words)], *_in_front(words)]
        words = self._script(ctx, args)
        stand_in(ctx, self, args[: len(args) - len(words)])
        return super().parse_args(ctx, args)

    def _script(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the script and the words behind it."""
        values, _, _ = self.make_parser(ctx).parse_args([*args])
        return [*(values.get("words") or ())]


COMMAND = ScriptCommand


def _with_file(args: list[str], start: int = 0) -> list[str]:
    """Return the words with ``--out FILE`` for ``--graph FILE``, up to the script; a
    file of a picture is no script. The script is ``args[0]`` if ``start`` is 1."""
    words = [*args]
    for at in range(start, len(words)):
        before = words[at - 1] if at else ""
        if (
            words[at] == "--graph"
            and PurePath("".join(words[at + 1 : at + 2])).suffix in ENDINGS
        ):
            words[at] = "--out"
        elif not start and not words[at].startswith("-") and before not in _VALUED:
            break
    return words


def _in_front(words: list[str]) -> list[str]:
    """Return the words with the options of this command, which may stand behind a
    script that reads no words, in front of the script."""
    if (
        not words
        or not isfile(words[0])
        or not {*OWN, "--beside"}.intersection(words[1:])
    ):
        return words
    if _READS_WORDS.search(Path(words[0]).read_bytes()) is not None:
        return words
    own: list[str] = []
    others: list[str] = []
    behind = iter(_with_file(words, 1)[1:])
    for word in behind:
        if word in _VALUED:
            own += [word, next(behind, "")]
        elif word in OWN or word.partition("=")[0] in _VALUED:
            own.append(word)
        else:
            others.append(word)
    return [*own, words[0], *others]


VERIFY_SECONDS = 5.0
"""Seconds for verifying one backward pass."""

OWN: Final = frozenset({"--graph", "--explain", "--verify"})
"""Options without a value that only this command has."""

_VALUED: Final = frozenset({"--out", "-o", "--beside", "--verify-seconds"})
"""Options with a value."""


def main(
    words: Annotated[
        list[str],
        Argument(
            metavar="SCRIPT.py [ARGS]...", help="The script and its own arguments."
        ),
    ],
    graph: Annotated[
        bool,
        Option(
            "--graph",
            help="Draw the graph of each backward() on stderr. --graph g.html writes "
            "it to a file.",
        ),
    ] = False,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a picture of the graph: .svg, .html, .png, .dot, .mmd, .json. "
            "Further backward() calls go to FILE-2 and so on.",
        ),
    ] = None,
    beside: Annotated[
        Literal["torch"] | None,
        Option(
            "--beside",
            help="With --graph: run the script with PyTorch first, and show where the "
            "graphs differ.",
        ),
    ] = None,
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

    This executes the file. --graph, --explain and --verify report the first backward()
    of each line on stderr, with file and line. Options come before the script. Words
    behind the script are its arguments, unless it does not read its command line.

    Example: gradcli run --verify train.py --epochs 3

    Example: gradcli run train.py --graph out.html
    """
    path = Path(words[0])
    if not isfile(path):
        raise wrong("E511", f"there is no file {words[0]!r}", "name a script: train.py")
    if verify_seconds != VERIFY_SECONDS and not verify:
        message = "--verify-seconds does nothing: nothing is verified"
        raise wrong("E590", message, "add --verify, or leave it out")
    suffix = "" if out is None else suffix_of(out, ENDINGS)
    if beside is not None and not graph:
        raise wrong("E590", "--beside compares graphs", "add --graph")
    theirs = None
    if beside is not None:
        from ...functions.pytorch_passes import PyTorchRun

        note(f"note: {path} is run twice, by PyTorch first")
        theirs = PyTorchRun.of(path, words[1:], ending.before_exit)
    shown = Shown(graph, explain, verify, verify_seconds, out, suffix, theirs)
    with Reports(shown) as reports:
        status = _executed(path, words[1:])
    return Exit.REFUTED if reports.refuted and not status else status


def _executed(path: Path, arguments: list[str]) -> int:
    """Run a script to the end of its last thread; return its exit status."""
    from ...answers.callers import is_internal
    from ...functions.user_files import restored, run

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

    where = place_of(error.__traceback__)
    said = lacking(error)
    if said is not None:
        hint = "gradcli help pytorch says what is covered"
        return wrong("E101", f"{said} ({where})" if where else said, hint)
    kind, text = type(error).__name__, text_of(error)
    shown = f"{kind}: {text}" if text else kind
    message = f"the script raises {shown} ({where})" if where else shown
    return wrong("E513", message, "--debug shows Python's traceback")


@dataclass(frozen=True, slots=True)
class Shown:
    """The parts of the report on a backward pass.

    graph    whether its graph is drawn
    explain  whether its steps are written out
    verify   whether its gradients are verified, in so many ``seconds``
    out      the file of the first picture; None: none is written
    suffix   the suffix of that file
    theirs   the passes of PyTorch; None: they are not compared
    """

    graph: bool
    explain: bool
    verify: bool
    seconds: float
    out: str | None
    suffix: str
    theirs: PyTorchRun | None

    def __bool__(self) -> bool:
        return self.graph or self.explain or self.verify or self.out is not None


class Reports(ExitStack):
    """A block in which passes are reported; ``refuted`` tells whether a gradient was
    refuted."""

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self.refuted = False
        self._shown = shown
        self._places: list[tuple[str, int]] = []
        self._tape: Any = None
        self._passes: Any = None

    def __enter__(self) -> Reports:
        if self._shown:
            from ...functions.script_passes import recording, watched

            if self._shown.verify:
                self._tape = self.enter_context(recording())
            after = self._tape.passed if self._tape is not None else None
            self._passes = self.enter_context(watched(self._report, after))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        super().__exit__(None, None, None)
        if self._passes is None or error is not None:
            return
        from ...functions.script_passes import times

        self._say(f"backward() ran at {line}" for line in times(self._passes))
        if not self._places and self._shown.out is not None:
            hint = "gradcli graph FILE.py:NAME draws a tensor of a file"
            note(f"note: nothing was drawn: no backward() ran; {hint}")
        theirs = self._shown.theirs
        if theirs is not None:
            for file, line in theirs.views.keys() - {*self._places}:
                place = f"{Path(file).name}:{line}"
                self._say([f"{place}: PyTorch ran backward(), gradcli did not"])
            if theirs.error:
                note(f"note: PyTorch stopped with {theirs.error}")

    def _report(self, made: ScriptPass, run: Callable[..., object]) -> None:
        self._say([f"{made.place}: {made.name}.backward()"], "title")
        self._places.append((made.file, made.line))
        shown, view = self._shown, None
        if shown.graph or shown.explain or shown.out is not None:
            view = graph_view(
                made.root, source="", name=made.name, variables=made.variables
            )
        names = NameCollector()
        names.settle((), made.variables, frozenset())
        if shown.graph and view is not None:
            self._compare(made, view, names)
        if shown.verify:
            self._judge(made)
        if view is None or not (shown.explain or shown.out is not None):
            run()
            return
        root, rules, picture = made.root, Rules(names, view), None
        if shown.out is not None:
            # The pass frees what values and rules are read from.
            picture = picture_of(root, view, values(root, {}), rules)
        stated = rules_of(root, view) if shown.explain else None
        start = ones_for(root) if made.cotangent is None else made.cotangent
        form = plain if shown.explain else briefly
        steps = explain(root, start, names, view, form, run, rules)
        if stated is not None:
            output = output_view(root, made.name, made.name != "output")
            given, letters = (
                made.cotangent is not None,
                rule_letters(steps, rules.taken),
            )
            found = Explanation("", output, plain(start.raw), given, steps, letters)
            self._write(lines(found, self._writer().layout, stated))
        if picture is not None:
            self._draw(ShownGraph(view, picture.after(steps, {})))

    def _compare(self, made: ScriptPass, view: GraphView, names: NameCollector) -> None:
        """Draw a pass's graph, or show it beside PyTorch's."""
        layout = self._writer().layout
        if self._shown.theirs is None:
            rule = worded_rules(made.root, names, view)
            self._write(chain(tree(view, layout, rule), rule.legend()))
            return
        theirs = self._shown.theirs.views.get((made.file, made.line))
        if theirs is None:
            self._say(["  PyTorch did not come to this backward()"])
        else:
            self._write(comparison_lines(compare(view, theirs), layout))

    def _draw(self, drawn: ShownGraph) -> None:
        """Write the picture of a pass to the next file."""
        path = PurePath(str(self._shown.out))
        count = len(self._places)
        if count > 1:
            path = path.with_stem(f"{path.stem}-{count}")
        try:
            content = drawn.content(self._shown.suffix, theme=chosen.name, tell=warn)
        except ValueError as error:
            note(f"note: {path} is not written: {error}")
            return
        put(str(path), content, "give a file in a folder that can be written to")
        nodes = len(drawn.picture.nodes)
        self._say([f"written to {path}: {nodes:,} node{'s' * (nodes != 1)}"])

    def _judge(self, made: ScriptPass) -> None:
        from ...functions.verify_function import judged

        proof = judged(self._tape, made, self._shown.seconds)
        self.refuted = self.refuted or proof.verdict == "refuted"
        self._write(proof_lines(proof.lines(), proof.verdict))
        if proof.ran_out_of_time:
            self._say([MORE_TIME])

    def _writer(self) -> Any:
        return open_writer(sys.stderr)

    def _write(self, lines: Iterable[Line]) -> None:
        writer = self._writer()
        writer.lines(lines)
        writer.flush()

    def _say(self, texts: Iterable[str], role: Role = "dim") -> None:
        self._write([Line((text, role)) for text in texts])
