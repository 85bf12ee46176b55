"""Errors of the command line itself, worded in one place, and the exit statuses.

Invariants: each error has a code of `lang.errors.CODES`, which decides its exit status,
and says what to do instead. A status means the same in every command; scripts may rely
on it. `PROGRAM` means that the program or a value is wrong, or that a descent reached a
loss that is not finite; its last finite point is printed all the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Any

from ..lang import errors
from ..lang.errors import MORE_MEMORY, ProgramError
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
}
"""Words that are typed in place of a command, and the command that shows what they ask
for."""

_MEANT = {
    **dict.fromkeys(("gradient", "gradients", "derivative", "derive", "diff",
                     "differentiate", "backward"), "grad"),
    **dict.fromkeys(("eval", "evaluate", "compute", "calc", "forward"), "value"),
    **dict.fromkeys(("minimize", "minimise", "optimize", "optimise", "train", "fit"),
                    "descend"),
    **dict.fromkeys(("draw", "show", "tree"), "graph"),
    **dict.fromkeys(("functions", "operations"), "ops"),
    **dict.fromkeys(("settings", "set"), "config"),
    **dict.fromkeys(("shell", "session", "interactive"), "repl"),
    **dict.fromkeys(("claim", "prove"), "check"),
    "jac": "jacobian", "hess": "hessian",
}  # fmt: skip
"""Commands of other programs, and the command here that does the same."""

_MOVED = {
    "--plot": 'write gradcli plot, as in gradcli plot "x^2" x=-3..3',
    "--chain": "gradcli grad lists the nodes, gradcli graph --json has next_functions",
    "--theme": "it is a setting: gradcli config theme dark, or GRADCLI_THEME=dark",
}
"""Options that there are not, and where to go for what they would do."""

_PICTURES = ("svg", "html", "png", "pdf", "graphml")


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
    from ..lang.suggest import did_you_mean

    known = [o for p in context.command.get_params(context) for o in p.opts]
    hint = did_you_mean(option, [name for name in known if name.startswith("--")])
    name = option.lstrip("-")
    hint = _MOVED.get(option, hint)
    if option == "-o":
        own = f"gradcli {context.info_name} writes a file with --out"
        hint = own if "--out" in known else "a picture is written by gradcli graph -o"
    elif "--max-program" in known and len(name) == 1 and name.isalpha():
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
    meant = small in getattr(error.param.type, "choices", ())
    said = f"{option}: {given} is not {wanted.rstrip('.')}"
    return wrong("E595", said, f"did you mean '{small}'?" if meant else see)


def _bounds(numbers: object) -> str:
    least, most = getattr(numbers, "min", None), getattr(numbers, "max", None)
    if most is None:
        return "" if least is None else f" of at least {least:g}"
    return f" of at most {most:g}" if least is None else f" from {least:g} to {most:g}"


def unknown_command(word: str, *others: str) -> ProgramError:
    """Return the error for an unknown command; for an expression the hint is what to
    type."""
    from ..lang.suggest import did_you_mean

    advice = f"type {_PAGES[word]}" if word in _PAGES else did_you_mean(word, COMMANDS)
    if re.fullmatch(r"[Ee]\d{3}", word):
        advice = f"gradcli help {word.upper()} says what it means"
    meant = _MEANT.get(word.lower())
    if meant is not None:
        advice = f"it is called {meant}: gradcli {meant} --help"
    if advice is None and not word.isalpha():
        import shlex

        advice = f"for a gradient: {shlex.join(['gradcli', 'grad', word, *others])}"
    hint = advice or f"the commands are {', '.join(COMMANDS)}"
    return wrong("E592", f"no such command: {word!r}", hint)


def suffix_of(path: str, endings: Iterable[str]) -> str:
    """Return the suffix of a file's name, which is to be one of the endings."""
    from pathlib import PurePath

    suffix = PurePath(path).suffix.lower()
    if suffix not in endings:
        said = f"ends with {suffix!r}, which is no picture"
        said = said if suffix else "has no ending that says which picture"
        hint = f"end the name with one of {', '.join(endings)}"
        raise wrong("E595", f"--out: {path!r} {said}", hint)
    return suffix


def put(path: str, content: bytes, hint: str, folders: bool = False) -> None:
    """Write a file, in folders that are made if that is wanted."""
    from ..lang.filesystem import path_of, replacing

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
    from ..lang.excerpt import shortened
    from ..lang.filesystem import reason_of

    name = error.filename
    what = "the system" if name is None else repr(shortened(os.fsdecode(name)))
    hint = "is the name right, and may you use the file and its folder?"
    return wrong("E512", f"{what} refuses: {reason_of(error)}", hint)


def problem_of(error: Exception) -> ProgramError:
    """Return what is reported of any exception; one without a meaning is a bug."""
    from ..lang.process import is_out_of_memory
    from ..ops.checks import EngineError, LimitError

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
        return wrong("E509", message, "take it out, or let --out write .jsonl")
    if isinstance(error, LimitError):
        return wrong("E403", str(error), MORE_MEMORY)
    if isinstance(error, EngineError):
        return wrong("E399", str(error))
    hint = "this is a bug in gradcli: please report it with the output of --debug"
    return wrong("E599", f"internal error: {type(error).__name__}: {error}", hint)
