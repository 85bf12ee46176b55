"""Answer of `gradcli grad` with verdicts, and its extras on demand: digits, condition
numbers, ranges over a box.

Invariants: the extras are made from the question and the computed gradients; none waits
for the verdicts on these. Where the output is 0, relative errors are undefined, and a
condition number is infinite, or 0 if the input or its gradient is 0.

    conditions(view, [1.0])[0].norm          # |x * f'(x) / f(x)|

    condition: what a relative error of an input becomes in the output
      x  1.5e+03  amplified 1500 times: an error of 1e-16 becomes 1.5e-13

    over the box x = -1.0 .. 2.0
      output  [0.0, 4.0], certified to 3.7e-09
      d/dx    [-2.0, 4.0], certified to 1.5e-08  changes sign: at x = 0.5
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, hypot, inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, TypeAlias

from ..check.box import BoxPlace
from ..check.box import ranges as ranges_over
from ..lang.excerpt import printable
from ..lang.nested import bracketed, nested
from .box import Box, spans_of
from .fields import FLAT, HIDDEN, IF_ANY, Device, DType
from .gradients import (
    Gradients,
    GradView,
    InputView,
    OutputView,
    at_point,
    indices,
    labels,
)
from .line import BLANK, Line, Part, aligned, dim, title
from .not_finite import Trouble
from .numbers import Plain, all_digits, flat, inline, plain
from .verdicts import Checked, Formulas, Summary, Texts, by_name, checked, summary

if TYPE_CHECKING:
    from ..check.box import InputInterval, ProvenRange, Ranges
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


MAX_ROWS = 20
"""Largest number of ranges that are printed, one a line."""

ROUNDING: Mapping[str, float] = {"float64": 1e-16, "float32": 6e-8}
"""Half the distance between neighbouring numbers, relative, by type."""

SHARP = 1.05
"""Condition number below which an error counts as unchanged."""


def extra_lines(view: GradView, extras: GradExtras) -> Iterator[Line]:
    """Yield what was asked for beside the gradients: digits, conditions, ranges."""
    if extras.precisely is not None:
        yield from _digit_lines(extras.precisely, view)
    if extras.conditions is not None:
        yield from _condition_lines(extras.conditions, ROUNDING[view.dtype])
    if extras.ranges is not None:
        yield from _range_lines(extras.ranges, spans_of(extras.boxes), view)


def plain_extras(view: GradView, extras: GradExtras) -> Iterator[Line]:
    """Yield the gradients with all their digits, or their ranges, one a line."""
    if extras.ranges is not None:
        shapes = {given.name: given.shape for given in view.inputs}
        for name, own in extras.ranges.gradients.items():
            pairs = [[r.lower, r.upper] for r in own]
            yield Line((inline(nested(pairs, shapes[name])), "number"))
    elif extras.precisely is not None:
        for numerals in extras.precisely.gradients.values():
            yield Line((_written(numerals), "number"))


def _condition_lines(found: Sequence[Condition], rounding: float) -> Iterator[Line]:
    """Yield a line per input with its condition number, also in words."""
    yield BLANK
    yield title("condition: what a relative error of an input becomes in the output")
    rows: list[list[Part]] = []
    for each in found:
        more = f"; the largest by one entry is {each.largest:.3g}, "
        more = "" if each.entry == each.name else more + printable(each.entry)
        rows.append(
            [
                ("  " + printable(each.name), "name"),
                (f"  {each.norm:.3g}", "number"),
                (f"  {in_words(each.norm, rounding)}", "plain"),
                (more, "dim"),
            ]
        )
    yield from aligned(rows, 1, "      ")


def in_words(number: float, rounding: float) -> str:
    """Return text on what becomes of a relative error ``rounding`` of an input."""
    if isnan(number):
        return "not known: a value or a gradient is not finite"
    if not isfinite(number):
        return "without bound: the output is 0, or the gradient infinite"
    if not number:
        return "none: the output does not change"
    becomes = f"an error of {rounding:g} becomes {number * rounding:.2g}"
    if number < 1 / SHARP:
        return f"damped to {number:.3g} of it: {becomes}"
    if number < SHARP:
        return f"handed on as it is: {becomes}"
    return f"amplified {number:.3g} times: {becomes}"


def _digit_lines(found: Precisely, view: GradView) -> Iterator[Line]:
    """Yield the output and the gradients with all their digits."""
    yield BLANK
    meant = "decimals are exact: 0.1 is a tenth, not the nearest float"
    yield title(f"with {found.digits} digits ({meant})")
    every: list[tuple[str, Numerals | None]]
    every = [(printable(view.output.name), found.output)]
    every += [(label, found.gradients[name]) for name, label in labels(view).items()]
    rows: list[list[Part]] = []
    for label, numerals in every:
        unsettled = numerals is not None and numerals.unsettled
        rows.append(
            [
                ("  " + label, "name"),
                (" = ", "plain"),
                (_written(numerals), "number"),
                (f"  ({UNSETTLED})" * unsettled, "fair"),
            ]
        )
    yield from aligned(rows, 1)
    for said in (*map(doubt, found.doubtful), *kinked(found)):
        yield Line((f"  {said}", "fair"))


def _written(numerals: Numerals | None) -> str:
    """Return numerals as nested lists on one line; the text "None" for None."""
    return "None" if numerals is None else bracketed(numerals.texts, numerals.shape)


def _range_lines(
    found: Ranges, box: Mapping[str, InputInterval], view: GradView
) -> Iterator[Line]:
    """Yield the value's range, then each gradient's with its sign, then the kinks."""
    yield BLANK
    ends = ", ".join(f"{printable(n)} = {_ends(span)}" for n, span in box.items())
    yield title(f"over the box {ends}")
    rows = [(printable(view.output.name), r, "") for r in found.value]
    shapes, called = {given.name: given.shape for given in view.inputs}, labels(view)
    for name, own in found.gradients.items():
        for entry, each in zip(indices(shapes[name]), own, strict=True):
            rows.append((called[name] + entry, each, _sign(each)))
    drawn: list[list[Part]] = [
        [(f"  {label}", "name"), *_range(each), (sign, "plain")]
        for label, each, sign in rows[:MAX_ROWS]
    ]
    yield from aligned(drawn, 1, "      ")
    if len(rows) > MAX_ROWS:
        yield dim(f"  {len(rows) - MAX_ROWS} more: see --json")
    for word, places in (("kink", found.kinks), ("hole", found.holes)):
        for place in places:
            text = f"{word}: {place.what}: near {_near(place)}"
            yield Line((text, "fair"), hang="  ")
    if not (found.close or found.holes):
        text = "the bounds may be wider than the ranges: work or time ran out"
        yield Line((text, "dim"), hang="  ")


def _ends(span: InputInterval) -> str:
    lower, upper = list(span.lower), list(span.upper)
    if len(lower) == 1:
        return f"{all_digits(lower[0])} .. {all_digits(upper[0])}"
    return f"{inline(lower, all_digits)} .. {inline(upper, all_digits)}"


def _range(each: ProvenRange) -> list[Part]:
    """Return the range of the numbers found and how far the bounds lie beyond it; the
    bounds alone if they are not finite or no numbers were found between them."""
    if each.lower > each.upper:
        return [("  no value", "number")]
    if not (isfinite(each.lower) and isfinite(each.upper) and each.least <= each.most):
        return [(f"  [{all_digits(each.lower)}, {all_digits(each.upper)}]", "number")]
    beyond = max(each.least - each.lower, each.upper - each.most, 0.0)
    certified = f", certified to {beyond:.2g}" if beyond else ", certified"
    shown = f"  [{all_digits(each.least)}, {all_digits(each.most)}]"
    return [(shown, "number"), (certified, "dim")]


def _sign(each: ProvenRange) -> str:
    if not each.at:
        return f"  {each.sign}" if each.sign else ""
    return f"  {each.sign}: at " + " and at ".join(map(at_point, each.at))


def _near(place: BoxPlace) -> str:
    parts = []
    for name, (low, high) in place.near.items():
        where = all_digits(low) if low == high else f"{low:.6g} .. {high:.6g}"
        parts.append(f"{printable(name)} = {where}")
    return ", ".join(parts)
