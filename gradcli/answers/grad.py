"""Extras of `gradcli grad` on demand, and its answer with verdicts and extras.

Invariants: digits, condition numbers and ranges are made from the question and the
computed gradients; none waits for the verdicts on these. Where the output is 0,
relative errors are undefined, and a condition number is infinite, or 0 if the input or
its gradient is 0.

    conditions(view, [1.0])[0].norm          # |x * f'(x) / f(x)|
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, hypot, inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

from ..check.box import BoxPlace
from ..check.box import ranges as ranges_over
from ..lang.fusion import Fusion
from ..lang.nested import nested
from .box import Box, spans_of
from .closed_forms import indices
from .fields import FLAT, HIDDEN, IF_ANY, Device, DType
from .gradients import Gradients, GradView, InputView, OutputView
from .not_finite import Trouble
from .plain_numbers import Plain, flat, plain
from .verdicts import Checked, Formulas, Summary, Texts, by_name, checked, summary

if TYPE_CHECKING:
    from ..check.box import ProvenRange, Ranges
    from ..check.digits import Numerals, Precisely
    from ..check.process.job import Job, Verification
    from .question import Question

UNSETTLED: Final = "not all digits are certain"
"""Remark on numerals whose last digits are not certain."""

Found: TypeAlias = Annotated[Any, "found"]
"""Numbers found at points, nested like a shape; None where none was found."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Proven bounds, and the extremes of the numbers that were found at points.

    lower  A lower bound of all numbers.
    upper  An upper bound of all numbers.
    least  The smallest number that was found; null: none was.
    most   The largest number that was found; null: none was.
    """

    lower: Plain
    upper: Plain
    least: Found
    most: Found


@dataclass(frozen=True, slots=True)
class Signed:
    """The range of a gradient.

    sign        Whether it keeps its sign.
    changes_at  Points where the sign changes; null if it does not.
    """

    bounds: Bounds = field(metadata=FLAT)
    sign: Texts
    changes_at: Any


@dataclass(frozen=True, slots=True)
class Interval:
    """An input's interval."""

    lower: Plain
    upper: Plain


@dataclass(frozen=True, slots=True)
class BoxRanges:
    """The box and the range of the output.

    inputs  The intervals of the inputs.
    kinks   Places where there may be no derivative.
    holes   Places where there may be no value, or an unbounded one.
    pieces  The number of pieces that the box was cut into.
    close   Whether every bound is close to a number that was found.
    """

    inputs: Mapping[str, Interval]
    output: Bounds
    kinks: tuple[BoxPlace, ...]
    holes: tuple[BoxPlace, ...]
    pieces: int
    close: bool


@dataclass(frozen=True, slots=True)
class GradDigits:
    """A gradient with many digits.

    grad_digits  With --digits: the gradient as decimal text.
    """

    grad_digits: Texts


@dataclass(frozen=True, slots=True)
class Digits:
    """The output with many digits.

    digits  The number of digits.
    output  The output as decimal text.
    notes   Remarks on what the digits rest on.
    """

    digits: int
    output: Texts
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """Reaction of the output to a relative change of one input.

    norm     The norm of the input times that of its gradient, divided by abs(output).
    largest  The largest of the entries' own condition numbers.
    entry    The entry with the largest condition number, as x[1].
    """

    name: str = field(metadata=HIDDEN)
    norm: float
    largest: float
    entry: str


@dataclass(frozen=True, slots=True)
class JudgedInput:
    """An input, its gradient, and the verdict on it.

    closed_form  The gradient as a formula, if it is short.
    condition    With --condition: the factor on relative errors.
    range        With --box: the certified range of the gradient.
    file         With --out: the file that holds the gradient.
    derivative   With --order: the derivative of that order.
    """

    given: InputView = field(metadata=FLAT)
    closed_form: str | None
    checked: Checked = field(metadata=FLAT)
    digits: GradDigits | None = field(metadata=FLAT)
    condition: Condition | None = field(metadata=IF_ANY)
    range: Signed | None = field(metadata=IF_ANY)
    file: str | None = field(metadata=IF_ANY)
    derivative: float | None = field(metadata=IF_ANY)
    formulas: Formulas | None = field(metadata=FLAT)


