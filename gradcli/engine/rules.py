"""Formulas derived from a row: its forward and reverse rules, and what these read.

Invariant: everything here works in any number system; ``xp`` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple, cast

from numpy import dtype

from ..ops import KEPT, LINEAR, PACKED, Formula, Op, parameters
from ..ops.shape import sum_to as _sum_to
from ..ops.types import Array, ArrayRule, Partial, Shape
from .namespace import NumberSystem

__all__ = ["reverse_rules", "sum_to", "times"]

sum_to = cast("Callable[[NumberSystem, Array, Shape], Array]", _sum_to)
"""`gradcli.ops.shape.sum_to`, typed for the engine's namespaces."""


def reverse_rules(op: Op) -> Any:
    """Return a function of ``(xp, g, y, *inputs, **params)`` or None for each input;
    one for all if the row is variadic."""
    if op.vjp is not None:
        return op.vjp
    assert op.partials is not None
    return tuple(None if p is None else times(p, op.masks) for p in op.partials)


def times(partial: Partial | float, masks: bool) -> ArrayRule:
    """Return a function that multiplies a cotangent or a tangent by a partial.

    Args:
        masks: give 0 wherever the partial is 0, even for NaN and infinity.
    """
    if callable(partial):
        if not masks:
            return lambda xp, g, y, *inputs, **params: (
                g * partial(xp, y, *inputs, **params)
            )

        def rule(xp: NumberSystem, g: Array, *given: Array, **params: object) -> Array:
            share = partial(xp, *given, **params)
            return xp.where(xp.eq(share, 0), 0, g * share)

        return rule
    if partial == 1:
        return lambda xp, g, y, *inputs, **params: g
    if partial == -1:
        return lambda xp, g, y, *inputs, **params: -g
    if partial == 0:
        return lambda xp, g, y, *inputs, **params: xp.zeros_like(g)
    return lambda xp, g, y, *inputs, **params: g * partial


_ARRANGED: dict[object, Callable[..., Array]] = {
    PACKED: lambda xp, y, x: xp.packed(y),
    KEPT: lambda xp, y, x: xp.in_order_of(y, x),
}


def placed(op: Op) -> Formula:
    """Return the row's formula, with results in the memory layout of the row."""
    fwd, arrange = _widened(op.fwd) if op.wide else op.fwd, _ARRANGED.get(op.memory)
    if arrange is None:
        return fwd

    def run(xp: NumberSystem, *inputs: object, **params: object) -> Any:
        y = fwd(xp, *inputs, **params)
        if isinstance(y, tuple):
            return tuple([arrange(xp, part, inputs[0]) for part in y])
        return arrange(xp, y, inputs[0])

    return run


def _widened(fwd: Formula) -> Formula:
    """Return a formula that computes half-precision operands in single precision."""

    def run(xp: NumberSystem, x: Any, *others: Any, **params: object) -> Any:
        if xp.symbolic or x.dtype is not HALF:
            return fwd(xp, x, *others, **params)
        wide = [
            r.astype("float32") if getattr(r, "dtype", None) == HALF else r
            for r in (x, *others)
        ]
        return fwd(xp, *wide, **params).astype(HALF)

    return run


HALF = dtype("float16")

RESULT = "y"


class Parts(NamedTuple):
    """The saved values that rules read: slots of inputs, and whether the output is one.

    Where there are several outputs, ``some`` are the numbers of those that are read;
    None: all of them may be.
    """

    inputs: tuple[int, ...]
    output: bool
    some: frozenset[int] | None = None

    def reads(self, nr: int) -> bool:
        """Return whether output number ``nr`` is read."""
        return self.output and (self.some is None or nr in self.some)


NOTHING = Parts((), False)


def reading_slots(op: Op) -> tuple[bool, ...]:
    """Return for each edge whether its rule reads a value, or the row always saves."""
    if op.variadic or op.always_saves:
        return (op.always_saves or not op.keeps_shapes,)
    return tuple([
        bool(found.inputs) or found.output
        for found, rule in zip(read_by_each(op), reverse_rules(op), strict=True)
        if rule is not None
    ])  # fmt: skip


def shape_only_slots(op: Op) -> frozenset[int]:
    """Return the slots of the inputs of which only the shape is kept."""
    if op.variadic or not op.keeps_shapes:
        return frozenset()
    free = [i for i, rule in enumerate(reverse_rules(op)) if rule is not None]
    return frozenset(free) - frozenset(joined(read_by_each(op)).inputs)


def _rules(op: Op) -> tuple[object, ...]:
    rules = op.vjp if op.partials is None else op.partials
    assert isinstance(rules, tuple)
    return rules


@cache
def read_by_each(op: Op) -> tuple[Parts, ...]:
    """Return the saved values that the rule of each input reads."""
    return tuple([_read_by(op, slot) for slot in range(len(_rules(op)))])


def _read_by(op: Op, slot: int) -> Parts:
    given = op.vjp[slot] if isinstance(op.vjp, tuple) else None
    derived = callable(given) or callable(_rules(op)[slot])
    if not derived and not (op.always_saves and reverse_rules(op)[slot] is not None):
        return NOTHING
    names = parameters(op)[: len(_rules(op))]
    saves = op.saves[slot] if isinstance(op.saves, tuple) else op.saves
    if saves is None:
        # A linear rule reads only inputs that carry no gradient: indices, masks.
        every = range(len(names))
        fixed = tuple(i for i in every if reverse_rules(op)[i] is None)
        return Parts(fixed if op.jvp is LINEAR else tuple(every), False)
    words = tuple(saves.split())
    outputs = [word for word in words if word.partition(".")[0] == RESULT]
    numbers = frozenset(int(word.partition(".")[2]) for word in outputs if "." in word)
    inputs = tuple(names.index(word) for word in words if word not in outputs)
    return Parts(inputs, bool(outputs), numbers if numbers else None)


def joined(parts: Iterable[Parts]) -> Parts:
    """Return the union of the saved values that several rules read."""
    found = list(parts)
    inputs = {slot for part in found for slot in part.inputs}
    outputs = [part.some for part in found if part.output]
    known = [some for some in outputs if some is not None]
    some = frozenset().union(*known) if known and len(known) == len(outputs) else None
    return Parts(tuple(sorted(inputs)), bool(outputs), some)
