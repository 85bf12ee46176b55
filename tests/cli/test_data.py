"""Inputs from files: nothing is differentiated by them unless that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.cli.app import run

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "d.csv"
    path.write_text("x,y\n1,2\n2,4\n3,6\n")
    return str(path)


def test_data_is_noted_and_left_out(capsys: Capture, table: str) -> None:
    words = ["grad", "sum(w*x)", f"x=@{table}:x", "w=2", "--no-verify"]
    assert run([*words, "-q"]) == 0
    out, err = capsys.readouterr()
    assert out == "6.0\n"
    assert err == (
        "note: x is read in, not typed, so taken as data: nothing is differentiated by "
        "it; --wrt x does\n"
    )
    assert run([*words, "-q", "--wrt", "x,w"]) == 0
    assert capsys.readouterr() == ("6.0\n[2.0, 2.0, 2.0]\n", "")


def test_a_value_alone_says_nothing_of_data(capsys: Capture, table: str) -> None:
    assert run(["value", "sum(w*x)", f"x=@{table}:x", "w=2", "-q"]) == 0
    assert capsys.readouterr() == ("12.0\n", "")


def test_a_descent_moves_what_is_no_data(capsys: Capture, table: str) -> None:
    words = ["mean((w*x+b-y)^2)", f"x=@{table}:x", f"y=@{table}:y", "w=0", "b=0"]
    assert run(["descend", *words, "-q", "--optimizer", "lbfgs"]) == 0
    out, err = capsys.readouterr()
    found = dict(line.split("=") for line in out.splitlines())
    assert set(found) == {"w", "b"}
    assert float(found["w"]) == pytest.approx(2)
    assert err.startswith("note: x, y are read in, not typed")


def test_data_shared_by_many_points_has_no_column(capsys: Capture, table: str) -> None:
    words = ["grad", "sum(w*x)", f"x=@{table}:x", "--sweep", "w=0:1:2"]
    assert run(words) == 0
    out, err = capsys.readouterr()
    assert out == "w,value,grad_w\n0,0,6\n1,6,6\n"
    assert "--wrt x does" in err
