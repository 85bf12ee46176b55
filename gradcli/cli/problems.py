"""Errors of the command line itself, worded and coded in one place.

Invariant: each has a code of the group E59x, says what to do instead, and carries its
exit status.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..lang.errors import ProgramError
from .exits import Exit

CODES = {
    "E405": "the limit on time",
    "E590": "a command line that does not fit the command",
    "E591": "an option that there is not",
    "E592": "a command that there is not",
    "E593": "no program was given",
    "E594": "a program that cannot be read",
    "E595": "an option's value that does not fit",
    "E596": "a derivative that the output does not have",
    "E597": "an operation that there is not",
    "E598": "output that cannot be written",
    "E599": "an error inside gradcli",
}


def wrong(code: str, message: str, hint: str | None = None) -> ProgramError:
    """The command line is wrong."""
    return ProgramError(code, message, hint=hint, exit_status=Exit.USAGE)


def usage(error: Exception) -> ProgramError | None:
    """What the option parser has to say; None if the error is not its own."""
    worded = getattr(error, "format_message", None)
    if worded is None:
        return None
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "gradcli"
    see = f"see {path} --help"
    option = getattr(error, "option_name", None)
    if context is None or option is None or not hasattr(error, "possibilities"):
        return wrong("E590", _sentence(worded()), see)
    from ..lang.suggest import did_you_mean

    known = [o for p in context.command.get_params(context) for o in p.opts]
    near = did_you_mean(option, [name for name in known if name.startswith("--")])
    behind = f"{see}; a program that looks like an option goes behind --"
    return wrong("E591", f"no such option: {option}", near or behind)


def _sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text[:1].lower() + text[1:]


def unknown_command(word: str, commands: Iterable[str]) -> ProgramError:
    """There is no such command; an expression in its place is told what to type."""
    from ..lang.suggest import did_you_mean

    known = tuple(commands)
    near = did_you_mean(word, known)
    example = "for a gradient: gradcli grad EXPR name=VALUE"
    hint = near or f"the commands are {', '.join(known)}; {example}"
    return wrong("E592", f"no such command: {word!r}", hint)


def cannot_write(reason: str) -> ProgramError:
    """Standard output does not take what is written."""
    message = f"cannot write to standard output: {reason}"
    hint = "is the disk full, or the stream closed?"
    return ProgramError("E598", message, hint=hint, exit_status=Exit.OUTPUT)


def out_of_memory() -> ProgramError:
    """The system gave no more memory."""
    return ProgramError("E403", "not enough memory", hint="use smaller arrays or loops")


def internal(error: Exception) -> ProgramError:
    """A mistake of ours."""
    return ProgramError(
        "E599",
        f"internal error: {type(error).__name__}: {error}",
        hint="this is a bug in gradcli: please report it with the output of --debug",
        exit_status=Exit.INTERNAL,
    )
