"""Elementwise functions of the array libraries, by the table's names.

Invariant: the table's name of each, and the library's; nothing else in the package
lists them. What other libraries and languages call them: `gradcli.ops.spellings`.

    UFUNCS["asin"]          # "arcsin"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

UFUNCS: Final[Mapping[str, str]] = {
    "abs": "absolute", "sqrt": "sqrt", "square": "square",
    "floor": "floor", "ceil": "ceil", "round": "rint", "trunc": "trunc",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1",
    "log": "log", "log2": "log2", "log10": "log10", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan",
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
    "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
    "hypot": "hypot", "logaddexp": "logaddexp",
    "maximum": "maximum", "minimum": "minimum", "fmax": "fmax", "fmin": "fmin",
    "where": "where", "isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
    "logical_and": "logical_and", "logical_or": "logical_or",
    "logical_not": "logical_not", "logical_xor": "logical_xor",
}  # fmt: skip
"""Of NumPy, and of CuPy."""

SPECIAL: Final[Mapping[str, str]] = {
    "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "digamma": "digamma",
    "sigmoid": "expit", "logsigmoid": "log_expit", "ndtri": "ndtri",
}  # fmt: skip
"""Of ``scipy.special``, and of ``cupyx.scipy.special``."""
