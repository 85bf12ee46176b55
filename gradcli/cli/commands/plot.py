"""``gradcli plot``: a value and its derivative over a range of an input, or of two."""

from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

from ..many import Many
from ..options import (
    NEEDS_ALL_VALUES,
    PRINTS_NOTHING_SHORTER,
    Request,
    refuse_idle,
    without,
)
from ..output import Printer, show
from ..problems import wrong
from ..sources import question_of, refuse_slip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...answers.plot import Curve, Field, KinkMark
    from ...answers.question import Question
    from ...lang.compiled import Gradients
    from ...lang.nested import Floats
    from ...lang.run import Run
    from ...render.line import Line

POINTS = 401
"""Number of points of a curve."""

SIDE_POINTS = 81
"""Number of points along each side where two inputs have a range."""

ENDINGS = (".svg", ".png", ".pdf", ".json")

_RANGE = re.compile(r"(?P<name>[^\W\d]\w*)=(?P<ends>[^@\[:]*:[^:]*?)(?P<count>:\d+)?")


@without(NEEDS_ALL_VALUES)
def main(
    request: Request,
    out: str | None = None,
) -> int:
    """Curves of a value and its derivative, over x=START:STOP.

    Kinks are marked. Of two inputs with a range, lines of equal value are drawn, with
    arrows uphill. NAME=START:STOP:COUNT says how many points.

    Example: gradcli plot "x^2*sin(x)" x=-3:3

    -o, --out FILE: Write a picture: .svg, .png, .pdf, or .json for the numbers.
    """
    if out is None:
        refuse_idle("gradcli plot", PRINTS_NOTHING_SHORTER)
    if request.shape:
        hint = "give each input a value or a range: y=[1,2]"
        raise wrong("E590", "--shape does nothing: a curve draws no values", hint)
    words, sweep = _ranges(request)
    if out is not None:
        from ..drawing import check_ending, require

        suffix = check_ending(out, ENDINGS)
        if suffix != ".json":
            lines = ("contourpy",) if len(sweep) > 1 else ()
            require(suffix, lines, "-o p.json needs nothing")
    many = Many(sweep=sweep, plot=True)
    question = question_of(replace(request, words=words))
    if out is None and not request.json:
        return _in_terminal(question, many)
    from ..at_points import over_sweep, surface

    axes, found = over_sweep(question, many)
    if getattr(found.value, "ndim", 1) > 1:
        hint = "choose one, as in y[0], or add .sum()"
        raise wrong("E590", "plot: the value is not one number", hint)
    named = question.program, _name(question)
    view: Curve | Field
    if len(axes) == 1:
        view = _curve(question, named, axes, found)
    else:
        from ...answers.plot import Field

        view = Field(*named, surface(axes, found))
    if not request.json:
        assert out is not None
        return _written(view, out)
    return show(view, text=lambda _: ())


def _ranges(request: Request) -> tuple[list[str], list[str]]:
    """Return the words without those of ranges, and the ranges as sweeps.

    Raises:
        ProgramError: there is no range, or there are more than two.
    """
    words = list(request.words or ())
    first = 0 if request.file is not None else 1
    ranges = {word: _RANGE.fullmatch(word) for word in words[first:]}
    found = {word: match for word, match in ranges.items() if match is not None}
    if first and words:
        refuse_slip(words[0], words[1:], request.wrt)
    if not 1 <= len(found) <= 2:
        said = "no input has a range" if not found else "more than two ranges"
        raise wrong("E595", f"plot: {said}", "give one or two: x=-3:3")
    usual = POINTS if len(found) == 1 else SIDE_POINTS
    sweeps = [
        f"{m['name']}={m['ends']}{m['count'] or f':{usual}'}" for m in found.values()
    ]
    kept = words[:first] + [word for word in words[first:] if word not in found]
    return kept, sweeps


def _in_terminal(question: Question, many: Many) -> int:
    """Draw the curve of dots, and list the kinks below it; return the exit status."""
    from ..at_points import factory_of, run, swept

    status = run(question, many)
    if len(many.sweep or ()) > 1:
        return status
    axes = swept(many.sweep or (), factory_of(question), rising=True)
    ((name, values),) = axes.items()
    marks = _kinks(question, name, float(min(values)), float(max(values)))
    Printer().lines(_told(name, marks))
    return status


