"""Operations that choose between values: extrema, clamps, where, comparisons, rounding.

    maximum(x, y)     ties: half the cotangent each
    clamp(x, 0, 1)    at a bound: 0

Invariant: where a derivative is 0, cotangents and tangents are replaced by 0, not
multiplied by it, so that an infinite one gives no NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign, inf
from sys import float_info
from typing import Any

from .arithmetic import PAIR, is_number
from .checks import ArgumentError, refuse
from .elementary import pi
from .op import (
    ALL,
    FLOATS,
    KEPT,
    WHOLE,
    Case,
    Fixed,
    case,
    function,
    of_floats,
    of_numbers,
    row,
)
from .types import Array, ArrayRule, Caller, Namespace, Operand

# fmt: off

# sign and absolute value

of_numbers("abs", latex=r"\left|{0}\right|", formula="abs(x)", aliases=("absolute",),
    doc="Absolute value.", kink="at 0 the derivative is 0", fwd=lambda xp, x: xp.abs(x),
    partials=(lambda xp, y, x: xp.sign(x),),
    cases=[case((3, 4), low=0.1), case((3,), low=-2.0, high=-0.1), case((), low=0.1)],
    also=("fabs",), domain="x != 0", roundings=0)

STEPS = "the derivative is 0 everywhere, also at the steps"

row("sign", latex=r"\operatorname{{sign}} {0}",
    formula="1 if x > 0 else -1 if x < 0 else 0", doc="Sign.",
    kink="the derivative is 0, also at 0", fwd=lambda xp, x: xp.sign(x), partials=(0,),
    cases=[case((3, 4), low=0.1), case((), low=-2.0, high=-0.1)], also=("signum",),
    domain="x != 0", roundings=0, steps_at=0)

row("signbit", fwd=lambda xp, x: xp.signbit(x), partials=(None,), in_place=False,
    formula="x < 0", doc="Whether the sign is a minus, also that of a zero.",
    cases=[case((3, 4), low=0.1), case((), low=-2.0, high=-0.1)])


def same_sign(xp: Namespace, y: Array, x: Array, other: Array) -> Array:
    """Return 1 where ``y`` has the sign of ``x``, else -1; 0 where x is 0."""
    at_zero = xp.eq(x, 0)
    return xp.where(at_zero, 0, y / xp.where(at_zero, 1, x))


@row("copysign.Tensor", latex=r"|{0}| \operatorname{{sign}} {1}", result=FLOATS,
    saves=("x y", ""), always_saves=True, formula="abs(x) with the sign of other",
    doc="The size of one with the sign of another.",
    kink="at x = 0 the derivative is 0; by other it is 0 everywhere",
    partials=(same_sign, 0),
    cases=[case((3, 4), (4,), low=0.1), case((2,), (3, 1), low=-2.0, high=-0.1)])
def with_sign(xp: Namespace, x: Array, other: Array) -> Array:
    size = xp.abs(x)
    return xp.where(xp.signbit(other), -size, size)


row("copysign.Scalar", node="CopysignBackward1", latex=r"|{0}| \operatorname{{sign}} c",
    formula="abs(x) with the sign of other", result=FLOATS, saves="x y",
    always_saves=True, kink="at x = 0 the derivative is 0",
    fwd=lambda xp, x, other: copysign(1, other) * xp.abs(x), partials=(same_sign,),
    cases=[case((3, 4), low=0.1, other=-2), case((), low=-2.0, high=-0.1, other=0.5)])

function("copysign", lambda call, x, other:
         call("copysign.Scalar", x, other=other) if is_number(other)
         else call("copysign.Tensor", x, other))

of_floats("nextafter", formula="the next number after x towards other",
    doc="The neighbour of a number among floats, in the direction of another.",
    kink="where both are equal the derivative is 0; by other it is 0 everywhere",
    fwd=lambda xp, x, other: xp.nextafter(x, other),
    partials=(lambda xp, y, x, other: xp.as_type_of(xp.ne(x, other), x), 0), masks=True,
    cases=[case((3, 4), (4,)), case((), (2,))])

row("angle", formula="pi if x < 0 else 0",
    doc="The angle of a real number in the complex plane: pi below 0.",
    kink="the derivative is 0 everywhere, also at 0", in_place=False,
    fwd=lambda xp, x: xp.where(
        xp.isnan(x), x, xp.where(xp.lt(x, 0), pi(xp, x), xp.zeros_like(x))),
    partials=(0,), saves="x", always_saves=True, memory=KEPT,
    cases=[case((3, 4)), case(())])

row("heaviside", node="NotImplemented", formula="0, 1, or values where x == 0",
    one_type=True,
    latex=r"H({0})", doc="The unit step, with given values where x is 0. PyTorch "
    "records that it has no derivative for this; here it is 0 by x.",
    kink="the derivative by x is 0, also at the step",
    fwd=lambda xp, x, values:
        xp.where(xp.eq(x, 0), values, xp.as_type_of(xp.gt(x, 0), x)),
    partials=(0, lambda xp, y, x, values: xp.as_type_of(xp.eq(x, 0), y)),
    saves=("", "x y"),
    cases=[case((3, 4), (4,), low=0.1), case((2,), (2,), low=-2.0, high=-0.1),
           case(Fixed([[0.0, 1.0, 0.0], [0.0, -1.0, 2.0]]), (3,))])

# rounding

BETWEEN = [case((3, 4), low=0.1, high=0.4), case((), low=-1.4, high=-1.1),
           case((2,), low=2.6, high=2.9)]

of_numbers("floor", latex=r"\lfloor {0} \rfloor", formula="floor(x)",
    doc="Rounds down.", kink=STEPS, fwd=lambda xp, x: xp.floor(x), partials=(0,),
    cases=BETWEEN, jumps_at=0)

of_numbers("ceil", latex=r"\lceil {0} \rceil", formula="ceil(x)", doc="Rounds up.",
    kink=STEPS, fwd=lambda xp, x: xp.ceil(x), partials=(0,), cases=BETWEEN, jumps_at=0)

of_numbers("round.default", latex=r"\operatorname{{round}} {0}", formula="round(x)",
    kink=STEPS, result=WHOLE, fwd=lambda xp, x: xp.round(x), partials=(0,),
    cases=BETWEEN, jumps_at=0.5)


def power_of_ten(n: int) -> float:
    """Return 10**n, or infinity if a double does not hold it."""
    return 10**n if n <= float_info.max_10_exp else inf


of_floats("round.decimals", node="RoundBackward1", latex=r"\operatorname{{round}} {0}",
    formula="round(x*10**decimals)/10**decimals", kink=STEPS, result=WHOLE,
    fwd=lambda xp, x, decimals:
        xp.round(x * power_of_ten(decimals)) / power_of_ten(decimals) if decimals >= 0
        else xp.round(x / power_of_ten(-decimals)) * power_of_ten(-decimals),
    partials=(0,),
    cases=[case((3,), low=0.101, high=0.104, decimals=2),
           case((), low=61, high=64, decimals=-1)], jumps_at=0.5)

function("round", lambda call, x, decimals=None:
         call("round.default", x) if decimals is None
         else call("round.decimals", x, decimals=decimals),
         doc="Rounds, halves to even.", formula="round(x, decimals)", kink=STEPS,
         special="round")

of_numbers("trunc", latex=r"\operatorname{{trunc}} {0}", formula="trunc(x)",
    doc="Rounds towards zero.", aliases=("fix",), kink=STEPS,
    fwd=lambda xp, x: xp.trunc(x), partials=(0,), cases=BETWEEN, jumps_at=0,
    smooth_at_zero=True)

of_floats("frac", latex=r"\operatorname{{frac}} {0}", formula="x - trunc(x)",
    doc="The part that truncation cuts off.",
    kink="the derivative is 1 everywhere, also at the jumps",
    fwd=lambda xp, x: x - xp.trunc(x), partials=(1,), cases=BETWEEN, jumps_at=0,
    smooth_at_zero=True)

# extrema of two


def array_of(*operands: Array) -> Array:
    """Return the first operand that is an array; its dtype is that of the result."""
    return next((v for v in operands if hasattr(v, "dtype")), operands[0])


EXTREMA = (case((3, 4), (3, 4), make="distinct"), case((3, 1), (4,)),
           case((), (2,), make="distinct"))


def shares(*loses: ArrayRule) -> tuple[ArrayRule, ...]:
    """Return the partials of an extremum by its two operands: 0 where the operand
    loses, half where both are equal. PyTorch 2.15's derivatives.yaml, maximum."""

    def part(nr: int) -> ArrayRule:
        return lambda xp, y, a, b: (
            1 - xp.as_type_of(loses[nr](xp, a, b), array_of(a, b))
            - xp.as_type_of(xp.eq(a, b), array_of(a, b)) / 2)

    return part(0), part(1)


