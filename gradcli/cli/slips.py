"""Slips on a command line that the words beside a wrong one give away.

Invariant: nothing is refused here that could be read as it stands; each refusal shows
the line put right.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os.path import exists
from typing import Final

from ..lang.errors import ProgramError
from ..lang.span import Span
from .commands import COMMANDS

_VALUE: Final = re.compile(r"\s*[^\W\d]\w*\s*=\s*(@.*|[^=A-Za-z_]+)")
"""A value of an input: a file or numbers."""

_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*(=.*)?")


def refuse(program: str, words: Sequence[str], wrt: str | None) -> None:
    """Refuse a word that gives no value, where it is plain what was meant.

    Args:
        program: the word that is taken as the program.
        words: those behind it, each to be ``NAME=VALUE``.
        wrt: what stands behind ``--wrt``.

    Raises:
        ProgramError: one gives no value, and the others say why.
    """
    at = next((at for at, word in enumerate(words) if "=" not in word), None)
    if at is None or not words[at].strip():
        return
    word = words[at]
    there = [each for each in (program, *words) if exists(each)]
    bound = [each.partition("=")[0] for each in words if "=" in each]
    if len(there) > 1:
        hint = "the shell puts files in the place of a *: quote the program, 'x*y'"
        raise _wrong(f"{there[0]} and {there[1]} are names of files", None, word, hint)
    if _OPTION.fullmatch(word):
        hint = "write options before --, and the program behind it"
        raise _wrong("an option behind -- is taken as a value", None, word, hint)
    if program in COMMANDS:
        hint = f"leave one {program} out"
        raise _wrong(f"{program} is taken as the program", None, word, hint)
    if _VALUE.fullmatch(program) and not word.strip().isidentifier():
        hint = f"write the program first: '{word}' {program}"
        raise _wrong(f"'{program}' is taken as the program", None, word, hint)
    whole = _cut(words, at)
    if whole is not None:
        hint = f"put quotes around a value with blanks: '{whole}'"
        raise _wrong("a value is cut in two by a blank", _all_of(word), word, hint)
    if wrt is not None and word in bound:
        hint = f"write names without blanks: --wrt {wrt},{word}"
        raise _wrong("this argument is not NAME=VALUE", _all_of(word), word, hint)
    if there == [word]:
        name = next((n for n in ("x", "X") if n not in bound), "data")
        hint = f"to read the file as a value, write {name}=@{word}"
        raise _wrong("this argument is not NAME=VALUE", _all_of(word), word, hint)


def _cut(words: Sequence[str], at: int) -> str | None:
    """The value that begins in the word before this one and ends in it or behind it,
    by its brackets; None where none is open there."""
    text = words[at - 1] if at else ""
    for word in ("", *words[at:]):
        text = f"{text} {word}".rstrip()
        opened = sum(text.count(sign) for sign in "([")
        if opened == sum(text.count(sign) for sign in ")]"):
            return text if word else None
    return None


def _all_of(word: str) -> Span:
    return Span(0, len(word))


def _wrong(message: str, span: Span | None, word: str, hint: str) -> ProgramError:
    return ProgramError("E501", message, span, word, hint=hint)
