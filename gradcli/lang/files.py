"""Readers of files and of standard input, which return arrays and trust no file.

Sizes are checked before memory is allocated: a header may claim petabytes, and a small
archive may unpack to a large one. Nothing that could run code is loaded. Every array
is float64; a large one may be mapped from the file, and is then read-only.

    read_file("data.npz:weights")     # the member "weights" of an archive
    read_file("points.csv:x")         # the column "x" of a table
    read_file("-")                    # standard input: JSON, a table, or .npy
"""

import csv
import json
import os
import re
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator
from io import BufferedReader, BytesIO, TextIOWrapper
from math import inf, prod
from stat import S_ISREG
from typing import IO

import numpy as np

from ..ops.checks import LIMIT, size_text
from .errors import ProgramError
from .excerpt import enumerated, shortened
from .filesystem import reason_of, refusal
from .maxima import MAX_JSON_INTEGER_DIGITS, MAX_LIST_DEPTH, MAX_SHOWN_NAMES
from .nested import (
    EXTREME_BYTES,
    Floats,
    NotAnArray,
    array_of,
    beyond_floats,
    is_number,
    number_of_json,
)
from .points import NoColumn, read_points
from .points.text_tables import MAX_LINE_BYTES
from .suggest import did_you_mean, nearest

STANDARD_INPUT = "-"
_NPY_MAGIC = b"\x93NUMPY"
_ZIP_MAGIC = b"PK"
_NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
"""Numbers that JSON does not have, by the words that gradcli reads and writes."""

MAPPED_ENTRIES = 1 << 17
"""Smallest count of numbers in a file that is mapped and not copied into memory."""

_PIECE_BYTES = 1 << 20
_COPIES_OF_STREAM = 4
"""Number of copies of a stream that memory holds at once, its numbers included."""

_NOT_BLANK = re.compile(rb"[^\xef\xbb\xbf \t\r\n]")
_MORE = "take a part of it, or allow more with --max-memory"
_AGAIN = "save it again: numpy.save"
_KINDS = "a file of numbers is .npy, .npz, .csv, .tsv or .json"
_TABLES = (".csv", ".tsv", ".jsonl", ".npy", ".parquet")
"""Suffixes of files whose columns have names."""

_KEYED = re.compile(
    r"(?P<path>.*(?P<suffix>\.(npz|json|csv|tsv|jsonl|npy|parquet))):(?P<key>.*)",
    re.IGNORECASE | re.DOTALL,
)


def read_file(source: str, limit: int | None = None) -> Floats:
    """Return the array in a file.

    Args:
        source: a path, or `-` for standard input; after a colon it can name the member
            of an archive or of an object, or the column of a table.
        limit: the largest size of the file, and of its numbers in memory, in bytes;
            None: the limit for a result.

    Raises:
        NotAnArray: the file is missing, unreadable or too large, or its content is not
            real numbers.
    """
    limit = LIMIT.bytes if limit is None else limit
    if source == STANDARD_INPUT:
        if sys.stdin is None:
            raise NotAnArray("E512", "standard input is closed", "write a file's name")
        try:
            return _by_look(sys.stdin.buffer, "standard input", None, limit)
        except OSError as error:
            message = f"standard input cannot be read: {reason_of(error)}"
            raise NotAnArray("E512", message, "write a file's name") from None
    if not source:
        raise NotAnArray("E511", "there is no file name after '@'", _KINDS)
    path, key = os.path.expanduser(source), None
    keyed = _KEYED.fullmatch(path)
    if keyed is not None and not os.path.isfile(path):
        path, key = keyed["path"], keyed["key"]
    suffix = os.path.splitext(path)[1].lower()
    if suffix in _TABLES and (key is not None or suffix not in _READERS):
        return _column(path, key or "", limit)
    read = _READERS.get(suffix, _by_look)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            _check_size(status.st_size, path, limit)
            if S_ISREG(status.st_mode) and status.st_size:
                return read(file, path, key, limit)
            # A stream, whose size is unknown, may never end.
            return read(_all_of(file, path, limit), path, key, limit)
    except OSError as error:
        code = "E511" if isinstance(error, FileNotFoundError) else "E512"
        raise NotAnArray(code, *refusal(path, error, _KINDS, mark="@")) from None


