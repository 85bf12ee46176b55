"""Arrays of many entries, within the limit on memory; large blocks that are mostly
zeros, shown by structure, coordinates or a picture, and written to files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import mmread
from scipy.sparse import csr_array, diags_array, load_npz

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


STENCIL = ["x[1:]^2 - x[:-1]", "x=linspace(0,1,5000)"]
"""Two diagonals of 4,999 entries each."""

SMALL = ["x[1:]^2 - x[:-1]", "x=[1,2,3]"]
MATRIX = [[-1.0, 4.0, 0.0], [0.0, -1.0, 6.0]]
TWO = ["a*sin(x)", "x=[1,2]", "a=2"]


def test_a_large_banded_block_is_a_line_per_stored_entry_in_a_pipe(
    gradcli: Run,
) -> None:
    lines = gradcli("jacobian", *STENCIL, "--no-verify").out.splitlines()
    assert lines[:4] == [
        "d/dx  (4999, 5000)  banded",
        "  9,998 of 24,995,000 entries stored (0.04%), from the diagonal to 1 above",
        "  [0, 0] = -1.0",
        f"  [0, 1] = {2 / 4999!r}",
    ]
    assert lines[9999].startswith("  [4998, 4999] = ")
    assert lines[-1] == "one backward pass for all 4,999 rows"


def test_json_has_coordinates_and_values(gradcli: Run) -> None:
    (block,) = gradcli("jacobian", *STENCIL, "--json", "--no-verify").json["blocks"]
    assert "value" not in block
    assert (block["structure"], block["shape"]) == ("banded", [4999, 5000])
    assert (block["size"], block["stored"]) == ([4999, 5000], 9998)
    assert block["bandwidth"] == [0, 1]
    places = block["rows"], block["columns"]
    found = csr_array((block["values"], places), (4999, 5000))
    x = np.linspace(0, 1, 5000)
    slopes = [-np.ones(4999), 2 * x[1:]]
    wanted = diags_array(slopes, offsets=[0, 1], shape=(4999, 5000))
    assert abs(found - wanted).max() < 1e-12


def test_a_hundred_thousand_entries_work_by_default(gradcli: Run) -> None:
    words = [STENCIL[0], "x=linspace(0,1,100000)", "-q", "--no-verify"]
    rows, columns, values = json.loads(gradcli("jacobian", *words).out)
    assert len(rows) == len(columns) == len(values) == 199_998


def test_small_blocks_and_dense_ones_keep_their_zeros(gradcli: Run) -> None:
    ended = gradcli("jacobian", *SMALL, "-q", "--no-verify")
    assert json.loads(ended.out) == MATRIX
    words = ["sin(x)", "x=linspace(0,1,70)", "-q", "--no-verify"]
    full = json.loads(gradcli("jacobian", *words, "--dense").out)
    np.testing.assert_array_equal(full, np.diag(np.cos(np.linspace(0, 1, 70))))


@pytest.mark.parametrize("suffix", ["npz", "mtx", "npy", "NPZ"])
def test_a_block_is_written_to_a_file(
    gradcli: Run, tmp_path: Path, suffix: str
) -> None:
    name = f"J.{suffix}"
    ended = gradcli("jacobian", *SMALL, "--out", name, "--no-verify")
    assert f"  written to {name}\n" in ended.out
    read = {"npz": load_npz, "mtx": mmread, "npy": np.load}[suffix.lower()]
    found = read(tmp_path / name)
    dense = found if suffix == "npy" else found.toarray()
    np.testing.assert_array_equal(dense, MATRIX)
    told = gradcli("jacobian", *SMALL, "--out", name, "--json", "--no-verify").json
    assert told["blocks"][0]["file"] == name
    assert "value" not in told["blocks"][0]


def test_several_blocks_are_written_by_their_names(
    gradcli: Run, tmp_path: Path
) -> None:
    refused = gradcli("jacobian", *TWO, "--out", "J.npz", "--no-verify")
    assert (refused.status, refused.out) == (2, "")
    assert "--out writes one block, and there are 2: a, x" in refused.err
    assert "--wrt" in refused.err
    assert "J-{}.npz" in refused.err
    assert not list(tmp_path.iterdir())
    assert gradcli("jacobian", *TWO, "--out", "J-{}.npz", "-q").status == 0
    assert {path.name for path in tmp_path.iterdir()} == {"J-a.npz", "J-x.npz"}
    gradcli("hessian", "x^2*y", "x=3", "y=2", "--out", "H-{}.npy", "--no-verify")
    assert np.load(tmp_path / "H-x-y.npy") == 6


def test_a_sparse_hessian_is_banded(gradcli: Run) -> None:
    words = ["(100*(x[1:]-x[:-1]^2)^2 + (1-x[:-1])^2).sum()", "x=linspace(1,2,10000)"]
    (block,) = gradcli("hessian", *words, "--json", "--no-verify").json["blocks"]
    assert (block["structure"], block["bandwidth"]) == ("banded", [1, 1])
    assert block["stored"] == 29_998


def test_of_very_many_entries_some_are_checked(gradcli: Run) -> None:
    told = gradcli("jacobian", *STENCIL, "--json").json
    verdict = told["verification"]
    assert verdict["verdict"] == "sampled"
    assert 0 < verdict["checked"] < verdict["of"] == 24_995_000
    assert "of 24995000 entries, drawn with seed 0" in told["blocks"][0]["note"]
