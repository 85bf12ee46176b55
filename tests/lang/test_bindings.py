"""NAME=VALUE: what is accepted, and the whole block of every error."""

from __future__ import annotations

import json
import math
import tracemalloc
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.engine import NUMPY
from gradcli.lang.bindings import read_binding, read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.factory import Factory
from gradcli.lang.prepare import value_of

FACTORY = Factory(NUMPY, "float64", 0)


def value(argument: str) -> np.ndarray:
    return np.asarray(value_of(read_binding(argument), FACTORY))


def block(*arguments: str) -> str:
    with pytest.raises(ProgramError) as caught:
        [value_of(binding, FACTORY) for binding in read_bindings(arguments)]
    return caught.value.render()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_read_to_the_last_bit(number: float) -> None:
    assert repr(value(f"x={number!r}").item()) == repr(number)


shapes = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(shapes, st.randoms(use_true_random=False))
def test_a_nested_list_is_the_array_of_its_shape(shape: list[int], random) -> None:
    while 0 in shape[:-1]:
        shape = shape[1:]
    array = np.array([random.uniform(-9, 9) for _ in range(math.prod(shape))])
    array = array.reshape(shape)
    np.testing.assert_array_equal(value("x=" + json.dumps(array.tolist())), array)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2*pi", 2 * math.pi),
        ("-1.5", -1.5),
        ("1_000", 1000.0),
        ("1/3", 1 / 3),
        ("math.e", math.e),
        ("sin(0.5)", math.sin(0.5)),
        ("sqrt(4)", 2.0),
        ("inf", math.inf),
        ("True", 1.0),
        (" 3 ", 3.0),
        ("[.5, 1., -2,]", [0.5, 1.0, -2.0]),
        ("(1, 2)", [1.0, 2.0]),
        ("[1, -inf, nan]", [1.0, -math.inf, math.nan]),
        ("[sin(1), cos(1)]", [math.sin(1), math.cos(1)]),
        ("eye(2)*3", [[3.0, 0.0], [0.0, 3.0]]),
        ("linspace(0, 1, 5)", [0, 0.25, 0.5, 0.75, 1.0]),
        ("arange(3)", [0.0, 1.0, 2.0]),
        ("arange(1, 2, 0.25)", [1, 1.25, 1.5, 1.75]),
        ("full((2, 2), 7)", [[7.0, 7.0], [7.0, 7.0]]),
        ("ones(2, 1)", [[1.0], [1.0]]),
        ("zeros(size=(1, 2))", [[0.0, 0.0]]),
        ("tensor([[1, 2]]).T", [[1.0], [2.0]]),
        ("[]", []),
    ],
)
def test_a_value_is_an_expression_of_the_language(text: str, expected: object) -> None:
    got = value(f"x={text}")
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, np.asarray(expected, dtype=float))


def test_draws_of_a_value_depend_on_its_name_and_the_seed_alone() -> None:
    first = value("x=randn(3)")
    np.testing.assert_array_equal(first, value("x=randn(3)"))
    assert not np.array_equal(first, value("y=randn(3)"))
    other = value_of(read_binding("x=randn(3)"), Factory(NUMPY, "float64", 1))
    assert not np.array_equal(first, other)


def test_names_are_compared_in_normal_form() -> None:
    decomposed = unicodedata.normalize("NFD", "é")
    assert read_binding(f"{decomposed}=1").name == "é"


def test_a_list_of_two_megabytes_needs_little_more_than_its_numbers() -> None:
    count = 300_000
    argument = "x=[" + "1.2345," * count + "1]"
    tracemalloc.start()
    try:
        assert value(argument).shape == (count + 1,)
        assert tracemalloc.get_traced_memory()[1] < 60 * len(argument)
    finally:
        tracemalloc.stop()
