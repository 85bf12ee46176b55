"""From terms to SymPy, and from SymPy to numbers, both without recursion.

Invariant: SymPy's trees are built by calling SymPy's functions on SymPy's objects,
never from text; a symbol is a Dummy, so no name means more than it says.

    book = Expressions()
    e = book.of(term)                           # a SymPy expression
    compiled(e).run(EXACT, book.values)         # its value at the point
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final

import sympy

from .precision import guarded, held, jostled, whole_power
from .scalars import HEADS, SCALARS
from .system import Number
from .term import Term, ordered


class NoMeaning(ValueError):
    """SymPy has no expression here, or one that is not a number."""


def number(value: Number) -> Any:
    """An exact number as SymPy's."""
    if isinstance(value, Fraction):
        return sympy.Rational(value.numerator, value.denominator)
    if isinstance(value, int):
        return sympy.Integer(value)
    if value != value:
        return sympy.nan
    return sympy.oo if value > 0 else -sympy.oo


class Expressions:
    """The SymPy expressions of terms; each term's is made once."""

    def __init__(self, free: Iterable[int] = ()) -> None:
        """``free`` are the choices that stand as symbols, by serial."""
        self.values: dict[Any, Any] = {}
        """The point: a value for each symbol."""
        self.free = frozenset(free)
        self.chosen: dict[Any, int] = {}
        """The symbols of choices, and which choice each is."""
        self._made: dict[int, Any] = {}
        self._held: dict[Any, Term] = {}

    def released(self, expression: Any) -> Any:
        """The expression with all that was held constant written out again.

        A choice that stands as a symbol is one that the expression does not depend on,
        so any number may stand for it.
        """
        expression = expression.xreplace(dict.fromkeys(self.chosen, sympy.S.Zero))
        while held := expression.free_symbols & self._held.keys():
            expression = expression.xreplace({s: self.of(self._held[s]) for s in held})
        return expression

    def of(self, root: Term) -> Any:
        made = self._made
        if root.serial not in made:
            for term in ordered([root]):
                if term.serial not in made:
                    made[term.serial] = self._make(term)
        return made[root.serial]

    def _make(self, term: Term) -> Any:
        if term.name == "number":
            return number(term.content)
        if term.name in ("symbol", "stop"):
            symbol = sympy.Dummy(str(term.content), real=True)
            self.values[symbol] = term.value
            if term.name == "stop":
                self._held[symbol] = term.args[0]
            return symbol
        if term.serial in self.free:
            symbol = sympy.Dummy("chosen", real=True)
            self.values[symbol] = term.value
            self.chosen[symbol] = term.serial
            return symbol
        made = [self._made[a.serial] for a in term.args]
        return SCALARS[term.name].sympy(*made)


@dataclass(frozen=True, slots=True)
class Program:
    """An expression as a list of steps, each on the results of earlier ones."""

    symbols: tuple[tuple[int, Any], ...]
    numbers: tuple[tuple[int, Any], ...]
    steps: tuple[tuple[int, Any, tuple[int, ...]], ...]
    size: int

    def run(self, context: Any, values: Mapping[Any, Any]) -> Any:
        """The expression's value.

        Raises:
            NoMeaning: a symbol without a value.
        """
        results: list[Any] = [None] * self.size
        for place, symbol in self.symbols:
            if symbol not in values:
                raise NoMeaning(f"no value for {symbol}")
            results[place] = context.mpf(values[symbol])
        for place, constant in self.numbers:
            results[place] = _constant(context, constant)
        for place, function, at in self.steps:
            arguments = [results[i] for i in at]
            if function is HEADS[sympy.Add]:
                arguments = [*jostled(context, arguments)]
            results[place] = held(context, guarded(context, function, *arguments))
        return results[self.size - 1]


_NAMED: Final = {
    sympy.pi: lambda m: m.mpf(m.pi),
    sympy.E: lambda m: m.mpf(m.e),
    sympy.oo: lambda m: m.inf,
    -sympy.oo: lambda m: -m.inf,
    sympy.zoo: lambda m: m.nan,
    sympy.nan: lambda m: m.nan,
    sympy.EulerGamma: lambda m: m.mpf(m.euler),
}


@lru_cache(maxsize=4096)
def _constant(context: Any, constant: Any) -> Any:
    named = _NAMED.get(constant)
    if named is not None:
        return named(context)
    return context.mpf(int(constant.p)) / int(constant.q)


def compiled(expression: Any) -> Program:
    """The steps of an expression, equal parts once.

    Raises:
        NoMeaning: a part is nothing that has a real value here.
    """
    places: dict[Any, int] = {}
    symbols: list[tuple[int, Any]] = []
    numbers: list[tuple[int, Any]] = []
    steps: list[tuple[int, Any, tuple[int, ...]]] = []
    stack = [(expression, False)]
    while stack:
        part, ready = stack.pop()
        if part in places:
            continue
        place = len(places)
        if part in _NAMED or part.is_Rational:
            numbers.append((place, part))
        elif part.is_Symbol:
            symbols.append((place, part))
        elif not ready:
            stack.append((part, True))
            stack.extend((a, False) for a in part.args)
            continue
        else:
            function, args = _step(part)
            steps.append((place, function, tuple(places[a] for a in args)))
        places[part] = place
    return Program(tuple(symbols), tuple(numbers), tuple(steps), len(places))


def _step(part: Any) -> tuple[Any, tuple[Any, ...]]:
    """What computes a part, and from which of its arguments."""
    if part.is_Pow and part.exp.is_Integer:
        return partial(whole_power, int(part.exp)), (part.base,)
    function = HEADS.get(part.func)
    if function is None:
        raise NoMeaning(f"{part.func.__name__} has no numeric meaning here")
    return function, part.args
