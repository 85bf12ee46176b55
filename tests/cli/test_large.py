"""Arrays of many entries, within the limit on memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcli.cli.app import run

from .conftest import Run

Capture = pytest.CaptureFixture[str]

PROGRAM = "(tanh(a*b)*exp(-a*a)).sum()"
ENTRIES = 400_000


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    rng = np.random.default_rng(0)
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", rng.normal(size=ENTRIES))
    return [f"{name}=@{tmp_path / name}.npy" for name in "ab"]


def slopes(tmp_path: Path) -> tuple[np.ndarray, np.ndarray]:
    a, b = (np.load(tmp_path / f"{name}.npy") for name in "ab")
    t, e = np.tanh(a * b), np.exp(-a * a)
    return (1 - t * t) * b * e - 2 * a * t * e, (1 - t * t) * a * e


def test_gradients_are_printed_within_little_memory(
    gradcli: Run, tmp_path: Path, files: list[str]
) -> None:
    small = ["--no-verify", "--max-memory", "130MB"]
    ended = gradcli("grad", PROGRAM, *files, "-q", *small)
    assert (ended.status, ended.err) == (0, "")
    for line, slope in zip(ended.out.splitlines(), slopes(tmp_path), strict=True):
        np.testing.assert_allclose(np.array(json.loads(line)), slope, 1e-9, 1e-12)


def test_gradients_are_written_to_an_archive_that_is_read_back(
    capsys: Capture, tmp_path: Path, files: list[str]
) -> None:
    out = f"{tmp_path}/g.npz"
    words = ["grad", PROGRAM, *files, "--no-verify", "--out", out, "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert [i["file"] for i in told["inputs"]] == [f"{out}:grad_a", f"{out}:grad_b"]
    assert [(i["value"], i["grad"]) for i in told["inputs"]] == [(None, None)] * 2
    with np.load(out) as found:
        assert float(found["value"]) == told["output"]["value"]
        for name, slope in zip("ab", slopes(tmp_path), strict=True):
            np.testing.assert_allclose(found[f"grad_{name}"], slope, 1e-9, 1e-12)
    assert run(["value", "g.sum()", f"g=@{out}:grad_a", "-q"]) == 0
    assert float(capsys.readouterr().out) == pytest.approx(slopes(tmp_path)[0].sum())


def test_an_input_s_file_may_be_written_over(tmp_path: Path, files: list[str]) -> None:
    expected = slopes(tmp_path)[0]
    words = ["grad", PROGRAM, *files, "--no-verify", "-q", "--wrt", "a"]
    assert run([*words, "--out", f"{tmp_path}/a.npy"]) == 0
    found = np.load(tmp_path / "a.npy")
    np.testing.assert_allclose(found, expected, 1e-9, 1e-12)


def test_gradients_in_files_are_named(capsys: Capture, tmp_path: Path) -> None:
    words = ["grad", "y = (a*b).sum()", "a=[1, 2]", "b=3", "--no-verify", "--out"]
    assert run([*words, f"{tmp_path}/g_{{}}.npy"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == [
        f"dy/da  (2)  written to {tmp_path}/g_a.npy",
        f"dy/db  ()  written to {tmp_path}/g_b.npy",
    ]
    assert np.load(tmp_path / "g_a.npy").tolist() == [3.0, 3.0]
    assert run([*words, f"{tmp_path}/g.npy"]) == 2
    assert "one gradient to a .npy, and there are 2: a, b" in capsys.readouterr().err
    assert run([*words, f"{tmp_path}/none/g.npz"]) == 74
    assert "cannot be written" in capsys.readouterr().err


def test_what_is_read_from_the_file_itself_is_not_changed(
    capsys: Capture, tmp_path: Path, files: list[str]
) -> None:
    before = (tmp_path / "a.npy").read_bytes()
    assert run(["grad", "a += w; (a*a).sum()", files[0], "w=1", "-q"]) == 0
    words = ["descend", "mean(a^2)", files[0], "-q", "--steps", "1", "--lr", "1e5"]
    assert run([*words, "--wrt", "a"]) == 0
    assert (tmp_path / "a.npy").read_bytes() == before


def test_too_many_numbers_to_check_are_told(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gradcli.answers.jobs.MAX_NUMBERS", 3)
    assert run(["grad", "(a*a).sum()", "a=[1,2]", "--require", "sampled"]) == 1
    out, err = capsys.readouterr()
    assert "d/da  unknown  (5 numbers are too many to be checked)" in out
    assert "unknown, not sampled: a" in err
