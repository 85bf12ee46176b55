"""Arithmetic: the operators, with PyTorch's variants for a number on either side.

For a tensor and a plain number PyTorch records other nodes than for two tensors. Each
such variant is a row under PyTorch's overload name, and the public function chooses a
row by the types of its arguments.

    x - 10      SubBackward0(x, None)
    10 - x      RsubBackward1(x)
    2 / x       MulBackward0(ReciprocalBackward0(x), None)
"""

from __future__ import annotations

from functools import partial
from math import copysign, inf
from typing import Any, TypeGuard

from .checks import demand_choice
from .op import AS_IS, KEPT, PACKED, WHOLE, case, function, of_floats, of_numbers, row
from .types import Array, Caller, Namespace, Operand, Relation

# fmt: off

PAIR = [case((3, 4), (3, 4)), case((3, 4), (4,)), case((3, 1), (1, 4)), case((), (2,))]
AWAY = [
    case((3, 4), (3, 4), low=0.5, high=2.0),
    case((3, 4), (4,), low=0.5, high=2.0),
    case((), (), low=0.5, high=2.0),
    case((2, 1), (3,), low=-2.0, high=-0.5),
]


def is_number(value: object) -> TypeGuard[float]:
    """Return whether ``value`` is a plain Python number rather than a tensor."""
    return isinstance(value, int | float)


