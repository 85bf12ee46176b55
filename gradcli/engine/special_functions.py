"""Special functions on arrays: the library's, corrected where it is inaccurate, with
results in the type of their arguments.

Invariant: arrays of one module give arrays of it; functions that the library lacks are
computed by means of others.

    class ArrayNamespace(SpecialFunctions, Factors, Namespace): ...
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from ..ops.basis import SPECIAL
from .namespace import NumberSystem
from .raw import BYTES_OF_HALF_FLOAT, Library, Raw

NEAR_POLES = -0.5
"""Argument below which digamma is corrected near its poles other than 0."""

FAR_BELOW = -1000.0
"""Argument below which the library's zeta function of Hurwitz takes too many steps."""

MAX_SHORT_SERIES = 1.1
"""Largest argument for which the library's igamma is inaccurate near order 1/2."""

MAX_AIRY_ARGUMENT = 105
"""Argument beyond which the function Ai is below the least positive double."""

MAX_FRESNEL_ARGUMENT = 1e17
"""Argument from which on Fresnel's integrals are 1/2 to the last digit."""

MAX_FACTORIAL_ARGUMENT = 170
"""The largest n whose factorial a double holds."""

MIN_GAMMA_ARGUMENT = 1e-300
"""Argument below which the gamma function is 1/x to the last digit."""


def _order(n: Any) -> int:
    """Return an integer order, given as one or as an array that repeats it."""
    return n if isinstance(n, int) else int(n.max())


def with_argument_type(
    function: Callable[..., Raw], which: str = ""
) -> Callable[..., Raw]:
    """Return a special function whose result has the float type of its argument, since
    the library computes half floats in a wider type. ``which`` picks one of several
    results, as ``0]``."""
    result = int(which.rstrip("]") or -1)

    def run(x: Raw, *others: Raw) -> Raw:
        y = function(x, *others)
        y = y if result < 0 else y[result]
        dtype = x.dtype
        return y if y.dtype is dtype or dtype.kind != "f" else y.astype(dtype)

    return run


def is_wide_array(x: Raw) -> bool:
    """Return whether ``x`` is an array of floats of single precision or more."""
    if not getattr(x, "shape", ()):
        return False
    return bool(x.dtype.kind == "f" and x.dtype.itemsize > BYTES_OF_HALF_FLOAT)


