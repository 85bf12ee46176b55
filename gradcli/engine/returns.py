"""Several outputs under PyTorch's names: ``x.max(dim=0).values``.

Invariant: a named result is a tuple in every way; its class is PyTorch's
``torch.return_types`` class of the function.

    values, indices = x.sort()
    x.sort().indices
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..ops import FUNCTIONS, OPS, Composite, Op
from ..ops.saved_names import OUTPUTS, outputs_of
from .raw import Params


class Named(tuple[Any, ...]):
    """A tuple whose entries have names; ``fields`` are the names."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs = zip(self.fields, self, strict=True)
        shown = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{shown})"

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (type(self).__name__, tuple(self))


def _again(name: str, parts: tuple[object, ...]) -> Named:
    """Return a named result from the name of its class, as pickling needs it."""
    written = name.endswith(WRITTEN) and name not in classes()
    kind = classes()[name.removesuffix(WRITTEN) if written else name]
    return (written_class(kind) if written else kind)(parts)


def _field(index: int) -> property:
    return property(lambda self: self[index])


@cache
def _class(name: str, fields: tuple[str, ...]) -> type[Named]:
    members: Params = {name: _field(i) for i, name in enumerate(fields)}
    return type(name, (Named,), {"__slots__": (), "fields": fields, **members})


HISTOGRAM = _class("histogram", ("hist", "bin_edges"))
"""The class of the results of ``histogram``, which no row gives."""


@cache
def class_of_row(op: Op) -> type[Named] | None:
    """Return the class of a row's several results; None: they have no names."""
    if op.returns <= 1 or op.name not in OUTPUTS:
        return None
    return _class(op.base, outputs_of(op.name, op.returns))


def class_of(function: str) -> type[Named] | None:
    """Return the class of the results of a function that is made of others, if it has
    one of its own."""
    if function not in OUTPUTS:
        return None
    return _class(function.replace(".", "_"), tuple(OUTPUTS[function].split()))


@cache
def classes() -> dict[str, type[Named]]:
    """Return all classes of named results, by their names."""
    made = [class_of_row(op) for op in OPS.values()]
    made += [
        class_of(name) for name, e in FUNCTIONS.items() if isinstance(e, Composite)
    ]
    return {kind.__name__: kind for kind in (*made, HISTOGRAM) if kind is not None}


WRITTEN = "_out"


def written_class(kind: type[Named]) -> type[Named]:
    """Return the class of the same results, written into tensors that were given."""
    return _class(kind.__name__ + WRITTEN, kind.fields)
