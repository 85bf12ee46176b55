"""Points of a program's inputs in a file, a row each, read some at a time.

Invariant: memory is that of one block, however long the file is; a row that cannot be
read is told by its place and is in no block, so that the rows of a block are good.

    for block in point_blocks("points.csv", ["x", "b"]):
        points = block()
        points.columns["x"], points.bad
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob, has_magic
from os.path import splitext
from pathlib import Path
from sys import stdin
from typing import IO

from ..errors import ProgramError
from ..refusals import refusal
from .arrays import npy_blocks, parquet_blocks
from .row import TABLES, refused
from .row import BadRow as BadRow
from .row import Block as Block
from .row import NoColumn as NoColumn
from .row import Points as Points
from .text import SEPARATORS, look_of, text_blocks

STANDARD_INPUT = "-"

PACKED = {".gz": "zcat", ".bz2": "bzcat", ".xz": "xzcat", ".zst": "zstdcat"}
"""What unpacks a file, by its suffix."""

LOOK_BYTES = 1 << 13
"""Of a text, to see what it is."""

SUFFIXES = (*SEPARATORS, ".jsonl", ".npy", ".parquet")


def point_blocks(place: str, names: Sequence[str]) -> Iterator[Block]:
    """The rows of a file, or of several in the order of their names, in blocks.

    Args:
        place: a path with the suffix .csv, .tsv, .jsonl, .npy or .parquet, a pattern of
            such, a directory, or ``-`` for standard input, which is a table of text or
            lines of JSON.
        names: the columns that are read; the others are passed over.

    Raises:
        ProgramError: a file is missing, is none of these, or lacks a column.
    """
    with _worded(place):
        for path in _files(place):
            yield from _blocks(path, names)


def read_points(place: str, names: Sequence[str]) -> Iterator[Points]:
    """The rows of `point_blocks`, read."""
    for block in point_blocks(place, names):
        yield block()


def total_size(place: str) -> int | None:
    """The sizes of all blocks together; None where that is not known beforehand."""
    if place == STANDARD_INPUT:
        return None
    files = [Path(path).expanduser() for path in _files(place)]
    if any(path.suffix == ".parquet" or not path.is_file() for path in files):
        return None
    return sum(path.stat().st_size for path in files)


def text_format(place: str) -> str:
    """The suffix of the text that a table is, .csv for one that is none; a stream, or
    a file without a suffix, is looked at.

    Raises:
        ProgramError: it cannot be read.
    """
    if place == STANDARD_INPUT:
        peek = getattr(stdin and stdin.buffer, "peek", None)
        start = peek(1) if peek else b""
    else:
        suffix = splitext(place)[1].lower()
        if suffix or not Path(place).expanduser().is_file():
            return suffix if suffix in (".tsv", ".jsonl") else ".csv"
        with _worded(place), _opened(place) as file:
            start = file.read(LOOK_BYTES)
    return look_of(start)


def refuse_one_of_several(place: str, path: str) -> None:
    """Refuse to write to one of several files that `point_blocks` reads.

    Raises:
        ProgramError: the path is one.
    """
    target = Path(path).expanduser()
    if place == STANDARD_INPUT or not target.exists():
        return
    files = [Path(name).expanduser() for name in _files(place)]
    found = any(file.exists() and file.samefile(target) for file in files)
    if found and len(files) > 1:
        message = f"--out: {path!r} is one of the {len(files)} files of {place!r}"
        hint = "write to another folder, or remove it first"
        raise ProgramError("E512", message, hint=hint)


def _files(place: str) -> list[str]:
    """The files that a place means."""
    path = Path(place).expanduser()
    if place == STANDARD_INPUT or path.is_file():
        return [place]
    if path.is_dir():
        found = [p for p in path.iterdir() if p.suffix.lower() in SUFFIXES]
        if not found:
            raise refused("E512", f"there is no table in the directory {place!r}")
    else:
        found = [Path(name) for name in glob(str(path))]
        if not found and has_magic(place):
            raise refused("E511", f"no file has a name like {place!r}")
    return [str(p) for p in sorted(found)] or [place]


def _blocks(place: str, names: Sequence[str]) -> Iterator[Block]:
    suffix = "" if place == STANDARD_INPUT else splitext(place)[1].lower()
    if suffix == ".npy":
        yield from npy_blocks(place, names)
    elif suffix == ".parquet":
        yield from parquet_blocks(place, names)
    elif suffix in (*SEPARATORS, ".jsonl", ""):
        with _opened(place) as file:
            what = "standard input" if place == STANDARD_INPUT else place
            yield from text_blocks(file, what, suffix, names)
    elif suffix in PACKED:
        hint = f"unpack it on the way: {PACKED[suffix]} {place} | gradcli … --table -"
        raise ProgramError("E513", f"{place!r} is packed", hint=hint)
    else:
        raise refused("E513", f"{place!r} is no table that is known here")


@contextmanager
def _worded(place: str) -> Iterator[None]:
    """What the system and the readers refuse, in the language's words."""
    try:
        yield
    except OSError as error:
        code = "E511" if isinstance(error, FileNotFoundError) else "E512"
        message, hint = refusal(place, error, TABLES)
        raise ProgramError(code, message, hint=hint) from None


@contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    if place == STANDARD_INPUT:
        if stdin is None:
            raise ProgramError("E512", "standard input is closed")
        yield stdin.buffer
        return
    with Path(place).expanduser().open("rb") as file:
        yield file
