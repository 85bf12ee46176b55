"""Rows of a table in blocks, and readers of text tables and of lines of JSON.

Invariant: a block without bad rows is read at once, by pyarrow if it is installed, else
by NumPy; a block with a bad row is read cell by cell, to find the bad row. A bad row is
reported with its place, and is left out of the block's columns.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import chain
from select import select
from sys import modules
from typing import IO, Any, NamedTuple

import numpy as np

from ..ops.checks import size_text
from .errors import ProgramError
from .excerpt import enumerated, shortened
from .nested import (
    EXTREME,
    EXTREME_BYTES,
    Floats,
    NotAnArray,
    beyond_floats,
    number_of_json,
)
from .suggest import did_you_mean

BLOCK_BYTES = 1 << 20
"""Size of a block of text, in bytes."""

LISTENING_SECONDS = 0.2
"""Longest wait for a stream before Ctrl-C is handled, in seconds."""

ARROW_BYTES = 1 << 17
"""Smallest text that pyarrow is imported for, in bytes."""

MAX_LINE_BYTES = 1 << 24
"""Longest line of text, in bytes."""

MAX_QUOTED_BYTES = 1 << 22
"""Longest text between quotation marks, in bytes."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""Signs between cells, by the file's suffix."""

TABLES = "a table is .csv, .tsv, .jsonl, .npy, .parquet, or - for standard input"

_NUMBER = re.compile(
    r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf(inity)?)",
    re.ASCII | re.IGNORECASE,
)
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?", re.ASCII)

# By default Python's reader refuses cells of more than 128 kB.
csv.field_size_limit(MAX_LINE_BYTES)


class BadRow(NamedTuple):
    """A row that cannot be used.

    nr      its number in its block
    place   its place in words, such as the file and the line
    reason  why it cannot be used
    cells   its cells that are numbers, with the names of their columns
    """

    nr: int
    place: str
    reason: str
    cells: tuple[tuple[str, float], ...] = ()


class Points(NamedTuple):
    """Rows of a table: the columns of the good rows by name, and the bad rows."""

    columns: dict[str, Floats]
    bad: tuple[BadRow, ...]

    @property
    def rows(self) -> int:
        """The number of good rows."""
        return len(next(iter(self.columns.values())))

    def before(self, nr: int) -> Points:
        """Return the good rows before the first bad one, whose number is ``nr``."""
        return Points({name: c[:nr] for name, c in self.columns.items()}, ())

    def number(self, row: int) -> int:
        """Return the number of a good row among all rows, from that among good rows."""
        for bad in self.bad:
            row += bad.nr <= row
        return row


class Block(NamedTuple):
    """Rows that are not yet read; a block can be sent to another process.

    read  a function that reads and returns the rows
    size  the size of the rows in the table, in bytes of text or of numbers
    """

    read: Callable[[], Points]
    size: int = 0

    def __call__(self) -> Points:
        return self.read()

    def parts(self, size: Callable[[], int]) -> Iterator[Block]:
        """Yield blocks of the rows of this block, which is read; ``size`` is called for
        the number of good rows of each, and bad rows stay with those before them."""
        points = self()
        count = points.rows + len(points.bad)
        start = begin = told = 0
        while begin < max(1, count):
            stop = start + size()
            end = count if stop >= points.rows else points.number(stop)
            columns = {name: c[start:stop] for name, c in points.columns.items()}
            inside = (bad for bad in points.bad if begin <= bad.nr < end)
            bad = tuple(bad._replace(nr=bad.nr - begin) for bad in inside)
            share = self.size * end // max(1, count)
            yield Block(partial(Points, columns, bad), share - told)
            start, begin, told = stop, max(1, end), share


def refused(code: str, message: str) -> ProgramError:
    """Return the error for a file that is no table."""
    return ProgramError(code, message, hint=TABLES)


class NoColumn(ProgramError):
    """The error of a table that lacks the column of an input.

    missing  the name of the column
    what     the name of the table
    header   the names of the columns that the table has
    """

    def __init__(self, missing: str, what: str, header: Sequence[str]) -> None:
        known = f"its columns are {enumerated(list(header))}" if header else ""
        hint = did_you_mean(missing, header) or known or "its first line is empty"
        message = f"{what} has no column {missing!r}, and {missing} has no value"
        super().__init__("E518", message, hint=f"{hint}; or give {missing}=VALUE")
        self.missing = missing
        self.what = what
        self.header = tuple(header)


