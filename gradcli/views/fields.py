"""How the fields of an answer stand in its object.

A field is a key of its own name. Its metadata may say otherwise.

    count: int = field(metadata=HIDDEN)         # no key
    start: str = field(metadata=named("from"))  # the key "from"
    file: str | None = field(metadata=IF_ANY)   # no key where there is none

The names of types say what an object's schema calls them (`render/schemas.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, TypeAlias

Metadata: TypeAlias = Mapping[str, str]

HIDDEN: Final[Metadata] = {"json": "hidden"}
"""Metadata of a field that is no key."""

IF_ANY: Final[Metadata] = {"json": "if any"}
"""Metadata of a field that is a key unless it is None."""

FLAT: Final[Metadata] = {"json": "flat"}
"""Metadata of a field whose own fields stand in its place; none, where it is None."""

ROWS: Final[Metadata] = {"json": "rows"}
"""Metadata of a field whose entries have a line each, at the object's end."""


def named(key: str) -> Metadata:
    """Return the metadata of a field with a key of another name."""
    return {"key": key}


Count: TypeAlias = Annotated[int, "count"]
Verdict: TypeAlias = Annotated[str, "verdict"]
Shape: TypeAlias = Annotated[tuple[int, ...], "shape"]
Device: TypeAlias = Annotated[str, ("cpu", "cuda")]
DType: TypeAlias = Annotated[str, ("float64", "float32")]
