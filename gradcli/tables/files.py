"""Readers of files and of standard input, which return arrays and trust no file.

Sizes are checked before memory is allocated: a header may claim petabytes, and a small
archive may unpack to a large one. Nothing that could run code is loaded. Every array
is float64; one that is read as it stands in the file is read-only.

    read_file("data.npz:weights")     # the member "weights" of an archive
    read_file("points.csv:x")         # the column "x" of a table
    read_file("-")                    # standard input: JSON, a table, or .npy
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from stat import S_ISREG
from typing import IO

import numpy as np

from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated
from ..lang.maxima import MAX_JSON_INTEGER_DIGITS, MAX_SHOWN_NAMES
from ..lang.nested import EXTREME_BYTES, Floats, array_of, number_of_json
from ..lang.suggest import did_you_mean, nearest
from ..ops.checks import LIMIT, size_text
from .filesystem import STANDARD_INPUT as STDIN
from .filesystem import guarded, packed, refusal, suffixes
from .points import STANDARD_INPUT, NpyHeader, layout_of, point_blocks
from .text_tables import SEPARATORS, NoColumn, RowBlock, WantedColumns, text_blocks

_NPY_MAGIC = b"\x93NUMPY"
_ZIP_MAGIC = b"PK"
_NON_FINITE = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
"""Numbers that JSON does not have, by the words that gradcli reads and writes."""

_PIECE_BYTES = 1 << 20
_BYTES_PER_NUMBER = 8
_COPIES_OF_STREAM = 4
"""Number of copies of a stream that memory holds at once, its numbers included."""

_NOT_BLANK = re.compile(rb"[^\xef\xbb\xbf \t\r\n]")
_MORE = "take a part of it, or allow more with --max-memory"
_KINDS = "a file of numbers is .npy, .npz, .csv, .tsv or .json"
_UTF8 = "save it as UTF-8"
_ROWS = "a row is numbers, with commas, tabs or blanks between; a heading is words"
_CELL = "a cell is a number or inf, or nan where a value is missing"
_TABLES = (".csv", ".tsv", ".jsonl", ".npy", ".parquet")
"""Suffixes of files whose columns have names."""

_KEYED = re.compile(
    r"(?P<path>.*\.(npz|json|csv|tsv|jsonl|npy|parquet)(\.(gz|bz2|xz|zst))?):(?P<key>.*)",
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
        ProgramError: the file is missing, unreadable or too large, or its content is
            not real numbers.
    """
    limit = LIMIT.bytes if limit is None else limit
    if source == STANDARD_INPUT:
        if sys.stdin is None:
            raise ProgramError(
                "E512", "standard input is closed", hint="write a file's name"
            )
        with guarded(STDIN, "write a file's name"):
            return _by_look(sys.stdin.buffer, STDIN, None, limit)
    if not source:
        raise ProgramError("E511", "there is no file name after '@'", hint=_KINDS)
    path, key = os.path.expanduser(source), None
    keyed = _KEYED.fullmatch(path)
    if keyed is not None and not os.path.isfile(path):
        path, key = keyed["path"], keyed["key"]
    suffix, packing = suffixes(path)
    read = _READERS.get(suffix, _by_look)
    with guarded(path, _KINDS, mark="@"):
        if suffix in _TABLES and (key is not None or suffix not in _READERS):
            return _column(path, key or "", limit)
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            _check_size(status.st_size, path, limit)
            if S_ISREG(status.st_mode) and status.st_size and not packing:
                return read(file, path, key, limit)
            # A stream, whose size is unknown, may never end.
            with packed(file, path) as stream:
                return read(_all_of(stream, path, limit), path, key, limit)


def _check_size(count: int, what: str, limit: int) -> None:
    if count > limit:
        allowed = size_text(limit)
        message = f"{what} holds {size_text(count)}, more than the {allowed} allowed"
        raise ProgramError("E515", message, hint=_MORE)


