"""The recorded graph as an object of its own: nodes, edges and what nodes save.

Invariant: hooks on saved tensors see what the reverse rules will read, and nothing
else; a node whose values were packed is freed, retained and run twice as any other.

    with saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        y = model(x)                     # saved values take half the memory
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from ..engine import devices
from ..engine import node as nodes
from ..engine.backward import PASSES, Pass
from ..engine.edges import GradientEdge, get_gradient_edge
from ..engine.errors import EngineError, GradError
from ..engine.hooks import RemovableHandle
from ..engine.modes import MODE
from ..engine.node import AccumulateGrad, output_at
from ..engine.raw import Raw, Run
from ..engine.saved import Hooks, active_hooks, apply_hooks
from ..engine.tensor import Tensor
from ..engine.versions import owner, touch

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
__dir__ = __all__.copy


class saved_tensors_hooks(Hooks):
    """Hand each tensor that a node saves to ``pack_hook``, and keep what it gives.

    When the node runs, ``unpack_hook`` is given that and gives the tensor back. Hooks
    of the innermost block apply; nothing is recorded inside them.
    """

    def __enter__(self) -> None:
        if _DISABLED:
            raise GradError(_DISABLED[-1])
        apply_hooks((*MODE.packing, self))

    def __exit__(self, *exception: object) -> None:
        apply_hooks(MODE.packing[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Keep what nodes save in the host's memory until they run.

    ``pin_memory`` is accepted; the host's memory is ordinary memory here.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[object, Tensor]:
            return tensor.xp, devices.host(tensor.raw)

        def unpack(kept: tuple[Any, Any]) -> Tensor:
            xp, array = kept
            return Tensor(xp.array(array), xp)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse `saved_tensors_hooks` inside, with this message."""
    if active_hooks() is not None:
        raise GradError(error_message)
    _DISABLED.append(error_message)
    try:
        yield
    finally:
        _DISABLED.pop()


_DISABLED: list[str] = []


class Slot:
    """A node's stand-in for a value that it saves."""

    __slots__ = ("__weakref__",)


class AllowMutation:
    """Values that are saved inside a block, and copied before they are changed."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[Slot, Tensor] = WeakKeyDictionary()
        self._in_memory: dict[int, WeakSet[Slot]] = {}

    def clear(self) -> None:
        """Drop all values; those saved in the block can be used no more."""
        self._values.clear()
        self._in_memory.clear()

    def pack(self, tensor: Tensor) -> Slot:
        """Keep a value that a node saves."""
        slot = Slot()
        self._values[slot] = tensor
        memory = id(owner(tensor.raw))
        self._in_memory.setdefault(memory, WeakSet()).add(slot)
        return slot

    def unpack(self, slot: Slot) -> Tensor:
        """Return the value as it was saved, while the block lasts."""
        assert slot in self._values, "allow_mutation_on_saved_tensors has ended"
        return self._values[slot]

    def before_change(self, raw: Raw) -> None:
        """Copy what was saved of memory that is about to be changed."""
        for slot in self._in_memory.pop(id(owner(raw)), ()):
            value = self._values[slot]
            self._values[slot] = Tensor(value.xp.clone(value.raw), value.xp)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[AllowMutation]:
    """Allow changes in place of what nodes save; run the reverse pass inside too.

    Raises:
        EngineError: inside another such block.
    """
    if MODE.before_change is not None:
        raise EngineError("allow_mutation_on_saved_tensors contexts cannot be nested")
    kept = AllowMutation()
    with saved_tensors_hooks(kept.pack, kept.unpack):
        try:
            with MODE.having(before_change=kept.before_change):
                yield kept
        finally:
            kept.clear()


class MultiHandle:
    """A handle that removes the hooks of several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hooks from all the tensors."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> MultiHandle:
        return self

    def __exit__(self, *problem: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Run, *, mode: str = "all"
) -> MultiHandle:
    """Call ``fn`` once in each pass that reaches any of ``tensors``.

    Args:
        fn: takes a list of gradients, one per tensor, None where the pass does not
            reach it; with ``mode="any"``, the first gradient to arrive.
        mode: ``all`` waits for every gradient that will arrive, ``any`` for the first.

    Raises:
        ValueError: another mode.
        AssertionError: a tensor requires no gradient.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be 'all' or 'any' but got {mode}")
    assert all(t.edge is not None for t in tensors), "a tensor requires no gradient"
    nodes = [output_at(t.edge)[0] for t in tensors]
    arrived: WeakKeyDictionary[Pass, dict[int, Tensor]] = WeakKeyDictionary()

    def arrive(index: int, g: Tensor) -> None:
        running = PASSES.running
        assert running is not None  # a tensor's hooks are called by a pass
        found = arrived.setdefault(running, {})
        found[index] = g
        if mode == "any" and len(found) == 1:
            fn(g)
        elif mode == "all" and len(found) == sum(n in running.nodes for n in nodes):
            del arrived[running]
            fn([found.get(each) for each in range(len(nodes))])

    return MultiHandle([
        t.register_hook(partial(arrive, index)) for index, t in enumerate(tensors)
    ])  # fmt: skip


class Node(ABC):  # noqa: B024 (a name for `isinstance`)
    """Class of which every node of a graph is an instance."""


Node.register(nodes.Node)
Node.register(AccumulateGrad)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change of a tensor's memory that the engine did not see.

    A backward pass that would read what was saved of it before is refused.
    """
    for each in [tensor] if isinstance(tensor, Tensor) else tensor:
        touch(each._shareable())
