"""Questions made from the words of a command line.

The program comes from the command line, a file, or standard input.

Invariants: the text is UTF-8, or an error says where it is not; standard input is read
for one thing only. A slip that the other words give away is refused with the corrected
line; words that may be meant as they stand are not refused, and a value that can be
read in two ways has a note on how it was read.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from os.path import exists, isfile
from typing import IO, TYPE_CHECKING, Final
from unicodedata import normalize

from ..lang.bindings import read_bindings
from ..lang.errors import ProgramError
from ..lang.excerpt import Span
from .commands import COMMANDS
from .limits import begin
from .options import Request
from .output import note, warn
from .problems import wrong

if TYPE_CHECKING:
    from ..answers.question import Question

STDIN = "-"

UNREADABLE: Final = ("E594", "E594", "E594")
"""Codes of the errors of a program that cannot be read."""

_VALUE: Final = r"\s*[^\W\d]\w*\s*=\s*(@.*|[^=A-Za-z_]+)"
"""Pattern of an input with a value that is a file or numbers."""

_OPTION: Final = r"--?[A-Za-z][\w-]*(=.*)?"

_SIZES: Final = r"[(\[]?\s*+(\d{1,100}(\s*+[,x]\s*\d{1,100})*)?\s*+,?\s*[)\]]?"
"""Pattern of the sizes in the value of ``--shape``."""

_PROGRAM_FILE = re.compile(r"[^()\s]+\.(grad|py|txt)")


def question_of(
    request: Request,
    grad_output: str | None = None,
    symbols: bool = False,
    others: Iterable[str] | None = (),
) -> Question:
    """Return the question that a command line asks, and start the limits on its work.

    With ``symbols`` the answer needs no numbers, and inputs may have none; ``others``
    are names that have values in another way, or None if all may be columns.
    """
    from ..answers.question import Question
    from ..lang.prepare import read_program

    source, words = program_and_bindings(request)
    for text in readings(words):
        warn(text)
    begin()
    bindings = read_bindings(words)
    return Question(
        read_program(source, bindings, shapes_of(request.shape), warn, others),
        bindings,
        of=request.of,
        wrt=listed(request.wrt),
        shapes=shapes_of(request.shape),
        seed=request.seed,
        strict=request.strict or not (symbols or request.draw),
        symbols=symbols and not request.draw,
        dtype=request.dtype,
        device=request.device,
        grad_output=grad_output,
        seconds=request.verify_seconds,
        verified=not request.no_verify,
        tell=warn,
    )


def shapes_of(words: Sequence[str] | None) -> dict[str, tuple[int, ...]]:
    """Return the shapes in ``X=3,2``, ``X=(3,2)`` or ``X=3x2``; ``x=()`` means a
    number."""
    found: dict[str, tuple[int, ...]] = {}
    for word in words or ():
        name, equals, text = word.partition("=")
        name = name.strip()
        if (
            not equals
            or not name.isidentifier()
            or not re.fullmatch(_SIZES, text.strip())
        ):
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


def readings(words: Iterable[str]) -> Iterator[str]:
    """Yield a note for each value that can be read in two ways: how it was read."""
    from ..lang.parser import parse

    for word in words:
        name, equals, text = (part.strip() for part in word.partition("="))
        if equals and text[:1] != "@" and 0 < len(text) < 1000:
            with suppress(ProgramError):  # the error is raised where values are read
                notes = (note.message for note in parse(text).notes)
                yield from (f"{name}={n}" for n in notes if "a vector" not in n)
        if equals and text[:1] in "+-0123456789" and not _is_number(text):
            told = _note_text(name, text)
            if told is not None:
                yield f"{name}={text} is {told}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _note_text(name: str, text: str) -> str | None:
    if found := re.fullmatch(r"([-+]?\d{1,3}(?:\.\d{3})+),(\d+)", text):
        right = f"{found[1].replace('.', '')}.{found[2]}"
        return f"two numbers: for one write {name}={right}"
    if re.fullmatch(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d+)?", text):
        count, right = 1 + text.count(","), text.replace(",", "")
        return f"{count} numbers: for one write {name}={right}"
    if found := re.fullmatch(r"([-+]?\d+),(\d+)", text):
        numbers, right = f"{found[1]} and {found[2]}", f"{found[1]}.{found[2]}"
        return f"two numbers, {numbers}: for one write {name}={right}"
    power = r"-\s*([\d.]+)\s*(\^|\*\*)\s*([-+\w.]+|\([^()]*\))"
    if found := re.fullmatch(power, text):
        base, sign, power = found.groups()
        return (
            f"the negative of {base}{sign}{power}: for a power of "
            f"-{base} write {name}=(-{base}){sign}{power}"
        )
    if found := re.fullmatch(r"([-+]?[\d.]+)[eE]", text):
        return f"{found[1]} times the number e, 2.718..."
    return None


def listed(text: str | None) -> list[str] | None:
    """Return the names in an option's text, as the language spells them."""
    if text is None:
        return None
    names = normalize("NFC", text).split(",")
    return [name.strip() for name in names if name.strip()]


