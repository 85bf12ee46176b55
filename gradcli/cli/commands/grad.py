"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..checking import CheckProcess, needs_verdict, show_checked
from ..forms import Forms, joined, program_of_gradients
from ..limits import MAX_DIGITS, MAX_ORDER
from ..option_groups import Many
from ..options import GradOutput, Request, Requirement
from ..output import Printer, form, note, warn_non_finite
from ..problems import typed, wrong
from ..sources import question_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ...answers.box import Box
    from ...answers.closed_forms import ProgramView
    from ...answers.grad import GradExtras
    from ...answers.line import Line, Part
    from ...answers.question import Question
    from ...check.process.job import Verification
    from ...lang.fusion import Fusion
    from ...lang.run import Run
    from ..symbols import SymbolicAnswer


@dataclass(frozen=True, slots=True)
class PointOptions:
    """A group of options: what else is computed at one point."""

    grad_output: GradOutput = None
    digits: Annotated[
        int | None,
        Option(
            "--digits",
            metavar="N",
            min=1,
            max=MAX_DIGITS,
            help="Show also N certified digits of value and gradients; a decimal is "
            "taken exactly as it is typed.",
        ),
    ] = None
    condition: Annotated[
        bool,
        Option(
            "--condition", help="Show how much an input's relative error is amplified."
        ),
    ] = False
    box: Annotated[
        list[str] | None,
        Option(
            "--box",
            metavar="NAME=A..B",
            help="Certified ranges for an input between two values: of value and "
            "gradients, with the gradients' signs.",
        ),
    ] = None


def main(
    request: Request,
    forms: Forms,
    many: Many,
    beside: PointOptions,
    trace: Annotated[
        bool,
        Option(
            "--trace",
            help="Tell on stderr what was computed part by part: which region of the "
            "program on all cores, and why the rest was not.",
        ),
    ] = False,
    order: Annotated[
        int,
        Option(
            "--order",
            metavar="N",
            min=1,
            max=MAX_ORDER,
            help="The N-th derivative by each input; of numbers by numbers.",
        ),
    ] = 1,
    require: Requirement = None,
) -> int:
    """Gradients of a program by its inputs, checked; without values as formulas.

    Example: gradcli grad "y = x**3 + b" x=2 b=1
    """
    others = {**asdict(forms), **asdict(beside)}
    if many.asked(".npz", ".npy"):
        many.refuse(request, require, **others, order=order > 1)
        from ..at_points import run

        question = question_of(request, beside.grad_output, others=None)
        return run(question, many, "grad", trace, require)
    if order > 1:
        extra = typed(**others, trace=trace)
        if extra:
            message = f"--order shows the derivatives alone, without {extra[0]}"
            raise wrong("E590", message, "drop one of them")
        return _of_order(question_of(request, beside.grad_output), order, require)
    forms.check(digits=beside.digits, condition=beside.condition, box=beside.box)
    asked = {"digits": beside.digits, "condition": beside.condition, "box": beside.box}
    symbols = forms.in_symbols(**asked, out=many.out, trace=trace)
    ranged = [text.partition("=")[0].strip() for text in beside.box or ()]
    question = question_of(request, beside.grad_output, symbols, ranged)
    return _at_one_point(question, forms, beside, many.out, trace, require)


