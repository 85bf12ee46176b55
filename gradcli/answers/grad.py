"""Answer of `gradcli grad` as a JSON object: gradients, verdicts, and all extras that
were asked for.

Invariant: nothing is computed here; numbers, verdicts and formulas are put together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from ..diagnosis.not_finite import Trouble
from ..lang.fusion import Fusion
from ..lang.nested import nested
from ..verify.box import Place
from ..views.fields import FLAT, IF_ANY, Device, DType
from ..views.numbers import Plain
from .accuracy import Condition, Extras, doubt, unsettled
from .box import spans_of
from .gradients import GradView, InputView, OutputView
from .verdicts import Checked, Formulas, Summary, Texts, by_name, checked, summary

if TYPE_CHECKING:
    from ..verify.box import Range
    from ..verify.digits import Numerals
    from ..verify.process.job import Verification

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
    kinks: tuple[Place, ...]
    holes: tuple[Place, ...]
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
    order: int | None = field(metadata=IF_ANY)
    digits: Digits | None = field(metadata=IF_ANY)
    box: BoxRanges | None = field(metadata=IF_ANY)
    blame: Trouble | None = field(metadata=IF_ANY)
    code: str | None = field(metadata=IF_ANY)
    adjoint_program: str | None = field(metadata=IF_ANY)
    trace: Fusion | None = field(metadata=IF_ANY)
    verification: Summary


NOTHING = Extras(None, None, None, (), None)


def judged(
    view: GradView,
    verification: Verification | None,
    extras: Extras = NOTHING,
    formulas: Sequence[Formulas] | None = None,
    files: Mapping[str, str] | None = None,
    derivatives: Mapping[str, float] | None = None,
    order: int | None = None,
    code: str | None = None,
    adjoint_program: str | None = None,
    fusion: Fusion | None = None,
) -> Grad:
    """Return the answer: gradients, verdicts and everything else that was asked for.

    Args:
        view: the gradients.
        verification: the verdicts; None: nothing was checked.
        extras: digits, condition numbers and ranges.
        formulas: the formulas of each differentiated input; None: not asked for.
        files: the file that holds an input's gradient, by the input's name.
        derivatives: derivatives of order ``order``, by the input's name.
        order: the order of these derivatives, above the first.
        code: the program that computes the gradient.
        adjoint_program: the gradient as a program.
        fusion: the record of what was computed in parts.
    """
    verdicts = by_name(verification)
    names = [given.name for given in view.differentiated]
    written = dict(zip(names, formulas or (), strict=formulas is not None))
    conditions = {each.name: each for each in extras.conditions or ()}
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
                conditions.get(name),
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
        order=order,
        digits=_digits(extras),
        box=_box(extras, view),
        blame=extras.trouble,
        code=code,
        adjoint_program=adjoint_program,
        trace=fusion,
        verification=summary(verification),
    )


def _digits(extras: Extras) -> Digits | None:
    """Return the output with its digits; None if they were not asked for."""
    found = extras.precisely
    if found is None:
        return None
    notes = (*map(doubt, found.doubtful), *unsettled(found))
    return Digits(found.digits, _texts(found.output), notes)


def _texts(numerals: Numerals | None) -> Texts:
    """Return numerals nested like their shape; None if there are none."""
    return None if numerals is None else nested(numerals.texts, numerals.shape)


def _box(extras: Extras, view: GradView) -> BoxRanges | None:
    """Return the box and the range of the output; None if there is no box."""
    found = extras.ranges
    if found is None:
        return None
    shapes = {given.name: given.shape for given in view.inputs}
    inputs = {
        name: Interval(
            nested(span.lower, shapes[name]), nested(span.upper, shapes[name])
        )
        for name, span in spans_of(extras.boxes).items()
    }
    output = _bounds(found.value, view.output.shape)
    close = found.close
    return BoxRanges(inputs, output, found.kinks, found.holes, found.pieces, close)


def _signed(found: Sequence[Range], shape: Sequence[int]) -> Signed:
    """Return the range of a gradient, with the points where it changes its sign."""
    points = [[dict(p) for p in r.at] or None for r in found]
    signs = nested([r.sign for r in found], shape)
    return Signed(_bounds(found, shape), signs, nested(points, shape))


def _bounds(found: Sequence[Range], shape: Sequence[int]) -> Bounds:
    """Return the bounds of each entry, nested like the shape."""
    return Bounds(
        nested([r.lower for r in found], shape),
        nested([r.upper for r in found], shape),
        nested([_found(r.least) for r in found], shape),
        nested([_found(r.most) for r in found], shape),
    )


def _found(number: float) -> float | None:
    """Return the number, or None for an infinity, which stands for no number found."""
    return number if isfinite(number) else None
