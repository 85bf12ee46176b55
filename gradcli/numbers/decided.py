"""Functions whose branch the values at the point decide: maxima, sorting, rounding.

Invariant: every decision goes through ``system.compare``, which keeps it as a side
condition; a point without a derivative is reported to ``system.kink``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import Final

import numpy as np

from ..engine.raw import Host, Run
from ..ops import Op, overloads
from ..ops.basis import UFUNCS
from .balls import Ball, is_infinite, is_nan, to_float
from .system import RELATIONS, Element, System

Choose = Callable[[System[Element], Element, Element], Element]
"""Function that returns one of two elements."""

Extreme = Callable[[System[Element], list[Element]], Element]
"""Function that returns one of several elements."""


def _is_nan(system: System[Element], e: Element) -> bool:
    return is_nan(system.value(e))


def _asked(
    question: Callable[[Ball], bool], system: System[Element], e: Element
) -> bool:
    """Return the answer to a question, such as `is_nan`, about a value, and note it."""
    system.classify(e)
    return question(system.value(e))


def _beyond(relation: str, system: System[Element], a: Element, b: Element) -> Element:
    """Return ``a`` if it stands in the relation to ``b``, else ``b``; nan wins."""
    if _is_nan(system, a) or _is_nan(system, b):
        return a if _is_nan(system, a) else b
    return a if system.compare(relation, a, b) else b


_larger, _smaller = partial(_beyond, ">="), partial(_beyond, "<=")


def _compared(relation: str, system: System[Element], a: Element, b: Element) -> bool:
    return system.compare(relation, a, b)


def _is_negative(system: System[Element], e: Element) -> bool:
    if system.is_zero(e):
        system.unsigned(e)
    return system.compare("<", e, system.lift(0))


def _ignoring_nan(
    choose: Choose[Element], system: System[Element], a: Element, b: Element
) -> Element:
    for element, other in ((a, b), (b, a)):
        if _is_nan(system, element):
            system.classify(element)
            return other
    return choose(system, a, b)


def _best(
    choose: Choose[Element], system: System[Element], row: list[Element]
) -> Element:
    """Return the extreme element of a row as the same object, to be found by ``is``."""
    if not row:
        raise ValueError("the largest or smallest of no entries is not defined")
    best = row[0]
    for element in row[1:]:
        best = choose(system, best, element)
    return best


largest, smallest = partial(_best, _larger), partial(_best, _smaller)


def product(system: System[Element], row: list[Element]) -> Element:
    result = system.lift(1)
    for element in row:
        result = system.apply("mul", result, element)
    return result


def order(system: System[Element], row: list[Element], descending: bool) -> list[int]:
    """Return the positions that sort a row; comparing neighbours is what is decided.

    In a run of equal entries whose ties are decided against their order, each position
    moves up by one, so that every rank gets another entry. As in NumPy's order, nan
    counts as the largest.
    """

    @cache
    def kept(a: int, b: int) -> bool:
        return system.compare(relation, row[a], row[b])

    def key(i: int) -> Ball:
        value = system.value(row[i])
        middle = value.mid() if value.is_finite() else value
        return -middle if descending else middle

    absent = [i for i, e in enumerate(row) if _is_nan(system, e)]
    for i in absent:
        system.classify(row[i])
    positions = sorted(set(range(len(row))) - set(absent), key=key)
    relation = ">=" if descending else "<="
    ordered: list[int] = absent if descending else []
    for run in _runs(positions, lambda a, b: not kept(a, b) or key(a) == key(b)):
        same = all(kept(a, b) for a, b in pairwise(run))
        ordered += run if same else [*run[1:], run[0]]
    return ordered if descending else ordered + absent


def _runs(positions: list[int], linked: Callable[[int, int], bool]) -> list[list[int]]:
    """Return the positions in lists, cut where one is not linked to the next."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and linked(runs[-1][-1], position):
            runs[-1].append(position)
        else:
            runs.append([position])
    return runs


def finite_or(system: System[Element], instead: Sequence[float], e: Element) -> Element:
    """Return the element, or the one of ``instead`` for nan, infinity or -infinity."""
    system.classify(e)
    value = system.value(e)
    if not is_nan(value) and not is_infinite(value):
        return e
    nan, above, below = instead
    chosen = nan if is_nan(value) else above if value > 0 else below
    return system.fixed(e, chosen)


