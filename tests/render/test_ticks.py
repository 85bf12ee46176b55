"""How far axes reach, and that their numbers are told apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gradcli.render.ticks import labels, reach, ticks


@given(st.floats(-1e12, 1e12), st.floats(1e-3, 1e3))
def test_different_ticks_have_different_labels(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert len({*labels(found)}) == len({*found})


def test_labels_have_as_few_digits_as_will_do() -> None:
    assert labels([1 / 3, 2.0]) == ["0.333333", "2"]
    assert labels([1e9, 1e9 + 1]) == ["1000000000", "1000000001"]
    assert labels([-0.0]) == ["0"]
    assert labels([2.0, 2.0]) == ["2", "2"]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_what_is_drawn_lies_among_the_numbers(numbers: list[float]) -> None:
    low, high = reach(numbers)
    assert min(numbers) <= low <= high <= max(numbers)
