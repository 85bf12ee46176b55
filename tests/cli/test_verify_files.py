"""`gradcli verify FILE.py`: all Functions of a file, and shapes that are drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradcli.cli.app import run

MINE = """
import torch
from torch.autograd import Function


class Linear(Function):
    @staticmethod
    def forward(ctx, x, w):
        print("forward")
        ctx.save_for_backward(x, w)
        return x.mm(w.t())

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g.mm(w), g.t().mm(x)


class MatVec(Function):
    @staticmethod
    def forward(ctx, a, v):
        ctx.save_for_backward(a, v)
        return a @ v

    @staticmethod
    def backward(ctx, g):
        a, v = ctx.saved_tensors
        return g[:, None] * v[None, :], a.t() @ g


class Square(Function):
    @staticmethod
    def forward(ctx, s):
        ctx.save_for_backward(s)
        return s * s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return 2 * s * g
"""

WRONG = (
    MINE
    + """

class Cube(Function):
    @staticmethod
    def forward(ctx, s):
        ctx.save_for_backward(s)
        return s**3

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return 2 * s**2 * g
"""
)

Verified = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verified(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Verified:
    """Runs the command in this process on a file with this text."""
    monkeypatch.chdir(tmp_path)

    def ran(text: str, *words: str, name: str = "") -> tuple[int, str, str]:
        Path("mine.py").write_text(text)
        options = ["--verify-seconds", "600", "--once"]
        status = run(["verify", *options, f"mine.py{name}", *words])
        out, err = capsys.readouterr()
        return status, out, err

    return ran


def test_a_shape_that_does_not_fit_is_no_refutation(verified: Verified) -> None:
    status, out, err = verified(MINE, name=":Linear")
    assert (status, out) == (3, "")
    assert "with x=randn(3), w=randn(3), which were drawn" in err
    assert "it runs with x=randn(2,3) w=randn(4,3)" in err
    status, out, err = verified(MINE, name=":MatVec")
    assert (status, out) == (3, "")
    assert "MatVec raises, in backward, IndexError" in err
    assert "it runs with a=randn(2,3) v=randn(3)" in err


def test_a_shape_can_be_given(verified: Verified) -> None:
    for words in (["--shape", "x=2,3", "--shape", "w=4,3"], ["--shape", "2,3"]):
        status, out, err = verified(MINE, *words, name=":Linear")
        assert status == 0, err
        assert "mine.py:Linear: proved" in out


def test_all_functions_of_a_file_are_verified(verified: Verified) -> None:
    shapes = ["--shape", "x=2,3", "--shape", "w=4,3", "--shape", "a=2,3"]
    status, out, err = verified(MINE, *shapes, "-q")
    assert status == 0, err
    told = [line for line in out.splitlines() if line != "forward"]
    assert told == [f"mine.py:{n}: proved" for n in ("Linear", "MatVec", "Square")]
    status, out, err = verified(WRONG, *shapes)
    assert status == 1
    assert "mine.py:Cube: refuted" in out
    assert "multiply by 3/2" in out


def test_one_that_does_not_run_is_told_and_fails(verified: Verified) -> None:
    status, out, err = verified(MINE, "-q")
    assert (status, out) == (3, "mine.py:Square: proved\n")
    assert "not verified: mine.py:Linear raises" in err
    assert "  = help: give the shapes that are meant; it runs with x=" in err
    status, out, _ = verified(MINE, "--json")
    answer = json.loads(out)
    assert status == 3
    assert [each["function"] for each in answer["functions"]] == ["mine.py:Square"]
    assert [each["function"] for each in answer["unverified"]] == [
        "mine.py:Linear",
        "mine.py:MatVec",
    ]


def test_functions_are_listed(verified: Verified) -> None:
    status, out, _ = verified(MINE, "--list")
    assert status == 0
    assert out.splitlines() == [
        "mine.py:Linear(x, w)",
        "mine.py:MatVec(a, v)",
        "mine.py:Square(s)",
    ]
    status, _, err = verified(MINE, "--list", name=":Linear")
    assert status == 2
    assert "name the file alone: mine.py" in err


def test_names_that_no_function_has_are_refused(verified: Verified) -> None:
    status, _, err = verified(MINE, "q=3")
    assert status == 2
    assert "no Function of mine.py has a parameter 'q'" in err
    status, _, err = verified("def f(x):\n    return x\n")
    assert status == 3
    assert "name a function or a module: mine.py:f" in err
