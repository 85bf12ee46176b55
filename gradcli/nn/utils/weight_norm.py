"""A weight as a direction and a length, kept apart: hooks of a module.

Invariant: before each forward pass the attribute is made anew from the two parameters
``NAME_g`` and ``NAME_v`` (Salimans and Kingma 2016). `parametrizations.weight_norm`
does the same without hooks.
"""

from __future__ import annotations

import warnings

from ...engine.record import call
from ...engine.tensor import Tensor
from ..module import Module
from ..parameter import Parameter
from .weight_hooks import M, WeightHook

DEPRECATED = (
    "`torch.nn.utils.weight_norm` is deprecated in favor of "
    "`torch.nn.utils.parametrizations.weight_norm`."
)


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The norm of each slice along ``dim``, to broadcast with ``v``; -1: of all."""
    if dim == -1:
        length: Tensor = call("linalg.vector_norm", v)
        return length
    others = [d for d in range(v.ndim) if d != dim % v.ndim]
    if not others:
        return call("abs", v)  # type: ignore[no-any-return]
    norm: Tensor = call("linalg.vector_norm", v, 2, others, True)
    return norm


def normed(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """Slices of ``v`` scaled to the lengths ``g``."""
    if dim in (0, v.ndim - 1):
        made: Tensor = call("weight_norm_interface.default", v, g, dim)
    else:
        made = v * (g / norm_except_dim(v, dim))
    return made


class WeightNorm(WeightHook):
    """The hook that makes the weight."""

    kind = "weight_norm"
    parts = ("g", "v")

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight of the lengths and directions that the module has now."""
        g, v = self.held(module)
        return normed(v, g, self.dim)

    make = compute_weight


def weight_norm(module: M, name: str = "weight", dim: int = 0) -> M:
    """Keep a weight as directions ``NAME_v`` and their lengths ``NAME_g``.

    Args:
        dim: slices along it have lengths of their own; None: the tensor has one.

    Raises:
        RuntimeError: the weight has such a hook already.
    """
    warnings.warn(DEPRECATED, FutureWarning, stacklevel=2)
    WeightNorm.refuse_second(module, name)
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    v = weight.detach()
    for part, value in zip(hook.parts, (norm_except_dim(v, hook.dim), v), strict=True):
        module.register_parameter(f"{name}_{part}", Parameter(value))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make the weight a plain parameter again.

    Raises:
        ValueError: it has no such hook.
    """
    WeightNorm.removed_from(module, name)
    return module
