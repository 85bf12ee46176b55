"""Derivatives of terms by terms, for derivatives that stand in the program itself.

Invariant: no rule of the engine is used. The derivative of a step is SymPy's derivative
of its function, as a term again; the chain rule adds them up. So what is proved of the
program, and the numbers on balls, do not rest on the rules that are checked.

    derivatives_of(terms, y, x)         # for diff(sin(x), x): the term cos(x)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache, partial, reduce
from typing import Any, Final

import numpy as np
import sympy

from ..engine.raw import Host
from ..engine.walk import accumulate
from . import decided
from .balls import FUNCTIONS, LINEAR, PRODUCTS, derivative, other_factor
from .expressions import NAMED, StepProgram, compiled, formula_of, number, off_jumps
from .system import NoMeaning
from .terms import Term, Terms, ordered

_NAMED_NUMBERS: Final = {sympy.pi: "pi", sympy.E: "e"}


def derivatives_of(terms: Terms, y: Host, x: Host) -> Host:
    """Return the derivative of ``y``, one entry, by each entry of ``x``; or, if ``x``
    is a number without dimensions, that of each entry of ``y``.

    Raises:
        NoMeaning: a step has no derivative in the functions of terms.
    """
    inputs: list[Term] = list(x.reshape(-1))
    rows = [_gradient(terms, output, inputs) for output in y.reshape(-1)]
    flat = [entry for row in rows for entry in row]
    found = np.empty(len(flat), dtype=object)
    found[:] = flat
    return found.reshape(x.shape if x.ndim else y.shape)


def _gradient(terms: Terms, output: Term, inputs: Sequence[Term]) -> list[Term]:
    moving = {each.serial for each in inputs}
    first = min(moving)
    for term in ordered([output]):
        if term.serial <= first or term.name == "stop":
            continue
        if any(a.serial in moving for a in term.args):
            moving.add(term.serial)

    def pull(step: int, g: Term) -> Iterator[tuple[int, Term]]:
        term = terms.made[step]
        if step in ends:
            return
        for position, a in enumerate(term.args):
            if a.serial in moving:
                yield a.serial, terms.apply("mul", g, slope(terms, term, position))

    ends = {each.serial for each in inputs}
    zero = terms.lift(0)
    if output.serial not in moving:
        return [zero] * len(inputs)
    order = sorted((s for s in moving if s <= output.serial), reverse=True)
    add = partial(terms.apply, "add")
    found = accumulate(order, {output.serial: terms.lift(1)}, pull, add)
    return [found.get(each.serial, zero) for each in inputs]


def slope(terms: Terms, term: Term, position: int) -> Term:
    """Return the derivative of a step in one of its arguments, as a term."""
    name, args = term.name, term.args
    if name in LINEAR:
        return terms.lift(round(float(derivative(name, position, ()))))
    if name in PRODUCTS:
        return args[other_factor(position, len(args))]
    if name == "div" and not position:
        return terms.apply("div", terms.lift(1), args[1])
    if name == "pow" and not position:
        lower = terms.apply("sub", args[1], terms.lift(1))
        return terms.apply("mul", args[1], terms.apply("pow", args[0], lower))
    numbers = tuple(a.content if a.name == "number" else None for a in args)
    program, symbols = _slope_of(name, position, numbers)
    values = {s: a for s, a in zip(symbols, args, strict=True) if s is not None}
    constant = partial(_constant, terms)
    applied = partial(_applied, terms)
    found: Term = program.run(values, constant=constant, applied=applied)
    return found


@cache
def _slope_of(
    name: str, position: int, numbers: tuple[Any, ...]
) -> tuple[StepProgram, tuple[Any, ...]]:
    """Return SymPy's derivative of a function in one argument, as a program, and the
    symbols of its arguments; None for one that is a number."""
    symbols = [None if n is not None else sympy.Dummy(real=True) for n in numbers]
    pairs = zip(symbols, numbers, strict=True)
    args = [number(n) if s is None else s for s, n in pairs]
    found = off_jumps(sympy.diff(formula_of(name)(*args), args[position]))
    return compiled(found), tuple(symbols)


def _constant(terms: Terms, value: Any) -> Term:
    if isinstance(value, Fraction):
        return terms.lift(value.numerator if value.denominator == 1 else value)
    name = _NAMED_NUMBERS.get(value)
    if name is None or value not in NAMED:
        raise NoMeaning(f"{value} is no number of a program")
    from ..ops.exact import PI, E

    return terms.lift({"pi": PI, "e": E}[name])


def _applied(terms: Terms, name: str, *args: Term) -> Term:
    if name == "Mul":
        return reduce(partial(terms.apply, "mul"), args)
    if name == "total":
        return terms.total(args)
    if name in decided.NUMERIC:
        made: Term = decided.NUMERIC[name](terms, *args)
        return made
    if name not in FUNCTIONS:
        raise NoMeaning(f"the derivative has {name}, which no function here computes")
    return terms.apply(name, *args)
