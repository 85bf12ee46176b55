"""What nodes save: whether it is unchanged, hooks that pack it, and PyTorch's names.

Invariant: only values that the reverse rules read count as saved. Hooks are given them
as the tensors that they were, inputs by the names under which PyTorch saves them, then
outputs, and nothing is recorded inside hooks. Hooks of the innermost block apply to new
nodes; hooks of one saved value can be set once.

    raw = (x * y).grad_fn._raw_saved_self
    raw.register_hooks(pack, unpack)     # pack(x) is kept, unpack(pack(x)) is used
    (x ** 3).grad_fn._saved_exponent     # 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..ops import LINEAR, parameters
from ..ops.saved_names import PARAMETERS, RENAMED, inputs_of, outputs_of
from . import dtypes
from .custom import CustomNode
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .modes import MODE, no_grad
from .node import (
    FREED,
    AccumulateGrad,
    Edge,
    Node,
    Packed,
    Port,
    Shaped,
    UnaryNode,
    carried,
    input_edges,
    output_at,
    rules_read,
    saved_parts,
    used_parts,
)
from .raw import Give, Raw
from .rules import Parts
from .tensor import Tensor, constant, rebuild
from .versions import made_by_change, moved, version, version_at

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
        words = made_by_change(raw) if is_input else None
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


# Hooks on saved values.

Pack: TypeAlias = Callable[[Tensor], Any]
Unpack: TypeAlias = Callable[[Any], Tensor]
UNNAMED = "~"
"""Name for an input that PyTorch has no name for; it sorts behind all others."""

INPUT, OUTPUT, PARAMETER = "input", "output", "parameter"
"""Kinds of the values that a node keeps."""

Which: TypeAlias = tuple[str, Any]
"""Place of a value in its node: its kind, and its slot, number or name there."""

CHANGES_ITS_INPUT = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as "
    "input to pack hook cannot be modified by in-place operations as this can lead to "
    "unexpected side-effects."
)
SET_ALREADY = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
    "only one pair of hooks is allowed at a time."
)
FREED_ALREADY = (
    "Calling register_hooks on a saved tensor after it has been freed. "
    f"{FREED_MESSAGE.partition('. ')[2]}"
)
NOTHING_THERE = "Calling register_hooks on a saved tensor with value None is forbidden"


class Hooks:
    """A pair of hooks: one packs a saved tensor, the other unpacks it."""

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def pack(self, tensor: Tensor) -> Give:
        """Pack a saved tensor; return a function that returns its array, unpacked."""
        raw, before = tensor.raw, version(tensor.raw)
        with no_grad():
            kept = self.pack_hook(tensor)
        if version(raw) != before:
            raise GradError(CHANGES_ITS_INPUT)
        return lambda: self._unpack(kept).raw

    def _unpack(self, kept: object) -> Tensor:
        with no_grad():
            tensor = self.unpack_hook(kept)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got "
                f"result of type {type(tensor).__name__}"
            )
        return tensor


def active_hooks() -> Hooks | None:
    """Return the hooks that apply to values saved now; None if there are none."""
    return MODE.packing[-1] if MODE.packing else None


def apply_hooks(packing: tuple[object, ...]) -> None:
    """Replace the stack of hooks on saved tensors, of which the last applies."""
    MODE.packing = packing
    MODE.observe("on_node", pack_node, bool(packing))


def pack_node(node: Node) -> None:
    """Pack the saved values of a new node with the active hooks."""
    if isinstance(node, CustomNode):
        return
    parts = used_parts(node)
    if not (parts.inputs or parts.output):
        return
    packed = _unhooked(node, parts)
    edges = input_edges(node)
    for slot in packed.order:
        _hook(node, packed, (INPUT, slot), MODE.packing[-1], edges.get(slot))
    for nr in range(len(packed.outputs)):
        if parts.reads(nr):
            edge = _edge_of_output(node, nr)
            _hook(node, packed, (OUTPUT, nr), MODE.packing[-1], edge)
    node.y, node.saved = packed, FREED


def hook_one(node: Node, which: Which, hooks: Hooks) -> None:
    """Pack one saved value of a node; the hooks are given it without its graph."""
    packed = node.y if isinstance(node.y, Packed) else None
    if packed is not None and which in packed.hooked:
        raise GradError(SET_ALREADY)
    if packed is None and node.saved is FREED:
        raise GradError(FREED_ALREADY)
    parts = used_parts(node)
    kind, number = which
    if not (number in parts.inputs if kind == INPUT else parts.reads(number)):
        raise GradError(NOTHING_THERE)
    packed = packed or _unhooked(node, parts)
    _hook(node, packed, which, hooks, None)
    node.y, node.saved = packed, FREED


def _hook(node: Node, packed: Packed, which: Which, hooks: Hooks, edge: Edge) -> None:
    kind, number = which
    gives = packed.inputs if kind == INPUT else packed.outputs
    gives[number] = hooks.pack(rebuild(gives[number](), node.xp, edge))
    packed.hooked.add(which)


def _unhooked(node: Node, parts: Parts) -> Packed:
    """Return a node's values as `Packed`, each as a function that returns it."""
    raw, y = node.restored()
    several = isinstance(y, tuple)
    edges = input_edges(node)
    inputs = [
        _kept(node, value, slot in parts.inputs, edges.get(slot))
        for slot, value in enumerate(raw)
    ]
    outputs = [
        _kept(node, value, parts.reads(nr), None)
        for nr, value in enumerate(y if several else (y,))
    ]
    order = parts.inputs
    if not node.op.variadic and len(order) > 1:
        names = dict(enumerate(inputs_of(node.op.name, max(order) + 1)))
        order = tuple(sorted(order, key=lambda slot: names.get(slot, UNNAMED)))
    return Packed(
        inputs=inputs,
        outputs=outputs,
        shapes=node.y_shapes() if several else [],
        alone=isinstance(node, UnaryNode),
        parts=parts,
        order=order,
        hooked=set(),
    )


