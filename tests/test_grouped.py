"""A group of cases loses none of them: each runs, and each that fails is named."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from tests.grouped import by_row

CASES = [("sin", 0), ("sin", 1), ("sin", 2), ("cos", 0)]


def called(case: tuple[str, int]) -> str:
    return f"{case[0]}-{case[1]}"


def groups_of(law: Any) -> list[str]:
    (mark,) = law.pytestmark
    return list(mark.args[1])


def test_a_group_is_made_for_each_row() -> None:
    @by_row("name, number", CASES, called)
    def law(name: str, number: int) -> None: ...

    assert groups_of(law) == ["sin", "cos"]


def test_every_case_runs_and_each_that_fails_is_named() -> None:
    ran = []

    @by_row("name, number", CASES, called)
    def law(name: str, number: int) -> None:
        ran.append((name, number))
        if number == 0:
            pytest.fail("the first")
        if number == 2:
            raise ValueError("the last")

    with pytest.raises(BaseExceptionGroup, match="2 of 3 cases fail: sin-0, sin-2"):
        law(row="sin")
    with pytest.raises(BaseExceptionGroup, match="1 of 1 cases fail: cos-0"):
        law(row="cos")
    assert ran == CASES


def test_a_case_that_is_skipped_fails() -> None:
    @by_row("case", ["a-0"], str)
    def law(case: str) -> None:
        pytest.skip("no reason")

    with pytest.raises(ExceptionGroup) as failed:
        law(row="a")
    assert "left out: no reason" in str(failed.value.exceptions[0])


def test_a_case_finds_no_patch_and_no_filter_of_the_case_before() -> None:
    class Held:
        value = 0

    @by_row("number", range(3), str, lambda name: "all")
    def law(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
        assert Held.value == 0
        monkeypatch.setattr(Held, "value", number + 1)
        with pytest.raises(UserWarning):
            warnings.warn("heard", stacklevel=1)
        warnings.simplefilter("ignore")

    law(row="all")
    assert Held.value == 0


def test_what_cannot_be_a_group_is_refused() -> None:
    with pytest.raises(ValueError, match="no cases"):
        by_row("case", [], str)
    with pytest.raises(TypeError, match="would share tmp_path"):
        by_row("case", ["a-0"], str)(lambda case, tmp_path: None)
    with pytest.raises(TypeError, match="is called row"):
        by_row("row", ["a-0"], str)(lambda row: None)
