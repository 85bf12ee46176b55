"""Tables of points: what is read, and what is said of a row that cannot be."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from gradcli.lang.errors import ProgramError
from gradcli.tables import text_tables
from gradcli.tables.points import point_blocks
from gradcli.tables.text_tables import Points, WantedColumns

READERS = ["arrow", "python"]


@pytest.fixture(params=READERS)
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to read a block of text."""
    if request.param == "python":
        monkeypatch.setattr(text_tables, "find_spec", lambda name: None)
    elif find_spec("pyarrow") is None:
        pytest.skip("pyarrow is not installed")
    else:
        monkeypatch.setattr(text_tables, "ARROW_BYTES", 0)
    return str(request.param)


def read(path: Path, *names: str) -> list[Points]:
    return [block() for block in point_blocks(str(path), WantedColumns(names))]


def column(blocks: list[Points], name: str) -> list[float]:
    return [float(v) for block in blocks for v in block.columns[name]]


TEXTS = {
    ".csv": 'x,name,b\n1,a,2\n3e2,"b, c",-4\nnan,d,inf\n',
    ".tsv": "x\tname\tb\n1\ta\t2\n3e2\tb, c\t-4\nnan\td\tinf\n",
    ".jsonl": '{"x": 1, "b": 2}\n{"b": -4, "x": 300.0, "name": 1}\n'
    '{"x": NaN, "b": Infinity}\n',
}


