"""Lines that are no program as they stand: they are rewritten where their notation is
clear, and put right in a hint where it is not.

An error carries the edits of the text that correct it. They are made and the text is
parsed again, repeatedly, until the line can be parsed: it becomes the error's hint.

Invariant: a corrected line that is shown can be parsed; an error without one keeps its
hint. This module is loaded only where a text has no tree, or names without a meaning.

    mended(error, read).hint          # "write 1000*x"
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .errors import Edit, ProgramError, Span
from .excerpt import LINE_BREAK, locate, shortened
from .lexicon import BROKEN_LINE, DERIVATIVE
from .maxima import MAX_MENDED_CHARACTERS, MAX_MENDS
from .syntax import Note, Program
from .tokens import Token

if TYPE_CHECKING:
    from .notation import Doubt

Reader = Callable[[str], Program | ProgramError]
"""A function that returns the tree of a text, or the error that it has none."""

_TO_DERIVE = "derivatives are taken of what is written: write"
_THOUSANDS = re.compile(r"\d{1,3} \d{3}(\.\d*)?")
_OF_STATEMENT = frozenset({"newline", ";", "=", "indent", "dedent", ":"})


def mended(error: ProgramError, read: Reader) -> ProgramError:
    """Return an error that has edits with the corrected line as its hint, if one is
    found; ``read`` parses a text, or raises a `ProgramError`."""
    text, line = error.source, _line_of(error)
    edits = error.edits
    for _ in range(MAX_MENDS):
        text = edited(text, edits)
        problem = read(text)
        again = isinstance(problem, ProgramError) and problem.source == text
        if isinstance(problem, ProgramError) and again and _line_of(problem) == line:
            if not problem.edits:
                return error
            edits = problem.edits
            continue
        shown = LINE_BREAK.split(text)[line - 1].strip()
        if len(shown) <= MAX_MENDED_CHARACTERS:
            error.right = shown
            error.hint = f"{error.lead} {shown}"
        return error
    return error


def read_as_meant(
    source: str,
    found: Program | ProgramError,
    ranks: Mapping[str, int | None],
    read: Reader,
) -> Program | None:
    """Return the tree of a program with its mathematical notation rewritten, and a note
    on each line that was; None if a part of it is in doubt. ``found`` is what was read
    of the source, ``ranks`` the numbers of dimensions by name."""
    from .mathematics import rewritten
    from .notation import IN_LATEX, Doubt

    if isinstance(found, ProgramError) and (
        found.code not in _NOTATION or found.message == BROKEN_LINE
    ):
        return None

    notes: list[Note] = []
    text = source
    assigned = _ASSIGNED.findall(source)
    ranks = {**dict.fromkeys(assigned), **ranks}
    try:
        for _ in range(MAX_MENDS):
            if IN_LATEX.search(text):
                made = rewritten(text, ranks)
                notes.append(_note_text(text, made, Span(0, len(made))))
                text = made
            else:
                doubts = found.doubts if isinstance(found, Program) else (found.span,)
                span = doubts[0] if doubts else None
                place = locate(text, span or Span(0, 0))
                start = sum(map(len, text.splitlines(True)[: place.line - 1]))
                line = LINE_BREAK.split(text)[place.line - 1]
                made = _line(line, start, ranks, read)
                if made == line:
                    return None
                text = text[:start] + made + text[start + len(line) :]
                notes.append(_note_text(line, made, Span(start, start + len(made))))
            found = read(text)
            if isinstance(found, Program) and not found.doubts:
                return Program(found.span, text, found.body, (*found.notes, *notes))
    except Doubt as doubt:
        if doubt.guess is not None or (source == text and IN_LATEX.search(text)):
            raise _refused(doubt, text) from None
    return None


def _refused(doubt: "Doubt", source: str) -> ProgramError:
    """Return the error that notation is in doubt, or is not read."""
    place = doubt.at if doubt.at.end > doubt.at.start else None
    if doubt.guess is None:
        shown = shortened(source[slice(*place)]) if place else "this"
        hint = "write it in the language: sqrt(x), x^2, a/b, sum(x)"
        return ProgramError("E201", f"{shown} is not read", place, source, hint=hint)
    hint = f"write {' '.join(doubt.guess.split())}"
    return ProgramError("E208", doubt.message, place, source, hint=hint)


def _note_text(before: str, after: str, span: Span) -> Note:
    shown = (shortened(" ".join(each.split()), MAX_MENDED_CHARACTERS)
             for each in (before, after))  # fmt: skip
    return Note(" is read as ".join(shown), span)


_NOTATION = frozenset({"E201", "E202", "E205", "E207", "E208", "E209", "E210"})
"""Codes of errors that may be due to mathematical notation."""

_ASSIGNED = re.compile(r"(?m)(?:^|;)[^\S\n]*([^\W\d]\w*)\s*=(?!=)")
_INSIDE = re.compile(r"([^(]*\))|[^(]*+\(?")
"""Pattern of all text up to a closing parenthesis, or of what has none behind it."""

_HEAD = re.compile(r"\s*(?:(?:if|elif|while|return)\b)?\s*")


def _line(line: str, start: int, ranks: Mapping[str, int | None], read: Reader) -> str:
    """Return a line, which begins at ``start``, with each statement rewritten that
    cannot be read as it is."""
    from .mathematics import rewritten
    from .notation import Doubt

    head = _HEAD.match(line)
    assert head is not None
    begun, rest = line[: head.end()], line[head.end() :]
    if begun.strip() in ("if", "elif", "while"):
        test, colon, after = rest.partition(":")
        return begun + rewritten(test, ranks) + colon + after
    parts: list[str] = []
    outside = _INSIDE.sub(lambda m: " " * len(m[0]) if m[1] else m[0], rest)
    ends = [-1, *(n for n, sign in enumerate(outside) if sign == ";"), len(rest)]
    given = [rest[end + 1 : next_end] for end, next_end in pairwise(ends)]
    for part in given:
        tree = read(part) if part.strip() else None
        if isinstance(tree, ProgramError) or (tree is not None and tree.doubts):
            blank = part[: len(part) - len(part.lstrip())]
            try:
                part = blank + rewritten(part, ranks)
            except Doubt as doubt:
                before = [begun, *(f"{each};" for each in given[: len(parts)])]
                at = start + len("".join(before))
                doubt.at = Span(at + doubt.at.start, at + doubt.at.end)
                if doubt.guess is not None:
                    parts += [blank + doubt.guess, *given[len(parts) + 1 :]]
                    doubt.guess = begun + ";".join(parts)
                raise
        parts.append(part)
    return begun + ";".join(parts)


def _line_of(error: ProgramError) -> int:
    return locate(error.source, error.span or Span(0, 0)).line


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with the edits made: each part replaced by its new text."""
    parts, done = [], 0
    for start, end, new in sorted(edits):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def between(error: ProgramError, tokens: Sequence[Token], at: int) -> ProgramError:
    """Return the error about a missing operator before the token number ``at``, with
    the edits that correct it: a derivative's sign before it, or two numbers."""
    start = at
    while start and tokens[start - 1].kind not in _OF_STATEMENT:
        start -= 1
    from .tensor_library import is_function

    first, after = tokens[start].start, tokens[at]
    derived = DERIVATIVE.match(error.source, first)
    if derived is not None:
        return error.mended_by((first, derived.end(), ""), lead=_TO_DERIVE)
    if tokens[at - 1].kind == after.kind == "number":
        return error.mended_by(*_numbers(error.source, tokens, at), lead="write")
    if any(is_function(str(token.value)) for token in (tokens[at - 1], after)):
        return error  # its argument is in doubt, and not a product
    edit = (tokens[at - 1].end, max(tokens[at - 1].end, after.start), "*")
    return error.mended_by(edit, lead="to multiply, write")


def _numbers(source: str, tokens: Sequence[Token], at: int) -> list[Edit]:
    """Return the edits for two numbers side by side, which become one number (`1 000`),
    a sum (`1 1/2`) or a product."""
    before, after = tokens[at - 1], tokens[at]
    first, second = source[slice(*before.span)], source[slice(*after.span)]
    if _THOUSANDS.fullmatch(f"{first} {second}") and before.value:
        return [(before.end, after.start, "")]
    fraction = tokens[at + 1].kind == "/" and tokens[at + 2].kind == "number"
    if fraction and first.isdecimal() and second.isdecimal():
        end = tokens[at + 2].end
        return [(before.start, before.start, "("), (before.end, after.start, "+"),
                (end, end, ")")]  # fmt: skip
    return [(before.end, after.start, "*")]
