"""Tables of numbers, .npy and .parquet, block by block."""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ProgramError
from ..excerpt import enumerated
from .row import BadRow, Block, Points, demand_columns, refused

BLOCK_ROWS = 1 << 14
"""Of rows that are read at once."""


def npy_blocks(place: str, names: Sequence[str]) -> Iterator[Block]:
    """The rows of an array: a field for each input, or a column for each, in order."""
    try:
        table = np.load(Path(place).expanduser(), mmap_mode="r", allow_pickle=False)
    except (ValueError, TypeError, OverflowError, EOFError, SyntaxError) as error:
        raise refused("E513", f"{place!r} is no array: {error}") from None
    fields = table.dtype.names
    if fields:
        demand_columns(fields, names, place)
    else:
        _demand_table(table, names, place)
        table = table.reshape(len(table), len(names))
    for name in names:
        held = table.dtype[name].base if fields else table.dtype
        if held.kind not in "fiub":
            column = f"column {name!r} of " if fields else ""
            message = f"{column}{place!r} holds {held}, not real numbers"
            raise ProgramError("E514", message)
    for start in range(0, len(table), BLOCK_ROWS):
        block = table[start : start + BLOCK_ROWS]
        columns = {
            name: np.array(block[name] if fields else block[:, nr], dtype=float)
            for nr, name in enumerate(names)
        }
        yield Block(partial(Points, columns, ()), block.nbytes)


def _demand_table(table: Any, names: Sequence[str], place: str) -> None:
    """See that an array without names has a column for each input, in order; a list
    of numbers is one column.

    Raises:
        ProgramError: it has not.
    """
    columns = table.shape[1] if table.ndim == 2 else 1
    if table.ndim in (1, 2) and columns == len(names):
        return
    message = f"{place!r} has shape {list(table.shape)}, and {enumerated(names)} "
    message += f"{'is' if len(names) == 1 else 'are'} read from its columns"
    hint = "one column for each input without a value, in order of first use"
    raise ProgramError("E513", message, hint=hint)


def parquet_blocks(place: str, names: Sequence[str]) -> Iterator[Block]:
    """The rows of a file of columns."""
    if find_spec("pyarrow") is None:
        hint = "pip install 'gradcli[table]'"
        raise ProgramError("E512", "a .parquet file is read by pyarrow", hint=hint)
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(Path(place).expanduser())
    except pa.ArrowInvalid as error:
        raise refused("E513", f"{place!r} is no .parquet file: {error}") from None
    with file:
        demand_columns(file.schema_arrow.names, names, place)
        for name in names:
            kind = file.schema_arrow.field(name).type
            if pa.types.is_temporal(kind):
                message = f"{place}: column {name!r} holds {kind}, not numbers"
                raise ProgramError("E514", message)
        row = 1
        for batch in file.iter_batches(BLOCK_ROWS, columns=list(names)):
            yield Block(partial(_arrow_rows, batch, row, tuple(names), place))
            row += len(batch)


def _arrow_rows(batch: Any, row: int, names: Sequence[str], what: str) -> Points:
    columns = {}
    for name in names:
        try:
            columns[name] = batch[name].to_numpy(zero_copy_only=False).astype(float)
        except (TypeError, ValueError):
            kind = batch[name].type
            message = f"{what}: column {name!r} holds {kind}, not numbers"
            raise ProgramError("E514", message) from None
    missing = {name: np.asarray(batch[name].is_null()) for name in names}
    bad = np.logical_or.reduce(list(missing.values()))
    told = [
        BadRow(
            int(nr),
            f"{what}, row {row + nr}",
            f"{next(n for n in names if missing[n][nr])} is empty",
            tuple((n, float(columns[n][nr])) for n in names if not missing[n][nr]),
        )
        for nr in np.flatnonzero(bad)
    ]
    return Points({n: c[~bad] for n, c in columns.items()}, tuple(told))
