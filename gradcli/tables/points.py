"""Tables, each row of which has values for a program's inputs, read in blocks; and the
reader of NumPy's format, .npy.

Invariants: memory is needed for one block only, however long the file is. A header is
checked before memory is allocated; nothing is mapped, so that a file which shrinks
while it is read is an error and does not end the process.

    for block in point_blocks("points.csv", WantedColumns(("x", "b"))):
        points = block()
        points.columns["x"], points.bad
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from glob import glob, has_magic
from importlib.util import find_spec
from io import BytesIO
from itertools import count, repeat
from math import prod
from mmap import mmap
from os.path import exists, isdir, isfile
from pathlib import Path
from sys import stdin
from typing import IO, Any, NamedTuple

import numpy as np

from ..engine.extras import how_to_install
from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated
from ..lang.maxima import MAX_LIST_DEPTH
from .filesystem import PACKED, guarded, packed, path_of, suffixes
from .filesystem import STANDARD_INPUT as STDIN
from .text_tables import (
    BLOCK_BYTES,
    TABLES,
    TEXTS,
    Points,
    RowBlock,
    WantedColumns,
    demand_columns,
    json_points,
    json_texts,
    refused,
    text_blocks,
)

MAX_HEADER_BYTES = 10_000
"""Longest text of a header, in bytes; NumPy reads no longer one."""

LARGE_BYTES = 1 << 20
"""Smallest size of an array that is read into memory of its own, in bytes."""

_AGAIN = "save it again: numpy.save"


class NpyHeader(NamedTuple):
    """The header of a file, with the place where its numbers begin, in bytes."""

    shape: tuple[int, ...]
    by_column: bool
    dtype: Any
    start: int
    what: str

    @property
    def entries(self) -> int:
        """The number of entries."""
        return prod(self.shape)

    @property
    def size(self) -> int:
        """The size of all entries."""
        return self.entries * int(self.dtype.itemsize)

    def whole(self, file: IO[bytes]) -> Any:
        """Return the array, read-only, from a file read up to its numbers."""
        flat = self._entries(file, self.entries)
        return flat.reshape(self.shape, order="F" if self.by_column else "C")

    def rows(self, file: IO[bytes], count: int) -> Iterator[Any]:
        """Yield the rows of an array of one or more dimensions, ``count`` at a time;
        only those are read, unless the numbers of a column lie together."""
        whole, each = self.whole(file) if self.by_column else None, prod(self.shape[1:])
        for first in range(0, self.shape[0], count):
            end = min(first + count, self.shape[0])
            if whole is not None:
                yield whole[first:end]
            else:
                flat = self._entries(file, (end - first) * each)
                yield flat.reshape(end - first, *self.shape[1:])

    def _entries(self, file: IO[bytes], count: int) -> Any:
        wanted = count * self.dtype.itemsize
        data = _part(file, wanted)
        if len(data) < wanted:
            held = self.start + len(data)
            if file.seekable():
                held = file.seek(0, os.SEEK_END)
            have = max(0, held - self.start)
            message = f"{self.what} is cut off: it has {have:,} of {self.size:,} bytes"
            raise ProgramError("E513", message, hint=_AGAIN)
        return np.frombuffer(data, self.dtype, count)


def _part(file: IO[bytes], size: int) -> memoryview:
    """Return the next bytes of a file, at most ``size``; memory is taken for existing
    bytes alone."""
    # Memory of its own goes back to the system at once, and its size does not count as
    # the program's.
    memory = memoryview(mmap(-1, size) if size >= LARGE_BYTES else bytearray(size))
    end = 0
    while end < size:
        piece = file.read(min(LARGE_BYTES, size - end))
        if not piece:
            break
        memory[end : end + len(piece)] = piece
        end += len(piece)
    return memory[:end].toreadonly()


def layout_of(file: IO[bytes], what: str) -> NpyHeader:
    """Return the layout of a file at its beginning.

    Raises:
        ProgramError: the file is no array, or none that any memory holds.
    """
    begin = file.read(8)
    later = begin[6:7] > b"\x01"
    length = file.read(4 if later else 2)
    most = min(int.from_bytes(length, "little"), MAX_HEADER_BYTES + 1)
    data = BytesIO(begin + length + file.read(most))
    try:
        np.lib.format.read_magic(data)
        format = np.lib.format
        read = format.read_array_header_2_0 if later else format.read_array_header_1_0
        shape, by_column, dtype = read(data)
    except Exception as error:
        message = f"{what} is no array in NumPy's format, or damaged"
        raise ProgramError("E513", message, hint=_AGAIN) from error
    integers = all(type(length) is int for length in shape)
    if not integers or not all(0 <= length <= sys.maxsize for length in shape):
        raise ProgramError(
            "E513", f"{what} claims to have the shape {shape}", hint=_AGAIN
        )
    if len(shape) > MAX_LIST_DEPTH:
        message = f"{what} has {len(shape)} dimensions, more than {MAX_LIST_DEPTH}"
        raise ProgramError("E513", message, hint="a tensor has fewer dimensions")
    if prod(max(1, length) for length in shape) * dtype.itemsize > sys.maxsize:
        raise ProgramError(
            "E513", f"{what} claims to have the shape {shape}", hint=_AGAIN
        )
    return NpyHeader(shape, by_column, dtype, len(data.getvalue()), what)


STANDARD_INPUT = "-"

BLOCK_ROWS = 1 << 14
"""Largest size of a block of an array, in rows."""


def point_blocks(place: str, wanted: WantedColumns) -> Iterator[RowBlock]:
    """Yield the rows of a file, or of several in the order of their names, in blocks.

    Args:
        place: a path with the suffix .csv, .tsv, .json, .jsonl (also packed: .csv.gz),
            .npy or .parquet, a pattern of such paths, a directory, or ``-`` for
            standard input, which is a text table or JSON.
        wanted: the columns that are read; the others are ignored.

    Raises:
        ProgramError: a file is missing, has another format, or lacks a column.
    """
    with guarded(place, TABLES):
        for path in _files(place):
            named = STDIN if path == STANDARD_INPUT else path
            with guarded(named, TABLES):
                for block in _blocks(path, wanted):
                    yield block._replace(read=partial(_read, block.read, named))


def _read(read: Callable[[], Points], path: str) -> Points:
    """Return the rows of a block of a file, whose errors are the file's."""
    with guarded(path, TABLES):
        return read()


