"""Names of Python's operators and of the array libraries' elementwise functions.

Invariant: only this module says which operator or library function a name of the table
stands for. Names in other languages are in `gradcli.ops.spellings`.

    UFUNCS["asin"]          # "arcsin"
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

UFUNCS: Final[Mapping[str, str]] = {
    "abs": "absolute", "sqrt": "sqrt", "cbrt": "cbrt", "square": "square",
    "floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "hypot": "hypot", "logaddexp": "logaddexp",
    "maximum": "maximum", "minimum": "minimum", "fmax": "fmax", "fmin": "fmin",
    "where": "where", "signbit": "signbit",
    "nextafter": "nextafter",
    "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
    "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_not": "logical_not", "logical_xor": "logical_xor",
}  # fmt: skip
"""Names in NumPy and CuPy of functions, by the table's name."""

SLOW: Final = ("sin", "cos")
"""Functions that NumPy computes one double after the other, in some 7 ns."""

SPECIAL: Final[Mapping[str, str]] = {
    "erf": "erf", "erfc": "erfc", "erfinv": "erfinv",
    "gamma": "gamma", "digamma": "digamma",
    "sigmoid": "expit", "logsigmoid": "log_expit", "ndtri": "ndtri",
    "erfcx": "erfcx", "log_ndtr": "log_ndtr", "entr": "entr",
    "i0": "i0", "i0e": "i0e", "i1": "i1", "i1e": "i1e",
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1",
    "modified_bessel_k0": "k0", "scaled_modified_bessel_k0": "k0e",
    "modified_bessel_k1": "k1", "scaled_modified_bessel_k1": "k1e",
    "airy_ai": "airy[0]", "airy_ai_prime": "airy[1]",
    "erfi": "erfi", "expi": "expi", "Si": "sici[0]", "Ci": "sici[1]",
    "Shi": "shichi[0]", "Chi": "shichi[1]",
    "fresnels": "fresnel[0]", "fresnelc": "fresnel[1]", "lambertw": "lambertw",
    "igamma": "gammainc", "igammac": "gammaincc", "zeta": "zeta",
}  # fmt: skip
"""Names in ``scipy.special`` and ``cupyx.scipy.special`` of functions, by the table's
name; ``airy[0]`` is the first result of ``airy``."""

_ARITHMETIC: Final[dict[str, str]] = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "pow": "pow",
    "neg": "neg",
}  # fmt: skip

OPERATORS: Final[Mapping[str, str]] = _ARITHMETIC | {
    "matmul": "matmul", "floordiv": "floor_divide", "mod": "remainder",
    "and": "logical_and", "or": "logical_or", "xor": "logical_xor",
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
    "abs": "abs", "invert": "logical_not",
}  # fmt: skip
"""Names in the table of Python's operators: ``truediv``, for ``/``, is ``div``."""

ARITHMETIC: Final[Mapping[str, Callable[..., Any]]] = {
    name: getattr(operator, own) for own, name in _ARITHMETIC.items()
}
"""Python's functions of the operators that formulas write as signs, by table's name."""

LIBRARY_OPERATORS: Final[Mapping[str, str]] = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide",
    "pow": "power", "neg": "negative",
}  # fmt: skip
"""Names in NumPy and CuPy of the operators that formulas write as signs."""

LIBRARY_POWERS: Final[Mapping[float, str]] = {
    2.0: "square", 0.5: "sqrt", 1.0: "positive", -1.0: "reciprocal",
}  # fmt: skip
"""Functions that NumPy's sign of a power computes where it has these exponents."""

BINARY: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    own: getattr(operator, own) for own in _ARITHMETIC if own != "neg"
}
"""Arithmetic operators of two operands, by Python's name."""

NEUTRAL: Final[Mapping[str, tuple[int, tuple[int, ...]]]] = {
    "add": (0, (0, 1)), "sub": (0, (1,)),
    "mul": (1, (0, 1)), "div": (1, (1,)), "pow": (1, (1,)),
}  # fmt: skip
"""Neutral operands by operator, with the places (0: left, 1: right) where they are."""

COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
"""Operators that have no reflected method of their own."""

UNARY: Final = ("neg", "abs", "invert")


def put_on(kind: type, applying: Callable[[str], Callable[..., Any]]) -> None:
    """Add methods for all of Python's operators to a class.

    Args:
        applying: returns, for a function's name, a function that applies it; its
            arguments are the object whose method is called, and then the operands.
    """
    for own, name in OPERATORS.items():
        _put(kind, own, applying(name))


def _put(kind: type, own: str, apply: Callable[..., Any]) -> None:
    setattr(kind, f"__{own}__", lambda self, *other: apply(self, self, *other))
    if own not in (*COMPARISONS, *UNARY):
        setattr(kind, f"__r{own}__", lambda self, other: apply(self, other, self))


KEEP_INTEGERS = frozenset({
    "abs", "fmod", "max", "maximum", "min", "minimum", "programs.times", "sign",
    "trunc",
})  # fmt: skip
"""Functions whose result is an integer if all operands are integers."""
