"""`gradcli paths`: texts, JSON, and what it says when there is no path."""

from __future__ import annotations

from pathlib import Path

from .conftest import Run
from .test_terminal import in_terminal


def test_only_the_heaviest_of_many_paths_are_listed(gradcli: Run) -> None:
    program = "y = x\nfor i in range(100): y = y + y*x"
    ended = gradcli("paths", program, "x=1", "--most", "2")
    assert f"{2**101 - 1} paths" in ended.out
    assert "the heaviest are listed; the sum over all paths is dy/dx\n" in ended.out
    assert ended.out.count("\n1  ") + ended.out.count("\n2  ") == 2
    assert gradcli("paths", program, "x=1", "--json").json["count"] == 2**101 - 1


def test_a_count_of_thousands_of_digits_is_whole_in_a_pipe(gradcli: Run) -> None:
    program = "y = x\nfor i in range(20000): y = y + y"
    first = gradcli("paths", program, "x=0", "--most", "1").out.splitlines()[0]
    digits = first.split()[-2]
    assert len(digits) == 6021
    assert int(digits[-9:]) == pow(2, 20000, 10**9)
    told = gradcli("paths", program, "x=0", "--most", "1", "--json").json
    assert told["count"] == digits


def test_a_terminal_shortens_long_paths_and_says_so(
    gradcli: Run, tmp_path: Path
) -> None:
    steps = [f"y{i + 1} = {('sin', 'cos')[i % 2]}(y{i})" for i in range(40)]
    program = "; ".join(["y0 = x*1", *steps])
    seen = in_terminal(tmp_path, "paths", program, "x=1", NO_COLOR="1")
    assert "…" in seen
    assert "shortened to fit" in seen
    assert "…" not in gradcli("paths", program, "x=1").out
