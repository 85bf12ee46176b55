"""The gamma function, its logarithm, the derivatives of that, and what is made of it:
factorials, binomial coefficients and incomplete gamma functions.

    row("factorial", fwd=lambda xp, x: xp.gamma(x + 1), ...)

Invariant: a value has the sign of the function. Beside the poles of a gamma function
that it is divided by, a value and its derivatives are finite and keep their digits.
"""

from __future__ import annotations

from collections.abc import Callable

from .arithmetic import is_number
from .checks import ArgumentError, check_size
from .elementary import pi
from .op import (
    FLOATS,
    PACKED,
    Fixed,
    case,
    function,
    of_floats,
    of_numbers,
    row,
    smooth,
    unknown_slope,
)
from .types import Array, ArrayRule, Namespace

# fmt: off

POSITIVE = [case((3, 4), low=0.5, high=3.0), case((), low=0.5, high=3.0)]


# DLMF 5.2.2: the derivative is digamma.
smooth("lgamma", lambda xp, y, x: xp.digamma(x), latex=r"\log|\Gamma({0})|",
    aliases=("gammaln",), doc="Logarithm of the absolute value of the gamma function.",
    kink="at its pole at 0 the derivative is -inf, at -1, -2, ... NaN",
    cases=[*POSITIVE, case((2,), low=-1.8, high=-1.2)], special="gammaln", tame=("1",),
    also=("loggamma",))

smooth("digamma", lambda xp, y, x: xp.polygamma(1, x), latex=r"\psi({0})",
    formula="derivative of lgamma", aliases=("psi",), doc="Derivative of lgamma.",
    kink="at its poles 0, -1, -2, ... the derivative is inf",
    cases=[*POSITIVE, case((2,), low=-1.8, high=-1.2)], special="digamma psi",
    tame=("1",))


