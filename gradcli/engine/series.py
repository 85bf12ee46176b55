"""Special functions that the library of a GPU lacks, each a fixed number of steps.

Invariant: the steps are elementwise and none reads an entry, so that a function is one
kernel; on doubles its results are NumPy's library's, except for the last bits.

    airy_ai(cupy, cupy.asarray([0.5]))      # [0.2317...]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from .raw import Library, Raw
from .special_functions import MAX_AIRY_ARGUMENT, MAX_FRESNEL_ARGUMENT


def horner(x: Raw, coefficients: Sequence[float]) -> Raw:
    """Return ``c[0] + c[1]*x + c[2]*x**2 + ...``."""
    total = 0 * x
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def _sum(terms: Sequence[Raw]) -> Raw:
    """Return a sum, added from the last term to the first."""
    total = terms[-1]
    for term in reversed(terms[:-1]):
        total = total + term
    return total


# Airy functions. Up to 9.5 a power series around the nearest integer is summed, whose
# terms follow from y'' = x*y; further out, the asymptotic series in 1/zeta, where zeta
# is 2/3*abs(x)**1.5. DLMF 9.2.1, 9.7.2, 9.7.5, 9.7.6, 9.7.9 and 9.7.10.

AT_INTEGERS: Final = (
    (-9, -0.022133721547341403, -0.9756639809263316),
    (-8, -0.0527050503563862, 0.9355609381983065),
    (-7, 0.18428083525050565, -0.7710081684101265),
    (-6, -0.3291451736298231, 0.3459354872813429),
    (-5, 0.35076100902411433, 0.32719281855444315),
    (-4, -0.07026553294928951, -0.7906285753685813),
    (-3, -0.37881429367765806, 0.3145837692165988),
    (-2, 0.22740742820168558, 0.618259020741691),
    (-1, 0.5355608832923521, -0.01016056711664521),
    (0, 0.3550280538878172, -0.2588194037928068),
    (1, 0.13529241631288141, -0.1591474412967932),
    (2, 0.03492413042327438, -0.05309038443365363),
    (3, 0.006591139357460719, -0.011912976705951319),
    (4, 0.0009515638512048018, -0.001958640950204179),
    (5, 0.00010834442813607442, -0.0002474138908684625),
    (6, 9.947694360252889e-06, -2.4765200397034955e-05),
    (7, 7.492128863997167e-07, -2.008150894738792e-06),
    (8, 4.6922076160992316e-08, -1.3414392979067865e-07),
    (9, 2.47116843087249e-09, -7.480641389658946e-09),
)
"""Integers, each with the value and the derivative of Ai at it."""

LAST_NEAR: Final = 9.5
"""Size of an argument up to which an integer of the list is at most 1/2 away."""

TERMS_NEAR: Final = 22
"""Number of terms of a power series that are exact to rounding 1/2 from its center."""

TERMS_FAR: Final = 30
"""Number of terms of the asymptotic series that are exact to rounding from 9.5 on."""

MIN_AIRY_ARGUMENT: Final = -1048576.0
"""Argument below which NumPy's library has NaN: no digit of the angle is left."""


def _far_coefficients() -> tuple[list[float], list[float]]:
    """Return the coefficients of the asymptotic series of Ai and of its derivative."""
    values = [1.0]
    for k in range(1, TERMS_FAR):
        factor = (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1))
        values.append(values[-1] * factor)
    return values, [u * (6 * k + 1) / (1 - 6 * k) for k, u in enumerate(values)]


VALUES_FAR, SLOPES_FAR = _far_coefficients()
"""Coefficients of powers of 1/zeta for Ai, and for its derivative."""


def airy_ai(np: Library, x: Raw) -> Raw:
    """Return the Airy function Ai."""
    center, value, slope, r = _around_integer(np, x)
    factor, cube = center * (r * r), r * r * r
    terms = [value, slope * r, factor * value / 2]
    for n in range(1, TERMS_NEAR - 2):
        step = factor * terms[n] + cube * terms[n - 1]
        terms.append(step / ((n + 1) * (n + 2)))
    zeta, root, even, odd = _in_powers_of_1_over_zeta(np, x, VALUES_FAR)
    wave = np.cos(zeta - math.pi / 4) * even + np.sin(zeta - math.pi / 4) * odd
    above = np.exp(-zeta) * (even - odd) / 2
    return _airy(np, x, _sum(terms), above / root, wave / root)


