"""Hooks around a module's part of the backward pass.

Invariant: what enters and what leaves the module passes through identities of the
graph; the one behind the outputs sees the gradients come, the one before the inputs
hands the module's hooks both sides and passes on what they return.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..autograd.function import Function
from ..engine.modes import is_grad_enabled
from ..engine.tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

Grads = tuple[Tensor | None, ...]
Hook = Callable[..., Any]


class BackwardHookFunction(Function):
    """The identity on several tensors, with a function on the way back."""

    @staticmethod
    def forward(ctx: Any, meet: Callable[[Grads], Grads], *tensors: Tensor) -> Any:
        ctx.meet = meet
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.meet(grads))


class BackwardWatch:
    """The hooks of one call of a module."""

    def __init__(self, module: Module, before: list[Hook], after: list[Hook]) -> None:
        self._module = module
        self._before = before
        self._after = after
        self._outgoing: Grads | None = None
        self._sees_inputs = False
        self._arguments = 0

    def arriving(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, watched."""
        self._arguments = len(args)
        watched = _through(args, self._at_inputs)
        self._sees_inputs = watched is not None
        return args if watched is None else watched

    def leaving(self, out: Any) -> Any:
        """The result, watched."""
        if not isinstance(out, Tensor | tuple):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or "
                f"a tuple of Tensors but received {type(out)}",
                stacklevel=5,
            )
            return out
        parts = out if isinstance(out, tuple) else (out,)
        watched = _through(parts, self._at_outputs)
        if watched is None:
            return out
        return watched if isinstance(out, tuple) else watched[0]

    def _at_outputs(self, grads: Grads) -> Grads:
        for hook in self._before:
            new = hook(self._module, grads)
            grads = grads if new is None else _same_count(new, grads)
        self._outgoing = grads
        if not self._sees_inputs:
            nothing = (None,) * self._arguments
            for hook in self._after:
                if hook(self._module, nothing, grads) is not None:
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient "
                        "should always return None or None for all gradients."
                    )
        return grads

    def _at_inputs(self, grads: Grads) -> Grads:
        if self._outgoing is None:
            return grads
        for hook in self._after:
            new = hook(self._module, grads, self._outgoing)
            grads = grads if new is None else _same_count(new, grads)
        self._outgoing = None
        return grads


def _through(
    values: tuple[Any, ...], meet: Callable[[Grads], Grads]
) -> tuple[Any, ...] | None:
    """Values with their tensors passed through the identity; None: no gradient flows.

    ``meet`` sees one gradient per value, None for all that are no tensors.
    """
    at = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in at):
        return None

    def of_tensors(grads: Grads) -> Grads:
        full: list[Tensor | None] = [None] * len(values)
        for i, grad in zip(at, grads, strict=True):
            full[i] = grad
        new = meet(tuple(full))
        return tuple(new[i] for i in at)

    passed = BackwardHookFunction.apply(of_tensors, *[values[i] for i in at])
    changed = list(values)
    for i, tensor in zip(at, passed, strict=True):
        changed[i] = tensor
    return tuple(changed)


def _same_count(new: Any, old: Grads) -> Grads:
    grads = new if isinstance(new, tuple) else (new,)
    if len(grads) != len(old):
        raise RuntimeError(
            f"Backward hook returned an invalid number of grad_input, got {len(grads)},"
            f" but expected {len(old)}"
        )
    return grads
