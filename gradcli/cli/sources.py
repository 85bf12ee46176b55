"""Questions made from the words of a command line.

The program comes from the command line, a file, or standard input.

Invariants: the text is UTF-8, or an error says where it is not; standard input is read
for one thing only. A slip that the other words give away is refused with the corrected
line; words that may be meant as they stand are not refused, and a value that can be
read in two ways has a note on how it was read.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from os.path import exists, isfile
from typing import IO, TYPE_CHECKING, Final

from ..answers.question import Question
from ..lang.bindings import Binding, read_bindings
from ..lang.errors import ProgramError
from ..lang.excerpt import Span, enumerated
from ..lang.maxima import MAX_SHOWN_NAMES
from ..lang.parser import parse
from ..lang.prepare import read_program
from ..tables.filesystem import STANDARD_INPUT, guarded
from .commands import COMMANDS
from .limits import begin
from .options import Request, listed
from .output import form, note, warn
from .problems import wrong

if TYPE_CHECKING:
    from ..lang.implicit import Equation

STDIN = "-"

UNREADABLE: Final = ("E594", "E594", "E594")
"""Codes of the errors of a program that cannot be read."""

_VALUE: Final = r"\s*[^\W\d]\w*\s*=\s*(@.*|[^=A-Za-z_]+)"
"""Pattern of an input with a value that is a file or numbers."""

_GIVEN: Final = r"[^\W\d]\w*=(?!=).*"
"""Pattern of an input with its value."""

_TARGET: Final = r"[^\W\d]\w*(\([^()]*\))?"
"""Pattern of what a program assigns to."""

_OPTION: Final = r"--?[A-Za-z][\w-]*(=.*)?"

_SIZES: Final = r"[(\[]?\s*+(\d{1,100}(\s*+[,x]\s*\d{1,100})*)?\s*+,?\s*[)\]]?"
"""Pattern of the sizes in the value of ``--shape``."""

MAX_COMMAND_CHARACTERS: Final = 160
"""Largest length of a command that a hint writes out, in characters."""

_PROGRAM_FILE = re.compile(r"[^()\s]+\.(grad|py|txt)")


def question_of(
    request: Request,
    grad_output: str | None = None,
    symbols: bool = False,
    others: Iterable[str] | None = (),
    scalar: bool = True,
    equations: bool = False,
) -> Question:
    """Return the question that a command line asks, and start the limits on its work.

    With ``symbols`` the answer needs no numbers, and inputs may have none; ``others``
    are names that have values in another way, or None if all may be columns; a value
    that has to be ``scalar`` decides on shapes that are inferred. An equation is a
    program for the name of ``--of`` if there may be ``equations``.
    """
    source, words = program_and_bindings(request)
    for text in readings(words):
        warn(text)
    begin()
    bindings, wrt = read_bindings(words), listed(request.wrt)
    tied = None
    if equations and request.of is not None and "=" in source:
        tied = _equation(request, source, bindings, wrt)
    if tied is not None:
        source, wrt = tied.program, tied.others(wrt)
    shapes = shapes_of(request.shape)
    inferred = None
    if symbols and not request.draw and not request.strict:
        from ..answers.inferred_sizes import infer_sizes

        inferred = infer_sizes(source, bindings, shapes, request.of, scalar)
    if inferred is not None:
        shapes |= inferred.shapes
    return Question(
        read_program(source, bindings, shapes, warn, others),
        bindings,
        of=request.of,
        wrt=wrt,
        shapes=shapes,
        tied=tied,
        inferred=inferred,
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


def _equation(
    request: Request,
    source: str,
    bindings: Sequence[Binding],
    wrt: Sequence[str] | None,
) -> Equation | None:
    """Return the equation that a text is; None if it is a program."""
    from ..lang.implicit import equation_of, note_of

    found = equation_of(source, request.of, [each.name for each in bindings])
    if found is None:
        return None
    if request.draw:
        message = "numbers that are drawn do not satisfy an equation"
        raise wrong("E590", message, "give values, or none for the formula")
    found.others(wrt)
    found.require_at(bindings)
    warn(note_of(found))
    return found


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
    if found := re.fullmatch(r"([-+]?[\d.]+)\s*,", text):
        return f"a vector of one number: for a number write {name}={found[1]}"
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


def program_and_bindings(request: Request) -> tuple[str, list[str]]:
    """Return the program's text and the ``NAME=VALUE`` words."""
    words = list(request.words or ())
    origin = request.file
    if origin is None:
        if not words:
            raise wrong("E593", "no program", 'give one: gradcli grad "x**2" x=3')
        origin = words.pop(0)
        if not all(word.find("=") > 0 for word in words):
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
        hint = "keep one; a value is NAME=VALUE"
        if origin.endswith((".csv", ".tsv")):
            hint = f"-f reads a program: a table of points is --table {origin}"
        raise wrong("E590", message, hint)
    if typed and any(word.endswith("=@-") for word in words):
        message = "standard input cannot be both the program and a value"
        raise wrong("E594", message, "save one of them to a file")
    limit = request.max_program
    return _standard_input(limit) if typed else _contents(origin, limit), words


