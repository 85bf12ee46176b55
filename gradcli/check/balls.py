"""Balls: numbers with a proven bound of their error, and the functions on them.

A ball is FLINT's ``arb``: a midpoint and a radius. A ball that is computed from balls
contains the exact result. A derivative is the coefficient of first order of FLINT's
power series at the ball, so it shares no formula with the table or with SymPy.

Invariants: the precision of FLINT is global and is set here alone, by `working`. A
value that does not exist is `NAN`, the value at a pole is an infinity, and both are
exact; a ball of infinite radius says only that the precision was too low.

    with working(128):
        apply("sin", ball(0.5))                 # [0.47942553860420300… +/- 1e-39]
        derivative("sin", 0, [ball(0.5)])       # cos(0.5), by the series of sin
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from itertools import product
from math import comb, factorial, inf, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from flint import acb, arb, arb_series, ctx, fmpq

from ..engine import NUMPY
from ..engine.raw import Host, Run
from ..ops import FUNCTIONS as FACTS
from ..ops.basis import ARITHMETIC
from ..ops.families import enters_none
from ..ops.records import compared_record
from ..ops.spellings import SPELLINGS
from .spectra import (
    eigenvalue,
    eigenvalue_in_floats,
    singular_value,
    singular_value_in_floats,
)

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

MAX_EIGENVALUE_BITS: Final = 1 << 13
"""Highest precision of eigenvalues, in bits: an error in the last of them is 0 in every
type of float."""

Ball: TypeAlias = arb
"""FLINT's ball: a midpoint and a radius."""

Moving: TypeAlias = arb | arb_series
"""A ball, or a power series about one."""

MAX_POWER_CHARACTERS: Final = 18
"""Largest length, in characters, of a decimal exponent that is written out."""

START_BITS: Final = 128
"""Precision, in bits, with which every number is computed at first."""

NAN: Final = arb(nan)
"""The ball of a value that does not exist, such as the logarithm of -1."""

INFINITY: Final = arb.pos_inf()
ZERO: Final = arb(0)
ONE: Final = arb(1)
UNKNOWN: Final = arb(0, inf)


@contextmanager
def working(bits: int, terms: int = 2) -> Iterator[None]:
    """Set FLINT's precision, and the number of terms of power series, in a block."""
    before = ctx.prec, ctx.cap
    ctx.prec, ctx.cap = bits, terms
    try:
        yield
    finally:
        ctx.prec, ctx.cap = before


def ball(number: int | float | Fraction) -> Ball:
    """Return a number as a ball, exact for integers and floats."""
    if isinstance(number, Fraction):
        return arb(fmpq(number.numerator, number.denominator))
    return arb(number)


def is_nan(b: Ball) -> bool:
    """Tell whether a ball is `NAN`: its value does not exist."""
    return bool(not b.is_finite() and b.is_exact() and b.is_nan())


def is_infinite(b: Ball) -> bool:
    """Tell whether a ball is exactly an infinity, as the value at a pole is."""
    return bool(not b.is_finite() and b.is_exact() and not b.is_nan())


def is_known(b: Ball, bits: int) -> bool:
    """Tell whether a number's first ``bits`` bits are sure, or it is exactly 0 or no
    number."""
    if b.is_finite():
        return bool(b.rel_accuracy_bits() >= bits or b.is_zero())
    return bool(b.is_exact())


def to_float(b: Ball) -> float:
    """Return the midpoint of a ball, or its infinity or nan, as a float."""
    return nan if b.is_nan() else float(b.mid() if b.is_finite() else b)


def size(b: Ball) -> Ball:
    """Return the largest absolute value in a ball; infinite where there is no bound."""
    return INFINITY if b.is_nan() else b.abs_upper()


def close(
    a: Ball, b: Ball, relative: Ball | float = 0, absolute: Ball | float = 0
) -> bool:
    """Tell whether two balls overlap, or surely differ by at most ``relative`` times
    the larger of them plus ``absolute``; False where one of them is not finite."""
    if not (a.is_finite() and b.is_finite()):
        return False
    gap = a - b
    if gap.contains(0) or not (relative or absolute):
        return bool(gap.contains(0))
    largest = size(a) if size(a) > size(b) else size(b)
    return bool(abs(gap) <= relative * largest + absolute)


