"""Rows of a table in blocks, and readers of text tables and of lines of JSON.

Invariant: a block without bad rows is read at once, a large one by pyarrow if that is
installed; a block with a bad row is read cell by cell, to find it. A bad row is
reported with its place, and is left out of the block's columns. A line that begins with
``#`` is a comment, and is no row.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from io import StringIO
from itertools import chain, pairwise
from select import select
from sys import modules
from typing import IO, Any, NamedTuple

import numpy as np

from ..lang.errors import ProgramError
from ..lang.excerpt import enumerated, shortened
from ..lang.nested import (
    EXTREME,
    EXTREME_BYTES,
    Floats,
    beyond_floats,
    is_number,
    number_of_json,
)
from ..lang.suggest import did_you_mean
from ..ops.checks import size_text

BLOCK_BYTES = 1 << 21
"""Size of a block of text, in bytes."""

LISTENING_SECONDS = 0.2
"""Longest wait for a stream before Ctrl-C is handled, in seconds."""

ARROW_BYTES = 1 << 19
MAX_ARROW_COLUMNS = 1000
"""Smallest text that pyarrow is imported for, in bytes, and most columns for it."""

MAX_LINE_BYTES = 1 << 24
"""Longest line of text, in bytes."""

BLOCK_ROWS = 1 << 18
"""Most lines of a block of text."""

MAX_HEADING_CHARACTERS = 10_000
"""Longest name of a column, in characters."""

MAX_QUOTED_BYTES = 1 << 22
"""Longest text between quotation marks, in bytes."""

SEPARATORS = {".csv": ",", ".tsv": "\t"}
"""Signs between cells, by the file's suffix."""

TEXTS = (*SEPARATORS, ".json", ".jsonl")
"""Suffixes of tables that are text."""

TABLES = "a table is .csv, .tsv, .json, .jsonl, .npy, .parquet, or - for standard input"

_COMMENT = re.compile(rb'"[^"]*"|^[ \t]*#.*', re.M)
_REMARK = re.compile(rb"#.*")
"""Patterns of a comment, or of a quotation, which has none; of a remark."""

_BRACKETS = {"]": "[", ")": "("}
"""Brackets around a unit behind the name of a column, by the last one."""

