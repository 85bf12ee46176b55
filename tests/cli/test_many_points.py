"""``gradcli grad --table`` and ``--sweep``: a program at many points."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import subprocess
from collections.abc import Sequence
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


def test_a_row_of_a_table_is_a_row_of_the_results(gradcli: Run, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("b,x\n2,1\n3,2\n")
    ended = gradcli("grad", CUBE, "--table", str(path))
    assert (ended.status, ended.err) == (0, "")
    assert rows(ended.out) == [
        {"x": 1, "b": 2, "value": 3, "grad_x": 3, "grad_b": 1},
        {"x": 2, "b": 3, "value": 11, "grad_x": 12, "grad_b": 1},
    ]


def test_standard_input_and_a_shared_value(gradcli: Run) -> None:
    ended = gradcli("grad", CUBE, "b=10", "--table", "-", stdin="x\n1\n2\n")
    assert [row["value"] for row in rows(ended.out)] == [11, 18]


LEFT_OUT = "note: 2 rows could not be computed and are left out\n"


def test_bad_rows_are_told_and_left_out(gradcli: Run, table: str) -> None:
    ended = gradcli("grad", CUBE, "--table", table)
    assert ended.status == 3
    assert [row["value"] for row in rows(ended.out)] == [3, 11, 131]
    assert ended.err == (
        f"note: {table}, line 4: x is 'abc', not a number\n"
        f"note: {table}, line 5: b is empty\n" + LEFT_OUT
    )


def test_bad_rows_are_nan_where_that_is_asked_for(gradcli: Run, table: str) -> None:
    ended = gradcli("grad", CUBE, "--table", table, "--on-error", "nan")
    assert ended.status == 3
    values = [row["value"] for row in rows(ended.out)]
    assert values[:2] == [3, 11]
    assert math.isnan(values[2])
    assert math.isnan(values[3])
    assert values[4] == 131


def test_a_bad_row_ends_the_work_where_that_is_asked_for(
    gradcli: Run, table: str
) -> None:
    ended = gradcli("grad", CUBE, "--table", table, "--on-error", "stop")
    assert ended.status == 3
    assert [row["value"] for row in rows(ended.out)] == [3, 11]
    assert ended.err == (f"error[E517]: {table}, line 4: x is 'abc', not a number\n")


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


def test_a_row_at_which_the_program_fails_is_told(gradcli: Run, tmp_path: Path) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text('{"x": 0, "v": [1, 2]}\n{"x": 2, "v": [1, 2]}\n')
    text = "i = int(x.item()); v[i]*2"
    ended = gradcli("grad", text, "--table", str(path))
    assert ended.status == 3
    assert [json.loads(line)["value"] for line in ended.out.splitlines()] == [2.0]
    assert ended.err.startswith("note: row 2: index 2 is out of bounds")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".npy", ".parquet"])
def test_results_are_written_in_the_format_of_the_file(
    gradcli: Run, suffix: str, tmp_path: Path
) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"out{suffix}"
    ended = gradcli("grad", CUBE, "--sweep", "x=0:2:3", "b=1", "--out", str(path))
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


def test_a_sweep_of_two_inputs_is_a_grid(gradcli: Run) -> None:
    ended = gradcli("grad", "x*y", "--sweep", "x=0:1:2", "--sweep", "y=0:pi:3")
    found = [(row["x"], row["y"], row["grad_x"]) for row in rows(ended.out)]
    half, whole = math.pi / 2, math.pi
    assert found == [(0, 0, 0), (0, half, half), (0, whole, whole),
                     (1, 0, 0), (1, half, half), (1, whole, whole)]  # fmt: skip


def test_many_blocks_come_in_order(gradcli: Run, tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    count = 300_000
    path.write_text("x\n" + "\n".join(f"{n}.5" for n in range(count)) + "\n")
    out = tmp_path / "out.npy"
    ended = gradcli("grad", "x**2", "--table", str(path), "--out", str(out))
    assert (ended.status, ended.err) == (0, "")
    assert np.array_equal(np.load(out)["grad_x"], 2 * np.arange(count) + 1.0)


def test_a_sweep_is_drawn_over_the_values_it_has(gradcli: Run) -> None:
    ended = gradcli("grad", "y = log(x)", "--sweep", "x=-1:2:31", "--plot")
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert [lines[0], lines[11]] == ["value", "d/dx"]
    assert lines[1].strip().startswith("0.693147 ┤")
    assert lines[10].split() == ["0.1", "2"]
    assert ended.err == "note: not drawn where not finite, at 11 of the points\n"


def test_a_value_of_several_numbers_has_no_row(gradcli: Run) -> None:
    ended = gradcli("grad", "x*w", "--sweep", "x=0:1:2", "w=[1, 2]")
    assert ended.status == 3
    assert "note: row 1: the value has shape [2]" in ended.err
    assert rows(ended.out) == []


WRONG: list[tuple[Sequence[str], int, str]] = [
    (["x", "--sweep", "x=0:1"], 2, "--sweep: 'x=0:1' is not NAME=START:STOP:COUNT"),
    (["x", "--sweep", "x=0:inf:3"], 2, "--sweep x=0:inf:3: it has no end"),
    (["x", "--sweep", "x=0:1:2", "--sweep", "x=0:1:2"], 2, "x is swept over twice"),
    (["x", "--sweep", "x=0:1:2", "--plot", "--json"], 2, "--plot draws, and --json"),
    (["x", "--sweep", "x=0:1:0"], 2, "--sweep x=0:1:0: 0 points"),
    (["x", "--sweep", "x=0:1:2", "x=1"], 2, "--sweep: x has a value already"),
    (["x", "--sweep", "z=0:1:2"], 2, "does not read 'z'"),
    (["x+y", "--sweep", "x=0:1:2"], 2, "no value for y"),
    (["x", "--sweep", "x=0:1:100000000"], 2, "100,000,000 points"),
    (["x*y", "--sweep", "x=0:1:5000", "--sweep", "y=0:1:5000"], 2, "too many points"),
    (["x", "--table", "gone.csv"], 3, "there is no file 'gone.csv'"),
    (["x", "--table", "a.csv.gz"], 3, "zcat a.csv.gz | gradcli"),
    (["x", "x=1", "--table", "gone.csv"], 2, "every input has a value already"),
    (["x", "--table", "a.csv", "--sweep", "x=0:1:2"], 2, "both give points"),
    (["x", "x=1", "--out", "a.csv"], 2, "--out is for many points"),
    (["x", "--sweep", "x=0:1:2", "--out", "a.doc"], 2, "no format for 'a.doc'"),
    (["x", "--sweep", "x=0:1:1", "--plot"], 2, "no curve can be drawn"),
    (["x", "x=1", "--plot"], 2, "--plot draws one --sweep"),
    (["x", "--sweep", "x=0:1:2", "--digits", "30"], 2, "--digits is not for many"),
    (["x", "--sweep", "x=0:1:2", "--out", "/nowhere/a.csv"], 3, "cannot be written"),
]


@pytest.mark.parametrize(("words", "status", "message"), WRONG)
def test_what_cannot_be_meant_is_refused(
    gradcli: Run, words: Sequence[str], status: int, message: str
) -> None:
    ended = gradcli("grad", *words)
    assert message in ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert ended.status == status


def test_two_sweeps_are_drawn_as_lines_of_equal_value(gradcli: Run) -> None:
    words = ["--sweep", "x=-1:1:21", "--sweep", "y=-2:2:21", "--plot"]
    ended = gradcli("grad", "x**2 + log(y)", *words)
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert lines[0] == "value"
    assert lines[1].startswith(" 2 ┤")
    assert lines[-2] == "x across, y up, arrows uphill"
    assert lines[-1].startswith("lines at ")
    assert "⇑" in ended.out
    assert ended.err == "note: not drawn where not finite, at 231 of the points\n"


def test_three_sweeps_are_not_drawn(gradcli: Run) -> None:
    sweeps = [word for name in "xyz" for word in ("--sweep", f"{name}=0:1:3")]
    ended = gradcli("grad", "x*y*z", *sweeps, "--plot")
    assert (ended.status, ended.out) == (2, "")
    assert "--plot draws one --sweep or two" in ended.err


@pytest.mark.parametrize("on_error", ["skip", "nan"])
def test_rows_may_all_be_bad(gradcli: Run, on_error: str) -> None:
    words = ["--table", "-", "--on-error", on_error]
    ended = gradcli("grad", CUBE, *words, stdin="x,b\na,1\n,2\n")
    assert ended.status == 3
    assert len(rows(ended.out)) == (2 if on_error == "nan" else 0)
    assert ended.err.startswith("note: standard input, line 2: x is 'a'")


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
    words += ["--cluster", "local:1"]
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
    if number == signal.SIGTERM:
        assert (status, told) == (-number, "")
    else:
        assert status == 130
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
    "time": (GROWS, "-1\n1\n-2\n", ["--max-seconds", "1"], "1 s of processor time"),
    "memory": (FILLS, "0\n90\n0\n", ["--max-seconds", "60"], "memory"),
}
"""Programs, points the second of which they cannot do, options, and what is told."""


@pytest.mark.parametrize(
    "cluster", [[], ["--cluster", "local:1"]], ids=["here", "pool"]
)
@pytest.mark.parametrize("what", ROWS_THAT_FAIL)
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
    assert last == "note: 1 row could not be computed and is left out"


def test_the_first_row_that_takes_too_long_ends_the_work_where_that_is_asked_for(
    gradcli: Run,
) -> None:
    words = [GROWS, "--table", "-", "--max-seconds", "1", "--on-error", "stop"]
    ended = gradcli("grad", *words, stdin="x\n-1\n" + "1\n" * 200)
    assert (ended.status, len(rows(ended.out))) == (4, 1)
    assert ended.err.startswith("error[E405]: the work took more than 1 s")
