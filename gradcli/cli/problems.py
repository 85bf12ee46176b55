"""Errors of the command line itself, worded in one place, and the exit statuses.

Invariants: each error has a code of `documents/errors.md`, which decides its exit
status, and says what to do instead. A status means the same in every command; scripts
may rely on it. `PROGRAM` means that the program or a value is wrong, or that a descent
reached a loss that is not finite; its last finite point is printed all the same.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import PurePath
from typing import Any

from ..lang import errors
from ..lang.errors import MORE_MEMORY, ProgramError
from ..lang.excerpt import shortened
from ..lang.process import is_out_of_memory
from ..lang.suggest import did_you_mean
from ..ops.checks import EngineError, LimitError
from ..tables.filesystem import path_of, reason_of, replacing
from .commands import COMMANDS


class Exit(IntEnum):
    """Exit status of a run."""

    DONE = 0
    REFUTED = 1
    USAGE = errors.COMMAND_LINE_IS_WRONG
    PROGRAM = errors.PROGRAM_IS_WRONG
    LIMIT = errors.LIMIT_REACHED
    INTERNAL = errors.INTERNAL_ERROR
    OUTPUT = errors.OUTPUT_FAILED
    INTERRUPTED = 130


_PAGES = {
    **dict.fromkeys(("-help", "-?"), "gradcli --help"),
    **dict.fromkeys(("version", "-v", "-V"), "gradcli --version"),
    "completion": "gradcli --install-completion",
    "div": "gradcli value 'div([x*y, y^2])' x=1 y=2",
    **dict.fromkeys(("curl", "rot"), "gradcli value 'curl([-y, x, 0])' x=1 y=2"),
    **dict.fromkeys(("lap", "laplacian"), "gradcli value 'lap(x^2*y)' x=1 y=2"),
    "tangent": "gradcli taylor 'x^2 + 1' x=1 --order 1",
    **dict.fromkeys(("partial", "partials"), "gradcli grad 'x^2*y' --wrt x"),
}
"""Words that are typed in place of a command, and the command that shows what they ask
for."""

_MEANT = {
    **dict.fromkeys(("gradient", "gradients", "derivative", "derive", "diff",
                     "differentiate", "backward", "deriv", "derivatives", "nabla",
                     "implicit", "sweep", "table", "tabulate"), "grad"),
    **dict.fromkeys(("eval", "evaluate", "compute", "calc", "forward"), "value"),
    **dict.fromkeys(("minimize", "minimise", "optimize", "optimise", "train", "fit",
                     "extrema", "critical"), "descend"),
    **dict.fromkeys(("draw", "show", "tree"), "graph"),
    **dict.fromkeys(("functions", "operations"), "ops"),
    **dict.fromkeys(("settings", "set"), "config"),
    **dict.fromkeys(("shell", "session", "interactive"), "repl"),
    **dict.fromkeys(("claim", "prove"), "check"),
    **dict.fromkeys(("steps", "solution"), "explain"),
    **dict.fromkeys(("curve", "chart", "sketch"), "plot"),
    "jac": "jacobian", "hess": "hessian",
}  # fmt: skip
"""Commands of other programs, and the command here that does the same."""

_MOVED = {
    "--plot": 'write gradcli plot, as in gradcli plot "x^2" x=-3..3',
    "--chain": "gradcli grad lists the nodes, gradcli graph --json has next_functions",
    "--theme": "it is a setting: gradcli config theme dark, or GRADCLI_THEME=dark",
    **dict.fromkeys(("--at", "--point", "--values"),
                    "values stand behind the program: x=1 y=2"),
    "--range": "a range is a value of plot, x=-3..3, or of --sweep, x=-3..3:7",
    "--csv": "the rows of grad --sweep or --table are CSV; --out t.csv writes them",
}  # fmt: skip
"""Options that there are not, and where to go for what they would do."""

_SAME = {
    **dict.fromkeys(("--output", "--save", "--npz", "--parquet", "--xlsx"), "--out"),
    **dict.fromkeys(("--formula", "--formulas"), "--symbolic"),
    **dict.fromkeys(("--iterations", "--iters", "--epochs"), "--steps"),
    **dict.fromkeys(("--rate", "--learning-rate", "--step-size"), "--lr"),
    **dict.fromkeys(("--optim", "--opt", "--method"), "--optimizer"),
    **dict.fromkeys(("--silent", "--short"), "--quiet"),
    **dict.fromkeys(("--tol", "--eps"), "--tolerance"),
    **dict.fromkeys(("--by", "--vars", "--variables"), "--wrt"),
    "--degree": "--order", "--data": "--table", "--tex": "--latex", "--input": "--file",
}  # fmt: skip
"""Options as other programs call them, and what they are called here."""

_NO_FILE = "gradcli {} writes no file itself: put > FILE behind it"

_PICTURES = ("svg", "html", "png", "pdf")


def wrong(code: str, message: str, hint: str | None = None) -> ProgramError:
    """Return an error of the command line, which has no span in a program."""
    return ProgramError(code, message, hint=hint)


def typed(**options: object) -> list[str]:
    """Return the options that were given, as they are typed."""
    return [f"--{name.replace('_', '-')}" for name, value in options.items() if value]


def refuse_both(options: Sequence[str]) -> None:
    """Refuse options that exclude each other, if several were given."""
    if len(options) > 1:
        message = f"{' and '.join(options[:2])} exclude each other"
        raise wrong("E590", message, "choose one of them")


def usage(error: Exception) -> ProgramError | None:
    """Return an error of the option parser in gradcli's words; None for other
    errors."""
    worded = getattr(error, "format_message", None)
    if worded is None:
        return None
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "gradcli"
    see = f"see {path} --help"
    if context is not None and getattr(error, "param", None) is not None:
        return _bad_value(error, path, see)
    option = getattr(error, "option_name", None)
    if context is None or option is None or not hasattr(error, "possibilities"):
        text = " ".join(worded().split()).rstrip(".")
        extra = r"^Got unexpected extra argument\S* \((.*)\)$"
        text = re.sub(extra, r"too many words: \1", text)
        return wrong("E590", text[:1].lower() + text[1:], see)
    known = [o for p in context.command.get_params(context) for o in p.opts]
    same, name = _SAME.get(option), option.lstrip("-")
    long = [each for each in known if each.startswith("--")]
    begun = [each for each in long if name and each.startswith(option)]
    # The parser reads `-wrt` as letters.
    begun += [f"-{word}" for word in sys.argv if f"-{word}" in long]
    hint = did_you_mean(option, long)
    if len(begun) == 1 and option != "--":
        hint = f"did you mean '{begun[0]}'?"
    command = name if name in COMMANDS else _MEANT.get(name)
    if command is not None and len(name) > 1:
        hint = hint or f"that is a command: gradcli {command} --help"
    hint = f"it is called {same}" if same in known else _MOVED.get(option, hint)
    if option in ("-o", "--out", *(each for each in _SAME if _SAME[each] == "--out")):
        hint = hint if "--out" in known else _NO_FILE.format(context.info_name)
    elif re.match(r"[\d.]", name):
        hint = "a number or a range belongs to a name: x=-3, x=-3..3"
    elif option in ("--table", "--data") and "--table" not in known:
        hint = "a column of a table is an input: x=@points.csv:x"
    elif "--max-program" in known and not begun and len(name) == 1 and name.isalpha():
        hint = f"{see}; a value of an input has no dash: {name}=3"
    elif context.info_name == "graph" and name in _PICTURES:
        hint = f"write a picture with -o g.{name}"
    elif context.info_name == "config" and len(name) > 1:
        hint = f"a setting has no dashes: gradcli config {name}"
    behind = f"{see}; a program that looks like an option goes after --"
    return wrong("E591", f"no such option: {option}", hint or behind)


def _bad_value(error: Any, path: str, see: str) -> ProgramError:
    """Return the error for a value that the option parser refuses, or for a missing
    word."""
    option = max(error.param.opts, key=len)
    given, told, wanted = error.message.partition(" is not ")
    if not told:
        return wrong("E590", f"{path} needs {error.param.make_metavar(error.ctx)}", see)
    kind = getattr(error.param.type, "name", "").removesuffix(" range")
    if kind in ("int", "float"):
        number = "an integer" if kind == "int" else "a number"
        wanted = f"{number}{_bounds(error.param.type)}"
    small = given.strip("'").lower()
    meant = did_you_mean(small, map(str, getattr(error.param.type, "choices", ())))
    said = f"{option}: {given} is not {wanted.rstrip('.')}"
    return wrong("E595", said, meant or see)


def _bounds(numbers: object) -> str:
    least, most = getattr(numbers, "min", None), getattr(numbers, "max", None)
    if most is None:
        return "" if least is None else f" of at least {least:g}"
    return f" of at most {most:g}" if least is None else f" from {least:g} to {most:g}"


def unknown_command(word: str) -> ProgramError:
    """Return the error for an unknown command."""
    hint = _advice(word) or f"the commands are {', '.join(COMMANDS)}"
    return wrong("E592", f"no such command: {word!r}", hint)


def _advice(word: str) -> str | None:
    """Return what to type in place of a word that is no command; None if nothing there
    is comes near it."""
    if word in _PAGES:
        return f"type {_PAGES[word]}"
    if re.fullmatch(r"[Ee]\d{3}", word):
        return f"gradcli help {word.upper()} says what it means"
    meant = _MEANT.get(word.lower())
    if meant is not None:
        return f"it is called {meant}: gradcli {meant} --help"
    return did_you_mean(word, COMMANDS)


def with_command_name(argv: list[str]) -> list[str]:
    """Return a command line that begins with a command: what is no word of this program
    is a formula, and its command `grad`."""
    word = argv[0] if argv else "--"
    of_group = word.startswith("--") or word in ("-h", "-V")
    behind = word.startswith("-") and any(each in COMMANDS for each in argv)
    if of_group or behind or word.isalpha() or word in COMMANDS or _advice(word):
        return argv
    return ["grad", *argv]


def suffix_of(path: str, endings: Iterable[str]) -> str:
    """Return the suffix of a file's name, which is to be one of the endings."""
    suffix = PurePath(path).suffix.lower()
    if suffix not in endings:
        said = f"ends with {suffix!r}, which is no picture"
        said = said if suffix else "has no ending that says which picture"
        hint = f"end the name with one of {', '.join(endings)}"
        raise wrong("E595", f"--out: {path!r} {said}", hint)
    return suffix