def _by_look(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return the array in a stream, whose first bytes determine its format."""
    data = _all_of(file, what, limit)
    head = bytes(data.getbuffer()[: len(_NPY_MAGIC)])
    if head.startswith((_NPY_MAGIC, _ZIP_MAGIC)):
        read = _npy if head == _NPY_MAGIC else _npz
        return read(data, what, key, limit)
    found = _NOT_BLANK.search(data.getbuffer())
    if found is None:
        raise ProgramError("E513", f"{what} is empty", hint=_KINDS)
    return (_json if found[0] in b'[{"' else _table)(data, what, key, limit)


def _all_of(file: IO[bytes], what: str, limit: int) -> BytesIO:
    """Return the content of a stream, or refuse one above its share of the limit."""
    limit //= _COPIES_OF_STREAM
    data = _part(file, limit + 1)
    if data.getbuffer().nbytes > limit:
        message = f"{what} holds more than the {size_text(limit)} allowed"
        raise ProgramError("E515", message, hint=_MORE)
    return data


def _part(file: IO[bytes], most: int) -> BytesIO:
    """Return at most ``most`` bytes of a stream, read piece by piece, so that memory is
    allocated only for existing bytes."""
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
    except ProgramError as problem:
        raise _inside(what, problem) from None
    except UnicodeDecodeError:
        raise ProgramError("E513", f"{what} is not text in UTF-8", hint=_UTF8) from None
    except RecursionError:
        message = f"{what} is nested too deeply"
        raise ProgramError(
            "E513", message, hint="a tensor has fewer dimensions"
        ) from None
    except ValueError as error:
        message = f"{what} is not JSON: {error}"
        raise ProgramError("E513", message, hint="as in [1, 2, 3]") from None
    if key is not None:
        value = _value_of_key(value, what, key)
    if isinstance(value, dict):
        example = f"as in @{what}:{next(iter(value), '')}"
        hint = f"take one of its values: {_listed(value)}, {example}" if value else None
        raise ProgramError(
            "E513", f"{what} is an object, not a number or a list", hint=hint
        )
    try:
        return array_of(value, _json_number)
    except ProgramError as problem:
        raise _inside(what, problem) from None


def _inside(what: str, problem: ProgramError) -> ProgramError:
    """Return the error of an entry as one of a file."""
    message = f"{what}: {problem.message}"
    return ProgramError(problem.code, message, hint=problem.hint or "as in [1, 2, 3]")


def _value_of_key(value: object, what: str, key: str) -> object:
    """Return the value of a key of an object, or a list of those of several objects."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        raise _no_such("value", what, key, list(value))
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        return [_value_of_key(row, f"{what}, object {nr}", key)
                for nr, row in enumerate(value, 1)]  # fmt: skip
    message = f"{what} is no object, so it has no value {key!r}"
    raise ProgramError("E518", message, hint=f"leave :{key} out")


def _no_such(kind: str, what: str, key: str, names: Sequence[str]) -> ProgramError:
    message = f"{what} has no {kind} {key!r}, it has {_listed(names) or 'none'}"
    return ProgramError("E518", message, hint=did_you_mean(key, names))


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = ", …" if len(names) > MAX_SHOWN_NAMES else ""
    return ", ".join(names[:MAX_SHOWN_NAMES]) + more


def _json_number(entry: object) -> object:
    return _NON_FINITE.get(entry, entry) if isinstance(entry, str) else entry


def _npy(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return an array in NumPy's format."""
    layout = layout_of(file, what)
    _check_kind(layout)
    _check_size(max(layout.size, layout.entries * _BYTES_PER_NUMBER), what, limit)
    return np.asarray(layout.whole(file).astype(np.float64, copy=False))


def _check_kind(layout: NpyHeader) -> None:
    """Refuse entries that are no real numbers."""
    what, dtype = layout.what, layout.dtype
    if dtype.hasobject:
        message = f"{what} holds pickled objects, which may run code when loaded"
        raise ProgramError("E514", message, hint="save numbers: x.astype(float)")
    if dtype.kind not in "biuf":
        hint = "numbers are real: save x.real and x.imag" if dtype.kind == "c" else None
        if dtype.names:
            hint = f"name one of {enumerated(dtype.names)}: @{what}:{dtype.names[0]}"
        raise ProgramError("E514", f"{what} holds {dtype}, not real numbers", hint=hint)


def _npz(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return one member of an archive, the only one if there is no key; it is unpacked
    only if it is small enough."""
    from zipfile import ZipFile

    with ZipFile(file) as archive:
        members = {info.filename: info for info in archive.infolist()}
        keys = {name.removesuffix(".npy"): name for name in members}
        if not keys:
            raise ProgramError("E518", f"{what} holds no array")
        if not key and len(keys) > 1:
            message = f"{what} holds several arrays, name one: {_listed(keys)}"
            raise ProgramError(
                "E518", message, hint=f"write @{what}:{next(iter(keys))}"
            )
        chosen = key or next(iter(keys))
        name = keys.get(chosen, chosen)
        if name not in members:
            raise _no_such("array", what, chosen, list(keys))
        source = f"{what}:{name.removesuffix('.npy')}"
        _check_size(members[name].file_size, source, limit)
        with archive.open(name) as member:
            return _npy(member, source, None, limit)


def _column(path: str, key: str, limit: int) -> Floats:
    """Return the numbers of a column of a table, in the order of the rows.

    The table is read block by block, so that memory is needed for the column alone.
    """
    try:
        return _gathered(point_blocks(path, WantedColumns((key,))), path, limit)
    except NoColumn as error:
        header = error.header
        near = nearest(key, header) or (header[0] if header and not key else None)
        known = f"its columns are {enumerated(header)}" if header else "it is empty"
        hint = f"did you mean '@{path}:{near}'? {known}" if near else known
        message = f"{path} has no column {key!r}" if key else f"{path} is a table"
        raise ProgramError("E518", message, hint=hint) from None
    except ProgramError as error:
        if error.code != "E511":
            raise
        message, hint = refusal(path, FileNotFoundError(), _KINDS, mark="@")
        if key:
            hint = hint.replace("'?", f":{key}'?")
        raise ProgramError("E511", message, hint=hint) from None


def _table(file: IO[bytes], what: str, key: str | None, limit: int) -> Floats:
    """Return the numbers of a text table: CSV, TSV, or cells with blanks between them.

    A first line of words is a heading; `#` opens a comment. A table of one row or one
    column is returned as a vector, a table of one cell as a number.
    """
    suffix = suffixes(what)[0]
    mark = suffix if suffix in SEPARATORS else ".csv"
    try:
        table = _gathered(
            text_blocks(file, what, mark, WantedColumns(None)), what, limit
        )
    except NoColumn:
        raise ProgramError("E513", f"{what} holds no numbers", hint=_ROWS) from None
    return table.reshape([length for length in table.shape if length != 1])


def _gathered(blocks: Iterable[RowBlock], what: str, limit: int) -> Floats:
    """Return all rows of blocks with one column, or with several side by side; refuse a
    bad row, and more numbers than ``limit`` bytes hold."""
    parts: list[Floats] = []
    for block in blocks:
        points = block()
        for bad in points.bad:
            hint = "all rows need the same length" if bad.code == "E516" else _CELL
            if bad.code == "E517" and len(points.columns) > 1:
                hint = f"{_CELL}; with a header, {what}:NAME takes one column"
            raise ProgramError(bad.code, f"{bad.place}: {bad.reason}", hint=hint)
        columns = [*points.columns.values()]
        parts.append(columns[0] if len(columns) == 1 else np.stack(columns, axis=1))
        if sum(part.nbytes for part in parts) > limit:
            allowed = limit // _BYTES_PER_NUMBER
            message = f"{what} holds more than the {allowed:,} numbers allowed"
            raise ProgramError("E515", message, hint=_MORE)
    if not parts:
        raise ProgramError("E513", f"{what} holds no numbers", hint=_ROWS)
    if len({part.shape[1:] for part in parts}) > 1:
        raise ProgramError("E516", f"{what}: rows differ in shape")
    return np.concatenate(parts)


_READERS: dict[str, Callable[[IO[bytes], str, str | None, int], Floats]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".csv": _table,
    ".tsv": _table,
    ".json": _json,
}
"""Readers of whole arrays, by the file's suffix."""