class SpecialFunctions(NumberSystem):
    """The functions of `ArrayNamespace` that are special functions.

    ``np`` is the array module; ``_special`` imports its library of special functions.
    """

    np: Library
    _special: Callable[[], Library]

    def __getattr__(self, name: str) -> Callable[..., Raw]:
        if name in SPECIAL:
            word, _, which = SPECIAL[name].partition("[")
            function = with_argument_type(getattr(self._special(), word), which)
            if not hasattr(type(self), name):
                setattr(self, name, function)
            return function
        return super().__getattr__(name)

    def lgamma(self, x: Raw) -> Raw:
        """Return the logarithm of ``|gamma(x)|``, which is infinite at poles and
        infinities.

        The library's is infinite close to 0 as well, where the value is ``-log|x|``.
        """
        np = self.np
        y = with_argument_type(self._special().gammaln)(x)
        if not self._holds_any(np.isinf(y)):
            return y
        tiny = np.logical_and(np.abs(x) < MIN_GAMMA_ARGUMENT, np.not_equal(x, 0))
        y = np.where(np.isinf(y), np.abs(y), y)
        return np.where(tiny, -np.log(np.abs(np.where(tiny, x, 1))), y)

    def logsigmoid(self, x: Raw) -> Raw:
        """Return ``-log(1 + exp(-x))``, by NumPy's vectorised functions; the library's
        own takes ten times as long."""
        np = self.np
        if not is_wide_array(x):
            return with_argument_type(self._special().log_expit)(x)
        return np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))

    def logaddexp(self, a: Raw, b: Raw) -> Raw:
        """Return ``log(exp(a) + exp(b))``, by NumPy's vectorised functions; its own
        `logaddexp` takes ten times as long."""
        np = self.np
        if not (is_wide_array(a) or is_wide_array(b)):
            return np.logaddexp(a, b)
        top = np.maximum(a, b)
        finite = np.where(np.isinf(top), 0, top)
        return top + np.log1p(np.exp(np.minimum(np.minimum(a, b) - finite, 0)))

    def airy_ai(self, x: Raw) -> Raw:
        """Return the Airy function Ai, as 0 beyond 105; the library has NaN for large
        numbers."""
        return self._within(x > MAX_AIRY_ARGUMENT, 0, "airy_ai", x)

    def airy_ai_prime(self, x: Raw) -> Raw:
        """Return the derivative of the Airy function Ai, as 0 beyond 105."""
        return self._within(x > MAX_AIRY_ARGUMENT, 0, "airy_ai_prime", x)

    def fresnels(self, x: Raw) -> Raw:
        """Return Fresnel's sine integral; the library has NaN for large numbers."""
        return self._bounded("fresnels", x, MAX_FRESNEL_ARGUMENT)

    def fresnelc(self, x: Raw) -> Raw:
        """Return Fresnel's cosine integral; the library has NaN for large numbers."""
        return self._bounded("fresnelc", x, MAX_FRESNEL_ARGUMENT)

    def _bounded(self, name: str, x: Raw, most: float) -> Raw:
        """Return a library function, at the bound for arguments that are larger."""
        x = self.np.maximum(self.np.minimum(x, most), -most)
        return SpecialFunctions.__getattr__(self, name)(x)

    def Ci(self, x: Raw) -> Raw:
        """Return the cosine integral, as NaN below 0, where it is not real and the
        library returns its real part."""
        return self._within(x < 0, math.nan, "Ci", x)

    def Chi(self, x: Raw) -> Raw:
        """Return the hyperbolic cosine integral, as NaN below 0."""
        return self._within(x < 0, math.nan, "Chi", x)

    def _within(self, beyond: Raw, value: float, name: str, x: Raw) -> Raw:
        """Return a library function, with ``value`` where ``beyond`` holds."""
        y = SpecialFunctions.__getattr__(self, name)(x)
        return self.np.where(beyond, value, y).astype(y.dtype)

    def lambertw(self, x: Raw) -> Raw:
        """Return the real branch of ``w*exp(w) = x`` from -1 on; else NaN."""
        w = self._special().lambertw(x)
        y = self.np.where(self.np.equal(self.np.imag(w), 0), self.np.real(w), math.nan)
        return y.astype(x.dtype) if x.dtype.kind == "f" else y

    def digamma(self, x: Raw) -> Raw:
        """Return the derivative of `lgamma`, near a pole below 0 by reflection at it.

        The library's function is inaccurate there. DLMF 5.5.4.
        """
        np, library = self.np, with_argument_type(self._special().digamma)
        y = library(x)
        gap = x - np.rint(x)
        near = np.logical_and(np.less(x, NEAR_POLES), np.abs(gap) < 0.25)
        near = np.logical_and(near, np.not_equal(gap, 0))
        if not self._holds_any(near):
            return y
        other = library(1 - np.where(near, x, 0))
        slope = math.pi / np.tan(math.pi * np.where(near, gap, 0.25))
        return np.where(near, other - slope, y).astype(y.dtype)

    def binom(self, n: Raw, k: Raw) -> Raw:
        """Return the binomial coefficient; where ``n`` is a negative integer and ``k``
        an integer, its limit in ``n``, and elsewhere NaN for such an ``n``."""
        wide = [x.astype("float64") for x in (n, k)]
        dtype = self.np.result_type(n.dtype, k.dtype)
        return binomial(self.np, self._special().gamma, *wide).astype(dtype)

    def igamma(self, a: Raw, x: Raw) -> Raw:
        """Return the lower incomplete gamma function, regularized."""
        return self._by_next_order(self._special().gammainc, 1, 1.0, a, x)

    def igammac(self, a: Raw, x: Raw) -> Raw:
        """Return the upper incomplete gamma function, regularized."""
        return self._by_next_order(self._special().gammaincc, -1, 0.0, a, x)

    def _by_next_order(
        self, function: Callable[..., Raw], sign: int, low: float, a: Raw, x: Raw
    ) -> Raw:
        """Return an incomplete gamma function; for orders near 1/2 and ``x`` from
        ``low`` on, it is computed from that of the next order.

        The library ends a series too early there. DLMF 8.8.5 and 8.8.6.
        """
        np = self.np
        y = with_argument_type(function)(a, x)
        near = np.logical_and(np.abs(a - 0.5) < 0.125, np.less(low, x))
        near = np.logical_and(near, x <= MAX_SHORT_SERIES)
        if y.dtype != "float64" or not self._holds_any(near):
            return y
        a, x = np.where(near, a, 0.5), np.where(near, x, 1.0)
        term = np.exp(a * np.log(x) - x - self._special().gammaln(a + 1))
        return np.where(near, function(a + 1, x) + sign * term, y)

    def sinc(self, x: Raw) -> Raw:
        """Return ``sin(pi x)/(pi x)``, for half floats computed in single precision."""
        half = x.dtype == "float16"
        y = self.np.sinc(x.astype("float32") if half else x)
        return y.astype(x.dtype) if half else y

    def polygamma(self, n: int, x: Raw) -> Raw:
        """Return the n-th derivative of digamma, n >= 0, by Hurwitz' zeta function."""
        n, np = _order(n), self.np
        if n == 0:
            return self.digamma(x)
        far = np.less(x, FAR_BELOW)
        reflected = self._holds_any(far)
        at = np.where(far, 1 - x, x) if reflected else x
        zeta = self._special().zeta(self.new_full(x, (), n + 1), at)
        factor = math.gamma(n + 1) if n <= MAX_FACTORIAL_ARGUMENT else math.inf
        y = zeta * (factor if n % 2 else -factor)
        if reflected:
            turned = self._derivative_of_cotangent(n, x)
            y = np.where(far, (-y if n % 2 else y) - turned, y)
        return y.astype(x.dtype) if x.dtype.kind == "f" else y

    def _derivative_of_cotangent(self, n: int, x: Raw) -> Raw:
        """Return the n-th derivative of ``pi*cot(pi*x)``, a polynomial in ``cot``,
        which follows from the one before it by ``-pi*(1 + cot**2)`` times its own
        derivative."""
        np = self.np
        powers = [0.0, math.pi]
        for _ in range(n):
            slopes = [-math.pi * k * p for k, p in enumerate(powers)][1:]
            powers = [
                a + b
                for a, b in zip([*slopes, 0.0, 0.0], [0.0, 0.0, *slopes], strict=True)
            ]
        cotangent = 1 / np.tan(math.pi * (x - np.rint(x)))
        y = np.full_like(cotangent, powers[-1])
        for p in reversed(powers[:-1]):
            y = y * cotangent + p
        return y

    def polylog(self, s: int, x: Raw) -> Raw:
        """Return the polylogarithm of an integer order."""
        return polylogarithm(self.np, _order(s), x)


