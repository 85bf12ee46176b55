"""Tables, each row of which has values for a program's inputs, read in blocks.

Invariant: memory is needed for one block only, however long the file is.

    for block in point_blocks("points.csv", ["x", "b"]):
        points = block()
        points.columns["x"], points.bad
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from glob import glob, has_magic
from importlib.util import find_spec
from itertools import count, repeat
from math import prod
from os.path import exists, isdir, isfile
from pathlib import Path
from sys import stdin
from typing import IO, Any

import numpy as np

from .errors import ProgramError
from .excerpt import enumerated
from .filesystem import PACKED, guarded, packed, path_of, suffixes
from .filesystem import STANDARD_INPUT as STDIN
from .npy import layout_of
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
        for start in range(0, shape[0], step):
            block = table.rows(file, start, min(start + step, shape[0]))
            block = block if fields else block.reshape(len(block), len(names)).T
            read: dict[str, Any] = {
                n: json_texts(block[at].tolist()) if n in wanted.kept
                else np.array(block[at], dtype=float)
                for n, at in own.items()
            }  # fmt: skip
            yield RowBlock(partial(Points, read, ()), block.nbytes)


def _parquet_blocks(place: str, wanted: WantedColumns) -> Iterator[RowBlock]:
    if find_spec("pyarrow") is None:
        hint = "pip install '.[table]' in a clone of gradcli"
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
