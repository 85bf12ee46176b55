"""Arrays as plain Python numbers, numbers as text, and a named value as lines.

Invariants: reading a number back in the dtype it was computed in gives the same number,
and no other digits are shown: a float32 tenth is 0.1, not 0.10000000149011612. An array
is written as nested lists that the language reads. Only where a layout limits the room
are digits dropped, then entries left out (marked `…`); the layout's ``cut`` is then
true. The text of a large array is made piece by piece while it is written.

    plain(numpy.float32(0.1))                    # 0.1
    inline([[1.0, float("nan")], [0.0, 2.0]])    # "[[1.0, nan], [0.0, 2.0]]"
    briefly(numpy.zeros(1000))                   # Extent((1000,), 0.0, 0.0, False)
    value_lines("dL/da", [[1.0, 2.0], [3.0, 4.0]], layout)

    dL/da = [[1.0, 2.0],
             [3.0, 4.0]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, chain, zip_longest
from math import inf, isnan, nan, prod
from operator import mul
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ..engine.devices import host
from ..engine.raw import Raw
from .line import Layout, Line, LongLine, Part, dim

Plain: TypeAlias = Annotated[float | list[Any], "value"]
"""A number, or lists of numbers nested as deep as the shape is long."""


class LargeArray:
    """A large array, whose entries become lists of numbers when they are shown."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.raw.shape)

    def listed(self) -> list[object]:
        """Return all entries as nested lists."""
        found = plain(self.raw)
        assert isinstance(found, list)
        return found

    def around(self, most: Sequence[int]) -> list[object]:
        """Return the entries at both ends of each dimension, one more than ``most``
        allows, so that whoever shortens the lists to ``most`` still sees that entries
        are left out."""
        raw = self.raw
        for axis, (size, room) in enumerate(zip(self.shape, most, strict=True)):
            if size > room + 1:
                first = (room + 1) // 2 + 1
                kept = [*range(first), *range(size - (room + 1 - first), size)]
                raw = raw.take(kept, axis)
        return LargeArray(raw).listed()


Shown: TypeAlias = Plain | LargeArray
"""Numbers of an array as a view holds them."""


def shown(raw: Raw) -> Shown:
    """Return an array as nested lists; one above `MANY` entries as `LargeArray`."""
    if getattr(raw, "size", 1) <= MANY:
        return plain(raw)
    return LargeArray(raw.get() if hasattr(raw, "get") else raw)


def without_signs(value: Shown, rows: int, columns: int) -> Shown:
    """Return the numbers of a matrix, of any shape, with 0 for -0 off its diagonal; of
    a row or a column as they are."""
    if min(rows, columns) < 2:
        return value
    raw = np.asarray(value.raw if isinstance(value, LargeArray) else value)
    matrix = raw.reshape(rows, columns)
    clean = np.where(np.eye(rows, columns, dtype=bool), matrix, matrix + 0.0)
    return shown(clean.reshape(raw.shape))


MANY = 1 << 16
"""Largest number of entries that `shown` turns into lists at once; a larger array stays
an array."""

DOUBLE = 8
"""Bytes of a Python float; shorter floats are read from their shortest decimals."""


def plain(raw: Any) -> Plain:
    """Return a number or nested lists from an array, an array's scalar or a number."""
    if isinstance(raw, float) or not hasattr(raw, "dtype"):
        return float(raw)
    dtype = raw.dtype
    if dtype.kind == "f" and dtype.itemsize >= DOUBLE:
        listed: Plain = raw.tolist()
        return listed
    host = raw.get() if hasattr(raw, "get") else np.asarray(raw)
    if host.dtype.kind == "f" and host.dtype.itemsize < DOUBLE:
        texts = [float(str(entry)) for entry in host.ravel()]
        host = np.array(texts, dtype=np.float64).reshape(host.shape)
    widened: Plain = host.astype(np.float64).tolist()
    return widened


def flat(value: Shown) -> list[float]:
    """Return all numbers in one list, in C order."""
    if isinstance(value, LargeArray):
        value = value.listed()
    level: list[Any] = [value]
    while level and isinstance(level[0], list):
        level = [entry for row in level for entry in row]
    return level


def sizes(value: Shown) -> list[int]:
    """Return the shape of nested lists, as far as their first entries tell it."""
    if isinstance(value, LargeArray):
        return list(value.shape)
    found: list[int] = []
    while isinstance(value, list):
        found.append(len(value))
        if not value:
            break
        value = value[0]
    return found


ELLIPSIS = "…"

ROW_ENTRIES = 16
"""Number of entries that a row may have for each row allowed before it is cut."""

MAX_JSON_NUMBER = 10**308
"""Smallest integer that JSON writes as a string, since doubles may not hold it."""

