"""The values that nodes saved, under PyTorch's names.

(x ** 3).grad_fn._saved_exponent     # 3
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..engine.errors import FREED as FREED_MESSAGE
from ..engine.errors import GradError
from ..engine.node import (
    FREED,
    AccumulateGrad,
    Node,
    input_edges,
    rules_read,
    saved_parts,
)
from ..engine.saved import edge_of_output
from ..engine.tensor import Tensor, constant, rebuild
from ..ops import LINEAR, parameters
from ..ops.saved_names import PARAMETERS, RENAMED, inputs_of, outputs_of

INPUT, OUTPUT, PARAMETER = "input", "output", "parameter"
"""Kinds of the values that a node keeps."""

Which: TypeAlias = tuple[str, Any]
"""Place of a value in its node: its kind, and its slot, number or name there."""


# Names of saved values, as attributes of a node.

SAVED = "_saved_"


def saved_by_name(node: Any, name: str) -> Any:
    """Return a value that a node saved, by PyTorch's name of it."""
    if name.startswith(SAVED):
        which = saved_keys(node).get(name.removeprefix(SAVED))
        if which is not None:
            return _value(node, which)
    raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")


def names_shown(node: object) -> list[str]:
    """Return the names of a node's attributes, with those of its saved values."""
    return [*object.__dir__(node), *[SAVED + name for name in saved_keys(node)]]


def saved_keys(node: Any) -> dict[str, Which]:
    """Return the place of each value that a node keeps, by PyTorch's name."""
    op = getattr(node, "op", None)
    if op is None or op.lists_live_edges:
        return {}
    read = rules_read(node)
    count = 0 if op.variadic else len(op.partials or op.vjp)
    found: dict[str, Which] = {
        name: (INPUT, slot)
        for slot, name in enumerate(inputs_of(op.name, count))
        if slot in read.inputs and slot not in node.bare
    }
    if op.jvp is not LINEAR:
        outputs = enumerate(outputs_of(op.name, op.returns))
        found |= {name: (OUTPUT, nr) for nr, name in outputs if read.reads(nr)}
    renamed = RENAMED.get(op.name, PARAMETERS)
    for name in parameters(op)[count:]:
        found[renamed.get(name, name)] = (PARAMETER, name)
    return found


def _value(node: Node, which: Which) -> Any:
    """Return a saved value of a node; None if it has none."""
    kind, key = which
    if kind == PARAMETER:
        return _parameter(node, key)
    if kind == INPUT and key not in saved_parts(node).inputs:
        return None
    raw, y = node.restored()
    values = raw if kind == INPUT else y if isinstance(y, tuple) else (y,)
    found: Any = values[key] if key < len(values) else None
    if kind == OUTPUT:
        return rebuild(found, node.xp, edge_of_output(node, key))
    if not hasattr(found, "dtype"):
        return found if found is None else constant(np.asarray(found))
    edge = input_edges(node).get(key)
    if isinstance(edge, AccumulateGrad) and edge.variable.raw is found:
        return edge.variable
    return rebuild(found, node.xp, edge)


def _parameter(node: Node, name: str) -> object:
    """Return a parameter as it was given, or its default; arrays become tensors."""
    fwd, names = node.op.fwd, parameters(node.op)
    defaults = fwd.__defaults__ or ()
    known = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    value = (known | (fwd.__kwdefaults__ or {}) | node.params).get(name)
    if not isinstance(value, tuple) or not any(
        isinstance(v, list) or hasattr(v, "dtype") for v in value
    ):
        return value
    if node.saved is FREED:
        raise GradError(FREED_MESSAGE)
    xp = node.xp
    return tuple([None if v is None else Tensor(xp.as_index(v), xp) for v in value])