_NUMBER_OF_JSON = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", re.ASCII)
_NUMBER = re.compile(
    r"[-+]?(\d++\.?\d*([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?|nan|inf(inity)?)",
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
    cells   its cells that can be used, with the names of their columns
    code    the code of the error
    """

    nr: int
    place: str
    reason: str
    cells: tuple[tuple[str, Any], ...] = ()
    code: str = "E517"


class WantedColumns(NamedTuple):
    """The columns that are read of a table.

    names    the inputs, whose columns hold numbers; None: all columns, with or without
             a header, called "column 1", ...
    kept     the columns that are carried along, each cell as a text of JSON
    renamed  the names that columns have in the table, where inputs are called otherwise
    columns  the names of all columns of a table that has no header
    """

    names: tuple[str, ...] | None
    kept: tuple[str, ...] = ()
    renamed: Mapping[str, str] = {}
    columns: tuple[str, ...] = ()

    @property
    def asked(self) -> dict[str, str]:
        """The names that the columns have in the table, by the names they get."""
        names = (*(self.names or ()), *self.kept)
        return {name: self.renamed.get(name, name) for name in names}


class Points(NamedTuple):
    """Rows of a table: the columns of the good rows by name, and the bad rows."""

    columns: dict[str, Any]
    bad: tuple[BadRow, ...]

    @property
    def rows(self) -> int:
        """The number of good rows."""
        return len(next(iter(self.columns.values())))

    def number(self, row: int) -> int:
        """Return the number of a good row among all rows, from that among good rows."""
        for bad in self.bad:
            row += bad.nr <= row
        return row


class RowBlock(NamedTuple):
    """Rows that are not yet read; a block can be sent to another process.

    read  a function that reads and returns the rows
    size  the size of the rows in the table, in bytes of text or of numbers
    look  the suffix of the format of the table, if it is text
    """

    read: Callable[[], Points]
    size: int = 0
    look: str = ".csv"

    def __call__(self) -> Points:
        return self.read()

    def parts(self, size: Callable[[], int]) -> Iterator[RowBlock]:
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
            yield RowBlock(partial(Points, columns, bad), share - told)
            start, begin, told = stop, max(1, end), share


def is_quick(size: int) -> bool:
    """Return whether pyarrow is there, and worth its import for so many bytes."""
    worth = size >= ARROW_BYTES or "pyarrow" in modules
    return worth and find_spec("pyarrow") is not None


def refused(code: str, message: str) -> ProgramError:
    """Return the error for a file that is no table."""
    return ProgramError(code, message, hint=TABLES)


class NoColumn(ProgramError):
    """The error of a table that lacks a column, with the names that it has instead."""

    def __init__(self, missing: str, what: str, header: Sequence[str], name: str = ""):
        known = f"its columns are {enumerated(list(header))}" if header else ""
        hint = did_you_mean(missing, header) or known or "its first line is empty"
        message = f"{what} has no column {missing!r}"
        if name:
            message += f", and {name} has no value"
            hint += f"; or give {name}=VALUE, or --rename OLD={name}"
        if header and all(map(is_number, header)):
            hint = f"without a header, name its columns: --columns {missing},…"
        super().__init__("E518", message, hint=hint)
        self.header = tuple(header)


def places_in(header: Sequence[str], name: str) -> list[int]:
    """Return the places of the columns of a name; a unit behind it may be left out."""
    places = [nr for nr, each in enumerate(header) if each == name]
    plain = map(_without_unit, header)
    return places or [nr for nr, each in enumerate(plain) if each == name]


def _without_unit(heading: str) -> str:
    opening = _BRACKETS.get(heading[-1:])
    start = heading.find(opening, 1) if opening else 0
    return heading[:start].rstrip() if start > 0 else heading


def demand_columns(
    header: Sequence[str], wanted: WantedColumns, what: str
) -> dict[str, int]:
    """Return the places of the wanted columns; refuse a header that has none of a name
    (`NoColumn`) or several."""
    found = {}
    for name, asked in wanted.asked.items():
        places = places_in(header, asked)
        if not places:
            lacking = name if name in (wanted.names or ()) else ""
            raise NoColumn(asked, what, header, lacking)
        if len(places) > 1:
            message = f"{what} has {len(places)} columns {asked!r}"
            hint = f"give each a name of its own, or give {name}=VALUE"
            raise ProgramError("E518", message, hint=hint)
        found[name] = places[0]
    return found


def text_blocks(
    file: IO[bytes], what: str, suffix: str, wanted: WantedColumns
) -> Iterator[RowBlock]:
    """Yield the rows of a text table or of objects of JSON, in blocks; the suffix, or
    without one the first line, determines the format."""
    pieces = _cut_by_rows(_as_it_comes(file))
    first = next(pieces, b"").removeprefix(b"\xef\xbb\xbf")
    line, look = 1, suffix or _look_of(first.lstrip(b"\r\n "))
    blocks = _blocks(chain([first], pieces), what, quotes=look in SEPARATORS)
    if look in SEPARATORS:
        layout, rest, line = _headed(blocks, SEPARATORS.get(suffix), wanted, what)
        blocks, read = chain([rest], blocks), partial(_rows, layout=layout, what=what)
    else:
        lines = look == ".jsonl"
        blocks = blocks if lines else iter([b"".join(blocks)])
        read = partial(_json_rows, wanted=wanted, what=what, lines=lines)
    for data in blocks:
        if data and not data.isspace():
            yield RowBlock(partial(read, data, line), len(data), look)
        line += _count_lines(data)


def _headed(
    blocks: Iterator[bytes], mark: str | None, wanted: WantedColumns, what: str
) -> tuple[TableLayout, bytes, int]:
    """Return the columns of a table, the text that follows its header, and the number
    of the line that the text begins with."""
    line = 0
    for piece in blocks:
        end = 0
        while end < len(piece):
            start, end, line = end, piece.find(b"\n", end) + 1 or len(piece), line + 1
            _check_line(end - start, what)
            head = _decoded(piece[start:end], what).strip("\r\n")
            if "\r" in head:
                message = f"{what} has lines that end with \\r, not \\n"
                raise refused("E513", message)
            if not head.strip() or head.lstrip().startswith("#"):
                continue
            layout = _layout(head, mark, wanted, what)
            rest = piece[end if layout.headed else start :]
            return layout, rest, line + layout.headed
    raise NoColumn(next(iter(wanted.asked.values()), ""), what, ())


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise refused("E513", f"{what!r} is not text in UTF-8") from None


def _look_of(start: bytes) -> str:
    """Return the suffix of the format that the beginning of a text suggests."""
    if start[:1] in (b"[", b"{"):
        return ".json" if start[:1] == b"[" else ".jsonl"
    return ".tsv" if b"\t" in start.partition(b"\n")[0] else ".csv"


def _blocks(pieces: Iterable[bytes], what: str, quotes: bool) -> Iterator[bytes]:
    """Yield the text in blocks, each of which ends at the end of a row."""
    rest = b""
    for piece in pieces:
        rest += piece
        # After a quotation mark that is never closed, every line ends a row.
        end = _end(rest, quoted=quotes and len(rest) < MAX_QUOTED_BYTES)
        if end:
            yield rest[:end]
            rest = rest[end:]
        else:
            _check_line(len(rest), what)
    if rest:
        yield rest


def _check_line(size: int, what: str) -> None:
    if size > MAX_LINE_BYTES:
        most = size_text(MAX_LINE_BYTES)
        raise refused("E515", f"{what} has a line of more than {most}")


def _cut_by_rows(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces of text in parts of `BLOCK_ROWS` lines at most, because the results
    of short lines take many times their text."""
    for piece in pieces:
        if _count_lines(piece) < BLOCK_ROWS:
            yield piece
            continue
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == ord("\n"))
        cuts = (ends[BLOCK_ROWS - 1 :: BLOCK_ROWS] + 1).tolist()
        for start, end in pairwise([0, *cuts, len(piece)]):
            if start < end:
                yield piece[start:end]