def text(b: Ball, digits: int = 17) -> str:
    """Return the midpoint in decimals, a huge or tiny one as ``10^+1.2345e+20``."""
    if not b.is_finite():
        return repr(to_float(b))
    shown = decimal(b, digits)
    power = shown.partition("e")[2]
    if len(power) <= MAX_POWER_CHARACTERS:
        return shown
    sign = "-" if b.mid() < 0 else ""
    return f"{sign}10^{power[0]}{power[1]}.{power[2:6]}e+{len(power) - 2}"


def decimal(b: Ball, digits: int) -> str:
    """Return a finite midpoint to ``digits`` digits, without exponent if short."""
    bits = int(digits * 3.33) + 64
    with working(bits):
        shown: str = b.mid().str(digits, radius=False)
    return _plain(shown, digits)


def _plain(shown: str, digits: int) -> str:
    number, _, power = shown.partition("e")
    sign, number = ("-", number[1:]) if number[:1] == "-" else ("", number)
    front, _, fraction = number.partition(".")
    exponent = int(power or 0) + len(front) - 1
    every = (front + fraction).lstrip("0")
    exponent -= len(front + fraction) - len(every)
    every = every.rstrip("0")
    if not every:
        return "0.0"
    if -5 < exponent < max(digits, 16):
        if exponent < 0:
            return f"{sign}0.{'0' * (-exponent - 1)}{every}"
        padded = every.ljust(exponent + 2, "0")
        return f"{sign}{padded[: exponent + 1]}.{padded[exponent + 1 :]}"
    return f"{sign}{every[0]}.{every[1:] or '0'}e{exponent:+d}"


# functions that FLINT does not have, or not on power series


def at(x: Moving) -> Ball:
    """Return the constant term of a series, and a ball as it is."""
    return x[0] if isinstance(x, arb_series) else x


def constant(b: Ball) -> arb_series:
    """Return a ball as a power series that has no other term."""
    return arb_series([b])


def unknown() -> arb_series:
    """Return a power series of which no term is known."""
    return arb_series([UNKNOWN] * ctx.cap)


def _taylor(coefficients: Sequence[Ball], x: Moving) -> arb_series:
    """Return ``sum(c_k * (x - x_0)**k)`` for a series x about x_0."""
    d = x - at(x)
    power: Moving = ONE
    total = arb_series([coefficients[0]])
    for c in coefficients[1 : ctx.cap]:
        power = power * d
        total = total + power * c
    return total


def _taylor_series(
    function: Callable[[arb_series], Any], b: Ball, terms: int
) -> list[Ball]:
    with working(ctx.prec, terms):
        found = function(arb_series([b, 1]))
        return [found[k] for k in range(terms)]


def absolute(x: Moving) -> Moving:
    sign = at(x)
    if sign > 0:
        return x
    return -x if sign < 0 else unknown()


def power(a: Moving, b: Moving) -> Moving:
    exponent = integer(b)
    if exponent is not None:
        return a**exponent if exponent % 2 or exponent < 1 else _even_power(a, exponent)
    if isinstance(a, arb) and isinstance(b, arb):
        return a**b
    if at(a).is_zero() and at(b) > 0:
        # 0**b is 0 for every b > 0; at a = 0 the derivatives of orders below b are 0.
        flat = not isinstance(a, arb_series) or at(b) > ctx.cap - 1
        return constant(ZERO) if flat else unknown()
    return (b * a.log()).exp()


def _even_power(a: Moving, exponent: int) -> Moving:
    """Return an even power; if ``a`` contains 0, a ball from 0 to the largest power."""
    found = a**exponent
    if isinstance(a, arb) and at(found).contains(0) and a.is_finite():
        most = a.abs_upper() ** exponent / 2
        return arb(most.mid(), most.abs_upper())
    return found


def integer(b: object) -> int | None:
    """Return the integer that a ball exactly is; None for anything else."""
    if isinstance(b, arb) and b.is_exact() and b.is_finite() and b.is_integer():
        return int(b.unique_fmpz() or 0)
    return None


