"""Parameters, the tensors that a module trains, and buffers, which it keeps.

Invariant: both share their memory with the tensor they were made from, and what is
computed from them is a plain tensor; a parameter is a leaf.

    w = Parameter(torch.zeros(3))       # requires_grad is True
"""

from __future__ import annotations

from typing import Any

from ..engine.modes import no_grad
from ..engine.tensor import Tensor

_new = object.__new__


class Parameter(Tensor):
    """A tensor that becomes part of `Module.parameters` when assigned to a module.

    Args:
        data: what it holds; the memory is shared. None: an empty vector.
        requires_grad: whether gradients are accumulated for it.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            from ..engine.creation import empty

            data = empty(0)
        if not isinstance(data, Tensor):
            raise TypeError(
                f"a Parameter holds a tensor, not {type(data).__name__}: make it one "
                "with tensor(...)"
            )
        made: Parameter = _new(cls)
        made.raw, made.xp, made.edge = data._shareable(), data.xp, None
        if requires_grad:
            made.requires_grad_(True)
        return made

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        """Everything is done by ``__new__``; a tensor's own constructor has to rest."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known: Parameter | None = memo.get(id(self))
        if known is None:
            with no_grad():
                known = type(self)(self.detach().clone(), self.requires_grad)
            memo[id(self)] = known
        return known

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class Buffer(Tensor):
    """A tensor that becomes part of `Module.buffers` when assigned to a module.

    Args:
        data: what it holds; the memory is shared. None: an empty vector.
        persistent: whether it is part of a module's state.
    """

    __slots__ = ("persistent",)

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            from ..engine.creation import empty

            data = empty(0)
        made: Buffer = _new(cls)
        made.raw, made.xp, made.edge = data._shareable(), data.xp, data.edge
        made.persistent = persistent
        return made

    def __init__(self, data: Any = None, *, persistent: bool = True) -> None:
        """Everything is done by ``__new__``; a tensor's own constructor has to rest."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Buffer:
        known: Buffer | None = memo.get(id(self))
        if known is None:
            copied = self.detach().clone()
            known = memo[id(self)] = type(self)(copied, persistent=self.persistent)
        return known
