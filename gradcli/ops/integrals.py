"""Special functions that PyTorch lacks: the exponential, sine, cosine and Fresnel
integrals, Lambert's W, the polylogarithm.

    row("Si", node="SiBackward0", ..., partials=(lambda xp, y, x: sin(x)/x,))

Invariant: functions have SymPy's names, and nodes names by PyTorch's rules. Where a
function has no real value, it is NaN.
"""

from __future__ import annotations

from .arithmetic import is_number
from .bessel import BESIDE_0, SMALL, ratio
from .checks import ArgumentError, refuse
from .op import case, function, row
from .trigonometric import is_beside_0, pi
from .types import Array, Call, Namespace, Operand, Result

# fmt: off

ALL = [case((3, 4)), case(())]
POSITIVE = [case((3, 4), low=0.5, high=5.0), case((), low=0.5, high=3.0)]
TERMS = 12
"""Number of terms of the polylogarithm's series that are exact to rounding near 0."""

MAX_ORDER = 100
"""Largest absolute value of a polylogarithm's order."""


def quarter_turns(xp: Namespace, x: Array) -> Array:
    """Return ``pi*x**2/2``, the angle of Fresnel's integrals."""
    return pi(xp, x) / 2 * (x * x)


# DLMF 7.2.7 and 7.2.8, 6.2.5, 6.2.9 to 6.2.16.
row("erfi", node="ErfiBackward0", latex=r"\operatorname{{erfi}} {0}", ours=True,
    formula="2/sqrt(pi) * the integral of exp(t**2) from 0 to x",
    doc="Imaginary error function.", overflows=True,
    fwd=lambda xp, x: xp.erfi(x),
    partials=(lambda xp, y, x: 2 / xp.sqrt(pi(xp, x)) * xp.exp(x * x),), cases=ALL,
    tame=("0",))

row("expi", node="ExpiBackward0", latex=r"\operatorname{{Ei}}({0})", ours=True,
    formula="the integral of exp(t)/t from -inf to x", aliases=("Ei",),
    doc="Exponential integral, its principal value for positive numbers.",
    kink="at its pole at 0 the derivative is inf", overflows=True,
    fwd=lambda xp, x: xp.expi(x), partials=(lambda xp, y, x: xp.exp(x) / x,),
    cases=[*POSITIVE, case((3,), low=-3.0, high=-0.2)], tame=("1",), domain="x != 0")

function("li", lambda call, x: call("expi", call("log", x)),
         formula="the integral of 1/log(t) from 0 to x", doc="Logarithmic integral.",
         cases=[case((3, 4), low=1.5, high=5.0), case((), low=0.2, high=0.8)])

row("Si", node="SiBackward0", latex=r"\operatorname{{Si}}({0})", ours=True,
    formula="the integral of sin(t)/t from 0 to x", also=("sinint",),
    doc="Sine integral.",
    fwd=lambda xp, x: xp.Si(x),
    partials=(lambda xp, y, x: xp.spherical_bessel_j0(x),), cases=ALL)

row("Ci", node="CiBackward0", latex=r"\operatorname{{Ci}}({0})", ours=True,
    formula="minus the integral of cos(t)/t from x to inf", also=("cosint",),
    doc="Cosine integral.", kink="at its pole at 0 the derivative is inf",
    fwd=lambda xp, x: xp.Ci(x), partials=(lambda xp, y, x: xp.cos(x) / x,),
    cases=POSITIVE, tame=("1",), domain="x > 0",
    not_finite={"nan": "the cosine integral of a negative number"})

row("Shi", node="ShiBackward0", latex=r"\operatorname{{Shi}}({0})", ours=True,
    formula="the integral of sinh(t)/t from 0 to x", also=("sinhint",),
    doc="Hyperbolic sine integral.", overflows=True,
    fwd=lambda xp, x: xp.Shi(x),
    partials=(lambda xp, y, x: ratio(xp, xp.sinh(x), x, (1, 6, 120, 5040)),),
    cases=BESIDE_0, tame=("0",))