@dataclass(frozen=True, slots=True)
class Grad:
    """Answer of `gradcli grad`: the output and a gradient per input.

    program          The program's text.
    order            With --order: which derivative was asked for.
    digits           With --digits: the output as decimal text.
    box              With --box: the box and the range of the output.
    blame            Where a gradient became infinite or NaN, and a repair.
    code             With --code: the program that computes the gradient.
    adjoint_program  With --symbolic, for tensors: the gradient as a program.
    trace            With --trace: the regions that ran in parts, and the rest.
    """

    command: ClassVar = "grad"

    program: str
    device: Device
    dtype: DType
    output: OutputView
    inputs: tuple[JudgedInput, ...]
    order: int | None = field(default=None, metadata=IF_ANY)
    digits: Digits | None = field(default=None, metadata=IF_ANY)
    box: BoxRanges | None = field(default=None, metadata=IF_ANY)
    blame: Trouble | None = field(default=None, metadata=IF_ANY)
    code: str | None = field(default=None, metadata=IF_ANY)
    adjoint_program: str | None = field(default=None, metadata=IF_ANY)
    trace: Fusion | None = field(default=None, metadata=IF_ANY)
    verification: Summary = field(default=Summary())


@dataclass(frozen=True, slots=True)
class GradExtras:
    """Results shown with the gradients; None for options that were not given."""

    precisely: Precisely | None = None
    conditions: tuple[Condition, ...] | None = None
    boxes: tuple[Box, ...] = ()
    ranges: Ranges | None = None


def doubt(number: float) -> str:
    """Return a sentence saying that a constant's digits after the 17th are a guess."""
    return f"{number!r} is known to 17 digits only; further digits rest on a guess"


def _unsettled(found: Precisely) -> Iterator[str]:
    """Yield a sentence for the output and each gradient with uncertain digits."""
    by_label = {"the output": found.output} | {
        f"the gradient by {name}": numerals
        for name, numerals in found.gradients.items()
    }
    for label, numerals in by_label.items():
        if numerals is not None and numerals.unsettled:
            yield f"{label}: {UNSETTLED}"


def kinked(found: Precisely) -> Iterator[str]:
    """Yield a sentence for each input by which there is no derivative."""
    for slopes in found.kinked.values():
        yield f"no derivative, the digits are the convention's: the slope by {slopes}"


def extras_of(
    question: Question,
    found: Gradients,
    job: Job | None,
    digits: int | None,
    condition: bool,
    boxes: tuple[Box, ...],
) -> GradExtras:
    """Return the digits, condition numbers and ranges over boxes that were asked for;
    the job, with the program and its values, is for digits and ranges."""
    precisely = conditioned = ranges = None
    if digits is not None and job is not None:
        from ..check.digits import precise

        typed = {binding.name: binding.text for binding in question.values}
        precisely = precise(job, typed, question.grad_output, digits)
    if condition:
        given = found.cotangent
        conditioned = conditions(
            found.view, None if given is None else plain(given.raw)
        )
    if boxes and job is not None:
        from ..check.process.budget import Budget
        from ..check.subject import program_of

        spans, budget = spans_of(boxes), Budget(job.seconds)
        ranges = ranges_over(job, spans, program_of(job), budget)
    return GradExtras(precisely, conditioned, boxes, ranges)


def conditions(view: GradView, cotangent: Plain | None) -> tuple[Condition, ...]:
    """Return the output's condition number for each differentiated input; without a
    cotangent the output is the sum of its entries."""
    values = flat(view.output.known)
    weights = [1.0] * len(values) if cotangent is None else flat(cotangent)
    terms = [w * v for w, v in zip(weights, values, strict=True)]
    try:
        output = abs(fsum(terms))
    except (OverflowError, ValueError):
        # `fsum` refuses a sum beyond the range, and inf - inf.
        output = abs(sum(terms))
    return tuple(_condition(given, output) for given in view.differentiated)