MIN_ARRAY_COLUMNS = 8
"""Smallest width of an array, however far it is indented, in columns."""

PIECE = 1 << 13
"""Largest number of entries whose text is made at once."""

SHORTENED = dim(f"({ELLIPSIS} shortened to fit: -q or a pipe shows all)")

Row = tuple[str, list[Any], str]
"""A row of an array between the brackets that stand before and after it."""


MILLION: Final = 10**6
"""Smallest size of a number whose rounded digits would look like exact ones."""


def number(value: float) -> str:
    """Return a number with the digits that the layout asks for, or with all of them.

    A rounded number from a million on is written with an exponent, not with zeros.
    """
    if not Layout.digits:
        return all_digits(value)
    text = f"{value:.{Layout.digits}g}"
    read = float(text)
    return repr(read) if abs(value) < MILLION or read == value else text


def all_digits(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(float(value))


def six_digits(value: float) -> str:
    """Return a number with six significant digits."""
    return f"{value:.6g}"


def count_text(count: int) -> str:
    """Return all digits of a count; Python's `str` refuses very long ones."""
    from decimal import Decimal

    return str(count) if count < MAX_JSON_NUMBER else f"{Decimal(count):f}"


def inline(value: Shown, text: Callable[[float], str] = number) -> str:
    """Return nested lists on one line, complete."""
    if isinstance(value, LargeArray):
        value = value.listed()
    if not isinstance(value, list):
        return text(value)
    if text is number and not Layout.digits and {*map(type, value)} == {float}:
        return repr(value)
    return "[" + ", ".join([inline(entry, text) for entry in value]) + "]"


def draw(value: Plain, layout: Layout, whole: bool = False) -> list[str]:
    """Return an array over several lines, its columns aligned; a ``whole`` one has all
    its entries, even if they are too wide."""
    if not isinstance(value, list):
        return [number(value)]
    rows = _rows(value, len(sizes(value)), layout)
    for written in (number, six_digits):
        lines = _aligned(rows, written, None)
        fits = layout.width is None or max(map(len, lines)) <= layout.width
        if fits or (layout.rows is None and not whole):
            return lines
        layout.cut = True
    return _aligned(rows, six_digits, None if whole else layout.width)


def _room_in(depth: int, rows: int) -> list[int]:
    """Return the number of entries kept of each dimension where rows are bounded."""
    return [rows] * (depth - 1) + [rows * ROW_ENTRIES]


def _rows(value: list[Any], depth: int, layout: Layout) -> list[Row]:
    """Return the rows to show; where there are too many, without those in the
    middle."""
    kept = value
    if layout.rows is not None:
        kept = _without_middle(value, _room_in(depth, layout.rows)[0])
        layout.cut = layout.cut or kept is not value
    if depth == 1:
        return [("[", kept, "]")]
    found: list[Row] = []
    for nr, entry in enumerate(kept):
        inner: list[Row] = [("", [ELLIPSIS], "")]
        if entry is not ELLIPSIS:
            inner = _rows(entry, depth - 1, layout)
        for at, (before, cells, after) in enumerate(inner):
            opening = " " if nr or at else "["
            end = "" if at + 1 < len(inner) else "]" if nr + 1 == len(kept) else ","
            found.append((opening + before, cells, after + end))
    return found


def _without_middle(entries: list[Any], room: int) -> list[Any]:
    if len(entries) <= room:
        return entries
    first = (room + 1) // 2
    return [*entries[:first], ELLIPSIS, *entries[len(entries) - (room - first) :]]


def _aligned(
    rows: Sequence[Row], written: Callable[[float], str], available: int | None
) -> list[str]:
    texts = [[e if e is ELLIPSIS else written(e) for e in row] for _, row, _ in rows]
    width = max((len(text) for row in texts for text in row), default=0)
    for nr, row in enumerate(texts):
        if available is not None and len(row) > 1:
            room = available - 2 * (len(rows[nr][0]) - 1) - len("[], …, ")
            fitting = max(2, room // (width + len(", ")))
            texts[nr] = _without_middle([e for e in row if e is not ELLIPSIS], fitting)
    widths = [max(map(len, column)) for column in zip_longest(*texts, fillvalue="")]
    lines = []
    for (before, _, after), row in zip(rows, texts, strict=True):
        cells = [f"{e},".ljust(w + 1) for e, w in zip(row[:-1], widths, strict=False)]
        lines.append(f"{before}{' '.join([*cells, *row[-1:]])}{after}")
    return lines


def value_lines(
    label: str, value: Shown | None, layout: Layout, note: str = "", pad: int = 0
) -> Iterator[Line]:
    """Yield ``label = value``, the label padded to ``pad`` columns, then a note."""
    head: list[Part] = [(label.ljust(pad), "name"), (" = ", "plain")]
    tail: list[Part] = [(f"  {note}", "dim")] if note else []
    left = sum(len(text) for text, _ in head)
    if not isinstance(value, list | LargeArray):
        text = "None" if value is None else number(value)
        yield Line(*head, (text, "number"), *tail)
    elif layout.width is None or left <= layout.width // 4:
        yield from array_lines(value, " " * left, layout, tail, head=head)
    else:
        yield Line(*head)
        yield from array_lines(value, "  ", layout, tail)


def number_line(value: Shown | None) -> Line:
    """Return a line with a value alone, complete."""
    if isinstance(value, LargeArray):
        return LongLine(partial(listed, value.raw))
    return Line(("None" if value is None else inline(value), "number"))


def array_lines(
    value: Plain | LargeArray,
    indent: str,
    layout: Layout,
    tail: Sequence[Part] = (),
    hang: str = "    ",
    head: Sequence[Part] = (),
) -> Iterator[Line]:
    """Yield an array, each line behind ``indent``, the first behind ``head`` if there
    is one; ``tail`` follows the last line. A large array in a pipe is not aligned."""
    if isinstance(value, LargeArray):
        if layout.rows is None:
            yield from _written(value, indent, head, tail)
            return
        value = value.around(_room_in(len(value.shape), layout.rows))
    room = layout.width
    if room is not None:
        room = max(MIN_ARRAY_COLUMNS, room - len(indent))
    inside = Layout(room, layout.rows, layout.cut)
    lines = draw(value, inside)
    layout.cut = inside.cut
    for position, text in enumerate(lines, 1):
        before = head if head and position == 1 else ()
        shown: Part = (text if before else indent + text, "number")
        yield Line(*before, shown, *(tail if position == len(lines) else ()), hang=hang)


def _written(
    value: LargeArray, indent: str, head: Sequence[Part], tail: Sequence[Part]
) -> Iterator[Line]:
    """Yield all of a large array, a row a line, with the outer brackets that open or
    close at that row."""
    *outer, size = value.shape
    blocks, count = [*accumulate(reversed(outer), mul)], prod(outer)
    first, last = ("".join(text for text, _ in parts) for parts in (head, tail))
    for nr, row in enumerate(value.raw.reshape(count, size)):
        opened = sum(nr % each == 0 for each in blocks)
        closed = sum((nr + 1) % each == 0 for each in blocks)
        before = first if head and not nr else indent
        before += " " * (len(outer) - opened) + "[" * opened
        after = "]" * closed + ("," if nr + 1 < count else last)
        yield LongLine(partial(chain, (before,), listed(row), (after,)))


def listed(raw: Raw, text: Callable[[list[Any]], str] = inline) -> Iterator[str]:
    """Yield nested lists on one line, complete, in pieces; ``text`` writes some of the
    numbers, or rows of them, as a list."""
    row = prod(raw.shape[1:])
    yield "["
    if row > PIECE:
        for nr, inner in enumerate(raw):
            yield ", " if nr else ""
            yield from listed(inner, text)
    else:
        rows = PIECE // max(1, row)
        for start in range(0, len(raw), rows):
            block: Any = plain(raw[start : start + rows])
            yield (", " if start else "") + text(block)[1:-1]
    yield "]"


MAX_WHOLE_ENTRIES: Final = 64
"""Largest number of entries of an array that is kept whole."""


class Extent(NamedTuple):
    """An array's shape, its smallest and largest entry, and whether NaN is among them.

    If it holds no number but NaN, ``low`` is above ``high``.
    """

    shape: tuple[int, ...]
    low: float
    high: float
    nan: bool


Brief: TypeAlias = "Shown | Extent"


def briefly(raw: Any) -> Plain | Extent:
    """Return a small array or a number as numbers, a large array as its `Extent`."""
    if not hasattr(raw, "dtype") or raw.size <= MAX_WHOLE_ENTRIES:
        return plain(raw)
    entries = np.asarray(host(raw))
    strange = np.isnan(entries)
    known = entries[~strange]
    low, high = (known.min(), known.max()) if known.size else (inf, -inf)
    return Extent(tuple(entries.shape), float(low), float(high), bool(strange.any()))


def extent(value: Shown) -> Extent:
    """Return the shape and the bounds of nested lists, and whether NaN occurs."""
    entries = flat(value)
    known = [entry for entry in entries if not isnan(entry)]
    low, high = min(known, default=inf), max(known, default=-inf)
    return Extent(tuple(sizes(value)), low, high, len(known) < len(entries))


def magnitude(value: Brief | None) -> float | None:
    """Return the largest absolute entry; NaN if any is NaN, None without entries."""
    if value is None:
        return None
    found = value if isinstance(value, Extent) else extent(value)
    if found.nan:
        return nan
    return max(abs(found.low), abs(found.high)) if found.low <= found.high else None