def angle(y: Moving, x: Moving) -> Moving:
    """Return the angle of the point (x, y)."""
    if at(x) > 0:
        return (y / x).atan()
    if at(y) > 0:
        return arb.pi() / 2 - (x / y).atan()
    if at(y) < 0:
        return -arb.pi() / 2 - (x / y).atan()
    # Along the cut the angle stays what it is, pi or -pi.
    along = at(x) < 0 and not isinstance(y, arb_series)
    return constant(UNKNOWN) if along else unknown()


def tanh(x: Moving) -> Moving:
    if at(x) < 0:
        return -tanh(-x)
    e = (-2 * x).exp()
    return (1 - e) / (1 + e)


def asinh(x: Moving) -> Moving:
    if at(x) < 0:
        return -asinh(-x)
    return (x + (x * x + 1).sqrt()).log()


def sinc(x: Moving) -> Moving:
    if at(x).is_zero():
        sine = _taylor_series(lambda s: s.sin_pi(), ZERO, ctx.cap + 1)
        return _taylor([c / arb.pi() for c in sine[1:]], x)
    return x.sin_pi() / (arb.pi() * x)


def log_one_plus(x: Moving) -> Moving:
    """Return ``log(1 + x)``; for a ball, a small ``x`` keeps all its digits."""
    return x.log1p() if isinstance(x, arb) else (1 + x).log()


def softplus(x: Moving) -> Moving:
    if at(x) > 0:
        return x + log_one_plus((-x).exp())
    return log_one_plus(x.exp())


def log_add_exp(a: Moving, b: Moving) -> Moving:
    """Return ``log(exp(a) + exp(b))`` so that a result near 0 keeps its digits."""
    return a + softplus(b - a) if at(a) > at(b) else b + softplus(a - b)


def log_of_normal(x: Moving) -> Moving:
    """Return the log of the normal distribution function, from the smaller tail."""
    if at(x) > 0:
        return log_one_plus(-(x / arb(2).sqrt()).erfc() / 2)
    return ((-x / arb(2).sqrt()).erfc() / 2).log()


def inverse_erf(x: Moving) -> arb_series:
    """Return the inverse of erf, by reversion of the series of erf at the result."""
    value = at(x).erfinv()
    slopes = _taylor_series(lambda s: s.erf(), value, ctx.cap)[1:]
    own = arb_series([0, *slopes]).reversion() if slopes else ()
    return _taylor([value, *list(own)[1:]], x)


def log_gamma(x: Moving) -> Moving:
    """Return the logarithm of the absolute value of the gamma function."""
    if at(x) > 0:
        return x.lgamma()
    reciprocal = x.rgamma()
    if at(reciprocal) < 0:
        reciprocal = -reciprocal
    return -reciprocal.log()


def digamma(x: Moving) -> arb_series:
    own = _taylor_series(log_gamma, at(x), ctx.cap + 1)
    return _taylor([k * c for k, c in enumerate(own)][1:], x)


def polygamma(order: object, x: Moving) -> Moving:
    first = integer(order)
    if first is None:
        return UNKNOWN
    if isinstance(x, arb):
        return _polygamma(first, x)
    found = [_polygamma(first + k, at(x)) / factorial(k) for k in range(ctx.cap)]
    return _taylor(found, x)


def _polygamma(order: int, b: Ball) -> Ball:
    """Return the ``order``-th derivative of digamma.

    Below 0 the reflection formula (DLMF 5.15.6) is used, because FLINT would take one
    step for each unit of the distance to 0.
    """
    if not b < 0:
        return acb(b).polygamma(order).real
    with working(ctx.prec, order + 1):
        turned = arb_series([b, 1]).cot_pi()[order] * factorial(order) * arb.pi()
    found: Ball = (-1) ** order * acb(1 - b).polygamma(order).real - turned
    return found


