"""``gradcli plot``: a value and its derivative over a range of an input, or of two."""

from __future__ import annotations

import re
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Annotated, Final

from typer import Option

from ...answers.box import RANGE
from ...answers.curves import Curve, KinkMark, plotted
from ...answers.gradients import gradients
from ...answers.jsons import as_json
from ...answers.kinks import kinks
from ...answers.line import Line, chosen
from ...lang.bindings import read_binding, read_bindings
from ...lang.compiler import compile_program
from ...lang.errors import ProgramError
from ...lang.parser import parse
from ...lang.prepare import read_program
from ...lang.run import input_names
from ..at_points import over_sweep
from ..limits import allow
from ..options import (
    NEEDS_ALL_VALUES,
    PRINTS_NOTHING_SHORTER,
    Many,
    Request,
    refuse_idle,
    without,
)
from ..output import Printer, note, warn, warn_non_finite
from ..problems import put, suffix_of, wrong
from ..sources import STDIN, program_and_bindings, question_of, refuse_slip

if TYPE_CHECKING:
    from ...answers.curves import Curve, Field, KinkMark
    from ...answers.question import Question
    from ...lang.run import Run

ENDINGS = (".svg", ".png", ".html", ".json")

USUAL: Final = "-5..5"
"""Range of an input that has neither a value nor a range."""


@without(NEEDS_ALL_VALUES)
def main(
    request: Request,
    out: Annotated[
        str | None,
        Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write a picture: .svg, .png, .html, or .json for the numbers.",
        ),
    ] = None,
    log: Annotated[
        str,
        Option(
            "--log",
            metavar="AXES",
            help="Make the axis x, y or both (xy) logarithmic. The axis of the value "
            "is always logarithmic if the value grows over many powers of ten.",
        ),
    ] = "",
) -> int:
    """Curves of a value and its derivative, over x=START..STOP.

    Kinks are marked. NAME=START..STOP:COUNT sets the number of points. Without a range
    x runs from -5 to 5. With two ranges and -o FILE, lines of equal value are drawn,
    with arrows uphill.

    Example: gradcli plot "x^2*sin(x)" x=-3..3
    """
    if out is None:
        refuse_idle("gradcli plot", PRINTS_NOTHING_SHORTER)
    if request.shape:
        hint = "give each input a value or a range: y=[1,2]"
        raise wrong("E590", "--shape does nothing: a curve draws no values", hint)
    words, sweep = _ranges(request)
    if not sweep:
        sweep = _usual_ranges(request)
    if out is not None:
        suffix_of(out, ENDINGS)
    elif len(sweep) > 1 and not request.json:
        hint = "name the picture's file with -o, as in -o p.svg"
        raise wrong("E595", "lines of equal value are drawn in a file", hint)
    if not {*log} <= {*"xy"} or (log and len(sweep) > 1):
        hint = "give x, y or xy, and one range"
        raise wrong("E595", f"--log: a curve has no axes {log!r}", hint)
    ranged = [word.partition("=")[0].strip() for word in sweep]
    question = question_of(replace(request, words=words), others=ranged)
    view = over_sweep(question, Many(sweep=sweep), log)
    view = replace(view, output=_name(question))
    if isinstance(view, Curve):
        view = replace(view, kinks=_kinks(question, view))
    if out is not None and not request.json:
        return _written(view, out, log)
    if not isinstance(view, Curve):
        return Printer().show(view, ())
    printer = Printer()
    return printer.show(view, plotted(view, printer.layout, log))


def _ranges(request: Request) -> tuple[list[str], list[str]]:
    """Return the words without those of ranges, and the ranges as sweeps."""
    words = list(request.words or ())
    first = 0 if request.file is not None else 1
    ranges = [word for word in words[first:] if RANGE.fullmatch(word)]
    if first and words:
        refuse_slip(words[0], words[1:], request.wrt)
    if len(ranges) > 2:
        raise wrong("E595", "plot: more than two ranges", "give one or two: x=-3..3")
    return [word for word in words if word not in ranges], ranges


def _usual_ranges(request: Request) -> list[str]:
    """Return ranges for the inputs without a value, of which there are one or two."""
    none = wrong("E595", "plot: no input has a range", "give one or two: x=-3..3")
    if STDIN in (request.file, *(request.words or ())[:1]):
        raise none
    source, words = program_and_bindings(request)
    given = [binding.name for binding in read_bindings(words)]
    text = read_program(source, (), {}, lambda text: None)
    missing = [n for n in input_names(parse(text, given), given) if n not in given]
    if not 1 <= len(missing) <= 2:
        raise none
    shown = " and ".join(missing)
    runs = "runs" if len(missing) == 1 else "run"
    example = f"{missing[0]}=START..STOP"
    note(f"note: {shown} {runs} from -5 to 5; {example} gives another range")
    return [f"{name}={USUAL}" for name in missing]


def _kinks(question: Question, view: Curve) -> tuple[KinkMark, ...] | None:
    """Return the kinks of a curve; None if they cannot be looked for."""
    if not question.verified:
        return None
    (name,) = view.inputs
    question = replace(question, wrt=[name])
    low, high = float(view.x[0]), float(view.x[-1])
    middle, radius = (low + high) / 2, (high - low) / 2
    try:
        found = gradients(_run_at(question, name, middle), None, with_graph=False)
        warn_non_finite(found.trouble)
        allow(question.seconds)
        answer = kinks(found, radius, question.seconds)
    except ProgramError as error:
        warn(f"kinks are not marked: {error.message}")
        return None
    marks: dict[float, str] = {}
    for kink in answer.kinks:
        moved = answer.places[kink.place].values
        others_stay = all(n == name for n in moved)
        at = moved.get(name, middle) if others_stay else None
        if at is not None and low <= at <= high:
            text = kink.condition or kink.function or ""
            marks.setdefault(at, text if kink.line is None else kink.source)

    def height(at: float) -> float:
        """Return the value at a kink; NaN where the program has none."""
        try:
            return float(_run_at(question, name, at).output.item())
        except (ProgramError, ValueError):
            return nan

    return tuple(KinkMark(at, marks[at], height(at)) for at in sorted(marks))


def _run_at(question: Question, name: str, value: float) -> Run:
    values = (*question.values, read_binding(f"{name}={value!r}"))
    return replace(question, values=values, tell=lambda text: None).run()


def _name(question: Question) -> str | None:
    """Return the name of the program's value; None if it has none."""
    if question.of is not None:
        return question.of
    assigned = compile_program(parse(question.program, ())).assigned
    statement = re.split("[;\n]", question.program.strip())[-1]
    found = re.fullmatch(r"\s*([^\W\d]\w*)\s*=[^=].*", statement)
    return found[1] if found and found[1] in assigned else None


def _written(view: Curve | Field, out: str, log: str) -> int:
    from ...pictures.plot import page, plot
    from ...pictures.svg import whole

    suffix = suffix_of(out, ENDINGS)
    if suffix == ".json":
        (line,) = as_json(view)
        content = f"{line.text}\n".encode()
    elif suffix == ".html":
        content = whole(page(view, chosen.name, log)).encode()
    else:
        document = whole(plot(view, chosen.name, log))
        content = document.encode()
        if suffix != ".svg":
            from ...pictures.pixels import to_png

            content = to_png(document, warn)
    put(out, content, "give a file in a folder that can be written to")
    said = Line((f"written to {out}", "plain"))
    return Printer().show(view, [said], ())
