"""Formulas of derivatives, short, in gradcli's own syntax; and the texts of side
conditions, of kinks, and of reasons why a value is undefined.

Invariants: the text of a formula reads back as the same function: names are those of
the program, functions have the table's names, and no word is SymPy's alone. Conditions
that are left out are counted, unless they follow from those shown or nothing depends on
them.

    closed_form(2*x*cos(x**2))                  # "2*x*cos(x**2)"
    side_conditions(terms, outputs, settled)    # ("x > 0",) of sqrt(x)*log(x)
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from decimal import Context, Decimal, Inexact, localcontext
from typing import Any, Final, NamedTuple

import sympy
from sympy.core.function import FunctionClass
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from ..ops import OPS
from ..ops.spellings import SPELLINGS
from .balls import LEAVES, STEPS, is_infinite, is_nan, to_float
from .expressions import Expressions, compiled
from .process.budget import OutOfTime
from .process.job import LEFT_OUT, MAX_FORM_CHARACTERS
from .system import RELATIONS, NoMeaning
from .terms import Decision, Term, Terms, ordered

MAX_SHORTENED_STEPS: Final = 40

MAX_SHORTENED_SIZE: Final = 1_200
"""Largest product of an expression's number of symbols and its length in characters for
which short forms are looked for: SymPy takes a time that grows exponentially with the
number of symbols."""

MIN_DECIMAL_DENOMINATOR: Final = 100
MAX_DECIMAL_DIGITS: Final = 40
MAX_SHOWN_CONDITIONS: Final = 12
MAX_CONSIDERED_CONDITIONS: Final = 8 * MAX_SHOWN_CONDITIONS
MAX_SHOWN_TERM_NODES: Final = 24
MAX_SHOWN_TERM_CHARACTERS: Final = 60
MAX_IMPLIED_TERM_NODES: Final = 200

PART: Final = "a part of the program"
"""Text that stands for a term that is too long to show."""

_NAMES: Final = {
    (head, *map(sympy.Integer, given)): name
    for name, spelled in SPELLINGS.items()
    for word, *given in [(spelled.sympy or "sqrt").split()]
    if isinstance(head := getattr(sympy, word), FunctionClass)
}
"""Names of functions in the language, by SymPy's function with the arguments that it
takes before the others. A root is not among them, because SymPy makes it a power."""


class FormulaText(NamedTuple):
    """A formula in the language's own syntax, and as LaTeX, where each symbol stands
    between U+E000 and U+E001, so that whoever shows it decides how names look."""

    text: str
    latex: str


class Unprintable(ValueError):
    """An error: the language cannot write a part of the expression."""


class _Printer(StrPrinter):  # type: ignore[misc]
    """A printer of expressions that uses the language's names."""

    def _print_Dummy(self, expr: sympy.Expr) -> str:
        return str(expr.name)

    def _print_Function(self, expr: sympy.Expr) -> str:
        for count in (0, 1):
            name = _NAMES.get((expr.func, *expr.args[:count]))
            if name is not None:
                return self._call(name, expr.args[count:])
        raise Unprintable(expr.func.__name__)

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


for _head in ("Infinity", "NegativeInfinity", "ComplexInfinity", "NaN", "ImaginaryUnit",
              "Relational", "Piecewise", "Derivative", "Subs", "EulerGamma",
              "Catalan", "GoldenRatio", "TribonacciConstant"):  # fmt: skip
    setattr(_Printer, f"_print_{_head}", _Printer.emptyPrinter)


class _LatexPrinter(LatexPrinter):  # type: ignore[misc]
    """A printer of LaTeX that marks symbols instead of writing them."""

    def _print_Dummy(self, expr: sympy.Expr) -> str:
        return f"\ue000{expr.name}\ue001"

    _print_Symbol = _print_Dummy

    def _print_loggamma(self, expr: sympy.Expr, exp: str | None = None) -> str:
        return self._filled(OPS["lgamma"].latex, exp, *expr.args)

    def _print_polygamma(self, expr: sympy.Expr, exp: str | None = None) -> str:
        order, x = expr.args
        row = OPS["polygamma.order" if order else "digamma"]
        return self._filled(row.latex, exp, x, n=order)

    def _filled(
        self, latex: str, exp: str | None, *args: object, **named: object
    ) -> str:
        """Return a row's LaTeX for a function that SymPy has no sign for."""
        text = latex.format(*map(self._print, args), **named)
        return text if exp is None else rf"\left({text}\right)^{{{exp}}}"


