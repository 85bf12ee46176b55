"""Columns of numbers as files: text, JSON, .npy, .parquet.

Invariant: rows are written block by block as they come; a number in a text is read back
as the same number. A column of objects holds texts of JSON, which are carried along. A
column whose rows have several numbers is several columns, ``value_0``, ``value_1``;
in JSON it is one, of lists.

    with open_columns("out.csv", ["value", "grad_x"]) as out:
        out.write(out.encoded(["value", "grad_x"], [value, grad_x]))
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from io import StringIO
from math import isfinite
from typing import IO, Any

import numpy as np

from ..engine.extras import how_to_install
from ..lang.errors import ProgramError
from .filesystem import FOLDER, packed, refusal, replacing, suffixes
from .text_tables import TEXTS, is_quick


class Sparse(np.ndarray[Any, Any]):
    """A column of numbers, in some rows of which, ``absent``, there is none."""

    absent: Any = ()

    @classmethod
    def of(cls, column: Any, absent: Any) -> Any:
        """Return a column with NaN in the rows where there is no number."""
        made = np.array(column, float)
        made[absent] = np.nan
        found = made.view(cls)
        found.absent = absent
        return found

    def __array_finalize__(self, source: Any) -> None:
        self.absent = getattr(source, "absent", ())


Encoded = tuple[list[str], Any]
"""The names of columns, and rows in the format of a file."""


class ColumnFile:
    """A file of columns that is being written, here as text with commas; rows may be
    `encoded` in the process that computed them."""

    separator = ","

    def __init__(self, file: IO[bytes], names: Sequence[str]) -> None:
        self.file = file
        self.names: list[str] = []
        self._usual = names

    def start(self, types: Sequence[Any]) -> None:
        """Write the head of the file, before the first row; JSON has none."""
        if self.separator:
            self.file.write(_text([self.names], self.separator))

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> Encoded:
        """Return names and rows in the file's format, from an array for each name."""
        names, arrays = flat_columns(names, columns)
        plain = all(type(a) is np.ndarray and a.dtype == float for a in arrays)
        if plain and is_quick(sum(array.nbytes for array in arrays)):
            return names, _by_arrow(arrays, cls.separator)
        return names, _text(zip(*map(_cells, arrays), strict=True), cls.separator)

    def write(self, encoded: Encoded) -> None:
        """Append encoded rows."""
        names, rows = encoded
        if not len(rows):
            return
        if not self.names:
            self.names = names
            self.start(rows)
        if self.names != names:
            message = "the results of one row differ in shape from those before it"
            raise ProgramError("E595", message, hint="write .jsonl")
        self.put(rows)

    def put(self, rows: Any) -> None:
        """Write encoded rows."""
        self.file.write(rows)

    def end(self) -> None:
        """Write what is known only after the last row."""
        if not self.names:
            self.names = [*self._usual]
            self.start(())


def flat_columns(
    names: Sequence[str], columns: Sequence[Any]
) -> tuple[list[str], list[Any]]:
    """Return columns with one number, or one text, in each row: for one whose rows have
    several, ``name_0``, ``name_1``."""
    found: dict[str, Any] = {}
    for name, column in zip(names, map(np.asanyarray, columns), strict=True):
        for index in np.ndindex(column.shape[1:]):
            numbered = "_".join([name, *map(str, index)])
            array = column[(slice(None), *index)]
            kept = array.dtype == object
            found[numbered] = array if kept else array.astype(float, "C", copy=False)
    return [*found], [*found.values()]


def _text(rows: Iterable[Iterable[str]], separator: str) -> bytes:
    text = StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _cells(array: Any) -> Iterator[str]:
    """Yield the cells of a column as texts; a whole number is written without a
    point, and nothing where there is no number."""
    if isinstance(array, Sparse):
        cells = zip(_cells(np.asarray(array)), array.absent, strict=True)
        return ("" if absent else cell for cell, absent in cells)
    if array.dtype == float:
        return (repr(number).removesuffix(".0") for number in array.tolist())
    return (json.loads(c) if c[0] == '"' else c.replace("null", "") for c in array)


def _by_arrow(arrays: Sequence[Any], separator: str) -> Any:
    """Return rows as a buffer of text."""
    import pyarrow as pa
    from pyarrow import csv

    table = pa.table({  # pa.array would import NumPy's masked arrays
        str(k): pa.Array.from_buffers(pa.float64(), len(a), [None, pa.py_buffer(a)])
        for k, a in enumerate(arrays)
    })  # fmt: skip
    text = pa.BufferOutputStream()
    options = csv.WriteOptions(
        include_header=False, delimiter=separator, batch_size=max(1, table.num_rows)
    )
    csv.write_csv(table, text, options)
    return text.getvalue()


class _Tabs(ColumnFile):
    separator = "\t"


