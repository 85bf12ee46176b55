"""Special functions: the error function, the gamma family, logit and entropy.

    row("erf", node="ErfBackward0", ..., fwd=lambda xp, x: xp.erf(x), ...)

Invariant: constants are computed in the number system of the input.
"""

from __future__ import annotations

from .arithmetic import is_number
from .checks import ArgumentError
from .exact import beside, fraction
from .limits import check_size
from .op import (
    FLOATS,
    HALF,
    PACKED,
    WHOLE,
    Fixed,
    case,
    function,
    of_floats,
    of_numbers,
    row,
    unknown_slope,
)
from .trigonometric import pi
from .types import Array, ArrayRule, Namespace

# fmt: off

ALL = [case((3, 4)), case(())]
POSITIVE = [case((3, 4), low=0.5, high=3.0), case((), low=0.5, high=3.0)]


def bell(xp: Namespace, x: Array) -> Array:
    """Return ``2/sqrt(pi) * exp(-x**2)``, which is the slope of erf."""
    return 2 / xp.sqrt(pi(xp, x)) * xp.exp(-(x * x))


# DLMF 7.2.1.
row("erf", node="ErfBackward0", latex=r"\operatorname{{erf}} {0}", formula="erf(x)",
    doc="Error function.",
    fwd=lambda xp, x: xp.erf(x), partials=(lambda xp, y, x: bell(xp, x),), cases=ALL,
    special="erf")

row("erfc", node="ErfcBackward0", latex=r"\operatorname{{erfc}} {0}",
    formula="1 - erf(x)", doc="Complementary error function, exact in its tail.",
    fwd=lambda xp, x: xp.erfc(x), partials=(lambda xp, y, x: -bell(xp, x),),
    cases=[*ALL, case((2,), low=4.0, high=6.0)], special="erfc")

# DLMF 7.17; the derivative follows from that of erf.
row("erfinv", node="ErfinvBackward0", latex=r"\operatorname{{erf}}^{{-1}} {0}",
    formula="erfinv(x)", doc="Inverse of the error function.",
    kink="at -1 and 1 the derivative is inf",
    fwd=lambda xp, x: xp.erfinv(x),
    partials=(lambda xp, y, x: xp.sqrt(pi(xp, x)) / 2 * xp.exp(y * y),),
    cases=[case((3, 4), low=-0.9, high=0.9), case((), low=-0.9, high=0.9)],
    special="erfinv", tame=("0",), also=("erfinverse",), saves="x y",
    domain="x > -1 and x < 1")

ROOT_HALF = fraction(1, 2) ** fraction(1, 2)

function("ndtr", lambda call, x:
         call("mul.Scalar", call("add.Scalar", call("erf", call(
             "mul.Scalar", x, number=beside(x, ROOT_HALF))), number=1), number=0.5),
         cases=ALL, doc="Distribution function of the normal distribution.",
         formula="(1 + erf(x/sqrt(2)))/2", special="ndtr")

# DLMF 7.2.3: the derivative follows from that of erfc.
row("erfcx", node="SpecialErfcxBackward0",
    latex=r"e^{{{0}^2}} \operatorname{{erfc}} {0}",
    formula="exp(x**2)*erfc(x)",
    doc="Complementary error function times exp(x**2), which does not underflow.",
    refuses=HALF,
    fwd=lambda xp, x: xp.erfcx(x),
    partials=(lambda xp, y, x: 2 * x * y - 2 / xp.sqrt(pi(xp, x)),),
    cases=[*ALL, case((2,), low=4.0, high=30.0)], special="erfcx", saves="x y",
    roundings=14,
    sym=lambda sp, x: sp.exp(x**2) * sp.erfc(x))


def hazard(xp: Namespace, y: Array, x: Array) -> Array:
    """Return the slope of log_ndtr: from erfcx for x <= 1; above it, where erfcx would
    overflow, from the density."""
    high = xp.gt(x, 1)
    z = -xp.where(high, 0, x) / xp.sqrt(xp.new_full(x, (), 2))
    tail = xp.sqrt(2 / pi(xp, x)) / xp.erfcx(z)
    return xp.where(high, xp.exp(-x * x / 2 - y) / xp.sqrt(2 * pi(xp, x)), tail)


row("log_ndtr", node="SpecialLogNdtrBackward0", latex=r"\log \Phi({0})",
    formula="log(ndtr(x))",
    doc="Logarithm of the distribution function of the normal distribution, exact in "
        "its tail.",
    refuses=HALF,
    fwd=lambda xp, x: xp.log_ndtr(x),
    partials=(hazard,),
    cases=[*ALL, case((2,), low=-30.0, high=-4.0), case((2,), low=20.0, high=50.0)],
    special="log_ndtr", saves="x y",
    sym=lambda sp, x: sp.log(sp.erfc(-x / sp.sqrt(2)) / 2))