# The binomial coefficient. The library's loses the distance of n - k to an integer, and
# is a quotient of numbers whose logarithms are large.

MIN_STIRLING_ARGUMENT = 10.0
"""Argument from which on Stirling's series of seven terms is exact to rounding."""

OF_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""Coefficients of 1/x, 1/x**3, ... in Stirling's series."""


MAX_ROUNDED = 1e15
"""Size below which the float of an integer is off by less than 1/2."""


def binomial(np: Library, gamma: Callable[[Raw], Raw], n: Raw, k: Raw) -> Raw:
    """Return the binomial coefficient, by the beta function of positive numbers and a
    sine for each gamma function of a number below 1/2. DLMF 5.5.3 and 5.12.1."""
    a, b, c = n + 1, k + 1, n - k + 1
    at_b, at_c = np.less(b, 0.5), np.less(c, 0.5)
    one = np.logical_xor(at_b, at_c)
    at_a = np.logical_and(np.less(a, 0.5), np.logical_or(at_b, at_c))
    a, b = np.where(at_a, -n, a), np.where(at_b, -k, b)
    c = np.where(at_c, k - n, c)
    other = np.where(np.logical_and(one, np.logical_xor(at_a, at_b)), b, c)
    factor = np.where(at_a, np.where(at_b, b, c), a)
    below = np.equal(at_a, one)
    y = _beta(np, gamma, np.where(one, a, b), other, np.where(below, factor, 0.0))
    # Each part is reduced by itself, so that the sines have exact zeros.
    odd_n, odd_k = (np.rint(x) % 2 for x in (n, k))
    turn_n, turn_k = (math.pi * (x - np.rint(x)) for x in (n, k))
    sine_a, sine_b = np.sin(turn_n) * (2 * odd_n - 1), np.sin(turn_k) * (2 * odd_k - 1)
    sine_c = np.sin(turn_n - turn_k) * (2 * np.not_equal(odd_n, odd_k) - 1)
    pole = np.logical_and(np.equal(turn_n, 0), np.less(n, 0))
    limit = np.logical_and(pole, np.equal(turn_k, 0))
    ratio = np.where(at_c, sine_c, math.pi) / np.where(
        np.logical_and(at_a, np.logical_not(limit)), sine_a, math.pi
    )
    ratio = np.where(limit, np.where(at_c, 1 - 2 * odd_k, 0), ratio)
    y = y * ratio * np.where(at_b, sine_b / math.pi, 1)
    y = np.where(np.logical_and(pole, np.logical_not(limit)), math.nan, y)
    whole = np.logical_and(np.equal(turn_n, 0), np.equal(turn_k, 0))
    whole = np.logical_and(whole, np.abs(y) < MAX_ROUNDED)
    return np.where(whole, np.rint(y), y)


