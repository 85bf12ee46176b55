"""Special functions: error, gamma, Bessel and Airy functions, integrals, polynomials.

    row("erf", node="ErfBackward0", ..., fwd=lambda xp, x: xp.erf(x), ...)

Invariant: constants are computed in the number system of the input. A rule divides by
the argument near 0 only if the function has a pole there. Functions that PyTorch lacks
have SymPy's names, and nodes names by PyTorch's rules; where such a function has no
real value, it is NaN. A degree of an orthogonal polynomial is truncated to an integer,
as in PyTorch, and for a degree below 0 the value is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .arithmetic import is_number
from .checks import ArgumentError, refuse
from .elementary import is_near_0, pi, sine_over_series
from .exact import exact_for, fraction
from .op import (
    ALL,
    FLOATS,
    HALF,
    KEPT,
    WHOLE,
    Fixed,
    case,
    function,
    node_of,
    row,
    smooth,
    unknown_slope,
)
from .types import Array, ArrayRule, Caller, Namespace, Operand, Partial, Result

# fmt: off

FAMILY = "special"


def bell(xp: Namespace, x: Array) -> Array:
    """Return ``2/sqrt(pi) * exp(-x**2)``, which is the slope of erf."""
    return 2 / xp.sqrt(pi(xp, x)) * xp.exp(-(x * x))


# DLMF 7.2.1.
smooth("erf", lambda xp, y, x: bell(xp, x), doc="Error function.", special="erf")

smooth("erfc", lambda xp, y, x: -bell(xp, x), formula="1 - erf(x)",
    doc="Complementary error function, exact in its tail.",
    cases=[*ALL, case((2,), low=4.0, high=6.0)], special="erfc")

# DLMF 7.17; the derivative follows from that of erf.
smooth("erfinv", lambda xp, y, x: xp.sqrt(pi(xp, x)) / 2 * xp.exp(y * y),
    latex=r"\operatorname{{erf}}^{{-1}} {0}", doc="Inverse of the error function.",
    kink="at -1 and 1 the derivative is inf",
    cases=[case((3, 4), low=-0.9, high=0.9), case((), low=-0.9, high=0.9)],
    special="erfinv", tame=("0",), also=("erfinverse",), saves="x y",
    domain="x > -1 and x < 1")

ROOT_HALF = fraction(1, 2) ** fraction(1, 2)

function("ndtr", lambda call, x:
         call("mul.Scalar", call("add.Scalar", call("erf", call(
             "mul.Scalar", x, number=exact_for(x, ROOT_HALF))), number=1), number=0.5),
         cases=ALL, doc="Distribution function of the normal distribution.",
         formula="(1 + erf(x/sqrt(2)))/2", special="ndtr")

# DLMF 7.2.3: the derivative follows from that of erfc.
smooth("erfcx", lambda xp, y, x: 2 * x * y - 2 / xp.sqrt(pi(xp, x)),
    node="SpecialErfcxBackward0", latex=r"e^{{{0}^2}} \operatorname{{erfc}} {0}",
    formula="exp(x**2)*erfc(x)",
    doc="Complementary error function times exp(x**2), which does not underflow.",
    refuses=HALF, cases=[*ALL, case((2,), low=4.0, high=30.0)], special="erfcx",
    saves="x y", roundings=14, sym=lambda sp, x: sp.exp(x**2) * sp.erfc(x))


def hazard(xp: Namespace, y: Array, x: Array) -> Array:
    """Return the slope of log_ndtr: from erfcx for x <= 1; above it, where erfcx would
    overflow, from the density."""
    high = xp.gt(x, 1)
    z = -xp.where(high, 0, x) / xp.sqrt(xp.new_full(x, (), 2))
    tail = xp.sqrt(2 / pi(xp, x)) / xp.erfcx(z)
    return xp.where(high, xp.exp(-x * x / 2 - y) / xp.sqrt(2 * pi(xp, x)), tail)


smooth("log_ndtr", hazard, node="SpecialLogNdtrBackward0", latex=r"\log \Phi({0})",
    formula="log(ndtr(x))",
    doc="Logarithm of the distribution function of the normal distribution, exact in "
        "its tail.", refuses=HALF,
    cases=[*ALL, case((2,), low=-30.0, high=-4.0), case((2,), low=20.0, high=50.0)],
    special="log_ndtr", saves="x y",
    sym=lambda sp, x: sp.log(sp.erfc(-x / sp.sqrt(2)) / 2))

smooth("ndtri", lambda xp, y, x: xp.sqrt(2 * pi(xp, x)) * xp.exp(y * y / 2),
    node="SpecialNdtriBackward0", latex=r"\Phi^{{-1}}({0})",
    formula="sqrt(2)*erfinv(2*x - 1)", doc="Quantile of the normal distribution.",
    kink="at 0 and 1 the derivative is inf", refuses=HALF,
    cases=[case((3, 4), low=0.1, high=0.9), case((), low=0.1, high=0.9),
           case((2,), low=0.01, high=0.02)], special="ndtri", saves="x y",
    domain="x > 0 and x < 1", sym=lambda sp, x: sp.sqrt(2) * sp.erfinv(2 * x - 1))

# DLMF 25.11.17.
row("zeta.default", node="SpecialZetaBackward0",
    refuses=HALF, latex=r"\zeta({0}, {1})",
    formula="sum of 1/(n + b)**a over n = 0, 1, 2, ...",
    doc="Hurwitz' zeta function; without a derivative by the exponent.",
    fwd=lambda xp, a, b: xp.zeta(a, b),
    partials=(unknown_slope("zeta"), lambda xp, y, a, b: -a * xp.zeta(a + 1, b)),
    cases=[case(Fixed([1.5, 2.0, 3.0, 4.5]), (3, 4), low=0.5, high=3.0),
           case(Fixed(2.5), (2,), low=0.5, high=3.0)])

row("zeta.self_scalar", node="SpecialZetaBackward1", refuses=HALF,
    latex=r"\zeta(c, {0})", formula="sum of 1/(n + x)**number over n = 0, 1, 2, ...",
    fwd=lambda xp, x, number: xp.zeta(xp.new_full(x, (), number), x),
    partials=(lambda xp, y, x, number:
              -number * xp.zeta(xp.new_full(x, (), number + 1), x),),
    cases=[case((3, 4), low=0.5, high=3.0, number=2),
           case((), low=0.5, high=3.0, number=1.5)])

row("zeta.other_scalar", node="SpecialZetaBackward2", refuses=HALF,
    latex=r"\zeta({0}, c)", formula="sum of 1/(n + other)**x over n = 0, 1, 2, ...",
    fwd=lambda xp, x, other: xp.zeta(x, xp.new_full(x, (), other)),
    partials=(unknown_slope("zeta"),),
    cases=[case(Fixed([1.5, 2.0, 3.0, 4.5]), other=1), case(Fixed(2.5), other=0.5)])

function("zeta", lambda call, a, b:
         call("zeta.self_scalar", b, number=a) if is_number(a)
         else call("zeta.other_scalar", a, other=b) if is_number(b)
         else call("zeta.default", a, b),
         special="zeta", sym=lambda sp, a, b: sp.zeta(a, b))


def logit_slope(xp: Namespace, y: object, x: Array, eps: float | None = None) -> Array:
    if eps is None:
        outside = xp.logical_or(xp.lt(x, 0), xp.gt(x, 1))
        return xp.where(outside, float("nan"), 1 / (x * (1 - x)))
    outside = xp.logical_or(xp.lt(x, eps), xp.gt(x, 1 - eps))
    p = xp.where(outside, 0.5, x)
    return xp.where(outside, 0, 1 / (p * (1 - p)))


def logit_pull(xp: Namespace, g: Array, y: Array, x: Array, eps: float | None = None
              ) -> Array:
    """Return the cotangent of ``x``; it is 0 where the value is clamped, even if ``g``
    is infinite."""
    if eps is None:
        return g * logit_slope(xp, None, x)
    outside = xp.logical_or(xp.lt(x, eps), xp.gt(x, 1 - eps))
    return xp.where(outside, 0, g * logit_slope(xp, None, x, eps))


@row("logit", latex=r"\operatorname{{logit}} {0}", formula="log(x/(1 - x))",
    doc="Inverse of the sigmoid.",
    kink="at 0 and 1 the derivative is inf; outside [eps, 1 - eps] it is 0",
    result=FLOATS, partials=(logit_slope,), vjp=(logit_pull,),
    cases=[case((3, 4), low=0.1, high=0.9), case((), low=0.1, high=0.9),
           case((4,), low=0.3, high=0.7, eps=0.2),
           case((3,), low=0.01, high=0.15, eps=0.2)], special="logit", tame=("0.5",))
def logit_of(xp: Namespace, x: Array, eps: float | None = None) -> Array:
    p = x if eps is None else xp.where(xp.lt(x, eps), eps, xp.minimum(x, 1 - eps))
    return xp.log(p / (1 - p))


smooth("entr", lambda xp, y, x: -1 - xp.log(x), node="SpecialEntrBackward0",
    latex=r"-{0} \log {0}", formula="-x*log(x)",
    doc="Entropy of one probability; -inf for negative x.",
    kink="at 0 the derivative is inf", domain="x > 0",
    cases=[case((3, 4), low=0.1), case((), low=0.1)], special="entr",
    sym=lambda sp, x: -x * sp.log(x))

row("nan_to_num", latex="{0}", formula="x, with numbers for NaN and the infinities",
    doc="Replaces NaN and the infinities; without a number, by 0 and the extremes.",
    result=WHOLE, kink="where something is replaced the derivative is 0",
    fwd=lambda xp, x, nan=0.0, posinf=None, neginf=None:
        xp.nan_to_num(x, nan, posinf, neginf),
    partials=(lambda xp, y, x, nan=0.0, posinf=None, neginf=None:
              xp.as_type_of(xp.isfinite(x), x),),
    cases=[case((3, 4)), case((), nan=1.0, posinf=5.0)])

# Bessel, spherical Bessel and Airy functions

FAMILY = "bessel"


BESIDE_0 = [*ALL, case((3,), low=-0.019, high=0.019)]


OF_I1 = (2, 16, 384, 18432)
"""Divisors of the powers 1, x**2, x**4, ... in the series of I1(x)/x."""

OF_J1 = (2, -16, 384, -18432)
"""Divisors of the powers 1, x**2, x**4, ... in the series of J1(x)/x."""

SMALL = 0.02
"""Largest argument for which four terms of I1(x)/x or J1(x)/x are exact to rounding."""


def ratio(xp: Namespace, y: Array, x: Array, series: Sequence[int],
          scale: Operand = 1) -> Array:
    """Return ``y/x`` for an odd function ``y``; near 0 computed as its series times
    ``scale``, so that nothing cancels in the derivatives."""
    near = is_near_0(xp, x, SMALL)
    small = xp.where(near, x, 0)
    square = small * small
    total: Operand = 1
    for before, divisor in reversed(list(pairwise(series))):
        # The quotient of neighbours is an integer, so that no constant is rounded.
        total = 1 + square * total / (divisor // before)
    return xp.where(near, total * scale / series[0], y / xp.where(near, 1, x))


# DLMF 10.29.3 and 10.29.2; e**-abs(x) has the derivative -sign(x)*e**-abs(x).
smooth("i0", lambda xp, y, x: xp.i1(x), latex="I_0({0})",
    doc="Modified Bessel function of order 0.", special="i0", overflows=True,
    tame=("0",))

smooth("i1", lambda xp, y, x: xp.i0(x) - ratio(xp, y, x, OF_I1),
    node="SpecialI1Backward0", latex="I_1({0})",
    doc="Modified Bessel function of order 1.", cases=BESIDE_0, special="i1",
    saves="x y", overflows=True, tame=("0",))

smooth("i0e", lambda xp, y, x: xp.i1e(x) - xp.sign(x) * y, node="SpecialI0EBackward0",
    latex="e^{{-|{0}|}} I_0({0})", formula="exp(-abs(x))*i0(x)",
    doc="Modified Bessel function of order 0, scaled so that it does not overflow.",
    kink="at 0 the derivative is 0", special="i0e", saves="x y", domain="x != 0",
    roundings=10, sym=lambda sp, x: sp.exp(-sp.Abs(x)) * sp.besseli(0, x))

smooth("i1e", lambda xp, y, x: xp.i0e(x) - xp.sign(x) * y - ratio(
              xp, y, x, OF_I1, xp.exp(-xp.abs(x))), node="SpecialI1EBackward0",
    latex="e^{{-|{0}|}} I_1({0})", formula="exp(-abs(x))*i1(x)",
    doc="Modified Bessel function of order 1, scaled so that it does not overflow.",
    cases=[
    *ALL, case((3,), low=0.003, high=0.019)], special="i1e", saves="x y",
    sym=lambda sp, x: sp.exp(-sp.Abs(x)) * sp.besseli(1, x))

# PyTorch has no derivatives of the functions below; their nodes are named by its rules
# for names.

def _entered(name: str, doc: str, slope: Partial, low: float, high: float = 5.0, *,
             formula: str = "", fwd: ArrayRule | None = None, saves: str = "x",
             **facts: Any) -> None:
    """Enter a row for a function of ``torch.special``; ``fwd`` is by default the
    namespace's function of the same name."""
    row(name, node=node_of(f"special_{name}"), doc=doc, formula=formula or f"{name}(x)",
        special=name, refuses=HALF, partials=(slope,), in_place=False, saves=saves,
        fwd=fwd or (lambda xp, x: getattr(xp, name)(x)), **facts,
        cases=[case((3, 4), low=low, high=high), case((), low=low, high=min(high, 3.0)),
               *BESIDE_0[2:] * (low < 0)])


