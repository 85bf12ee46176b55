"""Results as JSON, schema `gradcli/1`.

Invariants: the text is valid JSON on one line, except for a graph and a backward pass,
whose nodes and steps have a line each, and for a descent, whose steps are objects of
their own. Numbers that JSON cannot write are the strings "nan", "inf" and "-inf". A
view is an object with its fields as keys, wherever it stands in a result.

    dumps({"value": float("inf")})      # '{"value": "inf"}'
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from itertools import chain
from math import isfinite
from typing import Any

from .line import Line, LongLine, unbroken
from .numbers import MAX_JSON_NUMBER, LargeArray, count_text, plain
from .numbers import listed as listed_pieces
from .writer import taken

SCHEMA = "gradcli/1"


def entries(view: Any, *hidden: str) -> dict[str, Any]:
    """Return an answer, or a part of one, as the keys and values of its object, without
    ``hidden`` fields; `views/fields.py` explains the fields' metadata."""
    found: dict[str, Any] = {}
    if not is_dataclass(view):
        keys = view.json_keys().items()
        held = {key: getattr(view, key) for key, _ in keys}
        return {key: held[key] for key, how in keys if not how or held[key] is not None}
    for each in fields(view):
        value, how = getattr(view, each.name), each.metadata.get("json")
        if each.name in hidden or how in ("hidden", "rows"):
            continue
        if how == "flat":
            found |= {} if value is None else entries(value)
        elif how is None or value is not None:
            large = isinstance(value, int) and value >= MAX_JSON_NUMBER
            key = each.metadata.get("key", each.name)
            found[key] = count_text(value) if large else value
    return found


def _part(value: Any) -> Any:
    """Return a part of an answer as lists or as an object, for the encoder."""
    return plain(value) if hasattr(value, "dtype") else entries(value)


_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, default=_part)


def dumps(value: object) -> str:
    """Return a value as JSON on one line."""
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_finite(value))
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    """Return a character; one that could steer a terminal or reorder text is
    escaped."""
    return character if character.isprintable() else json.dumps(character)[1:-1]


def _finite(value: object) -> object:
    """Return a value with strings for the numbers that JSON cannot write.

    The recursion is as deep as the value is nested, which its shape bounds.
    """
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    return _finite(_part(value))


def line_of(value: object) -> Line:
    """Return a line of JSON, whose text is made while it is written."""
    return LongLine(lambda: _pieces(value))


def _holds_entries(value: object) -> bool:
    """Tell whether there is a large array in an answer."""
    if isinstance(value, Mapping):
        return any(map(_holds_entries, value.values()))
    if isinstance(value, list | tuple):
        plain = not value or isinstance(value[0], int | float | str)
        return not plain and any(map(_holds_entries, value))
    if is_dataclass(value):
        return _holds_entries(entries(value))
    return isinstance(value, LargeArray)


def _pieces(value: object) -> Iterator[str]:
    """Yield JSON piece by piece; together the pieces are the text of `dumps`."""
    if isinstance(value, LargeArray):
        yield from listed_pieces(value.raw, dumps)
    elif not _holds_entries(value):
        yield dumps(value)
    elif isinstance(value, list | tuple):
        for nr, entry in enumerate(value):
            yield ", " if nr else "["
            yield from _pieces(entry)
        yield "]"
    else:
        known = value if isinstance(value, Mapping) else entries(value)
        for nr, (key, entry) in enumerate(known.items()):
            yield (", " if nr else "{") + dumps(key) + ": "
            yield from _pieces(entry)
        yield "}"


def as_json(found: Any) -> Iterator[Line]:
    """Yield the answer of a command as one object; its rows have a line each."""
    parts = entries(found, "command")
    head = answer(found.command, **parts)
    rows = [f.name for f in fields(found) if f.metadata.get("json") == "rows"]
    if not rows:
        return iter((head,))
    return listed(head, rows[0], map(entries, getattr(found, rows[0])))


def answer(command: str, **parts: object) -> Line:
    """Return the line of a command's result."""
    head = {"schema": SCHEMA, "command": command}
    return line_of({**head, **parts, "notes": taken()})


def listed(head: Line, key: str, objects: Iterable[object]) -> Iterator[Line]:
    """Yield the result with a list at its end, a line per object, so that a long list
    is written while its objects are made."""
    yield unbroken(head.text[:-1] + f', "{key}": [')
    before: Line | None = None
    for each in objects:
        if before is not None:
            yield LongLine(partial(chain, before.pieces(), (",",)))
        before = line_of(each)
    yield from () if before is None else (before,)
    yield unbroken("]}")
