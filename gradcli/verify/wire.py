"""Dataclasses of plain values, from what JSON made of them.

Invariant: what `dataclasses.asdict` and JSON take apart comes back equal: tuples from
lists, dataclasses from objects.

    decoded(tuple[int, ...], [1, 2])        # (1, 2)
"""

from __future__ import annotations

from dataclasses import is_dataclass
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints


def decoded(kind: Any, value: Any) -> Any:
    """Make a value of a type from lists, objects and plain values."""
    if is_dataclass(kind):
        kinds = get_type_hints(kind)
        return kind(**{name: decoded(kinds[name], v) for name, v in value.items()})  # type: ignore[operator]
    args = get_args(kind)
    if get_origin(kind) is tuple:
        each = args[:1] * len(value) if args[-1] is ... else args
        return tuple(map(decoded, each, value))
    if NoneType in args and value is not None:
        (own,) = set(args) - {NoneType}
        return decoded(own, value)
    return value
