"""Exponentials, logarithms and roots; circular and hyperbolic functions.

    smooth("exp", lambda xp, y, x: y, saves="y", ...)

Invariant: a constant such as log 2 or pi is computed in the number system of the input:
it has the dtype of input arrays, and is exact for symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from .arithmetic import is_number
from .checks import ValueRangeError, refuse
from .exact import reciprocal
from .op import ALL, RESULT, Case, Formula, Rule, case, function, of_floats, row, smooth
from .types import Array, Caller, Namespace, Operand, Relation

# fmt: off

FAMILY = "exponential"


POSITIVE = [case((3, 4), low=0.5), case((), low=0.5), case((2,), low=5.0, high=50.0)]
PAIR = [case((3, 4), (3, 4)), case((3, 4), (4,)), case((), (2,))]
POSITIVE_PAIR = [case((3, 4), (4,), low=0.5), case((), (2,), low=0.5)]


def ln(xp: Namespace, x: Array, number: float) -> Array:
    """Return the natural logarithm of a number as a scalar with the dtype of ``x``."""
    return xp.log(xp.new_full(x, (), number))


smooth("exp", lambda xp, y, x: y, latex="e^{{{0}}}", formula="e**x", doc="Exponential.",
    not_finite={"inf": "the exponential overflows"}, tame=("0",), saves="y",
    overflows=True)

smooth("exp2", lambda xp, y, x: y * ln(xp, x, 2), latex="2^{{{0}}}", formula="2**x",
    doc="Power of two.", special="exp2", tame=("0",), saves="x y", overflows=True,
    sym=lambda sp, x: 2**x)

smooth("expm1", lambda xp, y, x: xp.exp(x), latex="e^{{{0}}} - 1", formula="e**x - 1",
    doc="Exponential minus one, accurate near 0.",
    cases=[*ALL, case((2,), low=-1e-3, high=1e-3)], special="expm1", tame=("0",),
    overflows=True, saves="x y", sym=lambda sp, x: sp.exp(x) - 1)

OF_LOGARITHMS = {"-inf": "the logarithm of zero",
                 "nan": "the logarithm of a negative number"}

smooth("log", lambda xp, y, x: 1 / x, latex=r"\log {0}", aliases=("ln",),
    doc="Natural logarithm.", further="log_to_base", cases=POSITIVE,
    not_finite=OF_LOGARITHMS, tame=("1",), domain="x > 0")


def logarithm_to(base: int, latex: str, also: str, fwd: Formula) -> None:
    row(f"log{base}", node=f"Log{base}Backward0", latex=rf"\log_{latex} {{0}}",
        formula=f"log(x)/log({base})", doc=f"Logarithm to base {base}.",
        fwd=fwd, partials=(lambda xp, y, x: 1 / (x * ln(xp, x, base)),), cases=POSITIVE,
        not_finite=OF_LOGARITHMS, tame=("1",), also=(also,),
        domain="x > 0", sym=lambda sp, x: sp.log(x) / sp.log(base))


logarithm_to(2, "2", "ld", lambda xp, x: xp.log2(x))
logarithm_to(10, "{{10}}", "lg", lambda xp, x: xp.log10(x))

smooth("log1p", lambda xp, y, x: 1 / (1 + x), latex=r"\log(1 + {0})",
    formula="log(1 + x)", doc="Logarithm of one plus x, accurate near 0.",
    cases=[case((3, 4), low=-0.5), case((), low=-0.5),
           case((2,), low=-1e-3, high=1e-3)], special="log1p",
    not_finite={"nan": "the logarithm of a negative number"}, tame=("0",),
    domain="x > -1", sym=lambda sp, x: sp.log(1 + x))

smooth("sqrt", lambda xp, y, x: 0.5 / y, latex=r"\sqrt{{{0}}}", formula="x**0.5",
    doc="Square root.", kink="at 0 the derivative is inf", cases=POSITIVE,
    not_finite={"nan": "the square root of a negative number"}, tame=("1",), saves="y",
    domain="x > 0", roundings=1)

# PyTorch has no cube root; the node's name follows its rules for names.
smooth("cbrt", lambda xp, y, x: 1 / (3 * (y * y)), latex=r"\sqrt[3]{{{0}}}",
    formula="sign(x)*abs(x)**(1/3)", doc="Cube root, of negative numbers too.",
    kink="at 0 the derivative is inf",
    cases=[*POSITIVE, case((3, 4), low=-2.0, high=-0.1)], tame=("1",), saves="y",
    domain="x != 0", sym=lambda sp, x: sp.sign(x) * sp.cbrt(sp.Abs(x)))

row("rsqrt", latex=r"\frac{{1}}{{\sqrt{{{0}}}}}", formula="x**-0.5",
    doc="Reciprocal of the square root.", kink="at 0 the derivative is -inf",
    fwd=lambda xp, x: 1 / xp.sqrt(x), partials=(lambda xp, y, x: -0.5 * (y * y * y),),
    cases=POSITIVE, not_finite={"inf": "a division by zero",
                                "nan": "the square root of a negative number"},
    tame=("1",), saves="y")

of_floats("logaddexp", latex=r"\log(e^{{{0}}} + e^{{{1}}})", formula="log(e**a + e**b)",
    doc="Logarithm of the sum of two exponentials.",
    fwd=lambda xp, a, b: xp.logaddexp(a, b),
    partials=(lambda xp, y, a, b: xp.sigmoid(a - b),
              lambda xp, y, a, b: xp.sigmoid(b - a)),
    cases=[*PAIR, case((2,), (2,), low=-40, high=40)],
    sym=lambda sp, a, b: sp.log(sp.exp(a) + sp.exp(b)))


# PyTorch's derivatives.yaml, logaddexp2.
@of_floats("logaddexp2", latex=r"\log_2(2^{{{0}}} + 2^{{{1}}})",
    formula="log2(2**a + 2**b)", doc="Base-2 logarithm of a sum of powers of two.",
    partials=(lambda xp, y, a, b: xp.sigmoid((a - b) * ln(xp, y, 2)),
              lambda xp, y, a, b: xp.sigmoid((b - a) * ln(xp, y, 2))), cases=PAIR,
    saves="a b y")
def log2_of_sum(xp: Namespace, a: Array, b: Array) -> Array:
    apart = xp.maximum(a, b) + xp.log1p(xp.exp2(-xp.abs(a - b))) / ln(xp, a - b, 2)
    return xp.where(xp.eq(a, b), a + 1, apart)


# a*log(b), where 0*log(b) is 0 for every b other than NaN


def log_constant(xp: Namespace, x: Array, number: float) -> Array:
    """Return log(number) in the shape of ``x``; 0 where number <= 0 and x is 0."""
    if number > 0:
        return ln(xp, x, number) + xp.zeros_like(x)
    return xp.where(xp.eq(x, 0), 0, ln(xp, x, number))


def times_log(xp: Namespace, g: Array, x: Array, number: float) -> Array:
    """Return ``g`` times `log_constant`; 0 where that is 0, even if ``g`` is
    infinite."""
    if number > 0:
        return g * log_constant(xp, x, number)
    return xp.where(xp.eq(x, 0), 0, xp.xlogy(g, xp.new_full(x, (), number)))


row("xlogy.Tensor", latex=r"{0} \log {1}", formula="a*log(b)",
    doc="Product with a logarithm; 0 where the factor is 0.",
    kink="at a = 0 and b <= 0 the derivative by a is 0; by b it is a/b, NaN at (0, 0)",
    fwd=lambda xp, a, b: xp.xlogy(a, b),
    partials=(
        lambda xp, y, a, b: xp.log(
            xp.where(xp.logical_and(xp.eq(a, 0), xp.le(b, 0)), 1, b)),
        lambda xp, y, a, b: a / b),
    vjp=(lambda xp, g, y, a, b: xp.where(
            xp.logical_and(xp.eq(a, 0), xp.le(b, 0)), 0, xp.xlogy(g, b)),
         lambda xp, g, y, a, b: g * (a / b)), cases=POSITIVE_PAIR)

row("xlogy.Scalar_Self", node="XlogyBackward1", latex=r"c \log {0}",
    formula="number*log(x)",
    fwd=lambda xp, x, number: xp.xlogy(xp.new_full(x, (), number), x),
    partials=(lambda xp, y, x, number: number / x,),
    cases=[case((3,), low=0.5, number=2), case((), low=0.5, number=-0.5)])

row("xlogy.Scalar_Other", node="XlogyBackward2", latex=r"{0} \log c",
    formula="x*log(other)", kink="at x = 0 the derivative is 0 for numbers <= 0",
    fwd=lambda xp, x, other: xp.xlogy(x, xp.new_full(x, (), other)),
    partials=(lambda xp, y, x, other: log_constant(xp, x, other),),
    vjp=(lambda xp, g, y, x, other: times_log(xp, g, x, other),),
    cases=[case((3,), other=2), case((), other=0.5)])

function("xlogy", lambda call, a, b:
         call("xlogy.Scalar_Self", b, number=a) if is_number(a)
         else call("xlogy.Scalar_Other", a, other=b) if is_number(b)
         else call("xlogy.Tensor", a, b),
         special="xlogy", domain="b > 0", sym=lambda sp, a, b: a * sp.log(b))


# PyTorch's derivatives.yaml, special_xlog1py.
@row("xlog1py.Tensor", node="SpecialXlog1PyBackward0", latex=r"{0} \log(1 + {1})",
    formula="a*log(1 + b)", doc="Product with log1p; 0 where the factor is 0.",
    kink="at a = 0 and b <= -1 the derivative by a is 0; by b it is a/(1 + b)",
    partials=(
        lambda xp, y, a, b: xp.log1p(
            xp.where(xp.logical_and(xp.eq(a, 0), xp.le(b, -1)), 0, b)),
        lambda xp, y, a, b: a / (1 + b)),
    vjp=(lambda xp, g, y, a, b: xp.where(
            xp.logical_and(xp.eq(a, 0), xp.le(b, -1)), 0, xp.xlog1py(g, b)),
         lambda xp, g, y, a, b: g * (a / (1 + b))),
    cases=[case((3, 4), (4,), low=0.2), case((), (2,), low=0.2)])
def x_log1p(xp: Namespace, a: Array, b: Array) -> Array:
    nothing = xp.logical_and(xp.eq(a, 0), xp.logical_not(xp.isnan(b)))
    return xp.where(nothing, 0, a * xp.log1p(b))


row("xlog1py.Scalar_Self", node="SpecialXlog1PyBackward1", latex=r"c \log(1 + {0})",
    formula="number*log(1 + x)",
    fwd=lambda xp, x, number: x_log1p(xp, xp.new_full(x, (), number), x),
    partials=(lambda xp, y, x, number: number / (1 + x),),
    cases=[case((3,), low=-0.5, number=2), case((), low=0.5, number=-0.5)])

row("xlog1py.Scalar_Other", node="SpecialXlog1PyBackward2", latex=r"{0} \log(1 + c)",
    formula="x*log(1 + other)", kink="at x = 0 the derivative is 0 for numbers <= -1",
    fwd=lambda xp, x, other: x_log1p(xp, x, xp.new_full(x, (), other)),
    partials=(lambda xp, y, x, other: log_constant(xp, x, 1 + other),),
    vjp=(lambda xp, g, y, x, other: times_log(xp, g, x, 1 + other),),
    cases=[case((3,), other=2), case((), other=-0.5)])

function("xlog1py", lambda call, a, b:
         call("xlog1py.Scalar_Self", b, number=a) if is_number(a)
         else call("xlog1py.Scalar_Other", a, other=b) if is_number(b)
         else call("xlog1py.Tensor", a, b),
         special="xlog1py")


@function("log_to_base", doc="Logarithm to any base; log(x, base) is short for it.",
          formula="log(x)/log(base)", operands=("x",), either="base",
          cases=[case((3, 4), low=0.5, base=3), case((), (), low=1.5, high=4.0)])
def logarithm_to_base(call: Caller, x: Operand, base: Operand) -> Array:
    """Return log(x)/log(base); a plain number gets the dtype of the other logarithm."""
    if is_number(base):
        top = call("log", x)
        return call("div", top, call("log", call("new_full", top, (), base)))
    bottom = call("log", base)
    if is_number(x):
        x = call("new_full", bottom, (), x)
    return call("div", call("log", x), bottom)


@function("root", either="n", doc="The n-th root; of an odd order also of negatives.",
          formula="sign(x)*abs(x)**(1/n) if n % 2 == 1 else x**(1/n)",
          kink="at 0 the derivative is infinite, or NaN where n is odd and above 3",
          cases=[case((3, 4), low=0.5, n=4), case((), low=-2.0, high=-0.5, n=5),
                 case((3,), low=0.5, n=2), case((2,), (), low=1.5)])
def real_root(call: Caller, x: Array, n: Operand) -> Array:
    """Return the n-th root; for an odd n also of negative numbers, whose root is
    negative."""
    if not is_number(n):
        return call("pow", x, call("reciprocal", n))
    refuse(not n, "there is no root of order 0", kind=ValueRangeError)
    if n in (2, 3):
        return call("sqrt" if n == 2 else "cbrt", x)
    power = reciprocal(x, n)
    if float(n).is_integer() and n % 2 == 1:
        return call("mul", call("sign", x), call("pow", call("abs", x), power))
    return call("pow", x, power)


# x*2**n and its inverse


def power_of_two(xp: Namespace, b: Operand, like: Operand) -> Array:
    """Return ``2**b``; if ``b`` is a plain number, in the dtype of ``like``."""
    plain = is_number(b) and not is_number(like)
    return xp.exp2(xp.new_full(cast(Array, like), (), b) if plain else b)


row("ldexp", latex=r"{0} \cdot 2^{{{1}}}", formula="a*2**b",
    doc="Product with a power of two.", fwd=lambda xp, a, b: a * power_of_two(xp, b, a),
    partials=(lambda xp, y, a, b: power_of_two(xp, b, a),
              lambda xp, y, a, b: y * ln(xp, y, 2)), cases=PAIR, overflows=True,
    saves=("b", "y"))

# circular and hyperbolic functions

FAMILY = "trigonometric"


INSIDE = [case((3, 4), low=-0.9, high=0.9), case((), low=-0.9, high=0.9)]


def pi(xp: Namespace, x: Array) -> Array:
    """Return pi as a scalar in the number system and dtype of ``x``."""
    return 4 * xp.atan(xp.new_full(x, (), 1))


smooth("sin", lambda xp, y, x: xp.cos(x), latex=r"\sin {0}", doc="Sine.")

smooth("cos", lambda xp, y, x: -xp.sin(x), latex=r"\cos {0}", doc="Cosine.")

smooth("tan", lambda xp, y, x: 1 + y * y, latex=r"\tan {0}", doc="Tangent.",
    cases=[case((3, 4), low=-1.3, high=1.3), case((), low=-1.3, high=1.3)],
    also=("tg",), saves="y")

smooth("asin", lambda xp, y, x: 1 / xp.sqrt((1 - x) * (1 + x)), latex=r"\arcsin {0}",
    doc="Inverse of the sine.", aliases=("arcsin",),
    kink="at -1 and 1 the derivative is inf", cases=INSIDE,
    not_finite={"nan": "its argument is outside [-1, 1]"}, tame=("0",),
    domain="x > -1 and x < 1")

smooth("acos", lambda xp, y, x: -1 / xp.sqrt((1 - x) * (1 + x)), latex=r"\arccos {0}",
    doc="Inverse of the cosine.", aliases=("arccos",),
    kink="at -1 and 1 the derivative is -inf", cases=INSIDE,
    not_finite={"nan": "its argument is outside [-1, 1]"}, tame=("0",),
    domain="x > -1 and x < 1")

smooth("atan", lambda xp, y, x: 1 / (1 + x * x), latex=r"\arctan {0}",
    doc="Inverse of the tangent.", aliases=("arctan",), also=("arctg", "atg"))


def over_square_norm(xp: Namespace, part: Array, a: Array, b: Array) -> Array:
    """Return ``part / (a**2 + b**2)`` without overflow; 0 at the origin."""
    norm = xp.hypot(a, b)
    nonzero = xp.where(xp.eq(norm, 0), 1, norm)
    return part / nonzero / nonzero


row("atan2", latex=r"\operatorname{{atan2}}({0}, {1})", formula="atan2(a, b)",
    doc="Angle of the point (b, a).", aliases=("arctan2",),
    kink="at the origin both derivatives are 0", fwd=lambda xp, a, b: xp.atan2(a, b),
    partials=(lambda xp, y, a, b: over_square_norm(xp, b, a, b),
              lambda xp, y, a, b: over_square_norm(xp, -a, a, b)),
    cases=[case((3, 4), (4,), low=0.3), case((), (2,), low=-2.0, high=-0.3),
           case((3, 1), (1, 2), low=0.3)], domain="a != 0, where b is not above 0",
    bounds=lambda xp, a, b: () if b.value > 0 else ((0, "!=", 0),))


def length_bounds(xp: Namespace, a: Any, b: Any) -> tuple[Relation, ...]:
    """Return the conditions under which hypot is smooth: a or b is not 0."""
    if not b.value.contains(0):
        return ()
    return ((0, "!=", 0),) if not a.value.contains(0) else ((0, "!=", 0), (1, "!=", 0))


of_floats("hypot", latex=r"\sqrt{{{0}^2 + {1}^2}}", formula="sqrt(a**2 + b**2)",
    doc="Length of the hypotenuse.",
    kink="at the origin both derivatives are NaN, as in PyTorch",
    fwd=lambda xp, a, b: xp.hypot(a, b),
    partials=(lambda xp, y, a, b: a / y, lambda xp, y, a, b: b / y),
    cases=[case((3, 4), (4,), low=0.3), case((), (2,), low=-2.0, high=-0.3)],
    saves=("a y", "b y"), domain="a != 0 or b != 0", bounds=length_bounds,
    overflows=True, sym=lambda sp, a, b: sp.sqrt(a**2 + b**2))

smooth("sinh", lambda xp, y, x: xp.cosh(x), latex=r"\sinh {0}", doc="Hyperbolic sine.",
    also=("sh",), tame=("0",), overflows=True)

smooth("cosh", lambda xp, y, x: xp.sinh(x), latex=r"\cosh {0}",
    doc="Hyperbolic cosine.", also=("ch",), tame=("0",), overflows=True)

smooth("tanh", lambda xp, y, x: 1 - y * y, latex=r"\tanh {0}",
    rule=Rule("TanhBackwardBackward0", (RESULT,), passes=True),
    doc="Hyperbolic tangent.", also=("th",), saves="y")

smooth("asinh", lambda xp, y, x: 1 / xp.hypot(1, x),
    latex=r"\operatorname{{arsinh}} {0}", doc="Inverse of the hyperbolic sine.",
    aliases=("arcsinh",))

# DLMF 4.38(ii), in factors, so that no square overflows or cancels.
smooth("acosh", lambda xp, y, x: 1 / (xp.sqrt(x - 1) * xp.sqrt(x + 1)),
    latex=r"\operatorname{{arcosh}} {0}", doc="Inverse of the hyperbolic cosine.",
    aliases=("arccosh",), kink="at 1 the derivative is inf",
    cases=[case((3, 4), low=1.2, high=3.0), case((), low=1.2, high=3.0)],
    not_finite={"nan": "its argument is below 1"}, tame=("2",), domain="x > 1")

smooth("atanh", lambda xp, y, x: 1 / ((1 - x) * (1 + x)),
    latex=r"\operatorname{{artanh}} {0}", doc="Inverse of the hyperbolic tangent.",
    aliases=("arctanh",), kink="at -1 and 1 the derivative is inf", cases=INSIDE,
    not_finite={"nan": "its argument is outside (-1, 1)"}, tame=("0",),
    domain="x > -1 and x < 1")


def is_near_0(xp: Namespace, x: Array, limit: float) -> Array:
    """Return where a short series replaces a function: where ``abs(x) < limit``, but at
    only 0 if numbers have more digits than floats: the series is not that exact."""
    return xp.eq(x, 0) if xp.precise else xp.lt(xp.abs(x), limit)


def sine_over_series(x: Array, terms: int) -> Array:
    """Return the derivative of sin(x)/x as the first terms of its series about 0."""
    square = x * x
    total: Operand = 1
    for k in range(terms, 1, -1):
        total = 1 - square * total / (2 * (k - 1) * (2 * k + 1))
    return -x / 3 * total


def sinc_slope(xp: Namespace, y: Array, x: Array) -> Array:
    """Return the derivative of ``sin(pi*x)/(pi*x)``.

    Near 0 the closed form is a small difference of two numbers close to 1, so the
    series is used there; its first four terms are exact to rounding.
    """
    near = is_near_0(xp, x, 0.01)
    turn = pi(xp, x)
    # At 0 the series is -0.0; adding 0 makes it 0.
    series = 0 + turn * sine_over_series(turn * xp.where(near, x, 0), 4)
    away = xp.where(near, 1, x)
    return xp.where(near, series, (xp.cos(turn * x) - y) / away)


smooth("sinc", sinc_slope, formula="sin(pi*x)/(pi*x)", doc="Normalised sinc; 1 at 0.",
    cases=[*ALL, case((4,), low=-0.009, high=0.009), case((2,), low=0.02, high=0.1),
           case((2,), low=0.0095, high=0.0099)], special="sinc", saves="x y",
    inner_roundings=2, sym=lambda sp, x: sp.sinc(sp.pi * x))

row("deg2rad", latex=r"\frac{{\pi}}{{180}} {0}", saves="", formula="x*pi/180",
    also=("radians",), doc="Degrees to radians.",
    fwd=lambda xp, x: x * (pi(xp, x) / 180),
    partials=(lambda xp, y, x: pi(xp, x) / 180,),
    vjp=(lambda xp, g, y, x: g * (pi(xp, g) / 180),), cases=ALL)

row("rad2deg", latex=r"\frac{{180}}{{\pi}} {0}", saves="", formula="x*180/pi",
    also=("degrees",), doc="Radians to degrees.",
    fwd=lambda xp, x: x * (180 / pi(xp, x)),
    partials=(lambda xp, y, x: 180 / pi(xp, x),),
    vjp=(lambda xp, g, y, x: g * (180 / pi(xp, g)),), cases=ALL)

# reciprocals of the functions above, which PyTorch lacks

OUTSIDE = [case((3, 4), low=1.2, high=3.0), case((), low=-3.0, high=-1.2)]
AWAY = [case((3, 4), low=0.3, high=1.3), case((), low=-1.3, high=-0.3)]


def with_inverse(name: str, of: str, word: str, *, edges: str,
               inside: Sequence[Case] = OUTSIDE, also: Sequence[str] = ()) -> None:
    """Enter the reciprocal of a function, and the inverse of that reciprocal."""

    @function(name, doc=f"{word}: one over {of}.", formula=f"1/{of}(x)", also=also,
              cases=AWAY)
    def build(call: Caller, x: Array) -> Array:
        return call("reciprocal", call(of, x))

    @function(f"a{name}", doc=f"Inverse of the {word[0].lower()}{word[1:]}.",
              formula=f"a{of}(1/x)", cases=inside, kink=edges, aliases=(f"arc{name}",))
    def inverse(call: Caller, x: Array) -> Array:
        return call(f"a{of}", call("reciprocal", x))


EDGES = "at -1 and 1 the derivative is infinite"

with_inverse("sec", "cos", "Secant", edges=EDGES)
with_inverse("csc", "sin", "Cosecant", edges=EDGES, also=("cosec",))
with_inverse("cot", "tan", "Cotangent", inside=AWAY, also=("cotan", "ctg", "cotg"),
             edges="at 0 it jumps from -pi/2 to pi/2, and the derivative is NaN")
with_inverse("sech", "cosh", "Hyperbolic secant",
             inside=[case((3, 4), low=0.2, high=0.8), case((), low=0.2, high=0.8)],
             edges="at 1 the derivative is -inf, at 0 NaN")
with_inverse("csch", "sinh", "Hyperbolic cosecant", inside=AWAY, also=("cosech",),
             edges="at 0 it jumps, and the derivative is NaN")
with_inverse("coth", "tanh", "Hyperbolic cotangent", edges=EDGES)
