"""What a row says of itself beside its rules, held against what it does."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.check.balls import apply as apply_to_balls
from gradcli.check.balls import ball, working
from gradcli.check.decided import bounds_of
from gradcli.check.expressions import compiled, formula_of
from gradcli.check.namespace import ObjectNamespace
from gradcli.check.terms import Terms
from gradcli.engine import NUMPY, Tensor
from gradcli.engine.errors import EngineError
from gradcli.engine.record import apply, call, function
from gradcli.ops import FUNCTIONS, OPS, Op
from gradcli.ops.op import FIRST, MANY, Fixed
from tests.grouped import by_row

from .draw import draw, is_shape

CASES = [(op, i) for op in OPS.values() for i in range(len(op.cases))]


def called(case: tuple[Op, int]) -> str:
    return f"{case[0].name}-{case[1]}"


@by_row("op, i", CASES, called)
def test_a_row_gives_as_many_outputs_as_it_says(op: Op, i: int) -> None:
    _, y = draw(op, i).run()
    if op.returns == 1:
        assert isinstance(y, Tensor)
    else:
        assert isinstance(y, tuple)
        assert op.returns in (MANY, len(y))


QUERIES = [op for op in OPS.values() if op.query]


@pytest.mark.parametrize("op", QUERIES, ids=[op.name for op in QUERIES])
def test_a_question_inside_a_composite_has_a_plain_answer(op: Op) -> None:
    for each in op.cases:
        given = each.inputs[0]
        x = np.zeros(given) if is_shape(given) else given.value
        answer = call(op.name, x, *each.params.values())
        assert not isinstance(answer, Tensor)
        given = (Tensor(np.asarray(x), NUMPY),)
        assert isinstance(apply(op, given, each.params), Tensor)


def narrow_and_wide(op: Op) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs of a row's first case that has two tensors of floats, if one has: the
    first in float32, the others wide."""
    inputs = [case.inputs for case in op.cases]
    counts = [sum(is_shape(i) or is_floats(i) for i in each) for each in inputs]
    several = [number for number, count in enumerate(counts) if count > 1]
    spot = draw(op, several[0] if several else 0)
    shapes = enumerate(spot.case.inputs)
    drawn = [i for i, given in shapes if is_shape(given) or is_floats(given)]
    inputs = [
        Tensor(a.astype("float32" if i == drawn[0] else "float64"), NUMPY)
        if i in drawn
        else a
        for i, a in enumerate(spot.arrays)
    ]
    return tuple(inputs), dict(spot.case.params)


def is_floats(given: Any) -> bool:
    """Whether an input given by value is made of floats."""
    value = given.value if isinstance(given, Fixed) else None
    return value is not None and np.asarray(value).dtype.kind == "f"


ALIKE = [op for op in OPS.values() if op.one_type and not op.variadic]


@pytest.mark.parametrize("op", ALIKE, ids=[op.name for op in ALIKE])
def test_operands_of_two_types_are_refused_where_one_is_asked_for(op: Op) -> None:
    inputs, params = narrow_and_wide(op)
    with pytest.raises(EngineError, match=r"[Tt]ype|did not match"):
        apply(op, inputs, params)


FIRST_DECIDES = [op for op in OPS.values() if op.result is FIRST and not op.one_type]


@pytest.mark.parametrize("op", FIRST_DECIDES, ids=[op.name for op in FIRST_DECIDES])
def test_the_first_operand_decides_the_type_where_it_is_said_to(op: Op) -> None:
    inputs, params = narrow_and_wide(op)
    assert apply(op, inputs, params).raw.dtype == np.float32


def test_a_gradient_has_the_type_of_its_input() -> None:
    x = Tensor(np.ones(3, "float32"), NUMPY, True)
    w = Tensor(np.full(3, 2.0), NUMPY, True)
    function("sum")(x * w + x).backward()
    assert x.grad is not None
    assert x.grad.raw.dtype == np.float32
    assert w.grad is not None
    assert w.grad.raw.dtype == np.float64


def test_a_function_says_what_its_first_row_does_unless_it_says_more() -> None:
    take, row = FUNCTIONS["take"], OPS["take.default"]
    assert (take.doc, take.formula) == (row.doc, row.formula)
    assert FUNCTIONS["lerp"].doc != OPS["lerp.Scalar"].doc
    assert FUNCTIONS["lerp"].formula == OPS["lerp.Scalar"].formula
    assert all(entry.doc and entry.formula for entry in FUNCTIONS.values())


BOUNDED = [
    (entry, i)
    for entry in FUNCTIONS.values()
    if entry.domain
    for i in range(len(entry.cases))
]


@by_row("entry, i", BOUNDED, called)
def test_the_cases_lie_in_the_domain(entry: Op, i: int) -> None:
    arrays = draw(entry, i).arrays
    xp = ObjectNamespace(Terms())
    operands = [xp.exactly(a) for a in np.broadcast_arrays(*arrays)]
    for elements in zip(*[o.data.flat for o in operands], strict=True):
        for position, sign, number in bounds_of(entry.name, elements):
            element = elements[position]
            assert xp.system.compare(sign, element, xp.system.lift(number))


@pytest.mark.parametrize("name", sorted(n for n, e in FUNCTIONS.items() if e.sym))
def test_sympy_and_the_balls_give_one_value(name: str) -> None:
    formula = formula_of(name)
    given = [Fraction(5, 8), Fraction(3, 4)][: formula.func.__code__.co_argcount - 1]
    expression = formula(*[sympy.Rational(*n.as_integer_ratio()) for n in given])
    with working(128):
        value = apply_to_balls(name, *map(ball, given))
        assert abs(value - compiled(expression).run({})) < ball(2) ** -100


ROUNDED = [
    op
    for op in OPS.values()
    if op.jumps_at is not None and op.partials == (0,) and len(op.cases[0].params) == 0
]


@pytest.mark.parametrize("op", ROUNDED, ids=[op.name for op in ROUNDED])
def test_the_value_jumps_where_the_row_says(op: Op) -> None:
    for whole in (-2, -1, 0, 1, 2):
        at = whole + op.jumps_at
        below, above = (op.fwd(NUMPY, np.float64(at + d)) for d in (-1e-9, 1e-9))
        smooth = op.smooth_at_zero and not at
        assert bool(abs(above - below) > 0.5) != smooth
