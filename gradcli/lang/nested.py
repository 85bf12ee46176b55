"""Conversions of nested lists of numbers to arrays, and of entries to nested lists.

In an array all rows of a level have one length; for a list that differs, the error
says which row differs, counted from 1. Nothing here recurses, so a list that is nested
ten thousand deep is an error like any other.

    array_of([[1, 2], [3, 4]])       # float64, shape (2, 2)
    array_of([[1, 2], [3]])          # error: "row 2 has 1 entry, the first has 2"
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .errors import ProgramError
from .excerpt import shortened
from .maxima import MAX_LIST_DEPTH

Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
"""An array of real numbers."""


EXTREME = re.compile(r"[eE][+-]?\d{3}|\d{300}")
"""Pattern that matches every text with a number beyond the range of floats."""

EXTREME_BYTES = re.compile(EXTREME.pattern.encode())


def beyond_floats(text: str, value: float) -> str | None:
    """Return in words that a number is too small or too large for a float, or None."""
    digits = text.lower().partition("e")[0]
    if not any(digit in digits for digit in "123456789"):
        return None
    if not value:
        return "less than any float, which would be 0"
    infinite = value == value and value - value != 0
    return "larger than any float, which would be infinite" if infinite else None


def is_number(text: str) -> bool:
    """Return whether a text is a number that Python reads as a float."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def number_of_json(text: str) -> float:
    """Return a number of JSON as a float.

    Raises:
        ProgramError: the number is too large or too small for a float.
    """
    value = float(text)
    beyond = beyond_floats(text, value)
    if beyond is not None:
        hint = 'write "inf"' if value else "write 0"
        raise ProgramError("E517", f"{shortened(text)} is {beyond}", hint=hint)
    return value


def array_of(
    value: object, number: Callable[[object], object] = lambda entry: entry
) -> Floats:
    """Return a number or a nested list of numbers as a float64 array; ``number`` is
    called on the entries, to convert those that stand for a number.

    Raises:
        ProgramError: an entry is no number, or rows differ in length.
    """
    shape: list[int] = []
    level = [value]
    while level and isinstance(level[0], (list, tuple)):
        if len(shape) == MAX_LIST_DEPTH:
            message = f"lists are nested more than {MAX_LIST_DEPTH} deep"
            raise ProgramError("E519", message, hint="a tensor has fewer dimensions")
        length, following = len(level[0]), list[object]()
        for at, row in enumerate(level):
            if not isinstance(row, (list, tuple)):
                raise _uneven(_entry_name(at, shape), _entry(row), length, row)
            if len(row) != length:
                raise _uneven(_entry_name(at, shape), _count(len(row)), length)
            following.extend(row)
        shape.append(length)
        level = following
    if not set(map(type, level)) <= {int, float, bool}:
        level = [_number(number(entry), at, shape) for at, entry in enumerate(level)]
    try:
        return np.array(level, dtype=np.float64).reshape(shape)
    except OverflowError:
        message = "an integer is too large to become a float"
        raise ProgramError("E519", message, hint="write inf") from None


def nested(entries: Sequence[object], shape: Sequence[int]) -> Any:
    """Return entries in C order as lists nested by the shape; the entry alone for
    ``()``."""
    return _nested(entries, shape, list, [])


def bracketed(texts: Sequence[str], shape: Sequence[int]) -> str:
    """Return texts in C order as ``[[a, b], [c, d]]``; the text alone for ``()``."""
    found: str = _nested(texts, shape, lambda row: f"[{', '.join(row)}]", "[]")
    return found


def _nested(
    entries: Sequence[object],
    shape: Sequence[int],
    row: Callable[[list[Any]], Any],
    empty: object,
) -> Any:
    level = list(entries)
    for size in reversed(shape):
        starts = range(0, len(level), size) if size else ()
        level = [row(level[start : start + size]) for start in starts]
    return level[0] if level else empty


def _number(entry: object, at: int, shape: Sequence[int]) -> float:
    if isinstance(entry, (int, float)):
        return entry
    name = _entry_name(at, shape)
    if isinstance(entry, (list, tuple)):
        message = f"{name} is a list of {_count(len(entry))}, the first is a number"
        raise ProgramError("E516", message, hint="all rows need the same length")
    message = f"{name} is {_entry(entry)}, not a number"
    raise ProgramError("E517", message, hint=_hint_to_join(entry))


def _entry_name(at: int, shape: Sequence[int]) -> str:
    index = []
    for length in reversed(shape):
        at, digit = divmod(at, length)
        index.append(digit + 1)
    index.reverse()
    if len(index) == 1:
        return f"entry {index[0]}"
    return f"entry ({', '.join(map(str, index))})" if index else "the value"


def _uneven(
    entry_name: str, found: str, length: int, row: object = None
) -> ProgramError:
    entry_name = entry_name.replace("entry", "row", 1)
    message = f"{entry_name} has {found}, the first has {length}"
    hint = _hint_to_join(row) or "all rows need the same length"
    return ProgramError("E516", message, hint=hint)


def _hint_to_join(entry: object) -> str | None:
    """Return the way out for a tensor in a list of numbers; None for other entries."""
    joined = "join tensors with stack([...]), which keeps their gradients"
    return joined if hasattr(entry, "xp") else None


def _count(length: int) -> str:
    return "1 entry" if length == 1 else f"{length} entries"


def _entry(entry: object) -> str:
    if entry is None:
        return "null"
    if isinstance(entry, str):
        return repr(shortened(entry))
    plain = isinstance(entry, (int, float))
    return repr(entry) if plain else f"a {type(entry).__name__.lower()}"