def demand_columns(header: Sequence[str], names: Sequence[str], what: str) -> None:
    """Refuse a header that has none (`NoColumn`) or several columns of a name."""
    for name in names:
        if name not in header:
            raise NoColumn(name, what, header)
        count = header.count(name)
        if count > 1:
            message = f"{what} has {count} columns {name!r}"
            hint = f"give each a name of its own, or give {name}=VALUE"
            raise ProgramError("E518", message, hint=hint)


def text_blocks(
    file: IO[bytes], what: str, suffix: str, names: Sequence[str]
) -> Iterator[Block]:
    """Yield the rows of a text table or of lines of JSON, in blocks; the suffix, or
    without one the first line, determines the format."""
    blocks = _pieces(file, what, suffix)
    first = next(blocks, b"").removeprefix(b"\xef\xbb\xbf")
    line = 1
    if _is_json(suffix, first):
        read: Callable[..., Points] = partial(_json_rows, names=tuple(names), what=what)
    else:
        head = b""
        while first and not head.strip():
            line += 1
            head, _, first = first.partition(b"\n")
        text = _decoded(head, what).strip("\r")
        if "\r" in text:
            raise refused("E513", f"{what} has lines that end with \\r alone, not \\n")
        layout = _layout(text, SEPARATORS.get(suffix), names, what)
        read = partial(_rows, layout=layout, what=what)
    for data in chain([first], blocks):
        if data.strip():
            yield Block(partial(read, data, line), len(data))
        line += data.count(b"\n")


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise refused("E513", f"{what!r} is not text in UTF-8") from None


def look_of(start: bytes) -> str:
    """Return the suffix of the format that the beginning of a text suggests."""
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n ")
    if _is_json("", start):
        return ".jsonl"
    return ".tsv" if b"\t" in start.partition(b"\n")[0] else ".csv"


def _is_json(suffix: str, start: bytes) -> bool:
    """Return whether a text is lines of JSON, by its suffix or its beginning."""
    return suffix == ".jsonl" or (not suffix and start.lstrip()[:1] == b"{")


def _pieces(file: IO[bytes], what: str, suffix: str) -> Iterator[bytes]:
    """Yield the text in pieces, each of which ends at the end of a row."""
    rest, json_lines = b"", None
    for piece in _as_it_comes(file):
        rest += piece
        if json_lines is None:
            json_lines = _is_json(suffix, rest)
        # After a quotation mark that is never closed, every line ends a row.
        quoted = not json_lines and len(rest) < MAX_QUOTED_BYTES
        end = _end(rest, quoted=quoted)
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > MAX_LINE_BYTES:
            most = size_text(MAX_LINE_BYTES)
            raise refused("E515", f"{what} has a line of more than {most}")
    if rest:
        yield rest


def _end(text: bytes, *, quoted: bool) -> int:
    """Return where the last whole row of a text ends; if ``quoted``, a line break
    between quotation marks ends no row."""
    end = text.rfind(b"\n") + 1
    inside = quoted and text.count(b'"', 0, end) % 2
    while inside and end:
        before = text.rfind(b"\n", 0, end - 1) + 1
        inside = (inside + text.count(b'"', before, end)) % 2
        end = before
    return end