def sine_over(xp: Namespace, x: Array) -> Array:
    """Return sin(x)/x, which is 1 at 0 and 0 at the infinities."""
    apart = xp.logical_or(xp.eq(x, 0), xp.isinf(x))
    own = xp.where(apart, 1, x)
    return xp.where(apart, xp.as_type_of(xp.eq(x, 0), x), xp.sin(own) / own)


def sine_over_slope(xp: Namespace, y: Array, x: Array) -> Array:
    """Return the derivative of sin(x)/x; near 0 it is computed as a series, exact to
    rounding."""
    near = is_near_0(xp, x, 0.5)
    away = xp.where(near, 1, x)
    return xp.where(near, 0 + sine_over_series(xp.where(near, x, 0), 8),
                    (xp.cos(away) - y) / away)


# DLMF 10.29.3.
_entered("modified_bessel_i0", "Modified Bessel function of order 0.",
         lambda xp, y, x: xp.i1(x), -2.0, formula="i0(x)", fwd=lambda xp, x: xp.i0(x))
_entered("modified_bessel_i1", "Modified Bessel function of order 1.",
         lambda xp, y, x: xp.i0(x) - ratio(xp, y, x, OF_I1), -2.0, saves="x y",
         formula="i1(x)", fwd=lambda xp, x: xp.i1(x))
