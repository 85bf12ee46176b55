"""Functions of one number by mpmath: the stranger that has every digit.

Invariant: nothing here calls gradcli, NumPy or SciPy, whose functions the table's
formulas run on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import mpmath
from mpmath import mpf

DIGITS: Final = 60

DIGITS_OF_ANY_FLOAT: Final = 1300
"""More than squares of the smallest and the largest floats need side by side."""


def quantile(x: Any) -> Any:
    """Of the normal distribution, with the digits that ``2 x - 1`` loses of ``x``."""
    with mpmath.extradps(max(0, -int(mpmath.log10(x)) if x > 0 else 0)):
        return mpmath.sqrt(2) * mpmath.erfinv(2 * x - 1)


def log_of_distribution(x: Any) -> Any:
    """Of the normal distribution, with the digits that a number near 1 loses."""
    tail = mpmath.erfc(abs(x) / mpmath.sqrt(2)) / 2
    return mpmath.log1p(-tail) if x > 0 else mpmath.log(tail)


# fmt: off
BY_NAME: Final[dict[str, Callable[[Any], Any]]] = {
    name: getattr(mpmath, name)
    for name in (
        "exp", "expm1", "log", "log10", "log1p", "sqrt", "sin", "cos", "tan", "asin",
        "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf",
        "erfc", "erfinv", "digamma", "gamma", "factorial",
    )
} | {
    "exp2": lambda x: mpf(2) ** x,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "lgamma": lambda x: mpmath.re(mpmath.loggamma(x)),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "logsigmoid": lambda x: -mpmath.log1p(mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": lambda x: x * mpmath.ncdf(x),
    "mish": lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))),
    "ndtri": quantile,
    "entr": lambda x: -x * mpmath.log(x),
    "logit": lambda x: mpmath.log(x / (1 - x)),
    "i0": lambda x: mpmath.besseli(0, x),
    "i1": lambda x: mpmath.besseli(1, x),
    "i0e": lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)),
    "i1e": lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)),
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "log_ndtr": log_of_distribution,
    "deg2rad": lambda x: x * mpmath.pi / 180,
    "rad2deg": lambda x: x * 180 / mpmath.pi,
}
"""The rows of transcendental functions of one number."""
# fmt: on


def cancels(name: str, x: float) -> bool:
    """Whether the formula loses at a float all the digits that a float could tell."""
    few, many = value(name, x), value(name, x, DIGITS_OF_ANY_FLOAT)
    return few is None or many is None or abs(few - many) > abs(many) * mpf(2) ** -53


def value(name: str, x: float, digits: int = DIGITS) -> Any:
    """The function at a float, to some digits; None where it is no real number.

    None also where the argument is beyond what mpmath computes (erfc at 1e40).
    """
    with mpmath.workdps(digits):
        try:
            y = BY_NAME[name](mpf(x))
        except (ValueError, ZeroDivisionError, OverflowError):
            return None
        real = y.imag == 0 if isinstance(y, mpmath.mpc) else mpmath.isfinite(y)
        return mpmath.re(y) if real else None
