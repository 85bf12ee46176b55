"""Points of a program's inputs in a file, a row each, read some at a time.

Invariant: memory is that of one block, however long the file is; a row that cannot be
read is told by its place and is in no block, so that the rows of a block are good.

    for block in read_points("points.csv", ["x", "b"]):
        block.columns["x"], block.bad
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os.path import splitext
from pathlib import Path
from sys import stdin
from typing import IO

from gradcli.lang.errors import ProgramError
from gradcli.lang.points.arrays import npy_rows, parquet_rows
from gradcli.lang.points.row import BadRow as BadRow
from gradcli.lang.points.row import Points as Points
from gradcli.lang.points.row import refused
from gradcli.lang.points.text import SEPARATORS, text_rows

STANDARD_INPUT = "-"


def read_points(place: str, names: Sequence[str]) -> Iterator[Points]:
    """The rows of a file, block by block.

    Args:
        place: a path with the suffix .csv, .tsv, .jsonl, .npy or .parquet, or ``-`` for
            standard input, which is a table of text or lines of JSON.
        names: the columns that are read; the others are passed over.

    Raises:
        ProgramError: the file is missing, is none of these, or lacks a column.
    """
    first = 1
    with _worded(place):
        for block in _blocks(place, names):
            yield block._replace(first=first)
            first += block.rows + len(block.bad)


def _blocks(place: str, names: Sequence[str]) -> Iterator[Points]:
    suffix = "" if place == STANDARD_INPUT else splitext(place)[1].lower()
    if suffix == ".npy":
        yield from npy_rows(place, names)
    elif suffix == ".parquet":
        yield from parquet_rows(place, names)
    elif suffix in (*SEPARATORS, ".jsonl", ""):
        with _opened(place) as file:
            what = "standard input" if place == STANDARD_INPUT else place
            yield from text_rows(file, what, suffix, names)
    else:
        raise refused("E513", f"{place!r} is no table that is known here")


@contextmanager
def _worded(place: str) -> Iterator[None]:
    """What the system and the readers refuse, in the language's words."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        code = "E511" if isinstance(error, FileNotFoundError) else "E512"
        raise ProgramError(code, f"{place!r} cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise refused("E513", f"{place!r} is not text in UTF-8") from None


@contextmanager
def _opened(place: str) -> Iterator[IO[bytes]]:
    if place == STANDARD_INPUT:
        if stdin is None:
            raise ProgramError("E512", "standard input is closed")
        yield stdin.buffer
        return
    with Path(place).expanduser().open("rb") as file:
        yield file