row("Chi", node="ChiBackward0", latex=r"\operatorname{{Chi}}({0})", ours=True,
    formula="0.5772156649015329 + log(x) + the integral of (cosh(t) - 1)/t from 0 to x",
    also=("coshint",), doc="Hyperbolic cosine integral.", overflows=True,
    kink="at its pole at 0 the derivative is inf",
    fwd=lambda xp, x: xp.Chi(x), partials=(lambda xp, y, x: xp.cosh(x) / x,),
    cases=POSITIVE, tame=("1",), domain="x > 0",
    not_finite={"nan": "the hyperbolic cosine integral of a negative number"})

row("fresnels", node="FresnelsBackward0", latex="S({0})", ours=True,
    formula="the integral of sin(pi*t**2/2) from 0 to x", aliases=("fresnel_s",),
    doc="Fresnel's sine integral.",
    fwd=lambda xp, x: xp.fresnels(x),
    partials=(lambda xp, y, x: xp.sin(quarter_turns(xp, x)),), cases=ALL)

row("fresnelc", node="FresnelcBackward0", latex="C({0})", ours=True,
    formula="the integral of cos(pi*t**2/2) from 0 to x", aliases=("fresnel_c",),
    doc="Fresnel's cosine integral.",
    fwd=lambda xp, x: xp.fresnelc(x),
    partials=(lambda xp, y, x: xp.cos(quarter_turns(xp, x)),), cases=ALL)

# DLMF 4.13.4 for w = W(x), and x = w*exp(w).
row("lambertw", node="LambertwBackward0", latex="W({0})", ours=True,
    formula="the w >= -1 with w*exp(w) = x", aliases=("LambertW",),
    also=("productlog",), doc="Lambert's function, its principal branch.",
    fwd=lambda xp, x: xp.lambertw(x),
    partials=(lambda xp, y, x: 1 / (xp.exp(y) * (1 + y)),),
    cases=[case((3, 4), low=-0.3, high=5.0), case((), low=0.5, high=20.0)],
    tame=("0",), saves="y", inner_roundings=1,
    not_finite={"nan": "its argument is below -1/e"})


def polylog_slope(xp: Namespace, y: object, x: Array, s: int) -> Array:
    """Return ``polylog(s - 1, x)/x``; near 0 it is computed as a series, so that
    nothing cancels in its derivatives."""
    near = is_beside_0(xp, x, SMALL)
    small, own = xp.where(near, x, 0), xp.where(near, 0.5, x)
    total = small * 0
    for k in range(TERMS, 0, -1):
        total = total * small + over_power(1 + small * 0, k, s - 1)
    return xp.where(near, total, xp.polylog(s - 1, own) / own)


def over_power(x: Array, base: int, n: int) -> Array:
    """Return ``x / base**n``, where the power or its reciprocal is an exact integer."""
    whole: int = base ** abs(n)
    return x / whole if n > 0 else x * whole


# DLMF 25.12.10.
@row("polylog.order", node="PolylogBackward0", ours=True,
    latex=r"\operatorname{{Li}}_{{{s}}}({0})",
    formula="x + x**2/2**s + x**3/3**s + ...",
    doc="Polylogarithm of an integer order s.",
    kink="at 1 the derivative is inf for s of 1 and 2", partials=(polylog_slope,),
    cases=[case((3, 4), low=-3.0, high=0.9, s=2), case((), low=-0.5, high=0.9, s=3),
           case((3,), low=-0.019, high=0.019, s=3),
           case((3,), low=-8.0, high=-5.0, s=2), case((3,), low=-2.0, high=0.9, s=1),
           case((3,), low=-2.0, high=0.9, s=-1),
           case((3,), low=-0.019, high=0.019, s=-1)],
    not_finite={"nan": "its argument is above 1"}, tame=("0",))
def polylog_of(xp: Namespace, x: Array, s: float) -> Array:
    if abs(s) > MAX_ORDER or s != int(s):
        raise ArgumentError(f"polylog(s, x) needs an integer s from {-MAX_ORDER} to "
                            f"{MAX_ORDER}, not {s}")
    return xp.polylog(int(s), x)


@function("polylog", formula="polylog(s, x)", literal=True, in_place=False,
          doc="Polylogarithm of an integer order s.")
def polylog(call: Call, s: Operand, x: Array) -> Result:
    refuse(not is_number(s), "polylog(s, x) needs a plain number as its order s: by it "
           "no derivative is known", kind=ArgumentError)
    return call("polylog.order", x, s=s)
