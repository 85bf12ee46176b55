"""The recorded graph as an object of its own: nodes, edges and what nodes save.

Invariant: hooks on saved tensors see what the reverse rules will read, and nothing
else; a node whose values were packed is freed, retained and run twice as any other.

    with saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        y = model(x)                     # saved values take half the memory
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..engine import devices
from ..engine import node as nodes
from ..engine.backward import rebuilt
from ..engine.errors import GradError
from ..engine.handmade import Handmade
from ..engine.modes import MODE, no_grad
from ..engine.node import FREED, AccumulateGrad, Edge, Packed, Port, Shaped, UnaryNode
from ..engine.saved import Parts, used_parts
from ..engine.tensor import Tensor
from ..engine.versions import touch

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class Node(ABC):  # noqa: B024 (a name for `isinstance`)
    """What every node of a graph is an instance of."""


Node.register(nodes.Node)
Node.register(AccumulateGrad)


class GradientEdge(NamedTuple):
    """Where a gradient goes: output ``output_nr`` of ``node``."""

    node: Any
    output_nr: int
    edge: Edge = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor, which `grad` and `backward` take in its place.

    Raises:
        GradError: the tensor requires no gradient.
    """
    edge = tensor.edge
    if edge is None:
        raise GradError("It is not possible to get the gradient edge for a Tensor "
                        "that does not require gradients")  # fmt: skip
    if isinstance(edge, Port):
        return GradientEdge(edge.node, edge.nr, edge)
    return GradientEdge(edge, 0, edge)


def stand_in(target: Tensor | GradientEdge, like: Tensor | None = None) -> Tensor:
    """A tensor on an edge, for the engine; its value is never read."""
    if isinstance(target, Tensor):
        return target
    edge = target.edge
    if isinstance(edge, AccumulateGrad) and edge.variable is not None:
        return edge.variable
    node = target.node
    if edge is None:
        edge = Port(node, target.output_nr) if target.output_nr else node
    tensor: Tensor = object.__new__(Tensor)
    tensor.edge = edge
    tensor.xp = node.xp if like is None else like.xp
    tensor.raw = None if like is None else like.raw
    return tensor


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of a tensor's memory that the engine did not see.

    A backward pass that would read what was saved of it before is refused.
    """
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        touch(each._shareable())


Pack = Callable[[Tensor], Any]
Unpack = Callable[[Any], Tensor]


class saved_tensors_hooks:
    """Hand each tensor that a node saves to ``pack_hook``, and keep what it gives.

    When the node runs, ``unpack_hook`` is given that and gives the tensor back. Hooks
    of the innermost block apply; nothing is recorded inside them.
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _DISABLED:
            raise GradError(_DISABLED[-1])
        _ACTIVE.append(self)
        _look()

    def __exit__(self, *exception: object) -> None:
        _ACTIVE.pop()
        _look()

    def pack(self, tensor: Tensor) -> Callable[[], Any]:
        """Pack a saved tensor; calling what is returned gives its raw value again."""
        with no_grad():
            kept = self.pack_hook(tensor)
        return lambda: self._unpack(kept).raw

    def _unpack(self, kept: Any) -> Tensor:
        with no_grad():
            tensor = self.unpack_hook(kept)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got "
                f"result of type {type(tensor).__name__}"
            )
        return tensor


class save_on_cpu(saved_tensors_hooks):
    """Keep what nodes save in the host's memory until they run.

    ``pin_memory`` is accepted; the host's memory is ordinary memory here.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Any]:
            return tensor.xp, devices.host(tensor.raw)

        def unpack(kept: tuple[Any, Any]) -> Tensor:
            xp, array = kept
            return Tensor(xp.array(array), xp)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse `saved_tensors_hooks` inside, with this message."""
    if _ACTIVE:
        raise GradError(error_message)
    _DISABLED.append(error_message)
    try:
        yield
    finally:
        _DISABLED.pop()


_ACTIVE: list[saved_tensors_hooks] = []
_DISABLED: list[str] = []


def active_hooks() -> saved_tensors_hooks | None:
    """The hooks that apply at present."""
    return _ACTIVE[-1] if _ACTIVE else None


def _look() -> None:
    """Look at new nodes exactly while there are hooks."""
    others = [look for look in MODE.on_node if look is not _pack_node]
    MODE.watch([*others, _pack_node] if _ACTIVE else others, MODE.on_call)


def _pack_node(node: nodes.Node) -> None:
    """Put what a new node saves in the hooks' care."""
    if isinstance(node, Handmade):
        return
    parts = used_parts(node)
    if not parts.inputs and not parts.output:
        return
    shapes = node.y_shapes() if isinstance(node.y, tuple) else []
    node.y = Packed(_unpacker(node, parts, _ACTIVE[-1]), shapes)
    node.saved = FREED


def _unpacker(
    node: nodes.Node, parts: Parts, hooks: saved_tensors_hooks
) -> Callable[[], tuple[Any, Any]]:
    """Pack the parts of a node; what is returned gives ``saved`` and ``y`` again."""
    given, y = rebuilt(node)
    alone = isinstance(node, UnaryNode)
    several = isinstance(y, tuple)
    inputs = [
        hooks.pack(x) if slot in parts.inputs else _kept(node, x)
        for slot, x in enumerate(given)
    ]
    results = [
        hooks.pack(part) if parts.reads(nr) else _kept(node, part)
        for nr, part in enumerate(y if several else (y,))
    ]

    def unpack() -> tuple[Any, Any]:
        saved = tuple(give() for give in inputs)
        again = tuple(give() for give in results)
        return saved[0] if alone else saved, again if several else again[0]

    return unpack


def _kept(node: nodes.Node, value: Any) -> Callable[[], Any]:
    """What no reverse rule reads: only its shape, where no other rule does either."""
    kept = value.raw if isinstance(value, Tensor) else value
    partials_alone = node.op.partials is not None and node.op.vjp is None
    if partials_alone and isinstance(value, Tensor):
        kept = Shaped(kept.shape)
    return lambda: kept
