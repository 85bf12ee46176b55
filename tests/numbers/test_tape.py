"""A tape holds what terms hold, for every row, and computes what is asked alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.numbers.arrays import ObjectArray
from gradcli.numbers.chain import gradient
from gradcli.numbers.namespace import ObjectNamespace
from gradcli.numbers.precision import EXACT
from gradcli.numbers.tape import Tape, entries_below, slopes
from gradcli.numbers.taped import TapeNamespace
from gradcli.numbers.terms import Terms
from gradcli.ops import OPS, Op
from gradcli.verify.measure import same
from gradcli.verify.rounding import Reference
from tests.laws.draw import draw

CASES = [
    pytest.param(op, number, id=f"{op.name}-{number}")
    for op in OPS.values()
    for number in range(len(op.cases))
    if not op.name.startswith(("is_contiguous", "view.fits", "empty"))
]


def is_floats(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind == "f"


class OnTerms:
    """What a row gives on terms: values, and the gradient of the sum of them all."""

    def __init__(self, op: Op, number: int) -> None:
        self.terms = Terms()
        self.namespace = ObjectNamespace(self.terms)
        self.inputs: list[Any] = []
        _, found = draw(op, number).as_kind(self.kind, self.namespace).run()
        parts = found if isinstance(found, tuple) else (found,)
        self.outputs = [e for p in parts if isinstance(p, ObjectArray)
                        for e in p.data.flat]  # fmt: skip
        self.values = [e.value for e in self.outputs]

    def kind(self, value: Any) -> Any:
        if not is_floats(value):
            return value
        array = np.asarray(value)
        made = [self.terms.symbol("x", v) for v in array.reshape(-1).tolist()]
        self.inputs += made
        data = np.empty(array.shape, dtype=object)
        data.reshape(-1)[:] = made
        return ObjectArray(data, self.namespace)

    def slopes(self) -> list[Any]:
        found = gradient(self.outputs, [1.0] * len(self.outputs))
        return [found.get(e.serial, EXACT.zero) for e in self.inputs]


class OnTape:
    """The same on a tape."""

    def __init__(self, op: Op, number: int) -> None:
        self.tape = Tape()
        self.namespace = TapeNamespace(self.tape)
        self.inputs: list[int] = []
        _, found = draw(op, number).as_kind(self.kind, self.namespace).run()
        parts = found if isinstance(found, tuple) else (found,)
        self.outputs = [int(e) for p in parts if isinstance(p, ObjectArray)
                        for e in p.data.flat]  # fmt: skip
        self.values = [self.tape.value(e) for e in self.outputs]

    def kind(self, value: Any) -> Any:
        if not is_floats(value):
            return value
        array = np.asarray(value)
        made = self.namespace.symbols(array.reshape(-1), array.shape, True)
        self.inputs += made.data.reshape(-1).tolist()
        return made

    def slopes(self) -> list[Any]:
        self.tape.mark(np.array(self.inputs, dtype=np.int64))
        ones = [1.0] * len(self.outputs)
        outputs = np.array(self.outputs, dtype=np.int64)
        found = slopes(self.tape, outputs, ones)
        return [found.get(e, EXACT.zero) for e in self.inputs]


def agree(a: Any, b: Any, scale: Any) -> bool:
    if EXACT.isfinite(a) and EXACT.isfinite(b):
        return same(a, Reference(b, scale, EXACT.zero))
    return bool(a == b or (EXACT.isnan(a) and EXACT.isnan(b)))


@pytest.mark.parametrize(("op", "number"), CASES)
def test_row_on_a_tape_is_what_it_is_on_terms(op: Op, number: int) -> None:
    with np.errstate(all="ignore"):
        terms, tape = OnTerms(op, number), OnTape(op, number)
        expected, found = terms.slopes(), tape.slopes()
    assert len(tape.values) == len(terms.values)
    for pairs in ((tape.values, terms.values), (found, expected)):
        for a, b in zip(*pairs, strict=True):
            assert agree(a, b, EXACT.one)


def test_pass_goes_through_marked_entries_alone() -> None:
    tape = Tape()
    x = tape.symbols(np.arange(1.0, 6.0))
    total = tape.totals(tape.applied("square", x).reshape(1, -1))
    tape.mark(x[3:4])
    assert slopes(tape, total, [1.0]) == {int(x[3]): 8}
    assert tape._values[EXACT].keys() == {int(x[3])}
    assert entries_below(tape, int(total[0])) == {int(x[3])}


def test_what_is_cut_off_is_made_anew_and_the_rest_stays() -> None:
    tape = Tape()
    x = tape.symbols(np.array([2.0]))
    tape.lift(3)
    size = tape.size
    first = tape.apply("mul", int(x[0]), tape.lift(5))
    assert tape.value(first) == 10
    tape.cut(size)
    assert tape.size == size
    again = tape.apply("mul", int(x[0]), tape.lift(7))
    assert tape.value(again) == 14
    assert tape.lift(3) < size


def test_no_derivative_goes_through_what_is_stopped() -> None:
    tape = Tape()
    x = tape.symbols(np.array([2.0, 3.0]))
    top = tape.applied("mul", x, tape.stopped(x))
    tape.mark(x)
    found = slopes(tape, top, [1.0, 1.0])
    assert [found[i] for i in x.tolist()] == [2, 3]


@pytest.mark.parametrize("lean", [-1, 0, 1])
def test_ties_are_noted_and_lean_as_they_are_told(lean: int) -> None:
    tape = Tape(lean)
    xp = TapeNamespace(tape)
    x = xp.symbols(np.array([1.0, 1.0, 0.0]), (3,), True)
    assert xp.gt(x, 1).tolist() == [lean > 0, lean > 0, False]
    assert len(tape.ties) == 1
    at = int(xp.amax(x).data) - int(x.data[0])
    assert at == (1 if lean < 0 else 0)


def test_numbers_that_cannot_vary_meet_in_no_tie() -> None:
    tape = Tape(1)
    xp = TapeNamespace(tape)
    assert xp.gt(xp.array([2.0]), 2).tolist() == [False]
    assert tape.ties == []
