"""The table on balls and on terms: the same functions, without rounding."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gradcli.check.balls import START_BITS, apply, ball, derivative, working
from gradcli.check.namespace import ObjectArray, ObjectNamespace
from gradcli.check.system import exact
from gradcli.engine import NUMPY, Tensor, call
from gradcli.engine.arrays import ArrayNamespace
from gradcli.engine.factors import MatrixFactors
from gradcli.engine.namespace import NumberSystem
from gradcli.ops import OPS, Op
from gradcli.ops.basis import SPECIAL, UFUNCS
from tests.grouped import by_row
from tests.laws.digits import XP, as_numbers
from tests.laws.draw import draw

BASIS = sorted(
    {*UFUNCS, *SPECIAL}
    | {
        name
        for name in (*vars(ArrayNamespace), *vars(MatrixFactors))
        if not name.startswith("_")
    }
)

CASES = [
    (op, number)
    for op in OPS.values()
    for number in range(len(op.cases))
    if not op.query
]
"""The cases of all rows but those that speak of memory, not of values."""


def test_object_arrays_have_the_whole_basis() -> None:
    own = {name for each in (ObjectNamespace, NumberSystem) for name in vars(each)}
    assert {*BASIS} - own == set()


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}")
def test_balls_hold_what_numpy_computes(op: Op, number: int) -> None:
    spot = draw(op, number)
    assert any(isinstance(a, np.ndarray | np.generic) for a in spot.arrays)
    with np.errstate(all="ignore"), working(START_BITS):
        _, plain = spot.run()
        _, fine = spot.as_kind(as_numbers, XP).run()
    plain = plain if isinstance(plain, tuple) else (plain,)
    fine = fine if isinstance(fine, tuple) else (fine,)
    assert len(plain) == len(fine)
    for a, b in zip(plain, fine, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(
            np.asarray(b.tolist(), float), np.asarray(a.tolist(), float),
            rtol=1e-11, atol=1e-13,
        )  # fmt: skip


def test_gradient_holds_the_true_number_within_its_radius() -> None:
    with working(200):
        x = Tensor(XP.array([1, 2]), XP, requires_grad=True)
        call("sum", call("exp", x)).backward()
        true = ball(1).exp(), ball(2).exp()
        for found, wanted in zip(x.grad.raw.data, true, strict=True):
            assert found.overlaps(wanted)
            assert found.rel_accuracy_bits() > 190


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.1, "1/10"), (2.0, "2"), (1e-5, "1/100000"), (0.044715, "8943/200000")],
)  # fmt: skip
def test_a_short_decimal_is_the_number_that_was_meant(number: float, text: str) -> None:
    assert str(exact(number)) == text


@pytest.mark.parametrize("number", [1 / 3, math.pi, 2**0.5, 0.5 / 9, 0.1 + 0.2])
def test_a_float_that_was_computed_is_the_number_that_it_is(number: float) -> None:
    assert exact(number) == Fraction(number)


@pytest.mark.parametrize("number", [0.1, 1 / 3, 2 / 7, math.e, 1e300, 5e-324])
def test_constant_stays_the_nearest_number_of_its_float(number: float) -> None:
    assert float(exact(number)) == number


def test_inputs_are_the_exact_floats_they_are() -> None:
    (tenth,) = XP.exactly([0.1]).data
    assert tenth == ball(0.1)
    with working(START_BITS):
        assert not (tenth - ball(1) / 10).contains(0)


def test_numpy_hands_operators_over() -> None:
    x = XP.array([1.0, 2.0])
    for result in (np.array([3.0, 4.0]) * x, np.float64(2.0) + x, 2 - x):
        assert isinstance(result, ObjectArray)
    with pytest.raises(TypeError):
        np.asarray(x)


def test_numpy_scalar_of_shape_none_stays_an_object_array() -> None:
    x = XP.array([1.0, 2.0])
    assert isinstance(x[0], ObjectArray)
    assert x[0].shape == ()
    assert NUMPY is not x.__gradcli_namespace__


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("x", [-0.5, -2.3, -1000.25, -1e14 - 0.25])
def test_polygamma_below_0_is_the_function_of_its_recurrence(
    order: int, x: float
) -> None:
    with working(256):
        n, b = ball(order), ball(x)
        here, after = (apply("polygamma", n, at) for at in (b, b + 1))
        step = (-1) ** order * math.factorial(order) / b ** (order + 1)
        assert here.rel_accuracy_bits() > 150
        assert (after - here).overlaps(step)
        slope = derivative("polygamma", 1, [n, b])
        assert slope.overlaps(apply("polygamma", n + 1, b))
