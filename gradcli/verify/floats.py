"""Derivatives in float64 by SymPy's rules, independent of the engine's.

They are used for derivatives with too many steps to certify. SymPy differentiates each
scalar function; NumPy computes that for columns of steps, and adds up the cotangents.

Invariant: no rule of the engine takes part. The results have no proven bound; each
comes with the sum of the absolute values that were added up to it.

    values, sizes = FloatPass(subject).gradient([1.0])["x"]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy

from ..engine import NUMPY
from ..engine.raw import Host
from ..numbers.balls import LEAVES, STEPS, in_floats, to_float
from ..numbers.decided import is_literal
from ..numbers.expressions import (
    NAMED,
    Calculator,
    Program,
    compiled,
    formula_of,
    number,
)
from ..numbers.tape import Block, Column, Dots
from ..ops.basis import ARITHMETIC
from .subject import OnTape


class _Floats(Calculator):
    """Arithmetic of expressions on columns of floats."""

    def number(self, value: Any) -> Any:
        rational = isinstance(value, Fraction)
        return float(value) if rational else to_float(NAMED[value]())

    def apply(self, name: str, *args: object) -> Any:
        own = _OWN.get(name)
        if own is not None:
            return own(*args)
        return (ARITHMETIC.get(name) or getattr(NUMPY, name))(*args)


_OWN: dict[str, Any] = {
    "total": lambda *parts: sum(parts),
    "Mul": lambda *factors: np.prod(np.broadcast_arrays(*factors), axis=0),
    "DiracDelta": lambda x, *order: np.zeros_like(x),
    "Heaviside": lambda x, *at: np.heaviside(x, 0.5),
}


@cache
def _derivative(name: str, position: int, literals: tuple[Any, ...]) -> Any:
    """Return SymPy's derivative of a scalar function as a program, and its symbols."""
    symbols = tuple(sympy.Dummy(f"x{i}", real=True) for i in range(len(literals)))
    given = [
        s if literal is None else number(literal)
        for s, literal in zip(symbols, literals, strict=True)
    ]
    formula = formula_of(name)(*given)
    program: Program = compiled(sympy.diff(formula, symbols[position]))
    return program, symbols


class FloatPass:
    """A pass over one tape in float64: its values, and the gradient they give."""

    def __init__(self, subject: OnTape) -> None:
        self._subject = subject
        self._tape = subject.tape
        self._blocks = [b for b in self._tape.blocks if b.start < subject.size]
        self._values = np.zeros(subject.size)
        with np.errstate(all="ignore"):
            for block in self._blocks:
                self._values[block.span] = self._value(block)

    def _value(self, block: Block) -> Any:
        values = self._values
        if block.name in LEAVES:
            return np.fromiter(map(float, block.numbers), float, block.count)
        if block.name == "total":
            return values[block.args.T].sum(axis=1)
        if isinstance(block, Dots):
            return (values[block.left] @ values[block.right]).reshape(-1)
        columns = [values[column] for column in block.args]
        if block.name == "stop":
            return columns[0]
        if block.name in STEPS:
            rows = zip(*columns, strict=True)
            return np.array([in_floats(block.name, row) for row in rows])
        return _Floats().apply(block.name, *columns)

    def gradient(self, cotangent: list[float]) -> dict[str, tuple[Host, Host]]:
        """Return, by input, the derivatives of the weighted output by all entries, and
        the sums of the absolute values that were added up."""
        arrived, sizes = np.zeros((2, self._subject.size))
        np.add.at(arrived, np.array(self._subject.outputs), cotangent)
        with np.errstate(all="ignore"):
            for block in reversed(self._blocks):
                g = arrived[block.span].copy()  # a view would make add.at copy arrived
                if g.any():
                    for column, parts in self._sent(block, g):
                        np.add.at(arrived, column, parts)
                        np.add.at(sizes, column, np.abs(parts))
        entries = self._subject.entries
        return {name: (arrived[at], sizes[at]) for name, at in entries.items()}

    def _sent(self, block: Block, g: Host) -> Iterator[tuple[Column, Host]]:
        values = self._values
        if block.name == "total":
            rows = block.args.T
            yield rows, np.broadcast_to(g[:, None], rows.shape)
        elif isinstance(block, Dots):
            weights = g.reshape(len(block.left), -1)
            yield block.left, weights @ values[block.right].T
            yield block.right, values[block.left].T @ weights
        elif block.name != "stop":
            literals = tuple(map(self._literal(block), block.args))
            for position, column in enumerate(block.args):
                if self._tape.varies(column).any():
                    slope = self._slope(block, position, literals)
                    yield np.asarray(column), np.where(g == 0, 0.0, g * slope)

    def _literal(self, block: Block) -> Callable[[Column], object]:
        def literal(column: Any) -> float | Fraction | None:
            step = int(column[0])
            alone = is_literal(block.name) and (np.asarray(column) == step).all()
            plain = alone and self._tape.name(step) == "number"
            return self._tape.leaf(step) if plain else None

        return literal

    def _slope(self, block: Block, position: int, literals: object) -> Any:
        program, symbols = _derivative(block.name, position, literals)
        columns = {
            s: self._values[column]
            for s, column in zip(symbols, block.args, strict=True)
        }
        return program.run(columns, calculator=_Floats())
