"""Tables of numbers in text (CSV, TSV, blanks between columns) to arrays.

Read line by line into one packed array, so memory is what the numbers need. A first
line of words is a heading; `#` opens a comment. A table of one row or one column is a
vector, a table of one cell a number.

    a,b
    1,2        ->  [[1, 2], [3, 4]]
    3,4
"""

import csv
from array import array
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from math import inf
from typing import IO

import numpy as np

from .excerpt import shortened
from .extreme import beyond_floats
from .nested import Floats, NotAnArray

_SEPARATORS = "\t;,"
_BYTES_PER_NUMBER = 8
_ROWS = "a row is numbers with commas, tabs or blanks between them"
_CELLS = "a cell is a number, inf or nan"
UTF8 = "save it as UTF-8"


def read_table(
    file: IO[bytes], what: str, limit: int, separator: str | None = None
) -> Floats:
    """The numbers of a table; the separator is looked for if it is not given.

    Raises:
        NotAnArray: a cell is no number, a row has another length, or there are more
            numbers than `limit` bytes hold.
    """
    text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        return _numbers(_rows(text, separator), what, limit)
    except UnicodeDecodeError:
        raise NotAnArray("E513", f"{what} is not text in UTF-8", UTF8) from None
    except csv.Error as error:
        raise NotAnArray("E513", f"{what} is not a table: {error}", _ROWS) from None
    finally:
        text.detach()


def _rows(
    text: Iterable[str], separator: str | None
) -> Iterator[tuple[int, list[str]]]:
    """The lines that hold something: the line's number and its cells."""
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


def _numbers(rows: Iterator[tuple[int, list[str]]], what: str, limit: int) -> Floats:
    numbers = array("d")
    width = first_line = 0
    headed = False
    for line, cells in rows:
        if not width and not headed and _is_heading(cells):
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
            _refuse_beyond(cells, row, line, what)
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


def _refuse_beyond(cells: list[str], row: list[float], line: int, what: str) -> None:
    """Refuse a number that is 0 or infinite as a float alone."""
    for column, (cell, number) in enumerate(zip(cells, row, strict=True), 1):
        beyond = beyond_floats(cell, number)
        if beyond is not None:
            place = f"{what}, line {line}, column {column}"
            hint = f"write {'inf' if number else 0}"
            shown = shortened(cell.strip())
            raise NotAnArray("E517", f"{place} is {shown}, {beyond}", hint)


def _is_heading(cells: list[str]) -> bool:
    """A heading is made of words: no cell is a number, and not all are empty."""
    return not any(map(is_number, cells)) and any(cell.strip() for cell in cells)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _bad_cell(cells: list[str], line: int, what: str) -> NotAnArray:
    column = next(i for i, cell in enumerate(cells, 1) if not is_number(cell))
    cell = cells[column - 1].strip()
    cell_name = f"{what}, line {line}, column {column}"
    if not cell:
        return NotAnArray(
            "E517", f"{cell_name} is empty", "write nan for a missing value"
        )
    pointed, joined = cell.replace(",", ".", 1), cell.replace(",", "")
    hint = f"write {pointed} or {joined}" if is_number(pointed) else _CELLS
    return NotAnArray("E517", f"{cell_name} is {shortened(cell)!r}, not a number", hint)