def program_and_bindings(request: Request) -> tuple[str, list[str]]:
    """Return the program's text and the ``NAME=VALUE`` words."""
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
    typed = origin == STDIN
    second = words[0].strip() if words else ""
    if second and "=" not in second and not second.isidentifier():
        whence = "standard input" if typed else repr(origin)
        message = f"two programs: {second!r} and what {whence} holds"
        raise wrong("E590", message, "keep one; a value is NAME=VALUE")
    if typed and any(word.endswith("=@-") for word in words):
        message = "standard input cannot be both the program and a value"
        raise wrong("E594", message, "save one of them to a file")
    limit = request.max_program
    return _standard_input(limit) if typed else _contents(origin, limit), words


def _contents(path: str, limit: int) -> str:
    from ..lang.filesystem import guarded

    hint = "give a file of text, or the program itself without -f"
    with guarded(path, hint, UNREADABLE), open(path, "rb") as file:
        return _read(file, path, limit)


def _read(file: IO[bytes], origin: str, limit: int) -> str:
    """Return the text of a file, of which at most ``limit`` bytes are allowed."""
    data = file.read(limit + 1)
    if len(data) > limit:
        message = f"{origin} holds more than the {limit:,} bytes of a program"
        raise wrong("E515", message, "allow more with --max-program")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{origin} is not UTF-8: byte {data[error.start]:#04x} in line {line}"
        hint = "a program is text: save it as UTF-8"
        raise wrong("E594", message, hint) from None


def _standard_input(limit: int) -> str:
    if sys.stdin is None:
        hint = "write the program, or -f FILE"
        raise wrong("E594", "standard input is closed", hint)
    if sys.stdin.isatty():
        note("reading the program from the terminal; end it with Ctrl-D")
    from ..lang.filesystem import STANDARD_INPUT, guarded

    with guarded(STANDARD_INPUT, "write the program, or -f FILE", UNREADABLE):
        return _read(sys.stdin.buffer, STANDARD_INPUT, limit)


def refuse_slip(program: str, words: Sequence[str], wrt: str | None) -> None:
    """Refuse a word that is not ``NAME=VALUE`` if the other words, or the value of
    ``--wrt``, show what was meant."""
    at = next((at for at, word in enumerate(words) if "=" not in word), None)
    if at is None or not words[at].strip():
        return
    word = words[at]
    there = [each for each in (program, *words) if exists(each)]
    bound = [each.partition("=")[0] for each in words if "=" in each]
    whole = _cut(words, at)
    span: Span | None = None
    if len(there) > 1:
        message = f"{there[0]} and {there[1]} are names of files"
        hint = "the shell puts files in the place of a *: quote the program, 'x*y'"
    elif re.fullmatch(_OPTION, word):
        message = "an option behind -- is taken as a value"
        hint = "write options before --, and the program behind it"
    elif program in COMMANDS:
        message, hint = f"{program} is taken as the program", f"leave one {program} out"
    elif re.fullmatch(_VALUE, program) and not word.strip().isidentifier():
        message = f"'{program}' is taken as the program"
        hint = f"write the program first: '{word}' {program}"
    else:
        span, message = Span(0, len(word)), "this argument is not NAME=VALUE"
        if whole is not None:
            message = "a value is cut in two by a blank"
            hint = f"put quotes around a value with blanks: '{whole}'"
        elif wrt is not None and word in bound:
            hint = f"write names without blanks: --wrt {wrt},{word}"
        elif there == [word]:
            name = next((n for n in ("x", "X") if n not in bound), "data")
            hint = f"to read the file as a value, write {name}=@{word}"
        else:
            return
    raise ProgramError("E501", message, span, word, hint=hint)


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
