"""Parameters, the tensors that a module trains.

Invariant: a parameter shares its memory with the tensor it was made from and is a leaf;
what is computed from it is a plain tensor.

    w = Parameter(torch.zeros(3))       # requires_grad is True
"""

from __future__ import annotations

from typing import Any

from ..engine.modes import RecordingOff
from ..engine.tensor import Tensor
from ..torch.creation import empty

_new = object.__new__


class Parameter(Tensor):
    """A tensor that becomes part of `Module.parameters` when assigned to a module.

    Args:
        data: what it holds; the memory is shared. None: an empty vector.
        requires_grad: whether gradients are accumulated for it.
    """

    __slots__ = ()

    def __new__(cls, data: object = None, requires_grad: bool = True) -> Parameter:
        if data is None:
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

    def __init__(self, data: object = None, requires_grad: bool = True) -> None:
        """Everything is done by ``__new__``; a tensor's own constructor has to rest."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        known: Parameter | None = memo.get(id(self))
        if known is None:
            with RecordingOff():
                known = type(self)(self.detach().clone(), self.requires_grad)
            memo[id(self)] = known
        return known

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()
