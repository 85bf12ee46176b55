"""What surrounds a formula where it is copied from: it is left out, with a note.

Web pages have `{\\displaystyle ...}` beside the formula in plain letters, texts have
formulas between dollar signs, sessions have prompts, and scripts print.

Invariant: what is left out has no meaning for the value, or a note says so.

    strip_surroundings(">>> y = x**2\n>>> print(y)").text      # "y = x**2\ny"
"""

import re
import unicodedata
from itertools import pairwise
from typing import NamedTuple

from .errors import ProgramError, Span
from .excerpt import shortened
from .lexicon import DERIVATIVE

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}
"""ASCII characters by the codes of their wide forms."""

_DISPLAY = r"{\displaystyle"

_PROMPT = re.compile(r"(?:>>> ?|\.\.\. ?|In \[\d+\]: ?|julia> ?|sage: ?|ans> ?)")

_PRINT = re.compile(r"print\s*\((.*)\)\s*;?")

_LAMBDA = re.compile(r"\(?\s*lambda\b([\w\s,]*):")

_DERIVED = re.compile(
    r"\A\s*(?:jax\.|autograd\.)?grad\(lambda (?P<name>\w+):(?P<body>[^\n]+)\)"
    r"\((?P=name)\)\s*\Z"
)

_ARROW = re.compile(r"\s*(?:\w+\s*:\s*)?\w+\s*↦")

_PROSE = """
a an and are as be by compute consider cost define find for from function get given
have hence here is it let loss model now output put set so that the then thus to we
where which with
"""
"""Words between formulas that change no meaning."""


_INTEGRAL = re.compile(
    r"(?:the\s)?(?:indefinite\s|definite\s)?(?:integrate|integral\sof)\b"
)
_BOUNDS = re.compile(r"\s(?:from|between|over|with respect|wrt|at)\b|\sd\w\s*$|,|=")
"""Pattern of what ends a formula that words ask something of."""


_UP_TO = re.compile(
    r"\sfrom\s+-?[\d.]+\s+to\s+([^\W\d]\w*)\b(?:.*(?:wrt|with respect to)\s+(\w+))?"
)
"""Pattern of the bounds of an integral up to a name, perhaps with its variable."""


class StrippedText(NamedTuple):
    """A text without its surroundings, and the notes on these."""

    text: str
    notes: tuple[str, ...] = ()


def narrow(text: str) -> str:
    """Return a text with letters, digits and signs of full width as those of ASCII."""
    return text if text.isascii() else text.translate(_WIDE)


def plain_name(name: str) -> str:
    """Return a name with lowered characters at its end behind a line: `θ₀` is `θ_0`."""
    end = len(name)
    while end and unicodedata.decomposition(name[end - 1]).startswith("<sub>"):
        end -= 1
    if end in (0, len(name)):
        return name
    return f"{name[:end]}_{unicodedata.normalize('NFKC', name[end:])}"


def strip_surroundings(source: str) -> StrippedText:
    """Return a text without what surrounds its formulas."""
    text, notes = narrow(source), []
    _refuse_asked(text.lstrip())
    if _DISPLAY in text:
        text, left = _displayed(text)
        if left:
            notes.append(f"only what stands in {_DISPLAY} ...}} is read")
    if "$" in text or r"\[" in text or r"\(" in text:
        text = _between_signs(text)
    lines = text.split("\n")
    if any(_PROMPT.match(line.lstrip()) for line in lines):
        begun = [(line.lstrip(), _PROMPT.match(line.lstrip())) for line in lines]
        lines = [line[found.end() :] for line, found in begun if found is not None]
        text = "\n".join(lines)
    if "print" in text:
        text, printed = _unprinted(text)
        notes += printed
    if "grad" in text:
        text = _DERIVED.sub(r"diff(\g<body>, \g<name>)", text)
    if "lambda" in text:
        found = _LAMBDA.match(text)
        if found is not None and "lambda" not in text[found.end() :]:
            text = _body(text, found)
    mapped = _ARROW.match(text) if "↦" in text else None
    text = text[mapped.end() :] if mapped else text
    return StrippedText(text, tuple(notes))


