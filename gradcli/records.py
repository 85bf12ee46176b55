"""Immutable slotted records: frozen dataclasses that are quick to import.

A frozen, slotted `dataclass` costs about 0.4 ms per class when its module is imported,
because its methods are generated as text, and a command imports dozens. `Record` gives
the same guarantees (annotated fields, `__slots__`, no assignment after construction,
`match`), and type checkers, `dataclasses` and `inspect` take it for a frozen dataclass.
Records compare by identity, so that a node of a tree can be the key of a dictionary,
and no method here recurses into a tree; `Values` compare by their fields.

    class Point(Values):
        x: int
        y: int = 0

    Point(1, 2).x                # 1
    Point(1, 2).x = 3            # AttributeError
    Point(1) == Point(1, 0)      # True
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NoReturn, TypeVar, dataclass_transform


class _Marked(tuple[object, Mapping[str, str]]):
    """The default of a field, ``...`` for none, and its metadata."""


def field(*, default: Any = ..., metadata: Mapping[str, str]) -> Any:
    """Return what gives a field its metadata, and perhaps a default, in a class."""
    return _Marked((default, metadata))


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
class RecordType(type):
    """The metaclass of records, which makes slots of a class's annotations; the fields
    of a class with ``kw_only`` are given by name."""

    def __new__(
        mcs, name: str, bases: Any, body: Any, kw_only: bool = False
    ) -> "RecordType":
        hints = body.get("__annotations__", {})
        own = {f: t for f, t in hints.items() if "ClassVar" not in str(t)}
        above: Any = next((base for base in bases if isinstance(base, mcs)), mcs)
        metadata, defaults = {**above._metadata}, {**above._defaults}
        for each in own:
            value = body.pop(each, ...)
            if isinstance(value, _Marked):
                value, metadata[each] = value
            if value is not ...:
                defaults[each] = value
        body["__slots__"] = tuple(own)
        body["__match_args__"] = above.__match_args__ + tuple(() if kw_only else own)
        body["_fields"] = above._fields | own
        body["_defaults"], body["_metadata"] = defaults, metadata
        made = super().__new__(mcs, name, bases, body)
        direct = made.__match_args__ == tuple(made._fields)
        made._direct = len(made._fields) if direct else -1
        made._setters = tuple(getattr(made, field).__set__ for field in made._fields)
        return made

    @property
    def __dataclass_fields__(cls) -> Any:
        return _dataclass_fields(cls)

    @property
    def __signature__(cls) -> Any:
        from inspect import Parameter, Signature

        defaults = {**dict.fromkeys(cls._fields, Parameter.empty), **cls._defaults}
        given = partial(Parameter, kind=Parameter.KEYWORD_ONLY)
        return Signature([given(f, default=value) for f, value in defaults.items()])

    __match_args__: tuple[str, ...] = ()
    _fields: Mapping[str, Any] = {}
    """Annotations by field, those of the classes above first."""
    _defaults: Mapping[str, object] = {}
    _metadata: Mapping[str, Mapping[str, str]] = {}
    _direct: int
    """Number of values that are all fields in order; -1: some are given by name."""
    _setters: tuple[Callable[[object, object], None], ...]


@cache
def _dataclass_fields(kind: RecordType) -> Any:
    """Return the fields as a dataclass has them, without defaults."""
    from dataclasses import dataclass, field

    body = {"__doc__": kind.__doc__, "__annotations__": kind._fields}
    body |= {name: field(metadata=said) for name, said in kind._metadata.items()}
    made: Any = dataclass(init=False, repr=False, eq=False)(type("Any", (), body))
    return made.__dataclass_fields__


class Record(metaclass=RecordType):
    """The base class of all records; the module's docstring says how they behave."""

    @property
    def __dataclass_fields__(self) -> Any:
        return _dataclass_fields(type(self))

    def __init__(self, *values: object, **named: object) -> None:
        kind = type(self)
        if named or len(values) != kind._direct:
            values = _arrange(kind, values, named)
        for put, value in zip(kind._setters, values, strict=True):
            put(self, value)
        self.__post_init__()

    def __post_init__(self) -> None:
        """Check or complete the fields."""

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: {name!r}")

    def __reduce__(self) -> tuple[object, ...]:
        return partial(type(self), **_held(self)), ()


class Values(Record):
    """The base class of records that equal each other if their fields do."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _held(other) == _held(self)

    def __hash__(self) -> int:
        return hash(tuple(_held(self).values()))

    def __repr__(self) -> str:
        held = ", ".join(f"{name}={value!r}" for name, value in _held(self).items())
        return f"{type(self).__qualname__}({held})"


Made = TypeVar("Made", bound=Record)


def _held(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record)._fields}


def replace(record: Made, **changes: object) -> Made:
    """Return a record with some fields of another value."""
    return type(record)(**{**_held(record), **changes})


def _arrange(
    kind: RecordType, values: tuple[object, ...], named: dict[str, object]
) -> tuple[object, ...]:
    """Return the field values in order, from positional, named and default values."""
    fields, ordered = kind._fields, kind.__match_args__[: len(values)]
    given = {**kind._defaults, **dict(zip(ordered, values, strict=False)), **named}
    doubled = named.keys() & set(ordered)
    if len(values) > len(ordered) or doubled or given.keys() != fields.keys():
        wrong = sorted(doubled | (given.keys() ^ fields.keys()))
        message = f"{kind.__name__} has the fields {', '.join(fields)}"
        raise TypeError(f"{message}; wrong {wrong}, {len(values)} in order")
    return tuple([given[field] for field in fields])