_PRINTER: Final = _Printer()
_LATEX: Final = _LatexPrinter()


def _quotient(fraction: sympy.Rational) -> str:
    return f"{int(fraction.p)}/{int(fraction.q)}"


def _decimal(fraction: sympy.Rational) -> str | None:
    """Return a fraction as a decimal; None if it is better written as a quotient."""
    p, q = int(fraction.p), int(fraction.q)
    if q < MIN_DECIMAL_DENOMINATOR:
        return None
    try:
        number = p / q
    except OverflowError:
        return None
    if sympy.Rational(repr(number)) == fraction:
        return repr(number)
    with localcontext(Context(prec=MAX_DECIMAL_DIGITS, traps=[])) as context:
        found = Decimal(p) / Decimal(q)
        return None if context.flags[Inexact] else str(found).lower()


def formula(expression: object) -> str | None:
    """Return the expression in the language's syntax; None if it cannot be written."""
    try:
        return str(_PRINTER.doprint(expression))
    except Unprintable:
        return None


def _forms(
    expression: sympy.Expr, holds: Callable[[object], bool],
    attempt: Callable[[], AbstractContextManager[None]] = nullcontext,
    more: Callable[[Any], Sequence[Any]] = lambda form: (form,),
) -> dict[Any, str]:  # fmt: skip
    """Return an expression and rewritings of it, with their texts. SymPy's general
    simplification is slow to import, so it is tried only if there are several
    functions."""
    functions = {
        part
        for part in sympy.preorder_traversal(expression)
        if part.is_Function or (part.is_Pow and not part.exp.is_Integer)
    }
    rewritings = [sympy.factor, sympy.expand] if expression.has(sympy.Add) else []
    texts = {expression: formula(expression)}
    for rewrite in [*rewritings, *([sympy.simplify] if len(functions) > 1 else [])]:
        try:
            with attempt():
                texts |= {form: formula(form) for form in more(rewrite(expression))}
        except OutOfTime:
            break
        except Exception:
            # SymPy could not rewrite it; the forms found before are kept.
            continue
    return {form: text for form, text in texts.items() if text and holds(form)}


def full_form(
    expression: sympy.Expr, attempt: Callable[[], AbstractContextManager[None]],
    holds: Callable[[object], bool] = lambda form: True,
) -> FormulaText | None:  # fmt: skip
    """Return the shortest of a few equal forms, however long; None if the language can
    write none. ``attempt`` bounds the time of each rewriting by raising `OutOfTime`;
    ``holds`` tells whether a form has the derivative's value at the point."""
    merged = lambda form: (form, sympy.powsimp(form))
    texts = _forms(expression, holds, attempt, merged)
    if not texts:
        return None
    best = min(texts, key=lambda form: len(texts[form]))
    decimals = {
        each: sympy.Float(number)
        for each in best.atoms(sympy.Rational)
        if (number := _decimal(each)) is not None
    }
    return FormulaText(texts[best], str(_LATEX.doprint(best.xreplace(decimals))))


def closed_form(
    expression: sympy.Expr, holds: Callable[[object], bool] = lambda form: True
) -> str | None:
    """Return the shortest of a few equal forms; None if that is long or costly to find.
    ``holds`` is as for `full_form`."""
    try:
        if compiled(expression).size > MAX_SHORTENED_STEPS:
            return None
        length = len(formula(expression) or "")
        if length * len(expression.free_symbols) > MAX_SHORTENED_SIZE:
            return None
    except NoMeaning:
        return None
    best = min(_forms(expression, holds).values(), key=len, default=None)
    return best if best is not None and len(best) <= MAX_FORM_CHARACTERS else None


# conditions and kinks


def shown(term: Term, book: Expressions | None = None) -> str | None:
    """Return a term in the language's syntax; None if that is too long."""
    if term.size > MAX_SHOWN_TERM_NODES:
        return None
    try:
        text = formula(_written(book or Expressions(), term))
    except (ValueError, RecursionError):
        return None
    return text if text is not None and len(text) <= MAX_SHOWN_TERM_CHARACTERS else None