def _told(name: str, marks: Sequence[KinkMark] | None) -> Iterator[Line]:
    from ...lang.excerpt import printable
    from ...render.line import Line
    from ...render.numbers import number

    for mark in marks or ():
        where = f"kink at {printable(name)} = {number(mark.at)}"
        yield Line((where, "fair"), (f"  {printable(mark.text)}", "plain"))


def _kinks(
    question: Question, name: str, low: float, high: float
) -> tuple[KinkMark, ...] | None:
    """Return the kinks between two values; None if they cannot be looked for."""
    if not question.verified:
        return None
    from ...answers.gradients import gradients
    from ...answers.kinks import kinks
    from ...answers.plot import KinkMark
    from ...lang.errors import ProgramError
    from ..limits import allow
    from ..output import tell, tell_trouble

    question = replace(question, wrt=[name])
    middle, radius = (low + high) / 2, (high - low) / 2
    try:
        found = gradients(_run_at(question, name, middle), None, with_graph=False)
        tell_trouble(found.trouble)
        allow(question.seconds)
        answer = kinks(found, radius, question.seconds)
    except ProgramError as error:
        tell(f"kinks are not marked: {error.message}")
        return None
    marks: dict[float, str] = {}
    for kink in answer.kinks:
        values = answer.places[kink.place].values
        others_stay = all(n == name for n in values)
        at = values.get(name, middle) if others_stay else None
        if at is not None and low <= at <= high:
            known = kink.line is not None
            other = kink.condition or kink.function or ""
            marks.setdefault(at, kink.source if known else other)
    return tuple(
        KinkMark(at, marks[at], _value_at(question, name, at)) for at in sorted(marks)
    )


def _value_at(question: Question, name: str, at: float) -> float:
    """Return the value at a kink; NaN where the program has none."""
    from ...lang.errors import ProgramError

    try:
        return float(_run_at(question, name, at).output.item())
    except (ProgramError, ValueError):
        return nan


def _run_at(question: Question, name: str, value: float) -> Run:
    """Return the run of the program at one value of an input."""
    from ...lang.bindings import read_binding

    values = (*question.values, read_binding(f"{name}={value!r}"))
    return replace(question, values=values, tell=lambda text: None).run()


def _curve(
    question: Question,
    named: tuple[str, str | None],
    axes: Mapping[str, Floats],
    found: Gradients,
) -> Curve:
    from ...answers.plot import Curve

    ((name, x),) = axes.items()
    kinks = _kinks(question, name, float(min(x)), float(max(x)))
    slope: Any = found.grads.get(name)
    return Curve(*named, (name,), x, found.value, slope, kinks)


def _name(question: Question) -> str | None:
    """Return the name of the program's value; None if it has none."""
    if question.of is not None:
        return question.of
    from ...lang.compiler import compile_program
    from ...lang.parser import parse

    assigned = compile_program(parse(question.program, ())).assigned
    statement = re.split("[;\n]", question.program.strip())[-1]
    found = re.fullmatch(r"\s*([^\W\d]\w*)\s*=[^=].*", statement)
    return found[1] if found and found[1] in assigned else None


def _written(view: Curve | Field, out: str) -> int:
    from ...lang.excerpt import printable
    from ...render.graphs.plot import plot
    from ...render.graphs.svg import whole
    from ...render.line import Line
    from ...render.theme import chosen
    from ..drawing import check_ending, note_letters, put
    from ..output import note

    suffix = check_ending(out, ENDINGS)
    if suffix == ".json":
        from ...render.jsons import as_json

        (line,) = as_json(view)
        content = f"{line.text}\n".encode()
    else:
        document = whole(plot(view, chosen.name))
        content = document.encode()
        if suffix != ".svg":
            from ...render.graphs.pixels import converted

            content = converted(document, suffix, lambda text: note(f"note: {text}"))
    put(out, content)
    note_letters(suffix, view.program)
    said = Line((f"written to {printable(out)}", "plain"))
    return show(view, bare=list, text=lambda layout: [said])
