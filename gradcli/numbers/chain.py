"""The chain rule, re-summed scalar by scalar with 50 digits.

Each scalar function's derivative is SymPy's; what this module adds is the sum over
paths, so a gradient costs a few times the program itself, where SymPy's expression of
the whole would explode. The engine's rules have no part in it.

Invariant: every quantity is computed in the context that is handed in, so the same
passes at the engine's own precision tell what rounding alone may cost.

    gradient([output], [1.0])      # 50 digits, per symbol's serial
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy

from .expressions import Program, compiled, number
from .precision import EXACT, held
from .scalars import SCALARS
from .system import exact, to_context
from .term import Term, ordered
from .values import Known, values_in

_LINEAR = {"add": (1, 1), "sub": (1, -1), "neg": (-1,), "choice": (1,)}


@dataclass(frozen=True, slots=True)
class Derivative:
    """SymPy's partial derivative of one scalar function, ready to run.

    ``symbols`` are those that it depends on, with their arguments' positions.
    """

    program: Program
    symbols: tuple[tuple[int, Any], ...]


@cache
def derivative(name: str, position: int, literals: tuple[Any, ...]) -> Derivative:
    """Of the function ``name`` in argument ``position``.

    ``literals`` holds a number where an argument is part of the formula, else None.
    """
    symbols = tuple(sympy.Dummy(f"x{i}", real=True) for i in range(len(literals)))
    given = [
        s if literal is None else number(literal)
        for s, literal in zip(symbols, literals, strict=True)
    ]
    formula = SCALARS[name].sympy(*given)
    program = compiled(sympy.diff(formula, symbols[position]))
    used = {symbol for _, symbol in program.symbols}
    return Derivative(
        program, tuple((i, s) for i, s in enumerate(symbols) if s in used)
    )


def partial(context: Any, term: Term, position: int, values: Sequence[Any]) -> Any:
    """The derivative of a term in one argument, at the arguments' values."""
    if term.name == "total":
        return context.one

    def literal(place: int) -> Any:
        argument = term.args[place]
        return argument.content if argument.name == "number" else None

    return slope(context, term.name, position, len(values), values.__getitem__, literal)


def slope(
    context: Any, name: str, position: int, arity: int,
    value: Callable[[int], Any], literal: Callable[[int], Any],
) -> Any:  # fmt: skip
    """The derivative of a scalar function in one argument.

    ``value`` tells an argument's value and is asked for no more than is needed;
    ``literal`` the number that an argument is written as, or None.
    """
    if name in _LINEAR:
        return context.one if _LINEAR[name][position] > 0 else -context.one
    if name == "mul":
        return value(1 - position)
    scalar = SCALARS[name]
    if scalar.filled is not None:
        found = scalar.filled(context, position, *[value(i) for i in range(arity)])
        if found is not None:
            return found
    taken = literal if scalar.literal else _none
    rule = derivative(name, position, tuple([taken(i) for i in range(arity)]))
    return rule.program.run(context, {s: value(i) for i, s in rule.symbols})


def _none(place: int) -> None:
    return None


def gradient(
    outputs: Sequence[Term],
    cotangents: Sequence[float],
    context: Any = EXACT,
    known: Known | None = None,
) -> dict[int, Any]:
    """The derivative of the sum of ``cotangent * output`` in every symbol below."""
    terms = ordered(outputs)
    values = values_in(context, terms, known)
    arrived: dict[int, Any] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        given = to_context(context, exact(cotangent))
        _add(arrived, output.serial, given)
    for term in reversed(terms):
        g = arrived.get(term.serial)
        if g is None or term.constant or term.name in ("symbol", "stop"):
            continue
        at = [values[a.serial] for a in term.args]
        for position, argument in enumerate(term.args):
            if argument.constant:
                continue
            step = partial(context, term, position, at)
            part = g if step is context.one else g * step
            _add(arrived, argument.serial, held(context, part))
    return {t.serial: arrived.get(t.serial, context.zero) for t in terms if _entry(t)}


def _entry(term: Term) -> bool:
    return term.name == "symbol"


def _add(into: dict[int, Any], key: int, value: Any) -> None:
    into[key] = into[key] + value if key in into else value


def below(term: Term) -> set[int]:
    """The serials of the input entries that a term is made of."""
    return {t.serial for t in ordered([term]) if _entry(t)}