def _as_it_comes(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the text as it arrives, in pieces of a block at most; when a stream pauses,
    the part that has arrived is yielded."""
    read = getattr(file, "read1", file.read)
    while piece := read(BLOCK_BYTES):
        while len(piece) < BLOCK_BYTES and _is_ready(file, 0):
            more = read(BLOCK_BYTES - len(piece))
            piece += more
            if not more:
                break
        yield piece
        # A Ctrl-C just before a blocking read would be handled only after it.
        while _is_ready(file, LISTENING_SECONDS) is False:
            pass


def _is_ready(file: IO[bytes], seconds: float) -> bool | None:
    """Return whether a read would return within ``seconds``; None if not known."""
    try:
        return bool(select([file.fileno()], [], [], seconds)[0])
    except (OSError, ValueError):  # the stream, or the system, does not support select
        return None


class Layout(NamedTuple):
    """The columns of a text table, with the names of those that are read."""

    separator: str
    header: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def positions(self) -> list[int]:
        return [self.header.index(name) for name in self.names]


def _layout(head: str, mark: str | None, names: Sequence[str], what: str) -> Layout:
    marks = dict.fromkeys([*([mark] if mark else []), *"\t;,"])
    try:
        headers = {
            mark: tuple(map(str.strip, next(csv.reader([head], delimiter=mark), [])))
            for mark in marks
        }
    except csv.Error as error:
        raise refused("E513", f"{what} has no header: {error}") from None
    usual = next((mark for mark in marks if mark in head), ",")
    fits = (mark for mark in marks if set(names).issubset(headers[mark]))
    found = next(fits, usual)
    demand_columns(headers[found], names, what)
    return Layout(found, headers[found], tuple(names))


def _rows(data: bytes, line: int, layout: Layout, what: str) -> Points:
    """Return the rows of a block of text, whose first line has the number ``line``."""
    found = None
    if data.count(b'"') % 2 == 0:
        quick = _by_arrow if _worth_arrow(data) else _by_numpy
        found = quick(data, layout)
    if found is not None and not _may_be_beyond(found, data):
        return Points(dict(zip(layout.names, found, strict=True)), ())
    return _collected(_cell_by_cell(data, line, layout, what), layout.names)


def _may_be_beyond(columns: Sequence[Floats], data: bytes) -> bool:
    """Return whether a number may be too small or too large for a float."""
    extreme = any(not (c.all() and np.isfinite(c).all()) for c in columns)
    return extreme and EXTREME_BYTES.search(data) is not None


def _worth_arrow(data: bytes) -> bool:
    """Return whether pyarrow is installed and quicker, its import included."""
    if len(data) < ARROW_BYTES and "pyarrow" not in modules:
        return False
    return find_spec("pyarrow") is not None


def _by_arrow(data: bytes, layout: Layout) -> list[Floats] | None:
    """Return the columns of a block, read by pyarrow; None if a row may be bad."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    # Names may occur twice among the columns that are not read; numbers do not.
    read = [str(position) for position in layout.positions]
    try:
        table = arrow.read_csv(
            BytesIO(data),
            read_options=arrow.ReadOptions(
                column_names=[str(nr) for nr in range(len(layout.header))]
            ),
            parse_options=arrow.ParseOptions(delimiter=layout.separator),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(read, pa.float64()),
                include_columns=read,
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid:
        return None
    return _filled(table, read)


def _filled(table: Any, names: Sequence[str]) -> list[Floats] | None:
    """Return columns of a table of pyarrow; None if a cell is missing."""
    columns = [table[name] for name in names]
    if any(column.null_count for column in columns):
        return None
    return [column.to_numpy() for column in columns]


def _by_numpy(data: bytes, layout: Layout) -> list[Floats] | None:
    """Return the columns of a block, read by NumPy; None if a row may be bad."""
    mark, count = layout.separator.encode(), len(layout.header) - 1
    even = all(line.count(mark) == count for line in data.splitlines() if line)
    if b'"' in data or not even:
        return None
    try:
        table = np.loadtxt(
            BytesIO(data),
            delimiter=layout.separator,
            usecols=layout.positions,
            comments=None,
            ndmin=2,
            encoding="utf-8",
        )
    except ValueError:
        return None
    return list(table.T)


Row = tuple[str, Mapping[str, Any], str]
"""The place of a row, its values that are numbers, and why it is bad; the reason is
empty for a good row."""


def _collected(rows: Iterable[Row], names: Sequence[str]) -> Points:
    """Return rows that were read one by one as columns, with the bad rows."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    bad: list[BadRow] = []
    for nr, (place, values, reason) in enumerate(rows):
        if reason:
            kept = [(n, float(v)) for n, v in values.items() if not np.ndim(v)]
            bad.append(BadRow(nr, place, reason, tuple(kept)))
            continue
        for name in names:
            columns[name].append(values[name])
    return Points({n: np.array(c, dtype=float) for n, c in columns.items()}, tuple(bad))


def _cell_by_cell(data: bytes, line: int, layout: Layout, what: str) -> Iterator[Row]:
    """Yield the rows of a block of text."""
    text, first = _decoded(data, what), line
    strict = bool(text.count('"') % 2)
    mark = layout.separator
    reader = csv.reader(StringIO(text, newline=""), delimiter=mark, strict=strict)
    while True:
        values: dict[str, float] = {}
        try:
            cells = next(reader, None)
            if cells is None:
                return
            if not cells or (len(cells) == 1 and cells[0].isspace()):
                first = line + reader.line_num
                continue
            values, reason = _numbers(cells, layout)
        except csv.Error:
            reason = "a quotation mark is not closed"
        last = line + reader.line_num - 1
        place = f"line {first}" if first == last else f"lines {first} to {last}"
        first = last + 1
        yield f"{what}, {place}", values, reason


def _numbers(cells: Sequence[str], layout: Layout) -> tuple[dict[str, float], str]:
    """Return the numbers of a row by the names of their columns, and why it is bad."""
    if len(cells) != len(layout.header):
        have = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
        return {}, f"{have}, the header has {len(layout.header)}"
    numbers, reasons = {}, []
    for name, position in zip(layout.names, layout.positions, strict=True):
        cell = cells[position].strip()
        if _NUMBER.fullmatch(cell):
            numbers[name] = float(cell)
            beyond = beyond_floats(cell, numbers[name])
            if beyond is not None:
                reasons.append(f"{name} is {shortened(cell)}, {beyond}")
        else:
            shown = f"{shortened(cell)!r}, not a number" if cell else "empty"
            if _DECIMAL_COMMA.fullmatch(cell):
                shown += ": write a point for the comma"
            reasons.append(f"{name} is {shown}")
    return numbers, reasons[0] if reasons else ""


def _json_rows(data: bytes, line: int, names: Sequence[str], what: str) -> Points:
    """Return the rows of lines of JSON: objects with numbers or lists of numbers."""
    if _worth_arrow(data):
        quick = _json_by_arrow(data, names)
        if quick is not None and not _may_be_beyond(quick, data):
            return Points(dict(zip(names, quick, strict=True)), ())
    return _collected(_line_by_line(data, line, names, what), names)


def _json_by_arrow(data: bytes, names: Sequence[str]) -> list[Floats] | None:
    """Return the columns of lines of JSON by pyarrow; None if a line may be bad."""
    import pyarrow as pa
    from pyarrow import json as arrow

    try:
        table = arrow.read_json(
            BytesIO(data),
            parse_options=arrow.ParseOptions(
                explicit_schema=pa.schema([(name, pa.float64()) for name in names]),
                unexpected_field_behavior="ignore",
            ),
        )
    except pa.ArrowInvalid:
        return None
    lines = sum(1 for line in data.split(b"\n") if line and not line.isspace())
    return _filled(table, names) if table.num_rows == lines else None


def _line_by_line(
    data: bytes, line: int, names: Sequence[str], what: str
) -> Iterator[Row]:
    """Yield the rows of lines of JSON, all of which have values of the same shapes."""
    shapes: dict[str, list[int]] = {}
    for nr, text in enumerate(_decoded(data, what).split("\n"), line):
        if not text.strip():
            continue
        values, reason = _object(text, names)
        if not reason:
            known = {name: list(value.shape) for name, value in values.items()}
            shapes = shapes or known
            other = next((name for name in names if known[name] != shapes[name]), None)
            if other is not None:
                values, reason = {}, (
                    f"{other} has shape {known[other]}, before it had {shapes[other]}"
                )  # fmt: skip
        yield f"{what}, line {nr}", values, reason


def _object(text: str, names: Sequence[str]) -> tuple[dict[str, Floats], str]:
    """Return the values of a line of JSON that are numbers, and why the line is bad."""
    try:
        floats = number_of_json if EXTREME.search(text) else None
        found = json.loads(text, parse_float=floats)
    except NotAnArray as problem:
        return {}, problem.message
    except (ValueError, RecursionError) as error:
        return {}, f"not JSON: {error}"
    if not isinstance(found, dict):
        return {}, "not an object"
    values, reasons = {}, []
    for name in names:
        if name not in found:
            reasons.append(f"no value for {name}")
            continue
        try:
            value = np.array(found[name], dtype=float)
        except (TypeError, ValueError, OverflowError):
            shown = shortened(json.dumps(found[name]))
            reasons.append(f"{name} is {shown}, not numbers")
            continue
        # NumPy converts None to nan.
        if "null" in text and None in np.array(found[name], dtype=object).ravel():
            whole = found[name] is None
            reasons.append(
                f"{name} is empty" if whole else f"an entry of {name} is empty"
            )
        else:
            values[name] = value
    return values, reasons[0] if reasons else ""
