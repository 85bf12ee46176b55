"""Several outputs under PyTorch's names: ``x.max(dim=0).values``.

Invariant: a named result is a tuple in every way; its class is PyTorch's
``torch.return_types`` class of the function.

    values, indices = x.sort()
    x.sort().indices
"""

from __future__ import annotations

from typing import Any

from ..ops import FUNCTIONS, OPS, Composite
from ..ops.saved_names import OUTPUTS, outputs_of
from .raw import Params

FIELDS = (
    {
        op.base: outputs_of(op.name, op.returns)
        for op in OPS.values()
        if op.returns > 1 and op.name in OUTPUTS
    }
    | {
        name.replace(".", "_"): tuple(OUTPUTS[name].split())
        for name, entry in FUNCTIONS.items()
        if isinstance(entry, Composite) and name in OUTPUTS
    }
    | {"histogram": ("hist", "bin_edges")}
)
"""The outputs' names of each function that names them."""


class Named(tuple[Any, ...]):
    """A tuple whose entries have names; ``fields`` are the names."""

    __slots__ = ()
    fields: tuple[str, ...] = ()

    def __repr__(self) -> str:
        pairs = zip(self.fields, self, strict=True)
        shown = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{shown})"

    def __reduce__(self) -> Any:
        return _again, (type(self).__name__, tuple(self))


def _again(name: str, parts: tuple[object, ...]) -> Named:
    """A named result from the name of its class, as pickling needs it."""
    written = name.endswith(WRITTEN) and name not in CLASSES
    kind = CLASSES[name.removesuffix(WRITTEN) if written else name]
    return (written_class(kind) if written else kind)(parts)


def _field(index: int) -> Any:
    return property(lambda self: self[index])


def _class(name: str, fields: tuple[str, ...]) -> type[Named]:
    members: Params = {name: _field(i) for i, name in enumerate(fields)}
    return type(name, (Named,), {"__slots__": (), "fields": fields, **members})


CLASSES = {name: _class(name, fields) for name, fields in FIELDS.items()}
"""The class of each function's results, by the function's name in the table."""


def class_of(function: str) -> type[Named] | None:
    """The class of the results of a function that is made of others, if it has one of
    its own."""
    return CLASSES[function.replace(".", "_")] if function in OUTPUTS else None


WRITTEN = "_out"
_written: dict[str, type[Named]] = {}


def written_class(kind: type[Named]) -> type[Named]:
    """The class of the same results, written into tensors that were given."""
    name = kind.__name__ + WRITTEN
    if name not in _written:
        _written[name] = _class(name, kind.fields)
    return _written[name]