def _to_integer(rounding: str, system: System[Element], e: Element) -> Element:
    """Return an element rounded to an integer, with conditions at the next jumps."""
    value = system.value(e)
    if is_nan(value) or is_infinite(value):
        system.kink(e, f"{rounding} has no finite value there")
        return system.stop(e)
    if not value.is_finite():
        return e
    rounded = _ROUNDINGS[rounding]
    middle = inside = Fraction(*ratio(value.mid()))
    jump = _nearest_jump(rounding, middle)
    if system.nearest(e, jump):
        system.kink(e, f"{rounding} jumps there")
        middle = Fraction(system.rounded(e))
        beside = (jump - _NEAR, jump + _NEAR)
        same = (p for p in beside if rounded(p) == rounded(middle))
        inside = next(same, middle)
    lower, upper = _jumps_around(rounding, inside)
    system.note(e, ">=" if rounded(lower) == rounded(middle) else ">", lower)
    system.note(e, "<=" if rounded(upper) == rounded(middle) else "<", upper)
    return system.fixed(e, int(rounded(middle)))


_NEAR: Final = Fraction(1, 4)
"""Distance from a jump within which there is no other."""


def whole(system: System[Element], e: Element) -> Element:
    """Return an element rounded toward zero, as ``int`` does, without derivative."""
    return _to_integer("trunc", system, system.stop(e))


def _jumps_around(rounding: str, value: Fraction) -> tuple[Fraction, Fraction]:
    """Return the nearest jumps of a rounding below and above a value."""
    row = _row(rounding)
    shift = Fraction(row.jumps_at or 0)
    lower = math.floor(value - shift) + shift
    upper = lower + 1
    if row.smooth_at_zero:
        lower, upper = lower or lower - 1, upper or upper + 1
    return lower, upper


def _nearest_jump(rounding: str, value: Fraction) -> Fraction:
    row = _row(rounding)
    shift = Fraction(row.jumps_at or 0)
    jump = round(value - shift) + shift
    if row.smooth_at_zero and not jump:
        return Fraction(1 if value > 0 else -1)
    return jump


@cache
def _row(name: str) -> Op:
    return overloads(name)[0]


def ratio(middle: Ball) -> tuple[int, int]:
    """Return the numerator and the denominator of an exact ball."""
    significand, power = map(int, middle.man_exp())
    if power >= 0:
        return significand << power, 1
    return significand, 1 << -power


_ROUNDINGS: Final[dict[str, Callable[[Fraction], int]]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
}


def _quotient(
    rounding: str, system: System[Element], a: Element, b: Element
) -> Element:
    return _to_integer(rounding, system, system.apply("div", a, b))


def _remainder(
    rounding: str, system: System[Element], a: Element, b: Element
) -> Element:
    quotient = _quotient(rounding, system, a, b)
    return system.apply("sub", a, system.apply("mul", quotient, b))


def floats(system: System[Element], data: Host) -> Host:
    """Return elements' values, rounded to floats."""
    rounded = [to_float(system.value(e)) for e in data.flat]
    return np.array(rounded, dtype=np.float64).reshape(data.shape)


def as_floats(system: System[Element], data: Host) -> Host:
    """Return elements' values as floats, and note that they were read as such."""
    found = floats(system, data)
    for element, value in zip(data.flat, found.flat, strict=True):
        system.read(element, float(value))
    return found


NUMERIC: Final[dict[str, Run]] = {
    "maximum": _larger,
    "minimum": _smaller,
    "fmax": partial(_ignoring_nan, _larger),
    "fmin": partial(_ignoring_nan, _smaller),
    "floor_divide": partial(_quotient, "floor"),
    "remainder": partial(_remainder, "floor"),
    "fmod": partial(_remainder, "trunc"),
    **{name: partial(_to_integer, name) for name in _ROUNDINGS},
}
"""Elementwise functions of elements that return an element, by name."""

MASKS: Final[dict[str, Run]] = {
    **{own.__name__: partial(_compared, sign) for sign, own in RELATIONS.items()},
    "signbit": _is_negative,
    "isnan": partial(_asked, is_nan),
    "isinf": partial(_asked, is_infinite),
    "isfinite": partial(_asked, lambda b: bool(b.is_finite())),
}
"""Elementwise functions of elements that return a truth value, by name."""

LOGIC: Final[dict[str, Run]] = {
    name: getattr(np, own) for name, own in UFUNCS.items() if own.startswith("logical_")
}
"""Elementwise functions of truth values that return a truth value, by name."""