def total_size(place: str) -> int | None:
    """Return the size of all blocks together; None if it is not known beforehand."""
    if place == STANDARD_INPUT:
        return None
    files = [path_of(path) for path in _files(place)]
    unknown = (".parquet", *PACKED)
    if any(path.suffix in unknown or not isfile(path) for path in files):
        return None
    return sum(path.stat().st_size for path in files)


def refuse_one_of_several(place: str, path: str) -> None:
    """Refuse to write to one of several files that `point_blocks` reads."""
    target = path_of(path)
    if place == STANDARD_INPUT or not exists(target):
        return
    files = [path_of(name) for name in _files(place)]
    found = any(exists(file) and file.samefile(target) for file in files)
    if found and len(files) > 1:
        message = f"--out: {path!r} is one of the {len(files)} files of {place!r}"
        hint = "write to another folder, or remove it first"
        raise ProgramError("E512", message, hint=hint)


def _files(place: str) -> list[str]:
    """Return the paths of the files at a place: a file, a directory or a pattern."""
    path = path_of(place)
    if place == STANDARD_INPUT or isfile(path):
        return [place]
    if isdir(path):
        known = (*TEXTS, *_ARRAYS)
        found = [p for p in path.iterdir() if suffixes(p.name)[0] in known]
        if not found:
            raise refused("E512", f"there is no table in the directory {place!r}")
    else:
        found = [Path(name) for name in glob(str(path))]
        if not found and has_magic(place):
            raise refused("E511", f"no file has a name like {place!r}")
    return [str(p) for p in sorted(found)] or [place]


def _blocks(place: str, wanted: WantedColumns) -> Iterator[RowBlock]:
    suffix, packing = ("", "") if place == STANDARD_INPUT else suffixes(place)
    if suffix in _ARRAYS and not packing:
        yield from _ARRAYS[suffix](place, wanted)
    elif suffix in (*TEXTS, ""):
        with _opened(place) as file:
            what = STDIN if place == STANDARD_INPUT else place
            yield from text_blocks(file, what, suffix, wanted)
    else:
        raise refused("E513", f"{place!r} is no table that is known here")


@contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    if place == STANDARD_INPUT:
        if stdin is None:
            raise ProgramError("E512", "standard input is closed")
        yield stdin.buffer
        return
    with path_of(place).open("rb") as file, packed(file, place) as unpacked:
        yield unpacked


def _npy_blocks(place: str, wanted: WantedColumns) -> Iterator[RowBlock]:
    """Yield the rows of an array that has a field, or a column, for each name."""
    with path_of(place).open("rb") as file:
        table = layout_of(file, repr(place))
        fields, shape = table.dtype.names, table.shape
        names = wanted.columns or tuple(wanted.asked)
        fits = fields or shape[1:] == (len(names),) or (len(shape) == len(names) == 1)
        width = table.dtype.itemsize * prod(shape[1:])
        if not shape or not width or not fits:
            are = "is" if len(names) == 1 else "are"
            message = f"{place!r} has shape {list(shape)}, and "
            message += f"{enumerated(names)} {are} read from its columns"
            hint = "one column for each input without a value, in order of first use"
            raise ProgramError("E513", message, hint=hint)
        places = demand_columns(fields or names, wanted, place)
        own = {name: fields[at] if fields else at for name, at in places.items()}
        for name in wanted.names or ():
            held = table.dtype[own[name]].base if fields else table.dtype
            if held.kind not in "fiub":
                column = f"column {own[name]!r} of " if fields else ""
                message = f"{column}{place!r} holds {held}, not real numbers"
                raise ProgramError("E514", message)
        step = max(1, min(BLOCK_ROWS, BLOCK_BYTES // width))
        for block in table.rows(file, step):
            block = block if fields else block.reshape(len(block), len(names)).T
            read: dict[str, Any] = {
                n: json_texts(block[at].tolist()) if n in wanted.kept
                else np.array(block[at], dtype=float)
                for n, at in own.items()
            }  # fmt: skip
            yield RowBlock(partial(Points, read, ()), block.nbytes)


def _parquet_blocks(place: str, wanted: WantedColumns) -> Iterator[RowBlock]:
    if find_spec("pyarrow") is None:
        hint = how_to_install("pyarrow")
        raise ProgramError("E512", "a .parquet file is read by pyarrow", hint=hint)
    from pyarrow import parquet, types

    with parquet.ParquetFile(path_of(place)) as file:
        header = file.schema_arrow.names
        places = demand_columns(header, wanted, place)
        for name in wanted.names or ():
            kind = file.schema_arrow.field(places[name]).type
            if types.is_temporal(kind):
                raise _no_numbers(place, name, kind)
        row, read = 1, [header[at] for at in places.values()]
        for batch in file.iter_batches(BLOCK_ROWS, columns=read):
            named = batch.select(read).rename_columns([*places])
            yield RowBlock(partial(_arrow_rows, named, row, wanted, place))
            row += len(batch)


def _no_numbers(place: str, name: str, kind: object) -> ProgramError:
    message = f"{place}: column {name!r} holds {kind}, not numbers"
    return ProgramError("E514", message)


def _arrow_rows(batch: Any, row: int, wanted: WantedColumns, what: str) -> Points:
    """Return the rows of a batch of pyarrow, the first of which has the number
    ``row``."""
    if any(batch[name].null_count for name in wanted.names or ()):
        cells = zip(*(_arrow_cells(batch[name]) for name in wanted.asked), strict=True)
        places = (f"{what}, row {nr}" for nr in count(row))
        return json_points(zip(places, cells, repeat("")), wanted)
    columns = {name: json_texts(_arrow_cells(batch[name])) for name in wanted.kept}
    for name in wanted.names or ():
        try:
            columns[name] = batch[name].to_numpy(zero_copy_only=False).astype(float)
        except (TypeError, ValueError):
            raise _no_numbers(what, name, batch[name].type) from None
    return Points(columns, ())


def _arrow_cells(column: Any) -> list[Any]:
    """Return the cells of a column; dates and times that Python has no value for are
    text."""
    try:
        return [*column.to_pylist()]
    except (ValueError, OverflowError):
        return [*column.cast("string").to_pylist()]


_ARRAYS: dict[str, Callable[[str, WantedColumns], Iterator[RowBlock]]] = {
    ".npy": _npy_blocks,
    ".parquet": _parquet_blocks,
}
"""Readers of tables that are no text, by the file's suffix."""
