"""Pictures of patterns fit the room there is, and show a dot for each small entry."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.render.line import Layout
from gradcli.render.spy import picture, spy
from gradcli.views.pattern import nothing_in, pattern_of


def test_a_small_matrix_has_a_dot_for_each_entry() -> None:
    assert picture(pattern_of(np.eye(4)), 40, 20) == ["⠑⢄"]
    assert picture(pattern_of(np.ones((4, 3))), 40, 20) == ["⣿⡇"]


@pytest.mark.parametrize("shape", [(500, 500), (5000, 10), (3, 900), (1, 1)])
def test_a_picture_is_no_larger_than_its_room(shape: tuple[int, int]) -> None:
    lines = picture(pattern_of(np.ones(shape)), 30, 9)
    assert 0 < len(lines) <= 9
    assert {len(line) for line in lines} == {len(lines[0])}
    assert len(lines[0]) <= 30


def test_a_matrix_without_entries_has_no_dots() -> None:
    assert set("".join(picture(nothing_in(9, 9), 30, 9))) == {" "}
    assert picture(nothing_in(0, 9), 30, 9) == []


def test_lines_fit_a_terminal_and_name_the_colours() -> None:
    lines = [
        line.text for line in spy(pattern_of(np.eye(300)), 1, Layout(40, 12), "  ")
    ]
    assert lines[0] == "  1 colour of columns"
    assert max(map(len, lines)) == 40
    assert all(line.startswith("  │") and line.endswith("│") for line in lines[1:])
