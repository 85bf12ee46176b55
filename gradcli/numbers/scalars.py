"""The scalar functions: what each is to SymPy and what it is to 50 digits.

Invariant: one row per function. Everything that the symbolic room computes with
numbers or expressions is made of these; shapes are the namespace's business.

    SCALARS["tanh"].sympy(x)            # tanh(x)
    SCALARS["tanh"].number(EXACT, v)    # its value to 50 digits
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import sympy

from .precision import EXACT, divide, power
from .system import Number

Bound = tuple[int, str, Number]
"""An argument's position, a relation and a number: ``(0, ">", 0)``."""

Bounds = tuple[Bound, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """One function.

    sympy    from SymPy expressions to an expression; where it is a SymPy class, the
             evaluator reads ``number`` as the meaning of that class
    number   ``(context, *values)`` -> value
    domain   from the arguments to where the formula holds and is smooth
    literal  a constant argument is part of the formula, as in ``x**2``
    filled   ``(context, position, *values)`` -> the derivative in one argument at a
             point where its formula has none and it has; else None
    """

    name: str
    sympy: Callable[..., Any]
    number: Callable[..., Any]
    domain: Callable[..., Bounds]
    literal: bool = False
    filled: Callable[..., Any] | None = None


SCALARS: Final[dict[str, Scalar]] = {}


def _scalar(
    name: str,
    sympy_: Callable[..., Any],
    number: Callable[..., Any],
    *bounds: Bound,
    domain: Callable[..., Bounds] | None = None,
    literal: bool = False,
    filled: Callable[..., Any] | None = None,
) -> None:
    where = domain or (lambda *arguments: bounds)
    SCALARS[name] = Scalar(name, sympy_, number, where, literal, filled)


_positive = (0, ">", 0)
_within = ((0, ">", -1), (0, "<", 1))


def _power_domain(base: Any, exponent: Any) -> Bounds:
    """A whole exponent takes every base; one that may vary takes those above 0, or
    is held where it is whole; 0 itself takes exponents above 0."""
    written = exponent.content if exponent.name == "number" else None
    if isinstance(written, int):
        return () if written >= 0 else ((0, "!=", 0),)
    if base.name == "number" and not base.value:
        return ((1, ">", 0),)
    if written is None and base.value <= 0 and EXACT.isint(exponent.value):
        return ((1, "==", int(exponent.value)),)
    return (_positive,)


def _power_of_zero(m: Any, at: int, a: Any, b: Any) -> Any:
    """The derivatives of 0 to a power above 0 in the exponent, above 1 or 1 itself in
    the base."""
    if a or not (b > 0 if at else b >= 1):
        return None
    return m.zero if at or b > 1 else m.one


def _length_domain(a: Any, b: Any) -> Bounds:
    """A length is smooth but where both sides are 0."""
    if b.value:
        return ()
    return ((0, "!=", 0),) if a.value else ((0, "!=", 0), (1, "!=", 0))


def _sinc(m: Any, x: Any) -> Any:
    return m.sin(x) / x if x else m.one


def _log_gamma(m: Any, x: Any) -> Any:
    return m.loggamma(x) if x > 0 else m.log(abs(m.gamma(x)))


def _ndtri(m: Any, x: Any) -> Any:
    """The quantile; as many bits more as ``2 x - 1`` loses of a small ``x``."""
    lost = max(0, -m.mag(x)) if x else 0
    with m.workprec(m.prec + lost):
        y = m.sqrt(2) * m.erfinv(2 * x - 1)
    return +y


def _softplus(m: Any, x: Any) -> Any:
    return m.log1p(m.exp(x)) if x < 0 else x + m.log1p(m.exp(-x))


def _log_add_exp(m: Any, a: Any, b: Any) -> Any:
    if m.isinf(a) or m.isinf(b):
        return max(a, b)
    return max(a, b) + m.log1p(m.exp(-abs(a - b)))


# fmt: off
_scalar("add", lambda a, b: a + b, lambda m, a, b: a + b)
_scalar("sub", lambda a, b: a - b, lambda m, a, b: a - b)
_scalar("mul", lambda a, b: a * b, lambda m, a, b: a * b)
_scalar("div", lambda a, b: a / b, divide, (1, "!=", 0))
_scalar("neg", lambda x: -x, lambda m, x: -x)
_scalar("total", sympy.Add, lambda m, *xs: m.fsum(xs))
_scalar("choice", lambda x: x, lambda m, x: x)
_scalar("pow", lambda a, b: a**b, power, domain=_power_domain, literal=True,
        filled=_power_of_zero)

_scalar("abs", sympy.Abs, lambda m, x: abs(x), (0, "!=", 0))
_scalar("sign", sympy.sign, lambda m, x: m.sign(x), (0, "!=", 0))
_scalar("sqrt", sympy.sqrt, lambda m, x: m.sqrt(x), _positive)
_scalar("square", lambda x: x**2, lambda m, x: x * x)

_scalar("exp", sympy.exp, lambda m, x: m.exp(x))
_scalar("exp2", lambda x: 2**x, lambda m, x: m.mpf(2)**x)
_scalar("expm1", lambda x: sympy.exp(x) - 1, lambda m, x: m.expm1(x))
_scalar("log", sympy.log, lambda m, x: m.log(x), _positive)
_scalar("log2", lambda x: sympy.log(x) / sympy.log(2),
        lambda m, x: m.log(x) / m.ln2, _positive)
_scalar("log10", lambda x: sympy.log(x) / sympy.log(10),
        lambda m, x: m.log10(x), _positive)
_scalar("log1p", lambda x: sympy.log(1 + x), lambda m, x: m.log1p(x), (0, ">", -1))

_scalar("sin", sympy.sin, lambda m, x: m.sin(x))
_scalar("cos", sympy.cos, lambda m, x: m.cos(x))
_scalar("tan", sympy.tan, lambda m, x: m.tan(x))
_scalar("asin", sympy.asin, lambda m, x: m.asin(x), *_within)
_scalar("acos", sympy.acos, lambda m, x: m.acos(x), *_within)
_scalar("atan", sympy.atan, lambda m, x: m.atan(x))
_scalar("atan2", sympy.atan2, lambda m, y, x: m.atan2(y, x),
        domain=lambda y, x: ((0, "!=", 0),) if x.value <= 0 else ())
_scalar("sinh", sympy.sinh, lambda m, x: m.sinh(x))
_scalar("cosh", sympy.cosh, lambda m, x: m.cosh(x))
_scalar("tanh", sympy.tanh, lambda m, x: m.tanh(x))
_scalar("asinh", sympy.asinh, lambda m, x: m.asinh(x))
_scalar("acosh", sympy.acosh, lambda m, x: m.acosh(x), (0, ">", 1))
_scalar("atanh", sympy.atanh, lambda m, x: m.atanh(x), *_within)
_scalar("sinc", lambda x: sympy.sinc(sympy.pi * x), lambda m, x: _sinc(m, m.pi * x),
        filled=lambda m, at, x: None if x else m.zero)
_scalar("hypot", lambda a, b: sympy.sqrt(a**2 + b**2), lambda m, a, b: m.hypot(a, b),
        domain=_length_domain)
_scalar("logaddexp", lambda a, b: sympy.log(sympy.exp(a) + sympy.exp(b)), _log_add_exp)

_scalar("erf", sympy.erf, lambda m, x: m.erf(x))
_scalar("erfc", sympy.erfc, lambda m, x: m.erfc(x))
_scalar("erfinv", sympy.erfinv, lambda m, x: m.erfinv(x), *_within)
_scalar("ndtri", lambda x: sympy.sqrt(2) * sympy.erfinv(2 * x - 1), _ndtri,
        (0, ">", 0), (0, "<", 1))
_scalar("lgamma", sympy.loggamma, _log_gamma)
_scalar("digamma", sympy.digamma, lambda m, x: m.digamma(x))
_scalar("polygamma", sympy.polygamma, lambda m, n, x: m.psi(int(n), x), literal=True)
_scalar("sigmoid", lambda x: 1 / (1 + sympy.exp(-x)),
        lambda m, x: 1 / (1 + m.exp(-x)))
_scalar("logsigmoid", lambda x: -sympy.log(1 + sympy.exp(-x)),
        lambda m, x: -_softplus(m, -x))
_scalar("xlogy", lambda x, y: x * sympy.log(y),
        lambda m, x, y: x * m.log(y) if x else m.zero, (1, ">", 0))
# fmt: on


HEADS: Final[dict[Any, Callable[..., Any]]] = {
    scalar.sympy: scalar.number
    for scalar in SCALARS.values()
    if isinstance(scalar.sympy, type)
} | {
    sympy.Mul: lambda m, *xs: m.fprod(xs),
    sympy.Pow: power,
    sympy.cot: lambda m, x: m.cot(x),
    sympy.sec: lambda m, x: m.sec(x),
    sympy.csc: lambda m, x: m.csc(x),
    sympy.coth: lambda m, x: m.coth(x),
    sympy.sech: lambda m, x: m.sech(x),
    sympy.csch: lambda m, x: m.csch(x),
    sympy.gamma: lambda m, x: m.gamma(x),
    sympy.sinc: _sinc,
    sympy.DiracDelta: lambda m, x, *order: m.nan if not x else m.zero,
    sympy.Heaviside: lambda m, x, *at: m.mpf(x > 0) if x else m.nan,
}
"""What a SymPy class is to a number; the scalar rows give the most."""

_INTERNAL: Final = {"add", "sub", "mul", "div", "neg", "pow", "total", "choice"}
"""What rows reach through operators and reductions alone."""


def own_names() -> dict[str, str]:
    """The scalar functions by the names that rows call them under."""
    arithmetic = {f"elementwise_{n}": n for n in _INTERNAL}
    return {n: n for n in SCALARS if n not in _INTERNAL} | arithmetic