row("ndtri", node="SpecialNdtriBackward0", latex=r"\Phi^{{-1}}({0})",
    formula="sqrt(2)*erfinv(2*x - 1)", doc="Quantile of the normal distribution.",
    kink="at 0 and 1 the derivative is inf",
    refuses=HALF,
    fwd=lambda xp, x: xp.ndtri(x),
    partials=(lambda xp, y, x: xp.sqrt(2 * pi(xp, x)) * xp.exp(y * y / 2),),
    cases=[case((3, 4), low=0.1, high=0.9), case((), low=0.1, high=0.9),
           case((2,), low=0.01, high=0.02)], special="ndtri", saves="x y",
    domain="x > 0 and x < 1", sym=lambda sp, x: sp.sqrt(2) * sp.erfinv(2 * x - 1))

# DLMF 5.2.2: the derivative is digamma.
row("lgamma", node="LgammaBackward0", latex=r"\log|\Gamma({0})|",
    formula="lgamma(x)", aliases=("gammaln",),
    doc="Logarithm of the absolute value of the gamma function.",
    kink="at its pole at 0 the derivative is -inf, at -1, -2, ... NaN",
    fwd=lambda xp, x: xp.lgamma(x), partials=(lambda xp, y, x: xp.digamma(x),),
    cases=[*POSITIVE, case((2,), low=-1.8, high=-1.2)],
    special="gammaln", tame=("1",), also=("loggamma",))

row("digamma", node="DigammaBackward0", latex=r"\psi({0})",
    formula="derivative of lgamma", aliases=("psi",), doc="Derivative of lgamma.",
    kink="at its poles 0, -1, -2, ... the derivative is inf",
    fwd=lambda xp, x: xp.digamma(x),
    partials=(lambda xp, y, x: xp.polygamma(1, x),),
    cases=[*POSITIVE, case((2,), low=-1.8, high=-1.2)], special="digamma psi",
    tame=("1",))


# DLMF 5.15.
@row("polygamma.order", node="PolygammaBackward0", latex=r"\psi^{{({n})}}({0})",
    formula="n-th derivative of digamma",
    kink="at its pole at 0 the derivative is inf for even n, -inf for odd n",
    partials=(lambda xp, y, x, n: xp.polygamma(n + 1, x),),
    cases=[case((3, 4), low=0.5, high=3.0, n=1), case((), low=0.5, n=2),
           case((2,), low=1.0, n=0)])
def polygamma_of(xp: Namespace, x: Array, n: int) -> Array:
    if n < 0 or n != int(n):
        raise ArgumentError(f"polygamma(n, x) needs an integer n >= 0, not {n}")
    return xp.polygamma(n, x)


function("polygamma", lambda call, n, input:
         call("polygamma.order", input, n=n) if is_number(n)
         else call("polygamma.order", n, n=input),
         doc="The n-th derivative of digamma.", formula="polygamma(n, x)",
         special="polygamma", literal=True)


def at_halves(xp: Namespace, formula: ArrayRule, x: Array, p: int) -> Array:
    """Return the sum of a function's values at the ``p`` points x, x - 1/2, ..."""
    if p < 1 or p % 1:
        raise ArgumentError(f"mvlgamma(x, p) needs an integer p >= 1, not {p}")
    check_size((p, p))
    return sum([formula(x - k / 2) for k in range(1, int(p))], formula(x))


# DLMF 35.3.4.
of_numbers("mvlgamma", node="MvlgammaBackward0", latex=r"\log \Gamma_{{{p}}}({0})",
    formula="lgamma(x) + lgamma(x - 1/2) + ... + p*(p - 1)/4*log(pi)",
    doc="Logarithm of the gamma function of positive matrices with p rows.",
    memory=PACKED, aliases=("multigammaln",), special="multigammaln",
    fwd=lambda xp, x, p:
        p * (p - 1) / 4 * xp.log(pi(xp, x)) + at_halves(xp, xp.lgamma, x, p),
    partials=(lambda xp, y, x, p: at_halves(xp, xp.digamma, x, p),),
    cases=[case((3, 4), low=1.5, high=4.0, p=3), case((), low=0.5, high=3.0, p=1),
           case((2,), low=1.0, high=3.0, p=2)])