def _kept(node: Node, value: Any, is_read: bool, edge: Edge) -> Give:
    """Return a function that gives a value, or its shape if no rule reads more."""
    if not hasattr(value, "dtype"):
        return lambda: value
    if not is_read:
        shape_is_enough = node.op.partials is not None and node.op.vjp is None
        kept = Shaped(value.shape) if shape_is_enough else value
        return lambda: kept
    then = version_at(value, node.born)

    def give() -> object:
        demand_version(value, then, edge)
        return value

    return give


class SavedTensor:
    """A handle of a value that a node saved, on which hooks can be set."""

    __slots__ = ("_node", "_which")

    def __init__(self, node: Node, which: Which) -> None:
        self._node, self._which = node, which

    @property
    def data(self) -> Tensor | None:
        """Return the saved tensor; None if none is saved."""
        found: Tensor | None = _value(self._node, self._which)
        return found

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        """Keep the result of ``pack_hook`` in the value's place; ``unpack_hook`` undoes
        it.

        Raises:
            GradError: hooks are set already, or the value was freed.
        """
        hook_one(self._node, self._which, Hooks(pack_hook, unpack_hook))


# Names of saved values, as attributes of a node.

SAVED, RAW = "_saved_", "_raw_saved_"


def saved_by_name(node: Any, name: str) -> Any:
    """Return a value that a node saved, by PyTorch's name of it."""
    if name.startswith(SAVED):
        which = saved_keys(node).get(name.removeprefix(SAVED))
        if which is not None:
            return _value(node, which)
    elif name.startswith(RAW):
        which = saved_keys(node).get(name.removeprefix(RAW))
        if which is not None and which[0] != PARAMETER:
            return SavedTensor(node, which)
    raise AttributeError(f"{type(node).__name__!r} object has no attribute {name!r}")


def names_shown(node: object) -> list[str]:
    """Return the names of a node's attributes, with those of its saved values."""
    known = saved_keys(node)
    tensors = [name for name, (kind, _) in known.items() if kind != PARAMETER]
    found = [SAVED + name for name in known] + [RAW + name for name in tensors]
    return [*object.__dir__(node), *found]


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
    """Return a saved value of a node, unpacked by its hooks; None if it has none."""
    kind, key = which
    if kind == PARAMETER:
        return _parameter(node, key)
    packed = node.y if isinstance(node.y, Packed) else None
    parts = saved_parts(node) if packed is None else packed.parts
    if kind == INPUT and key not in parts.inputs:
        return None
    if packed is not None:
        found = (packed.inputs if kind == INPUT else packed.outputs)[key]()
    else:
        raw, y = node.restored()
        values = raw if kind == INPUT else y if isinstance(y, tuple) else (y,)
        found = values[key] if key < len(values) else None
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
