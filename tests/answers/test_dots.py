"""Curves, lines of equal value, patterns of matrices, and the numbers of axes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.answers.curves import (
    BITS,
    ROWS,
    curve,
    dotted,
    labels,
    levels,
    scaled,
    ticks,
)
from gradcli.answers.line import Layout
from gradcli.answers.pattern import matrix, nothing_in, pattern_of, spy

Function = Callable[[Any, Any], Any]


@given(st.floats(-1e12, 1e12), st.floats(1e-3, 1e3), st.integers(2, 9))
def test_ticks_are_no_more_than_asked_and_told_apart(
    low: float, span: float, most: int
) -> None:
    assert 1 <= len(ticks(0.0, span, most)) <= most
    found = ticks(low, low + span, most)
    assert len(found) <= most
    assert len({*labels(found)}) == len({*found})


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (-3.0, 3.0, [-3, -2, -1, 0, 1, 2, 3]),
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.0, 0.007, [0, 0.002, 0.004, 0.006]),
        (2.0, 2.0, [2]),
    ],
)
def test_ticks(low: float, high: float, found: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(found)


def test_labels_have_as_few_digits_as_will_do() -> None:
    assert labels([1 / 3, 2.0]) == ["0.333333", "2"]
    assert labels([1e9, 1e9 + 1]) == ["1000000000", "1000000001"]
    assert labels([-0.0]) == ["0"]
    assert labels([2.0, 2.0]) == ["2", "2"]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_what_is_drawn_lies_among_the_numbers(numbers: list[float]) -> None:
    heights, low, high, *_ = scaled(np.array(numbers))
    assert min(heights) <= low <= high <= max(heights)


SERIES = {
    "two": [2.0, 1.0],
    "flat": [1.0] * 30,
    "falling": [exp(-i / 20) for i in range(300)],
    "wave": [sin(i / 9) for i in range(100)],
    "huge": [1e308, -1e308, 1e308],
    "tiny": [5e-324, 0.0, 5e-324],
    "spike": [0.0] * 50 + [1e6] + [0.0] * 50,
}


def drawn_heights(rows: list[str], columns: int) -> list[set[int]]:
    """Per half column the levels that carry a dot, counted from the bottom."""
    found: list[set[int]] = [set() for _ in range(2 * columns)]
    for place, row in enumerate(reversed(rows)):
        for x, character in enumerate(row):
            bits = 0 if character == " " else ord(character) - 0x2800
            for up, both in enumerate(BITS):
                for side, bit in enumerate(both):
                    if bits & bit:
                        found[2 * x + side].add(4 * place + up)
    return found


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_a_curve_is_as_wide_as_there_is_room(name: str, width: int) -> None:
    lines = [line.text for line in curve(SERIES[name], "loss", width)]
    assert max(map(len, lines)) <= max(width, 30)
    assert len(lines) == ROWS + 3


def in_dots(numbers: list[float], columns: int) -> list[str]:
    x, y = np.arange(len(numbers)), np.array(numbers)
    return dotted(x, y, min(numbers), max(numbers), columns)


@pytest.mark.parametrize("name", SERIES)
def test_a_curve_has_no_gap(name: str) -> None:
    columns = drawn_heights(in_dots(SERIES[name], 30), 30)
    assert all(columns)
    for before, after in pairwise(columns):
        assert min(after) - 1 <= max(before)
        assert max(after) + 1 >= min(before)


def test_a_falling_series_falls_on_the_page_from_edge_to_edge() -> None:
    columns = drawn_heights(in_dots(SERIES["falling"], 40), 40)
    tops = [max(heights) for heights in columns]
    assert tops == sorted(tops, reverse=True)
    assert min(set().union(*columns)) == 0
    assert max(tops) >= 4 * ROWS - 2


@pytest.mark.parametrize(
    ("numbers", "logarithmic"),
    [([100.0, 1.0], True), ([99.0, 1.0], False), ([100.0, 0.0], False),
     ([100.0, -1.0], False)],
)  # fmt: skip
def test_two_decades_of_positive_numbers_are_drawn_by_their_logarithms(
    numbers: list[float], logarithmic: bool
) -> None:
    heading = next(iter(curve(numbers, "loss", 60))).text
    assert heading == ("loss (log scale)" if logarithmic else "loss")


def test_the_axes_name_the_range_and_the_last_step() -> None:
    lines = [line.text for line in curve([3.0, 2.0, 1.25], "L", 40)]
    assert lines[1].startswith("   3 ┤")
    assert lines[ROWS].startswith("1.25 ┤")
    assert lines[-1].split() == ["0", "2"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.linspace(0, 12, 99), [2, 4, 6, 8, 10]),
        (np.linspace(-1, 1, 99), [-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75]),
        (np.linspace(1e-9, 2e-9, 99), [1.2e-9, 1.4e-9, 1.6e-9, 1.8e-9]),
        (np.geomspace(0.1, 1e4, 99), None),
        (np.geomspace(1e-30, 1e30, 99), None),
        (np.zeros(5), []),
        (np.array([-1e308, 1e308]), None),
    ],
)
def test_levels_are_few_and_have_few_digits(values: Any, expected: Any) -> None:
    found = levels(values)
    assert len(found) <= 9
    assert all(values.min() < at < values.max() for at in found)
    assert expected is None or found == pytest.approx(expected, abs=1e-15)


def test_a_small_matrix_has_a_dot_for_each_entry() -> None:
    assert matrix(pattern_of(np.eye(4)), 40, 20) == ["⠑⢄"]
    assert matrix(pattern_of(np.ones((4, 3))), 40, 20) == ["⣿⡇"]
    assert set("".join(matrix(nothing_in(9, 9), 30, 9))) == {" "}
    assert matrix(nothing_in(0, 9), 30, 9) == []


@pytest.mark.parametrize("shape", [(500, 500), (5000, 10), (3, 900), (1, 1)])
def test_a_pattern_is_no_larger_than_its_room(shape: tuple[int, int]) -> None:
    lines = matrix(pattern_of(np.ones(shape)), 30, 9)
    assert 0 < len(lines) <= 9
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 30


def test_patterns_fit_a_terminal_and_name_the_colours() -> None:
    shown = spy(pattern_of(np.eye(300)), 1, Layout(40, 12), "  ")
    heading, *lines = (line.text for line in shown)
    assert heading == "  1 colour of columns"
    assert max(map(len, lines)) == 40
    assert all(line.startswith("  │") and line.endswith("│") for line in lines)
