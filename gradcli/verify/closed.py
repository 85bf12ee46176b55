"""Formulas of derivatives, short, in gradcli's own syntax.

Invariant: the text of a formula reads back as the same function: names are those of the
program, functions have the table's names, and no word is SymPy's alone.

    closed_form(2*x*cos(x**2))      # "2*x*cos(x**2)"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from decimal import Context, Decimal, Inexact, localcontext
from typing import Final, NamedTuple

import sympy
from sympy.core.function import FunctionClass
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from ..numbers.expressions import compiled
from ..numbers.system import NoMeaning
from ..ops import OPS
from ..ops.spellings import SPELLINGS
from .process.budget import OutOfTime
from .process.job import MAX_FORM_CHARACTERS

MAX_SHORTENED_STEPS: Final = 40
"""Largest number of steps of an expression that is rewritten to be shorter."""

MIN_DECIMAL_DENOMINATOR: Final = 100
"""Smallest denominator of a fraction that is written as a decimal."""

MAX_DECIMAL_DIGITS: Final = 40
"""Largest number of digits of a fraction that is written as a decimal."""

_NAMES: Final = {
    (head, *map(sympy.Integer, given)): name
    for name, spelled in SPELLINGS.items()
    for word, *given in [(spelled.sympy or "sqrt").split()]
    if isinstance(head := getattr(sympy, word), FunctionClass)
}
"""Names of functions in the language, by SymPy's function with the arguments that it
takes before the others. A root is not among them, because SymPy makes it a power."""


class Form(NamedTuple):
    """A formula in the language's own syntax, and as LaTeX.

    In the LaTeX a symbol stands between U+E000 and U+E001, so that whoever shows it
    decides how names look.
    """

    text: str
    latex: str


class Unprintable(ValueError):
    """An error: the language cannot write a part of the expression."""


class _Printer(StrPrinter):  # type: ignore[misc]
    """A printer of expressions that uses the language's names."""

    def _print_Dummy(self, expr: sympy.Expr) -> str:
        return str(expr.name)

    def _print_Function(self, expr: sympy.Expr) -> str:
        name = _NAMES.get((expr.func,))
        if name is not None:
            return self._call(name, expr.args)
        name = _NAMES.get((expr.func, *expr.args[:1]))
        if name is None:
            raise Unprintable(expr.func.__name__)
        return self._call(name, expr.args[1:])

    def _print_polygamma(self, expr: sympy.Expr) -> str:
        order, x = expr.args
        if order == 0:
            return self._call("digamma", (x,))
        return self._call("polygamma", (order, x))

    def _print_sinc(self, expr: sympy.Expr) -> str:
        return self._call("sinc", (expr.args[0] / sympy.pi,))

    def _print_Exp1(self, expr: object) -> str:
        return "exp(1)"

    def _print_Rational(self, expr: sympy.Expr) -> str:
        return _decimal(expr) or _quotient(expr)

    def _print_Mul(self, expr: sympy.Expr) -> str:
        factor, rest = expr.as_coeff_Mul()
        number = _decimal(factor) if factor.is_Rational else None
        if number is None or len(number) >= len(_quotient(factor)):
            return str(super()._print_Mul(expr))
        product = self.parenthesize(rest, PRECEDENCE["Mul"])
        lone = product.startswith("1/")
        return number + (product[1:] if lone else f"*{product}")

    def _call(self, name: str, args: object) -> str:
        return f"{name}({self.stringify(args, ', ')})"

    def emptyPrinter(self, expr: object) -> str:
        raise Unprintable(type(expr).__name__)