def _count_lines(text: bytes) -> int:
    """Return the number of line breaks; `bytes.count` takes seven times as long."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def _end(text: bytes, *, quoted: bool) -> int:
    """Return where the last whole row of a text ends; if ``quoted``, a line break
    between quotation marks ends no row."""
    end = text.rfind(b"\n") + 1
    inside = quoted and b'"' in text and text.count(b'"', 0, end) % 2
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


class TableLayout(NamedTuple):
    """The columns of a text table.

    mark     the sign between cells
    cells    the number of cells of a row
    numbers  the places of the columns that hold numbers, by name
    kept     the places of the columns that are carried along, by name
    headed   whether the table has a header
    remark   the pattern of what is no cell
    """

    mark: str
    cells: int
    numbers: dict[str, int]
    kept: Mapping[str, int]
    headed: bool
    remark: re.Pattern[bytes] = _COMMENT


def _layout(
    head: str, mark: str | None, wanted: WantedColumns, what: str
) -> TableLayout:
    marks = dict.fromkeys([*([mark] if mark else []), *"\t;,"])
    headers = {
        mark: tuple(map(str.strip, next(csv.reader([head], delimiter=mark), [])))
        for mark in marks
    }
    headers[" "] = tuple(head.split())
    usual = next((mark for mark in "\t;," if mark in head), " ")
    if wanted.names is None:
        cells = headers[usual]
        numbers = {f"column {nr}": nr - 1 for nr in range(1, len(cells) + 1)}
        headed = not any(map(is_number, cells)) and any(cells)
        return TableLayout(usual, len(cells), numbers, {}, headed, _REMARK)
    if wanted.columns:
        count = len(wanted.columns)
        fits = (mark for mark in headers if len(headers[mark]) == count)
        header, found = wanted.columns, next(fits, usual)
    else:
        names = wanted.asked.values()
        fits = (m for m in headers if all(places_in(headers[m], n) for n in names))
        found = next(fits, usual)
        header = headers[found]
    if any(len(name) > MAX_HEADING_CHARACTERS for name in header):
        most = f"{MAX_HEADING_CHARACTERS:,} characters"
        raise refused("E513", f"{what} has a column whose name is above {most}")
    places = demand_columns(header, wanted, what)
    kept = {name: places.pop(name) for name in wanted.kept}
    return TableLayout(found, len(header), places, kept, not wanted.columns)


def _rows(data: bytes, line: int, layout: TableLayout, what: str) -> Points:
    """Return the rows of a block of text, whose first line has the number ``line``."""
    if b"#" in data:
        data = layout.remark.sub(lambda m: m[0] if m[0][:1] == b'"' else b"", data)
    if layout.mark == " ":
        data = b"\n".join(b" ".join(line.split()) for line in data.split(b"\n"))
    few = layout.cells < MAX_ARROW_COLUMNS and not layout.kept
    few = few and (b'"' not in data or data.count(b'"') % 2 == 0)
    if few and is_quick(len(data)):
        found = _by_arrow(data, layout)
        if found is not None:
            return Points(found, ())
    together = None if EXTREME_BYTES.search(data) else _floats
    rows = _cut(data, line, layout, what)
    readers = _number, together, _json_text
    return _collected(rows, layout.numbers, layout.kept, readers)


def _by_arrow(data: bytes, layout: TableLayout) -> dict[str, Floats] | None:
    """Return the columns of a block, read by pyarrow; None if a row may be bad."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    # Names may occur twice among the columns that are not read; numbers do not.
    read = [str(place) for place in layout.numbers.values()]
    numbers = dict.fromkeys(read, pa.float64())
    try:
        options = (
            arrow.ReadOptions(column_names=[str(nr) for nr in range(layout.cells)]),
            arrow.ParseOptions(delimiter=layout.mark),
            arrow.ConvertOptions(
                column_types=numbers, include_columns=read, null_values=[""]
            ),
        )
        table = arrow.read_csv(pa.BufferReader(data), *options)
    except pa.ArrowInvalid:
        return None
    if any(table[name].null_count for name in read):
        return None
    found = {n: table[r].to_numpy() for n, r in zip(layout.numbers, read, strict=True)}
    # A number may be too small or too large for a float.
    extreme = any(not (c.all() and np.isfinite(c).all()) for c in found.values())
    return None if extreme and EXTREME_BYTES.search(data) else found


