"""Columns of numbers as files: text, lines of JSON, .npy, .parquet.

Invariant: written block by block as it comes; a number of text is read back as the same
number.

    with open_columns("out.csv", ["value", "grad_x"]) as out:
        out.write([value, grad_x])
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from os.path import splitext
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..lang.errors import ProgramError
from .jsons import dumps

SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""What stands between the cells of a text, by the file's suffix."""

FORMATS = (*SEPARATORS, ".jsonl", ".npy", ".parquet")


class Columns:
    """A file of columns that is being written."""

    def __init__(self, file: IO[bytes], names: Sequence[str]) -> None:
        self.file = file
        self.names = list(names)
        self.start()

    def start(self) -> None:
        """Write what stands before the first row."""

    @abstractmethod
    def write(self, columns: Sequence[Any]) -> None:
        """Append rows: an array for each name."""

    def end(self) -> None:
        """Write what is known only behind the last row."""


class _Text(Columns):
    separator = ","

    def start(self) -> None:
        self.file.write(self.separator.join(self.names).encode() + b"\n")

    def write(self, columns: Sequence[Any]) -> None:
        _demand_numbers(self.names, columns)
        if find_spec("pyarrow"):
            self._by_arrow(columns)
        else:
            cells = (map(repr, np.asarray(c, float).tolist()) for c in columns)
            lines = map(self.separator.join, zip(*cells, strict=True))
            self.file.write("".join(f"{line}\n" for line in lines).encode())

    def _by_arrow(self, columns: Sequence[Any]) -> None:
        import pyarrow as pa
        from pyarrow import csv

        arrays = [pa.array(np.asarray(c, float)) for c in columns]
        options = csv.WriteOptions(include_header=False, delimiter=self.separator)
        csv.write_csv(pa.table(arrays, self.names), self.file, options)


class _Tabs(_Text):
    separator = "\t"


class _JsonLines(Columns):
    def write(self, columns: Sequence[Any]) -> None:
        rows = zip(*(np.asarray(c, float).tolist() for c in columns), strict=True)
        for row in rows:
            values = dict(zip(self.names, row, strict=True))
            self.file.write(dumps(values).encode() + b"\n")


class _Npy(Columns):
    """A field for each name. The header has room for a longer first dimension."""

    def start(self) -> None:
        self.rows = 0
        self.dtype = np.dtype([(name, "<f8") for name in self.names])
        self._head()

    def _head(self) -> None:
        fields = {
            "descr": np.lib.format.dtype_to_descr(self.dtype),
            "fortran_order": False,
            "shape": (self.rows,),
        }
        np.lib.format.write_array_header_1_0(self.file, fields)

    def write(self, columns: Sequence[Any]) -> None:
        _demand_numbers(self.names, columns)
        block = np.empty(len(columns[0]), self.dtype)
        for name, column in zip(self.names, columns, strict=True):
            block[name] = column
        self.file.write(block.tobytes())
        self.rows += len(block)

    def end(self) -> None:
        self.file.seek(0)
        self._head()


class _Parquet(Columns):
    def start(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self.schema = pa.schema([(name, pa.float64()) for name in self.names])
        self.writer = parquet.ParquetWriter(self.file, self.schema)

    def write(self, columns: Sequence[Any]) -> None:
        import pyarrow as pa

        _demand_numbers(self.names, columns)
        arrays = [pa.array(np.asarray(c, float)) for c in columns]
        self.writer.write_table(pa.table(arrays, schema=self.schema))

    def end(self) -> None:
        self.writer.close()


_KINDS: dict[str, type[Columns]] = {
    ".csv": _Text,
    ".tsv": _Tabs,
    ".jsonl": _JsonLines,
    ".npy": _Npy,
    ".parquet": _Parquet,
}


def columns_to(
    file: IO[bytes], suffix: str, names: Sequence[str]
) -> AbstractContextManager[Columns]:
    """Columns written to an open file in the format of a suffix."""
    return _ended(_KINDS[suffix](file, names))


@contextmanager
def _ended(columns: Columns) -> Iterator[Columns]:
    yield columns
    columns.end()


def format_of(path: str) -> str:
    """The format that a file's name asks for.

    Raises:
        ProgramError: none that is known, or one that needs what is not installed.
    """
    suffix = splitext(path)[1].lower()
    if suffix not in FORMATS:
        hint = f"its name ends with {', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise ProgramError("E509", f"--out: no format for {path!r}", hint=hint)
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        hint = "pip install 'gradcli[table]'"
        raise ProgramError("E512", "a .parquet file is written by pyarrow", hint=hint)
    return suffix


@contextmanager
def open_columns(path: str, names: Sequence[str]) -> Iterator[Columns]:
    """Columns written to a file, whose name says the format.

    Raises:
        ProgramError: the format is not known, or the file cannot be written.
    """
    suffix = format_of(path)
    try:
        file = Path(path).expanduser().open("wb")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        message = f"--out: {path!r} cannot be written: {reason}"
        raise ProgramError("E512", message) from None
    with file, columns_to(file, suffix, names) as columns:
        yield columns


def _demand_numbers(names: Sequence[str], columns: Sequence[Any]) -> None:
    for name, column in zip(names, columns, strict=True):
        if np.ndim(column) > 1:
            shape = list(np.shape(column)[1:])
            message = f"{name} has shape {shape} at each point, and a cell one number"
            raise ProgramError("E509", message, hint="write .jsonl: --out FILE.jsonl")
