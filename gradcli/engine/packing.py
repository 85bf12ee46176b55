"""Hooks on the values that nodes save.

Invariant: hooks are given the values that the reverse rules will read, each as the
tensor that it was, in PyTorch's order: inputs by the names under which they are saved,
then outputs. Nothing is recorded inside hooks. Hooks of the innermost block apply to
new nodes; hooks of one saved value can be set once.

    raw = (x * y).grad_fn._raw_saved_self
    raw.register_hooks(pack, unpack)     # pack(x) is kept, unpack(pack(x)) is used
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.saved_names import inputs_of
from .backward import rebuild
from .custom import CustomNode
from .errors import FREED as FREED_MESSAGE
from .errors import GradError
from .modes import MODE, no_grad
from .node import (
    FREED,
    Edge,
    Node,
    Packed,
    Port,
    Shaped,
    UnaryNode,
    input_edges,
    used_parts,
)
from .raw import Give
from .rules import Parts
from .tensor import Tensor
from .unchanged import demand_version
from .versions import version, version_at

Pack = Callable[[Tensor], Any]
Unpack = Callable[[Any], Tensor]
UNNAMED = "~"
"""Name for an input that PyTorch has no name for; it sorts behind all others."""

INPUT, OUTPUT = "input", "output"
"""Roles of a saved tensor in its node."""

CHANGES_ITS_INPUT = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as "
    "input to pack hook cannot be modified by in-place operations as this can lead to "
    "unexpected side-effects. Please open an issue if you need to perform in-place "
    "operations on the input to a pack hook."
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
        """Pack a saved tensor; return a function that unpacks it and returns its array.

        Raises:
            GradError: the hook changes its input in place.
        """
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
    hooks = MODE.packing[-1]
    if parts.inputs or parts.output:
        packed = _unhooked(node, parts)
        edges = input_edges(node)
        for slot in packed.order:
            _hook(node, packed, (INPUT, slot), hooks, edges.get(slot))
        for nr in range(len(packed.outputs)):
            if parts.reads(nr):
                carried = Port(node, nr) if nr < len(packed.shapes) else None
                edge: Edge = carried if packed.shapes else node
                _hook(node, packed, (OUTPUT, nr), hooks, edge)
        node.y, node.saved = packed, FREED


Which = tuple[str, int]
"""Name of one of a node's values: its role, and its slot or output number."""


def hook_one(node: Node, which: Which, hooks: Hooks) -> None:
    """Pack one saved value of a node; the hooks are given it detached from the graph.

    Raises:
        GradError: the value has hooks already, was freed, or was never saved.
    """
    if isinstance(node.y, Packed):
        if which in node.y.hooked:
            raise GradError(SET_ALREADY)
    elif node.saved is FREED:
        raise GradError(FREED_ALREADY)
    parts = used_parts(node)
    kind, number = which
    if not (number in parts.inputs if kind == INPUT else parts.reads(number)):
        raise GradError(NOTHING_THERE)
    packed = node.y if isinstance(node.y, Packed) else _unhooked(node, parts)
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
    return Packed(
        inputs=[
            _kept(node, value, slot in parts.inputs, edges.get(slot))
            for slot, value in enumerate(raw)
        ],
        outputs=[
            _kept(node, value, parts.reads(nr), None)
            for nr, value in enumerate(y if several else (y,))
        ],
        shapes=node.y_shapes() if several else [],
        alone=isinstance(node, UnaryNode),
        parts=parts,
        order=_by_name(node, parts.inputs),
        hooked=set(),
    )


def _by_name(node: Node, slots: tuple[int, ...]) -> tuple[int, ...]:
    """Return the inputs in the order of the names that PyTorch saves them under."""
    if node.op.variadic or len(slots) < 2:
        return slots
    names = dict(enumerate(inputs_of(node.op.name, max(slots) + 1)))
    return tuple(sorted(slots, key=lambda slot: names.get(slot, UNNAMED)))


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

    __slots__ = ("_read", "_register")

    def __init__(
        self, read: Callable[[], Tensor | None], register: Callable[[Hooks], None]
    ) -> None:
        self._read = read
        self._register = register

    @property
    def data(self) -> Tensor | None:
        """Return the saved tensor; None if none is saved."""
        return self._read()

    def register_hooks(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        """Keep the result of ``pack_hook`` in the value's place; ``unpack_hook`` undoes
        it.

        Raises:
            GradError: hooks are set already, or the value was freed.
        """
        self._register(Hooks(pack_hook, unpack_hook))