def extremum(name: str, partials: tuple[ArrayRule, ...], *,
             kink: str = "at a tie each operand gets half",
             fwd: ArrayRule | None = None, cases: Sequence[Case] = EXTREMA,
             **facts: Any) -> None:
    """Enter a row for an extremum of two operands."""
    row(name, fwd=fwd or (lambda xp, a, b: getattr(xp, name)(a, b)), partials=partials,
        masks=True, cases=list(cases), kink=kink, **facts)


def never_nan(wins: ArrayRule) -> ArrayRule:
    """Return a function for where the second operand loses, which a NaN always does."""
    return lambda xp, a, b: xp.logical_or(wins(xp, a, b), xp.isnan(b))


def unless_won(wins: ArrayRule) -> ArrayRule:
    """Return a function for where the first operand loses, which a NaN always does."""
    return lambda xp, a, b: xp.logical_not(
        xp.logical_or(never_nan(wins)(xp, a, b), xp.eq(a, b)))


def above(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.gt(a, b)


def below(xp: Namespace, a: Array, b: Array) -> Array:
    return xp.lt(a, b)


LARGER, SMALLER = shares(below, above), shares(above, below)
NEW_TIE = "at a tie each operand gets half, as in PyTorch 2.15 (in 2.13 {})"

extremum("maximum", LARGER, latex=r"\max({0}, {1})", formula="max(a, b)",
    doc="The larger of two; NaN if one is NaN.")
extremum("minimum", SMALLER, latex=r"\min({0}, {1})", formula="min(a, b)",
    doc="The smaller of two; NaN if one is NaN.")
extremum("fmax", shares(unless_won(above), never_nan(above)), latex=r"\max({0}, {1})",
    kink=NEW_TIE.format("the first gets it all"), formula="max(a, b)",
    doc="The larger of two; a NaN loses.")
extremum("fmin", shares(unless_won(below), never_nan(below)), latex=r"\min({0}, {1})",
    kink=NEW_TIE.format("the first gets it all"), formula="min(a, b)",
    doc="The smaller of two; a NaN loses.")

# clamps by numbers, and clamps by tensors, which are operands

BOUND = "at a bound the derivative is 0, as in PyTorch 2.15 (in 2.13 it is 1)"


def clamped(xp: Namespace, x: Array, min: Operand | None = None,
            max: Operand | None = None) -> Array:
    low = x if min is None else xp.maximum(x, min)
    return low if max is None else xp.minimum(low, max)


def within(xp: Namespace, x: Array, min: Operand | None, max: Operand | None) -> Array:
    """Return where a value lies strictly between the bounds."""
    if min is None:
        assert max is not None
        return xp.lt(x, max)
    above = xp.gt(x, min)
    return above if max is None else xp.logical_and(above, xp.lt(x, max))


def clamp_row(name: str, node: str, latex: str, cases: list[Case]) -> None:
    """Enter a row that clamps a tensor by plain numbers."""
    row(name, node=node, latex=latex, formula="min(max(x, min), max)",
        doc="Limits values to an interval given by numbers.", kink=BOUND,
        fwd=clamped,
        partials=(lambda xp, y, x, min=None, max=None:
                  xp.as_type_of(within(xp, x, min, max), x),),
        vjp=(lambda xp, g, y, x, min=None, max=None:
             xp.where(within(xp, x, min, max), g, 0),), cases=cases)


clamp_row("clamp.Scalar", "ClampBackward1",
          r"\operatorname{{clamp}}({0}, {min}, {max})",
          [case((3, 4), min=-3, max=3), case((2,), min=3), case((), max=5),
           case((3,), min=-5.0, max=-3.0)])
clamp_row("clamp_min.Scalar", "ClampMinBackward0", r"\max({0}, {min})",
          [case((3, 4), min=-3), case((2,), min=3)])
clamp_row("clamp_max.Scalar", "ClampMaxBackward0", r"\min({0}, {max})",
          [case((3, 4), max=3), case((2,), max=-3)])


# Recorded from PyTorch 2.15: clamp_backward, clamp_backward_min_max.
def at_one_bound(xp: Namespace, x: Array, bound: Array, min: Array, max: Array
                 ) -> Array:
    """Return 1/2 where ``x`` equals ``bound`` and ``min < max``, else 0."""
    return xp.as_type_of(xp.logical_and(xp.eq(x, bound), xp.lt(min, max)), x) / 2


def reaches(xp: Namespace, y: Array, x: Array, min: Array | None, max: Array | None
           ) -> Array:
    """Return the partial of a clamp by the clamped tensor, with tensors as bounds."""
    if min is None or max is None:
        parts, bound = (SMALLER, max) if min is None else (LARGER, min)
        return parts[0](xp, y, x, bound)
    outside = xp.logical_or(xp.lt(x, min), xp.gt(x, max))
    return (1 - xp.as_type_of(outside, x) - at_one_bound(xp, x, min, min, max)
            - at_one_bound(xp, x, max, min, max))


def lower_takes(xp: Namespace, y: Array, x: Array, min: Array | None,
                max: Array | None) -> Array:
    if min is None:
        return xp.zeros_like(x)
    if max is None:
        return LARGER[1](xp, y, x, min)
    taken = xp.logical_and(xp.lt(x, min), xp.le(min, max))
    return xp.as_type_of(taken, x) + at_one_bound(xp, x, min, min, max)


def upper_takes(xp: Namespace, y: Array, x: Array, min: Array | None,
                max: Array | None) -> Array:
    if max is None:
        return xp.zeros_like(x)
    if min is None:
        return SMALLER[1](xp, y, x, max)
    beyond = xp.logical_and(xp.gt(x, max), xp.le(min, max))
    taken = xp.logical_or(beyond, xp.gt(min, max))
    return xp.as_type_of(taken, x) + at_one_bound(xp, x, max, min, max)


row("clamp.Tensor", formula="min(max(x, min), max)",
    latex=r"\operatorname{{clamp}}({0}, {1}, {2})",
    kink=NEW_TIE.format("x keeps it all") + "; bounds that are equal leave it to x at "
         "the bound, else to the one that x lies beyond",
    fwd=lambda xp, x, min=None, max=None: clamped(xp, x, min, max),
    partials=(reaches, lower_takes, upper_takes), masks=True,
    cases=[case((3, 4), (4,), (3, 1)), case((2,), (2,), Fixed(None)),
           case((2, 3), Fixed(None), (3,)), case((), (), ())])

extremum("clamp_min.Tensor", LARGER, node="ClampMinBackward1", latex=r"\max({0}, {1})",
         fwd=lambda xp, x, min: xp.maximum(x, min), formula="max(x, min)",
         kink=NEW_TIE.format("x keeps it all"), cases=PAIR[:2])
extremum("clamp_max.Tensor", SMALLER, node="ClampMaxBackward1", latex=r"\min({0}, {1})",
         fwd=lambda xp, x, max: xp.minimum(x, max), formula="min(x, max)",
         kink=NEW_TIE.format("x keeps it all"), cases=PAIR[:2])


@function("clamp", aliases=("clip",),
          doc="Limits values to an interval; a bound may be left out.", kink=BOUND)
def choose_clamp(call: Caller, x: Array, min: Operand | None = None,
                 max: Operand | None = None) -> Array:
    refuse(min is None and max is None,
           "torch.clamp: At least one of 'min' or 'max' must not be None",
           kind=ArgumentError)
    if all(bound is None or is_number(bound) for bound in (min, max)):
        return call("clamp.Scalar", x, min=min, max=max)
    return call("clamp.Tensor", x, min, max)


function("clamp_min", lambda call, x, min:
         call("clamp_min.Scalar", x, min=min) if is_number(min)
         else call("clamp_min.Tensor", x, min),
         doc="Limits values from below.", formula="max(x, min)", kink=BOUND)

function("clamp_max", lambda call, x, max:
         call("clamp_max.Scalar", x, max=max) if is_number(max)
         else call("clamp_max.Tensor", x, max),
         doc="Limits values from above.", formula="min(x, max)", kink=BOUND)

# choosing by a condition

ROW = Fixed([True, False, False, True])

row("where", formula="input if condition else other",
    latex=r"\begin{{cases}} {1} & {0} \\ {2} \end{{cases}}",
    doc="Chooses entry by entry; the entry not chosen gets no cotangent.",
    also=("IF", "If", "iif", "ifelse"),
    fwd=lambda xp, condition, input, other: xp.where(condition, input, other),
    partials=(
        None,
        lambda xp, y, condition, input, other: xp.as_type_of(condition, y),
        lambda xp, y, condition, input, other:
            xp.as_type_of(xp.logical_not(condition), y)),
    vjp=(None,
         lambda xp, g, y, condition, input, other: xp.where(condition, g, 0),
         lambda xp, g, y, condition, input, other: xp.where(condition, 0, g)),
    cases=[case(ROW, (3, 4), (4,)), case(ROW, (), (4,)), case(Fixed(True), (2,), ())],
    in_place=False, saves="condition")

# comparisons and tests, which return bools and have no gradient


def comparison(name: str, formula: str, aliases: tuple[str, ...], doc: str) -> None:
    row(name, fwd=lambda xp, a, b: getattr(xp, name)(a, b), partials=(None, None),
        formula=formula, doc=doc, aliases=aliases, cases=PAIR)


def question(name: str, doc: str, in_place: bool = False) -> None:
    row(name, fwd=lambda xp, x: getattr(xp, name)(x), partials=(None,),
        formula=f"{name}(x)", doc=doc, cases=ALL, in_place=in_place)


comparison("eq", "a == b", (), "Whether two are equal.")
comparison("ne", "a != b", ("not_equal",), "Whether two differ.")
comparison("lt", "a < b", ("less",), "Whether the first is smaller.")
comparison("le", "a <= b", ("less_equal",), "Whether the first is not larger.")
comparison("gt", "a > b", ("greater",), "Whether the first is larger.")
comparison("ge", "a >= b", ("greater_equal",), "Whether the first is not smaller.")
comparison("logical_and", "a != 0 and b != 0", (), "Whether both are true.")
comparison("logical_or", "a != 0 or b != 0", (), "Whether one is true.")
comparison("logical_xor", "(a != 0) != (b != 0)", (), "Whether exactly one is true.")
question("logical_not", "Whether it is false.", in_place=True)
question("isnan", "Whether it is NaN.")
question("isinf", "Whether it is an infinity.")
question("isfinite", "Whether it is neither NaN nor an infinity.")


def infinite(name: str, bound: float, doc: str) -> None:
    function(name, lambda call, x: call("eq", x, bound), doc=doc, operands=("x",),
             formula=f"x == {bound}", cases=ALL)


infinite("isposinf", inf, "Whether it is the positive infinity.")
infinite("isneginf", -inf, "Whether it is the negative infinity.")


@row("isclose", partials=(None, None), one_type=True,
    formula="abs(a - b) <= atol + rtol*abs(b)",
    doc="Whether two are equal within tolerances.",
    cases=[case((3, 4), (4,)), case((), (2,), rtol=0.5, equal_nan=True)],
    in_place=False)
def close(
    xp: Namespace, a: Array, b: Array, rtol: float = 1e-5, atol: float = 1e-8,
    equal_nan: bool = False,
) -> Array:
    for name, bound in (("rtol", rtol), ("atol", atol)):
        refuse(bound < 0, "{} must be greater than or equal to zero, but got {:g}",
               name, bound, kind=ArgumentError)
    same = xp.logical_or(xp.eq(a, b), xp.logical_and(
        xp.isfinite(b), xp.le(xp.abs(1.0 * a - b), atol + rtol * xp.abs(b))))
    if not equal_nan:
        return same
    return xp.logical_or(same, xp.logical_and(xp.isnan(a), xp.isnan(b)))
