"""Series of numbers drawn as curves."""

from __future__ import annotations

from itertools import pairwise
from math import exp, nan, sin

import pytest

from gradcli.render.curve import ROWS, curve, dotted

SERIES = {
    "two": [2.0, 1.0],
    "flat": [1.0] * 30,
    "falling": [exp(-i / 20) for i in range(300)],
    "wave": [sin(i / 9) for i in range(100)],
    "huge": [1e308, -1e308, 1e308],
    "tiny": [5e-324, 0.0, 5e-324],
    "spike": [0.0] * 50 + [1e6] + [0.0] * 50,
}


def dots(row: str) -> list[int]:
    return [ord(c) - 0x2800 if c != " " else 0 for c in row]


def drawn_heights(rows: list[str], columns: int) -> list[set[int]]:
    """Per half column the levels that carry a dot, counted from the bottom."""
    found: list[set[int]] = [set() for _ in range(2 * columns)]
    for place, row in enumerate(reversed(rows)):
        for x, bits in enumerate(dots(row)):
            for side, order in enumerate(((0x40, 4, 2, 1), (0x80, 0x20, 0x10, 8))):
                for up, bit in enumerate(order):
                    if bits & bit:
                        found[2 * x + side].add(4 * place + up)
    return found


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_a_curve_is_as_wide_as_there_is_room(name: str, width: int) -> None:
    lines = [line.text for line in curve(SERIES[name], "loss", width)]
    assert max(map(len, lines)) <= max(width, 30)
    assert len(lines) == ROWS + 3


@pytest.mark.parametrize("name", SERIES)
def test_a_curve_has_no_gap(name: str) -> None:
    columns = drawn_heights(dotted(SERIES[name], 30, ROWS), 30)
    assert all(columns)
    for before, after in pairwise(columns):
        assert min(after) - 1 <= max(before)
        assert max(after) + 1 >= min(before)


def test_the_highest_and_the_lowest_reach_the_edges() -> None:
    columns = drawn_heights(dotted([0.0, 1.0, 0.5], 20, ROWS), 20)
    levels = set().union(*columns)
    assert (min(levels), max(levels)) == (0, 4 * ROWS - 1)


def test_a_falling_series_falls_on_the_page() -> None:
    columns = drawn_heights(dotted(SERIES["falling"], 40, ROWS), 40)
    tops = [max(levels) for levels in columns]
    assert tops == sorted(tops, reverse=True)


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


def plotted(numbers: list[float]) -> tuple[str, list[set[int]]]:
    """The heading of a plot, and per half column the levels that carry a dot."""
    lines = [line.text for line in curve(numbers, "value", 60, ("0", "1"))]
    rows = [line.partition("┤")[2] or line.partition("│")[2] for line in lines[1:9]]
    return lines[0], drawn_heights(rows, max(map(len, rows)))


def test_a_gap_of_a_plot_stays_a_gap_at_its_place() -> None:
    heading, columns = plotted([1.0] * 100 + [nan] * 200 + [2.0] * 100)
    empty = [nr for nr, levels in enumerate(columns) if not levels]
    assert heading == "value"
    assert empty == list(range(empty[0], empty[-1] + 1))
    assert len(empty) == pytest.approx(len(columns) / 2, abs=2)
    assert empty[0] == pytest.approx(len(columns) / 4, abs=2)


def test_a_pole_of_a_plot_is_cut_off_and_no_line_crosses_it() -> None:
    heading, columns = plotted([1 / (n + 0.5) for n in range(-200, 200)])
    assert heading == "value (cut off; from -2 to 2)"
    assert not any({0, 4 * ROWS - 1} <= levels for levels in columns)
    middle = columns[len(columns) // 2 + 8 :]
    assert all(min(levels) >= 2 * ROWS for levels in middle)
