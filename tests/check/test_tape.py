"""A tape holds what terms hold, for every row, and computes what is asked alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.check.balls import START_BITS, Ball, is_infinite, is_nan, working
from gradcli.check.namespace import ObjectArray, ObjectNamespace
from gradcli.check.tape import Tape, TapeNamespace
from gradcli.check.terms import Terms
from gradcli.ops import OPS, Op
from tests.grouped import by_row
from tests.laws.draw import draw

CASES = [
    (op, number)
    for op in OPS.values()
    for number in range(len(op.cases))
    if not op.name.startswith(("is_contiguous", "view.fits", "empty"))
]


def is_floats(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"


class On:
    """What a row gives: values, and the gradient of the sum of them all."""

    def __init__(self, op: Op, number: int, namespace: Any) -> None:
        self.namespace, self.system = namespace, namespace.system
        self.inputs: list[Any] = []
        _, found = draw(op, number).as_kind(self.kind, namespace).run()
        results = found if isinstance(found, tuple) else (found,)
        parts = [getattr(result, "raw", result) for result in results]
        self.outputs = [e for p in parts if isinstance(p, ObjectArray)
                        for e in p.data.flat]  # fmt: skip
        self.values = [self.system.value(e) for e in self.outputs]

    def kind(self, value: Any) -> Any:
        raise NotImplementedError

    def slopes(self) -> list[Any]:
        outputs, entries = list(map(int, self.outputs)), list(map(int, self.inputs))
        ones = [1.0] * len(outputs)
        found: list[Any] = self.system.evaluation.gradient(outputs, ones, entries)
        return found


class OnTerms(On):
    def kind(self, value: Any) -> Any:
        if not is_floats(value):
            return value
        array = np.asarray(value)
        made = [self.system.symbol("x", v) for v in array.reshape(-1).tolist()]
        self.inputs += made
        data = np.empty(array.shape, dtype=object)
        data.reshape(-1)[:] = made
        return ObjectArray(data, self.namespace)


class OnTape(On):
    def kind(self, value: Any) -> Any:
        if not is_floats(value):
            return value
        array = np.asarray(value)
        made = self.namespace.symbols(array.reshape(-1), array.shape, True)
        self.inputs += made.data.reshape(-1).tolist()
        return made

    def slopes(self) -> list[Any]:
        self.system.mark(np.array(self.inputs, dtype=np.int64))
        return super().slopes()


def agree(a: Ball, b: Ball) -> bool:
    if a.is_finite() and b.is_finite():
        return bool(a.overlaps(b))
    return (is_nan(a), is_infinite(a)) == (is_nan(b), is_infinite(b))


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}")
def test_row_on_a_tape_is_what_it_is_on_terms(op: Op, number: int) -> None:
    with np.errstate(all="ignore"), working(START_BITS):
        terms = OnTerms(op, number, ObjectNamespace(Terms()))
        tape = OnTape(op, number, TapeNamespace(Tape()))
        expected, found = terms.slopes(), tape.slopes()
    assert len(tape.values) == len(terms.values)
    for pairs in ((tape.values, terms.values), (found, expected)):
        for a, b in zip(*pairs, strict=True):
            assert agree(a, b), (a, b)


def test_pass_goes_through_marked_entries_alone() -> None:
    tape = Tape()
    x = tape.symbols(np.arange(1.0, 6.0))
    total = tape.totals(tape.applied("square", x).reshape(1, -1))
    tape.mark(x[3:4])
    evaluation, output = tape.evaluation, [int(total[0])]
    slope = evaluation.cotangents(output, [1.0], START_BITS)[int(x[3])]
    assert slope == 8
    assert evaluation.entries_below(output) == {int(x[3])}


def test_what_is_cut_off_is_made_anew_and_the_rest_stays() -> None:
    tape = Tape()
    x = tape.symbols(np.array([2.0]))
    tape.lift(3)
    size = tape.steps
    first = tape.apply("mul", int(x[0]), tape.lift(5))
    assert tape.value(first) == 10
    tape.cut(size)
    assert tape.steps == size
    again = tape.apply("mul", int(x[0]), tape.lift(7))
    assert tape.value(again) == 14
    assert tape.lift(3) < size


def test_no_derivative_goes_through_what_is_stopped() -> None:
    tape = Tape()
    x = tape.symbols(np.array([2.0, 3.0]))
    top = tape.applied("mul", x, tape.stopped(x))
    tape.mark(x)
    found = tape.evaluation.gradient(top.tolist(), [1.0, 1.0], x.tolist())
    assert [float(b) for b in found] == [2, 3]


@pytest.mark.parametrize("tie_break", [-1, 0, 1])
def test_ties_are_noted_and_broken_as_they_are_told(tie_break: int) -> None:
    tape = Tape(tie_break)
    xp = TapeNamespace(tape)
    x = xp.symbols(np.array([1.0, 1.0, 0.0]), (3,), True)
    assert xp.gt(x, 1).tolist() == [tie_break > 0, tie_break > 0, False]
    assert len(tape.ties) == 1
    at = int(xp.amax(x).data) - int(x.data[0])
    assert at == (1 if tie_break < 0 else 0)


def test_numbers_that_cannot_vary_meet_in_no_tie() -> None:
    tape = Tape(1)
    xp = TapeNamespace(tape)
    assert xp.gt(xp.array([2.0]), 2).tolist() == [False]
    assert tape.ties == []
