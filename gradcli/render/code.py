"""A derivative as a function in C, or in Python on NumPy or PyTorch.

Invariant: the text is complete: it compiles, or imports, by itself; what it cannot say
in code, as where it holds, stands in the comment on top.

    code(listing, "L = sum(x*x)", "L", "c")

    void gradient(const double *x, double *value, double *x_grad)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from ..lang.excerpt import printable
from .code_c import NEEDS, C
from .code_names import Names
from .code_python import FRAMES, NUMPY, TORCH, Frame
from .code_walk import Walk

if TYPE_CHECKING:
    from ..verify.straight_line import Listing, Result

LANGUAGES: Final = {language.name: language for language in (NUMPY, TORCH, C)}

KINDS: Final = {
    "gradient": ("gradient", "grad"),
    "jacobian": ("Jacobian", "jac"),
    "hessian": ("Hessian", "hess"),
}
"""What is made, and what the names of its results end with."""

SHOWN: Final = 12
"""Conditions that are written out."""

PIVOTS: Final = (
    "The pivots of a matrix are those of the point that it was made at: elsewhere",
    "digits may be lost, and a pivot that is 0 gives nan.",
)

WIDTH: Final = 80

KEPT: Final = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class Called:
    """What everything is called in the code."""

    function: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]


def code(
    listing: Listing, program: str, output: str, language: str,
    notes: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """The lines of the text.

    Args:
        listing: the steps.
        program: the program's text, for the comment on top.
        output: the name of what is differentiated, or nothing.
        language: one of `LANGUAGES`.
        notes: what else has to be known of the numbers, a line each.
    """
    spoken = LANGUAGES[language]
    names = Names(spoken)
    ending = KINDS[listing.kind][1]
    called = Called(
        names.claim(listing.kind),
        tuple(names.claim(name) for name, _ in listing.inputs),
        tuple(
            names.claim("_".join([*result.by, ending]) if result.by else "value")
            for result in listing.results
        ),
    )
    walk = Walk(listing, spoken, names, called.inputs)
    about = [
        *_about(listing, called, program, output),
        *_after_blank(notes),
        *_after_blank(PIVOTS if listing.pivoted else ()),
        *_after_blank(list(_conditions(walk))),
    ]
    frame = _c if spoken is C else _python
    return list(frame(listing, called, walk, about))


def _after_blank(lines: Sequence[str]) -> list[str]:
    return ["", *lines] if lines else []


def _about(
    listing: Listing, called: Called, program: str, output: str
) -> Iterator[str]:
    """What comes in and out."""
    yield f"The {KINDS[listing.kind][0]} of:"
    for line in program.strip("\n").split("\n"):
        yield "    " + _harmless(printable(line.rstrip()))
    yield ""
    for name, (given, shape) in zip(called.inputs, listing.inputs, strict=True):
        renamed = "" if name == given else f" (here for {_harmless(printable(given))})"
        yield f"in   {name}: {_shape(shape)}{renamed}"
    for name, result in zip(called.results, listing.results, strict=True):
        yield f"out  {name}: {_meaning(result, output)}, {_shape(result.shape)}"


def _conditions(walk: Walk) -> Iterator[str]:
    """Where the code holds."""
    held = list(walk.conditions())
    if held:
        yield "Branches, sorted orders and indices are those of the point that it was"
        yield "made at. It holds where"
        known = [text for text in held if text is not None][:SHOWN]
        yield from (f"    {text}" for text in known)
        if len(held) > len(known):
            yield f"    and {len(held) - len(known)} more conditions hold, not shown"


def _harmless(text: str) -> str:
    """No text ends a comment, begins one in it, or is read for another sign."""
    for sign in ("*/", "/*", "??"):
        text = text.replace(sign, " ".join(sign))
    return text


def _shape(shape: Sequence[int]) -> str:
    return f"shape {list(shape)}" if shape else "a number"


def _meaning(result: Result, output: str) -> str:
    of = _harmless(printable(output))
    by = [_harmless(printable(name)) for name in result.by]
    if not by:
        return of or "the output"
    power = len(by) if len(by) > 1 else ""
    return f"d{power}{of}/d{' d'.join(by)}"


def _texts(result: Result, walk: Walk) -> list[str]:
    return [walk.texts[place] for place in result.places]


def _c(listing: Listing, called: Called, walk: Walk, about: list[str]) -> Iterator[str]:
    yield "/*"
    yield from (f" * {line}".rstrip() for line in about)
    if any(result.shape for result in listing.results):
        yield " *"
        yield " * Arrays are in C order; results may not overlap inputs."
    yield " */"
    yield "#include <math.h>"
    yield ""
    for helper in _helpers(walk):
        yield from walk.language.helpers[helper].splitlines()
        yield ""
    yield from _signature(listing, called)
    yield "{"
    yield from (f"    (void){n};" for n in called.inputs if n not in walk.read)
    yield from (f"    {line}" for line in walk.statements)
    for name, result in zip(called.results, listing.results, strict=True):
        if not result.shape:
            yield f"    *{name} = {walk.texts[result.places[0]]};"
            continue
        for flat, text in enumerate(_texts(result, walk)):
            yield f"    {name}[{flat}] = {text};"
        if not result.places:
            yield f"    (void){name};"
    yield "}"


def _helpers(walk: Walk) -> Iterator[str]:
    """What has to be defined, what others call before them."""
    wanted: dict[str, None] = {}
    for name in walk.functions:
        own = walk.language.spelled[name].template.partition("(")[0]
        if own in walk.language.helpers:
            wanted |= dict.fromkeys((*NEEDS.get(own, ()), own))
    return iter(wanted)


def _signature(listing: Listing, called: Called) -> Iterator[str]:
    given = [
        f"const double *{name}" if shape else f"double {name}"
        for name, (_, shape) in zip(called.inputs, listing.inputs, strict=True)
    ]
    parts = [*given, *(f"double *{name}" for name in called.results)]
    head = f"void{KEPT}{called.function}("
    # A parameter's type and name stay on one line.
    line = head + ", ".join(part.replace(" ", KEPT) for part in parts) + ")"
    lines = wrap(
        line, WIDTH, subsequent_indent=" " * len(head), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    yield from (each.replace(KEPT, " ") for each in lines)


def _python(
    listing: Listing, called: Called, walk: Walk, about: list[str]
) -> Iterator[str]:
    frame = FRAMES[walk.language.name]
    yield from (f"# {line}".rstrip() for line in about)
    yield frame.module
    if any("special." in walk.language.spelled[f].template for f in walk.functions):
        yield "from scipy import special"
    yield ""
    yield ""
    yield f"def {called.function}({', '.join(called.inputs)}):"
    for name, (_, shape) in zip(called.inputs, listing.inputs, strict=True):
        taken = frame.array if shape else frame.number
        if name in walk.read:
            yield f"    {name} = {taken.format(name=name)}"
    yield from (f"    {line}" for line in walk.statements)
    for name, result in zip(called.results, listing.results, strict=True):
        yield from _assembled(name, result, _texts(result, walk), frame)
    value, *rest = called.results
    comma = "," if len(rest) == 1 else ""
    yield f"    return {value}, ({', '.join(rest)}{comma})"


def _assembled(
    name: str, result: Result, texts: Sequence[str], frame: Frame
) -> Iterator[str]:
    if not result.shape:
        yield f"    {name} = {texts[0]}"
    elif not texts:
        yield f"    {name} = {frame.empty.format(shape=result.shape)}"
    else:
        yield f"    {name} = {frame.begin}"
        yield from (f"        {text}," for text in texts)
        behind = f".reshape({result.shape})" if len(result.shape) > 1 else ""
        yield f"    {frame.end}{behind}"