def density(xp: Namespace, a: Array, x: Array) -> Array:
    """Return the slope of igamma by x; NaN for negative x."""
    slope = xp.exp(xp.xlogy(a - 1, x) - x - xp.lgamma(a))
    return xp.where(xp.lt(x, 0), float("nan"), slope)


ORDERS = Fixed([0.5, 1.0, 2.0, 3.5])
OF_GAMMAS = [case(ORDERS, (3, 4), low=0.5, high=3.0),
             case(Fixed(2.5), (2,), low=0.5, high=3.0)]

# DLMF 8.2.4, 8.8.13 and 8.8.14.
of_floats("igamma.default", node="IgammaBackward0",
    latex=r"P({0}, {1})",
    formula="integral of t**(a - 1)*exp(-t)/gamma(a) from 0 to x",
    doc="Lower incomplete gamma function, regularized; without a derivative by a.",
    fwd=lambda xp, a, x: xp.igamma(a, x),
    partials=(unknown_slope("igamma: input"),
              lambda xp, y, a, x: density(xp, a, x)), cases=OF_GAMMAS)

of_floats("igammac.default", node="IgammacBackward0",
    latex=r"Q({0}, {1})",
    formula="1 - igamma(a, x)",
    doc="Upper incomplete gamma function, regularized; without a derivative by a.",
    fwd=lambda xp, a, x: xp.igammac(a, x),
    partials=(unknown_slope("igammac: input"),
              lambda xp, y, a, x: -density(xp, a, x)), cases=OF_GAMMAS)

function("igamma", lambda call, a, x: call("igamma.default", a, x),
         operands=("a", "x"), aliases=("gammainc",), special="gammainc", in_place=True,
         sym=lambda sp, a, x: sp.lowergamma(a, x) / sp.gamma(a))
function("igammac", lambda call, a, x: call("igammac.default", a, x),
         operands=("a", "x"), aliases=("gammaincc",), special="gammaincc",
         in_place=True, sym=lambda sp, a, x: sp.uppergamma(a, x) / sp.gamma(a))

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


@row("logit", node="LogitBackward0", latex=r"\operatorname{{logit}} {0}",
    formula="log(x/(1 - x))", doc="Inverse of the sigmoid.",
    kink="at 0 and 1 the derivative is inf; outside [eps, 1 - eps] it is 0",
    result=FLOATS, partials=(logit_slope,), vjp=(logit_pull,),
    cases=[case((3, 4), low=0.1, high=0.9), case((), low=0.1, high=0.9),
           case((4,), low=0.3, high=0.7, eps=0.2),
           case((3,), low=0.01, high=0.15, eps=0.2)], special="logit", tame=("0.5",))
def logit_of(xp: Namespace, x: Array, eps: float | None = None) -> Array:
    p = x if eps is None else xp.where(xp.lt(x, eps), eps, xp.minimum(x, 1 - eps))
    return xp.log(p / (1 - p))


row("entr", node="SpecialEntrBackward0", latex=r"-{0} \log {0}", formula="-x*log(x)",
    doc="Entropy of one probability; -inf for negative x.",
    kink="at 0 the derivative is inf",
    fwd=lambda xp, x: xp.entr(x),
    partials=(lambda xp, y, x: -1 - xp.log(x),), domain="x > 0",
    cases=[case((3, 4), low=0.1), case((), low=0.1)], special="entr",
    sym=lambda sp, x: -x * sp.log(x))

row("nan_to_num", node="NanToNumBackward0", latex="{0}",
    formula="x, with numbers for NaN and the infinities",
    doc="Replaces NaN and the infinities; without a number, by 0 and the extremes.",
    result=WHOLE,
    kink="where something is replaced the derivative is 0",
    fwd=lambda xp, x, nan=0.0, posinf=None, neginf=None:
        xp.nan_to_num(x, nan, posinf, neginf),
    partials=(lambda xp, y, x, nan=0.0, posinf=None, neginf=None:
              xp.as_type_of(xp.isfinite(x), x),),
    cases=[case((3, 4)), case((), nan=1.0, posinf=5.0)])

function("nCr", lambda call, n, k: call("exp", call(
             "sub", call("lgamma", call("add", n, 1)),
             call("add", call("lgamma", call("add", k, 1)),
                  call("lgamma", call("add", call("sub", n, k), 1))))),
         doc="Binomial coefficient: ways to choose k of n.",
         formula="exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1))",
         operands=("n", "k"), also=("comb", "choose", "binom", "binomial"),
         cases=[case((3, 4), (4,), low=0.2, high=0.9), case((), (), low=0.1, high=0.8)])
