"""Columns of numbers as files: text, lines of JSON, .npy, .parquet.

Invariant: rows are written block by block as they come; a number in a text is read back
as the same number.

    with open_columns("out.csv", ["value", "grad_x"]) as out:
        out.write(out.encoded(out.names, [value, grad_x]))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from io import BytesIO
from os.path import splitext
from typing import IO, Any

import numpy as np

from ..lang.errors import ProgramError
from ..lang.filesystem import FOLDER, refusal, replacing
from .jsons import dumps


class Columns:
    """A file of columns that is being written; here as text with commas.

    `encoded` needs no file, so rows may be encoded in the process that computed them.
    """

    separator = ","

    def __init__(self, file: IO[bytes], names: Sequence[str]) -> None:
        self.file = file
        self.names = list(names)
        self.start()

    def start(self) -> None:
        """Write the head of the file, before the first row."""
        self.file.write(self.separator.join(self.names).encode() + b"\n")

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> Any:
        """Return rows in the file's format, from an array for each name."""
        arrays = _numbers(names, columns)
        if find_spec("pyarrow"):
            return _by_arrow(arrays, cls.separator)
        # A whole number is written without a point.
        cells = (
            [repr(n).removesuffix(".0") for n in array.tolist()] for array in arrays
        )
        lines = map(cls.separator.join, zip(*cells, strict=True))
        return "".join(f"{line}\n" for line in lines).encode()

    def write(self, rows: Any) -> None:
        """Append encoded rows."""
        self.file.write(rows)

    def flush(self) -> None:
        """Write out what is buffered, so that other processes see it."""
        self.file.flush()

    def end(self) -> None:
        """Write what is known only after the last row."""


def _by_arrow(arrays: Sequence[object], separator: str) -> bytes:
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table(list(map(pa.array, arrays)), [str(k) for k in range(len(arrays))])
    text = BytesIO()
    options = csv.WriteOptions(
        include_header=False, delimiter=separator, batch_size=max(1, table.num_rows)
    )
    csv.write_csv(table, text, options)
    return text.getvalue()


class _Tabs(Columns):
    separator = "\t"


class _JsonLines(Columns):
    def start(self) -> None:
        """Write nothing: every row has the names."""

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> bytes:
        cells = map(_json_cells, columns)
        keys = (dumps(name).replace("%", "%%") for name in names)
        line = "{" + ", ".join(f"{key}: %s" for key in keys) + "}\n"
        return "".join(map(line.__mod__, zip(*cells, strict=True))).encode()


def _json_cells(column: object) -> Iterator[str]:
    """Return the entries of a column as texts of JSON."""
    array = np.asarray(column, float)
    plain = array.ndim == 1 and np.isfinite(array).all()
    return map(repr if plain else dumps, array.tolist())


class _Npy(Columns):
    """A .npy file with a field per name; its header leaves room for a longer
    dimension."""

    rows = 0

    def start(self) -> None:
        self.dtype = _record(self.names)
        self.end()

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> bytes:
        block = np.empty(len(columns[0]), _record(names))
        for name, array in zip(names, _numbers(names, columns), strict=True):
            block[name] = array
        return block.tobytes()

    def write(self, rows: bytes) -> None:
        self.rows += len(rows) // self.dtype.itemsize
        self.file.write(rows)

    def end(self) -> None:
        """Write the head anew, with the number of rows."""
        fields = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.rows,),
        }
        self.file.seek(0)
        np.lib.format.write_array_header_1_0(self.file, fields)


def _record(names: Sequence[str]) -> np.dtype[Any]:
    return np.dtype([(name, "<f8") for name in names])


class _Parquet(Columns):
    def start(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self.schema = pa.schema([(name, pa.float64()) for name in self.names])
        self.writer = parquet.ParquetWriter(self.file, self.schema)

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> list[object]:
        return _numbers(names, columns)

    def write(self, rows: list[object]) -> None:
        import pyarrow as pa

        table = pa.table(list(map(pa.array, rows)), schema=self.schema)
        self.writer.write_table(table)

    def end(self) -> None:
        self.writer.close()


KINDS: dict[str, type[Columns]] = {
    ".csv": Columns,
    ".tsv": _Tabs,
    ".jsonl": _JsonLines,
    ".npy": _Npy,
    ".parquet": _Parquet,
}
"""Classes of the formats, by the suffix of the file."""


@contextmanager
def columns_to(file: IO[bytes], suffix: str, names: Sequence[str]) -> Iterator[Columns]:
    """Write columns to an open file in the format of a suffix; rows before a failure
    stay in the file."""
    columns = KINDS[suffix](file, names)
    try:
        yield columns
    finally:
        columns.end()
        file.flush()


def format_of(path: str) -> str:
    """Return the suffix of a file's name, which names its format; raise ProgramError if
    it is unknown, or needs a package that is not installed."""
    suffix = splitext(path)[1].lower()
    if suffix not in KINDS:
        hint = f"its name ends with one of {', '.join(KINDS)}"
        raise ProgramError("E509", f"--out: no format for {path!r}", hint=hint)
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        hint = "pip install '.[table]' in a clone of gradcli"
        raise ProgramError("E512", "a .parquet file is written by pyarrow", hint=hint)
    return suffix


@contextmanager
def open_columns(path: str, names: Sequence[str]) -> Iterator[Columns]:
    """Write columns to a file, which appears when all is written, in the format that
    its name's suffix says; raise ProgramError if that is not known or the file cannot
    be written."""
    suffix = format_of(path)
    try:
        with replacing(path) as file, columns_to(file, suffix, names) as columns:
            yield columns
    except OSError as error:
        message, hint = refusal(path, error, FOLDER, "written")
        raise ProgramError("E512", f"--out: {message}", hint=hint) from None


def _numbers(names: Sequence[str], columns: Sequence[Any]) -> list[Any]:
    """Return the columns as arrays with one number for each row; raise ProgramError if
    a row has more than one number in a column."""
    for name, column in zip(names, columns, strict=True):
        if np.ndim(column) > 1:
            shape = list(np.shape(column)[1:])
            message = f"{name} has shape {shape} at each point, and a cell one number"
            raise ProgramError("E509", message, hint="write .jsonl: --out FILE.jsonl")
    return [np.asarray(column, float) for column in columns]
