"""What repeats is found wherever it begins, and once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradcli as torch
from gradcli.answers.graph_view import graph_view
from gradcli.pictures.folds import MIN_TIMES, Fold, Repetition, folds, runs


@pytest.mark.parametrize(
    ("things", "found"),
    [
        ("", []),
        ("abc", []),
        ("aaa", []),
        ("aaaa", [Repetition(0, 1, 4)]),
        ("xababababy", [Repetition(1, 2, 4)]),
        ("abcabcabcabcab", [Repetition(0, 3, 4)]),
        ("aaaab" * 4, [Repetition(0, 5, 4)]),
        ("aaaabbbb", [Repetition(0, 1, 4), Repetition(4, 1, 4)]),
    ],
)
def test_runs(things: str, found: list[Repetition]) -> None:
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


def folded(count: int, shared: bool) -> tuple[list[str], tuple[Fold, ...]]:
    """The names that layers with weights leave outside their fold, and the folds."""
    names = {f"w{n}": torch.ones(2, 2, requires_grad=True) for n in range(count)}
    names["b"] = torch.ones(2, requires_grad=True)
    y = torch.ones(2, 2)
    for n in range(count):
        y = torch.tanh(y @ names["w0" if shared else f"w{n}"] + names["b"])
    view = graph_view(y.sum(), source="", name="output", variables=names)
    found = folds(view)
    inner = {n for fold in found for n in fold.nodes}
    outside = [n.variable or "" for n in view.nodes if n.is_leaf and n.id not in inner]
    return sorted(outside), found


def test_what_one_part_alone_uses_belongs_to_it() -> None:
    outside, (fold,) = folded(6, shared=False)
    assert "b" in outside
    assert len(outside) + fold.count == 7
    assert len({*fold.nodes}) == len(fold.nodes)


def test_what_all_parts_use_belongs_to_none() -> None:
    outside, found = folded(6, shared=True)
    assert outside == ["b", "w0"]
    assert found
