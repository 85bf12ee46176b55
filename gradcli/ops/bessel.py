"""Bessel functions of imaginary argument, which grow like the exponential.

    row("i0", node="I0Backward0", ..., partials=(lambda xp, y, x: xp.i1(x),))

Invariant: the derivative of a function divides by its argument only away from 0.
"""

from __future__ import annotations

from .op import case, no_half, row
from .types import Array, ArrayRule, Namespace

# fmt: off

ALL = [case((3, 4)), case(())]


def ratio(xp: Namespace, y: Array, x: Array) -> Array:
    """``y/x`` of an odd function of slope 1/2 at 0, also of numbers so small that ``y``
    has few digits."""
    at_zero = xp.lt(xp.abs(x), SMALL)
    return xp.where(at_zero, 0.5, y / xp.where(at_zero, 1, x))


SMALL = 1e-30
"""Beside 1, nothing; in float32 far from the least number."""


# DLMF 10.29.3 and 10.29.2; e**-abs(x) has the derivative -sign(x)*e**-abs(x).
row("i0", node="I0Backward0", latex="I_0({0})", formula="i0(x)",
    doc="Modified Bessel function of order 0.",
    fwd=lambda xp, x: xp.i0(x), partials=(lambda xp, y, x: xp.i1(x),), cases=ALL,
    special="i0", overflows=True, tame=("0",),
    sym=lambda sp, x: sp.besseli(0, x))

row("i1", node="SpecialI1Backward0", latex="I_1({0})", formula="i1(x)",
    doc="Modified Bessel function of order 1.",
    fwd=lambda xp, x: xp.i1(x),
    partials=(lambda xp, y, x: xp.i0(x) - ratio(xp, y, x),), cases=ALL,
    special="i1", saves="x y", overflows=True, tame=("0",),
    sym=lambda sp, x: sp.besseli(1, x))

row("i0e", node="SpecialI0EBackward0", latex="e^{{-|{0}|}} I_0({0})",
    formula="exp(-abs(x))*i0(x)",
    doc="Modified Bessel function of order 0, scaled so that it does not overflow.",
    kink="at 0 the derivative is 0",
    fwd=lambda xp, x: xp.i0e(x),
    partials=(lambda xp, y, x: xp.i1e(x) - xp.sign(x) * y,), cases=ALL,
    special="i0e", saves="x y", domain="x != 0", roundings=10,
    sym=lambda sp, x: sp.exp(-sp.Abs(x)) * sp.besseli(0, x))

row("i1e", node="SpecialI1EBackward0", latex="e^{{-|{0}|}} I_1({0})",
    formula="exp(-abs(x))*i1(x)",
    doc="Modified Bessel function of order 1, scaled so that it does not overflow.",
    fwd=lambda xp, x: xp.i1e(x),
    partials=(lambda xp, y, x: xp.i0e(x) - xp.sign(x) * y - ratio(xp, y, x),),
    cases=ALL, special="i1e", saves="x y",
    sym=lambda sp, x: sp.exp(-sp.Abs(x)) * sp.besseli(1, x))

# Functions that PyTorch knows no derivative of.


def _of_no_slope(name: str, doc: str, formula: str, fwd: ArrayRule, low: float,
                 high: float = 5.0) -> None:
    row(name, doc=f"{doc}; without a derivative.", formula=formula, special=name,
        refuses=no_half(f"\"{name}_cpu\" not implemented for '{{0}}'"),
        partials=(None,), in_place=False, fwd=lambda xp, x: xp.stop(fwd(xp, x)),
        cases=[case((3, 4), low=low, high=high), case((), low=low, high=3.0)])


def by_name(name: str) -> ArrayRule:
    """The function that a namespace has under this name."""
    return lambda xp, x: getattr(xp, name)(x)


def sine_over(xp: Namespace, x: Array) -> Array:
    """sin(x)/x, 1 at 0 and 0 at the infinities."""
    apart = xp.logical_or(xp.eq(x, 0), xp.isinf(x))
    own = xp.where(apart, 1, x)
    return xp.where(apart, xp.as_type_of(xp.eq(x, 0), x), xp.sin(own) / own)


_of_no_slope("modified_bessel_i0", "Modified Bessel function of order 0", "i0(x)",
             lambda xp, x: xp.i0(x), -2.0)
_of_no_slope("modified_bessel_i1", "Modified Bessel function of order 1", "i1(x)",
             lambda xp, x: xp.i1(x), -2.0)
_of_no_slope("spherical_bessel_j0", "Spherical Bessel function of order 0", "sin(x)/x",
             sine_over, -2.0)

# PyTorch's numbers have six digits for j and y above 4, and for Ai below -2.
for _order in (0, 1):
    _of_no_slope(f"bessel_j{_order}", f"Bessel function of order {_order}",
                 f"bessel_j{_order}(x)", by_name(f"j{_order}"), -2.0, 3.5)
    _of_no_slope(f"bessel_y{_order}", f"Bessel function of the second kind, order "
                 f"{_order}", f"bessel_y{_order}(x)", by_name(f"y{_order}"), 0.3, 3.5)
    _of_no_slope(f"modified_bessel_k{_order}", "Modified Bessel function of the second "
                 f"kind, order {_order}", f"modified_bessel_k{_order}(x)",
                 by_name(f"k{_order}"), 0.3)
    _of_no_slope(f"scaled_modified_bessel_k{_order}", "Modified Bessel function of the "
                 f"second kind, order {_order}, scaled so that it does not underflow",
                 f"exp(x)*modified_bessel_k{_order}(x)", by_name(f"k{_order}e"), 0.3)
_of_no_slope("airy_ai", "Airy function Ai", "airy_ai(x)", by_name("airy"), -2.0)
