"""What nodes save: whether it is unchanged, and PyTorch's names for it.

Invariant: only values that the reverse rules read count as saved.

    (x ** 3).grad_fn._saved_exponent     # 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..ops import LINEAR, parameters
from ..ops.saved_names import PARAMETERS, RENAMED, inputs_of, outputs_of
from . import dtypes
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .node import (
    FREED,
    AccumulateGrad,
    Edge,
    Node,
    Port,
    UnaryNode,
    carried,
    input_edges,
    output_at,
    rules_read,
    saved_parts,
    used_parts,
)
from .raw import Raw
from .rules import Parts
from .tensor import Tensor, constant, rebuild
from .versions import in_place_output, moved, version, version_at

CHANGED = (
    "one of the variables needed for gradient computation has been modified by an "
    "inplace operation: [{what}]{made} is at version {now}; expected version {then} "
    "instead. Hint: enable anomaly detection to find the operation that failed to "
    "compute its gradient, with torch.autograd.set_detect_anomaly(True, "
    "check_nan=False)."
)


def demand_unchanged(
    node: Node, parts_of: Callable[[Node], Parts] = used_parts
) -> None:
    """Raise an error if a value that a node saved was changed in place since.

    Args:
        parts_of: a function from the node to the values that are going to be read.
    """
    if node.saved is FREED or (node.y is None and node.saved is None):
        return
    parts = parts_of(node)
    raw, y = node.restored()
    for value in node.params.values():
        for part in value if isinstance(value, tuple) else (value,):
            _demand(part, node.born, None)
    edges = input_edges(node)
    for slot in parts.inputs:
        _demand(raw[slot], node.born, edges.get(slot), True)
    now = tuple([moved(x, edges.get(slot)) for slot, x in enumerate(raw)])
    if any(a is not b for a, b in zip(raw, now, strict=True)):
        node.saved = now[0] if isinstance(node, UnaryNode) else now
    wrote = getattr(node, "wrote", node.born)
    for nr, part in enumerate(y if isinstance(y, tuple) else (y,)):
        if parts.reads(nr):
            _demand(part, wrote, _edge_of_output(node, nr))


def _demand(raw: Raw, born: int, edge: Edge, is_input: bool = False) -> None:
    if hasattr(raw, "dtype"):
        demand_version(raw, version_at(raw, born), edge, is_input)


def demand_version(raw: Raw, then: int, edge: Edge, is_input: bool = False) -> None:
    """Raise an error if the memory of a saved value has another version than ``then``.

    Args:
        edge: the edge of the tensor when it was saved.
        is_input: whether the tensor may have been given another edge since, which is
            then named.
    """
    now = version(raw)
    if now != then:
        what = f"torch.{dtypes.of(raw).legacy}Tensor {list(raw.shape)}"
        words = in_place_output(raw) if is_input else None
        node, nr = output_at(edge)
        if words is None and isinstance(node, Node):
            words = f"output {nr} of {node.operation()}"
        made = "" if words is None else f", which is {words},"
        raise GradError(CHANGED.format(what=what, made=made, now=now, then=then))


def _edge_of_output(node: Node, nr: int) -> Edge:
    """Return the edge of a node's output; None if no gradient comes from there."""
    if node.op.returns == 1:
        return node
    _, y = node.restored()
    return Port(node, nr) if y is None or nr < carried(node.op, y) else None


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
        return rebuild(found, node.xp, _edge_of_output(node, key))
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
