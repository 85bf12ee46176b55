"""A comparison says who took part, who did not and why, and compares equal numbers."""

from __future__ import annotations

import pytest

from .__main__ import comparisons, lines
from .compare import Comparison, Once, compared


def gives(number: float) -> Once:
    return lambda: number


def missing() -> Once:
    raise ImportError("No module named 'other'")


def test_a_peer_that_is_not_there_is_skipped_with_the_reason() -> None:
    peers = {"one": lambda: gives(1), "other": missing}
    found = compared(Comparison("n", "what", lambda: gives(1), peers, {"one": 1e9}), 2)
    assert found["rounds"] == 2
    assert found["skipped"] == {"other": "No module named 'other'"}
    assert list(found["peers"]) == ["one"]
    told = lines(found)
    assert told[0] == "n: what"
    assert "bar 1e+09: kept" in told[2]
    assert told[3].split() == ["other", "skipped:", "No", "module", "named", "'other'"]


def test_who_gives_other_numbers_is_not_timed() -> None:
    other = Comparison(
        "n", "", lambda: gives(1), {"one": lambda: gives(2)}, same=lambda a, b: a == b
    )
    with pytest.raises(ValueError, match="n: one gives other numbers"):
        compared(other, 1)


def test_names_are_those_of_the_comparisons() -> None:
    assert all(name == each.name for name, each in comparisons().items())
