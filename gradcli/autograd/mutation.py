"""In-place changes of what nodes saved, made harmless.

Invariant: inside the block a value that a node saved is copied just before its memory
is changed, and not before; so the reverse pass reads what the forward pass read.

    with allow_mutation_on_saved_tensors():
        y = (x**2).sum()
        x.sin_()
        y.backward()
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakKeyDictionary, WeakSet

from ..engine.errors import EngineError
from ..engine.modes import MODE
from ..engine.raw import Raw
from ..engine.tensor import Tensor
from ..engine.versions import owner
from .saved_hooks import saved_tensors_hooks

OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
    "in which the graph was originally recorded."
)


class _Handle:
    """Stands in a node for a saved value."""

    __slots__ = ("__weakref__",)


class AllowMutation:
    """Values that are saved inside a block, and copied before they are changed."""

    def __init__(self) -> None:
        self._values: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        self._in_memory: dict[int, WeakSet[_Handle]] = {}

    def clear(self) -> None:
        """Let go of everything; what was saved can be used no more."""
        self._values.clear()
        self._in_memory.clear()

    def pack(self, tensor: Tensor) -> _Handle:
        """Keep a value that a node saves."""
        handle = _Handle()
        self._values[handle] = tensor
        memory = id(owner(tensor.raw))
        self._in_memory.setdefault(memory, WeakSet()).add(handle)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """Return the value as it was saved.

        Raises:
            AssertionError: the block has ended, or was cleared.
        """
        if handle not in self._values:
            raise AssertionError(OUTSIDE)
        return self._values[handle]

    def before_change(self, raw: Raw) -> None:
        """Copy what was saved of memory that is about to be changed."""
        for handle in self._in_memory.pop(id(owner(raw)), ()):
            value = self._values[handle]
            self._values[handle] = Tensor(value.xp.clone(value.raw), value.xp)


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
        MODE.before_change = kept.before_change
        try:
            yield kept
        finally:
            MODE.before_change = None
            kept.clear()
