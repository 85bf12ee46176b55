"""What repeats is found wherever it begins, and once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.views.folds import MIN_TIMES, Run, runs


@pytest.mark.parametrize(
    ("things", "found"),
    [
        ("", []),
        ("abc", []),
        ("aaa", []),
        ("aaaa", [Run(0, 1, 4)]),
        ("xababababy", [Run(1, 2, 4)]),
        ("abcabcabcabcab", [Run(0, 3, 4)]),
        ("aaaab" * 4, [Run(0, 5, 4)]),
        ("aaaabbbb", [Run(0, 1, 4), Run(4, 1, 4)]),
    ],
)
def test_runs(things: str, found: list[Run]) -> None:
    assert runs(things) == found


@given(st.text("ab", max_size=40), st.text("cd", min_size=1, max_size=5))
def test_a_run_is_equal_parts_and_runs_do_not_overlap(before: str, part: str) -> None:
    things = before + part * 6
    end = 0
    for run in runs(things):
        assert run.start >= end
        assert run.times >= MIN_TIMES
        end = run.start + run.period * run.times
        first = things[run.start : run.start + run.period]
        assert things[run.start : end] == first * run.times
    assert end >= len(things) - len(part) + 1