def bessel(kind: str, order: int, x: Moving) -> Moving:
    """Return the Bessel function I, J, K or Y. Twice its derivative is the function of
    the order below minus that above, for I their sum, for K minus their sum (DLMF
    10.6.1, 10.29.1)."""
    own = getattr(at(x), f"bessel_{kind}")
    if isinstance(x, arb):
        value: Ball = own(order)
        return value
    below, above = {"i": (1, 1), "k": (-1, -1)}.get(kind, (1, -1))
    found = []
    for k in range(ctx.cap):
        near = [comb(k, j) * below ** (k - j) * above**j * own(order - k + 2 * j)
                for j in range(k + 1)]  # fmt: skip
        found.append(sum(near, ZERO) / (2**k * factorial(k)))
    return _taylor(found, x)


def binomial(n: Moving, k: Moving) -> Moving:
    """Return the binomial coefficient; where ``n`` is a negative integer and ``k`` an
    integer, its limit in ``n``."""
    count = integer(k)
    if count is None or not at(n) < 0:
        return (n + 1).gamma() * (k + 1).rgamma() * (n - k + 1).rgamma()
    if count < 0:
        return 0 * n
    sign = -1 if count % 2 else 1
    return sign * (k - n).gamma() * (k + 1).rgamma() * (-n).rgamma()


def lower_gamma(a: Moving, x: Moving) -> Moving:
    """Return the regularized lower incomplete gamma function; its series is in x."""
    if isinstance(a, arb_series):
        return unknown()
    if isinstance(x, arb):
        return _regularized(a, x)
    slope = _taylor_series(lambda s: ((a - 1) * s.log() - s - a.lgamma()).exp(), at(x),
                        ctx.cap)  # fmt: skip
    value = _regularized(a, at(x))
    return _taylor([value, *[c / k for k, c in enumerate(slope, 1)]], x)


def _regularized(a: Ball, x: Ball) -> Ball:
    """Return the lower incomplete gamma function, which grows with ``x``."""
    if x.is_exact() or not (a > 0 and x >= 0):
        return x.gamma_lower(a, regularized=1)
    low, high = (end.gamma_lower(a, regularized=1) for end in (x.lower(), x.upper()))
    return low.union(high)


def hurwitz_zeta(s: Moving, a: Moving) -> Moving:
    """Return Hurwitz' zeta function, whose series in ``a`` is DLMF 25.11.17."""
    if isinstance(s, arb_series):
        if isinstance(a, arb_series):
            return unknown()
        return s.zeta(a)
    if isinstance(a, arb):
        return s.zeta(a)
    factor, found = ONE, []
    for k in range(ctx.cap):
        found.append(factor * (s + k).zeta(at(a)))
        factor = -factor * (s + k) / (k + 1)
    return _taylor(found, a)


def polylog(order: Ball, x: Moving) -> Moving:
    """Return the polylogarithm, whose slope is that of the order below over ``x``."""
    if isinstance(x, arb):
        return x.polylog(order)
    return _taylor(_coefficients_of_polylog(order, at(x), ctx.cap), x)


def _coefficients_of_polylog(order: Ball, b: Ball, terms: int) -> list[Ball]:
    value: Ball = b.polylog(order)
    if terms < 2:
        return [value]
    if b.is_zero():
        return [value, *(arb(k) ** -order for k in range(1, terms))]
    with working(ctx.prec, terms - 1):
        lower = arb_series(_coefficients_of_polylog(order - 1, b, terms - 1))
        slope = lower / arb_series([b, 1])
        return [value, *(slope[k] / (k + 1) for k in range(terms - 1))]


def x_log_y(x: Moving, y: Moving) -> Moving:
    return ZERO if isinstance(x, arb) and x.is_zero() else x * y.log()


# functions


@compared_record
class BallFunction:
    """A scalar function: ``value`` takes balls, ``series`` balls and power series.

    floats   the function on the engine's arrays; None: the row of the same name has it
    parts    returns, from the arguments, numbers whose sizes measure the rounding of
             the value; None: the value's own size measures it
    sums     True: the value is the sum of what ``parts`` returns
    words    the name in messages of a function that has no SymPy formula
    without  words for where it has no derivative; None: for nowhere
    """

    value: Run
    series: Run
    floats: Run | None = None
    parts: Callable[[Sequence[Any]], Sequence[Any]] | None = None
    sums: bool = False
    words: str | None = None
    without: str | None = None