class _JsonLines(ColumnFile):
    separator = ""

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> Encoded:
        cells = map(_json_cells, columns)
        plain = (
            json.dumps(name, ensure_ascii=not name.isprintable()) for name in names
        )
        keys = (key.replace("%", "%%") for key in plain)
        line = "{" + ", ".join(f"{key}: %s" for key in keys) + "}\n"
        text = "".join(map(line.__mod__, zip(*cells, strict=True)))
        return [*names], text.encode()


def _json_cells(column: object) -> Iterable[str]:
    """Return the entries of a column as texts of JSON."""
    array = np.asarray(column)
    if isinstance(column, Sparse):
        cells = zip(_json_cells(array), column.absent, strict=True)
        return ("null" if absent else cell for cell, absent in cells)
    if array.dtype == object:
        return array
    plain = array.ndim == 1 and np.isfinite(array).all()
    return map(repr if plain else _json_numbers, array.astype(float).tolist())


def _json_numbers(value: float | list[Any]) -> str:
    """Return a number, or nested lists of numbers, as JSON; a number that JSON cannot
    write is a string."""
    if isinstance(value, list):
        return f"[{', '.join(map(_json_numbers, value))}]"
    return repr(value) if isfinite(value) else f'"{value}"'


class _Json(_JsonLines):
    before = b"["

    def put(self, rows: bytes) -> None:
        self.file.write(self.before + rows.rstrip().replace(b"\n", b",\n "))
        self.before = b",\n "

    def end(self) -> None:
        self.file.write(b"]\n" if self.names else b"[]\n")


class _Npy(ColumnFile):
    """A .npy file with a field per name; its header leaves room for a longer
    dimension."""

    rows = 0

    def start(self, types: Sequence[Any]) -> None:
        self.end()

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> Encoded:
        names, arrays = flat_columns(names, columns)
        if any(array.dtype == object for array in arrays):
            hint = "leave out --keep, or write .csv, .jsonl or .parquet"
            raise ProgramError("E595", "a .npy file holds only numbers", hint=hint)
        block = np.empty(len(arrays[0]), [(name, "<f8") for name in names])
        for name, array in zip(names, arrays, strict=True):
            block[name] = array
        return names, block

    def put(self, rows: Any) -> None:
        self.rows += len(rows)
        self.file.write(rows.tobytes())

    def end(self) -> None:
        """Write the head anew, with the number of rows."""
        types = [(name, "<f8") for name in self.names or self._usual]
        fields = {"descr": types, "fortran_order": False, "shape": (self.rows,)}
        self.file.seek(0)
        np.lib.format.write_array_header_1_0(self.file, fields)


class _Parquet(ColumnFile):
    def start(self, types: Any) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        table = types or pa.table(dict.fromkeys(self.names, pa.array([], pa.float64())))
        self.writer = parquet.ParquetWriter(self.file, table.schema)

    @classmethod
    def encoded(cls, names: Sequence[str], columns: Sequence[Any]) -> Encoded:
        import pyarrow as pa

        names, arrays = flat_columns(names, columns)
        cells = [
            pa.array(np.asarray(a), mask=np.asarray(a.absent))
            if isinstance(a, Sparse)
            else a
            if a.dtype == float
            else [*_cells(a)]
            for a in arrays
        ]
        return names, pa.table(cells, names)

    def put(self, rows: Any) -> None:
        self.writer.write_table(rows)

    def end(self) -> None:
        super().end()
        self.writer.close()


KINDS: dict[str, type[ColumnFile]] = {
    ".csv": ColumnFile,
    ".tsv": _Tabs,
    ".json": _Json,
    ".jsonl": _JsonLines,
    ".npy": _Npy,
    ".parquet": _Parquet,
}
"""Classes of the formats, by the suffix of the file."""


def format_of(path: str) -> str:
    """Return the suffix of a file's name, which names its format; raise ProgramError if
    it is unknown, or needs a package that is not installed."""
    suffix, packing = suffixes(path)
    if suffix not in (TEXTS if packing else KINDS):
        hint = f"its name ends with one of {', '.join(KINDS)}"
        raise ProgramError("E595", f"--out: no format for {path!r}", hint=hint)
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        hint = how_to_install("pyarrow")
        raise ProgramError("E512", "a .parquet file is written by pyarrow", hint=hint)
    return suffix


@contextmanager
def open_columns(
    path: str | None, stream: IO[bytes], suffix: str, names: Sequence[str]
) -> Iterator[ColumnFile]:
    """Write columns in the format of a suffix to a file, which appears when all is
    written, or without a path to a stream, where rows before a failure stay."""
    try:
        with (
            nullcontext(stream) if path is None else replacing(path) as file,
            packed(file, path or "", "wb") as unpacked,
        ):
            columns = KINDS[suffix](unpacked, names)
            yield columns
            columns.end()
    except OSError as error:
        if path is None:
            raise
        message, hint = refusal(path, error, FOLDER, "written")
        raise ProgramError("E512", f"--out: {message}", hint=hint) from None