# DLMF 10.49.3.
_entered("spherical_bessel_j0", "Spherical Bessel function of order 0.",
         sine_over_slope, -2.0, formula="sin(x)/x", fwd=sine_over, saves="x y")

# DLMF 10.6.2 and 10.6.3. PyTorch's values of j and y have six digits above 4 and twelve
# at 2, those of Ai have six below -2.
_entered("bessel_j0", "Bessel function of order 0.",
         lambda xp, y, x: -xp.bessel_j1(x), -2.0, 2.0, latex="J_0({0})", also=("j0",))
_entered("bessel_j1", "Bessel function of order 1.",
         lambda xp, y, x: xp.bessel_j0(x) - ratio(xp, y, x, OF_J1), -2.0, 2.0,
         saves="x y", latex="J_1({0})", also=("j1",))
_entered("bessel_y0", "Bessel function of the second kind, order 0.",
         lambda xp, y, x: -xp.bessel_y1(x), 0.3, 2.0,
         latex="Y_0({0})", domain="x > 0", also=("y0",),
         kink="at 0 the derivative is inf")
_entered("bessel_y1", "Bessel function of the second kind, order 1.",
         lambda xp, y, x: xp.bessel_y0(xp.where(xp.eq(x, 0), 1, x)) - y / x, 0.3, 2.0,
         latex="Y_1({0})", domain="x > 0", also=("y1",),
         kink="at 0 the derivative is inf",
         saves="x y")