def _spelled(word: Any) -> Run:
    if isinstance(word, str):
        return operator.methodcaller(word)
    return partial(word, sys.modules[__name__])


def _sum(*parts: Moving) -> Moving:
    return sum(parts, ZERO)


def _products(factors: Sequence[Moving]) -> list[Moving]:
    """Return the products of the k-th factors of the first and of the second half."""
    half = len(factors) // 2
    return list(map(operator.mul, factors[:half], factors[half:]))


def _dot(*factors: Moving) -> Moving:
    return sum(_products(factors), ZERO)


def _sum_of_floats(*parts: Any) -> Any:
    return np.sum(np.stack(parts))[()]


def _dot_of_floats(*factors: Any) -> Any:
    half = len(factors) // 2
    return np.dot(np.stack(factors[:half]), np.stack(factors[half:]))[()]


def _same(x: Any) -> Any:
    return x


def _first(x: Any, *others: object) -> Any:
    return x


def _behind(count: int) -> Callable[[Sequence[Any]], Sequence[Any]]:
    return lambda args: args[count:]


def _bounded(function: Run) -> Run:
    def run(*args: object) -> Any:
        with working(min(ctx.prec, MAX_EIGENVALUE_BITS), ctx.cap):
            return function(*args)

    return run


_EIGENVALUE: Final = _bounded(eigenvalue)
_SINGULAR_VALUE: Final = _bounded(singular_value)

STEPS: Final[dict[str, BallFunction]] = {
    "total": BallFunction(_sum, _sum, _sum_of_floats, _behind(0), True),
    "dot": BallFunction(_dot, _dot, _dot_of_floats, _products, True),
    "choice": BallFunction(_same, _same, _same),
    "part": BallFunction(_first, _first, _first, _behind(1)),
    "eigenvalue": BallFunction(
        _EIGENVALUE,
        _EIGENVALUE,
        eigenvalue_in_floats,
        _behind(1),
        words="an eigenvalue of a matrix of more than 2 rows",
        without="where it is equal to another",
    ),
    "singular_value": BallFunction(
        _SINGULAR_VALUE,
        _SINGULAR_VALUE,
        singular_value_in_floats,
        _behind(2),
        words="a singular value of a matrix of more than 2 rows and columns",
        without="where it is 0 or equal to another",
    ),
    "lost_vector": BallFunction(
        lambda value: UNKNOWN,
        lambda value: unknown(),
        lambda value: value * nan,
        words="a vector beside one of several equal values",
    ),
}
"""Functions of steps that are no row of the table, by name. A ``part`` returns its
first argument, whose rounding is measured by the size of the second."""

ADDING: Final = frozenset({"add", "sub", "total"})
"""Functions in which an infinity outweighs every number."""

LEAVES: Final = frozenset({"number", "symbol"})
"""Names of steps that apply no function: numbers and inputs' entries."""

enters_none((*STEPS, *LEAVES))

UNTOLD: Final = frozenset({"lost_vector"})
"""Names of steps whose value is unknown at every precision."""

FUNCTIONS: Final[dict[str, BallFunction]] = {
    **{name: BallFunction(rule, rule) for name, rule in ARITHMETIC.items()},
    **{
        name: BallFunction(_spelled(spelled.flint), _spelled(spelled.series))
        for name, spelled in SPELLINGS.items()
        if spelled.flint is not None
    },
    **STEPS,
}
"""Scalar functions by name."""


def apply(name: str, *args: Ball) -> Ball:
    """Return a scalar function of balls, unknown where FLINT fails; never raise."""
    try:
        found = FUNCTIONS[name].value(*args)
    except (ZeroDivisionError, ValueError, OverflowError):
        found = UNKNOWN
    return found if found.is_finite() else _at_the_edge(name, args)


