"""Hooks around a module's part of the backward pass.

Invariant: what enters and what leaves the module passes through identities of the
graph; the one behind the outputs sees the gradients come, the one before the inputs
hands the module's hooks both sides and passes on what they return.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..autograd.function import Function
from ..engine.creation import zeros_like
from ..engine.modes import is_grad_enabled
from ..engine.tensor import Tensor

Grads = tuple[Tensor | None, ...]
Hook = Callable[..., object]


class BackwardHookFunction(Function):
    """The identity on several tensors, whose reverse calls a function."""

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

    def __init__(self, module: object, before: list[Hook], after: list[Hook]) -> None:
        self._module = module
        self._before = before
        self._after = after
        self._outgoing: Grads | None = None
        self._sees_inputs = False
        self._arguments = 0

    def arriving(self, args: tuple[object, ...]) -> tuple[object, ...]:
        """Pass the arguments through the identity that sees their gradients."""
        self._arguments = len(args)
        watched = _through(args, self._at_inputs, fill=True)
        self._sees_inputs = watched is not None
        return args if watched is None else watched

    def leaving(self, out: object) -> object:
        """Pass the result through the identity that sees its gradients."""
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
        if not isinstance(out, tuple):
            return watched[0]
        kind: Any = type(out)
        return kind(*watched) if hasattr(out, "_fields") else kind(watched)

    def _at_outputs(self, grads: Grads) -> Grads:
        self._outgoing = grads = self._replaced(self._before, grads)
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
        grads = self._replaced(self._after, grads, self._outgoing)
        self._outgoing = None
        return grads

    def _replaced(self, hooks: list[Hook], grads: Grads, *further: Grads) -> Grads:
        """Return what hooks make of gradients, one after the other."""
        for hook in hooks:
            new = hook(self._module, grads, *further)
            if new is not None:
                new = new if isinstance(new, tuple) else (new,)
                if len(new) != len(grads):
                    raise RuntimeError(
                        "Backward hook returned an invalid number of grad_input, got "
                        f"{len(new)}, but expected {len(grads)}"
                    )
                grads = new
        return grads


PARTIAL = (
    "Using a non-full backward hook on a module of several nodes is deprecated. This "
    "hook will be missing some grad_input or grad_output. Please use "
    "register_full_backward_hook to get the documented behavior."
)


def watch_last_node(module: Any, args: Any, out: Any, hooks: list[Hook]) -> None:
    """Let older hooks see the gradients of the node that made the first result."""
    first = out
    while not isinstance(first, Tensor):
        first = next(iter(first.values() if isinstance(first, dict) else first))
    node = first.grad_fn
    if node is None:
        return
    entered = {a.grad_fn for a in args if isinstance(a, Tensor)} - {None}
    if first is not out or entered != {edge[0] for edge in node.next_functions}:
        warnings.warn(PARTIAL, FutureWarning, stacklevel=3)
    for hook in hooks:
        node.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))


def _through(
    values: tuple[Any, ...], meet: Callable[[Grads], Grads], fill: bool = False
) -> tuple[object, ...] | None:
    """Pass the tensors among values through the identity; None: no gradient flows.

    ``meet`` sees one gradient per value, None for all that are no tensors; ``fill``:
    zeros for a tensor to which none flows.
    """
    at = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not is_grad_enabled() or not any(values[i].requires_grad for i in at):
        return None

    def of_tensors(grads: Grads) -> Grads:
        full: list[Tensor | None] = [None] * len(values)
        for i, grad in zip(at, grads, strict=True):
            missing = fill and grad is None
            full[i] = zeros_like(values[i].detach()) if missing else grad
        new = meet(tuple(full))
        return tuple(new[i] for i in at)

    passed = BackwardHookFunction.apply(of_tensors, *[values[i] for i in at])
    changed = list(values)
    for i, tensor in zip(at, passed, strict=True):
        changed[i] = tensor
    return tuple(changed)
