"""The package ``functorch``, in which PyTorch's transforms of functions began.

Invariant: the transforms are those of `gradcli.func`; what is defined here is how a
module became a function before ``functional_call``.

    f, params, buffers = make_functional_with_buffers(nn.Linear(2, 1))
    f(params, buffers, x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from .engine.tensor import Tensor
from .func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

if TYPE_CHECKING:
    from .nn import Module

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "make_functional",
    "make_functional_with_buffers",
    "stack_module_state",
    "vjp",
    "vmap",
]

Tensors = tuple[Tensor, ...]


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], Tensors]:
    """A module without buffers as a function ``f(params, *args)``, and its parameters.

    Raises:
        RuntimeError: the module has buffers.
    """
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    run, params, _ = make_functional_with_buffers(model, disable_autograd_tracking)
    return lambda params, *args, **kwargs: run(params, (), *args, **kwargs), params


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[Callable[..., Any], Tensors, Tensors]:
    """A module as a function ``f(params, buffers, *args)``, its parameters and its
    buffers.

    Args:
        disable_autograd_tracking: the parameters returned require no gradient.
    """
    bare = deepcopy(model)
    names = [name for name, _ in model.named_parameters()]
    states = [name for name, _ in model.named_buffers()]

    def run(
        params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        named = dict(zip(names, params, strict=True))
        named.update(zip(states, buffers, strict=True))
        return functional_call(bare, named, args, kwargs)

    params: Tensors = tuple(model.parameters())
    if disable_autograd_tracking:
        params = tuple(each.detach() for each in params)
    return run, params, tuple(model.buffers())