# DLMF 10.29.2 and 10.29.3; a scaled function is exp(x) times the unscaled one.
_entered("modified_bessel_k0", "Modified Bessel function of the second kind, order 0.",
         lambda xp, y, x: -xp.modified_bessel_k1(x), 0.3,
         latex="K_0({0})", domain="x > 0", kink="at 0 the derivative is -inf")
_entered("modified_bessel_k1", "Modified Bessel function of the second kind, order 1.",
         lambda xp, y, x: -xp.modified_bessel_k0(x) - y / x, 0.3, saves="x y",
         latex="K_1({0})", domain="x > 0", kink="at 0 the derivative is -inf")
for _order, _slope in (
        (0, lambda xp, y, x:
         xp.where(xp.eq(x, 0), 0, y) - xp.scaled_modified_bessel_k1(x)),
        (1, lambda xp, y, x:
         xp.where(xp.eq(x, 0), 0, y) - xp.scaled_modified_bessel_k0(x) - y / x)):
    _entered(f"scaled_modified_bessel_k{_order}", "Modified Bessel function of the "
             f"second kind, order {_order}, scaled so that it does not underflow.",
             _slope, 0.3, formula=f"exp(x)*modified_bessel_k{_order}(x)", saves="x y",
             latex=f"e^{{{{{{0}}}}}} K_{_order}({{0}})", domain="x > 0",
             kink="at 0 the derivative is -inf",
             sym=lambda sp, x, n=_order: sp.exp(x) * sp.besselk(n, x))

