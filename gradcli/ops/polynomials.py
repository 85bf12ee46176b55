"""Orthogonal polynomials, by the recurrences that define them.

    special.legendre_polynomial_p(x, 2)     # (3*x**2 - 1)/2

Invariant: as in PyTorch, no derivative is known of any; a degree that is no integer is
cut to one, and below 0 the value is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from .checks import ArgumentError
from .op import FLOATS, KEPT, Fixed, case, function, no_half, row
from .types import Array, Namespace

# fmt: off

MOST = 100_000
"""The highest degree."""

First = Callable[[Array], Array]
"""From x to the polynomial of degree 1; that of degree 0 is 1."""

Next = Callable[[Array, int, Array, Array], Array]
"""From x, a degree and the polynomials of it and of the one below to the one above."""


def polynomial(xp: Namespace, x: Array, n: Array, first: First, above: Next) -> Array:
    """The polynomial of degree ``n``, an array that broadcasts with ``x``."""
    degrees = xp.as_index(xp.trunc(n))
    most = int(degrees.max()) if degrees.size else 0
    if most > MOST:
        raise ArgumentError(f"polynomials of degree {most} are not offered; up to "
                            f"{MOST} they are")
    below, here = xp.ones_like(x), first(x)
    y = xp.where(xp.eq(degrees, 0), below, xp.zeros_like(x))
    for k in range(1, most + 1):
        y = xp.where(xp.eq(degrees, k), here, y)
        below, here = here, above(x, k, here, below)
    return xp.stop(y)


def _entered(name: str, doc: str, formula: str, first: First, above: Next) -> None:
    row(f"{name}.default", formula=formula, doc=f"{doc}; without a derivative.",
        refuses=no_half(f"\"{name}_cpu\" not implemented for '{{0}}'"),
        partials=(None, None), in_place=False, result=FLOATS, memory=KEPT,
        fwd=lambda xp, x, n: polynomial(xp, x, n, first, above),
        cases=[case((3, 5), Fixed([0.0, 1.0, 2.0, 7.0, -1.0])),
               case((2,), Fixed(3.0))])
    function(name, lambda call, x, n: call(f"{name}.default", x, n),
             operands=("x", "n"), special=name)


# DLMF 18.9.1.
_CHEBYSHEV = {
    "t": ("first", "cos(n*acos(x))", lambda x: x),
    "u": ("second", "sin((n + 1)*acos(x))/sin(acos(x))", lambda x: 2 * x),
    "v": ("third", "cos((n + 1/2)*acos(x))/cos(acos(x)/2)", lambda x: 2 * x - 1),
    "w": ("fourth", "sin((n + 1/2)*acos(x))/sin(acos(x)/2)", lambda x: 2 * x + 1),
}


def _shifted(first: First) -> First:
    return lambda x: first(2 * x - 1)


for _kind, (_which, _formula, _first) in _CHEBYSHEV.items():
    _entered(f"chebyshev_polynomial_{_kind}", f"Chebyshev polynomial of the {_which} "
             "kind", _formula, _first, lambda x, k, here, below: 2 * x * here - below)
    _entered(f"shifted_chebyshev_polynomial_{_kind}",
             f"Chebyshev polynomial of the {_which} kind of 2*x - 1",
             _formula.replace("(x)", "(2*x - 1)"), _shifted(_first),
             lambda x, k, here, below: 2 * (2 * x - 1) * here - below)

_entered("hermite_polynomial_h", "Hermite polynomial of physics",
         "(-1)**n * e**(x**2) * the n-th derivative of e**(-x**2)",
         lambda x: 2 * x, lambda x, k, here, below: 2 * x * here - 2 * k * below)
_entered("hermite_polynomial_he", "Hermite polynomial of probability",
         "(-1)**n * e**(x**2/2) * the n-th derivative of e**(-x**2/2)",
         lambda x: x, lambda x, k, here, below: x * here - k * below)
_entered("laguerre_polynomial_l", "Laguerre polynomial",
         "e**x/n! * the n-th derivative of x**n*e**(-x)",
         lambda x: 1 - x,
         lambda x, k, here, below: ((2 * k + 1 - x) * here - k * below) / (k + 1))
_entered("legendre_polynomial_p", "Legendre polynomial",
         "1/(2**n*n!) * the n-th derivative of (x**2 - 1)**n",
         lambda x: x,
         lambda x, k, here, below: ((2 * k + 1) * x * here - k * below) / (k + 1))
