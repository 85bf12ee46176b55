"""``gradcli grad --table`` and ``--sweep``: a program at many points."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from .conftest import COMMAND, Run, environment

CUBE = "x**3 + b"


def rows(out: str) -> list[dict[str, float]]:
    return [
        {name: float(cell) for name, cell in row.items()}
        for row in csv.DictReader(io.StringIO(out))
    ]


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "points.csv"
    path.write_text("x,b\n1,2\n2,3\nabc,1\n4,\n5,6\n")
    return str(path)


def test_rows_before_a_failure_are_written_where_it_ends_the_work(
    gradcli: Run, tmp_path: Path
) -> None:
    path = tmp_path / "points.csv"
    path.write_text("i\n0\n1\n5\n0\n")
    words = ["k = int(i.item()); v[k]*i", "v=[3, 4]", "--wrt", "i"]
    ended = gradcli("grad", *words, "--table", str(path), "--on-error", "stop")
    assert ended.status == 3
    assert [row["grad_i"] for row in rows(ended.out)] == [3, 4]
    assert "index 5 is out of bounds" in ended.err
    assert ended.err.startswith("error[")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".npy", ".parquet"])
def test_results_are_written_in_the_format_of_the_file(
    gradcli: Run, suffix: str, tmp_path: Path
) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"out{suffix}"
    ended = gradcli("grad", CUBE, "--sweep", "x=0..2:3", "b=1", "--out", str(path))
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert written(path) == [[0, 1, 0, 1], [1, 2, 3, 1], [2, 9, 12, 1]]


def written(path: Path) -> list[list[float]]:
    """The rows of a file, read by somebody else's reader."""
    if path.suffix == ".npy":
        return np.load(path).tolist() and [list(row) for row in np.load(path).tolist()]
    if path.suffix == ".parquet":
        from pyarrow import parquet

        return [list(row.values()) for row in parquet.read_table(path).to_pylist()]
    if path.suffix == ".jsonl":
        lines = path.read_text().splitlines()
        return [list(json.loads(line).values()) for line in lines]
    mark = "\t" if path.suffix == ".tsv" else ","
    table = np.loadtxt(path, delimiter=mark, skiprows=1)
    rows: list[list[float]] = table.tolist()
    return rows


def test_many_blocks_come_in_order(gradcli: Run, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    count = 300_000
    path.write_text("x\n" + "\n".join(f"{n}.5" for n in range(count)) + "\n")
    out = tmp_path / "out.npy"
    ended = gradcli("grad", "x**2", "--table", str(path), "--out", str(out))
    assert (ended.status, ended.err) == (0, "")
    assert np.array_equal(np.load(out)["grad_x"], 2 * np.arange(count) + 1.0)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".npy"])
def test_results_have_names_of_their_own(
    gradcli: Run, suffix: str, tmp_path: Path
) -> None:
    out = tmp_path / f"out{suffix}"
    words = ["--wrt", "x", "--table", "-", "--out", str(out)]
    ended = gradcli("grad", "value*x**2/grad_x", *words,
                    stdin="x,value,grad_x\n3,8,4\n")  # fmt: skip
    assert ended.status == 0
    assert written(out) == [[8, 3, 4, 18, 12]] or written(out) == [8, 3, 4, 18, 12]
    assert ended.err == (
        "note: value is an input: the result is in the column value_2\n"
        "note: grad_x is an input: the result is in the column grad_x_2\n"
    )


