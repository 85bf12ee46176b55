"""`Variable`, the older name of a tensor that gradients are asked for."""

from __future__ import annotations

from ..engine.tensor import Tensor


class _AnyTensor(type):
    """Makes every tensor an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_AnyTensor):
    """``Variable(tensor, requires_grad=True)`` gives a leaf on the tensor's memory."""

    # PyTorch's `Variable(...)` makes a tensor, which is no instance of this class.
    def __new__(  # type: ignore[misc]
        cls, data: Tensor, requires_grad: bool = False, **_: object
    ) -> Tensor:
        leaf = data.detach()
        if requires_grad:
            leaf.requires_grad_(True)
        return leaf
