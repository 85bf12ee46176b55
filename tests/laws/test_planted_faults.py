"""A test of the laws: faults planted in copies of rows must each be caught.

A fault is planted in a rule (so that the two modes disagree), in a partial (so that
they agree and are both wrong) or in a recorded pass. It counts as caught if one law
rejects the row, or if the pass itself fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, node, rules
from gradcli.ops import OPS, Op
from gradcli.ops.op import case

from .draw import Spot, draw
from .measure import LAWS, cotangents, pull

Rule = Callable[..., Any]


def negated(rule: Rule) -> Rule:
    return lambda *args, **params: -rule(*args, **params)


def halved(rule: Rule) -> Rule:
    return lambda *args, **params: rule(*args, **params) / 2


def cut(rule: Rule) -> Rule:
    """The right values, but recorded as constants."""

    def constant(*args: Any, **params: Any) -> Any:
        value = rule(*args, **params)
        return value.detach() if isinstance(value, Tensor) else value

    return constant


SQUARE = (case((3, 3), (3, 3)),)
"""Matrices whose wrong transposes still fit."""

IN_A_RULE = {"wrong sign": negated, "lost factor 2": halved, "cut graph": cut}
IN_A_PARTIAL = {"wrong sign": negated, "lost factor 2": halved}


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    op: Op
    number: int

    def spot(self) -> Spot:
        return draw(self.op, self.number)

    def __str__(self) -> str:
        return f"{self.op.name}: {self.name}"


def copied(op: Op, name: str, **changes: Any) -> Op:
    """A copy under another name, so that its node class is made afresh."""
    return replace(op, name=f"{op.name} with {name}", **changes)


def at(values: tuple[Any, ...], slot: int, value: Any) -> tuple[Any, ...]:
    return (*values[:slot], value, *values[slot + 1 :])


def as_formula(partial: Any) -> Rule:
    return partial if callable(partial) else lambda *args, **params: partial


def faults_of(op: Op) -> Iterator[Fault]:
    """Every general fault, in each input's rule, at a case where it shows."""
    if op.node is None:
        return
    if op.variadic:
        for name, spoil in IN_A_RULE.items():
            spoilt = _spoilt_all(op.vjp, spoil)
            yield Fault(name, copied(op, name, vjp=spoilt), 0)
        return
    given = rules.reverse_rules(op)
    for slot in [i for i, rule in enumerate(given) if rule is not None]:
        number = telling_case(op, slot)
        if number is None:
            continue
        for name, spoil in IN_A_RULE.items():
            label = f"{name} in rule {slot}"
            rule = at(tuple(given), slot, spoil(given[slot]))
            yield Fault(label, copied(op, label, vjp=rule), number)
        if op.partials is None:
            continue
        for name, spoil in IN_A_PARTIAL.items():
            label = f"{name} in partial {slot}"
            partials = at(op.partials, slot, spoil(as_formula(op.partials[slot])))
            yield Fault(label, copied(op, label, partials=partials, vjp=None), number)


def _spoilt_all(rule: Any, spoil: Callable[[Rule], Rule]) -> Rule:
    """A variadic row's rule, spoilt in the first cotangent it gives."""

    def spoilt(*args: Any, **params: Any) -> Any:
        first, *rest = rule(*args, **params)
        return (spoil(lambda: first)(), *rest)

    return spoilt


def telling_case(op: Op, slot: int) -> int | None:
    """The first case where the derivative by an input is not 0 throughout."""
    for number in range(len(op.cases)):
        spot = draw(op, number)
        if slot in spot.free:
            pulled = pull(spot, cotangents(spot))[spot.free.index(slot)]
            if np.any(pulled):
                return number
    return None


def swapped(op: Op) -> Fault:
    assert op.partials is not None
    partials = (op.partials[1], op.partials[0], *op.partials[2:])
    return Fault("swapped inputs", copied(op, "swapped inputs", partials=partials,
                                          vjp=None), 0)  # fmt: skip


def ruled(name: str, row: str, number: int, **changes: Any) -> Fault:
    return Fault(name, copied(OPS[row], name, **changes), number)


def named_faults() -> list[Fault]:
    """The slips that people make in a derivation by hand."""
    ones = lambda xp, y, a, b: xp.ones_like(y)
    mul: Any = OPS["mul"].partials
    mm: Any = OPS["mm"].vjp
    return [
        *(swapped(OPS[name]) for name in (
            "sub.Tensor", "mul", "div.Tensor", "pow.Tensor_Tensor", "atan2", "hypot",
            "logaddexp", "xlogy.Tensor")),
        ruled("dropped factor", "mul", 0, partials=(ones, mul[1])),
        ruled("dropped factor", "pow.Tensor_Scalar", 0, partials=(
            lambda xp, y, x, exponent: x ** (exponent - 1),)),
        ruled("dropped inner derivative", "exp2", 0, partials=(lambda xp, y, x: y,)),
        ruled("dropped inner derivative", "logsigmoid", 0,
              partials=(lambda xp, y, x: xp.sigmoid(x),)),
        ruled("power not lowered", "pow.Tensor_Scalar", 0, partials=(
            lambda xp, y, x, exponent: exponent * y,)),
        ruled("missing sum", "softmax", 0, vjp=(lambda xp, g, y, x, dim: y * g,)),
        ruled("missing sum", "log_softmax", 0, vjp=(
            lambda xp, g, y, x, dim: g - xp.exp(y) * g,)),
        ruled("sum over the wrong dimension", "softmax", 0, vjp=(
            lambda xp, g, y, x, dim: y * (g - xp.sum(g * y, 1 - dim, True)),)),
        ruled("missing spread", "sum.dim_IntList", 2, vjp=(
            lambda xp, g, y, x, dim, keepdim=False: g,)),
        ruled("wrong transpose", "mm", 0, cases=SQUARE, vjp=(
            lambda xp, g, y, a, b: xp.matmul(g, b), mm[1])),
        ruled("factors the wrong way round", "mm", 0, cases=SQUARE, vjp=(
            mm[0],
            lambda xp, g, y, a, b: xp.matmul(g, xp.transpose(a, 0, 1)))),
    ]  # fmt: skip


def catchers(fault: Fault) -> list[str]:
    """The laws that reject a faulty row."""
    spot = fault.spot()
    caught = []
    for name, law in LAWS.items():
        try:
            if not law(spot) <= 1:
                caught.append(name)
        except Exception:
            caught.append(f"{name} (the pass failed)")
    return caught


def test_every_planted_fault_is_caught(capsys: pytest.CaptureFixture[str]) -> None:
    faults = [f for op in OPS.values() for f in faults_of(op)] + named_faults()
    missed = [str(fault) for fault in faults if not catchers(fault)]
    with capsys.disabled():
        print(f"\n{len(faults) - len(missed)} of {len(faults)} planted faults caught")
    assert missed == []


def test_a_copy_without_a_fault_passes() -> None:
    for name in ("mul", "softmax", "mm", "pow.Tensor_Scalar"):
        assert catchers(Fault("none", copied(OPS[name], "nothing"), 0)) == []


def test_a_missing_sum_over_a_broadcast_dimension_is_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node, "sum_to", lambda xp, g, shape: g)
    assert "shape" in catchers(Fault("missing sum", copied(OPS["mul"], "no sum"), 1))


def test_swapped_modes_of_broadcasting_are_caught() -> None:
    rules_of_add = (lambda xp, g, y, a, b: g, lambda xp, g, y, a, b: -g)
    spoilt = copied(OPS["add.Tensor"], "sign of b", vjp=rules_of_add)
    assert "reverse_difference" in catchers(Fault("sign of b", spoilt, 1))
