"""Values nested in tuples, lists and dicts: their leaves, and how they are nested.

leaves, shape = flatten({"a": x, "b": (y, z)})      # [x, y, z]
shape.fill(leaves)                                  # {"a": x, "b": (y, z)}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """How leaves are nested: the container's type, its keys if any, its members."""

    kind: Any = None
    keys: tuple[object, ...] = ()
    members: tuple[Shape, ...] = ()

    def fill(self, leaves: Iterable[object]) -> Any:
        """Return the nested value that has these leaves, in order."""
        return self._fill(iter(leaves))

    def _fill(self, leaves: Iterator[object]) -> object:
        if self.kind is None:
            return next(leaves)
        filled = [member._fill(leaves) for member in self.members]
        if issubclass(self.kind, dict):
            return self.kind(zip(self.keys, filled, strict=True))
        if hasattr(self.kind, "_fields"):
            return self.kind(*filled)
        return self.kind(filled)

    def spread(self, value: object) -> list[Any] | None:
        """Return one value per leaf from one nested less deeply; None if it differs."""
        if self.kind is None or not _is_nested(value):
            return [value] * self.count()
        members, keys = _members(value)
        same = len(members) == len(self.members) and keys == self.keys
        if not same:
            return None
        parts = [s.spread(m) for s, m in zip(self.members, members, strict=True)]
        return (
            None if None in parts else [leaf for part in parts for leaf in part or ()]
        )

    def count(self) -> int:
        """Return how many leaves there are."""
        if self.kind is None:
            return 1
        return sum(member.count() for member in self.members)


def flatten(value: object) -> tuple[list[Any], Shape]:
    """Return the leaves of a nested value, left to right, and its shape."""
    if not _is_nested(value):
        return [value], Shape()
    members, keys = _members(value)
    leaves = []
    shapes = []
    for member in members:
        own, shape = flatten(member)
        leaves += own
        shapes.append(shape)
    return leaves, Shape(type(value), keys, tuple(shapes))


def _is_nested(value: object) -> bool:
    return isinstance(value, tuple | list | dict)


def _members(value: Any) -> tuple[Sequence[object], tuple[object, ...]]:
    if isinstance(value, dict):
        return list(value.values()), tuple(value)
    return value, ()
