"""Conversion of terms to SymPy's expressions, and their values on balls.

Invariant: nothing recurses; SymPy's trees are built by calling SymPy's functions on its
objects, never from text. A symbol is a Dummy, so no name meets one of SymPy's own.

    book = Expressions()
    e = book.of(term)                           # a SymPy expression
    compiled(e).run(book.values)                # its value at the point
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from math import prod
from typing import Any, Final, TypeAlias

import sympy
from flint import arb

from ..engine.raw import Run
from ..ops import FUNCTIONS
from ..ops.basis import ARITHMETIC
from ..ops.spellings import SPELLINGS
from .balls import (
    NAN,
    ONE,
    START_BITS,
    STEPS,
    UNKNOWN,
    Ball,
    apply,
    ball,
    bessel,
    working,
)
from .system import NoMeaning, Number
from .terms import Term, ordered


def _in_sympy(word: str) -> Run:
    head, *given = word.split()
    function: Run = getattr(sympy, head)
    return partial(function, *map(int, given)) if given else function


FORMULAS: Final[Mapping[str, Run]] = {
    **{name: _in_sympy(s.sympy) for name, s in SPELLINGS.items() if s.sympy},
    **ARITHMETIC,
    "total": sympy.Add,
    "choice": lambda x: x,
    "part": lambda x, size: x,
}
"""SymPy's formulas of scalar functions whose rows have no expression of their own."""


@cache
def formula_of(name: str) -> Run:
    """Return SymPy's formula of a scalar function; raise `NoMeaning` if it has none."""
    entry = FUNCTIONS.get(name)
    if entry is not None and entry.sym:
        return partial(entry.sym, sympy)
    if name in STEPS and name not in FORMULAS:
        raise NoMeaning(f"{STEPS[name].words} has no formula")
    return FORMULAS[name]


def number(value: Number) -> sympy.Expr:
    """Return an exact number as SymPy's."""
    if isinstance(value, Fraction | int):
        return sympy.Rational(value)
    if value != value:
        return sympy.nan
    return sympy.oo if value > 0 else -sympy.oo


class Expressions:
    """The SymPy expressions of terms; each term's is made once."""

    def __init__(self, free: Iterable[int] = ()) -> None:
        """Start without expressions; choices with serials in ``free`` are symbols."""
        self.values: dict[sympy.Dummy, Ball] = {}
        """Values of the symbols at the point."""
        self.free = frozenset(free)
        self.chosen: dict[sympy.Dummy, int] = {}
        """Serials of the choices that symbols stand for."""
        self._made: dict[int, sympy.Expr] = {}
        self._stopped: dict[sympy.Dummy, Term] = {}

    def released(self, expression: sympy.Expr) -> sympy.Expr:
        """Return the expression with stopped terms written out, and with 0 for the
        symbol of a choice, which the value does not depend on."""
        expression = expression.xreplace(dict.fromkeys(self.chosen, sympy.S.Zero))
        while stopped := expression.free_symbols & self._stopped.keys():
            expression = expression.xreplace(
                {s: self.of(self._stopped[s]) for s in stopped}
            )
        return expression

    def of(self, root: Term) -> sympy.Expr:
        made = self._made
        if root.serial not in made:
            for term in ordered([root]):
                if term.serial not in made:
                    made[term.serial] = self._make(term)
        return made[root.serial]

    def _make(self, term: Term) -> sympy.Expr:
        if term.name == "number":
            return number(term.content)
        if term.name in ("symbol", "stop"):
            symbol = sympy.Dummy(str(term.content), real=True)
            self.values[symbol] = term.value
            if term.name == "stop":
                self._stopped[symbol] = term.args[0]
            return symbol
        if term.serial in self.free:
            symbol = sympy.Dummy("chosen", real=True)
            self.values[symbol] = term.value
            self.chosen[symbol] = term.serial
            return symbol
        made = [self._made[a.serial] for a in term.args]
        return formula_of(term.name)(*made)


class Calculator:
    """An arithmetic for an expression's steps; this one computes with balls."""

    def number(self, value: Any) -> Any:
        return ball(value) if isinstance(value, Fraction) else NAMED[value]()

    def apply(self, name: str, *args: Any) -> Any:
        own = _OWN.get(name)
        return apply(name, *args) if own is None else own(*args)


BALLS: Final = Calculator()