def _refuse_asked(text: str) -> None:
    """Refuse words that ask for an integral, or for a derivative somewhere.

    Raises:
        ProgramError: the text asks so; its hint has the formula alone.
    """
    for pattern in (_INTEGRAL, DERIVATIVE):
        asked = pattern.match(text)
        if asked is None or "\n" in text:
            continue
        rest = text[asked.end() :].strip()
        bound = _BOUNDS.search(rest)
        if bound is None and pattern is DERIVATIVE:
            return
        end = _UP_TO.search(rest) if pattern is _INTEGRAL else None
        rest = rest[: bound.start()] if bound else rest
        if _unbracketed(rest):
            rest = rest.strip()[1:-1]
        elif rest[:1] == "(" and _closes(rest[1:]) is None:
            rest = rest[1:]  # its other bracket is behind the bounds
        if not rest:
            return
        lead, message = "to derive what is integrated", "integrals are not computed"
        if pattern is DERIVATIVE:
            lead, message = (
                "derivatives are taken of what is written",
                "this asks for more",
            )
        at = Span(*asked.span())
        hint = f"{lead}: write {rest.strip()}"
        if end is not None:
            by = end[2] or ("t" if re.search(r"\bt\b", rest) else "x")
            slope = re.sub(rf"\b{by}\b", end[1], rest.strip())
            hint = f"its derivative by {end[1]}: write {slope}"
        raise ProgramError("E201", message, at, text, hint=hint)


def _unbracketed(text: str) -> bool:
    """Return whether brackets stand around all of a text."""
    text = text.strip()
    return text[:1] == "(" and _closes(text[1:]) == len(text) - 2


def _body(text: str, found: re.Match[str]) -> str:
    """Return the body of a function without a name, if nothing else stands there."""
    body = text[found.end() :].strip()
    if found[0].startswith("("):
        return (
            body[:-1] if body.endswith(")") and _closes(body) == len(body) - 1 else text
        )
    return body if ";" not in body and _closes(body) is None else text


def _closes(text: str) -> int | None:
    """Return where a bracket is closed that the text does not open."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return at
    return None


def _displayed(text: str) -> tuple[str, bool]:
    """Return what stands in the groups of `\\displaystyle` as statements, and whether
    something stands around them."""
    parts, around, at = [], [], 0
    while (start := text.find(_DISPLAY, at)) >= 0:
        inside = start + len(_DISPLAY)
        length = _closes(re.sub(r"\\[{}]", "  ", text[inside:]))
        if length is None:
            return text, False
        around.append(text[at:start])
        parts.append(text[inside : inside + length].strip(" .,;"))
        at = inside + length + 1
    around.append(text[at:])
    left = any(each.strip(" .,;\n") for each in around)
    defined = [part for part in parts if "=" in part]
    return " ;\n".join(in_order(defined or parts)), left


def _between_signs(text: str) -> str:
    """Return the formulas between dollar signs or brackets of LaTeX as statements, if
    nothing but words without a meaning stands around them."""
    pieces = re.split(r"\$\$?|\\[\[\]()]", text)
    around, inside = pieces[::2], pieces[1::2]
    words = re.findall(r"[^\s.,:;]+", " ".join(around))
    if len(pieces) % 2 == 0 or not {word.lower() for word in words} <= {
        *_PROSE.split()
    }:
        return text
    inside = [each.strip(" .,;\n") for each in inside]
    defined = [each for each in inside if "=" in each or not each.isalnum()]
    return " ;\n".join(in_order(defined or inside))


def in_order(statements: list[str]) -> list[str]:
    """Return statements with each definition of a name before those that read it."""
    sides = [each.partition("=") for each in statements]
    heads = [head.partition("(")[0].strip() if sign else "" for head, sign, _ in sides]
    made: list[str] = []
    left = [*range(len(statements))]
    while left:
        for at in left:
            read = {*re.findall(r"[^\W\d]\w*", sides[at][2] or statements[at])}
            names = {heads[n] for n in left if n != at and heads[n]}
            if heads[at] in names or not read & names:
                break
        else:
            return statements
        left.remove(at)
        made.append(statements[at])
    return made


def _unprinted(text: str) -> tuple[str, list[str]]:
    """Return a text without its prints; what the last one prints is its value."""
    lines, notes = text.split("\n"), []
    for at, line in enumerate(lines):
        found = _PRINT.fullmatch(line) if line.startswith("print") else None
        if found is None or _closes(found[1]) is not None:
            continue
        values = _arguments(found[1])
        values = [v for v in values if not re.match(r"\w{0,2}[\"']|\w+\s*=[^=]", v)]
        last = not any(each.strip() for each in lines[at + 1 :])
        lines[at] = values[0] if last and len(values) == 1 else ""
        if len(values) > 1 or not last or not values:
            notes.append(f"{shortened(line.strip())} is left out")
    made = "\n".join(lines)
    return (made, notes) if made.strip() else (text, [])


def _arguments(text: str) -> list[str]:
    """Return the arguments of a call."""
    depth, ends, quote = 0, [-1], ""
    for at, sign in enumerate(text):
        if quote or sign in "\"'":
            quote = "" if sign == quote else quote or sign
            continue
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and not depth:
            ends.append(at)
    parts = [text[a + 1 : b].strip() for a, b in pairwise([*ends, len(text)])]
    return [part for part in parts if part]
