"""Classes of immutable records that are quick to define.

Invariant: a type checker refuses to assign to a field of a record. At run time nothing
does: the guards of `dataclass(frozen=True)` are compiled for each class at each start,
and that takes longer than a small program's run.

    @record
    class Span:
        start: int
        end: int
"""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False)
def record(cls: type[T]) -> type[T]:
    """Return a class as a dataclass whose objects are compared by identity."""
    return dataclass(eq=False, repr=False)(cls)


@dataclass_transform(frozen_default=True)
def compared_record(cls: type[T]) -> type[T]:
    """Return a class as a dataclass whose objects are compared, and hashed, by their
    fields."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