# DLMF 9.2.1.
_entered("airy_ai", "Airy function Ai.", lambda xp, y, x: xp.airy_ai_prime(x), -2.0,
         latex=r"\operatorname{{Ai}}({0})", roundings=24)
_entered("airy_ai_prime", "Derivative of the Airy function Ai.",
         lambda xp, y, x: x * xp.airy_ai(x), -2.0,
         latex=r"\operatorname{{Ai}}'({0})", ours=True, roundings=24)


# functions that PyTorch lacks: integrals, Lambert's W, the polylogarithm

FAMILY = "integrals"

ABOVE_0 = [case((3, 4), low=0.5, high=5.0), case((), low=0.5, high=3.0)]
TERMS = 12
"""Number of terms of the polylogarithm's series that are exact to rounding near 0."""

MAX_ORDER = 100
"""Largest absolute value of a polylogarithm's order."""


def quarter_turns(xp: Namespace, x: Array) -> Array:
    """Return ``pi*x**2/2``, the angle of Fresnel's integrals."""
    return pi(xp, x) / 2 * (x * x)


# DLMF 7.2.7 and 7.2.8, 6.2.5, 6.2.9 to 6.2.16.
smooth("erfi", lambda xp, y, x: 2 / xp.sqrt(pi(xp, x)) * xp.exp(x * x), ours=True,
    formula="2/sqrt(pi) * the integral of exp(t**2) from 0 to x",
    doc="Imaginary error function.", overflows=True, tame=("0",))

smooth("expi", lambda xp, y, x: xp.exp(x) / x, latex=r"\operatorname{{Ei}}({0})",
    ours=True, formula="the integral of exp(t)/t from -inf to x", aliases=("Ei",),
    doc="Exponential integral, its principal value for positive numbers.",
    kink="at its pole at 0 the derivative is inf", overflows=True,
    cases=[*ABOVE_0, case((3,), low=-3.0, high=-0.2)], tame=("1",), domain="x != 0")

function("li", lambda call, x: call("expi", call("log", x)),
         formula="the integral of 1/log(t) from 0 to x", doc="Logarithmic integral.",
         cases=[case((3, 4), low=1.5, high=5.0), case((), low=0.2, high=0.8)])