@pytest.mark.parametrize("suffix", [".csv", ".npy"])
def test_results_may_take_the_place_of_the_table(
    gradcli: Run, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"points{suffix}"
    count = 150_000
    if suffix == ".csv":
        path.write_text("x\n" + "".join(f"{n}.25\n" for n in range(count)))
    else:
        np.save(path, np.arange(count) + 0.25)
    ended = gradcli("grad", "x**2", "--table", str(path), "--out", str(path))
    assert (ended.status, ended.err) == (0, "")
    found = np.array(written(path))
    assert np.array_equal(found[:, 0], np.arange(count) + 0.25)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_table_stays_where_its_results_fail(gradcli: Run, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("x\n1\nbad\n")
    words = ["--table", str(path), "--out", str(path), "--on-error", "stop"]
    assert gradcli("grad", "x**2", *words).status == 3
    assert path.read_text() == "x\n1\nbad\n"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_results_are_not_written_among_the_files_that_are_read(
    gradcli: Run, tmp_path: Path
) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x\n1\n")
    ended = gradcli("grad", "x**2", "--table", str(tmp_path), "--out", "b.csv")
    assert (ended.status, ended.out) == (3, "")
    assert "--out: 'b.csv' is one of the 2 files of" in ended.err
    assert (tmp_path / "b.csv").read_text() == "x\n1\n"


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_what_can_be_read_of_a_bad_row_is_kept(
    gradcli: Run, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"points{suffix}"
    if suffix == ".csv":
        path.write_text("x,b\n,7\n1,2\n3,\n")
    elif suffix == ".jsonl":
        path.write_text('{"x": null, "b": 7}\n{"x": 1, "b": 2}\n{"x": 3}\n')
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        table = pa.table({"x": [None, 1.0, 3.0], "b": [7.0, 2.0, None]})
        parquet.write_table(table, path)
    out = tmp_path / "out.npy"
    words = ["--table", str(path), "--on-error", "nan", "--out", str(out)]
    words += ["--cluster", "local:1"] if suffix == ".csv" else []
    assert gradcli("grad", CUBE, *words).status == 3
    nan = math.nan
    want = [[nan, 7, nan, nan, nan], [1, 2, 3, 3, 1], [3, nan, nan, nan, nan]]
    np.testing.assert_array_equal(written(out), want)


@pytest.mark.skipif(os.name == "nt", reason="signals are the system's")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
@pytest.mark.parametrize("before", [None, "x\n7\n"], ids=["new", "old"])
def test_what_is_ended_on_its_way_leaves_no_part_of_a_file(
    tmp_path: Path, number: signal.Signals, before: str | None
) -> None:
    out = tmp_path / "out.csv"
    if before is not None:
        out.write_text(before)
    command = [*COMMAND, "grad", "x**2", "--table", "-", "--out", str(out)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"x\n2\n3\nbad\n")
        process.stdin.flush()
        assert b"line 4" in process.stderr.readline()
        process.send_signal(number)
        status, told = process.wait(60), process.stderr.read().decode()
    assert [p.name for p in tmp_path.iterdir()] == [out.name] * (before is not None)
    assert before is None or out.read_text() == before
    assert status == 128 + number
    assert told == f"interrupted: 3 rows done; {out} is not written\n"


STREAMS = {
    "x,b\n1,2\n": "x,b,value,grad_x,grad_b\n1,2,3,3,1\n",
    "x;b\n1;2\n": "x,b,value,grad_x,grad_b\n1,2,3,3,1\n",
    "b\tx\n2\t1\n": "x\tb\tvalue\tgrad_x\tgrad_b\n1\t2\t3\t3\t1\n",
    '{"x": 1, "b": 2}\n': '{"x": 1.0, "b": 2.0, "value": 3.0, "grad_x": 3.0, '
    '"grad_b": 1.0}\n',
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("place", ["-", "points"])
def test_rows_are_in_the_format_of_the_stream(
    gradcli: Run, tmp_path: Path, stream: str, place: str
) -> None:
    (tmp_path / "points").write_text(stream)
    ended = gradcli("grad", CUBE, "--table", place, stdin=stream)
    assert (ended.status, ended.err, ended.out) == (0, "", STREAMS[stream])


def test_seconds_are_those_of_a_row(gradcli: Run) -> None:
    text = "y = x\nwhile y < 300: y = y + 1\ny"
    points = "x\n" + "0\n" * 600
    words = ["--table", "-", "--max-seconds", "0.5"]
    ended = gradcli("grad", text, *words, stdin=points)
    assert (ended.status, ended.err) == (0, "")
    assert len(rows(ended.out)) == 600


def test_rows_of_a_stream_are_answered_as_they_come() -> None:
    command = [*COMMAND, "grad", "x**2", "--table", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, want in (("x\n2\n", ["x,value,grad_x", "2,4,4"]), ("3\n", ["3,9,6"])):
            process.stdin.write(line.encode())
            process.stdin.flush()
            for expected in want:
                assert process.stdout.readline().decode().strip() == expected


GROWS = "y = x\nwhile y > 0: y = y + 1\ny*x"
FILLS = "y = x\nfor i in range(int(x)): y = sum(ones(10))*y*ones(3000000)\ny.sum()"
ROWS_THAT_FAIL = {
    "time": (GROWS, "-1\n1\n-2\n", ["--max-seconds", "1.5"], "1.5 s of processor time"),
    "memory": (FILLS, "0\n90\n0\n", ["--max-seconds", "60"], "memory"),
}
"""Programs, points the second of which they cannot do, options, and what is told."""


@pytest.mark.parametrize(
    ("what", "cluster"),
    [("time", []), ("memory", []), ("memory", ["--cluster", "local:1"])],
    ids=["time", "memory", "memory-cluster"],
)
def test_a_row_that_takes_too_much_is_one_bad_row(
    gradcli: Run, what: str, cluster: list[str]
) -> None:
    text, points, options, told = ROWS_THAT_FAIL[what]
    words = [text, "--table", "-", *options, *cluster]
    ended = gradcli("grad", *words, stdin=f"x\n{points}")
    assert (ended.status, len(rows(ended.out))) == (3, 2)
    first, last = ended.err.splitlines()
    assert first.startswith("note: row 2: ")
    assert told in first
    assert last == "note: 1 row could not be computed and is skipped"


def test_the_first_row_that_takes_too_long_ends_the_work_where_that_is_asked_for(
    gradcli: Run,
) -> None:
    words = [GROWS, "--table", "-", "--max-seconds", "1.5", "--on-error", "stop"]
    ended = gradcli("grad", *words, stdin="x\n-1\n" + "1\n" * 20)
    assert (ended.status, len(rows(ended.out))) == (4, 1)
    assert ended.err.startswith("error[E405]: the work took more than 1.5 s")