def _condition(given: InputView, output: float) -> Condition:
    values = [] if given.value is None else flat(given.value)
    slopes = [0.0] * len(values) if given.grad is None else flat(given.grad)
    parts = [_ratio(abs(x * g), output) for x, g in zip(values, slopes, strict=True)]
    norm = _ratio(hypot(*values) * hypot(*slopes), output)
    if not parts:
        return Condition(given.name, 0.0, 0.0, given.name)
    worst = max(range(len(parts)), key=lambda i: inf if isnan(parts[i]) else parts[i])
    entry = given.name + indices(given.shape)[worst]
    return Condition(given.name, norm, parts[worst], entry)


def _ratio(change: float, output: float) -> float:
    if not isfinite(output):
        return nan
    if output:
        return change / output
    return nan if isnan(change) else inf if change else 0.0


def judged(
    view: GradView,
    verification: Verification | None,
    extras: GradExtras | None = None,
    formulas: Sequence[Formulas] | None = None,
    files: Mapping[str, str] | None = None,
    derivatives: Mapping[str, float] | None = None,
    **more: Any,
) -> Grad:
    """Return the answer: gradients, verdicts and everything else that was asked for.

    There are ``formulas`` of each differentiated input, ``files`` that hold a gradient
    and ``derivatives`` of a higher order by the name of the input; ``more`` are further
    fields of the answer.
    """
    verdicts = by_name(verification)
    names = [given.name for given in view.differentiated]
    written = dict(zip(names, formulas or (), strict=formulas is not None))
    extras = extras or GradExtras()
    reacts = {each.name: each for each in extras.conditions or ()}
    precisely, ranges = extras.precisely, extras.ranges
    inputs = []
    for given in view.inputs:
        name, verdict = given.name, verdicts.get(given.name)
        digits = signed = None
        if precisely is not None and name in precisely.gradients:
            digits = GradDigits(_texts(precisely.gradients[name]))
        if ranges is not None and name in ranges.gradients:
            signed = _signed(ranges.gradients[name], given.shape)
        inputs.append(
            JudgedInput(
                given,
                verdict.closed_form if verdict else None,
                checked(verdict),
                digits,
                reacts.get(name),
                signed,
                (files or {}).get(name),
                (derivatives or {}).get(name),
                written.get(name),
            )
        )
    return Grad(
        program=view.program,
        device=view.device,
        dtype=view.dtype,
        output=view.output,
        inputs=tuple(inputs),
        digits=None if precisely is None else _digits(precisely),
        box=None if ranges is None else _box(ranges, extras.boxes, view),
        verification=summary(verification),
        **more,
    )


def _digits(found: Precisely) -> Digits:
    notes = (*map(doubt, found.doubtful), *_unsettled(found), *kinked(found))
    return Digits(found.digits, _texts(found.output), notes)


def _texts(numerals: Numerals | None) -> Texts:
    return None if numerals is None else nested(numerals.texts, numerals.shape)


def _box(found: Ranges, boxes: Sequence[Box], view: GradView) -> BoxRanges:
    shapes = {given.name: given.shape for given in view.inputs}
    inputs = {
        n: Interval(nested(span.lower, shapes[n]), nested(span.upper, shapes[n]))
        for n, span in spans_of(boxes).items()
    }
    output = _bounds(found.value, view.output.shape)
    close = found.close
    return BoxRanges(inputs, output, found.kinks, found.holes, found.pieces, close)


def _signed(found: Sequence[ProvenRange], shape: Sequence[int]) -> Signed:
    """Return the range of a gradient, with the points where it changes its sign."""
    points = [[dict(p) for p in r.at] or None for r in found]
    signs = nested([r.sign for r in found], shape)
    return Signed(_bounds(found, shape), signs, nested(points, shape))


def _bounds(found: Sequence[ProvenRange], shape: Sequence[int]) -> Bounds:
    """Return the bounds of each entry, nested like the shape; an infinity stands for no
    number found."""

    def each(number: Callable[[ProvenRange], float | None]) -> Any:
        return nested([number(r) for r in found], shape)

    return Bounds(
        each(lambda r: r.lower),
        each(lambda r: r.upper),
        each(lambda r: r.least if isfinite(r.least) else None),
        each(lambda r: r.most if isfinite(r.most) else None),
    )