smooth("Si", lambda xp, y, x: xp.spherical_bessel_j0(x),
    latex=r"\operatorname{{Si}}({0})", ours=True,
    formula="the integral of sin(t)/t from 0 to x", also=("sinint",),
    doc="Sine integral.")

smooth("Ci", lambda xp, y, x: xp.cos(x) / x, latex=r"\operatorname{{Ci}}({0})",
    ours=True, formula="minus the integral of cos(t)/t from x to inf", also=("cosint",),
    doc="Cosine integral.", kink="at its pole at 0 the derivative is inf",
    cases=ABOVE_0, tame=("1",), domain="x > 0",
    not_finite={"nan": "the cosine integral of a negative number"})

smooth("Shi", lambda xp, y, x: ratio(xp, xp.sinh(x), x, (1, 6, 120, 5040)),
    latex=r"\operatorname{{Shi}}({0})", ours=True,
    formula="the integral of sinh(t)/t from 0 to x", also=("sinhint",),
    doc="Hyperbolic sine integral.", overflows=True, cases=BESIDE_0, tame=("0",))

smooth("Chi", lambda xp, y, x: xp.cosh(x) / x, latex=r"\operatorname{{Chi}}({0})",
    ours=True,
    formula="0.5772156649015329 + log(x) + the integral of (cosh(t) - 1)/t from 0 to x",
    also=("coshint",), doc="Hyperbolic cosine integral.", overflows=True,
    kink="at its pole at 0 the derivative is inf", cases=ABOVE_0, tame=("1",),
    domain="x > 0",
    not_finite={"nan": "the hyperbolic cosine integral of a negative number"})

smooth("fresnels", lambda xp, y, x: xp.sin(quarter_turns(xp, x)), latex="S({0})",
    ours=True, formula="the integral of sin(pi*t**2/2) from 0 to x",
    aliases=("fresnel_s",), doc="Fresnel's sine integral.")

smooth("fresnelc", lambda xp, y, x: xp.cos(quarter_turns(xp, x)), latex="C({0})",
    ours=True, formula="the integral of cos(pi*t**2/2) from 0 to x",
    aliases=("fresnel_c",), doc="Fresnel's cosine integral.")

# DLMF 4.13.4 for w = W(x), and x = w*exp(w).
smooth("lambertw", lambda xp, y, x: 1 / (xp.exp(y) * (1 + y)), latex="W({0})",
    ours=True, formula="the w >= -1 with w*exp(w) = x", aliases=("LambertW",),
    also=("productlog",), doc="Lambert's function, its principal branch.",
    cases=[case((3, 4), low=-0.3, high=5.0), case((), low=0.5, high=20.0)], tame=("0",),
    saves="y", inner_roundings=1, not_finite={"nan": "its argument is below -1/e"})


def polylog_slope(xp: Namespace, y: object, x: Array, s: int) -> Array:
    """Return ``polylog(s - 1, x)/x``; near 0 it is computed as a series, so that
    nothing cancels in its derivatives."""
    near = is_near_0(xp, x, SMALL)
    small, own = xp.where(near, x, 0), xp.where(near, 0.5, x)
    total = small * 0
    for k in range(TERMS, 0, -1):
        # The power or its reciprocal is an integer, so that no constant is rounded.
        one, whole = 1 + small * 0, k ** abs(s - 1)
        total = total * small + (one / whole if s > 1 else one * whole)
    return xp.where(near, total, xp.polylog(s - 1, own) / own)


