"""Mutants of the table: every rule of every row, with one slip in it.

Invariant: mutants are enumerated, not chosen. A rule is spoilt as a whole, by a wrong
sign, by a factor 2, by swapped inputs, by exchanged cotangents and by leaving the
graph, and at each product, sum and difference that it runs through in one of the row's
cases; a broadcast input's cotangent is cut where it is to be summed.

    mutants_of(OPS["tanh"])[0].op()     # the row with that fault, under another name
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from gradcli.engine import Tensor
from gradcli.engine.node import ConstantNode, Node, Shaped
from gradcli.engine.record import RECORDERS, recorder
from gradcli.engine.rules import reverse_rules
from gradcli.ops import OPS, Op

from .draw import Spot, draw, is_shape
from .measure import cotangents, directions, pull, push
from .mutant_slips import Plant, Rule, Survey, first_slice, wrapped

SIGN, TWICE, ONE = "wrong sign", "factor 2", "factor dropped"
NO_COTANGENT = "cotangent dropped"
CUT = "recorded as a constant"
SLICE = "missing sum over a broadcast dimension"
SWAPPED, EXCHANGED = "swapped inputs", "exchanged with another input"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A row with one slip in one of its rules.

    part   the field of the row that is changed: ``partials``, ``vjp`` or ``jvp``
    slot   the input whose rule it is; None: one rule serves all inputs
    slip   what is done; at an operator if ``site`` says where that stands
    pair   the inputs that change places
    """

    row: str
    part: str
    slot: int | None
    slip: str
    site: str = ""
    pair: tuple[int, ...] = ()

    def __str__(self) -> str:
        slot = "" if self.slot is None else f"[{self.slot}]"
        pair = " and ".join(map(str, self.pair))
        where = f" at {self.site}" if self.site else f" {pair}" if pair else ""
        return f"{self.row}: {self.part}{slot}: {self.slip}{where}"

    def changes(self) -> dict[str, Any]:
        """The row's fields that are another."""
        op = OPS[self.row]
        if self.part == "jvp" or op.variadic:
            rule = op.jvp if self.part == "jvp" else op.vjp
            return {self.part: self._spoilt(rule)}
        slot = self.slot
        assert slot is not None
        given = reverse_rules(op) if self.part == "vjp" else op.partials
        rules = list(given or ())
        if self.slip == EXCHANGED:
            i, j = self.pair
            rules[i], rules[j] = rules[j], rules[i]
        else:
            rules[slot] = self._spoilt(rules[slot])
        return {self.part: tuple(rules)}

    def op(self) -> Op:
        """The spoilt row, under another name, so that its nodes are made afresh."""
        fields = {"name": f"{self.row} with {self}", "together": None}
        return replace(OPS[self.row], **fields, **self.changes())

    def _spoilt(self, rule: Any) -> Any:
        if self.site:
            return wrapped(rule, Plant(self.site, self.slip))
        if not callable(rule):
            return {SIGN: -rule, TWICE: 2 * rule, ONE: 1}[self.slip]
        return WHOLE[self.slip](rule, self)

    @property
    def in_reverse(self) -> bool:
        """Whether a reverse pass that is not recorded shows the slip."""
        return self.slip != CUT and (
            self.part == "vjp"
            or (self.part == "partials" and OPS[self.row].vjp is None)
        )


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """The fault in the row's own nodes, wherever a program makes one meanwhile."""
    spoilt = mutant.op()
    cls = recorder(OPS[mutant.row]).cls
    rules = reverse_rules(spoilt)
    members: dict[str, Any] = {
        "op": spoilt,
        "rules": staticmethod(rules) if spoilt.variadic else tuple(filter(None, rules)),
        "pull": by_the_rules,
    }
    if issubclass(cls, ConstantNode):
        members["factors"] = spoilt.partials
    before = {name: vars(cls)[name] for name in members if name in vars(cls)}
    for name, value in members.items():
        setattr(cls, name, value)
    try:
        yield
    finally:
        for name in members:
            delattr(cls, name)
        for name, value in before.items():
            setattr(cls, name, value)