class _LatexPrinter(LatexPrinter):  # type: ignore[misc]
    """A printer of LaTeX that marks symbols instead of writing them."""

    def _print_Dummy(self, expr: sympy.Expr) -> str:
        return f"\ue000{expr.name}\ue001"

    _print_Symbol = _print_Dummy

    def _print_loggamma(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._filled(OPS["lgamma"].latex, exp, *expr.args)

    def _print_polygamma(self, expr: sympy.Expr, exp: str | None = None) -> str:
        order, x = expr.args
        if order == 0:
            return self._filled(OPS["digamma"].latex, exp, x)
        return self._filled(OPS["polygamma.order"].latex, exp, x, n=order)

    def _filled(
        self, latex: str, exp: str | None, *args: object, **named: object
    ) -> str:
        """Return a row's LaTeX for a function that SymPy has no sign for."""
        text = latex.format(*map(self._print, args), **named)
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


def _quotient(fraction: sympy.Rational) -> str:
    return f"{int(fraction.p)}/{int(fraction.q)}"


def _decimal(fraction: sympy.Rational) -> str | None:
    """Return a fraction as a decimal; None if it is better written as a quotient."""
    if fraction.q < MIN_DECIMAL_DENOMINATOR:
        return None
    p, q = int(fraction.p), int(fraction.q)
    try:
        number = p / q
    except OverflowError:
        return None
    if sympy.Rational(repr(number)) == fraction:
        return repr(number)
    with localcontext(Context(prec=MAX_DECIMAL_DIGITS, traps=[])) as context:
        found = Decimal(p) / Decimal(q)
        return None if context.flags[Inexact] else str(found).lower()


for _head in ("Infinity", "NegativeInfinity", "ComplexInfinity", "NaN", "ImaginaryUnit",
              "Relational", "Piecewise", "Derivative", "Subs", "EulerGamma",
              "Catalan", "GoldenRatio", "TribonacciConstant"):  # fmt: skip
    setattr(_Printer, f"_print_{_head}", _Printer.emptyPrinter)

_PRINTER: Final = _Printer()

_LATEX: Final = _LatexPrinter()


def formula(expression: object) -> str | None:
    """Return the expression in the language's syntax; None if it cannot be written."""
    try:
        return str(_PRINTER.doprint(expression))
    except Unprintable:
        return None


def _rewritings(expression: sympy.Expr) -> Sequence[Callable[[object], object]]:
    """Return SymPy's functions that may shorten an expression. Its general
    simplification is slow to import, so it is added only if there are several
    functions."""
    if not expression.has(sympy.Add):
        algebra: tuple[Callable[[object], object], ...] = ()
    else:
        algebra = sympy.factor, sympy.expand
    functions = {
        part
        for part in sympy.preorder_traversal(expression)
        if part.is_Function or (part.is_Pow and not part.exp.is_Integer)
    }
    return (*algebra, sympy.simplify) if len(functions) > 1 else algebra


def full_form(
    expression: sympy.Expr, attempt: Callable[[], AbstractContextManager[None]],
    holds: Callable[[object], bool] = lambda form: True,
) -> Form | None:  # fmt: skip
    """Return the shortest of a few equal forms, however long; None if the language can
    write none. ``attempt`` bounds the time of each rewriting by raising `OutOfTime`;
    ``holds`` tells whether a form has the derivative's value at the point."""
    texts = {expression: formula(expression)}
    for rewrite in _rewritings(expression):
        try:
            with attempt():
                rewritten = rewrite(expression)
                forms = rewritten, sympy.powsimp(rewritten)
                texts |= {form: formula(form) for form in forms}
        except OutOfTime:
            break
        except Exception:
            # SymPy could not rewrite it; the forms found before are kept.
            continue
    written = {
        form: text for form, text in texts.items() if text is not None and holds(form)
    }
    if not written:
        return None
    best = min(written, key=lambda form: len(written[form]))
    decimals = {
        each: sympy.Float(number)
        for each in best.atoms(sympy.Rational)
        if (number := _decimal(each)) is not None
    }
    return Form(written[best], str(_LATEX.doprint(best.xreplace(decimals))))


def closed_form(
    expression: object, holds: Callable[[object], bool] = lambda form: True
) -> str | None:
    """Return the shortest of a few equal forms; None if that is long or costly to find.
    ``holds`` is as for `full_form`."""
    try:
        if compiled(expression).size > MAX_SHORTENED_STEPS:
            return None
    except NoMeaning:
        return None
    forms = [expression, *[f(expression) for f in _rewritings(expression)]]
    printed = [text for form in forms if (text := formula(form)) and holds(form)]
    best = min(printed, key=len, default=None)
    return best if best is not None and len(best) <= MAX_FORM_CHARACTERS else None
