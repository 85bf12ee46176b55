"""A column of a table as an array: ``x=@points.csv:x``.

Invariant: the table is read block by block, so that memory is that of the column; a
cell that is no number is an error that says where it stands.

    read_column("points.csv", "x", 1 << 20)       # float64, an entry for each row
"""

import json
from os.path import splitext

import numpy as np

from .excerpt import enumerated
from .nested import Floats, NotAnArray
from .points import NoColumn, read_points
from .points.text import MAX_LINE_BYTES
from .suggest import nearest


def read_column(path: str, key: str, limit: int) -> Floats:
    """The numbers of a column, in the order of the rows.

    Args:
        path: a table, as `gradcli.lang.points` reads them.
        key: the column's name.
        limit: bytes that its numbers may take.

    Raises:
        NotAnArray: there is no such column, or it holds something else.
        ProgramError: the table cannot be read.
    """
    parts: list[Floats] = []
    taken = 0
    try:
        _demand_fields(path, key)
        for points in read_points(path, [key]):
            if points.bad:
                bad = points.bad[0]
                raise NotAnArray("E517", f"{bad.place}: {bad.reason}", _NUMBERS)
            parts.append(points.columns[key])
            taken += parts[-1].nbytes
            if taken > limit:
                message = f"the column {key!r} of {path} has more numbers than allowed"
                raise NotAnArray("E515", message, _MORE)
    except NoColumn as error:
        raise _no_column(path, error) from None
    if not parts:
        raise NotAnArray(
            "E513", f"{path} has no rows", "a heading alone has no numbers"
        )
    if len({part.shape[1:] for part in parts}) > 1:
        raise NotAnArray("E516", f"{path}: rows of {key!r} differ in shape")
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


_NUMBERS = "a column holds a number in each row: write nan for a missing one"
_MORE = "take fewer rows, or allow more with --max-memory"


def _demand_fields(path: str, key: str) -> None:
    """See that an array has fields, and the first line of JSON a value, of that name.

    Other tables have a header, which their reader looks at.
    """
    suffix = splitext(path)[1].lower()
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
        return  # said by the reader, and where


def _no_column(path: str, error: NoColumn) -> NotAnArray:
    header = error.header
    if not header:
        return NotAnArray(
            "E518", f"{error.what} has no columns: its first line is empty"
        )
    known = f"its columns are {enumerated(header)}"
    if not error.missing:
        message = f"{path} is a table: {known}"
        return NotAnArray("E518", message, f"name one: @{path}:{header[0]}")
    near = nearest(error.missing, header)
    hint = f"did you mean '@{path}:{near}'? {known}" if near else known
    message = f"{error.what} has no column {error.missing!r}"
    return NotAnArray("E518", message, hint)