def put(path: str, content: bytes, hint: str, folders: bool = False) -> None:
    """Write a file, in folders that are made if that is wanted."""
    try:
        if folders:
            path_of(path).parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        reason = error.strerror or str(error)
        raise wrong("E598", f"cannot write {path}: {reason}", hint) from None


def _refused_by_system(error: OSError) -> ProgramError:
    """Return the error for a file, or whatever else the system refuses to give."""
    name = error.filename
    what = "the system" if name is None else repr(shortened(os.fsdecode(name)))
    hint = "is the name right, and may you use the file and its folder?"
    return wrong("E512", f"{what} refuses: {reason_of(error)}", hint)


def problem_of(error: Exception) -> ProgramError:
    """Return what is reported of any exception; one without a meaning is a bug."""
    if isinstance(error, ProgramError):
        return error
    if is_out_of_memory(error):
        return wrong("E403", "not enough memory", MORE_MEMORY)
    worded = usage(error)
    if worded is not None:
        return worded
    if isinstance(error, OSError):
        return _refused_by_system(error)
    if isinstance(error, UnicodeEncodeError):
        text = ascii(error.object[max(0, error.start - 20) : error.end])
        message = f"{text} ends with half a character, which is no text in UTF-8"
        return wrong("E595", message, "take it out, or let --out write .jsonl")
    if isinstance(error, LimitError):
        return wrong("E403", str(error), MORE_MEMORY)
    if isinstance(error, EngineError):
        return wrong("E399", str(error))
    hint = "this is a bug in gradcli: please report it with the output of --debug"
    return wrong("E599", f"internal error: {type(error).__name__}: {error}", hint)