def _floats(cells: Sequence[str]) -> Floats:
    """Return cells as numbers; raise ValueError if one may be none."""
    together = "".join(cells)
    if "_" in together or not together.isascii():
        raise ValueError
    return np.array([*map(float, cells)], dtype=float)


def _plain_numbers(cells: Sequence[object]) -> Floats:
    """Return numbers of JSON; raise ValueError if one may be none."""
    if not {int, float}.issuperset(map(type, cells)):
        raise ValueError
    return np.array(cells, dtype=float)


def _dumps(cell: object) -> str:
    """Return a value as a text of JSON; what JSON does not have, in words."""
    return json.dumps(None if cell is _NOTHING else cell, default=str)


def _json_text(cell: str) -> str:
    """Return a cell of a text table as a text of JSON: a number as it is."""
    return cell if _NUMBER_OF_JSON.fullmatch(cell) else json.dumps(cell)


def json_texts(cells: Iterable[object], text: Callable[[Any], str] = _dumps) -> Any:
    """Return cells of any kind as an array of texts of JSON."""
    return np.fromiter(map(text, cells), dtype=object)


Row = tuple[str, Sequence[Any], str]
"""The place of a row, its cells, and why it cannot be used; empty for a good row."""


Readers = tuple[Callable[[Any], tuple[Any, str]], Any, Callable[[Any], str]]
"""Functions that return the number of a cell, or why it is none; the numbers of several
cells, or raise ValueError if one may be none; and a cell that is carried along."""


def _collected(
    rows: Iterable[Row],
    numbers: Mapping[str, int],
    kept: Mapping[str, int],
    readers: Readers,
) -> Points:
    """Return rows as columns, with the bad rows."""
    rows, (read, together, text) = [*rows], readers
    with suppress(ValueError, OverflowError):
        if together and not any(reason for _, _, reason in rows):
            found = {n: together([r[1][at] for r in rows]) for n, at in numbers.items()}
            texts = {n: [r[1][at] for r in rows] for n, at in kept.items()}
            found |= {n: json_texts(cells, text) for n, cells in texts.items()}
            return Points(found, ())
    columns: dict[str, list[Any]] = {name: [] for name in (*numbers, *kept)}
    bad: list[BadRow] = []
    shapes: dict[str, list[int]] = {}
    for nr, (place, cells, reason) in enumerate(rows):
        code = "E516" if cells and reason else "E517"
        values: dict[str, Any] = {}
        if not reason:
            values = {name: text(cells[at]) for name, at in kept.items()}
            cell = {name: read(cells[at]) for name, at in numbers.items()}
            values |= {name: value for name, (value, why) in cell.items() if not why}
            whys = (f"{name} {why}" for name, (_, why) in cell.items() if why)
            reason = next(whys, "")
        if not reason:
            known = {name: list(np.shape(value)) for name, value in values.items()}
            shapes = shapes or known
            other = next((name for name in known if known[name] != shapes[name]), None)
            if other is not None:
                now, before = known[other], shapes[other]
                reason = f"{other} has shape {now}, before it had {before}"
        if reason:
            told = tuple((name, v) for name, v in values.items() if not np.ndim(v))
            bad.append(BadRow(nr, place, reason, told, code))
            continue
        for name, value in values.items():
            columns[name].append(value)
    found = {name: np.array(columns[name], dtype=float) for name in numbers}
    found |= {name: json_texts(columns[name], str) for name in kept}
    return Points(found, tuple(bad))