def _at_the_edge(name: str, args: Sequence[Ball]) -> Ball:
    """Return a function's value where FLINT has no finite one, as floating point does:
    an infinity, nan or a limit; `UNKNOWN` where the precision decides none of them."""
    if any(is_nan(a) for a in args):
        return NAN
    if name in ADDING and all(a.is_finite() or is_infinite(a) for a in args):
        return ball(float(in_floats(name, [to_float(a) for a in args])))
    bounded = all(a.is_finite() for a in args)
    if bounded and (overflows(name) or (name == "pow" and args[0] != 0)):
        off_the_line = name == "pow" and args[0] < 0 and not args[1].contains_integer()
        return NAN if off_the_line else UNKNOWN
    if all(a.is_exact() for a in args):
        found = in_floats(name, [float(a) for a in args])
        if not isfinite(found):
            return ball(float(found))
        return UNKNOWN if bounded else arb(found, abs(found) * 2.0**-50)
    if len(args) <= 2 and all(a.is_finite() for a in args):
        # A domain is a half-line, or an interval around or beginning at 0.
        ends = [(float(a.lower()), 0.0 if a.contains(0) else nan, float(a.upper()))
                for a in args]  # fmt: skip
        if all(isnan(in_floats(name, corner)) for corner in product(*ends)):
            return NAN
    return UNKNOWN


def overflows(name: str) -> bool:
    """Tell whether a function may have a finite value even where FLINT has none."""
    return name not in FACTS or FACTS[name].overflows


_IN_FLOATS: Final[dict[str, Run]] = {
    "stop": _same,
    **{name: own.floats for name, own in STEPS.items() if own.floats is not None},
}


def in_floats(
    name: str, args: Sequence[float | Host], dtype: DTypeLike = np.float64
) -> Any:
    """Return a scalar function's value, of ``dtype``, as the engine computes it."""
    numbers = [np.asarray(a, dtype) for a in args]
    with np.errstate(all="ignore"):
        if name in _IN_FLOATS:
            return _IN_FLOATS[name](*numbers)[()]
        return (ARITHMETIC.get(name) or getattr(NUMPY, name))(*numbers)[()]


# derivatives

LINEAR: Final = frozenset({"add", "sub", "neg", "total", "choice", "stop"})
"""Functions whose derivatives are 1 or -1 everywhere. They are listed here because the
rules of the table are what is checked."""

_NEGATIVE: Final = {("sub", 1), ("neg", 0)}


PRODUCTS: Final = frozenset({"mul", "dot"})
"""Functions that multiply the first half of their arguments by the second half."""


def other_factor(position: int, count: int) -> int:
    """Return the position of the argument that a product multiplies another one by."""
    return (position + count // 2) % count


def derivative(name: str, position: int, args: Sequence[Ball]) -> Ball:
    """Return the derivative in the argument at ``position``, by a power series."""
    if name in LINEAR:
        return -ONE if (name, position) in _NEGATIVE else ONE
    if name in PRODUCTS:
        return args[other_factor(position, len(args))]
    found = _coefficient(name, _moved(args, {position: 1}), 1)
    known = found.is_finite() or not all(a.is_exact() for a in args)
    return found if known or not is_infinite(apply(name, *args)) else NAN


def second_derivative(name: str, first: int, last: int, args: Sequence[Ball]) -> Ball:
    """Return the second derivative in two arguments, or in one twice, by power series
    along each and along both at once. Call it within ``working(bits, 3)``."""
    if name in LINEAR:
        return ZERO
    if name in PRODUCTS:
        return ONE if abs(first - last) * 2 == len(args) else ZERO
    one = _coefficient(name, _moved(args, {first: 1}), 2)
    if first == last:
        return 2 * one
    other = _coefficient(name, _moved(args, {last: 1}), 2)
    return _coefficient(name, _moved(args, {first: 1, last: 1}), 2) - one - other


def _moved(args: Sequence[Ball], by: dict[int, int]) -> list[Moving]:
    return [arb_series([a, by[i]]) if i in by else a for i, a in enumerate(args)]


def _coefficient(name: str, args: Sequence[object], k: int) -> Ball:
    try:
        found = FUNCTIONS[name].series(*args)
    except (ZeroDivisionError, ValueError, OverflowError):
        return UNKNOWN
    if isinstance(found, arb):
        return ZERO
    coefficient: Ball = found[k]
    return coefficient
