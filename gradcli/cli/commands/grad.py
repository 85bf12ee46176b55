"""``gradcli grad``: values, gradients, the graph's steps, and verdicts."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated

from ..checking import Shown, show_checked
from ..forms import Forms, joined, program_of_gradients
from ..limits import MAX_DIGITS, MAX_ORDER
from ..many import Many
from ..options import (
    Request,
    Requirement,
    was_typed,
)
from ..output import Printer, form, note, tell_trouble
from ..problems import typed, wrong
from ..sources import question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ...answers.accuracy import Extras
    from ...answers.box import Box
    from ...answers.closed_forms import ProgramView
    from ...answers.grad import Grad
    from ...answers.order import Orders
    from ...answers.question import Question
    from ...lang.fusion import Fusion
    from ...lang.run import Run
    from ...render.line import Layout, Line
    from ...verify.process.job import Verification
    from ..checking import Check


@dataclass(frozen=True, slots=True)
class Beside:
    """A group of options: what else is computed at one point.

    --digits N: Show value and gradients also with N certified digits; a decimal is
        taken exactly as it is typed.
    --condition: Show how much an input's relative error is amplified.
    --box NAME=LOWER..UPPER: Certified ranges of value and gradients, and the gradients'
        signs, where an input lies anywhere between two values.
    """

    grad_output: str | None = None
    digits: Annotated[int | None, {"min": 1, "max": MAX_DIGITS}] = None
    condition: bool = False
    box: list[str] | None = None


def main(
    request: Request,
    forms: Forms,
    many: Many,
    beside: Beside,
    trace: bool = False,
    order: Annotated[int, {"min": 1, "max": MAX_ORDER}] = 1,
    require: Requirement = None,
) -> int:
    """Gradients of a program by its inputs, checked.

    Example: gradcli grad "y = x**3 + b" x=2 b=1

    --trace: Tell on stderr which region of the program was computed part by part on all
        cores, and why the rest was not.
    --order N: The N-th derivative by each input, of numbers by numbers.
    """
    others = {**asdict(forms), **asdict(beside)}
    respond: Callable[[Question], int]
    if many.asked:
        from ..at_points import run as at_points

        one = {"require": require, "order": order > 1, "shape": request.shape,
               "verify-seconds": was_typed("verify_seconds")}  # fmt: skip
        many.refuse(**others, **one)
        respond = partial(at_points, many=many, trace=trace)
    elif order > 1:
        extra = typed(**others, trace=trace)
        if extra:
            message = f"--order shows the derivatives alone, without {extra[0]}"
            raise wrong("E590", message, "drop one of them")
        respond = partial(_of_order, order, require)
    else:
        forms.check(digits=beside.digits, condition=beside.condition, box=beside.box)
        work = partial(_at_one_point, forms, beside, many.out, trace)
        respond = partial(
            show_checked, compute=work, require=require, needed=forms.formulas
        )
    return respond(question_of(request, beside.grad_output))


def _at_one_point(
    forms: Forms,
    beside: Beside,
    out: str | None,
    trace: bool,
    question: Question,
    layout: Layout,
    check: Check,
) -> Shown:
    """Return the gradients as they are printed, with what is computed beside them."""
    from ...answers.accuracy import extras_of
    from ...answers.gradients import gradients, without
    from ...render import beside as further
    from ...render import gradients as draw
    from ...render.line import unbroken

    others = typed(**asdict(forms), **asdict(beside))
    run, boxes, fusion = _run(question, beside.box, others, trace)
    drawn = form.full and not forms.alone
    found = gradients(run, question.grad_output, with_graph=drawn)
    view = found.view
    tell_trouble(found.trouble)
    files: dict[str, str] = {}
    if out is not None:
        from ..array_files import write_gradients

        files = write_gradients(out, found)
    precise = beside.digits is not None or bool(boxes)
    job = None
    if check.wanted or precise:
        job, reason = found.task(question.seconds, forms.formulas, precise)
        if check.wanted:
            check.submit(job, reason)

    @cache
    def program() -> tuple[list[str] | None, ProgramView | None]:
        code = forms.code_of(run, "gradient", found.cotangent)
        return code, program_of_gradients(found) if forms.symbolic else None

    @cache
    def extras() -> Extras:
        return extras_of(question, found, job, beside.digits, beside.condition, boxes)

    def numbers() -> Iterator[Iterable[Line]]:
        if drawn:
            yield draw.answer(view, layout, files)
        elif not (forms.alone or precise):
            yield draw.bare(view, files)
        code, _ = program()
        if forms.alone:
            yield map(unbroken, code or ())
        elif extras().any:
            yield (further.beside if drawn else further.bare)(view, extras())

    def judged(verification: Verification | None) -> Grad:
        from ...answers.grad import judged

        code, adjoint = program()
        return judged(
            without(view, files) if files else view,
            verification,
            extras(),
            forms.written(view, verification),
            files,
            code=joined(code),
            adjoint_program=joined(None if adjoint is None else adjoint.lines),
            fusion=fusion,
        )

    def more(verification: Verification | None) -> Iterator[Line]:
        yield from forms.lines(view, verification, layout)
        _, adjoint = program()
        if adjoint is not None and drawn:
            from ...render.closed_forms import program as written

            yield from written(adjoint)

    labels = draw.labels(view) if drawn else {}
    return Shown(numbers(), judged, labels, "gradients", more)


def _run(
    question: Question,
    box: list[str] | None,
    wholly: Sequence[str],
    trace: bool,
) -> tuple[Run, tuple[Box, ...], Fusion | None]:
    """Run the program, at the middle of the box if there is one; return the run, the
    boxes, and a record of what ran in parts.

    Args:
        question: the program and its point.
        box: the intervals, as texts of ``--box``.
        wholly: the options that need the whole graph.
        trace: whether the record is wanted.
    """
    boxes: tuple[Box, ...] = ()
    middle, fusion = question, None
    if box:
        from ...answers.box import at_middles, read_boxes

        boxes = read_boxes(question, box)
        middle = at_middles(question, boxes)
    if trace:
        from ...lang.fusion import Fusion

        fusion = Fusion()
        for option in wholly:
            fusion.refused(f"{option} needs the graph of everything")
    run = middle.run() if wholly else middle.run_in_parts(fusion)
    if fusion is not None and not form.json:
        from ...render.notes import fusion_notes

        for line in fusion_notes(fusion):
            note(line)
    if boxes:
        from ...answers.box import tell_middles

        tell_middles(question, boxes)
    return run, boxes, fusion


def _of_order(order: int, require: str | None, question: Question) -> int:
    """Print the derivatives, then their verdicts; return the exit status."""
    from ...answers.grad import judged
    from ...answers.order import orders

    found = orders(question, order)
    checked = question.verified and (require is not None or not form.bare)
    shown = Shown(
        [_order_lines(found, Printer().layout)],
        lambda verification: judged(
            found.view, verification, derivatives=found.derivatives, order=order
        ),
        found.labels,
        "derivatives",
    )
    return shown.checked_by(
        lambda: found.verified(question.seconds) if checked else None, require
    )


def _order_lines(found: Orders, layout: Layout) -> Iterator[Line]:
    from ...lang.excerpt import printable
    from ...render.line import BLANK, Line
    from ...render.numbers import number, value_lines

    if form.quiet:
        for value in found.derivatives.values():
            yield Line((number(value), "number"))
        return
    output = found.view.output
    yield from value_lines(printable(output.name), output.value, layout)
    yield BLANK
    for name, value in found.derivatives.items():
        label = printable(found.labels[name])
        yield Line((label, "name"), (" = ", "plain"), (number(value), "number"))