def _at_one_point(
    question: Question,
    forms: Forms,
    beside: PointOptions,
    out: str | None,
    trace: bool,
    require: str | None,
) -> int:
    """Print the gradients, what is computed beside them, and their verdicts; return the
    exit status."""
    check = CheckProcess(question, forms.formulas or needs_verdict(require))
    from ...answers import gradients as draw
    from ...answers.gradients import gradients, without
    from ...answers.line import unbroken

    layout = Printer().layout
    wholly = typed(**asdict(forms), **asdict(beside))
    run, boxes, fusion = _run(question, beside.box, wholly, trace)
    symbols: SymbolicAnswer | None = None
    if question.symbols and run.prepared.missing:
        from ..symbols import SymbolicAnswer

        symbols = SymbolicAnswer(forms, check)
    forms = symbols.forms if symbols is not None else forms
    drawn = form.full and not forms.code_only
    found = gradients(run, question.grad_output, with_graph=drawn)
    view = found.view
    if symbols is None:
        warn_non_finite(found.trouble)
    else:
        view = view.in_symbols()
    files: dict[str, str] = {}
    if out is not None:
        from ..array_files import write_gradients

        files = write_gradients(out, found)
    precise = beside.digits is not None or bool(boxes)
    job = None
    if check.wanted or precise:
        job, reason = found.job(question.seconds, forms.formulas, precise)
        if check.wanted:
            check.submit(job, reason)
    code: list[str] | None = None
    adjoint: ProgramView | None = None
    extras: GradExtras | None = None

    def numbers() -> Iterator[Iterable[Line]]:
        nonlocal code, adjoint, extras
        if drawn and symbols is None:
            yield draw.answer(view, layout, files)
        elif not (drawn or forms.code_only or precise):
            yield draw.plain_gradients(view, files)
        code = forms.code_of(run, "gradient", found.cotangent)
        adjoint = program_of_gradients(found) if forms.symbolic else None
        if forms.code_only:
            yield map(unbroken, code or ())
        elif precise or beside.condition:
            from ...answers import extra_lines as further
            from ...answers.grad import extras_of

            asked = beside.digits, beside.condition, boxes
            extras = extras_of(question, found, job, *asked)
            yield (further.extra_lines if drawn else further.plain_extras)(view, extras)

    def judged(verification: Verification | None) -> object:
        from ...answers.grad import judged

        return judged(
            without(view, files) if files else view,
            verification,
            extras,
            forms.written(view, verification),
            files,
            blame=found.trouble if symbols is None else None,
            code=joined(code),
            adjoint_program=joined(None if adjoint is None else adjoint.lines),
            trace=fusion,
        )

    def more(verification: Verification | None) -> Iterator[Line]:
        if symbols is None:
            yield from forms.lines(view, verification, layout)
        else:
            yield from symbols.lines(view, verification, labels, what, layout)
        if adjoint is not None and drawn:
            from ...answers.formula_lines import program

            yield from program(adjoint, symbols is not None)

    def finish() -> Verification | None:
        if symbols is None:
            return check.finish()
        symbols.written = adjoint is not None
        return symbols.finish(view)

    labels, what = draw.labels(view) if drawn else {}, "gradients"
    shown = labels if symbols is None else {}
    told = shown, what, more, symbols is not None or found.trouble is None
    status = show_checked(numbers(), finish, require, judged, *told)
    if symbols is not None:
        symbols.refuse()
    return status


def _run(
    question: Question, box: list[str] | None, wholly: list[str], trace: bool
) -> tuple[Run, tuple[Box, ...], Fusion | None]:
    """Run the program, at the middle of the box if there is one; return the run, the
    boxes, and, if it is wanted, a record of what ran in parts.

    The options ``wholly`` need the whole graph.
    """
    boxes: tuple[Box, ...] = ()
    middle, fusion = question, None
    if box:
        from ...answers.box import at_middles, note_middles, read_boxes

        boxes = read_boxes(question, box)
        middle = at_middles(question, boxes)
    if trace:
        from ...lang.fusion import Fusion

        fusion = Fusion()
        for option in wholly:
            fusion.refused(f"{option} needs the graph of everything")
    run = middle.run() if wholly else middle.run_in_parts(fusion)
    if fusion is not None and not form.json:
        from ...answers.notes import fusion_notes

        for line in fusion_notes(fusion):
            note(line)
    if boxes:
        note_middles(question, boxes)
    return run, boxes, fusion


def _of_order(question: Question, order: int, require: str | None) -> int:
    from ...answers.gradients import orders
    from ...answers.line import BLANK, Line
    from ...answers.numbers import number, value_lines
    from ...lang.excerpt import printable

    found = orders(question, order)
    checked = question.verified and (require is not None or not form.numbers_only)

    def lines() -> Iterator[Line]:
        if not form.quiet:
            output = found.view.output
            layout = Printer().layout
            yield from value_lines(printable(output.name), output.value, layout)
            yield BLANK
        for name, value in found.derivatives.items():
            shown: Part = (number(value), "number")
            label = printable(found.labels[name])
            whole: tuple[Part, ...] = (label, "name"), (" = ", "plain"), shown
            yield Line(shown) if form.quiet else Line(*whole)

    def judged(verification: Verification | None) -> object:
        from ...answers.grad import judged

        return judged(
            found.view, verification, derivatives=found.derivatives, order=order
        )

    verified = found.verified if checked else lambda: None
    labels = found.labels
    return show_checked([lines()], verified, require, judged, labels, "derivatives")
