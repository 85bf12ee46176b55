"""Derivatives in float64 by SymPy's rules, independent of the engine's.

They are used for derivatives with too many steps to certify. SymPy differentiates each
scalar function; NumPy computes that for columns of steps, and adds up the cotangents.

Invariant: no rule of the engine takes part. The results have no proven bound; each
comes with the sum of the absolute values that were added up to it.

    values, sizes = FloatPass(subject).gradient([1.0])["x"]
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy

from ..engine import NUMPY
from ..engine.raw import Host
from ..ops.basis import ARITHMETIC
from .balls import LEAVES, STEPS, in_floats, to_float
from .decided import is_literal
from .expressions import NAMED, StepProgram, compiled, formula_of, number
from .judge import InputReport, at_most
from .subject import Subject
from .tape import Column, Dots, Tape, TermBlock

FLOAT_PASS_UNITS: Final = 2**30
"""Largest distance of two passes in floats that agree, in roundings of the sum of
absolute values that were added up."""

MIN_FLOAT_GAP: Final = 1e-300
"""Largest difference of two floats that always agree: floats this small lose digits."""


def _constant(value: Any) -> float:
    return float(value) if isinstance(value, Fraction) else to_float(NAMED[value]())


def _applied(name: str, *args: object) -> Any:
    own = _OWN.get(name) or ARITHMETIC.get(name) or getattr(NUMPY, name)
    return own(*args)


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
    program: StepProgram = compiled(sympy.diff(formula, symbols[position]))
    return program, symbols


class FloatPass:
    """A pass over one tape in float64: its values, and the gradient they give."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        assert isinstance(subject.system, Tape)
        self._tape = subject.system
        self._blocks = [b for b in self._tape.blocks if b.start < subject.size]
        self._values = np.zeros(subject.size)
        with np.errstate(all="ignore"):
            for block in self._blocks:
                self._values[block.span] = self._value(block)

    def _value(self, block: TermBlock) -> Any:
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
        return _applied(block.name, *columns)

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
        sizes = np.maximum(sizes, np.abs(arrived))
        return {name: (arrived[at], sizes[at]) for name, at in entries.items()}

    def _sent(self, block: TermBlock, g: Host) -> Iterator[tuple[Column, Host]]:
        values = self._values
        if block.name == "total":
            rows = block.args.T
            yield rows, np.broadcast_to(g[:, None], rows.shape)
        elif isinstance(block, Dots):
            weights = g.reshape(len(block.left), -1)
            yield block.left, weights @ values[block.right].T
            yield block.right, values[block.left].T @ weights
        elif block.name != "stop":
            literals = tuple([self._literal(block, each) for each in block.args])
            for position, column in enumerate(block.args):
                if self._tape.varies(column).any():
                    slope = self._slope(block, position, literals)
                    yield np.asarray(column), np.where(g == 0, 0.0, g * slope)

    def _literal(self, block: TermBlock, column: Any) -> float | Fraction | None:
        step = int(column[0])
        alone = is_literal(block.name) and (np.asarray(column) == step).all()
        plain = alone and self._tape.name(step) == "number"
        return self._tape.leaf(step) if plain else None

    def _slope(self, block: TermBlock, position: int, literals: object) -> Any:
        program, symbols = _derivative(block.name, position, literals)
        columns = {
            s: self._values[column]
            for s, column in zip(symbols, block.args, strict=True)
        }
        return program.run(columns, constant=_constant, applied=_applied)


def suspects(numbers: Host, found: Host, sizes: Host, unit: float) -> Host:
    """Return the positions of a claim's numbers that rounding may not explain, because
    they differ too much from those ``found`` by a pass that added up numbers of the
    absolute ``sizes``; ``unit`` is the claim's unit of rounding."""
    with np.errstate(all="ignore"):
        gaps = np.abs(numbers - found)
        room = np.maximum(FLOAT_PASS_UNITS * unit * sizes, MIN_FLOAT_GAP)
        return np.flatnonzero(np.isfinite(found) & ~(gaps <= room))


def farthest(numbers: Host, found: Host, sizes: Host, count: int) -> Host:
    """Return the positions of ``count`` of a claim's numbers that differ most from
    those ``found`` by the pass: half of them relative to the number, half relative to
    what was added up to it."""
    with np.errstate(all="ignore"):
        gaps = np.abs(numbers - found)
        shares = [np.where(gaps == 0, 0.0, gaps / s) for s in (np.abs(found), sizes)]
    far = [np.argsort(-np.where(np.isnan(s), np.inf, s), kind="stable")[: count // 2]
           for s in shares]  # fmt: skip
    most = np.unique(np.concatenate(far))
    differ: Host = most[gaps[most] != 0]
    return differ


def note_pass(
    report: InputReport, numbers: Host, found: Host, sizes: Host, rest: Host
) -> None:
    """Set a report's note on how closely the numbers at the positions ``rest``, which
    were compared with the pass alone, agree with it."""
    known = rest[np.isfinite(found[rest])]
    lost, which = len(rest) - len(known), f"the other {len(rest)}"
    if len(rest) == len(numbers):
        which = f"all {len(rest)}"
    with np.errstate(all="ignore"):
        gaps = np.abs(numbers - found)[known]
        shares = np.where(gaps == 0, 0.0, gaps / sizes[known])
    gap = float(np.max(shares[np.isfinite(shares)], initial=0.0))
    report.more = (
        f"{f'of {which} {len(known)}' if lost else which} agree with an "
        "independent pass in float64 by SymPy's rules, "
        f"{f'which has no number for {lost}, ' if lost else ''}to "
        f"{at_most(gap)} of what was added up to each"
    )