def _beta(np: Library, gamma: Callable[[Raw], Raw], p: Raw, q: Raw, factor: Raw) -> Raw:
    """Return the beta function of positive numbers or, where there is a ``factor``, the
    reciprocal of their product. DLMF 5.11.1."""
    power, factor = np.where(factor, -1.0, 1.0), np.where(factor, factor, 1.0)
    p, q = np.maximum(p, q), np.minimum(p, q)
    small, few = p < MIN_STIRLING_ARGUMENT, q < MIN_STIRLING_ARGUMENT
    near, own = np.where(small, p, 1.0), np.where(few, q, 1.0)
    direct = (gamma(near) * gamma(own) / gamma(near + own)) ** power
    p, most = np.where(small, MIN_STIRLING_ARGUMENT, p), np.where(few, 1.0, q)
    log = (p - 0.5) * np.log1p(-q / (p + q)) + _excess(np, p) - _excess(np, p + q)
    far = q * np.log(q / (p + q)) + _excess(np, most)
    log = log + np.where(few, q - q * np.log(p + q), far)
    # Of the root of the power, which does not overflow before the whole does.
    root = np.exp(power * log / 2)
    rest = np.where(few, gamma(own), np.sqrt(2 * math.pi / q)) ** power
    return np.where(small, direct / factor, root / factor * rest * root)


def _excess(np: Library, x: Raw) -> Raw:
    """Return the logarithm of the gamma function less that of Stirling's formula."""
    x = np.maximum(x, MIN_STIRLING_ARGUMENT)
    total = 0 * x
    for coefficient in reversed(OF_STIRLING):
        total = total / (x * x) + coefficient
    return total / x


# The polylogarithm. No series is summed where its terms fall more slowly than powers of
# 1/2, and no terms cancel except at the zeros of the function.

SMALL = 0.4
"""Largest distance from 0 at which the power series is summed."""

FAR = 4.5
"""Size of a negative argument from which on the value is found at its reciprocal."""

TERMS = 44
"""Number of terms of the power series; later ones are below the rounding of the first.
"""

TERMS_ABOVE_0 = 24
"""Number of terms of the series in the logarithm of an argument from 0.4 to 1."""

TERMS_BELOW_0 = 54
"""Number of terms of that series for an argument from -4.5 to -0.4."""


