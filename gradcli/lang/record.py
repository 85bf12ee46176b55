"""Immutable slotted records: frozen dataclasses that are quick to import.

A frozen, slotted `dataclass` costs about 0.6 ms per class when its module is
imported, because its methods are generated as text; the syntax tree alone has two
dozen classes and is imported by every command. `Record` gives the same guarantees
(annotated fields, `__slots__`, no assignment after construction, `match`) and type
checkers treat it as a frozen dataclass. Records compare by identity, so that a node of
a tree can be the key of a dictionary; no method here recurses into a tree.

    class Point(Record):
        x: int
        y: int

    Point(1, 2).x                # 1
    Point(1, 2).x = 3            # AttributeError
"""

from collections.abc import Callable
from typing import Any, NoReturn, dataclass_transform


@dataclass_transform(eq_default=False, frozen_default=True)
class RecordType(type):
    """The metaclass of records, which makes slots of a class's annotations."""

    def __new__(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any]
    ) -> "RecordType":
        own = tuple(body.get("__annotations__", ()))
        inherited = tuple(f for base in bases for f in getattr(base, "_fields", ()))
        defaults = {field: body.pop(field) for field in own if field in body}
        body["__slots__"] = own
        body["__match_args__"] = body["_fields"] = inherited + own
        body["_defaults"] = defaults
        made = super().__new__(mcs, name, bases, body)
        type.__setattr__(
            made, "_setters", tuple(getattr(made, f).__set__ for f in made._fields)
        )
        return made

    _fields: tuple[str, ...]
    _setters: tuple[Callable[[object, object], None], ...]
    _defaults: dict[str, object]


class Record(metaclass=RecordType):
    """The base class of all records; the module's docstring says how they behave."""

    def __init__(self, *values: object, **named: object) -> None:
        if named or len(values) != len(type(self)._setters):
            values = _arrange(type(self), values, named)
        for put, value in zip(type(self)._setters, values, strict=True):
            put(self, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r}")


def _arrange(
    kind: RecordType, values: tuple[object, ...], named: dict[str, object]
) -> tuple[object, ...]:
    """Return the field values in order, from positional, named and default values."""
    fields = kind._fields
    given = {**kind._defaults, **dict(zip(fields, values, strict=False)), **named}
    doubled = [f for f in fields[: len(values)] if f in named]
    wrong = [f for f in (*fields, *named) if f not in given or f not in fields]
    if doubled or wrong or len(values) > len(fields):
        message = f"{kind.__name__} has the fields {', '.join(fields)}"
        raise TypeError(f"{message}; wrong {doubled + wrong}, {len(values)} in order")
    return tuple(given[f] for f in fields)