def airy_ai_prime(np: Library, x: Raw) -> Raw:
    """Return the derivative of the Airy function Ai."""
    center, value, slope, r = _around_integer(np, x)
    factor, cube = center * (r * r), r * r * r
    terms = [slope, center * value * r, (center * slope + value) / 2 * (r * r)]
    for n in range(2, TERMS_NEAR - 1):
        step = factor * (terms[n - 1] / n) + cube * (terms[n - 2] / (n - 1))
        terms.append(step / (n + 1))
    zeta, root, even, odd = _in_powers_of_1_over_zeta(np, x, SLOPES_FAR)
    root = root / math.pi
    wave = np.sin(zeta - math.pi / 4) * even - np.cos(zeta - math.pi / 4) * odd
    above = np.exp(-zeta) * (odd - even) / 2
    return _airy(np, x, _sum(terms), above * root, wave * root)


def _around_integer(np: Library, x: Raw) -> tuple[Raw, Raw, Raw, Raw]:
    """Return the integer next to ``x``, Ai and its derivative there, and the distance;
    those of 0 where ``x`` is large."""
    x = np.where(np.abs(x) < LAST_NEAR, x, 0.0)
    center = np.rint(x)
    value = slope = 0 * x
    for integer, ai, ai_prime in AT_INTEGERS:
        here = np.equal(center, integer)
        value, slope = np.where(here, ai, value), np.where(here, ai_prime, slope)
    return center, value, slope, x - center


def _in_powers_of_1_over_zeta(
    np: Library, x: Raw, coefficients: Sequence[float]
) -> tuple[Raw, Raw, Raw, Raw]:
    """Return zeta, ``sqrt(pi)*abs(x)**0.25``, and the even and odd terms of a series in
    1/zeta, whose signs alternate in pairs where ``x`` is negative."""
    size = np.maximum(np.abs(x), LAST_NEAR)
    root = np.sqrt(size)
    zeta = 2 * size * root / 3
    z = 1 / zeta
    square = np.where(x > 0, z * z, -z * z)
    even, odd = horner(square, coefficients[::2]), horner(square, coefficients[1::2])
    return zeta, math.sqrt(math.pi) * np.sqrt(root), even, odd * z


def _airy(np: Library, x: Raw, near: Raw, above: Raw, below: Raw) -> Raw:
    """Return an Airy function, given near 0, for large and for small numbers."""
    above = np.where(x > MAX_AIRY_ARGUMENT, 0.0, above)
    below = np.where(x < MIN_AIRY_ARGUMENT, math.nan, below)
    y = np.where(np.abs(x) < LAST_NEAR, near, np.where(x > 0, above, below))
    return np.where(np.isnan(x), x, y)


# The imaginary error function: its power series, whose terms are positive, and beyond 1
# Dawson's integral as a sum over odd multiples of a step (Rybicki 1989).

STEP_OF_DAWSON: Final = 0.25
"""Distance of the sum's nodes; its relative error is about exp(-(pi/(2*step))**2)."""

NODES_OF_DAWSON: Final = 13
"""Number of nodes on each side that are exact to rounding."""

OF_ERFI: Final = [
    2 / math.sqrt(math.pi) / (math.factorial(k) * (2 * k + 1)) for k in range(18)
]
"""Coefficients of x, x**3, ... in the power series of erfi, exact to rounding to 1."""

MAX_ERFI_ARGUMENT: Final = 30.0
"""Argument up to which erfi is computed; it is infinite from 26.7 on."""


def erfi(np: Library, x: Raw) -> Raw:
    """Return the imaginary error function."""
    size, h = np.minimum(np.abs(x), MAX_ERFI_ARGUMENT), STEP_OF_DAWSON
    near = horner(size * size, OF_ERFI) * size
    middle = 2 * np.rint(size / (2 * h))
    r = size - middle * h
    up = np.exp(2 * h * r)
    down, square = 1 / up, up * up
    terms = []
    for k in range(1, 2 * NODES_OF_DAWSON, 2):
        both = up / (middle + k) + down / (middle - k)
        terms.append(math.exp(-((k * h) ** 2)) * both)
        up, down = up * square, down / square
    dawson = np.exp(-r * r) * _sum(terms) / math.sqrt(math.pi)
    far = 2 / math.sqrt(math.pi) * np.exp(size * size) * dawson
    return np.copysign(np.where(size < 1, near, far), x)


# Fresnel's integrals: their power series, and beyond 1.6 the auxiliary functions f and
# g, whose integrals over exp(-pi*t**2/2) are sums over equal steps. DLMF 7.5.3, 7.5.4,
# 7.6.4, 7.6.6, 7.7.10 and 7.7.11.

MAX_OF_POWERS: Final = 1.6
"""Argument up to which the power series of Fresnel's integrals are summed."""

FRESNEL_TERMS: Final = 15
"""Number of terms of these series that are exact to rounding."""

STEP_OF_FRESNEL: Final = 0.19
"""Distance of the nodes of f and g, for a relative error of about 1e-16 from 1.6 on."""

