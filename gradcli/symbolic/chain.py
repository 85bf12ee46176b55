"""The chain rule, re-summed scalar by scalar with 50 digits.

Each scalar function's derivative is SymPy's; what this module adds is the sum over
paths, so a gradient costs a few times the program itself, where SymPy's expression of
the whole would explode. The engine's rules have no part in it.

Invariant: every quantity is computed in the context that is handed in, so the same
passes at the engine's own precision tell what rounding alone may cost.

    gradient(output, [x, y]).exact      # 50 digits, one per symbol
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy

from .expressions import Program, compiled, number
from .precision import EXACT, guarded
from .scalars import SCALARS
from .system import exact, to_context
from .terms import Term, ordered

_LINEAR = {"add": (1, 1), "sub": (1, -1), "neg": (-1,), "choice": (1,)}


@dataclass(frozen=True, slots=True)
class Derivative:
    """SymPy's partial derivative of one scalar function, ready to run."""

    program: Program
    symbols: tuple[Any, ...]


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
    return Derivative(compiled(sympy.diff(formula, symbols[position])), symbols)


def partial(context: Any, term: Term, position: int, values: Sequence[Any]) -> Any:
    """The derivative of a term in one argument, at the arguments' values."""
    name = term.name
    if name in _LINEAR:
        return context.mpf(_LINEAR[name][position])
    if name == "total":
        return context.one
    if name == "mul":
        return values[1 - position]
    literal = SCALARS[name].literal
    literals = tuple(
        a.content if literal and a.name == "number" else None for a in term.args
    )
    rule = derivative(name, position, literals)
    return rule.program.run(context, dict(zip(rule.symbols, values, strict=True)))


def values_in(context: Any, terms: Sequence[Term]) -> dict[int, Any]:
    """The value of every term, computed anew in another precision."""
    if context is EXACT:
        return {t.serial: t.value for t in terms}
    values: dict[int, Any] = {}
    for term in terms:
        if term.name == "number":
            value = to_context(context, term.content)
        elif term.name == "symbol":
            value = context.mpf(term.value)
        elif term.name == "stop":
            value = values[term.args[0].serial]
        else:
            arguments = [values[a.serial] for a in term.args]
            value = guarded(context, SCALARS[term.name].number, *arguments)
        values[term.serial] = value
    return values


@dataclass(frozen=True, slots=True)
class Gradient:
    """Per symbol the sum over all paths, and the sum of the paths' magnitudes."""

    values: dict[int, Any]
    magnitudes: dict[int, Any]


def gradient(
    outputs: Sequence[Term], cotangents: Sequence[float], context: Any = EXACT
) -> Gradient:
    """The derivative of the sum of ``cotangent * output`` in every symbol below."""
    terms = ordered(outputs)
    values = values_in(context, terms)
    arrived: dict[int, Any] = {}
    sizes: dict[int, Any] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        given = to_context(context, exact(cotangent))
        _add(arrived, output.serial, given)
        _add(sizes, output.serial, abs(given))
    for term in reversed(terms):
        g = arrived.get(term.serial)
        if g is None or term.constant or term.name in ("symbol", "stop"):
            continue
        at = [values[a.serial] for a in term.args]
        for position, argument in enumerate(term.args):
            if argument.constant:
                continue
            step = partial(context, term, position, at)
            _add(arrived, argument.serial, g * step)
            _add(sizes, argument.serial, sizes[term.serial] * abs(step))
    return Gradient(
        {t.serial: arrived.get(t.serial, context.zero) for t in terms if _entry(t)},
        {t.serial: sizes.get(t.serial, context.zero) for t in terms if _entry(t)},
    )


def _entry(term: Term) -> bool:
    return term.name == "symbol"


def _add(into: dict[int, Any], key: int, value: Any) -> None:
    into[key] = into[key] + value if key in into else value


def below(term: Term) -> set[int]:
    """The serials of the input entries that a term is made of."""
    return {t.serial for t in ordered([term]) if _entry(t)}
