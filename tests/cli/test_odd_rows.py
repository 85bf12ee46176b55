"""Rows of a table that are nan, have no derivative, or fall short of a requirement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

POINTS = "x,a\n0,1\n4,2\n-1,3\n1,4\n-2,5\n"


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "points.csv"
    path.write_text(POINTS)
    return str(path)


@pytest.mark.parametrize("command", ["value", "grad", "jacobian", "hessian"])
def test_rows_that_are_nan_are_said_once(
    gradcli: Run, table: str, command: str
) -> None:
    ended = gradcli(command, "log(x)*a", "--table", table)
    assert ended.status == 0
    assert ended.err == "note: 2 rows are nan; the first is row 3\n"
    assert len(ended.out.splitlines()) == 6


def test_an_error_that_ends_the_work_names_the_row(gradcli: Run, table: str) -> None:
    ended = gradcli("grad", "log(x)*a", "--table", table, "--on-error", "stop")
    assert ended.status == 3
    assert "error[E517]: row 3: the value or a derivative is nan" in ended.err
    assert len(ended.out.splitlines()) == 3


@pytest.mark.parametrize(("choice", "left"), [("skip", 3), ("nan", 5)])
def test_rows_that_are_nan_are_counted(
    gradcli: Run, table: str, choice: str, left: int
) -> None:
    ended = gradcli("grad", "log(x)*a", "--table", table, "--on-error", choice)
    out = " and skipped" if choice == "skip" else ""
    assert ended.status == 3
    assert ended.err == f"note: 2 rows are nan{out}; the first is row 3\n"
    assert len(ended.out.splitlines()) == 1 + left


def test_a_row_falls_short_of_what_is_required(gradcli: Run, table: str) -> None:
    words = ["--table", table, "--require", "finite"]
    ended = gradcli("grad", "1/x*a", *words)
    assert (ended.status, ended.err) == (1, "row 1: not finite\n")
    assert gradcli("grad", "x*a", *words).status == 0


def test_a_row_has_the_verdict_of_its_point(gradcli: Run) -> None:
    words = ["--require", "certified", "--verify-seconds", "60", "--table", "-"]
    ended = gradcli("grad", "floor(x)*x", *words, stdin="x\n1.5\n2\n")
    assert ended.status == 1
    assert ended.err.startswith("row 2: x: unknown, not certified")
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["grad", "jacobian"])
def test_one_point_may_be_required_to_be_finite(gradcli: Run, command: str) -> None:
    for x, status in (("0", 1), ("2", 0)):
        assert gradcli(command, "1/x", f"x={x}", "--require", "finite").status == status


def test_a_requirement_that_is_set_is_never_ignored_silently(
    gradcli: Run, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADCLI_REQUIRE", "finite")
    assert gradcli("grad", "1/x*a", "--table", table).status == 1
    for words in (["value", "x", "x=1"], ["grad", "x", "x=1", "--no-verify"]):
        assert "require = finite, set by GRADCLI_REQUIRE" in gradcli(*words).err


def test_a_table_says_that_there_is_no_gradient(gradcli: Run, table: str) -> None:
    words = ["--table", table, "--on-error", "nan"]
    ended = gradcli("grad", "x.detach()*a", *words)
    assert ended.out.splitlines()[1:3] == ["0,1,0,,0", "4,2,8,,4"]
    lines = "\n".join(json.dumps({"x": x, "a": 2}) for x in (1, 3))
    ended = gradcli("grad", "x.detach()*a", "--table", "-", stdin=f"{lines}\n")
    assert [json.loads(line)["grad_x"] for line in ended.out.splitlines()] == [None] * 2


def test_a_table_refuses_what_the_single_call_refuses(gradcli: Run, table: str) -> None:
    for command in ("grad", "jacobian", "hessian"):
        said = "no gradient leads from the output to an input"
        assert said in gradcli(command, "x.detach()*2", "x=1").err
        ended = gradcli(command, "x.detach()*2 + 0*a.detach()", "--table", table)
        assert ended.status == 3
        assert f"note: row 1: {said}" in ended.err
    branches = "x*a if x > 0 else a.detach()*2"
    ended = gradcli("grad", branches, "--table", table)
    assert [line[0] for line in ended.out.splitlines()[1:]] == ["4", "1"]
