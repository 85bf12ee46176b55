"""The system of balls of one precision: it computes values and keeps no terms.

Invariant: an input's float is taken as the exact number it is; a program's own
constants as what was written (see `gradcli.numbers.system.lifted`). A comparison that
the precision does not decide is decided by midpoints, and counted in ``undecided``.

    xp = ObjectNamespace(Balls())
    x = Tensor(xp.exactly(np.array([0.1])), xp, requires_grad=True)
"""

from __future__ import annotations

from collections.abc import Sequence

from .balls import ONE, Ball, apply, ball, is_infinite, is_nan, to_float
from .system import RELATIONS, Number, System, lifted


class Balls(System[Ball]):
    """The system whose elements are balls; run it in ``working(bits)``."""

    def __init__(self) -> None:
        self.undecided = 0

    def lift(self, number: Number) -> Ball:
        return lifted(number, self.leaf, apply, {})

    def leaf(self, number: Number, off: float) -> Ball:
        return ball(number)

    def apply(self, name: str, *elements: Ball) -> Ball:
        return apply(name, *elements)

    def total(self, elements: Sequence[Ball]) -> Ball:
        return apply("total", *elements)

    def value(self, element: Ball) -> Ball:
        return element

    def nearest(self, element: Ball, number: Number) -> bool:
        met = bool(element.contains(ball(number)))
        self.undecided += met and not element.is_exact()
        return met and bool(element.is_exact())

    def is_zero(self, element: Ball) -> bool:
        near = bool(element.contains(0))
        self.undecided += near and not element.is_exact()
        return near

    def rounded(self, element: Ball) -> float:
        return to_float(element)

    def compare(self, relation: str, a: Ball, b: Ball) -> bool:
        holds = RELATIONS[relation]
        if is_nan(a) or is_nan(b):
            return relation == "!="
        if is_infinite(a) or is_infinite(b):
            return bool(holds(to_float(a), to_float(b)))
        gap = a - b
        if gap.contains(0) and not gap.is_zero():
            self.undecided += 1
        return bool(holds(gap.mid(), 0 * ONE))