def is_whole(value: object) -> bool:
    """Return whether ``value`` is an integer, or an array of integers."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return isinstance(value, int) if kind is None else kind in "biu"


def over(xp: Namespace, number: float, b: Operand) -> Operand:
    """Return ``number / b``; if ``b`` is a plain 0, an infinity."""
    if not is_number(b):
        return number / b
    if not b:
        return number * copysign(inf, b)
    if xp.symbolic:
        from .exact import fraction

        return fraction(1) * number / b
    return number / b


# sums and differences

A_TRUTH = ("Subtraction, the `-` operator, with a bool tensor is not supported. If you "
           "are trying to invert a mask, use the `~` or `logical_not()` operator "
           "instead.")

by_sum_rule = partial(row, taught="sum rule")

by_sum_rule("add.Tensor", latex="{0} + {1}", formula="a + b",
    doc="Sum, elementwise with broadcasting.", fwd=lambda xp, a, b: a + b,
    partials=(1, 1), cases=PAIR)

by_sum_rule("add.alpha", latex=r"{0} + \alpha {1}", formula="a + alpha*b", result=WHOLE,
    fractions=False, fwd=lambda xp, a, b, alpha: a + alpha * b,
    partials=(1, lambda xp, y, a, b, alpha: alpha),
    cases=[case((3, 4), (4,), alpha=2), case((), (3,), alpha=-0.5)], saves="")


def factor_last(b: Operand, alpha: Operand) -> tuple[Operand, Operand]:
    """Return the second operand and its factor; in older calls the factor is first."""
    return (alpha, b) if is_number(b) and not is_number(alpha) else (b, alpha)


@function("add", formula="a + alpha*b", either="alpha", overflows=True, roundings=1)
def _add(call: Caller, a: Operand, b: Operand, alpha: Operand = 1) -> Array:
    b, alpha = factor_last(b, alpha)
    if is_number(alpha) and alpha == 1:
        return call("add.Tensor", a, b)
    return call("add.alpha", a, b, alpha=alpha)


by_sum_rule("add.Scalar", node="AddBackward1", latex=r"{0} + c", formula="x + number",
    fwd=lambda xp, x, number: x + number, partials=(1,),
    cases=[case((3, 4), number=2), case((), number=-0.5)])

by_sum_rule("sub.Tensor", latex="{0} - {1}", formula="a - b", no_truths=A_TRUTH,
    doc="Difference, elementwise with broadcasting.", fwd=lambda xp, a, b: a - b,
    partials=(1, -1), cases=PAIR)

by_sum_rule("sub.alpha", latex=r"{0} - \alpha {1}", no_truths=A_TRUTH,
    formula="a - alpha*b", result=WHOLE, fractions=False,
    fwd=lambda xp, a, b, alpha: a - alpha * b,
    partials=(1, lambda xp, y, a, b, alpha: -alpha),
    cases=[case((3, 4), (4,), alpha=2), case((), (3,), alpha=-0.5)], saves="")


@function("sub", aliases=("subtract",), formula="a - alpha*b", either="alpha",
          overflows=True, roundings=1)
def _sub(call: Caller, a: Operand, b: Operand, alpha: Operand = 1) -> Array:
    b, alpha = factor_last(b, alpha)
    if not is_number(alpha) or alpha != 1:
        return call("sub.alpha", a, b, alpha=alpha)
    if is_number(a):
        return call("rsub.Scalar", b, number=a)
    return call("sub.Tensor", a, b)


by_sum_rule("rsub.Scalar", node="RsubBackward1", latex="c - {0}", formula="number - x",
    no_truths=A_TRUTH, fwd=lambda xp, x, number: number - x,
    partials=(-1,), cases=[case((3, 4), number=10), case((), number=0.5)])

by_sum_rule("rsub.Tensor", latex="{1} - {0}", formula="b - a", no_truths=A_TRUTH,
    fwd=lambda xp, a, b: b - a, partials=(-1, 1), cases=PAIR)

function("rsub", lambda call, a, b: call("rsub.Scalar", a, number=b) if is_number(b)
         else call("rsub.Tensor", a, b),
         doc="Difference, the other way round.", formula="b - a", in_place=False)

of_numbers("neg", latex="-{0}", formula="-x", doc="Negation.",
    taught="constant factor rule", aliases=("negative",), fwd=lambda xp, x: -x,
    partials=(-1,), cases=[case((3, 4)), case(())], roundings=0)

function("positive", lambda call, x: x,
         doc="The tensor itself; no node is recorded.", formula="x",
         cases=[case((3, 4))], in_place=False)

# products and quotients

row("mul", latex=r"{0} \cdot {1}", formula="a * b",
    taught="product rule", doc="Product, elementwise with broadcasting.",
    aliases=("multiply",), exact_other=True, fwd=lambda xp, a, b: a * b,
    partials=(lambda xp, y, a, b: b, lambda xp, y, a, b: a), cases=PAIR,
    saves=("b", "a"), overflows=True, roundings=1)

row("mul.Scalar", node="MulBackward1", latex=r"c \cdot {0}", formula="x * number",
    taught="constant factor rule", exact_other=True,
    fwd=lambda xp, x, number: x * number,
    partials=(lambda xp, y, x, number: number,),
    cases=[case((3, 4), number=2), case((), number=-0.5)], saves="")

row("div.Tensor", latex=r"\frac{{{0}}}{{{1}}}", formula="a / b",
    taught="quotient rule", doc="Quotient, elementwise with broadcasting.",
    result=AS_IS, exact_other=True, fwd=lambda xp, a, b: a / b,
    partials=(lambda xp, y, a, b: over(xp, 1, b), lambda xp, y, a, b: -(a / b) / b),
    cases=AWAY, saves=("b", "a b"))

row("div.Scalar", node="DivBackward1", latex=r"\frac{{{0}}}{{c}}", formula="x / number",
    taught="constant factor rule", result=AS_IS, exact_other=True,
    fwd=lambda xp, x, number: x / number,
    partials=(lambda xp, y, x, number: over(xp, 1, number),),
    cases=[case((3, 4), number=2), case((), number=-0.5)], saves="")


@of_numbers("div.Tensor_mode", node="DivBackward2",
    formula="floor(a / b) or trunc(a / b)", saves=("b", "a b"), always_saves=True,
    latex=r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor",
    kink="the derivative is 0 everywhere, also at the steps", partials=(0, 0),
    result=WHOLE, exact_other=True,
    cases=[case((3, 4), (4,), low=0.6, high=0.9, rounding_mode="floor"),
           case((), (2,), low=0.6, high=0.9, rounding_mode="trunc")])
def rounded_quotient(xp: Namespace, a: Array, b: Array, rounding_mode: str) -> Array:
    demand_choice("div: rounding_mode", rounding_mode, ("floor", "trunc"))
    if rounding_mode == "floor":
        return xp.floor_divide(a, b)
    if is_whole(a) and is_whole(b):
        return xp.floor_divide(a - xp.fmod(a, b), b)
    return xp.trunc(a / b)


function("div", lambda call, a, b, rounding_mode=None:
         call("div.Tensor_mode", a, b, rounding_mode=rounding_mode)
         if rounding_mode is not None
         else call("mul", call("reciprocal", b), a) if is_number(a)
         else call("div.Tensor", a, b),
         aliases=("divide", "true_divide"),
         not_finite={"inf": "a division by zero", "nan": "zero divided by zero"},
         tame=("", "1"), domain="b != 0", roundings=1)

of_numbers("floor_divide", node="NotImplemented", formula="floor(a / b)",
    latex=r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor",
    doc="Quotient rounded down. PyTorch records that it has no derivative for this; "
        "here it is 0, as for `div` with a rounding mode.",
    kink="the derivative is 0 everywhere, also at the steps",
    exact_other=True, fwd=lambda xp, a, b: xp.floor_divide(a, b), partials=(0, 0),
    cases=[case((3, 4), (4,), low=0.6, high=0.9), case((), (2,), low=0.6, high=0.9)],
    jumps_at=0)

row("reciprocal", latex=r"\frac{{1}}{{{0}}}", taught="power rule", formula="1 / x",
    doc="Reciprocal.", fwd=lambda xp, x: 1 / x, partials=(lambda xp, y, x: -y * y,),
    cases=[case((3, 4), low=0.5, high=2.0), case((3,), low=-2.0, high=-0.5)],
    not_finite={"inf": "a division by zero"}, tame=("1",), saves="y")

# remainders with the sign of the divisor, and with the sign of the dividend

REST = [case((3, 4), (4,), low=0.55, high=0.95), case((), (2,), low=0.55, high=0.95)]
REST_OF = [case((3,), low=2.2, high=2.8, other=2),
           case((), low=-0.9, high=-0.6, other=1)]

of_numbers("remainder.Tensor", node="RemainderBackward1", latex=r"{0} \bmod {1}",
    formula="a - b*floor(a/b)", doc="Remainder with the sign of the divisor.",
    kink="at an integer quotient q the derivatives are 1 and -q",
    fwd=lambda xp, a, b: xp.remainder(a, b),
    partials=(1, lambda xp, y, a, b: -xp.floor_divide(a, b)), cases=REST, jumps_at=0)

row("remainder.Scalar", latex=r"{0} \bmod c", formula="x - other*floor(x/other)",
    kink="the derivative is 1 everywhere, also at the jumps",
    fwd=lambda xp, x, other: xp.remainder(x, other), partials=(1,), cases=REST_OF,
    jumps_at=0)

function("remainder", lambda call, a, b:
         call("remainder.Scalar", a, other=b) if is_number(b)
         else call("remainder.Tensor", a, b), also=("mod",))

of_numbers("fmod.Tensor", node="FmodBackward1",
    latex=r"\operatorname{{fmod}}({0}, {1})",
    formula="a - b*trunc(a/b)", doc="Remainder with the sign of the dividend.",
    kink="at an integer quotient q the derivatives are 1 and -q",
    fwd=lambda xp, a, b: xp.fmod(a, b),
    partials=(1, lambda xp, y, a, b: -xp.trunc(a / b)), cases=REST,
    jumps_at=0, smooth_at_zero=True)

row("fmod.Scalar", latex=r"\operatorname{{fmod}}({0}, c)",
    formula="x - other*trunc(x/other)",
    kink="the derivative is 1 everywhere, also at the jumps",
    fwd=lambda xp, x, other: xp.fmod(x, other), partials=(1,), cases=REST_OF,
    jumps_at=0, smooth_at_zero=True)

function("fmod", lambda call, a, b:
         call("fmod.Scalar", a, other=b) if is_number(b) else call("fmod.Tensor", a, b))

# powers

LARGE_EXPONENT = 2**53
"""Smallest exponent above which floats no longer hold every integer."""


def one_less(xp: Namespace, x: Array, exponent: float) -> Operand:
    """Return ``exponent - 1``; for large ones in the number system of ``x``, where it
    may be exact."""
    if abs(exponent) < LARGE_EXPONENT:
        return exponent - 1
    return xp.new_full(x, (), exponent) - 1


row("pow.Tensor_Scalar", latex="{0}^{{{exponent}}}", taught="power rule",
    formula="x ** exponent", kink="the derivative for exponent 0 is 0, also at x = 0",
    result=AS_IS,
    # As PyTorch does, which gives NaN at -inf; NumPy's power of a scalar does not.
    fwd=lambda xp, x, exponent:
        xp.sqrt(x) if exponent == 0.5 and xp.plain else x**exponent,
    partials=(lambda xp, y, x, exponent:
              xp.zeros_like(x) if exponent == 0
              else exponent * x**one_less(xp, x, exponent),),
    vjp=(lambda xp, g, y, x, exponent:
         xp.zeros_like(g) if exponent == 0
         else g * (exponent * x**one_less(xp, x, exponent)),),
    cases=[case((3, 4), exponent=3), case((3,), exponent=2.5, low=0.5),
           case((), exponent=-1.5, low=0.5), case((2,), exponent=0),
           case((2, 3), exponent=2), case((2,), exponent=1)])


def of_base(xp: Namespace, a: Array, b: Array, none: Array) -> Array:
    """Return the derivative of a power by its base; where ``none`` holds it is 0, and
    so are its own derivatives."""
    return xp.where(none, 0, b) * xp.where(none, 1, a) ** (xp.where(none, 1, b) - 1)


def power(xp: Namespace, a: Array, b: Array) -> Array:
    """Return a power; that of an integer by a negative one is cut to an integer."""
    try:
        return a**b
    except ValueError:
        positive = xp.ge(b, 0)
        ends = xp.where(xp.eq(a, -1), 1 - 2 * xp.remainder(b, 2), 0)
        cut = xp.where(xp.eq(a, 1), 1, ends)
        return xp.where(positive, a ** xp.where(positive, b, 0), cut)


def is_like_0(xp: Namespace, a: Array) -> Array:
    """Return whether numbers are 0, NaN or among the smallest floats."""
    return xp.logical_or(xp.eq(a, 0), xp.logical_not(xp.isfinite(1 / a)))


# Where the derivative is 0 by convention, `where` replaces operands, not the result: an
# infinity in a branch that it discards would make the second derivative NaN.
of_numbers("pow.Tensor_Tensor", node="PowBackward1", latex="{0}^{{{1}}}",
    formula="a ** b",
    kink="at a = 0 the derivative by the exponent is 0 for exponents >= 0; the "
         "derivative by the base is 0 for exponent 0", fwd=power,
    partials=(
        # The base matters for exponent 0 alone: no other one asks whether it is 0.
        lambda xp, y, a, b: of_base(xp, a, b, xp.logical_and(
            xp.eq(b, 0), is_like_0(xp, xp.where(xp.eq(b, 0), a, 1)))),
        lambda xp, y, a, b: y * xp.log(
            xp.where(xp.logical_and(xp.eq(a, 0), xp.ge(b, 0)), 1, a))), cases=AWAY[:3],
    saves=("a b", "a b y"))

row("pow.Scalar", node="PowBackward2", latex="{base}^{{{0}}}", formula="base ** x",
    taught="exponential rule", memory=PACKED,
    kink="for base 0 the derivative is 0 where x >= 0",
    fwd=lambda xp, x, base: power(xp, base, x),
    partials=(lambda xp, y, x, base:
              y * xp.where(xp.ge(x, 0), 0, xp.new_full(x, x.shape, -float("inf")))
              if base == 0 else y * xp.log(xp.new_full(y, (), base)),),
    cases=[case((3, 4), base=2), case((), base=0.5), case((2,), base=10)], saves="x y")


def power_bounds(system: Any, base: Any, exponent: Any) -> tuple[Relation, ...]:
    """Return the conditions under which a power is smooth. An integer written as the
    exponent allows any base, but not 0 if it is negative; the base 0 needs an exponent
    above 0; else the base has to be above 0, or the exponent equal to an integer."""
    written = exponent.content if exponent.name == "number" else None
    if isinstance(written, int):
        return () if written >= 0 else ((0, "!=", 0),)
    if base.name == "number" and base.value.is_zero():
        return ((1, ">", 0),)
    integer = None if base.value > 0 else system.integer(exponent.value)
    return ((0, ">", 0),) if written or integer is None else ((1, "==", integer),)


function("pow", lambda call, a, exponent:
         call("pow.Tensor_Scalar", a, exponent=exponent) if is_number(exponent)
         else call("pow.Scalar", exponent, base=a) if is_number(a)
         else call("pow.Tensor_Tensor", a, exponent),
         aliases=("power",),
         doc="Power, elementwise with broadcasting.", formula="a ** b",
         not_finite={"inf": "the power overflows, or is a negative power of zero",
                     "nan": "a negative number to the power of a fraction"},
         tame=("1",), also=("cbrt",),
         domain="a > 0, where the exponent is no whole number", bounds=power_bounds,
         literal=True)


def doubled(call: Caller, x: Array) -> Array:
    """Return ``x`` in double precision; other number systems are left as they are."""
    name = getattr(getattr(x, "dtype", None), "name", "object")
    if name in ("float64", "object"):
        return x
    return call("to_copy.default", x, "float64", None, (name, None))


function("float_power", lambda call, a, exponent:
         call("pow", doubled(call, a), doubled(call, exponent)),
         doc="Power in double precision.", formula="a ** b",
         cases=[case((3, 4), (4,), low=0.5)])

function("square", lambda call, x: call("pow.Tensor_Scalar", x, exponent=2),
         doc="The square.", formula="x**2",
         cases=[case((3, 4)), case(())], in_place=True, also=("sqr",),
         overflows=True, roundings=1, sym=lambda sp, x: x**2)

# operations on several operands

of_numbers("addcmul.default", latex=r"{0} + c \cdot {1} \cdot {2}", memory=KEPT,
    formula="x + value*a*b", doc="A tensor plus a multiple of a product.", result=WHOLE,
    fwd=lambda xp, x, a, b, value=1: x + value * (a * b),
    partials=(1, lambda xp, y, x, a, b, value=1: value * b,
              lambda xp, y, x, a, b, value=1: value * a),
    cases=[case((3, 4), (4,), (3, 1)), case((2,), (2,), (), value=-0.5)],
    saves=("", "b", "a"))

of_floats("addcdiv.default", memory=KEPT, latex=r"{0} + c \cdot \frac{{{1}}}{{{2}}}",
    always_saves=True, formula="x + value*a/b",
    doc="A tensor plus a multiple of a quotient.",
    fwd=lambda xp, x, a, b, value=1: x + value * a / b,
    partials=(1, lambda xp, y, x, a, b, value=1: over(xp, value, b),
              lambda xp, y, x, a, b, value=1: -value * a / (b * b)),
    cases=[case((3, 4), (4,), (3, 1), low=0.5),
           case((2,), (2,), (), value=-0.5, low=0.5)], saves=("", "b", "a b"))


def valued(name: str) -> None:
    """Enter a composite of a row whose factor may also be given before the operands."""

    @function(name, either="value")
    def build(call: Caller, x: Array, a: Operand, b: Operand, value: Operand = 1
             ) -> Array:
        if is_number(a) and not is_number(value):
            a, b, value = b, value, a
        return call(f"{name}.default", x, a, b, value=value)


valued("addcmul")
valued("addcdiv")

of_floats("lerp.Scalar", latex=r"{0} + w ({1} - {0})", wide=True, one_type=True,
    formula="a + weight*(b - a)",
    fwd=lambda xp, a, b, weight:
        a + weight * (b - a) if abs(weight) < 0.5 else b - (b - a) * (1 - weight),
    partials=(lambda xp, y, a, b, weight: 1 - weight,
              lambda xp, y, a, b, weight: weight),
    cases=[case((3, 4), (4,), weight=0.25), case((), (2,), weight=0.75)], saves="")

of_floats("lerp.Tensor", node="LerpBackward1", latex=r"{0} + {2} ({1} - {0})",
    wide=True, one_type=True, formula="a + w*(b - a)",
    fwd=lambda xp, a, b, w:
        xp.where(xp.lt(xp.abs(w), 0.5), a + w * (b - a), b - (b - a) * (1 - w)),
    partials=(lambda xp, y, a, b, w: 1 - w, lambda xp, y, a, b, w: w,
              lambda xp, y, a, b, w: b - a),
    cases=[case((3, 4), (4,), (3, 1)), case((2,), (2,), (), low=0.6, high=0.9)],
    saves=("w", "w", "a b"))

function("lerp", lambda call, a, b, weight:
         call("lerp.Scalar", a, b, weight=weight) if is_number(weight)
         else call("lerp.Tensor", a, b, weight),
         doc="Linear interpolation from a to b.")
