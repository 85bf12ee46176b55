"""Questions made from the words of a command line.

The program comes from the command line, a file, or standard input.

Invariants: the text is UTF-8, or an error says where it is not; standard input is read
for one thing only. A slip that the other words give away is refused with the corrected
line; words that may be meant as they stand are not refused.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from os.path import exists, isfile
from typing import IO, TYPE_CHECKING, Final
from unicodedata import normalize

from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.excerpt import Span, printable
from .commands import COMMANDS
from .limits import begin
from .options import Request
from .output import tell
from .problems import wrong

if TYPE_CHECKING:
    from ..answers.question import Question

STDIN = "-"

_VALUE: Final = re.compile(r"\s*[^\W\d]\w*\s*=\s*(@.*|[^=A-Za-z_]+)")
"""Pattern of an input with a value that is a file or numbers."""

_OPTION: Final = re.compile(r"--?[A-Za-z][\w-]*(=.*)?")

_SIZES = re.compile(r"[(\[]?\s*(\d{1,100}(\s*[,x]\s*\d{1,100})*)?\s*,?\s*[)\]]?")
"""Pattern of the sizes in the value of ``--shape``."""

_PROGRAM_FILE = re.compile(r"[^()\s]+\.(grad|py|txt)")


def question_of(request: Request, grad_output: str | None = None) -> Question:
    """Return the question that a command line asks, and start the limits on its work.

    Raises:
        ProgramError: there is no program, it cannot be read, or a word is not a value.
    """
    from ..answers.question import Question

    source, words = program_and_bindings(request)
    asked = [word for word in words if not _is_plain(word.partition("=")[2])]
    if asked:
        from .readings import readings

        for text in readings(asked):
            tell(printable(text))
    begin()
    return Question(
        source,
        read_bindings(words),
        of=request.of,
        wrt=listed(request.wrt),
        shapes=shapes_of(request.shape),
        seed=request.seed,
        strict=request.strict,
        dtype=request.dtype,
        device=request.device,
        grad_output=grad_output,
        seconds=request.verify_seconds,
        verified=not request.no_verify,
        tell=tell,
    )


def shapes_of(words: Sequence[str] | None) -> dict[str, tuple[int, ...]]:
    """Return the shapes in ``X=3,2``, ``X=(3,2)`` or ``X=3x2``; ``x=()`` means a
    number."""
    found: dict[str, tuple[int, ...]] = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier() or not _SIZES.fullmatch(text.strip()):
            span = Span(0, max(1, len(word)))
            message = "this is not a shape"
            raise ProgramError(
                "E595", message, span, word,
                hint="write --shape X=3,2", exit_status=2,
            )  # fmt: skip
        if name in found:
            raise wrong("E595", f"--shape: '{name}' has two shapes", "keep one")
        found[name] = tuple(int(n) for n in re.findall(r"\d+", text))
    return found


def _is_plain(value: str) -> bool:
    """Return whether a value can be read in one way only: a number, or no numeral at
    all."""
    if value[:1] not in "+-0123456789":
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True


def listed(text: str | None) -> list[str] | None:
    """Return the names in an option's text, as the language spells them."""
    if text is None:
        return None
    names = normalize("NFC", text).split(",")
    return [name.strip() for name in names if name.strip()]


def program_and_bindings(request: Request) -> tuple[str, list[str]]:
    """Return the program's text and the ``NAME=VALUE`` words.

    Raises:
        ProgramError: there is no program, or it cannot be read.
    """
    words = list(request.words or ())
    origin = request.file
    if origin is None:
        if not words:
            raise wrong("E593", "no program", 'give one: gradcli grad "x**2" x=3')
        origin = words.pop(0)
        if not all("=" in word for word in words):
            refuse_slip(origin, words, request.wrt)
        if origin != STDIN:
            if _PROGRAM_FILE.fullmatch(origin) and isfile(origin):
                message = f"{origin!r} is the name of a file"
                raise wrong("E594", message, f"to read it: -f {origin}")
            return origin, words
    _refuse_second_program(origin, words)
    if origin == STDIN:
        if any(word.endswith("=@-") for word in words):
            hint = "save one of them to a file"
            raise wrong(
                "E594", "standard input cannot be both the program and a value", hint
            )
        return _decoded(_standard_input(request.max_program), "standard input"), words
    return _decoded(_contents(origin, request.max_program), origin), words


