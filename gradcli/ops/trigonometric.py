"""Circular and hyperbolic functions and their inverses.

    row("sin", node="SinBackward0", ..., partials=(lambda xp, y, x: xp.cos(x),))

Invariant: pi is computed in the number system of the input (see `pi`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .op import ALL, RESULT, Case, Rule, case, function, of_floats, row, smooth
from .types import Array, Call, Namespace, Operand, Relation

# fmt: off

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


def is_beside_0(xp: Namespace, x: Array, limit: float) -> Array:
    """Return where a short series replaces a function: where ``abs(x) < limit``, but at
    0 alone if numbers have more digits than floats: the series is not that exact."""
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
    near = is_beside_0(xp, x, 0.01)
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
    def build(call: Call, x: Array) -> Array:
        return call("reciprocal", call(of, x))

    @function(f"a{name}", doc=f"Inverse of the {word[0].lower()}{word[1:]}.",
              formula=f"a{of}(1/x)", cases=inside, kink=edges, aliases=(f"arc{name}",))
    def inverse(call: Call, x: Array) -> Array:
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