def _cut(data: bytes, line: int, layout: TableLayout, what: str) -> Iterator[Row]:
    """Yield the rows of a block of text."""
    text, first, mark = _decoded(data, what), line, layout.mark
    strict = bool(text.count('"') % 2)
    reader = csv.reader(StringIO(text, newline=""), delimiter=mark, strict=strict)
    while True:
        cells: list[str] | None = []
        reason = ""
        try:
            cells = next(reader, None)
        except csv.Error:
            reason = "a quotation mark is not closed"
        if cells is None:
            return
        start, first = first, line + reader.line_num
        if not reason and (not cells or (len(cells) == 1 and cells[0].isspace())):
            continue
        if not reason and len(cells) != layout.cells:
            have = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            reason = f"{have} in place of {layout.cells}"
        several = f"lines {start} to {first - 1}"
        place = f"line {start}" if start == first - 1 else several
        yield f"{what}, {place}", cells, reason


def _number(cell: str) -> tuple[float, str]:
    """Return the number that a cell of text is, and why it is none."""
    cell = cell.strip()
    if _NUMBER.fullmatch(cell):
        beyond = beyond_floats(cell, float(cell))
        return float(cell), f"is {shortened(cell)}, {beyond}" if beyond else ""
    shown = f"is {shortened(cell)!r}, not a number" if cell else "is empty"
    if _DECIMAL_COMMA.fullmatch(cell):
        shown += ": write a point for the comma"
    return 0, shown


def json_points(rows: Iterable[Row], wanted: WantedColumns) -> Points:
    """Return rows as columns; a cell is a value of JSON, a number or a list of them."""
    places = {name: nr for nr, name in enumerate(wanted.asked)}
    kept = {name: places.pop(name) for name in wanted.kept}
    return _collected(rows, places, kept, (_json_number, _plain_numbers, _dumps))


def _json_rows(
    data: bytes, line: int, wanted: WantedColumns, what: str, lines: bool
) -> Points:
    """Return the rows of lines of JSON, or of a list: objects by the inputs' names."""
    return json_points(_objects(data, line, wanted, what, lines), wanted)


def _objects(
    data: bytes, line: int, wanted: WantedColumns, what: str, lines: bool
) -> Iterator[Row]:
    """Yield the wanted values of each object."""
    text = _decoded(data, what)
    floats = number_of_json if EXTREME.search(text) else None

    def loaded(text: str) -> tuple[Any, str]:
        try:
            return json.loads(text, parse_float=floats), ""
        except ProgramError as problem:
            return None, problem.message
        except (ValueError, RecursionError) as error:
            return None, f"not JSON: {error}"

    found, reason = ([], "") if lines else loaded(text)
    if reason or not isinstance(found, list):
        raise refused("E513", f"{what}: {reason or 'it is no list of objects'}")
    entries = ((f"object {nr}", each, "") for nr, each in enumerate(found, 1))
    if lines:
        texts = enumerate(text.split("\n"), line)
        entries = ((f"line {nr}", *loaded(each)) for nr, each in texts if each.strip())
    names = wanted.asked
    for place, each, reason in entries:
        if isinstance(each, dict):
            if place.endswith(" 1") and not {*each}.intersection(names.values()):
                name, asked = next(iter(names.items()))
                raise NoColumn(asked, what, list(each), name)
            cells = [each.get(asked, _NOTHING) for asked in names.values()]
            yield f"{what}, {place}", cells, ""
        else:
            yield f"{what}, {place}", [], reason or "not an object"


_NOTHING = object()
"""Value of a key that an object lacks."""


def _json_number(cell: object) -> tuple[Floats | None, str]:
    """Return the numbers of a value of JSON, and why they are none."""
    if cell is _NOTHING:
        return None, "has no value"
    try:
        value = np.array(cell, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None, f"is {shortened(json.dumps(cell))}, not numbers"
    # NumPy converts None to nan.
    if np.isnan(value).any() and None in np.array(cell, dtype=object).ravel():
        return None, "is empty" if cell is None else "has an empty entry"
    return value, ""