def _written(book: Expressions, term: Term) -> sympy.Expr:
    """Return a term's expression, with the constants that it holds written out."""
    return book.released(book.of(term))


def side_conditions(
    terms: Terms, made: Sequence[Term], settled: frozenset[int] = frozenset()
) -> tuple[str, ...]:
    """Return the conditions of formulas, at most a dozen, and a count of the others. A
    proof is about the terms ``made``; nothing depends on the choices ``settled``."""
    picked = [
        decision
        for serial, decisions in terms.choices.items()
        if serial not in settled
        for decision in decisions
    ]
    inside = filter(_holds, terms.domains(ordered(made)))
    met = {frozenset((t.left.serial, t.right.serial)) for t in terms.exact_ties()}
    decided: dict[object, Decision] = {}
    for each in (*terms.decisions.values(), *picked, *inside):
        # One made at a tie becomes an equation, because the reverse pass was seen only
        # where the sides are equal.
        at_tie = frozenset((each.left.serial, each.right.serial)) in met
        kept = replace(each, relation="==") if at_tie else each
        decided.setdefault((kept.relation, kept.left.serial, kept.right.serial), kept)
    # A condition that excludes one point often follows from others, so it is last, and
    # `2*y != 0` from `y != 0`.
    last = sorted(decided.values(), key=_size_where_one_point_is_excluded)
    every = list(_independent(last))
    known = list(dict.fromkeys(text for text in every if text is not None))
    hidden = len(known[MAX_SHOWN_CONDITIONS:]) + every.count(None)
    if hidden and not known:
        return (f"{LEFT_OUT}: {hidden}",)
    more = (f"and {hidden} more",) if hidden else ()
    return (*known[:MAX_SHOWN_CONDITIONS], *more)


def _size_where_one_point_is_excluded(decision: Decision) -> int:
    if decision.relation != "!=":
        return 0
    return decision.left.size + decision.right.size


def indifferent(terms: Terms, free: Iterable[int]) -> frozenset[int]:
    """Return those of the choices ``free`` that decide nothing: no branch was taken and
    no number rounded by looking at the chosen value, and the reverse pass did not use
    it. The program's formula must not depend on the choices ``free``."""
    settled = frozenset(free) & terms.choices.keys()
    while True:
        looked_at = list(terms.looked_at.values())
        for serial, decisions in terms.choices.items():
            if serial not in settled:
                looked_at += [s for d in decisions for s in (d.left, d.right)]
        left = settled - {term.serial for term in ordered(looked_at)}
        if left == settled:
            return settled
        settled = left


def kinks_shown(terms: Terms, own: Mapping[int, str]) -> tuple[str, ...]:
    """Return descriptions of the ties and poles that the point lies on.

    ``own`` are the program's kinks; those met only by the reverse pass are shown if
    there are no others. Kinks of terms made only of terms already shown are left out:
    where x is 0, so is 2*x.
    """
    on = [*(own or terms.kinks).items()][:MAX_CONSIDERED_CONDITIONS]
    fixed: set[int] = set()
    for step, _ in sorted(on):
        if not _follows(terms.made[step], fixed):
            fixed.add(step)
    poles = [
        f"{what}: {shown(term) or PART} = {to_float(term.value)!r}"
        for step, what in on
        if step in fixed
        for term in (terms.made[step],)
    ]
    ties = []
    for tie in [*terms.ties.values()][:MAX_CONSIDERED_CONDITIONS]:
        left, right = tie.left, tie.right
        if not (_follows(left, fixed) and _follows(right, fixed)):
            ties.append(f"{shown(left) or PART} == {shown(right) or PART}")
            fixed |= {a.serial for a, b in ((left, right), (right, left)) if b.constant}
    return (*poles[:MAX_SHOWN_CONDITIONS], *dict.fromkeys(ties[:MAX_SHOWN_CONDITIONS]))


def _follows(term: Term, fixed: Container[int]) -> bool:
    """Tell whether a term is small and made of constants and ``fixed`` terms alone."""
    return term.size <= MAX_IMPLIED_TERM_NODES and all(
        each.name != "symbol" for each in ordered([term], fixed)
    )