def _contents(path: str, limit: int) -> str:
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
    with guarded(STANDARD_INPUT, "write the program, or -f FILE", UNREADABLE):
        return _read(sys.stdin.buffer, STANDARD_INPUT, limit)


def note_missing(question: Question, missing: Sequence[str]) -> None:
    """Say which values numbers would need, if other inputs have one."""
    if question.values and missing:
        gives = " ".join(f"{name}=VALUE" for name in missing[:MAX_SHOWN_NAMES])
        note(f"note: no value for {enumerated(missing)}: {gives} gives numbers")


def note_derived(request: Request, question: Question) -> None:
    """Say that a derivative, written as in `d/dx x^2`, is differentiated once more."""
    source, typed = question.program.strip(), (request.words or [""])[0]
    written = source.startswith("diff(") and source.endswith(")")
    if written and "diff" not in typed:
        note("note: grad takes one more derivative, of the one that is written")


def refuse_slip(program: str, words: Sequence[str], wrt: str | None) -> None:
    """Refuse a word that is not ``NAME=VALUE`` if the other words, or the value of
    ``--wrt``, show what was meant."""
    at = next((at for at, word in enumerate(words) if "=" not in word), None)
    assigns = words and words[0].startswith("=") and re.fullmatch(_TARGET, program)
    if assigns or (words[1:] and words[0] in _OPERATORS):
        cut = takewhile(lambda word: not re.fullmatch(_GIVEN, word), words)
        hint = f"put quotes around it: {shlex.quote(' '.join([program, *cut]))}"
        raise wrong("E501", "the program is cut in two by a blank", hint)
    if at is None or not words[at].strip():
        return
    word = words[at]
    there = [each for each in (program, *words) if exists(each)]
    bound = [each.partition("=")[0] for each in words if "=" in each]
    whole = _cut(words, at)
    span: Span | None = None
    if len(there) > 1:
        message = f"{there[0]} and {there[1]} are names of files"
        hint = "did the shell expand x*y? put the program in quotes: 'x*y'"
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
            if word.endswith((".csv", ".tsv")):
                hint += f"; for many points, --table {word}"
        else:
            return
    raise ProgramError("E501", message, span, word, hint=hint)


_OPERATORS = frozenset({*"+-*/^@%", "**", "//"})
"""Words that can only be inside of a program."""


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


_WITH_FORMULAS = frozenset({"grad", "jacobian", "hessian", "value"})
"""Commands that have the option --symbolic."""


def with_command(problem: ProgramError, argv: Sequence[str]) -> ProgramError:
    """Return an error; if inputs have no value, its hint has the command with a place
    for each, and the formula's where the command has one."""
    if not problem.missing or argv[:1] == ["plot"] or argv[0] not in COMMANDS:
        return problem
    values = [f"{name}=VALUE" for name in problem.missing]
    command = shlex.join(["gradcli", *argv, *values])
    written = len(command) <= MAX_COMMAND_CHARACTERS and "\n" not in command
    shown = " ".join(values[:MAX_SHOWN_NAMES])
    give = f"type {command}" if written else f"give {shown}"
    ways = "" if form.strict else "; --draw takes random ones"
    if ways and argv[0] in _WITH_FORMULAS and "--symbolic" not in argv:
        ways += ", --symbolic gives the formula"
    meant, _, _ = (problem.hint or "").partition("; else ")
    meant = f"{meant}; else " if meant != problem.hint else ""
    problem.hint = f"{meant}{give}{ways}"
    problem.message = f"{'--strict: ' * form.strict}{problem.message}"
    return problem