# DLMF 5.15.
@row("polygamma.order", latex=r"\psi^{{({n})}}({0})",
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
of_numbers("mvlgamma", latex=r"\log \Gamma_{{{p}}}({0})",
    formula="lgamma(x) + lgamma(x - 1/2) + ... + p*(p - 1)/4*log(pi)",
    doc="Logarithm of the gamma function of positive matrices with p rows.",
    memory=PACKED, aliases=("multigammaln",), special="multigammaln",
    fwd=lambda xp, x, p:
        p * (p - 1) / 4 * xp.log(pi(xp, x)) + at_halves(xp, xp.lgamma, x, p),
    partials=(lambda xp, y, x, p: at_halves(xp, xp.digamma, x, p),),
    cases=[case((3, 4), low=1.5, high=4.0, p=3), case((), low=0.5, high=3.0, p=1),
           case((2,), low=1.0, high=3.0, p=2)])


# DLMF 5.2.1 and 5.2.2.
smooth("gamma", lambda xp, y, x: y * xp.digamma(x), latex=r"\Gamma({0})", saves="x y",
    formula="the integral of t**(x - 1)*exp(-t) from 0 to inf, continued below 0",
    doc="Gamma function, negative between its poles at -1 and 0, -3 and -2, ...",
    kink="at its pole at 0 the derivative is -inf, at -1, -2, ... NaN", roundings=8,
    cases=[*POSITIVE, case((4,), low=-1.8, high=-1.2)], tame=("1",), also=("tgamma",),
    not_finite={"nan": "the gamma function has a pole there"})

row("factorial", latex="{0}!", ours=True, formula="gamma(x + 1)", saves="x y",
    doc="Factorial, by the gamma function for numbers that are not whole.",
    kink="at -1 the derivative is -inf, at -2, -3, ... NaN", tame=("0",),
    fwd=lambda xp, x: xp.gamma(x + 1),
    partials=(lambda xp, y, x: y * xp.digamma(x + 1),),
    cases=[case((3, 4), low=-0.5, high=3.0), case((), low=0.5, high=3.0),
           case((4,), low=-2.8, high=-2.2)],
    not_finite={"nan": "the gamma function has a pole there"})


def at_mirror(xp: Namespace, formula: Callable[[Array], Array], z: Array, below: int
             ) -> Array:
    """Return a function at ``z`` or, below 1/2, ``below`` times that at ``1 - z``: the
    product of the gamma functions there is pi over ``sin(pi*z)``. DLMF 5.5.3."""
    mirrored = xp.lt(z, 0.5)
    y = formula(xp.where(mirrored, 1 - z, z))
    return y if below == 1 else xp.where(mirrored, below * y, y)


def half_turn(xp: Namespace, z: Array, *parts: Array) -> tuple[Array, Array]:
    """Return ``sin(pi*z)/pi`` and its slope below 1/2, else 1 and 0, for ``z`` that is
    1 more than the sum of the parts. Arrays are reduced part by part, so that the zeros
    at the integers are exact."""
    sign, rest = xp.ones_like(z), z
    if not xp.symbolic:
        sign, rest = -sign, xp.zeros_like(z)
        for part in (*parts, sum(part - xp.round(part) for part in parts)):
            whole = xp.round(part)
            sign, rest = sign * (1 - 2 * xp.remainder(whole, 2)), part - whole
    turn, mirrored = pi(xp, z), xp.lt(z, 0.5)
    return (xp.where(mirrored, sign * xp.sin(turn * rest) / turn, 1),
            xp.where(mirrored, sign * xp.cos(turn * rest), 0))


def binom_pull(xp: Namespace, n: Array, k: Array, by_n: bool) -> Array:
    """Return a slope of the binomial coefficient from gamma functions of positive
    numbers and sines, so that nothing cancels and no pole is met but those of n."""
    a, b, c = n + 1, k + 1, n - k + 1
    (sin_a, cos_a), (sin_b, cos_b), (sin_c, cos_c) = (
        half_turn(xp, a, n), half_turn(xp, b, k), half_turn(xp, c, n, -k))
    log_a, log_b, log_c = (at_mirror(xp, xp.lgamma, z, -1) for z in (a, b, c))
    psi_a, psi_b, psi_c = (at_mirror(xp, xp.digamma, z, 1) for z in (a, b, c))
    pole_a, pole_b, pole_c = (
        is_near_pole(xp, z) if xp.symbolic else xp.eq(sine, 0)
        for z, sine in ((a, sin_a), (b, sin_b), (c, sin_c)))
    pole = pole_a
    divisor = xp.where(pole, 1, sin_a)
    if by_n:
        ratio = xp.where(pole, cos_c / xp.where(pole, cos_a, 1), sin_c / divisor)
        slope = sin_b * (ratio * (psi_a - psi_c) +
                         (cos_c * sin_a - sin_c * cos_a) / (divisor * divisor))
        pole = xp.logical_and(pole, xp.logical_not(xp.logical_or(pole_b, pole_c)))
    else:
        slope = (sin_b * sin_c * (psi_c - psi_b) + cos_b * sin_c - sin_b * cos_c
                ) / divisor
    return xp.where(pole, float("nan"), xp.exp(log_a - log_b - log_c) * slope)


def is_near_pole(xp: Namespace, z: Array) -> Array:
    """Return where ``z`` is at most 1/4 from a pole of the gamma function, or at the
    only the pole if numbers have more digits than floats."""
    if xp.symbolic:
        return xp.logical_not(xp.isfinite(xp.digamma(z)))
    return xp.logical_and(xp.lt(z, 0.5), xp.lt(xp.abs(z - xp.round(z)), 0.25))


def is_smooth(xp: Namespace, z: Array) -> bool:
    """Return whether no entry is a pole of the gamma function."""
    fine = xp.isfinite(xp.digamma(z))
    return bool(xp.all(fine) if fine.ndim else fine)


def binom_slope(xp: Namespace, y: Array, n: Array, k: Array, by_n: bool) -> Array:
    if xp.symbolic and is_smooth(xp, k + 1) and is_smooth(xp, n - k + 1):
        return y * (xp.digamma(n + 1 if by_n else n - k + 1) -
                    xp.digamma(n - k + 1 if by_n else k + 1))
    near = xp.logical_or(is_near_pole(xp, k + 1), is_near_pole(xp, n - k + 1))
    high, low = (n + 1, n - k + 1) if by_n else (n - k + 1, k + 1)
    psi = xp.digamma(xp.where(near, 1, high)) - xp.digamma(xp.where(near, 1, low))
    return xp.where(near, binom_pull(xp, n, k, by_n), y * psi)


# DLMF 1.2.6, with gamma functions in place of the factorials.
row("binom.default", result=FLOATS, latex=r"\binom{{{0}}}{{{1}}}", saves="n k y",
    formula="gamma(n + 1)/(gamma(k + 1)*gamma(n - k + 1))",
    doc="Binomial coefficient: ways to choose k of n; 0 where k or n - k is a negative "
        "integer, continued to all other numbers.",
    kink="where n is a negative integer the derivative by k is NaN",
    fwd=lambda xp, n, k: xp.binom(n, k),
    partials=(lambda xp, y, n, k: binom_slope(xp, y, n, k, True),
              lambda xp, y, n, k: binom_slope(xp, y, n, k, False)),
    cases=[case((3, 4), (4,), low=0.2, high=0.9), case((), (), low=0.1, high=0.8),
           case((4,), Fixed(2.0), low=2.5, high=6.0),
           case((4,), Fixed(-2.0), low=0.2, high=0.9),
           case((8,), (8,), low=-1.9, high=-0.2),
           case((4,), Fixed(1.9), low=0.2, high=0.9),
           case(Fixed(0.7), (4,), low=1.5, high=2.6),
           case(Fixed(0.7), (4,), low=-1.3, high=-0.8)])

function("binom", lambda call, n, k: call("binom.default", n, k), operands=("n", "k"),
         aliases=("nCr",), also=("comb", "choose", "binomial"), in_place=True)


def density(xp: Namespace, a: Array, x: Array) -> Array:
    """Return the slope of igamma by x; NaN for negative x."""
    slope = xp.exp(xp.xlogy(a - 1, x) - x - xp.lgamma(a))
    return xp.where(xp.lt(x, 0), float("nan"), slope)


ORDERS = Fixed([0.5, 1.0, 2.0, 3.5])
OF_GAMMAS = [case(ORDERS, (3, 4), low=0.5, high=3.0),
             case(Fixed(2.5), (2,), low=0.5, high=3.0)]

# DLMF 8.2.4, 8.8.13 and 8.8.14.
of_floats("igamma.default", latex=r"P({0}, {1})",
    formula="integral of t**(a - 1)*exp(-t)/gamma(a) from 0 to x",
    doc="Lower incomplete gamma function, regularized; without a derivative by a.",
    fwd=lambda xp, a, x: xp.igamma(a, x),
    partials=(unknown_slope("igamma: input"),
              lambda xp, y, a, x: density(xp, a, x)), cases=OF_GAMMAS)

of_floats("igammac.default", latex=r"Q({0}, {1})", formula="1 - igamma(a, x)",
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