def undefined(terms: Terms, output: Term) -> str:
    """Return why an output has no value: the first function below it whose argument is
    outside its domain."""
    for term in ordered([output]):
        lost = is_nan(term.value) or is_infinite(term.value)
        if lost and term.name in LEAVES:
            named = term.name == "symbol"
            what = f"the input {term.content}" if named else "a constant"
            return f"{what} is {to_float(term.value)!r}"
        if lost or terms.is_outside(term):
            own = STEPS[term.name].words if term.name in STEPS else None
            words = {"div": "a quotient", "pow": "a power"}
            called = own or words.get(term.name, term.name)
            for asked in terms.domains([term], constants=True):
                if not _holds(asked):
                    return f"{called} needs {_needed(asked)}"
            return f"{called} gives {to_float(term.value)!r}"
    return "its value is not a number"


def _needed(decision: Decision) -> str:
    sentence = _sentence(decision)
    if sentence is None or not Expressions().of(decision.left).free_symbols:
        return f"an argument {decision.relation} {shown(decision.right)}"
    return sentence


def _holds(decision: Decision) -> bool:
    relation = RELATIONS[decision.relation]
    left, right = decision.left.value, decision.right.value
    if not (left.is_finite() and right.is_finite()):
        return bool(relation(to_float(left), to_float(right)))
    return bool(relation((left - right).mid(), 0))


def _independent(decisions: Iterable[Decision]) -> Iterator[str | None]:
    """Yield decisions as text, None if too long; those that follow are left out."""
    facts, book = Facts(), Expressions()
    for position, decision in enumerate(decisions):
        size = decision.left.size + decision.right.size
        if position >= MAX_CONSIDERED_CONDITIONS or size > MAX_IMPLIED_TERM_NODES:
            yield None
            continue
        try:
            gap = _written(book, decision.left) - _written(book, decision.right)
        except NoMeaning:
            yield None
            continue
        if not facts.imply(gap, decision.relation):
            facts.add(gap, decision.relation)
            yield _sentence(decision, book)


def _sentence(decision: Decision, book: Expressions | None = None) -> str | None:
    left, right = shown(decision.left, book), shown(decision.right, book)
    if left is None or right is None:
        return None
    return f"{left} {decision.relation} {right}"


_ASKED: Final = {
    ">": "is_positive",
    ">=": "is_nonnegative",
    "<": "is_negative",
    "<=": "is_nonpositive",
    "!=": "is_nonzero",
    "==": "is_zero",
}
_TURNED: Final = {"<": ">", "<=": ">="}


class Facts:
    """A set of relations of quantities to zero that are taken as given."""

    def __init__(self) -> None:
        self._substitutes: dict[object, object] = {}

    def imply(self, quantity: sympy.Expr, relation: str) -> bool:
        """Tell whether ``quantity relation 0`` holds wherever the facts do."""
        known = quantity.xreplace(self._substitutes)
        return getattr(known, _ASKED[relation]) is True

    def add(self, quantity: sympy.Expr, relation: str) -> None:
        """Add ``quantity relation 0`` to the facts."""
        if relation in _TURNED:
            quantity, relation = -quantity, _TURNED[relation]
        if relation == "!=":
            _, quantity = quantity.as_coeff_Mul()
            if quantity not in self._substitutes:
                self._stand_in(quantity, sympy.Dummy(nonzero=True, real=True))
            return
        gap = sympy.S.Zero
        if relation != "==":
            known = {"positive" if relation == ">" else "nonnegative": True}
            gap = sympy.Dummy(**known)
        # A symbol plus a constant is replaced by the symbol, which may tell its sign.
        constant, rest = quantity.as_coeff_Add()
        factor, symbol = rest.as_coeff_Mul()
        if symbol.is_Symbol and (constant <= 0 or gap.is_zero):
            self._stand_in(symbol, (gap - constant) / factor)
        else:
            self._stand_in(quantity, gap)

    def _stand_in(self, quantity: sympy.Expr, known: sympy.Expr) -> None:
        if not quantity.is_number:
            self._substitutes |= {quantity: known, -quantity: -known}
