"""Corrections: what to write where a line can be read in two ways, or not at all.

An error carries the edits of the text that correct it. They are made and the text is
parsed again, repeatedly, until the line can be parsed: it becomes the error's hint.

Invariant: a corrected line that is shown can be parsed; an error without one keeps its
hint. This module is loaded only when an error is being worded.

    mended(error, read).hint          # "to multiply, write x*e^x"
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .errors import Edit, ProgramError, Span
from .excerpt import LINE_BREAK, locate, shortened
from .lexicon import BAR, CLOSING, DERIVATIVE, ROOTS, WORDS_BETWEEN
from .maxima import MAX_MENDED_CHARACTERS, MAX_MENDS
from .syntax import Note, Program
from .tokens import Token, tokenize

if TYPE_CHECKING:
    from .notation import Doubt

Meant = Callable[[Token], str | None]
"""A function that returns the name of the function that a token means, or None."""

Reader = Callable[[str], Program | ProgramError]
"""A function that returns the tree of a text, or the error that it has none."""

TO_MULTIPLY = "to multiply, write"
_TO_CALL = "to call it, write"
_TO_RAISE = "to raise its result to a power, write"
_TO_DERIVE = "derivatives are taken of what is written: write"
_THOUSANDS = re.compile(r"\d{1,3} \d{3}(\.\d*)?")
_OVER_D = re.compile(r"\s*/\s*[d∂]\s*\w+")
_BEFORE_CALL = re.compile(r"[d∂]\s*\w*\s*/\s*\Z")
_OF_STATEMENT = frozenset({"newline", ";", "=", "indent", "dedent", ":"})


def mended(error: ProgramError, read: Reader) -> ProgramError:
    """Return an error that has edits with the corrected line as its hint, if one is
    found; ``read`` parses a text, or raises a `ProgramError`."""
    text, line = error.source, _line_of(error)
    edits = error.edits
    for _ in range(MAX_MENDS):
        text = edited(text, edits)
        problem = read(text)
        if isinstance(problem, ProgramError):
            if problem.source == text and _line_of(problem) == line:
                if not problem.edits:
                    return error
                edits = problem.edits
                continue
        shown = LINE_BREAK.split(_respelled(text))[line - 1].strip()
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
    from .notation import IN_LATEX, Doubt, rewritten

    notes: list[Note] = []
    text, lines = source, len(LINE_BREAK.split(source))
    try:
        for _ in range(MAX_MENDS):
            if IN_LATEX.search(text):
                made = rewritten(text, ranks)
                notes.append(_told(text, made, Span(0, len(made))))
                text = made
            else:
                doubts = found.doubts if isinstance(found, Program) else (found.span,)
                span = doubts[0] if doubts else None
                place = locate(text, span or Span(0, 0))
                start = sum(map(len, text.splitlines(True)[: place.line - 1]))
                line = LINE_BREAK.split(text)[place.line - 1]
                made = _line(line, ranks, read)
                if made == line:
                    return None
                text = text[:start] + made + text[start + len(line) :]
                notes.append(_told(line, made, Span(start, start + len(made))))
            found = read(text)
            if isinstance(found, Program) and not found.doubts:
                return Program(found.span, text, found.body, (*found.notes, *notes))
    except Doubt as doubt:
        if doubt.guess is not None or (source == text and IN_LATEX.search(text)):
            raise _refused(doubt, source) from None
    return None


def _refused(doubt: "Doubt", source: str) -> ProgramError:
    """Return the error that notation is in doubt, or is not read."""
    place = doubt.at if doubt.at.end > doubt.at.start else None
    if doubt.guess is None:
        shown = shortened(source[slice(*place)]) if place else "this"
        hint = "write it in the language: sqrt(x), x^2, a/b, sum(x)"
        return ProgramError("E201", f"{shown} is not read", place, source, hint=hint)
    hint = f"write {' '.join(doubt.guess.split())}"
    return ProgramError("E208", doubt.message, None, source, hint=hint)


def _told(before: str, after: str, span: Span) -> Note:
    shown = (shortened(" ".join(each.split()), MAX_MENDED_CHARACTERS)
             for each in (before, after))  # fmt: skip
    return Note(" is read as ".join(shown), span)


_HEAD = re.compile(r"\s*(?:(?:if|elif|while|return)\b)?\s*")


def _line(line: str, ranks: Mapping[str, int | None], read: Reader) -> str:
    """Return a line with each statement rewritten that cannot be read as it is."""
    from .notation import rewritten

    head = _HEAD.match(line)
    begun, rest = line[: head.end()], line[head.end() :]
    if begun.strip() in ("if", "elif", "while"):
        test, colon, after = rest.partition(":")
        return begun + rewritten(test, ranks) + colon + after
    parts = []
    for part in re.split(";", rest):
        tree = read(part) if part.strip() else None
        if isinstance(tree, ProgramError) or (tree is not None and tree.doubts):
            part = rewritten(part, ranks)
        parts.append(part)
    return begun + ";".join(parts)


def _respelled(text: str) -> str:
    """Return the text with other spellings of functions replaced by their names, where
    they are called."""
    from .suggest import other_spelling
    from .tensor_library import is_function

    edits = []
    for token, follower in pairwise(tokenize(text)):
        name = str(token.value)
        if token.kind == "name" and follower.kind == "(" and not is_function(name):
            meant = other_spelling(name, is_function)
            if meant is not None:
                edits.append((*token.span, meant))
    return edited(text, edits)


def _line_of(error: ProgramError) -> int:
    return locate(error.source, error.span or Span(0, 0)).line


def edited(text: str, edits: Sequence[Edit]) -> str:
    """Return the text with the edits made: each part replaced by its new text."""
    parts, done = [], 0
    for start, end, new in sorted(edits):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def between(
    error: ProgramError, tokens: Sequence[Token], at: int, meant: Meant
) -> ProgramError:
    """Return the error about a missing operator before the token number ``at``, with
    the edits that correct it; ``meant`` returns the function that a token means, or
    None."""
    start = at
    while start and tokens[start - 1].kind not in _OF_STATEMENT:
        start -= 1
    first, after = tokens[start].start, tokens[at]
    derived = DERIVATIVE.match(error.source, first)
    if derived is not None:
        return error.mended_by((first, derived.end(), ""), lead=_TO_DERIVE)
    before = tokens[at - 1]
    for word in (before, after):
        sign = WORDS_BETWEEN.get(str(word.value)) if word.kind == "name" else None
        behind = tokens[tokens.index(word) + 1].kind
        if sign is not None and behind not in _OF_STATEMENT:
            return error.mended_by((word.start, word.end, sign))
    if meant(before):
        edits = _called(tokens, at - 1, at, meant)
        return error.mended_by(*edits, lead=_TO_CALL)
    if before.kind == after.kind == "number":
        return error.mended_by(*_numbers(error.source, tokens, at), lead="write")
    base = _base_of_power(tokens, at)
    if base is not None and meant(tokens[base]):
        return _raised(error, tokens, base, at, meant)
    edit = (before.end, max(before.end, after.start), "*")
    return error.mended_by(edit, lead=TO_MULTIPLY)


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


def _tokens_at(source: str, name: Span) -> tuple[list[Token], int]:
    """Return the tokens of a text, and the number of that which ends a name."""
    tokens = tokenize(source)
    return tokens, next(at for at, token in enumerate(tokens) if token.end == name.end)


def multiplied(error: ProgramError, name: Span) -> ProgramError:
    """Return the error about a call of a value, such as `x(y + 1)` or `d/dx(x^2)`, with
    the edits that make a product of it, or the formula without the derivative."""
    source = error.source
    derived = _BEFORE_CALL.search(source, 0, name.start)
    if derived is not None and source[name.start] in "d∂":
        return error.mended_by((derived.start(), name.end, ""), lead=_TO_DERIVE)
    tokens, at = _tokens_at(source, name)
    over = _OVER_D.match(source, tokens[tokens[at + 1].partner].end)
    if over is not None and source[slice(*name)] in ("d", "∂"):
        return error.mended_by((*name, ""), (*over.span(), ""), lead=_TO_DERIVE)
    return error.mended_by((name.end, name.end, "*"), lead=TO_MULTIPLY)


def with_base(error: ProgramError, name: Span, base: str) -> ProgramError:
    """Return the error about `log_3(x)`, with the edits that make the base the second
    argument."""
    tokens, at = _tokens_at(error.source, name)
    closing = tokens[tokens[at + 1].partner].start
    return error.mended_by((*name, "log"), (closing, closing, f", {base}"))


def called(error: ProgramError, name: Span, meant: Meant) -> ProgramError:
    """Return the error about a function that is used as a value; it is corrected if it
    is like `exp -x`, with a blank before the sign and none after it."""
    tokens, at = _tokens_at(error.source, name)
    sign = tokens[at + 1]
    if sign.kind == "-" and name.end < sign.start and sign.end == tokens[at + 2].start:
        error.mended_by(*_called(tokens, at, at + 1, meant), lead=_TO_CALL)
    return error


def apart(source: str, name: Span, parts: str) -> list[Edit]:
    """Return the edits that replace a name by ``parts``, the names that it is made of.

    A product gets brackets where it is an exponent, a divisor or under a root. If
    ``parts`` is a call, a power after the name becomes a power of its argument.
    """
    tokens, at = _tokens_at(source, name)
    before = at - 1
    while before > 0 and tokens[before].kind in ("-", "+"):
        before -= 1
    raised = at > 0 and tokens[before].kind == "**"
    held = raised or (at > 0 and tokens[at - 1].kind in ("/", "//", "%", *ROOTS))
    held = held and "*" in parts
    end = tokens[_behind_factor(tokens, at) - 1].end
    if end > name.end and parts.endswith(")"):
        parts = parts[:-1]
        return [(*name, f"({parts}" if held else parts), (end, end, ")" * (1 + held))]
    return [(*name, f"({parts}"), (end, end, ")")] if held else [(*name, parts)]


def bracketed(error: ProgramError, tokens: Sequence[Token], at: int) -> ProgramError:
    """Return the error about a power after a root, with the edits that put the power
    under the root."""
    end = _behind_factor(tokens, at + 1)
    return error.mended_by(
        (tokens[at].end, tokens[at].end, "("),
        (tokens[end - 1].end, tokens[end - 1].end, ")"),
        lead="for the root of all of it, write",
    )


def _called(tokens: Sequence[Token], name: int, at: int, meant: Meant) -> list[Edit]:
    """Return the edits that put brackets around the argument that begins at ``at``."""
    lone = tokens[at].kind == BAR
    end = _behind_bars(tokens, at) if lone else _behind_argument(tokens, at, meant)
    last = tokens[end - 1].end
    function = meant(tokens[name]) or str(tokens[name].value)
    begun = (tokens[name].start, tokens[at].start, f"{function}(")
    return [begun, (last, last, ")")]


def _base_of_power(tokens: Sequence[Token], at: int) -> int | None:
    """Return the number of the token that is the base of the power that ends before the
    token ``at``; None if no power ends there."""
    exponent = at - 1
    if tokens[exponent].kind == "superscript":
        return exponent - 1
    if tokens[exponent].kind == ")":
        exponent = tokens[exponent].partner
    elif tokens[exponent].kind not in ("number", "name"):
        return None
    if exponent and tokens[exponent - 1].kind in ("-", "+"):
        exponent -= 1
    return exponent - 2 if exponent > 1 and tokens[exponent - 1].kind == "**" else None


def _raised(
    error: ProgramError, tokens: Sequence[Token], base: int, at: int, meant: Meant
) -> ProgramError:
    """Return the error about `sin^2(x)`, with the edits that move the exponent behind
    the argument, or name the inverse function if it is -1."""
    name, after = tokens[base], tokens[at]
    exponent = error.source[name.end : tokens[at - 1].end].strip()
    function, lead = meant(name), _TO_RAISE
    inverse = meant(name._replace(value=f"a{function}"))
    if exponent.replace(" ", "") in _EXPONENTS_OF_INVERSES and inverse:
        function, lead, exponent = inverse, "for its inverse function, write", ""
    if after.kind == "(":
        opened, closed, last = "", "", tokens[after.partner].end
    else:
        opened, closed = "(", ")"
        last = tokens[_behind_argument(tokens, at, meant) - 1].end
    return error.mended_by(
        (name.start, after.start, f"{function}{opened}"),
        (last, last, closed + exponent),
        lead=lead,
    )


_EXPONENTS_OF_INVERSES = ("^-1", "**-1", "^(-1)", "**(-1)", "⁻¹")


def _behind_argument(tokens: Sequence[Token], at: int, meant: Meant) -> int:
    """Return the number of the token after a function's argument without brackets: its
    factors without signs between them, up to the next function."""
    if tokens[at].kind in ("-", "+"):
        at += 1
    if meant(tokens[at]) and tokens[at + 1].kind != "(":
        return _behind_argument(tokens, at + 1, meant)
    at = _behind_factor(tokens, at)
    while tokens[at].kind in ("name", "number", "(", BAR, *ROOTS):
        if meant(tokens[at]):
            break
        at = _behind_factor(tokens, at)
    return at


def _behind_factor(tokens: Sequence[Token], at: int) -> int:
    """Return the number of the token after an operand and its exponent."""
    while tokens[at].kind in ROOTS:
        at += 1
    at = _behind_group(tokens, at)
    while True:
        kind = tokens[at].kind
        if kind == "superscript":
            at += 1
        elif kind == "." and tokens[at + 1].kind == "name":
            at += 2
        elif kind == "[" or (kind == "(" and tokens[at - 1].kind == "name"):
            at = _behind_group(tokens, at)
        elif kind == "**":
            at += 1 + (tokens[at + 1].kind in ("-", "+"))
            at = _behind_group(tokens, at)
        else:
            return at


def _behind_group(tokens: Sequence[Token], at: int) -> int:
    """Return the number of the token after a token or, if it opens one, its group."""
    if tokens[at].kind == BAR:
        return _behind_bars(tokens, at)
    if tokens[at].kind in CLOSING:
        return tokens[at].partner + 1
    return min(at + 1, len(tokens) - 1)


def _behind_bars(tokens: Sequence[Token], at: int) -> int:
    """Return the number of the token after the bar that closes the one at ``at``, or
    after that one if none does."""
    doubled = tokens[at + 1].kind == BAR
    for end in range(at + 1 + doubled, len(tokens)):
        if tokens[end].kind in _OF_STATEMENT:
            break
        if tokens[end].kind == BAR:
            return end + 1 + doubled
    return at + 1