def by_the_rules(node: Node, g: Any) -> tuple[Any, ...]:
    """A node's pull without the short cuts that its class takes."""
    inputs, y = node.restored()
    if isinstance(node, ConstantNode):
        inputs = tuple([s and Shaped(s) for s in node.shapes or inputs])
    return node.apply_rules(node.xp, g, y, inputs)


def mapped(change: Callable[[Any], Any]) -> Callable[[Rule, Mutant], Rule]:
    """A slip that is a change of what the rule gives, of each part of a tuple."""

    def spoil(rule: Rule, mutant: Mutant) -> Rule:
        def spoilt(*args: Any, **params: Any) -> Any:
            value = rule(*args, **params)
            if isinstance(value, tuple | list):
                return tuple([v if v is None else change(v) for v in value])
            return change(value)

        return spoilt

    return spoil


def at_swapped_inputs(rule: Rule, mutant: Mutant) -> Rule:
    first = {"partials": 2, "vjp": 3, "jvp": 3}[mutant.part]

    def spoilt(*args: Any, **params: Any) -> Any:
        given = list(args)
        i, j = (first + n for n in mutant.pair)
        given[i], given[j] = given[j], given[i]
        return rule(*given, **params)

    return spoilt


def with_exchanged_parts(rule: Rule, mutant: Mutant) -> Rule:
    """Tangents that come in, or a variadic row's cotangents that go out, exchanged."""
    i, j = mutant.pair

    def exchanged(parts: Any) -> Any:
        parts = list(parts)
        parts[i], parts[j] = parts[j], parts[i]
        return tuple(parts)

    def spoilt(xp: Any, t: Any, *rest: Any, **params: Any) -> Any:
        if mutant.part == "jvp":
            return rule(xp, exchanged(t), *rest, **params)
        return exchanged(rule(xp, t, *rest, **params))

    return spoilt


def without_cotangent(rule: Rule, mutant: Mutant) -> Rule:
    """The local derivative itself, as if a 1 had arrived."""
    return lambda xp, g, *rest, **params: rule(xp, xp.ones_like(g), *rest, **params)


def sliced(rule: Rule, mutant: Mutant) -> Rule:
    slot = mutant.slot
    assert slot is not None

    def spoilt(xp: Any, g: Any, y: Any, *inputs: Any, **params: Any) -> Any:
        pulled = rule(xp, g, y, *inputs, **params)
        shape = getattr(inputs[slot], "shape", None)
        return pulled if shape is None else first_slice(xp, pulled, shape)

    return spoilt


WHOLE: dict[str, Callable[[Rule, Mutant], Rule]] = {
    SIGN: mapped(lambda v: -v),
    TWICE: mapped(lambda v: v * 2),
    SWAPPED: at_swapped_inputs,
    EXCHANGED: with_exchanged_parts,
    NO_COTANGENT: without_cotangent,
    SLICE: sliced,
    CUT: mapped(lambda v: v.detach() if isinstance(v, Tensor) else v),
}

# Which mutants there are.


def mutants_of(op: Op) -> list[Mutant]:
    """All mutants of a row, none for a row without a gradient."""
    if op.node is None:
        return []
    return [*_in_partials(op), *_in_vjp(op), *_in_jvp(op)]


def all_mutants() -> list[Mutant]:
    return [mutant for op in OPS.values() for mutant in mutants_of(op)]


def _in_partials(op: Op) -> Iterator[Mutant]:
    pairs = pairs_of(op)
    for slot, rule in enumerate(op.partials or ()):
        if callable(rule):
            yield from _in_rule(op, "partials", slot, pairs)
        elif rule is not None:
            given = {SIGN: -rule, TWICE: 2 * rule, ONE: 1}
            others = {value: slip for slip, value in given.items() if value != rule}
            yield from (Mutant(op.name, "partials", slot, s) for s in others.values())
    if op.partials is not None:
        yield from _exchanges(op, "partials", op.partials, pairs)


