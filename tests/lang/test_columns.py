"""``x=@points.csv:x``: a column of a table as an input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.prepare import prepare
from gradcli.tables.files import read_file

ROWS = [(1.0, 2.0), (-3.5, 4.0)]


def written(folder: Path, suffix: str) -> Path:
    """A table with the columns x and y."""
    path = folder / f"points{suffix}"
    if suffix == ".npy":
        np.save(path, np.array(ROWS, dtype=[("x", "f8"), ("y", "f4")]))
    elif suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        x, y = (list(column) for column in zip(*ROWS, strict=True))
        parquet.write_table(pa.table({"x": x, "y": y}), path)
    elif suffix == ".jsonl":
        path.write_text("".join(f'{{"x": {x}, "y": {y}}}\n' for x, y in ROWS))
    elif suffix == ".json":
        path.write_text(json.dumps({"x": [1.0, -3.5], "y": [2.0, 4.0]}))
    else:
        mark = "\t" if suffix == ".tsv" else ","
        lines = [f"x{mark}y", *(f"{x}{mark}{y}" for x, y in ROWS)]
        path.write_text("\n".join(lines) + "\n")
    return path


SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".npy", ".parquet")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_column_is_read_by_its_name(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, suffix)
    assert read_file(f"{path}:y").tolist() == [2.0, 4.0]
    assert read_file(f"{path}:x").tolist() == [1.0, -3.5]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_column_is_named_with_those_there_are(
    tmp_path: Path, suffix: str
) -> None:
    path = written(tmp_path, suffix)
    with pytest.raises(ProgramError) as caught:
        read_file(f"{path}:xx")
    said = f"{caught.value.message} {caught.value.hint}"
    assert caught.value.code == "E518"
    assert "'xx'" in said
    assert "x, y" in said
    assert "did you mean" in said


def test_a_table_without_a_column_asks_for_one(tmp_path: Path) -> None:
    for suffix in (".jsonl", ".npy", ".json", ".parquet"):
        path = written(tmp_path, suffix)
        with pytest.raises(ProgramError) as caught:
            read_file(str(path))
        assert f"@{path}:x" in str(caught.value.hint)
    assert read_file(str(written(tmp_path, ".csv"))).shape == (2, 2)


def test_a_list_of_objects_has_columns(tmp_path: Path) -> None:
    path = tmp_path / "l.json"
    path.write_text('[{"x": 1, "y": 2}, {"x": 3}]')
    assert read_file(f"{path}:x").tolist() == [1.0, 3.0]
    with pytest.raises(ProgramError, match="object 2 has no value 'y'"):
        read_file(f"{path}:y")


def test_a_column_has_a_limit_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("x,y\n" + "1,22222222\n" * 1000)
    assert read_file(f"{path}:x", limit=8000).shape == (1000,)
    with pytest.raises(ProgramError) as caught:
        read_file(f"{path}:x", limit=7000)
    assert caught.value.code == "E515"


def test_an_array_without_fields_has_no_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    with pytest.raises(ProgramError, match="x is read from its columns"):
        read_file(f"{tmp_path}/a.npy:x")


def test_a_file_whose_name_has_a_colon_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv:x"
    path.write_text("1,2\n")
    assert read_file(str(path)).tolist() == [1.0, 2.0]


def differentiated(words: list[str], **options: object) -> list[str]:
    prepared = prepare("mean((w*x + b - y)^2)", read_bindings(words), **options)  # type: ignore[arg-type]
    return [given.name for given in prepared.inputs if given.requires_grad]


def test_what_is_read_from_a_file_is_data(tmp_path: Path) -> None:
    path = written(tmp_path, ".csv")
    read = [f"x=@{path}:x", f"y=@{path}:y"]
    assert differentiated([*read, "w=0", "b=0"]) == ["w", "b"]
    assert differentiated(read) == ["w", "b"]
    assert differentiated([*read, "w=0", "b=0"], wrt=["x", "w"]) == ["w", "x"]
    alone = [*read, f"w=@{path}:x", f"b=@{path}:x"]
    assert differentiated(alone) == ["w", "x", "b", "y"]


def test_an_error_in_a_column_stands_in_its_argument(tmp_path: Path) -> None:
    path = written(tmp_path, ".csv")
    with pytest.raises(ProgramError) as caught:
        prepare("x.sum()", read_bindings([f"x=@{path}:z"]))
    assert caught.value.source == f"x=@{path}:z"