def _check_size(count: int, what: str, limit: int) -> None:
    if count > limit:
        allowed = size_text(limit)
        message = f"{what} holds {size_text(count)}, more than the {allowed} allowed"
        raise NotAnArray("E515", message, _MORE)


def _by_look(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return the array in a stream, whose first bytes determine its format."""
    data = _all_of(file, what, limit)
    head = data.read(len(_NPY_MAGIC))
    data.seek(0)
    if head.startswith(_NPY_MAGIC):
        return _npy(data, what, key, limit)
    if head.startswith(_ZIP_MAGIC):
        return _npz(data, what, key, limit)
    found = _NOT_BLANK.search(data.getbuffer())
    if found is None:
        raise NotAnArray("E513", f"{what} is empty", _KINDS)
    if found[0] in b'[{"':
        return _json(data, what, key, limit)
    return read_table(data, what, limit)


def _all_of(file: IO[bytes], what: str, limit: int) -> BytesIO:
    """Return the content of a stream, or refuse one above its share of the limit."""
    limit //= _COPIES_OF_STREAM
    data = _part(file, limit + 1)
    if data.getbuffer().nbytes > limit:
        message = f"{what} holds more than the {size_text(limit)} allowed"
        raise NotAnArray("E515", message, _MORE)
    return data


def _part(file: IO[bytes], most: int) -> BytesIO:
    """Return at most ``most`` bytes of a stream.

    They are read piece by piece, so that memory is allocated only for existing bytes.
    """
    part = BytesIO()
    while piece := file.read(min(_PIECE_BYTES, most - part.tell())):
        part.write(piece)
    part.seek(0)
    return part


def _json(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    try:
        data = _part(file, limit).getvalue()
        floats = number_of_json if EXTREME_BYTES.search(data) else None
        most = MAX_JSON_INTEGER_DIGITS
        integer = lambda text: int(text) if len(text) < most else number_of_json(text)
        value = json.loads(data, parse_int=integer, parse_float=floats)
    except NotAnArray as problem:
        message = f"{what}: {problem.message}"
        raise NotAnArray(problem.code, message, problem.hint) from None
    except UnicodeDecodeError:
        raise NotAnArray("E513", f"{what} is not text in UTF-8", UTF8) from None
    except RecursionError:
        message = f"{what} is nested too deeply"
        raise NotAnArray("E513", message, "a tensor has fewer dimensions") from None
    except ValueError as error:
        message = f"{what} is not JSON: {error}"
        raise NotAnArray("E513", message, "as in [1, 2, 3]") from None
    if key is not None:
        value = _value_of_key(value, what, key)
    if isinstance(value, dict):
        message = f"{what} is an object, not a number or a list"
        listed = ", ".join(list(value)[:MAX_SHOWN_NAMES])
        example = f"as in @{what}:{next(iter(value), '')}"
        hint = f"take one of its values: {listed}, {example}" if value else None
        raise NotAnArray("E513", message, hint)
    try:
        return array_of(value, _json_number)
    except NotAnArray as problem:
        message = f"{what}: {problem.message}"
        hint = problem.hint or "as in [1, 2, 3]"
        raise NotAnArray(problem.code, message, hint) from None


def _value_of_key(value: object, what: str, key: str) -> object:
    """Return the value of a key of an object, or a list of those of several objects."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        listed = ", ".join(list(value)[:MAX_SHOWN_NAMES])
        hint = did_you_mean(key, value)
        message = f"{what} has no value {key!r}, it has {listed or 'none'}"
        raise NotAnArray("E518", message, hint)
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return [_value_of_key(row, f"{what}, object {nr}", key)
                for nr, row in enumerate(value, 1)]  # fmt: skip
    message = f"{what} is no object, so it has no value {key!r}"
    raise NotAnArray("E518", message, f"leave :{key} out")


def _json_number(entry: object) -> object:
    return _NON_FINITE.get(entry, entry) if isinstance(entry, str) else entry


def _npy(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return an array in NumPy's format; the header is checked before data is read."""
    layout = np.lib.format
    try:
        version = layout.read_magic(file)
        read_header = {
            (1, 0): layout.read_array_header_1_0,
            (2, 0): layout.read_array_header_2_0,
        }.get(version)
        if read_header is None:
            message = f"{what} has the unknown format version {version}"
            raise NotAnArray("E513", message, _AGAIN)
        shape, by_column, dtype = read_header(file)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        message = f"{what} is not a .npy file, or damaged"
        raise NotAnArray("E513", message, _AGAIN) from None
    _check_kind(dtype, what)
    _check_shape(shape, what)
    count = prod(shape)
    _check_size(count * max(dtype.itemsize, 8), what, limit)
    flat = _mapped(file, dtype, count) if count >= MAPPED_ENTRIES else None
    if flat is None:
        flat = _numbers(file, what, dtype, count)
    return flat.reshape(shape, order="F" if by_column else "C")


def _mapped(file: IO[bytes], dtype: np.dtype[np.generic], count: int) -> Floats | None:
    """Return the numbers that follow in a file as a read-only map of the file; None if
    they are not float64, or the stream is no file."""
    start = file.tell()
    if dtype != np.float64 or not isinstance(file, BufferedReader):
        return None
    if os.fstat(file.fileno()).st_size < start + count * dtype.itemsize:
        return None
    return np.asarray(np.memmap(file, dtype, "r", start, (count,)))


def _numbers(
    file: IO[bytes], what: str, dtype: np.dtype[np.generic], count: int
) -> Floats:
    """Return the ``count`` numbers that follow in a stream; memory is allocated only
    for bytes that exist."""
    claimed = count * dtype.itemsize
    data = _part(file, claimed).getbuffer()
    if len(data) < claimed:
        message = f"{what} is cut off: it has {len(data):,} of {claimed:,} bytes"
        raise NotAnArray("E513", message, _AGAIN)
    return np.frombuffer(data, dtype, count).astype(np.float64, copy=False)


def _check_shape(shape: tuple[int, ...], what: str) -> None:
    """Refuse a shape that no array has, before sizes are computed from it."""
    integers = all(type(length) is int for length in shape)
    if not integers or not all(0 <= length <= sys.maxsize for length in shape):
        raise NotAnArray("E513", f"{what} claims to have the shape {shape}", _AGAIN)
    if len(shape) > MAX_LIST_DEPTH:
        message = f"{what} has {len(shape)} dimensions, more than {MAX_LIST_DEPTH}"
        raise NotAnArray("E513", message, "a tensor has fewer dimensions")


def _check_kind(dtype: np.dtype[np.generic], what: str) -> None:
    if dtype.hasobject:
        message = f"{what} holds pickled objects, which may run code when loaded"
        raise NotAnArray("E514", message, "save numbers: x.astype(float)")
    if dtype.kind not in "biuf" or dtype.names:
        hint = "numbers are real: save x.real and x.imag" if dtype.kind == "c" else None
        if dtype.names:
            hint = f"name one of {enumerated(dtype.names)}: @{what}:{dtype.names[0]}"
        raise NotAnArray("E514", f"{what} holds {dtype}, not real numbers", hint)


def _npz(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return one member of an archive; it is unpacked only if it is small enough."""
    from zipfile import BadZipFile, ZipFile
    from zlib import error as CompressionError

    try:
        with ZipFile(file) as archive:
            members = {info.filename: info for info in archive.infolist()}
            name = _member(list(members), what, key)
            source = f"{what}:{name.removesuffix('.npy')}"
            _check_size(members[name].file_size, source, limit)
            with archive.open(name) as member:
                return _npy(member, source, None, limit)
    except (BadZipFile, CompressionError, EOFError, RuntimeError, NotImplementedError):
        message = f"{what} is not a .npz file, or damaged"
        raise NotAnArray("E513", message, _AGAIN) from None


def _member(names: list[str], what: str, key: str | None) -> str:
    """Return the member that `key` names with or without its suffix; the only one if
    there is no key."""
    keys = [name.removesuffix(".npy") for name in names]
    listed = ", ".join(keys[:MAX_SHOWN_NAMES]) + (", …" * (len(keys) > MAX_SHOWN_NAMES))
    if not keys:
        raise NotAnArray("E518", f"{what} holds no array")
    if not key:
        if len(keys) == 1:
            return names[0]
        message = f"{what} holds several arrays, name one: {listed}"
        raise NotAnArray("E518", message, f"write @{what}:{keys[0]}")
    if key in keys:
        return names[keys.index(key)]
    if key in names:
        return key
    hint = did_you_mean(key, keys)
    raise NotAnArray("E518", f"{what} has no array {key!r}, it has {listed}", hint)


_READERS: dict[str, Callable[[IO[bytes], str, str | None, int], Floats]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": lambda file, what, key, limit: read_table(file, what, limit),
    ".tsv": lambda file, what, key, limit: read_table(file, what, limit, "\t"),
    ".json": _json,
}


def _column(path: str, key: str, limit: int) -> Floats:
    """Return the numbers of a column of a table, in the order of the rows.

    The table is read block by block, so that memory is needed for the column alone.

    Raises:
        NotAnArray: there is no such table or column, it holds something other than
            numbers, or more than ``limit`` bytes of them.
        ProgramError: the table cannot be read.
    """
    parts: list[Floats] = []
    taken = 0
    try:
        _demand_fields(path, key)
        for points in read_points(path, [key]):
            if points.bad:
                bad = points.bad[0]
                hint = (
                    "a column holds a number in each row: write nan for a missing one"
                )
                raise NotAnArray("E517", f"{bad.place}: {bad.reason}", hint)
            parts.append(points.columns[key])
            taken += parts[-1].nbytes
            if taken > limit:
                message = f"the column {key!r} of {path} has more numbers than allowed"
                hint = "take fewer rows, or allow more with --max-memory"
                raise NotAnArray("E515", message, hint)
    except NoColumn as error:
        raise _no_column(path, error) from None
    except ProgramError as error:
        if error.code != "E511":
            raise
        message, hint = refusal(path, FileNotFoundError(), _KINDS, mark="@")
        if key:
            hint = hint.replace("'?", f":{key}'?")
        raise NotAnArray("E511", message, hint) from None
    if not parts:
        hint = "a heading alone has no numbers"
        raise NotAnArray("E513", f"{path} has no rows", hint)
    if len({part.shape[1:] for part in parts}) > 1:
        raise NotAnArray("E516", f"{path}: rows of {key!r} differ in shape")
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _demand_fields(path: str, key: str) -> None:
    """Refuse a ``.npy`` file without fields, and a ``.jsonl`` file whose first line has
    no value ``key``; other tables have a header, which their reader checks."""
    suffix = os.path.splitext(path)[1].lower()
    try:
        if suffix == ".npy":
            table = np.load(path, mmap_mode="r", allow_pickle=False)
            if not table.dtype.names:
                message = f"{path} has no columns with names: it holds {table.dtype}"
                hint = f"leave :{key} out, and take [:, 0] of it"
                raise NotAnArray("E518", message, hint)
        elif suffix == ".jsonl":
            with open(path, "rb") as file:
                first = json.loads(file.readline(MAX_LINE_BYTES))
            if isinstance(first, dict) and key not in first:
                raise NoColumn(key, path, list(first))
    except (OSError, ValueError, TypeError, OverflowError, EOFError, RecursionError):
        return  # the reader reports the error, with its place


def _no_column(path: str, error: NoColumn) -> NotAnArray:
    header = error.header
    if not header:
        message = f"{error.what} has no columns: its first line is empty"
        return NotAnArray("E518", message)
    known = f"its columns are {enumerated(header)}"
    if not error.missing:
        message = f"{path} is a table: {known}"
        return NotAnArray("E518", message, f"name one: @{path}:{header[0]}")
    near = nearest(error.missing, header)
    hint = f"did you mean '@{path}:{near}'? {known}" if near else known
    message = f"{error.what} has no column {error.missing!r}"
    return NotAnArray("E518", message, hint)


_SEPARATORS = "\t;,"
_BYTES_PER_NUMBER = 8
_ROWS = "a row is numbers with commas, tabs or blanks between them"
_CELLS = "a cell is a number, inf or nan"
UTF8 = "save it as UTF-8"


def read_table(
    file: IO[bytes], what: str, limit: int, separator: str | None = None
) -> Floats:
    """Return the numbers of a text table: CSV, TSV, or cells with blanks between them.

    It is read line by line into one packed array, so memory is what the numbers need.
    A first line of words is a heading; `#` opens a comment. A table of one row or one
    column is returned as a vector, a table of one cell as a number.

    Args:
        file: the table.
        what: its name in errors.
        limit: the largest size of its numbers, in bytes.
        separator: the sign between cells; None: the first line determines it.

    Raises:
        NotAnArray: a cell is no number, rows differ in length, or there are more
            numbers than `limit` bytes hold.
    """
    text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return _table_of(_rows(text, separator), what, limit)
    except UnicodeDecodeError:
        raise NotAnArray("E513", f"{what} is not text in UTF-8", UTF8) from None
    except csv.Error as error:
        raise NotAnArray("E513", f"{what} is not a table: {error}", _ROWS) from None
    finally:
        text.detach()


def _rows(
    text: Iterable[str], separator: str | None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line that is not blank."""
    for number, line in enumerate(text, 1):
        line = line.partition("#")[0].strip(" \r\n" if separator else " \t\r\n")
        if not line.strip():
            continue
        if separator is None:
            separator = next((mark for mark in _SEPARATORS if mark in line), " ")
        if separator == " ":
            yield number, line.split()
        elif '"' in line:
            yield number, next(csv.reader([line], delimiter=separator))
        else:
            yield number, line.split(separator)


def _table_of(rows: Iterator[tuple[int, list[str]]], what: str, limit: int) -> Floats:
    numbers = array("d")
    width = first_line = 0
    headed = False
    for line, cells in rows:
        words = not width and not headed and not any(map(is_number, cells))
        if words and any(cell.strip() for cell in cells):
            headed = True
            continue
        if not width:
            width, first_line = len(cells), line
        if len(cells) != width:
            columns = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
            message = (
                f"{what}, line {line} has {columns}, line {first_line} has {width}"
            )
            raise NotAnArray("E516", message, "all rows need the same length")
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            raise _bad_cell(cells, line, what) from None
        if 0 in row or inf in row or -inf in row:
            for column, (cell, number) in enumerate(zip(cells, row, strict=True), 1):
                beyond = beyond_floats(cell, number)
                if beyond is not None:
                    place = f"{what}, line {line}, column {column}"
                    message = f"{place} is {shortened(cell.strip())}, {beyond}"
                    hint = f"write {'inf' if number else 0}"
                    raise NotAnArray("E517", message, hint)
        numbers.extend(row)
        if len(numbers) * _BYTES_PER_NUMBER > limit:
            allowed = limit // _BYTES_PER_NUMBER
            message = f"{what} holds more than the {allowed:,} numbers allowed"
            raise NotAnArray("E515", message, "take a part of it")
    if not width:
        hint = "its one line was taken for a heading" if headed else _ROWS
        raise NotAnArray("E513", f"{what} holds no numbers", hint)
    table = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
    return table.reshape([length for length in table.shape if length != 1])


def _bad_cell(cells: list[str], line: int, what: str) -> NotAnArray:
    column = next(i for i, cell in enumerate(cells, 1) if not is_number(cell))
    cell = cells[column - 1].strip()
    cell_name = f"{what}, line {line}, column {column}"
    if not cell:
        hint = "write nan for a missing value"
        return NotAnArray("E517", f"{cell_name} is empty", hint)
    pointed, joined = cell.replace(",", ".", 1), cell.replace(",", "")
    hint = f"write {pointed} or {joined}" if is_number(pointed) else _CELLS
    return NotAnArray("E517", f"{cell_name} is {shortened(cell)!r}, not a number", hint)
