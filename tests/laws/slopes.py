"""Functions by mpmath that PyTorch has no derivative of, or does not have, with the
points at which they are looked at.

Invariant: nothing here calls gradcli, NumPy's or SciPy's functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

import mpmath
import numpy as np
import sympy

DIGITS: Final = 30

Function = Callable[[Any], Any]
OfOrder = Callable[[int, Any], Any]

BOUNDED: Final = [
    *np.geomspace(1e-8, 1.0, 7), 0.019, 0.021, 0.49, 0.51,
    *np.geomspace(1.1, 40.0, 10), *np.geomspace(60.0, 500.0, 3),
]  # fmt: skip
"""Up to where exponentials have floats."""

POSITIVE: Final = [*BOUNDED, 1e3, 2e4]
EVERY: Final = [*POSITIVE, *(-x for x in POSITIVE), 0.0]
ALSO_BELOW: Final = [*BOUNDED, *(-x for x in BOUNDED)]
OF_AIRY: Final = [*np.geomspace(-300.0, -1e-4, 18), *np.geomspace(1e-4, 80.0, 14)]
OF_ERFI: Final = [*np.geomspace(1e-8, 26.0, 15), *-np.geomspace(1e-8, 26.0, 15)]
OF_FRESNEL: Final = [*np.geomspace(1e-4, 30.0, 15), *-np.geomspace(1e-4, 30.0, 15)]
OF_LAMBERT: Final = [
    *np.geomspace(1e-8, 1e8, 17), *-np.geomspace(1e-8, 0.36, 12), -0.3678, 0.0
]  # fmt: skip
UP_TO_1: Final = [*-np.geomspace(1e-4, 1e3, 22), *np.linspace(-0.02, 0.99, 12)]
AROUND_1: Final = [*np.linspace(-1.0, 1.0, 16), *np.linspace(-4.0, 5.0, 15)]


def macdonald(order: int, scale: int, x: Any) -> Any:
    """The modified Bessel function of the second kind, times ``exp(scale*x)``: by the
    integral DLMF 10.32.9, whose sum at equal distances converges faster than any power
    of them."""
    step, k = mpmath.mpf(1) / 32, 0
    total, term = mpmath.exp((scale - 1) * x) / 2, x + 1
    while k < 64 or abs(term) > mpmath.eps**2 * abs(total):
        k += 1
        term = mpmath.exp((scale - mpmath.cosh(k * step)) * x)
        term *= mpmath.cosh(order * k * step)
        total += term
    return total * step


def sine_over(x: Any) -> Any:
    return mpmath.sin(x) / x if x else mpmath.mpf(1)


def polylogarithm(order: int, x: Any) -> Any:
    return mpmath.re(mpmath.polylog(order, x))


def of_degree(polynomial: Callable[..., Any]) -> Callable[[int, Any], Any]:
    """A polynomial by SymPy's coefficients."""

    @cache
    def coefficients(n: int) -> list[tuple[int, int]]:
        whole = polynomial(n, polys=True).all_coeffs()
        return [(int(c.p), int(c.q)) for c in whole]

    return lambda n, x: mpmath.polyval(
        [mpmath.mpf(p) / q for p, q in coefficients(n)], x
    )


# fmt: off
OF_ONE_NUMBER: Final[dict[str, tuple[Function, Sequence[float]]]] = {
    "modified_bessel_i0": (partial(mpmath.besseli, 0), ALSO_BELOW),
    "modified_bessel_i1": (partial(mpmath.besseli, 1), ALSO_BELOW),
    "spherical_bessel_j0": (sine_over, EVERY),
    "bessel_j0": (partial(mpmath.besselj, 0), EVERY),
    "bessel_j1": (partial(mpmath.besselj, 1), EVERY),
    "bessel_y0": (partial(mpmath.bessely, 0), POSITIVE[3:]),
    "bessel_y1": (partial(mpmath.bessely, 1), POSITIVE[3:]),
    "modified_bessel_k0": (partial(macdonald, 0, 0), BOUNDED),
    "modified_bessel_k1": (partial(macdonald, 1, 0), BOUNDED),
    "scaled_modified_bessel_k0": (partial(macdonald, 0, 1), BOUNDED),
    "scaled_modified_bessel_k1": (partial(macdonald, 1, 1), BOUNDED),
    "airy_ai": (mpmath.airyai, OF_AIRY),
    "airy_ai_prime": (partial(mpmath.airyai, derivative=1), OF_AIRY),
    "erfi": (mpmath.erfi, OF_ERFI),
    "expi": (mpmath.ei, ALSO_BELOW),
    "li": (mpmath.li, POSITIVE),
    "Si": (mpmath.si, EVERY),
    "Ci": (mpmath.ci, POSITIVE),
    "Shi": (mpmath.shi, ALSO_BELOW),
    "Chi": (mpmath.chi, BOUNDED),
    "fresnels": (mpmath.fresnels, OF_FRESNEL),
    "fresnelc": (mpmath.fresnelc, OF_FRESNEL),
    "lambertw": (lambda x: mpmath.re(mpmath.lambertw(x)), OF_LAMBERT),
}
"""By name, with the points."""

DEGREES: Final = (0, 1, 2, 9)

OF_ORDERS: Final[dict[str, tuple[OfOrder, Sequence[float], Sequence[int]]]] = {
    "polylog": (polylogarithm, UP_TO_1, (-2, 0, 1, 2, 3, 5)),
    "chebyshev_polynomial_t": (of_degree(sympy.chebyshevt_poly), AROUND_1, DEGREES),
    "chebyshev_polynomial_u": (of_degree(sympy.chebyshevu_poly), AROUND_1, DEGREES),
    "hermite_polynomial_h": (of_degree(sympy.hermite_poly), AROUND_1, DEGREES),
    "hermite_polynomial_he": (of_degree(sympy.hermite_prob_poly), AROUND_1, DEGREES),
    "laguerre_polynomial_l": (of_degree(sympy.laguerre_poly), AROUND_1, DEGREES),
    "legendre_polynomial_p": (of_degree(sympy.legendre_poly), AROUND_1, DEGREES),
}
"""The same of functions with an order or a degree, and which are looked at."""
# fmt: on