NODES_OF_FRESNEL: Final = 27
"""Number of nodes, beyond which exp(-pi*t**2/2) is below the rounding."""


def fresnels(np: Library, x: Raw) -> Raw:
    """Return Fresnel's sine integral."""
    size, angle, near, sine, cosine, f, g = _fresnel(np, x, 1)
    y = np.where(size < MAX_OF_POWERS, near * angle, 0.5 - f * cosine - g * sine)
    return np.where(x < 0, -y, y)


def fresnelc(np: Library, x: Raw) -> Raw:
    """Return Fresnel's cosine integral."""
    size, _, near, sine, cosine, f, g = _fresnel(np, x, 0)
    y = np.where(size < MAX_OF_POWERS, near, 0.5 + f * sine - g * cosine)
    return np.where(x < 0, -y, y)


def _fresnel(np: Library, x: Raw, first: int) -> tuple[Raw, ...]:
    """Return ``abs(x)``, ``pi*x**2/2``, the power series from the power ``first`` of
    that angle on, the angle's sine and cosine, and the auxiliary functions."""
    size = np.minimum(np.abs(x), MAX_FRESNEL_ARGUMENT)
    angle = math.pi / 2 * (size * size)
    powers = range(first, first + 2 * FRESNEL_TERMS, 2)
    series = [1 / (math.factorial(k) * (2 * k + 1)) for k in powers]
    turns = size * size / 2
    turns = math.pi * (turns - 2 * np.rint(turns / 2))
    z = np.maximum(size, MAX_OF_POWERS)
    square = 1 / (z * z)
    f = g = 0 * z
    for k in range(NODES_OF_FRESNEL - 1, -1, -1):
        t = k * STEP_OF_FRESNEL
        weight = STEP_OF_FRESNEL * math.exp(-math.pi * t * t / 2) / (1 if k else 2)
        term = math.sqrt(2) / math.pi * weight / (1 + t**4 * (square * square))
        f, g = f + term, g + t * t * term
    near = size * horner(-angle * angle, series)
    return size, angle, near, np.sin(turns), np.cos(turns), f / z, g / z * square


# Lambert's function: near -1/e a series in sqrt(2*(e*x + 1)), whose argument loses no
# digit; elsewhere a first value, which two steps of Fritsch, Shafer and Crowley (1973)
# make exact, since each takes the fourth power of the error. DLMF 4.13.6.

START: Final = -0.36787944117144233
"""The double next to -1/e; it lies below that."""

BELOW_START: Final = 1.2428753672788363e-17
"""Distance of that double from -1/e."""

OF_LAMBERT: Final = (
    -1.0, 1.0, -1 / 3, 11 / 72, -43 / 540, 769 / 17280, -221 / 8505,
    680863 / 43545600, -1963 / 204120, 226287557 / 37623398400,
)  # fmt: skip
"""Coefficients of the powers of sqrt(2*(e*x + 1))."""

MAX_OF_BRANCH: Final = 0.02
"""Value of the root up to which the series is exact to rounding."""


def lambertw(np: Library, x: Raw) -> Raw:
    """Return the ``w >= -1`` with ``w*exp(w) = x``; NaN where there is none."""
    above = x - START - BELOW_START
    p = np.sqrt(2 * math.e * np.maximum(above, 0.0))
    near = horner(p, OF_LAMBERT)
    log = np.log1p(np.maximum(x, -0.2))
    w = np.where(p < 1, near, log * (1 - np.log1p(log) / (2 + log)))
    itself = np.logical_or(np.equal(x, 0), np.isinf(x))
    w, own = np.where(itself, 1.0, w), np.where(itself, math.e, x)
    for _ in range(2):
        z = np.log(own / w) - w
        q = 2 * (1 + w) * (1 + w + 2 / 3 * z)
        w = w * (1 + z / (1 + w) * ((q - z) / (q - 2 * z)))
    y = np.where(p < MAX_OF_BRANCH, near, np.where(itself, x, w))
    return np.where(above < 0, math.nan, y)


SERIES: Final[Mapping[str, Callable[[Library, Raw], Raw]]] = {
    function.__name__: function
    for function in (airy_ai, airy_ai_prime, erfi, fresnels, fresnelc, lambertw)
}
"""Functions by the table's names."""


def in_doubles(function: Callable[[Library, Raw], Raw]) -> Callable[[Any, Raw], Raw]:
    """Return a method that computes a function in doubles, in the type of ``x``."""

    def run(self: Any, x: Raw) -> Raw:
        y = function(self.np, x.astype("float64"))
        return y.astype(x.dtype) if x.dtype.kind == "f" else y

    return run
