"""Verdicts as text: never more than was reported."""

from __future__ import annotations

import pytest

from gradcli.render.verdicts import verdict_lines
from gradcli.render.writer import wants_colour
from gradcli.verify.process.job import InputVerdict, Verification


def summary(*verdicts: str) -> str:
    rows = [InputVerdict(f"x{i}", v, of=1) for i, v in enumerate(verdicts)]
    return list(verdict_lines(Verification.about(rows, 0.25), {}, "gradients"))[-1].text


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["proved"] * 3, "proved: 3 of 3 gradients, 0.25 s"),
        (["proved", "certified"],
         "certified: 2 of 2 gradients (1 proved, 1 certified), 0.25 s"),
        (["proved", "unknown"],
         "unknown: 1 of 2 gradients (1 proved, 1 unknown), 0.25 s"),
        (["refuted", "proved", "unknown"],
         "refuted: 1 of 3 gradients (1 refuted, 1 proved, 1 unknown), 0.25 s"),
    ],
)  # fmt: skip
def test_the_summary_claims_the_weakest(verdicts: list[str], expected: str) -> None:
    assert summary(*verdicts) == expected


def test_conditions_kinks_and_notes_are_all_shown() -> None:
    rows = [InputVerdict("x", "proved", 1e-16, "1/x", None, 1, 1),
            InputVerdict("y", "unknown", None, None, "time-out", 0, 1)]  # fmt: skip
    told = Verification.about(rows, 1.0, side_conditions=("x > 0",), kinks=("x == 0",))
    lines = [
        line.text
        for line in verdict_lines(told, {"x": "dL/dx", "y": "dL/dy"}, "blocks")
    ]
    assert lines == [
        "",
        "dL/dx  proved   1/x  max_error 1e-16",
        "dL/dy  unknown  (time-out)",
        "where x > 0",
        "kink: x == 0",
        "unknown: 1 of 2 blocks (1 proved, 1 unknown), 1.00 s",
    ]


@pytest.mark.parametrize(
    ("terminal", "wishes", "expected"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "0"}, False),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_who_decides_about_colour(
    terminal: bool, wishes: dict[str, str], expected: bool
) -> None:
    assert wants_colour(terminal, wishes) is expected
