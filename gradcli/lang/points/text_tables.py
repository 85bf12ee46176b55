"""Readers of text tables and of lines of JSON, block by block.

Invariant: a block without bad rows is read at once, by pyarrow if it is installed, else
by NumPy; a block with a bad row is read cell by cell, to find the bad row.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from io import BytesIO, StringIO
from itertools import chain
from select import select
from sys import float_info, modules
from typing import IO, Any, NamedTuple

import numpy as np

from ...ops.checks import size_text
from ..excerpt import shortened
from ..nested import (
    EXTREME,
    EXTREME_BYTES,
    Floats,
    NotAnArray,
    beyond_floats,
    number_of_json,
)
from .row import BadRow, Block, Points, demand_columns, refused

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

_NUMBER = re.compile(
    r"[-+]?(\d+\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf(inity)?)",
    re.ASCII | re.IGNORECASE,
)
_UNCLOSED = "a quotation mark is not closed"
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?", re.ASCII)

# By default Python's reader refuses cells of more than 128 kB.
csv.field_size_limit(MAX_LINE_BYTES)

SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""Signs between cells, by the file's suffix."""


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
        head, _, first = first.partition(b"\n")
        while first and not head.strip():
            line += 1
            head, _, first = first.partition(b"\n")
        line += 1
        text = decoded(head, what).strip("\r")
        if "\r" in text:
            raise refused("E513", f"{what} has lines that end with \\r alone, not \\n")
        layout = _layout(text, SEPARATORS.get(suffix), names, what)
        read = partial(_rows, layout=layout, what=what)
    for data in chain([first], blocks):
        if data.strip():
            yield Block(partial(read, data, line), len(data))
        line += data.count(b"\n")


