"""Functions that modules call around their forward and their backward pass.

Invariant: a module without hooks has no `ModuleHooks` at all, so that calling it costs
one test. Hooks run in the order they were registered; what one returns, unless it is
None, takes the place of what it was given. For the backward pass, what enters and what
leaves the module passes through identities of the graph: the one behind the outputs
sees the gradients come, the one before the inputs hands the module's hooks both sides.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..autograd.function import Function
from ..engine.modes import is_grad_enabled
from ..engine.raw import Params
from ..engine.tensor import Tensor
from ..torch.creation import zeros_like
from ..torch.node_hooks import RemovableHandle

Grads = tuple[Tensor | None, ...]
Hook = Callable[..., Any]
Shelf = OrderedDict[int, Hook]
"""Hooks of one kind, in the order in which they run."""


def put(shelf: Shelf, hook: Hook, first: bool = False) -> RemovableHandle:
    """Add a hook at the end, or first."""
    handle = RemovableHandle(shelf, hook)
    if first:
        shelf.move_to_end(handle.id, last=False)
    return handle


@dataclass(slots=True, eq=False)
class ModuleHooks:
    """All hooks of one module.

    Those of the forward pass take ``(module, args, kwargs)``, and the output; the older
    ones of the backward pass see only the gradients of the module's last node.
    """

    before_forward: Shelf = field(default_factory=OrderedDict)
    forward: Shelf = field(default_factory=OrderedDict)
    before_backward: Shelf = field(default_factory=OrderedDict)
    backward: Shelf = field(default_factory=OrderedDict)
    at_last_node: Shelf = field(default_factory=OrderedDict)

    def run(self, module: Any, args: tuple[Any, ...], kwargs: Params) -> Any:
        """Run the module's forward pass between its hooks."""
        for hook in [*self.before_forward.values()]:
            new = hook(module, args, kwargs)
            if new is not None:
                args, kwargs = new
        watch = None
        if self.before_backward or self.backward:
            before = [*self.before_backward.values()]
            watch = _PassHooks(module, before, [*self.backward.values()])
            args = watch.arriving(args)
        out = module.forward(*args, **kwargs)
        for hook in [*self.forward.values()]:
            new = hook(module, args, kwargs, out)
            out = out if new is None else new
        if watch is not None:
            out = watch.leaving(out)
        node: Any = _first_tensor(out).grad_fn if self.at_last_node else None
        for hook in [*self.at_last_node.values()] if node is not None else ():
            node.register_hook(lambda gi, go, hook=hook: hook(module, gi, go))
        return out


def _first_tensor(out: Any) -> Tensor:
    """Return a result's first tensor."""
    while not isinstance(out, Tensor):
        out = next(iter(out.values() if isinstance(out, dict) else out))
    return out


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


class _PassHooks:
    """The hooks of the backward pass of one call of a module."""

    def __init__(self, module: object, before: list[Hook], after: list[Hook]) -> None:
        self._module, self._before, self._after = module, before, after
        self._outgoing: Grads | None = None
        self._unseen: int | None = None
        """The number of arguments, if no gradient flows to any of them."""

    def arriving(self, args: tuple[object, ...]) -> tuple[object, ...]:
        """Pass the arguments through the identity that sees their gradients."""
        watched = _through(args, self._at_inputs, fill=True)
        self._unseen = len(args) if watched is None else None
        return args if watched is None else watched

    def leaving(self, out: Any) -> Any:
        """Pass the result through the identity that sees its gradients."""
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
        if self._unseen is not None:
            for hook in self._after:
                hook(self._module, (None,) * self._unseen, grads)
        return grads

    def _at_inputs(self, grads: Grads) -> Grads:
        outgoing, self._outgoing = self._outgoing, None
        return (
            grads if outgoing is None else self._replaced(self._after, grads, outgoing)
        )

    def _replaced(self, hooks: list[Hook], grads: Grads, *further: Grads) -> Grads:
        """Return what hooks make of gradients, one after the other."""
        for hook in hooks:
            new = hook(self._module, grads, *further)
            if new is None:
                continue
            new = new if isinstance(new, tuple) else (new,)
            if len(new) != len(grads):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, got "
                    f"{len(new)}, but expected {len(grads)}"
                )
            grads = new
        return grads


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