def _refuse_second_program(origin: str, words: list[str]) -> None:
    second = words[0].strip() if words else ""
    if second and "=" not in second and not second.isidentifier():
        whence = "standard input" if origin == STDIN else repr(origin)
        message = f"two programs: {second!r} and what {whence} holds"
        raise wrong("E590", message, "keep one; a value is NAME=VALUE")


def _contents(path: str, limit: int) -> bytes:
    try:
        with open(path, "rb") as file:
            return _read(file, path, limit)
    except (OSError, ValueError) as error:
        from ..lang.filesystem import refusal

        hint = "give a file of text, or the program itself without -f"
        raise wrong("E594", *refusal(path, error, hint)) from None


def _read(file: IO[bytes], origin: str, limit: int) -> bytes:
    """Return the content of a file, of which at most ``limit`` bytes are allowed."""
    data = file.read(limit + 1)
    if len(data) > limit:
        message = f"{origin} holds more than the {limit:,} bytes of a program"
        raise wrong("E515", message, "allow more with --max-program")
    return data


def _standard_input(limit: int) -> bytes:
    if sys.stdin is None:
        hint = "write the program, or -f FILE"
        raise wrong("E594", "standard input is closed", hint)
    if sys.stdin.isatty():
        from .output import note

        note("reading the program from the terminal; end it with Ctrl-D")
    try:
        return _read(sys.stdin.buffer, "standard input", limit)
    except OSError as error:
        from ..lang.filesystem import reason_of

        message = f"standard input cannot be read: {reason_of(error)}"
        raise wrong("E594", message, "write the program, or -f FILE") from None


def _decoded(data: bytes, origin: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{origin} is not UTF-8: byte {data[error.start]:#04x} in line {line}"
        hint = "a program is text: save it as UTF-8"
        raise wrong("E594", message, hint) from None


def refuse_slip(program: str, words: Sequence[str], wrt: str | None) -> None:
    """Refuse a word that is not ``NAME=VALUE`` if the other words show what was meant.

    Args:
        program: the word that is taken as the program.
        words: the words after it, which should be ``NAME=VALUE``.
        wrt: the value of ``--wrt``.

    Raises:
        ProgramError: there is such a word.
    """
    at = next((at for at, word in enumerate(words) if "=" not in word), None)
    if at is None or not words[at].strip():
        return
    word = words[at]
    there = [each for each in (program, *words) if exists(each)]
    bound = [each.partition("=")[0] for each in words if "=" in each]
    if len(there) > 1:
        hint = "the shell puts files in the place of a *: quote the program, 'x*y'"
        raise _slip(f"{there[0]} and {there[1]} are names of files", None, word, hint)
    if _OPTION.fullmatch(word):
        hint = "write options before --, and the program behind it"
        raise _slip("an option behind -- is taken as a value", None, word, hint)
    if program in COMMANDS:
        hint = f"leave one {program} out"
        raise _slip(f"{program} is taken as the program", None, word, hint)
    if _VALUE.fullmatch(program) and not word.strip().isidentifier():
        hint = f"write the program first: '{word}' {program}"
        raise _slip(f"'{program}' is taken as the program", None, word, hint)
    whole = _cut(words, at)
    if whole is not None:
        hint = f"put quotes around a value with blanks: '{whole}'"
        raise _slip("a value is cut in two by a blank", _all_of(word), word, hint)
    if wrt is not None and word in bound:
        hint = f"write names without blanks: --wrt {wrt},{word}"
        raise _slip("this argument is not NAME=VALUE", _all_of(word), word, hint)
    if there == [word]:
        name = next((n for n in ("x", "X") if n not in bound), "data")
        hint = f"to read the file as a value, write {name}=@{word}"
        raise _slip("this argument is not NAME=VALUE", _all_of(word), word, hint)


def _cut(words: Sequence[str], at: int) -> str | None:
    """Return the value that was cut at blanks, from the word before ``words[at]`` to
    the word that closes its brackets; None if no bracket is open."""
    text = words[at - 1] if at else ""
    for word in ("", *words[at:]):
        text = f"{text} {word}".rstrip()
        opened = sum(text.count(sign) for sign in "([")
        if opened == sum(text.count(sign) for sign in ")]"):
            return text if word else None
    return None


def _all_of(word: str) -> Span:
    return Span(0, len(word))


def _slip(message: str, span: Span | None, word: str, hint: str) -> ProgramError:
    return ProgramError("E501", message, span, word, hint=hint)
