"""A group of cases loses none of them: each runs, and each that fails is named."""

from __future__ import annotations

import warnings

import pytest

from tests.grouped import TOGETHER, by_row

CASES = [("sin", 0), ("sin", 1), ("sin", 2), ("cos", 0)]


def called(case: tuple[str, int]) -> str:
    return f"{case[0]}-{case[1]}"


def test_every_case_runs_and_each_that_fails_is_named() -> None:
    ran = []

    @by_row("name, number", CASES, called)
    def law(name: str, number: int) -> None:
        ran.append((name, number))
        if number == 0:
            pytest.fail("the first")
        if number == 2:
            raise ValueError("the last")

    said = "3 of 4 cases fail: sin-0, sin-2, cos-0"
    with pytest.raises(BaseExceptionGroup, match=said):
        law(row="sin cos")
    assert ran == CASES


def test_rows_are_run_a_few_together_and_some_at_night() -> None:
    cases = [f"f{n}-0" for n in range(3 * TOGETHER)]

    @by_row("case", cases, str, share=3)
    def law(case: str) -> None:
        """It holds."""

    (mark,) = law.pytestmark  # type: ignore[attr-defined]
    always, *others = mark.args[1]
    assert always.split() == [f"f{n}" for n in range(0, 3 * TOGETHER, 3)]
    assert [each.marks[0].name for each in others] == ["nightly"] * 2
    run = {name for each in others for name in each.values[0].split()}
    assert len(run) == 2 * TOGETHER


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
