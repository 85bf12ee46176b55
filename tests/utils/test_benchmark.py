"""A timer runs its statement as often as it says, and shows what it measured."""

from __future__ import annotations

import re

import pytest

import gradcli as torch
from gradcli.utils.benchmark import Measurement, Timer


def test_so_many_runs_are_counted_after_two_that_are_not() -> None:
    runs: list[int] = []
    found = Timer("runs.append(1)", globals={"runs": runs}).timeit(7)
    assert len(runs) == 2 + 7
    assert (found.number_per_run, len(found.raw_times)) == (7, 1)
    assert found.times == [found.raw_times[0] / 7] == [found.mean] == [found.median]


def test_blocks_are_measured_until_they_fill_the_time() -> None:
    now = iter(range(10**6))
    seen: list[tuple[int, float]] = []
    timer = Timer("pass", timer=lambda: next(now) / 10)
    found = timer.blocked_autorange(lambda n, s: seen.append((n, s)), min_run_time=0.45)
    assert found.raw_times == pytest.approx([0.1] * 5)
    assert seen == [(1, each) for each in found.raw_times]
    assert found.iqr == pytest.approx(0)


@pytest.mark.parametrize(
    ("times", "lines"),
    [
        ([2.5], ["  250.00 ms", "  1 measurement, 10 runs , 1 thread"]),
        (
            [1e-4, 2e-4, 3e-4, 4e-4, 5e-4],
            ["  Median: 30.00 us", "  IQR:    20.00 us (20.00 to 40.00)",
             "  5 measurements, 10 runs per measurement, 1 thread"],
        ),
    ],
)  # fmt: skip
def test_a_measurement_is_shown_as_pytorch_shows_it(
    times: list[float], lines: list[str]
) -> None:
    first, *rest = repr(Measurement(10, times, "f(x)")).splitlines()
    assert re.fullmatch(r"<\S+\.Measurement object at 0x[0-9a-f]+>", first)
    assert rest == ["f(x)", *lines]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ({}, ["x.sum()"]),
        ({"label": "sums", "sub_label": "of three", "description": "rows"},
         ["sums: of three", "rows"]),
        ({"setup": "y = 1"}, ["x.sum()", "setup: y = 1"]),
    ],
)  # fmt: skip
def test_what_is_said_of_it_is_its_title(
    said: dict[str, str], title: list[str]
) -> None:
    timer = torch.utils.benchmark.Timer("x.sum()", globals={"x": torch.ones(3)}, **said)
    assert timer.timeit(1).title.splitlines() == title
