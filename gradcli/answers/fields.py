"""Fields of answers as keys of JSON objects.

A field is a key of its own name, unless its metadata says otherwise.

    count: int = field(metadata=HIDDEN)         # no key
    start: str = field(metadata=named("from"))  # the key "from"
    file: str | None = field(metadata=IF_ANY)   # no key where there is none

Annotations of the types below are names in the schemas (`tests/tools/schemas.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

Metadata: TypeAlias = Mapping[str, str]

HIDDEN: Final[Metadata] = {"json": "hidden"}
"""Metadata of a field that is not written."""

ALWAYS: Final[Metadata] = {}
"""Metadata of a field that is a key whatever its value."""

IF_ANY: Final[Metadata] = {"json": "if any"}
"""Metadata of a field that is a key unless it is None."""

FLAT: Final[Metadata] = {"json": "flat"}
"""Metadata of a field that is replaced by its own fields, or by none if it is None."""

ROWS: Final[Metadata] = {"json": "rows"}
"""Metadata of a field whose entries have a line each, at the object's end."""


def named(key: str) -> Metadata:
    """Return the metadata of a field that is written under another key."""
    return {"key": key}


Count: TypeAlias = Annotated[int, "count"]
Verdict: TypeAlias = Annotated[str, "verdict"]
Shape: TypeAlias = Annotated[tuple[int, ...], "shape"]
Device: TypeAlias = Annotated[str, ("cpu", "cuda")]
DType: TypeAlias = Annotated[str, ("float64", "float32")]
