"""What a node of the graph shows of itself, as PyTorch's nodes do.

Invariant: nothing here takes part in recording or in a pass. ``_saved_...`` and
``_raw_saved_...`` names follow from the row and `gradcli.ops.saved_names`; of inputs
and outputs only what the reverse rules read is there.

    (x ** 3).grad_fn._saved_exponent        # 3
"""

from __future__ import annotations

from typing import Any

from ..ops import LINEAR, parameters
from ..ops.saved_names import (
    NOT_SHOWN,
    PARAMETERS,
    REDUCTIONS,
    RENAMED,
    SIZED,
    inputs_of,
    outputs_of,
)
from .backward import input_edges, rebuild
from .node import AccumulateGrad, Packed, Port, carried
from .packing import INPUT, OUTPUT, SavedTensor, hook_one
from .saved import rules_read, used_parts

SAVED, RAW = "_saved_", "_raw_saved_"

PARAMETER, SIZES = "parameter", "sizes"
"""What a saved value is of its node, where it is no tensor."""

TENSORS = (INPUT, OUTPUT)


def saved_by_name(node: Any, name: str) -> Any:
    """Return what a node saved, by PyTorch's name of it."""
    for prefix, show in ((SAVED, saved_value), (RAW, raw_saved)):
        if name.startswith(prefix):
            key = saved_keys(node).get(name.removeprefix(prefix))
            if key is not None:
                return show(node, *key)
    raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")


def names_shown(node: Any) -> list[str]:
    """List a node's attributes, those of its saved values among them."""
    known = saved_keys(node)
    tensors = [name for name, (kind, _) in known.items() if kind in TENSORS]
    found = [SAVED + name for name in known] + [RAW + name for name in tensors]
    return [*object.__dir__(node), *found]


def saved_keys(node: Any) -> dict[str, tuple[str, Any]]:
    """Map PyTorch's names of a node's saved values to a kind and a key.

    Kinds are `INPUT` and `OUTPUT`, with a number; `PARAMETER`, with its name; `SIZES`
    of an input of which nothing else is kept.
    """
    op = getattr(node, "op", None)
    if op is None:
        return {}
    read = rules_read(node)
    found: dict[str, tuple[str, Any]] = {}
    count = 0 if op.variadic else len(op.partials or op.vjp)
    shapes_alone = node.slots if op.jvp is LINEAR else ()
    for slot, name in enumerate(inputs_of(op.name, count)):
        if slot in read.inputs and slot not in shapes_alone:
            found[name] = INPUT, slot
        elif slot == 0 and op.name in SIZED:
            found[f"{name}_sym_sizes"] = SIZES, slot
    if read.output and op.jvp is not LINEAR:
        for nr, name in enumerate(outputs_of(op.name, op.returns)):
            if read.reads(nr):
                found[name] = OUTPUT, nr
    renamed = RENAMED.get(op.name, PARAMETERS)
    for name in parameters(op)[count:]:
        found[renamed.get(name, name)] = PARAMETER, name
    for name in NOT_SHOWN.get(op.name, "").split():
        found.pop(name, None)
    return found


def saved_value(node: Any, kind: str, key: Any) -> Any:
    """Return what a node saved, unpacked.

    Raises:
        GradError: it has been freed.
    """
    if kind == PARAMETER:
        return _parameter(node.op, key, node.params)
    if kind == SIZES:
        return tuple(node.raw_inputs()[key].shape)
    if isinstance(node.y, Packed):
        gives = node.y.inputs if kind == INPUT else node.y.outputs
        return _as_it_was(node, gives[key](), kind, key)
    raw, y = node.restored()
    if kind == INPUT:
        return _as_it_was(node, raw[key], kind, key)
    return _as_it_was(node, y[key] if isinstance(y, tuple) else y, kind, key)


def _as_it_was(node: Any, raw: Any, kind: str, key: int) -> Any:
    """Return a saved array as its tensor; a leaf as the object that it was."""
    if kind == OUTPUT:
        several = node.op.returns != 1
        carries = not several or key < carried(node.op, (None,) * node.op.returns)
        edge: Any = (Port(node, key) if several else node) if carries else None
        return rebuild(raw, node.xp, edge)
    if key not in used_parts(node).inputs:
        return None
    edge = input_edges(node).get(key)
    if isinstance(edge, AccumulateGrad) and edge.variable.raw is raw:
        return edge.variable
    return rebuild(raw, node.xp, edge)


def raw_saved(node: Any, kind: str, key: Any) -> Any:
    """Return a saved tensor before it is unpacked, so that hooks can be set on it.

    Raises:
        AttributeError: it is no tensor.
    """
    if kind not in TENSORS:
        raise AttributeError(f"{key!r} is no tensor")
    return SavedTensor(
        lambda: saved_value(node, kind, key),
        lambda hooks: hook_one(node, (kind, key), hooks),
    )


def _parameter(op: Any, name: str, given: dict[str, Any]) -> Any:
    """A parameter as PyTorch saves it: several dimensions as a tuple, one too."""
    if name in given:
        value = given[name]
    else:
        defaults = op.fwd.__defaults__ or ()
        after = parameters(op)[::-1].index(name)
        value = defaults[-1 - after] if after < len(defaults) else None
        value = (op.fwd.__kwdefaults__ or {}).get(name, value)
    if name == "reduction":
        return REDUCTIONS.get(value, value)
    takes_many = any(isinstance(c.params.get(name), tuple) for c in op.cases)
    return (value,) if takes_many and isinstance(value, int) else value
