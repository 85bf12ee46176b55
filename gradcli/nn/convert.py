"""Moving a module's tensors between number types and devices.

Invariant: a parameter stays the same object and the same leaf; what changes is what it
holds, and its gradient goes with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine import dtypes
from ..engine.tensor import Tensor
from .parameter import UninitializedTensorMixin

Move = Callable[[Tensor], Tensor]


def dtype(name: str) -> Any:
    return getattr(dtypes, name)


def replace(parameter: Tensor, move: Move) -> None:
    """Apply ``move`` to what a parameter and its gradient hold."""
    if isinstance(parameter, UninitializedTensorMixin):
        parameter.follow(move)
        return
    gradient = parameter.grad
    parameter.grad = None
    parameter.data = move(parameter.detach())
    if gradient is not None:
        parameter.grad = move(gradient)


def moving(*args: object, **kwargs: Any) -> Move:
    """Give the function that ``to`` with these arguments applies to a tensor.

    Raises:
        TypeError: a dtype that parameters cannot have.
    """
    wanted = kwargs.get("dtype")
    for value in args:
        if isinstance(value, dtypes.dtype):
            wanted = value
        elif isinstance(value, Tensor):
            wanted, kwargs["device"] = value.dtype, value.device
    others = [a for a in args if not isinstance(a, dtypes.dtype | Tensor)]
    kwargs = {name: value for name, value in kwargs.items() if name != "dtype"}
    if wanted is not None and not wanted.is_floating_point:
        raise TypeError(
            "nn.Module.to only accepts floating point or complex dtypes, but got "
            f"desired dtype={wanted}"
        )

    def move(tensor: Tensor) -> Tensor:
        turned = {"dtype": wanted} if wanted and tensor.is_floating_point() else {}
        return tensor.to(*others, **kwargs, **turned)

    return move
