"""Reader of NumPy's format, .npy: the header first, then as much as is wanted.

Invariants: the header is checked before memory is allocated; nothing is mapped, so that
a file which shrinks while it is read is an error and does not end the process.

    with open("x.npy", "rb") as file:
        layout = layout_of(file, "x.npy")
        layout.shape, layout.rows(file, 0, 100)
"""

import os
import sys
from io import BytesIO
from math import prod
from mmap import mmap
from typing import IO, Any, NamedTuple

import numpy as np

from .maxima import MAX_LIST_DEPTH
from .nested import NotAnArray

MAX_HEADER_BYTES = 10_000
"""Longest text of a header, in bytes; NumPy reads no longer one."""

LARGE_BYTES = 1 << 20
"""Smallest size of an array that is read into memory of its own, in bytes."""

_PIECE_BYTES = 1 << 20
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

    def rows(self, file: IO[bytes], first: int, end: int) -> Any:
        """Return some rows of an array of one or more dimensions; only those are
        read."""
        size, each = self.dtype.itemsize, prod(self.shape[1:])
        # By column, the numbers of a column lie together, those of a row do not.
        pieces = each if self.by_column else 1
        together = each // max(1, pieces) * (end - first)
        found = []
        for piece in range(pieces):
            before = piece * self.shape[0] + first if self.by_column else first * each
            file.seek(self.start + before * size)
            found.append(self._entries(file, together))
        if not self.by_column:
            return found[0].reshape(end - first, *self.shape[1:])
        joined = np.concatenate(found) if found else np.empty(0, self.dtype)
        return joined.reshape(end - first, *self.shape[1:], order="F")

    def _entries(self, file: IO[bytes], count: int) -> Any:
        wanted = count * self.dtype.itemsize
        data = _part(file, wanted)
        if len(data) < wanted:
            held = self.start + len(data)
            if file.seekable():
                held = file.seek(0, os.SEEK_END)
            have = max(0, held - self.start)
            message = f"{self.what} is cut off: it has {have:,} of {self.size:,} bytes"
            raise NotAnArray("E513", message, _AGAIN)
        return np.frombuffer(data, self.dtype, count)


def _part(file: IO[bytes], size: int) -> memoryview:
    """Return the next bytes of a file, at most ``size``; memory is taken for existing
    bytes alone."""
    # Memory of its own goes back to the system at once, and its size does not count as
    # the program's.
    memory = memoryview(mmap(-1, size) if size >= LARGE_BYTES else bytearray(size))
    end = 0
    while end < size:
        piece = file.read(min(_PIECE_BYTES, size - end))
        if not piece:
            break
        memory[end : end + len(piece)] = piece
        end += len(piece)
    return memory[:end].toreadonly()


def layout_of(file: IO[bytes], what: str) -> NpyHeader:
    """Return the layout of a file at its beginning.

    Raises:
        NotAnArray: the file is no array, or none that any memory holds.
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
        raise NotAnArray("E513", message, _AGAIN) from error
    integers = all(type(length) is int for length in shape)
    if not integers or not all(0 <= length <= sys.maxsize for length in shape):
        raise NotAnArray("E513", f"{what} claims to have the shape {shape}", _AGAIN)
    if len(shape) > MAX_LIST_DEPTH:
        message = f"{what} has {len(shape)} dimensions, more than {MAX_LIST_DEPTH}"
        raise NotAnArray("E513", message, "a tensor has fewer dimensions")
    if prod(max(1, length) for length in shape) * dtype.itemsize > sys.maxsize:
        raise NotAnArray("E513", f"{what} claims to have the shape {shape}", _AGAIN)
    return NpyHeader(shape, by_column, dtype, len(data.getvalue()), what)