def decoded(data: bytes, what: str) -> str:
    """Return bytes decoded as UTF-8.

    Raises:
        ProgramError: the bytes are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise refused("E513", f"{what!r} is not text in UTF-8") from None


class Layout(NamedTuple):
    """The columns of a text table, with the names of those that are read."""

    separator: str
    header: tuple[str, ...]
    names: tuple[str, ...]

    @property
    def positions(self) -> list[int]:
        return [self.header.index(name) for name in self.names]


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
    if not quoted:
        return end
    inside = text.count(b'"', 0, end) % 2
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
        parts, size, ended = [piece], len(piece), False
        while size < BLOCK_BYTES and not ended and _is_ready(file, 0):
            parts.append(read(BLOCK_BYTES - size))
            size += len(parts[-1])
            ended = not parts[-1]
        yield b"".join(parts)
        if ended:
            return
        # A Ctrl-C just before a blocking read would be handled only after it.
        while _is_ready(file, LISTENING_SECONDS) is False:
            pass


def _is_ready(file: IO[bytes], seconds: float) -> bool | None:
    """Return whether a read would return within ``seconds``; None if not known."""
    try:
        return bool(select([file.fileno()], [], [], seconds)[0])
    except (OSError, ValueError):  # the stream, or the system, does not support select
        return None


def _layout(head: str, mark: str | None, names: Sequence[str], what: str) -> Layout:
    marks = dict.fromkeys([*([mark] if mark else []), *"\t;,"])
    try:
        headers = {mark: _cells(head, mark) for mark in marks}
    except csv.Error as error:
        raise refused("E513", f"{what} has no header: {error}") from None
    usual = next((mark for mark in marks if mark in head), ",")
    fits = (mark for mark in marks if set(names).issubset(headers[mark]))
    found = next(fits, usual)
    demand_columns(headers[found], names, what)
    return Layout(found, headers[found], tuple(names))


def _cells(head: str, mark: str) -> tuple[str, ...]:
    cells = next(csv.reader([head], delimiter=mark), [])
    return tuple(cell.strip() for cell in cells)


def _rows(data: bytes, line: int, layout: Layout, what: str) -> Points:
    """Return the rows of a block of text, whose first line has the number ``line``."""
    found = None
    if data.count(b'"') % 2 == 0:
        quick = _by_arrow if _worth_arrow(data) else _by_numpy
        found = quick(data, layout)
    if found is not None and not _may_be_beyond(found, data):
        return Points(dict(zip(layout.names, found, strict=True)), ())
    return _cell_by_cell(data, line, layout, what)


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

    try:
        table = arrow.read_csv(
            BytesIO(data),
            read_options=arrow.ReadOptions(column_names=_distinct(layout)),
            parse_options=arrow.ParseOptions(delimiter=layout.separator),
            convert_options=arrow.ConvertOptions(
                column_types=dict.fromkeys(layout.names, pa.float64()),
                include_columns=list(layout.names),
                null_values=[""],
            ),
        )
    except pa.ArrowInvalid:
        return None
    return _filled(table, layout.names)


def _filled(table: Any, names: Sequence[str]) -> list[Floats] | None:
    """Return columns of a table of pyarrow; None if a cell is missing."""
    columns = [table[name] for name in names]
    if any(column.null_count for column in columns):
        return None
    return [column.to_numpy() for column in columns]


def _distinct(layout: Layout) -> list[str]:
    """Return the header, with unique names in place of those of columns not read."""
    first = {name: layout.header.index(name) for name in layout.names}
    return [
        cell if first.get(cell) == nr else f"\0{nr}"
        for nr, cell in enumerate(layout.header)
    ]


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


def _cell_by_cell(data: bytes, line: int, layout: Layout, what: str) -> Points:
    """Return the good and the bad rows of a block, read cell by cell."""
    rows: list[list[float]] = []
    bad: list[BadRow] = []
    first = line
    for cells, read in _cells_of_rows(decoded(data, what), layout.separator):
        start, first = first, line + read
        if cells == [] or (cells and len(cells) == 1 and cells[0].isspace()):
            continue
        numbers, reason = ({}, _UNCLOSED) if cells is None else _numbers(cells, layout)
        if not reason:
            rows.append(list(numbers.values()))
            continue
        last = first - 1
        place = f"line {start}" if start == last else f"lines {start} to {last}"
        number, kept = len(rows) + len(bad), tuple(numbers.items())
        bad.append(BadRow(number, f"{what}, {place}", reason, kept))
    table = np.array(rows, dtype=float).reshape(-1, len(layout.names))
    return Points(dict(zip(layout.names, table.T, strict=True)), tuple(bad))


def _cells_of_rows(text: str, mark: str) -> Iterator[tuple[list[str] | None, int]]:
    """Yield the cells of each row, or None if a quotation mark is not closed, and the
    number of lines read so far."""
    strict = bool(text.count('"') % 2)
    reader = csv.reader(StringIO(text, newline=""), delimiter=mark, strict=strict)
    while True:
        try:
            yield next(reader), reader.line_num
        except StopIteration:
            return
        except csv.Error:
            yield None, reader.line_num


def _numbers(cells: Sequence[str], layout: Layout) -> tuple[dict[str, float], str]:
    """Return the numbers of a row by the names of their columns, and why the row is
    bad, which is empty for a good one."""
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
    columns: dict[str, list[Floats]] = {name: [] for name in names}
    bad: list[BadRow] = []
    count = -1
    for nr, text in enumerate(decoded(data, what).split("\n"), line):
        if not text.strip():
            continue
        count += 1
        found = _object(text, names)
        kept: tuple[tuple[str, float], ...] = ()
        if isinstance(found, str):
            reason, kept = found, _kept_of_object(text, names)
        else:
            known = {n: list(c[0].shape) for n, c in columns.items() if c}
            shape = {n: list(v.shape) for n, v in found.items()}
            other = next((n for n in known if known[n] != shape[n]), None)
            if other is None:
                for name, value in found.items():
                    columns[name].append(value)
                continue
            reason = f"{other} has shape {shape[other]}, before it had {known[other]}"
        bad.append(BadRow(count, f"{what}, line {nr}", reason, kept))
    return Points({n: np.array(c, dtype=float) for n, c in columns.items()}, tuple(bad))


def _kept_of_object(text: str, names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """Return the values of a bad line of JSON that are numbers, with their names."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    values = {n: found.get(n) for n in names} if isinstance(found, dict) else {}
    known = {n: v for n, v in values.items() if isinstance(v, float | int)}
    return tuple((n, v) for n, v in known.items() if abs(v) <= float_info.max)


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


def _object(text: str, names: Sequence[str]) -> dict[str, Floats] | str:
    """Return the values of a line of JSON, or why the line is bad."""
    try:
        floats = number_of_json if EXTREME.search(text) else None
        found = json.loads(text, parse_float=floats)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    except NotAnArray as problem:
        return problem.message
    if not isinstance(found, dict):
        return "not an object"
    values = {}
    for name in names:
        if name not in found:
            return f"no value for {name}"
        try:
            values[name] = np.array(found[name], dtype=float)
        except (TypeError, ValueError, OverflowError):
            return f"{name} is {shortened(json.dumps(found[name]))}, not numbers"
        # NumPy converts None to nan.
        if "null" in text and None in np.array(found[name], dtype=object).ravel():
            whole = found[name] is None
            return f"{name} is empty" if whole else f"an entry of {name} is empty"
    return values