@pytest.mark.parametrize("suffix", TEXTS)
def test_columns_are_found_by_name(suffix: str, reader: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text(TEXTS[suffix])
    blocks = read(path, "b", "x")
    np.testing.assert_array_equal(column(blocks, "x"), [1, 300, np.nan])
    assert column(blocks, "b") == [2.0, -4.0, np.inf]
    assert not any(block.bad for block in blocks)


TABLES: dict[str, tuple[str, dict[str, list[float]], list[str]]] = {
    "marks before and behind the text do not count": (
        "\ufeff x , b\r\n1,2\r\n\r\n3,4",
        {"x": [1, 3], "b": [2, 4]},
        [],
    ),
    "a bad row is told by its line and left out": (
        "x,b\n1,2\nabc,3\n4,\n5\n6,7,8\n9,10\n",
        {"x": [1, 9], "b": [2, 10]},
        [
            "line 3: x is 'abc', not a number",
            "line 4: b is empty",
            "line 5: 1 cell in place of 2",
            "line 6: 3 cells in place of 2",
        ],
    ),
    "columns that are not read may hold anything and share a name": (
        "note,x,note\nhello,1,\n,2,b\n",
        {"x": [1, 2]},
        [],
    ),
    "marks between quotes separate nothing": (
        'note,x,b\n"a,5,7,b",1,2\n"he said ""x\n3,4,5""",6,7\n8" pipe,8,9\n',
        {"x": [1, 6, 8], "b": [2, 7, 9]},
        [],
    ),
    "a quote that nobody closes is told with its lines": (
        'x,note\n1,a\n2,"b\n3,c\n',
        {"x": [1]},
        ["lines 3 to 4: a quotation mark is not closed"],
    ),
    "a row with too few cells is bad whatever is read of it": (
        "x,b\n1,2\n5\n3,4,9\n6,7\n",
        {"x": [1, 6]},
        ["line 3: 1 cell in place of 2", "line 4: 3 cells in place of 2"],
    ),
    "a row of empty cells is a row and a blank line is none": (
        "\n  \nx,b\n\n1,2\n,\n  \n3,4\n",
        {"x": [1, 3], "b": [2, 4]},
        ["line 6: x is empty"],
    ),
    "a semicolon separates where the names say so": (
        "x;b\n1.5;2\n2,5;3\n",
        {"b": [2], "x": [1.5]},
        ["line 3: x is '2,5', not a number: write a point for the comma"],
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_text_is_read_as_it_is_meant(case: str, reader: str, tmp_path: Path) -> None:
    text, columns, told = TABLES[case]
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    blocks = read(path, *columns)
    assert {name: column(blocks, name) for name in columns} == columns
    said = [f"{bad.place}: {bad.reason}" for block in blocks for bad in block.bad]
    assert [each.rpartition("t.csv, ")[2] for each in said] == told
    for block in blocks:
        numbers = [block.number(row) for row in range(block.rows)]
        numbers += [bad.nr for bad in block.bad]
        assert sorted(numbers) == list(range(len(numbers)))


def test_a_bad_line_of_json_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    lines = ['{"x": [1, 2]}', "[1]", '{"y": 1}', '{"x": "a"}', '{"x": [1]}', "{", "",
             '{"x": null}', '{"x": [1, null]}', '{"x": [3, 4], "y": null}']  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    (block,) = read(path, "x")
    assert block.columns["x"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert [bad.place.rpartition(" ")[2] for bad in block.bad] == list("2345689")[:7]
    assert [bad.nr for bad in block.bad] == [1, 2, 3, 4, 5, 6, 7]
    reasons = [bad.reason for bad in block.bad]
    assert reasons.pop(4).startswith("not JSON: ")
    assert reasons == [
        "not an object", "x has no value", 'x is "a", not numbers',
        "x has shape [1], before it had [2]", "x is empty", "x has an empty entry",
    ]  # fmt: skip


def test_long_text_is_read_in_blocks_with_the_numbers_of_its_lines(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_tables, "BLOCK_BYTES", 64)
    path = tmp_path / "t.csv"
    rows = [f"{n},{n * n}" for n in range(200)]
    rows[150] = "what,1"
    path.write_text("x,b\n" + "\n".join(rows) + "\n")
    blocks = read(path, "x", "b")
    assert len(blocks) > 10
    assert column(blocks, "b") == [float(n * n) for n in range(200) if n != 150]
    (bad,) = [bad for block in blocks for bad in block.bad]
    assert bad.place.endswith("line 152")


@pytest.mark.parametrize("fields", [True, False])
def test_an_array_has_a_row_for_each_point(fields: bool, tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    table = np.arange(6.0).reshape(3, 2)
    if fields:
        np.save(path, np.rec.fromarrays(table.T, names="b,x"))
    else:
        np.save(path, table)
    blocks = read(path, "x", "b")
    x = table[:, 1] if fields else table[:, 0]
    assert column(blocks, "x") == list(x)


def test_a_parquet_file_is_read_and_its_empty_cells_told(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": [1, 2, None], "b": [0.5, None, 1.0]}), path)
    (block,) = read(path, "x", "b")
    assert block.columns["x"].tolist() == [1.0]
    assert [bad.place.rpartition(" ")[2] for bad in block.bad] == ["2", "3"]
    assert [bad.reason for bad in block.bad] == ["b is empty", "x is empty"]


REFUSED = {
    "missing.csv": ("E511", "there is no file"),
    "t.xlsx": ("E513", "is no table that is known here"),
    "other.csv": ("E518", "has no column 'b'"),
    "garbage.npy": ("E513", "is no array"),
    "cube.npy": ("E513", "has shape [2, 2, 2]"),
    "latin.csv": ("E513", "is not text in UTF-8"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused(name: str, reader: str, tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("x,b\n")
    (tmp_path / "other.csv").write_text("x,bb\n1,2\n")
    (tmp_path / "garbage.npy").write_bytes(b"\x93NUMPY\x01\x00nonsense")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    (tmp_path / "latin.csv").write_bytes("x,b\n\xe9,1\n".encode("latin-1"))
    code, message = REFUSED[name]
    with pytest.raises(ProgramError) as error:
        read(tmp_path / name, "x", "b")
    assert error.value.code == code
    assert message in error.value.message


def test_numbers_of_json_are_read_back_as_written(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    numbers = [0.1, 1e-300, 123456789.123456789, 5e-324]
    path.write_text("".join(json.dumps({"x": x}) + "\n" for x in numbers))
    assert column(read(path, "x"), "x") == numbers


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [("", "E512", "there is no table in the directory"),
     ("nix*.csv", "E511", "no file has a name like")],
)  # fmt: skip
def test_a_place_without_a_table_is_told(
    place: str, code: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ProgramError) as caught:
        next(point_blocks(str(tmp_path / place), WantedColumns(("x",))))
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.hint is not None


def test_a_block_does_not_end_between_quotes(
    reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_tables, "BLOCK_BYTES", 40)
    path = tmp_path / "t.csv"
    rows = [f'{k},"over\n{k},9,\nlines",{k + 1}\n' for k in range(50)]
    path.write_text("x,note,b\n" + "".join(rows) + "bad,a,1\n")
    blocks = read(path, "x", "b")
    assert len(blocks) > 5
    assert column(blocks, "x") == list(range(50))
    assert column(blocks, "b") == list(range(1, 51))
    (bad,) = [bad for block in blocks for bad in block.bad]
    assert bad.place.endswith("line 152")


def test_a_number_is_the_same_whoever_reads_it(reader: str, tmp_path: Path) -> None:
    cells = ["+1", ".5", "5.", "1E3", " 2 ", "-inf", "Infinity", "NaN", '"7"']
    none = ["1_000", "0x10", "1d3", "١", "1 2", "$5", "True"]
    path = tmp_path / "t.tsv"
    path.write_text("x\n" + "\n".join([*cells, *none]) + "\n")
    (block,) = read(path, "x")
    want = [1, 0.5, 5, 1000, 2, -np.inf, np.inf, np.nan, 7]
    np.testing.assert_array_equal(column([block], "x"), want)
    assert len(block.bad) == len(none)
    for cell in none:
        path.write_text(f"x\n{cell}\n")
        assert len(read(path, "x")[0].bad) == 1, cell


LINES = [
    '{"x":1}{"x":2}', '{"x":NaN}', '{"x":"3"}', '{"x":null}', "{}", '{"x":1,"x":2}',
    "[1]", '{"x":[1,2]}', '{"x":1} junk', '{"x":1e400}', '{"x":01}', '{"x":true}',
    '{"x":1,}', '{"x":12345678901234567890}', '{"x":-0.0}', '{"x":Infinity}',
    '{"x":1\n}', "\n \n{\"x\":1}\r\n{\"x\":0.1}", '{"x":1e-400}',
    '{"x":1' + "0" * 400 + "}",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_an_object_of_json_is_the_same_alone_and_among_others(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"x":7}\n' + line + "\n")
    found = [repr(read(path, "x"))]
    monkeypatch.setattr(text_tables, "_plain_numbers", None)
    assert [repr(read(path, "x"))] == found


def test_a_list_of_numbers_is_the_column_of_one_input(tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", np.array([1, 0, 3], dtype=np.int16))
    assert column(read(tmp_path / "t.npy", "x"), "x") == [1.0, 0.0, 3.0]
    with pytest.raises(ProgramError, match="x, b are read from its columns"):
        read(tmp_path / "t.npy", "x", "b")


NO_NUMBERS = {
    "complex128": np.array([(1 + 2j, 0.0)], dtype=[("x", "c16"), ("b", "f8")]),
    "<U3": np.array([("1", 0.0)], dtype=[("x", "U3"), ("b", "f8")]),
    "datetime64": np.array(["2020-01-01"], dtype="datetime64[D]"),
}


@pytest.mark.parametrize("held", NO_NUMBERS)
def test_an_array_of_something_else_is_refused(held: str, tmp_path: Path) -> None:
    np.save(tmp_path / "t.npy", NO_NUMBERS[held])
    with pytest.raises(ProgramError, match="not real numbers") as caught:
        read(tmp_path / "t.npy", "x")
    assert caught.value.code == "E514"
    assert held in caught.value.message


def test_a_date_is_no_number(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    dates = np.array(["2020-01-01"], "datetime64[ms]")
    parquet.write_table(pa.table({"x": dates}), path)
    with pytest.raises(ProgramError, match=r"holds timestamp\[ms\], not numbers"):
        read(path, "x")


BEYOND_PYTHON = {
    "duration[ns]": (1, "1"),
    "time64[ns]": (86_399_999_999_999, "23:59:59.999999999"),
    "timestamp[ns]": (1, "1970-01-01 00:00:00.000000001"),
    "timestamp[us]": (1 << 58, "11103-08-29 17:22:31.711744"),
    "date32[day]": (4_000_000, "12921-08-18"),
}
"""A number of each type of which Python has no value, and the cell that is carried."""


@pytest.mark.parametrize("kind", BEYOND_PYTHON)
def test_dates_beyond_those_of_python_are_carried_along(
    kind: str, tmp_path: Path
) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    number, cell = BEYOND_PYTHON[kind]
    whole = pa.array([number, None], "int32" if "32" in kind else "int64")
    name, _, unit = kind.rstrip("]").partition("[")
    kept = whole.cast(pa.date32() if unit == "day" else getattr(pa, name)(unit))
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"x": [1.0, 2.0], "k": kept}), path)
    (block,) = [
        b() for b in point_blocks(str(path), WantedColumns(("x",), kept=("k",)))
    ]
    assert [*map(json.loads, block.columns["k"])] == [cell, None]


def test_a_damaged_page_is_an_error_of_its_file(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    table = pa.table({"x": [*map(float, range(500))]})
    parquet.write_table(table, path, use_dictionary=False)
    good = path.read_bytes()
    column = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    begin, codes = column.data_page_offset, set()
    for at in range(begin, begin + column.total_compressed_size, 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
        try:
            read(path, "x")
        except ProgramError as error:
            codes.add(error.code)
    assert codes
    assert codes <= {"E512", "E513"}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_input_has_one_column(suffix: str, reader: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    if suffix == ".csv":
        path.write_text("x,b,x\n1,2,3\n")
    else:
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = [pa.array([float(k)]) for k in range(3)]
        table = pa.Table.from_arrays(columns, names=["x", "b", "x"])
        parquet.write_table(table, path)
    with pytest.raises(ProgramError, match="has 2 columns 'x'") as caught:
        read(path, "x", "b")
    assert caught.value.code == "E518"


def test_parts_have_all_rows_of_points_good_and_bad(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x\nbad\n1\n2\nbad\nbad\n3\n4\n5\nbad\n")
    (block,) = point_blocks(str(path), WantedColumns(("x",)))
    parts = [part() for part in block.parts(lambda: 2)]
    assert [part.columns["x"].tolist() for part in parts] == [[1, 2], [3, 4], [5]]
    assert [[bad.nr for bad in part.bad] for part in parts] == [[0, 3, 4], [], [1]]
