"""Derivatives in float64 by SymPy's rules, independent of the engine's.

They are used for derivatives with too many steps to certify. SymPy differentiates each
scalar function; NumPy computes that for columns of steps, and adds up the cotangents.

Invariant: no rule of the engine takes part. The results have no proven bound; each
comes with the sum of the absolute values that were added up to it.

    values, sizes = FloatPass(subject).gradient([1.0])["x"]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, Self

import numpy as np
import sympy

from ..engine import NUMPY
from ..engine.raw import Host
from ..ops.basis import ARITHMETIC
from .balls import LEAVES, STEPS, in_floats, to_float
from .decided import is_literal
from .entries import NOTABLE_RELATIVE_ERROR, InputReport, JudgedEntry, at_most
from .expressions import NAMED, Calculator, StepProgram, compiled, formula_of, number
from .process.job import REFUTED
from .subject import OnTape
from .tape import Column, Dots, TermBlock

FLOAT_PASS_UNITS: Final = 2**30
"""Largest distance of two passes in floats that agree, in roundings of the sum of
absolute values that were added up."""

MIN_FLOAT_GAP: Final = 1e-300
"""Largest difference of two floats that always agree: floats this small lose digits."""


class _Floats(Calculator):
    """An arithmetic of expressions on columns of floats."""

    def number(self, value: Any) -> Any:
        rational = isinstance(value, Fraction)
        return float(value) if rational else to_float(NAMED[value]())

    def apply(self, name: str, *args: object) -> Any:
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

    def __init__(self, subject: OnTape) -> None:
        self._subject = subject
        self._tape = subject.tape
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
        return program.run(columns, calculator=_Floats())


# how a claim differs from the pass


@dataclass(frozen=True, slots=True)
class Gaps:
    """Distances of a claim's numbers from those of an independent pass in floats.

    relative  the distance divided by the number; infinite if that is not defined
    beside    the distance divided by the sum of absolute values that were added up
    right     whether rounding may explain the distance, or ``found`` is no finite
              number, so that nothing can be said
    """

    numbers: Host
    found: Host
    relative: Host
    beside: Host
    right: Host

    @classmethod
    def between(cls, numbers: Host, found: Host, sizes: Host, rounding: float) -> Self:
        """Return the distances of a claim's numbers from those found by the other pass,
        which added up numbers of the absolute ``sizes``; ``rounding`` is that of the
        type."""
        with np.errstate(all="ignore"):
            gaps = np.abs(numbers - found)
            to_itself, beside = (
                np.where(gaps == 0, 0.0, gaps / size)
                for size in (np.abs(found), np.maximum(np.abs(found), sizes))
            )
        right = beside <= FLOAT_PASS_UNITS * rounding
        right |= ~np.isfinite(found) | (gaps <= MIN_FLOAT_GAP)
        relative, beside = (
            np.where(np.isnan(each), np.inf, each) for each in (to_itself, beside)
        )
        return cls(numbers, found, relative, beside, right)

    def farthest(self, count: int) -> Host:
        """Return the positions of ``count`` entries that differ most, half of them
        relative to the number and half relative to what was added up to it."""
        half = count // 2
        order = [np.argsort(-e, kind="stable") for e in (self.relative, self.beside)]
        far = np.unique(np.concatenate([each[:half] for each in order]))
        differ: Host = far[self.relative[far] > 0]
        return differ

    def report(self, report: InputReport, seen: Host) -> None:
        """Set a report's note on the pass, or refute an entry that differs from it;
        ``seen`` are entries that were compared with true numbers instead."""
        rest = np.ones(len(self.numbers), dtype=bool)
        rest[seen] = False
        wrong = np.flatnonzero(rest & ~self.right)
        if len(wrong):
            at = int(wrong[0])
            number = float(self.numbers[at])
            reason = (
                f"{report.name}, entry {at}: the engine gave {number!r}, an "
                f"independent pass in float64 {float(self.found[at])!r}"
            )
            made = JudgedEntry(f"entry {at}", number, verdict=REFUTED, reason=reason)
            report.entries.append(made)
            report.unseen -= 1
            return
        others = int(np.count_nonzero(rest))
        lost = int(np.count_nonzero(~np.isfinite(self.found[rest])))
        which = f"{'all' if others == len(rest) else 'the other'} {others}"
        gap, of = float(np.max(self.relative[rest], initial=0.0)), "of each"
        if gap > NOTABLE_RELATIVE_ERROR:
            beside = self.beside[rest & np.isfinite(self.beside)]
            gap = float(np.max(beside, initial=0.0))
            of = "of what was added up to each"
        report.more = (
            f"{f'of {which} {others - lost}' if lost else which} agree with an "
            "independent pass in float64 by SymPy's rules, "
            f"{f'which has no number for {lost}, ' if lost else ''}to {at_most(gap)} "
            f"{of}"
        )