@dataclass(frozen=True, slots=True)
class StepProgram:
    """An expression as a list of steps, each on the results of earlier ones."""

    symbols: tuple[tuple[int, sympy.Symbol], ...]
    numbers: tuple[tuple[int, Any], ...]
    steps: tuple[tuple[int, str, tuple[int, ...]], ...]
    size: int

    def run(
        self, values: Mapping[object, object], bits: int = START_BITS,
        calculator: Calculator = BALLS,
    ) -> Any:  # fmt: skip
        """Return the expression's value; raise `NoMeaning` if a symbol has none."""
        results: list[Any] = [None] * self.size
        with working(bits):
            for register, symbol in self.symbols:
                if symbol not in values:
                    raise NoMeaning(f"no value for {symbol}")
                results[register] = values[symbol]
            for register, constant in self.numbers:
                results[register] = calculator.number(constant)
            for register, name, at in self.steps:
                results[register] = calculator.apply(name, *[results[i] for i in at])
        return results[self.size - 1]


NAMED: Final[dict[sympy.Expr, Callable[[], Ball]]] = {
    sympy.pi: arb.pi,
    sympy.E: arb.const_e,
    sympy.oo: arb.pos_inf,
    -sympy.oo: arb.neg_inf,
    sympy.zoo: lambda: NAN,
    sympy.nan: lambda: NAN,
    sympy.EulerGamma: arb.const_euler,
}


Step: TypeAlias = "tuple[str, tuple[sympy.Expr, ...]]"
"""Name of a function, and the expressions that it is applied to."""


_OWN: Final[dict[str, Run]] = {
    "Mul": lambda *factors: prod(factors, start=ONE),
    **{f"bessel{kind}": partial(bessel, kind) for kind in "ijyk"},
    "zeta": lambda s, *a: s.zeta(*a),
    "lowergamma": lambda a, x: x.gamma_lower(a),
    "uppergamma": lambda a, x: x.gamma_upper(a),
    "DiracDelta": lambda x, *order: UNKNOWN if x.contains(0) else ball(0),
    "Heaviside": lambda x, *at: UNKNOWN if x.contains(0) else ball(int(x > 0)),
}
"""Functions on balls that occur only in SymPy's derivatives, by SymPy's name."""

_REWRITTEN: Final[dict[type[sympy.Expr], Callable[[sympy.Expr], Step]]] = {
    sympy.cot: lambda x: ("div", (sympy.cos(x), sympy.sin(x))),
    sympy.sec: lambda x: ("div", (sympy.S.One, sympy.cos(x))),
    sympy.csc: lambda x: ("div", (sympy.S.One, sympy.sin(x))),
    sympy.coth: lambda x: ("div", (sympy.S.One, sympy.tanh(x))),
    sympy.sech: lambda x: ("div", (sympy.S.One, sympy.cosh(x))),
    sympy.csch: lambda x: ("div", (sympy.S.One, sympy.sinh(x))),
    sympy.sinc: lambda x: ("sinc", (x / sympy.pi,)),
}
"""Makers of a step that computes a SymPy function by another function, by class."""

_HEADS: Final[dict[type[sympy.Expr], str]] = {
    formula: name for name, formula in FORMULAS.items() if isinstance(formula, type)
} | {sympy.Pow: "pow", **{getattr(sympy, name): name for name in _OWN}}
"""Names of the functions that compute SymPy's classes."""


def compiled(expression: sympy.Expr) -> StepProgram:
    """Return an expression as a program, in which equal parts are one step; raise
    `NoMeaning` if there is no function that computes a part."""
    registers: dict[sympy.Expr, int] = {}
    symbols = []
    numbers: list[tuple[int, Any]] = []
    steps: list[tuple[int, str, tuple[int, ...]]] = []
    stack = [(expression, False)]
    while stack:
        part, ready = stack.pop()
        if part in registers:
            continue
        register = len(registers)
        if part in NAMED:
            numbers.append((register, part))
        elif part.is_Rational:
            numbers.append((register, Fraction(int(part.p), int(part.q))))
        elif part.is_Symbol:
            symbols.append((register, part))
        else:
            function, args = _step(part)
            if not ready:
                stack.append((part, True))
                stack.extend((a, False) for a in args)
                continue
            steps.append((register, function, tuple(registers[a] for a in args)))
        registers[part] = register
    return StepProgram(tuple(symbols), tuple(numbers), tuple(steps), len(registers))


def _step(part: sympy.Expr) -> Step:
    rewrite = _REWRITTEN.get(part.func)
    if rewrite is not None:
        return rewrite(*part.args)
    name = _HEADS.get(part.func)
    if name is None:
        raise NoMeaning(f"{part.func.__name__} has no numeric meaning here")
    return name, part.args
