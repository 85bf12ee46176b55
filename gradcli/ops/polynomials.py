"""Orthogonal polynomials, by the recurrences that define them.

    special.legendre_polynomial_p(x, 2)     # (3*x**2 - 1)/2

Invariant: as in PyTorch, a degree is truncated to an integer, and for a degree below 0
the value is 0. There is no derivative by the degree; PyTorch has none by x either.
"""

from __future__ import annotations

from collections.abc import Callable

from .checks import ArgumentError, refuse
from .op import FLOATS, HALF, KEPT, Fixed, case, function, row, unknown_slope
from .types import Array, Namespace

# fmt: off

MOST = 100_000
"""Largest degree that is accepted."""

First = Callable[[Array], Array]
"""A function from x to the polynomial of degree 1; that of degree 0 is always 1."""

Next = Callable[[Array, int, Array, Array], Array]
"""A function from x, k and the polynomials of degree k and k - 1 to that of k + 1."""

Lead = Callable[[int, Array], Array]
"""A function from k and the polynomial of degree k to the slope, by x, of `Next` with
its polynomials held fixed."""


def polynomial(xp: Namespace, x: Array, n: Array, first: First, above: Next,
               lead: Lead | None = None) -> Array:
    """Return the polynomials of ``x`` of degrees ``n``, or, with ``lead``, the slopes.

    Slopes follow from the recurrence, which is linear in the polynomials, by the
    product rule.
    """
    degrees = xp.as_index(xp.trunc(n))
    most = int(degrees.max()) if degrees.size else 0
    refuse(most > MOST, "polynomials of degree {} are not offered; up to {} they are",
           most, MOST, kind=ArgumentError)
    zero, one = xp.zeros_like(x), xp.ones_like(x)
    below, here = one, first(x)
    slope_below, slope = zero, lead(0, one) if lead else zero
    y = zero if lead else xp.where(xp.eq(degrees, 0), one, zero)
    for k in range(1, most + 1):
        y = xp.where(xp.eq(degrees, k), slope if lead else here, y)
        if lead:
            slope_below, slope = slope, (
                above(x, k, slope, slope_below) + lead(k, here))
        below, here = here, above(x, k, here, below)
    return y


def _entered(name: str, doc: str, formula: str, first: First, above: Next, lead: Lead
             ) -> None:
    node = "".join(word.title() for word in f"special_{name}".split("_"))
    row(f"{name}.default", node=f"{node}Backward0", formula=formula,
        doc=f"{doc}; without a derivative by its degree.",
        refuses=HALF,
        partials=(lambda xp, y, x, n: polynomial(xp, x, n, first, above, lead),
                  unknown_slope(f"{name}: n")),
        in_place=False, result=FLOATS, memory=KEPT,
        fwd=lambda xp, x, n: polynomial(xp, x, n, first, above),
        cases=[case((3, 5), Fixed([0.0, 1.0, 2.0, 7.0, -1.0])),
               case((2,), Fixed(3.0))])
    function(name, lambda call, x, n: call(f"{name}.default", x, n),
             operands=("x", "n"), special=name)


# DLMF 18.9.1 and 18.9.2.
_CHEBYSHEV = {
    "t": ("first", "cos(n*acos(x))", 1, 0),
    "u": ("second", "sin((n + 1)*acos(x))/sin(acos(x))", 2, 0),
    "v": ("third", "cos((n + 1/2)*acos(x))/cos(acos(x)/2)", 2, -1),
    "w": ("fourth", "sin((n + 1/2)*acos(x))/sin(acos(x)/2)", 2, 1),
}


def _chebyshev(kind: str, which: str, formula: str, factor: int, constant: int) -> None:
    name, doc = f"chebyshev_polynomial_{kind}", f"Chebyshev polynomial of the {which}"
    _entered(name, f"{doc} kind", formula, lambda x: factor * x + constant,
             lambda x, k, here, below: 2 * x * here - below,
             lambda k, here: (2 if k else factor) * here)
    _entered(f"shifted_{name}", f"{doc} kind of 2*x - 1",
             formula.replace("(x)", "(2*x - 1)"),
             lambda x: factor * (2 * x - 1) + constant,
             lambda x, k, here, below: 2 * (2 * x - 1) * here - below,
             lambda k, here: (4 if k else 2 * factor) * here)


for _kind, _facts in _CHEBYSHEV.items():
    _chebyshev(_kind, *_facts)

_entered("hermite_polynomial_h", "Hermite polynomial of physics",
         "(-1)**n * e**(x**2) * the n-th derivative of e**(-x**2)",
         lambda x: 2 * x, lambda x, k, here, below: 2 * x * here - 2 * k * below,
         lambda k, here: 2 * here)
_entered("hermite_polynomial_he", "Hermite polynomial of probability",
         "(-1)**n * e**(x**2/2) * the n-th derivative of e**(-x**2/2)",
         lambda x: 1 * x, lambda x, k, here, below: x * here - k * below,
         lambda k, here: here)
_entered("laguerre_polynomial_l", "Laguerre polynomial",
         "e**x/n! * the n-th derivative of x**n*e**(-x)",
         lambda x: 1 - x,
         lambda x, k, here, below: ((2 * k + 1 - x) * here - k * below) / (k + 1),
         lambda k, here: -here / (k + 1))
_entered("legendre_polynomial_p", "Legendre polynomial",
         "1/(2**n*n!) * the n-th derivative of (x**2 - 1)**n",
         lambda x: 1 * x,
         lambda x, k, here, below: ((2 * k + 1) * x * here - k * below) / (k + 1),
         lambda k, here: (2 * k + 1) * here / (k + 1))
