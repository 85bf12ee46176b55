"""A row's reverse rule against its forward formula, both in many digits.

Differences of floats are good to seven digits or so; what a rule gets wrong beyond
that, in the last terms of a series, shows where numbers have a hundred.

Invariant: no rule of another mode and no derivative of SymPy takes part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.check.balls import ball, size, working
from gradcli.check.namespace import ObjectNamespace
from gradcli.check.system import Balls
from gradcli.engine import Tensor, grad

from .draw import Spot
from .measure import cotangents, directions, outputs_of

BITS = 400
XP = ObjectNamespace(Balls())
STEP = ball(1) / 2**100
"""Exact; the symmetric difference is then good to about sixty digits."""

RELATIVE = 1e-15
"""What a rule may be off by: formulas are made for floats, series are cut off there."""


def as_numbers(value: Any) -> Any:
    floats = isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"
    return XP.exactly(value) if floats else value


def digits(spot: Spot) -> float:
    """<transpose(J) v, t> is the slope of <v, f(x + h t)>, in many digits."""
    with working(BITS):
        return _apart(spot)


def _apart(spot: Spot) -> float:
    v = [XP.exactly(a) for a in cotangents(spot)]
    t = [XP.exactly(a) for a in directions(spot)]
    fine = spot.as_kind(as_numbers, XP)
    leaves, y = fine.run()
    outputs = outputs_of(y)
    pulled = grad(outputs, leaves, [Tensor(a, XP) for a in v])
    terms = [
        term
        for g, way in zip(pulled, t, strict=True)
        if g is not None
        for term in _products(g.raw, way)
    ]
    slope = (_along(fine, v, t, STEP) - _along(fine, v, t, -STEP)) / (2 * STEP)
    bound = RELATIVE * sum(map(abs, terms), ball(0)) + STEP
    return float(size((sum(terms, ball(0)) - slope) / bound))


def _along(spot: Spot, v: list[Any], t: list[Any], step: Any) -> Any:
    moved = [x + way * _number(step)
             for x, way in zip(spot.values(), t, strict=True)]  # fmt: skip
    _, y = spot.run(moved)
    parts = zip(outputs_of(y), v, strict=True)
    terms = (term for part, w in parts for term in _products(part.raw, w))
    return sum(terms, ball(0))


def _number(step: Any) -> Any:
    box = np.empty((), dtype=object)
    box[()] = step
    return XP._of(box)


def _products(a: Any, b: Any) -> list[Any]:
    pairs = zip(XP.elements(a).flat, XP.elements(b).flat, strict=True)
    return [p * q for p, q in pairs]
