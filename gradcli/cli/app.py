"""The entry point: runs a command, and turns every outcome into an exit status.

Invariants: no traceback without `--debug`; Ctrl-C ends the process at once with status
130 from its first moment, and SIGTERM with 143, checking process included; a closed
pipe ends it quietly; output that cannot be written is an error. Importing this module
imports nothing slow, so that Ctrl-C is handled early.

    gradcli grad "x**3 + b" x=2 b=1
"""

from __future__ import annotations

import os
import sys

from . import anything_set, ending
from .commands import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from ..lang.errors import ProgramError

INTERNAL = 70
NO_MEMORY = 4

COMPLETION = (["--install-completion"], ["--show-completion"])

HELPING = frozenset({"config", "help", "--help", "--help-all", "-h"})
"""Commands and options that work even if settings are wrong."""

START = """\
Gradients, Jacobians and autograd graphs of what you type.

  gradcli grad "x^2*sin(x)"               the derivative as a formula
  gradcli grad "x^2*sin(x)" x=3           value and gradient, checked
  gradcli graph "x*y + x" x=2 y=3 --tree  the graph that PyTorch records
  gradcli check "y = x^3" --claim "dy/dx = 3*x^2"
  gradcli tour                            a first look around, in eight keys
  gradcli repl                            a session in which names stay
  gradcli --help                          all commands
"""


def main() -> NoReturn:
    """Run the command line given to this process, and end the process."""
    try:
        ending.begin(_abandon_files, lambda problem: _report(problem, sys.argv[1:]))
        # A graph has many small objects and no cycle among them, and a search for
        # cycles after every 700 takes as long as recording it.
        import gc

        gc.set_threshold(100_000, 50, 100)
        from .head_start import start_early

        start_early(sys.argv[1:])
        status = run(sys.argv[1:])
    except KeyboardInterrupt as interrupt:
        status = ending.status_of(interrupt)
    except Exception as error:
        status = _without_help(error)
    ending.leave(status)


def _abandon_files() -> None:
    """Remove files that are not completely written."""
    writing: Any = sys.modules.get("gradcli.tables.filesystem")
    if writing is not None:
        writing.abandon()


def _without_help(error: Exception) -> int:
    """Report an error where reporting itself fails; return the exit status."""
    if "--debug" in sys.argv:
        _show_traceback(error)
    code, status = "E599", INTERNAL
    message = f"{type(error).__name__}: {error}"
    hint = "is gradcli fully installed? see --debug"
    if isinstance(error, MemoryError):
        code, status = "E403", NO_MEMORY
        message, hint = "not enough memory", "the system allows too little: see ulimit"
    if sys.stderr is not None:
        message = message if message.isprintable() else ascii(message)
        sys.stderr.write(f"error[{code}]: {message}\n  = help: {hint}\n")
    return status


def run(argv: list[str]) -> int:
    """Run a command line and return its exit status; report failures on stderr."""
    from .output import (
        OutputFailed,
        PipeClosed,
        flush_warnings,
        output_failure,
        silence,
        standard_output,
    )
    from .problems import Exit, problem_of, with_command_name

    argv = with_command_name(argv)
    try:
        stream = standard_output(json="--json" in argv)
        status = _dispatch(argv)
        if not stream.closed:  # by a script
            stream.flush()
        flush_warnings()
        return status
    except (PipeClosed, BrokenPipeError):
        silence()
        return Exit.DONE
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # raised by the parser
            silence()
            return Exit.DONE
        return ended.code if isinstance(ended.code, int) else Exit.DONE
    except Exception as error:
        problem = output_failure(error) or problem_of(error)
        if isinstance(problem, OutputFailed):
            silence()
        elif "--debug" in argv:
            _show_traceback(error)
        if problem.missing:
            from .sources import with_command

            problem = with_command(problem, argv)
        _report(problem, argv)
        return problem.exit_status


def _show_traceback(error: Exception) -> None:
    import traceback

    from .output import BREAKS, note

    note("".join(traceback.format_exception(error.__cause__ or error))[:-1], BREAKS)


def _dispatch(argv: list[str]) -> int:
    from .limits import make_room

    _look_as_set(argv)
    if argv and argv[0] in COMMANDS and ending.process_is_ours:
        make_room(argv)
    if not argv:
        from .keyboard import terminal

        if terminal():
            sys.stdout.write(START)
            return 0
    if os.environ.get("_GRADCLI_COMPLETE") or argv[:1] in COMPLETION:
        from .completion import complete

        return complete(argv)
    from .group import application

    return application(argv or ["--help"])


def _look_as_set(argv: list[str]) -> None:
    """Apply the settings of colours and width; if they are wrong, help still works."""
    if not anything_set():
        return
    from ..lang.errors import ProgramError
    from .defaults import looks

    try:
        looked = looks()
    except ProgramError:
        if argv and argv[0] in COMMANDS and HELPING.isdisjoint(argv):
            raise
        return
    if looked:
        from ..answers.writer import prefer

        prefer(**looked)


def _report(problem: ProgramError, argv: list[str]) -> None:
    """Report an error as a block, or with `--json` as an object; never fail."""
    if "--json" in argv:
        from ..answers.jsons import dumps
        from ..answers.writer import taken

        text = dumps({**problem.as_dict(), "notes": taken()})
    else:
        text = problem.render()
    from .output import BREAKS, note

    note(text, BREAKS)
    if "--json" not in argv and anything_set():
        from .defaults import explained

        for each in explained(text):
            note(each)
