"""Attributes of a node that show what it saved, named as in PyTorch.

Invariant: nothing here takes part in recording or in a pass. Operands, results and
parameters are shown as far as the node keeps them; their ``_saved_...`` and
``_raw_saved_...`` names follow from the row and `gradcli.ops.saved_names`.

    (x ** 3).grad_fn._saved_exponent        # 3
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..ops import LINEAR, defaults, parameters
from ..ops.saved_names import (
    PARAMETERS,
    PLACES,
    RENAMED,
    inputs_of,
    outputs_of,
)
from .backward import rebuild
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .node import (
    FREED,
    AccumulateGrad,
    Edge,
    Node,
    Packed,
    Port,
    carried,
    input_edges,
    rules_read,
    saved_parts,
)
from .packing import INPUT, OUTPUT, Hooks, SavedTensor, hook_one
from .raw import Raw
from .tensor import Tensor, constant

SAVED, RAW = "_saved_", "_raw_saved_"

PARAMETER, PLACE = "parameter", "place"
"""Kinds of saved values that are no input or output: a parameter, and positions that
one gives."""


class Shown(NamedTuple):
    """The place of a saved value in its node: its kind and its key in that kind."""

    kind: str
    key: Any


def saved_by_name(node: Any, name: str) -> Any:
    """Return a value that a node saved, by PyTorch's name of it."""
    for prefix, show in ((SAVED, saved_value), (RAW, raw_saved)):
        if name.startswith(prefix):
            shown = saved_keys(node).get(name.removeprefix(prefix))
            if shown is not None and (prefix == SAVED or shown.kind != PARAMETER):
                return show(node, shown)
    raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")


def names_shown(node: object) -> list[str]:
    """Return the names of a node's attributes, with those of its saved values."""
    known = saved_keys(node)
    tensors = [name for name, at in known.items() if at.kind != PARAMETER]
    found = [SAVED + name for name in known] + [RAW + name for name in tensors]
    return [*object.__dir__(node), *found]


def saved_keys(node: Any) -> dict[str, Shown]:
    """Return the place of each saved value of a node, by PyTorch's name."""
    op = getattr(node, "op", None)
    if op is None or op.lists_live_edges:
        return {}
    read = rules_read(node)
    found: dict[str, Shown] = {}
    count = 0 if op.variadic else len(op.partials or op.vjp)
    inputs = inputs_of(op.name, count)
    for slot, name in enumerate(inputs):
        if slot in read.inputs and slot not in node.bare:
            found[name] = Shown(INPUT, slot)
    if read.output and op.jvp is not LINEAR:
        for nr, name in enumerate(outputs_of(op.name, op.returns)):
            if read.reads(nr):
                found[name] = Shown(OUTPUT, nr)
    renamed, places = RENAMED.get(op.name, PARAMETERS), PLACES.get(op.name)
    for name in parameters(op)[count:]:
        kind = PLACE if name == places else PARAMETER
        found[renamed.get(name, name)] = Shown(kind, name)
    return found


def saved_value(node: Node, shown: Shown) -> Any:
    """Return a saved value of a node, unpacked by its hooks.

    Raises:
        GradError: the value has been freed.
    """
    kind, key = shown
    if kind == PARAMETER:
        return node.params.get(key, defaults(node.op).get(key))
    if kind == PLACE:
        return _places(node, key)
    return _tensor(node, kind, key)


def _is_given(raw: tuple[object, ...], slot: int) -> bool:
    return slot < len(raw) and raw[slot] is not None


def _tensor(node: Node, kind: str, key: int) -> object:
    """Return a saved input or output; None if no edge's rule needs it."""
    packed = isinstance(node.y, Packed)
    parts = node.y.parts if packed else saved_parts(node)
    if kind == INPUT and key not in parts.inputs:
        return None
    if packed:
        gives = node.y.inputs if kind == INPUT else node.y.outputs
        return _as_it_was(node, gives[key](), kind, key)
    raw, y = node.restored()
    if kind == INPUT:
        given = _is_given(raw, key)
        return _as_it_was(node, raw[key], kind, key) if given else None
    return _as_it_was(node, y[key] if isinstance(y, tuple) else y, kind, key)


def _as_it_was(node: Node, raw: Raw, kind: str, key: int) -> object:
    """Return a saved array as the tensor it was; a leaf is the same object again."""
    if kind == OUTPUT:
        several = node.op.returns != 1
        carries = not several or key < carried(node.op, (None,) * node.op.returns)
        made: Edge = (Port(node, key) if several else node) if carries else None
        return rebuild(raw, node.xp, made)
    if not hasattr(raw, "dtype"):
        return constant(np.asarray(raw))
    edge = input_edges(node).get(key)
    if isinstance(edge, AccumulateGrad) and edge.variable.raw is raw:
        return edge.variable
    return rebuild(raw, node.xp, edge)


def _places(node: Node, name: str) -> tuple[Tensor | None, ...]:
    """Return the index arrays in a parameter as tensors; None: a whole dimension."""
    if node.saved is FREED:
        raise GradError(FREED_MESSAGE)
    given = node.params[name]
    return tuple([
        None if place is None else Tensor(node.xp.as_index(place), node.xp)
        for place in given
    ])  # fmt: skip


def raw_saved(node: Node, shown: Shown) -> tuple[SavedTensor, ...] | SavedTensor:
    """Return a handle of a saved tensor, or several, on which hooks can be set."""
    kind, key = shown
    if kind == PLACE:

        def place(nr: int) -> Tensor | None:
            return _places(node, key)[nr]

        return tuple([
            SavedTensor(partial(place, nr), _refuse_hooks)
            for nr in range(len(node.params[key]))
        ])  # fmt: skip
    register = partial(hook_one, node, (kind, key))
    return SavedTensor(lambda: saved_value(node, shown), register)


def _refuse_hooks(hooks: Hooks) -> None:
    """Raise an error: positions take no hooks.

    Raises:
        GradError: always.
    """
    raise GradError("register_hooks: the positions that a node reads take no hooks")