# DLMF 25.12.10.
@row("polylog.order", ours=True, latex=r"\operatorname{{Li}}_{{{s}}}({0})",
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
    refuse(abs(s) > MAX_ORDER or s != int(s), "polylog(s, x) needs an integer s from "
           "{} to {}, not {}", -MAX_ORDER, MAX_ORDER, s, kind=ArgumentError)
    return xp.polylog(int(s), x)


@function("polylog", formula="polylog(s, x)", literal=True, in_place=False)
def polylog(call: Caller, s: Operand, x: Array) -> Result:
    refuse(not is_number(s), "polylog(s, x) needs a plain number as its order s: by it "
           "no derivative is known", kind=ArgumentError)
    return call("polylog.order", x, s=s)

# orthogonal polynomials, by the recurrences that define them

FAMILY = "polynomials"


MOST_DEGREE = 100_000
"""Largest degree of a polynomial that is accepted."""

First = Callable[[Any], Any]
"""A function from x to the polynomial of degree 1; that of degree 0 is always 1."""

Next = Callable[[Any, int, Any, Any], Any]
"""A function from x, k and the polynomials of degree k and k - 1 to that of k + 1; it
is linear in the polynomials, and a constant plus a multiple of x in x."""


def polynomial(xp: Namespace, x: Array, n: Array, first: First, above: Next,
               slopes: bool = False) -> Array:
    """Return the polynomials of ``x`` of degrees ``n``, or their slopes, which follow
    from the recurrence by the product rule."""
    degrees = xp.as_index(xp.trunc(n))
    most = int(degrees.max()) if degrees.size else 0
    refuse(most > MOST_DEGREE, "polynomials of degree {} are not offered; up to {} "
           "they are", most, MOST_DEGREE, kind=ArgumentError)
    zero, one = xp.zeros_like(x), xp.ones_like(x)
    below, here = one, first(x)
    slope_below, slope = zero, (first(1) - first(0)) * one
    y = zero if slopes else xp.where(xp.eq(degrees, 0), one, zero)
    for k in range(1, most + 1):
        y = xp.where(xp.eq(degrees, k), slope if slopes else here, y)
        if slopes:
            by_x = above(1, k, here, 0) - above(0, k, here, 0)
            slope_below, slope = slope, above(x, k, slope, slope_below) + by_x
        below, here = here, above(x, k, here, below)
    return y


def orthogonal(name: str, doc: str, formula: str, first: First, above: Next) -> None:
    row(f"{name}.default", node=node_of(f"special_{name}"), formula=formula,
        doc=f"{doc}; without a derivative by its degree.", refuses=HALF,
        partials=(lambda xp, y, x, n: polynomial(xp, x, n, first, above, True),
                  unknown_slope(f"{name}: n")),
        in_place=False, result=FLOATS, memory=KEPT,
        fwd=lambda xp, x, n: polynomial(xp, x, n, first, above),
        cases=[case((3, 5), Fixed([0.0, 1.0, 2.0, 7.0, -1.0])),
               case((2,), Fixed(3.0))])
    function(name, lambda call, x, n: call(f"{name}.default", x, n),
             operands=("x", "n"), special=name)


# DLMF 18.9.1 and 18.9.2.
orthogonal("chebyshev_polynomial_t", "Chebyshev polynomial of the first kind",
           "cos(n*acos(x))", lambda x: 1 * x,
           lambda x, k, here, below: 2 * x * here - below)
orthogonal("chebyshev_polynomial_u", "Chebyshev polynomial of the second kind",
           "sin((n + 1)*acos(x))/sin(acos(x))", lambda x: 2 * x,
           lambda x, k, here, below: 2 * x * here - below)
orthogonal("hermite_polynomial_h", "Hermite polynomial of physics",
           "(-1)**n * e**(x**2) * the n-th derivative of e**(-x**2)", lambda x: 2 * x,
           lambda x, k, here, below: 2 * x * here - 2 * k * below)
orthogonal("hermite_polynomial_he", "Hermite polynomial of probability",
           "(-1)**n * e**(x**2/2) * the n-th derivative of e**(-x**2/2)",
           lambda x: 1 * x, lambda x, k, here, below: x * here - k * below)
orthogonal("laguerre_polynomial_l", "Laguerre polynomial",
           "e**x/n! * the n-th derivative of x**n*e**(-x)", lambda x: 1 - x,
           lambda x, k, here, below: ((2 * k + 1 - x) * here - k * below) / (k + 1))
orthogonal("legendre_polynomial_p", "Legendre polynomial",
           "1/(2**n*n!) * the n-th derivative of (x**2 - 1)**n", lambda x: 1 * x,
           lambda x, k, here, below: ((2 * k + 1) * x * here - k * below) / (k + 1))
