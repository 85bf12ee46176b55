"""A derivative as a short formula in gradcli's own syntax.

Invariant: what is printed reads back as the same function: names as in the program,
functions under the names of the table, nothing that SymPy alone would understand.

    closed_form(2*x*cos(x**2))      # "2*x*cos(x**2)"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final

import sympy
from sympy.printing.str import StrPrinter

from ..numbers.expressions import NoMeaning, compiled
from .process.budget import OutOfTime

LONGEST: Final = 60

SIMPLIFIABLE: Final = 40

_SPELLED: Final = (
    sympy.exp, sympy.log, sympy.sin, sympy.cos, sympy.tan, sympy.asin, sympy.acos,
    sympy.atan, sympy.atan2, sympy.sinh, sympy.cosh, sympy.tanh, sympy.asinh,
    sympy.acosh, sympy.atanh, sympy.sign, sympy.erf, sympy.erfc, sympy.erfinv,
)  # fmt: skip
"""Functions that SymPy and the language call by the same name."""

_NAMES: Final = {head: head.__name__ for head in _SPELLED} | {
    sympy.Abs: "abs",
    sympy.loggamma: "lgamma",
}


class Unprintable(ValueError):
    """The language has no word for a part of the expression."""


class _Printer(StrPrinter):  # type: ignore[misc]
    """SymPy's printer with the language's names."""

    def _print_Dummy(self, expr: Any) -> str:
        return str(expr.name)

    def _print_Function(self, expr: Any) -> str:
        name = _NAMES.get(expr.func)
        if name is None:
            raise Unprintable(expr.func.__name__)
        return self._call(name, expr.args)

    def _print_polygamma(self, expr: Any) -> str:
        order, x = expr.args
        if order == 0:
            return self._call("digamma", (x,))
        return self._call("polygamma", (order, x))

    def _print_sinc(self, expr: Any) -> str:
        return self._call("sinc", (expr.args[0] / sympy.pi,))

    def _print_Exp1(self, expr: Any) -> str:
        return "exp(1)"

    def _print_Rational(self, expr: Any) -> str:
        """A decimal fraction as it was written, any other as a quotient."""
        numerator, denominator = int(expr.p), int(expr.q)
        if denominator < 100:
            return f"{numerator}/{denominator}"
        number = numerator / denominator
        if sympy.Rational(repr(number)) == expr:
            return repr(number)
        return f"{numerator}/{denominator}"

    def _call(self, name: str, args: Any) -> str:
        return f"{name}({self.stringify(args, ', ')})"

    def emptyPrinter(self, expr: Any) -> str:
        raise Unprintable(type(expr).__name__)


for _head in ("Infinity", "NegativeInfinity", "ComplexInfinity", "NaN", "ImaginaryUnit",
              "Relational", "Piecewise", "Derivative", "Subs", "EulerGamma",
              "Catalan", "GoldenRatio", "TribonacciConstant"):  # fmt: skip
    setattr(_Printer, f"_print_{_head}", _Printer.emptyPrinter)

_PRINTER: Final = _Printer()


def formula(expression: Any) -> str | None:
    """The expression in the language's syntax; None if it has no words there."""
    try:
        return str(_PRINTER.doprint(expression))
    except Unprintable:
        return None


def _rewritings(expression: Any) -> Sequence[Callable[[Any], Any]]:
    """What may shorten an expression. SymPy's general simplification takes a fifth of a
    second to be imported, so it is asked only where functions can meet."""
    if not expression.has(sympy.Add):
        algebra: tuple[Callable[[Any], Any], ...] = ()
    else:
        algebra = sympy.factor, sympy.expand
    functions = {
        part
        for part in sympy.preorder_traversal(expression)
        if part.is_Function or (part.is_Pow and not part.exp.is_Integer)
    }
    return (*algebra, sympy.simplify) if len(functions) > 1 else algebra


def full_form(
    expression: Any, attempt: Callable[[], AbstractContextManager[None]]
) -> str | None:
    """The shortest of a few equal forms, whatever its length; None if the language has
    no words for any. ``attempt`` bounds the time of each rewriting by raising
    `OutOfTime`."""
    best = formula(expression)
    for rewrite in _rewritings(expression):
        try:
            with attempt():
                rewritten = rewrite(expression)
                found = [formula(f) for f in (rewritten, sympy.powsimp(rewritten))]
        except OutOfTime:
            break
        except Exception:
            # SymPy could not rewrite it; what was found before stands.
            continue
        best = min(filter(None, (best, *found)), key=len, default=None)
    return best


def closed_form(expression: Any) -> str | None:
    """The shortest of a few equal forms; None if that is long or costly to find."""
    try:
        if compiled(expression).size > SIMPLIFIABLE:
            return None
    except NoMeaning:
        return None
    forms = [expression, *[f(expression) for f in _rewritings(expression)]]
    printed = [text for text in map(formula, forms) if text is not None]
    best = min(printed, key=len, default=None)
    return best if best is not None and len(best) <= LONGEST else None
