"""``grad --trace``: what was computed part by part, and why the rest was not."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcli.cli.app import run
from gradcli.lang import fusion
from gradcli.large import kernel, tiles

Capture = pytest.CaptureFixture[str]

PROGRAM = "h = a*b\n(tanh(h + c)*exp(-a*a)).sum()"
ENTRIES = 1000


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusion, "MIN_ENTRIES", 500)
    monkeypatch.setattr(kernel, "TILE_ENTRIES", (1, 300))
    monkeypatch.setattr(tiles, "cores", lambda: 3)
    monkeypatch.setattr(fusion, "cores", lambda: 3)


@pytest.fixture
def given(tmp_path: Path) -> list[str]:
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", np.linspace(0, 1, ENTRIES))
    read = [f"{name}=@{tmp_path}/{name}.npy" for name in "ab"]
    return [*read, "c=0.5", "--wrt", "a,b,c", "--no-verify", "--trace"]


def test_a_fused_region_is_told(capsys: Capture, given: list[str]) -> None:
    assert run(["grad", PROGRAM, *given, "-q"]) == 0
    assert capsys.readouterr().err == (
        "trace: fused: h = a*b; (tanh(h + c)*exp(-a*a)).sum() (line 1, column 1), "
        "then sum\n"
        "trace:   1,000 entries in 4 parts, on 3 threads, forward and backward\n"
    )


def test_json_has_it_too(capsys: Capture, given: list[str]) -> None:
    assert run(["grad", PROGRAM, *given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["trace"]
    assert told["rest"] == []
    (region,) = told["fused"]
    assert region["reduction"] == "sum"
    assert (region["entries"], region["parts"], region["threads"]) == (1000, 4, 3)


REFUSED = {
    "softmax(a, 0)@b + c": "it reads other entries: softmax (line 1, column 1)",
    "if a[0] > 0: a = 2*a\nsum(a*b) + c": "it reads other entries: [0] (line 1, "
    "column 5)",
    "sum(a*b) + c*amax(a)": "it reads other entries: amax (line 1, column 14)",
    "(a*b)[0] + c": "it reads other entries: [0] (line 1, column 6)",
    "mean(log(a - 2)*b*c)": "a number is not finite: where that began is looked for",
    "sum(a*b) if sum(a) > 0 else c": "a number is read: sum(a) > 0 (line 1, column 13)",
}


FUSED = {
    "if c > 0: a = 2*a\nsum(a*b)": "if c > 0: a = 2*a; sum(a*b) (line 1, column 1), "
    "then sum",
    "sqrt(sum(a*b)) + c": "sqrt(sum(a*b)) + c (line 1, column 1)",
}


@pytest.mark.parametrize("program", FUSED)
def test_numbers_made_of_sums_are_fused_as_well(
    capsys: Capture, given: list[str], program: str
) -> None:
    assert run(["grad", program, *given, "-q"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert told[0] == f"trace: fused: {FUSED[program]}"


@pytest.mark.parametrize("program", REFUSED)
def test_what_stands_in_the_way_is_told(
    capsys: Capture, given: list[str], program: str
) -> None:
    values = [word for word in given if word[:2] != "b=" or "b" in program]
    wrt = "a,c"
    values[values.index("--wrt") + 1] = wrt
    assert run(["grad", program, *values, "-q"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "trace" in line]
    assert told == [f"trace: in one piece: {REFUSED[program]}"]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--grad-output", "1"], "--grad-output needs the graph of everything"),
        (["--of", "h"], "--of asks for another value than the last"),
    ],
)
def test_an_option_that_needs_the_graph_is_told(
    capsys: Capture, more: list[str], reason: str
) -> None:
    words = ["grad", "h = x*x; sum(h)", "x=2", "--no-verify", "--trace", "-q"]
    assert run([*words, *more]) == 0
    assert capsys.readouterr().err == f"trace: in one piece: {reason}\n"


def test_small_arrays_are_told(capsys: Capture) -> None:
    assert run(["grad", "sum(x*x)", "x=[1,2]", "--no-verify", "--trace", "-q"]) == 0
    assert "no input has the 500 entries" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("program", "values", "told"),
    [
        ("x**2", [], "30 rows together, in 1 run"),
        ("x if x > 0.5 else -x", [], "30 rows together, in 2 runs"),
        ("sum(x*w)", ["w=[1, 2]"], "30 rows together, in 1 run"),
        ("x.item()*x", [], "30 rows one by one"),
    ],
)
def test_rows_are_told_of_as_well(
    capsys: Capture, program: str, values: list[str], told: str
) -> None:
    words = ["grad", program, *values, "--sweep", "x=0..1:30", "--wrt", "x", "--trace"]
    assert run(words) == 0
    assert f"trace: {told}" in capsys.readouterr().err


def test_the_graph_of_a_part_has_the_names_of_the_inputs(
    capsys: Capture, given: list[str]
) -> None:
    assert run(["grad", PROGRAM, *given]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split() == ["8", "NegBackward0", "-a", "->", "a"]
