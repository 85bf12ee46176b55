"""``gradcli plot``: ranges are read, kinks are marked, what cannot be drawn is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradcli.cli.app import run
from gradcli.cli.workspace import Workspace

Captured = pytest.CaptureFixture[str]


def test_a_terminal_gets_a_curve_of_dots_and_the_kinks(capsys: Captured) -> None:
    assert run(["plot", "relu(x) + a*abs(x-1)", "x=-3:3", "a=2"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("value\n")
    assert "d/dx\n" in out
    assert "kink at x = 0.0  relu(x)\nkink at x = 1.0  abs(x-1)\n" in out
    assert err == ""


def test_numbers_as_json(capsys: Captured) -> None:
    assert run(["plot", "y = x^2", "x=0:2*pi:5", "--json", "--no-verify"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["command"], told["output"], told["inputs"]) == ("plot", "y", ["x"])
    assert told["x"][-1] == pytest.approx(6.283185307179586)
    assert told["grad"] == [2 * x for x in told["x"]]
    assert told["kinks"] is None


def test_two_ranges(tmp_path: Path, capsys: Captured) -> None:
    pytest.importorskip("contourpy", reason="the extra `pictures` is not installed")
    path = tmp_path / "field.svg"
    words = ["x=-2:2:9", "y=-1:3:11"]
    assert run(["plot", "(1-x)^2 + 5*(y-x^2)^2", *words, "-o", str(path)]) == 0
    assert path.read_text().count('class="level') > 5
    assert run(["plot", "x - 2*y", *words]) == 0
    assert "x across, y up, arrows uphill" in capsys.readouterr().out
    assert run(["plot", "x - 2*y", *words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["value"][10][8] == 2 - 2 * 3
    assert told["grads"][1][0] == [-2.0] * 9
    assert run(["plot", "x - 2*y", *words, "--json", "--wrt", "y"]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told["grads"][0][0] == ["nan"] * 9
    assert told["grads"][1][0] == [-2.0] * 9


def test_a_curve_in_a_file(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "curve.svg"
    assert run(["plot", "1/x", "x=-1:1", "-o", str(path), "--no-verify"]) == 0
    assert path.read_text().count("<polyline") == 4
    assert capsys.readouterr().out == f"written to {path}\n"


def test_a_session_plots_what_was_typed() -> None:
    typed = Workspace()
    typed.take("x = 3")
    typed.take("y = x^2")
    assert typed.take("plot x=-1:1") == ["plot", "y = x^2", "x=-1:1"]
    assert typed.take("plot x*y x=-1:1:9 -o p.svg") == [
        "plot", "y = x^2\nx*y", "x=-1:1:9", "-o", "p.svg",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "status", "error"),
    [
        (["x*y", "x=1", "y=2"], 2, "no input has a range"),
        (["x*y", "x=0:1"], 2, "no value for y"),
        (["x*y*z", "x=0:1", "y=0:1", "z=0:1"], 2, "more than two ranges"),
        (["x", "x=0:1", "-o", "p.dot"], 2, "ends with '.dot', which is no picture"),
        (["[x, x]", "x=0:1", "-o", "p.svg"], 3, "has shape [2]"),
        (["x", "x=0:[1,2]"], 2, "is no number"),
        (["x", "x=1:1"], 2, "the range x=1:1 has no width"),
        (["x", "x=0:inf"], 2, "the range x=0:inf has no end"),
        (["x", "x=-1:nan", "-o", "p.svg"], 2, "the range x=-1:nan has no end"),
    ],
)
def test_refusals(words: list[str], status: int, error: str, capsys: Captured) -> None:
    assert run(["plot", *words]) == status
    assert error in capsys.readouterr().err


def test_a_range_is_drawn_from_its_smaller_end(capsys: Captured) -> None:
    shown = []
    for ends in ("1:2", "2:1"):
        assert run(["plot", "x^2", f"x={ends}", "--no-verify"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
