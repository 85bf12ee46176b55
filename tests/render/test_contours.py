"""Lines of equal value over two inputs, and arrows that point uphill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradcli.answers.plot import Surface
from gradcli.render.contours import ARROWS, LEVEL, contours, levels

Function = Callable[[Any, Any], Any]


def surface(
    f: Function, slopes: Function, x: tuple[float, float], y: tuple[float, float]
) -> Surface:
    across, up = np.linspace(*x, 41), np.linspace(*y, 31)
    with np.errstate(all="ignore"):
        east, north = np.meshgrid(across, up)
        value = f(east, north) + 0 * east
        by_x, by_y = slopes(east, north)
    return Surface(("x", "y"), across, up, value, (by_x + 0 * east, by_y + 0 * east))


def picture(drawn: Surface, width: int = 60) -> list[str]:
    """The rows between the axes."""
    lines = [line.text for line in contours(drawn, width)]
    return [row[row.index(mark) + 1 :] for row in lines for mark in "┤│" if mark in row]


def bowl(x: tuple[float, float] = (-1, 1), y: tuple[float, float] = (-1, 1)) -> Surface:
    return surface(lambda a, b: a * a + b * b, lambda a, b: (2 * a, 2 * b), x, y)


def test_arrows_point_away_from_the_least_value() -> None:
    rows = picture(bowl())
    arrows = {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)
              if mark in ARROWS}  # fmt: skip
    middle, across = (len(rows) - 1) / 2, max(c for _, c in arrows) / 2
    assert len(arrows) > 20
    for (row, column), mark in arrows.items():
        if column > across + 5 and mark in "⇐⇖⇙":
            pytest.fail(f"{mark} at {row}, {column}")
        if row < middle - 3:
            assert mark not in "⇓⇙⇘"
        if row > middle + 3:
            assert mark not in "⇑⇖⇗"


@pytest.mark.parametrize(
    ("slopes", "mark"),
    [((1, 0), "⇒"), ((1, 1), "⇗"), ((0, 1), "⇑"), ((-1, 0), "⇐"), ((0, -1), "⇓"),
     ((-1, 1), "⇖"), ((1, -1), "⇘"), ((-1, -1), "⇙"), ((0, 0), LEVEL)],
)  # fmt: skip
def test_an_arrow_points_along_the_slope(slopes: tuple[int, int], mark: str) -> None:
    plane = surface(
        lambda a, b: slopes[0] * a + slopes[1] * b, lambda a, b: slopes, (0, 2), (0, 1)
    )
    # Twice as wide as high at two columns a row: as steep across as up.
    rows = picture(replace(plane, y=np.linspace(0, 1.5, 31)))
    found = {mark for row in rows for mark in row if mark in ARROWS + LEVEL}
    assert mark in found
    assert len(found) == 1


def test_lines_are_where_the_value_is() -> None:
    slope = surface(lambda a, b: a, lambda a, b: (1, 0), (0, 3), (0, 1))
    rows = picture(slope)
    columns = len(max(rows, key=len))
    at = rows[0].index("⢸") if "⢸" in rows[0] else rows[0].index("⡇")
    lines = levels(slope.value)
    assert min(abs(at - columns * level / 3) for level in lines) < 2


def test_labels_are_the_values_of_lines() -> None:
    text = "\n".join(picture(bowl()))
    for level in levels(bowl().value)[:4]:
        assert f"{level:g}" in text


def test_nothing_is_wider_than_the_room_there_is() -> None:
    for width in (20, 60, 90):
        assert all(len(line.text) <= width or "lines at" in line.text or "across" in
                   line.text for line in contours(bowl(), width))  # fmt: skip


def test_what_is_not_finite_stays_blank() -> None:
    half = surface(lambda a, b: np.log(a) + b, lambda a, b: (1 / a, 1), (-1, 1), (0, 1))
    rows = picture(half)
    assert all(not row[:20].strip() for row in rows)
    assert any(row[40:].strip() for row in rows)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.linspace(0, 12, 99), [2, 4, 6, 8, 10]),
        (np.linspace(-1, 1, 99), [-0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75]),
        (np.linspace(1e-9, 2e-9, 99), [1.2e-9, 1.4e-9, 1.6e-9, 1.8e-9]),
        (np.geomspace(0.1, 1e4, 99), [0.3, 1, 3, 10, 30, 100, 300, 1000, 3000]),
        (np.geomspace(1e-30, 1e30, 99), None),
        (np.zeros(5), []),
        (np.array([-1e308, 1e308]), None),
    ],
)
def test_levels_are_few_and_have_few_digits(values: Any, expected: Any) -> None:
    found = levels(values)
    assert len(found) <= 9
    assert all(values.min() < at < values.max() for at in found)
    if expected is not None and len(expected) <= 8:
        assert found == pytest.approx(expected, abs=1e-15)