def polylogarithm(np: Library, order: int, x: Raw) -> Raw:
    """Return ``sum(x**k / k**order)``, continued to all real ``x``. Beyond 1 it is NaN
    for orders from 1 on, which have no real value there."""
    wide = np.asarray(x).astype("float64")
    if order > 1:
        found = _of_two_or_more(np, order, wide)
    elif order == 1:
        found = -np.log1p(-wide)
    else:
        found = _of_rational_order(1 - order, wide)
    dtype = getattr(x, "dtype", wide.dtype)
    return found.astype(dtype if dtype.kind == "f" else wide.dtype)


def _of_rational_order(n: int, x: Raw) -> Raw:
    """Return the polylogarithm of order ``1 - n``, a polynomial of Euler's over a
    power. DLMF 25.12.10, with ``x`` times the derivative taken ``n - 1`` times."""
    numbers = [1]
    for m in range(2, n):
        pairs = zip([*numbers, 0], [0, *numbers], strict=True)
        numbers = [(k + 1) * a + (m - k) * b for k, (a, b) in enumerate(pairs)]
    total = 0 * x
    for number in numbers:
        total = total * x + number
    return x * total / (1 - x) ** n


def _of_two_or_more(np: Library, n: int, x: Raw) -> Raw:
    near, far, negative = np.abs(x) <= SMALL, x < -FAR, x < -SMALL
    safe = np.where(near, 1.0, np.abs(x))
    log = np.where(x <= 1, np.log(safe), math.nan)
    within = np.where(far, 0.0, log)
    inside = _powers(n, np.where(near, x, 1 / np.where(far, x, -FAR)))
    beside = _by_logarithm(np, n, np.where(negative, -0.5, within))
    # At -exp(log), a power series in log.
    below = -_in_powers(
        np.where(negative, within, 0.0), lambda k: alternating(n - k), TERMS_BELOW_0
    )
    beyond = _by_reciprocal(n, inside, np.where(far, log, 1.0))
    return np.where(near, inside, np.where(
        far, beyond, np.where(negative, below, beside)))  # fmt: skip


def _powers(n: int, x: Raw) -> Raw:
    """Return the sum of the power series at 0, for order ``n``."""
    total = 0 * x
    for k in range(TERMS, 0, -1):
        total = (total + float(k) ** -n) * x
    return total


def _by_logarithm(np: Library, n: int, log: Raw) -> Raw:
    """Return the values at ``exp(log)`` near 1, by DLMF 25.12.12 and its limit."""
    harmonic = sum(1 / k for k in range(1, n))
    gap = np.where(np.equal(log, 0), 1.0, -log)
    own = (harmonic - np.log(gap)) * log ** (n - 1) / math.factorial(n - 1)
    return own + _in_powers(
        log, lambda k: 0.0 if k == n - 1 else zeta(n - k), TERMS_ABOVE_0
    )


def _by_reciprocal(n: int, other: Raw, log: Raw) -> Raw:
    """Return the values below -1 by the others, at 1/x, and powers of ``log``."""
    total = 0 * log
    for k in range(n // 2 + 1):
        total = total + alternating(2 * k) * log ** (n - 2 * k) / math.factorial(
            n - 2 * k
        )
    return other * (-1.0) ** (n - 1) - 2 * total


def _in_powers(x: Raw, coefficient: Callable[[int], float], terms: int) -> Raw:
    """Return the first terms of ``sum(coefficient(k) * x**k / k!)``."""
    total = 0 * x
    for k in range(terms - 1, -1, -1):
        total = total * x + coefficient(k) / math.factorial(k)
    return total


@cache
def zeta(n: int) -> float:
    """Return Riemann's zeta function of an integer but 1; DLMF 25.6.3."""
    from scipy.special import bernoulli
    from scipy.special import zeta as beyond_1

    if n > 1:
        return float(beyond_1(n))
    return float(bernoulli(1 - n)[1 - n] / (n - 1)) if n else -0.5


@cache
def alternating(n: int) -> float:
    """Return ``sum((-1)**(k - 1) / k**n)``, continued to all integers ``n``."""
    return math.log(2) if n == 1 else (1 - 2.0 ** (1 - n)) * zeta(n)