def _in_vjp(op: Op) -> Iterator[Mutant]:
    if op.variadic:
        yield Mutant(op.name, "vjp", None, CUT)
        yield from _in_rule(op, "vjp", None, ())
        count = max(len(case.inputs) for case in op.cases)
        for pair in combinations(range(count), 2):
            yield Mutant(op.name, "vjp", None, EXCHANGED, pair=pair)
        return
    pairs = pairs_of(op)
    rules = reverse_rules(op)
    for slot in [i for i, rule in enumerate(rules) if rule is not None]:
        yield Mutant(op.name, "vjp", slot, CUT)
        if op.vjp is not None:
            yield from _in_rule(op, "vjp", slot, pairs)
        if op.elementwise:
            yield Mutant(op.name, "vjp", slot, NO_COTANGENT)
            if any(broadcast(op, n, slot) for n in range(len(op.cases))):
                yield Mutant(op.name, "vjp", slot, SLICE)
    if op.vjp is not None:
        yield from _exchanges(op, "vjp", rules, pairs)


def _in_jvp(op: Op) -> Iterator[Mutant]:
    if callable(op.jvp):
        yield from _in_rule(op, "jvp", None, pairs_of(op))
        for pair in pairs_of(op):
            yield Mutant(op.name, "jvp", None, EXCHANGED, pair=pair)


def _in_rule(
    op: Op, part: str, slot: int | None, pairs: Iterable[tuple[int, int]]
) -> Iterator[Mutant]:
    yield Mutant(op.name, part, slot, SIGN)
    yield Mutant(op.name, part, slot, TWICE)
    for pair in pairs:
        yield Mutant(op.name, part, slot, SWAPPED, pair=pair)
    for site, slip in surveyed(op, part, slot):
        yield Mutant(op.name, part, slot, slip, site)


def _exchanges(
    op: Op, part: str, rules: Any, pairs: Iterable[tuple[int, int]]
) -> Iterator[Mutant]:
    for i, j in pairs:
        if rules[i] != rules[j]:
            yield Mutant(op.name, part, i, EXCHANGED, pair=(i, j))


def pairs_of(op: Op) -> list[tuple[int, int]]:
    """The inputs that carry a gradient in one case, two by two."""
    found: dict[tuple[int, int], None] = {}
    for number in range(len(op.cases)):
        found.update(dict.fromkeys(combinations(draw(op, number).free, 2)))
    return list(found)


def broadcast(op: Op, number: int, slot: int) -> bool:
    """Whether the case broadcasts an input, so that its cotangent is summed."""
    shapes = [shape for shape in op.cases[number].inputs if is_shape(shape)]
    mine = op.cases[number].inputs[slot]
    return is_shape(mine) and np.broadcast_shapes(*shapes) != mine


def surveyed(op: Op, part: str, slot: int | None) -> list[tuple[str, str]]:
    """The places in a rule with the slips that are possible there."""
    survey = Survey()
    rule = getattr(op, part)
    if slot is None:
        watched: Any = wrapped(rule, survey)
    else:
        watched = tuple(wrapped(r, survey) if i == slot else r
                        for i, r in enumerate(rule))  # fmt: skip
    eyed = replace(op, name=f"{op.name} with eyes on {part} {slot}", **{part: watched})
    for spot in spots_of(eyed):
        pull(spot, cotangents(spot))
        push(spot, directions(spot))
    RECORDERS.pop(eyed.name, None)
    return list(survey.found)


def spots_of(op: Op) -> Iterator[Spot]:
    """The row's cases in which something carries a gradient."""
    for number in range(len(op.cases)):
        spot = draw(op, number)
        if spot.free:
            yield spot
