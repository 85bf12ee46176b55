"""Hooks: functions that the reverse pass calls at tensors, nodes and leaves.

Invariant: a node without hooks has no ``extras``; `HOOKS.used` says whether any node
has, so that a pass over a graph without hooks costs nothing more. Hooks are given
cotangents as tensors. What a hook returns, unless it is None, replaces what it got.

The order is PyTorch's: first the hooks of the tensor, then `retain_grad`, then the
node's own hooks before it runs, then those after it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from ..ops.types import Array, Dtype
from . import dtypes
from .convert import in_type
from .errors import EngineError
from .namespace import NumberSystem
from .node import AccumulateGrad, Edge, Inspectable, Node, output_at
from .raw import Params, Pulled
from .tensor import Tensor, lifted, raw_of

Hook = Callable[..., Any]

_keys = count()

NO_GRADIENT = "cannot register a hook on a tensor that doesn't require gradient"


class _Hooks:
    """The note whether any hook was ever registered, as ``used``."""

    used = False


HOOKS = _Hooks()


class RemovableHandle:
    """The handle of a registered hook; a ``with`` block removes it at its end."""

    __slots__ = ("_key", "_shelf")

    def __init__(self, shelf: dict[int, Hook], hook: Hook) -> None:
        self._shelf = shelf
        self._key = next(_keys)
        shelf[self._key] = hook

    @property
    def id(self) -> int:
        return self._key

    def remove(self) -> None:
        """Remove the hook, so that it is called no more."""
        self._shelf.pop(self._key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *problem: object) -> None:
        self.remove()


class NodeAttachments:
    """The hooks and other attachments of one node.

    ``tensor`` and ``retained`` hold the hooks on the node's outputs, by the output's
    number; ``types`` holds the dtype in which each output's cotangent is shown.
    """

    __slots__ = (
        "accumulated", "after", "before", "metadata", "retained", "tensor", "types",
    )  # fmt: skip

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Hook]] = {}
        self.retained: dict[int, Hook] = {}
        self.types: dict[int, Dtype] = {}
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}
        self.accumulated: dict[int, Hook] = {}
        self.metadata: Params = {}


def extras_of(node: Inspectable) -> NodeAttachments:
    """Return the attachments of a node, which are made on the first call."""
    found: NodeAttachments | None = getattr(node, "extras", None)
    if found is None:
        found = NodeAttachments()
        node.extras = found
    return found


def is_hooked(node: Inspectable) -> bool:
    """Return whether a node has any hook."""
    e: NodeAttachments | None = getattr(node, "extras", None)
    return e is not None and any(
        (*e.tensor.values(), e.retained, e.before, e.after, e.accumulated)
    )


metadata = property(lambda node: extras_of(node).metadata)
"""Dictionary of a node for values that users attach to it, by name."""


def register_tensor_hook(t: Tensor, hook: Hook) -> RemovableHandle:
    """Register ``hook(grad)`` to be called with each gradient that reaches a tensor.

    Args:
        t: a tensor that requires a gradient.
        hook: a function of the gradient; what it returns, unless it is None, replaces
            the gradient.

    Returns:
        A handle, whose ``remove()`` ends the calls.

    Raises:
        EngineError: the tensor requires no gradient.
    """
    if t.edge is None:
        raise EngineError(NO_GRADIENT)
    node, nr = output_at(t.edge)
    HOOKS.used = True
    extras = extras_of(node)
    extras.types[nr] = t.raw.dtype
    return RemovableHandle(extras.tensor.setdefault(nr, {}), hook)


def release_gradient(edge: Edge) -> None:
    """Undo `keep_gradient` for an edge that its tensor no longer has."""
    node, nr = output_at(edge)
    extras_of(node).retained.pop(nr, None)


def register_post_accumulate(t: Tensor, hook: Hook) -> RemovableHandle:
    """Register ``hook`` to be called with a leaf whenever its gradient was added to."""
    if t.edge is None:
        raise EngineError(NO_GRADIENT)
    if not isinstance(t.edge, AccumulateGrad):
        raise EngineError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors"
        )
    HOOKS.used = True
    return RemovableHandle(extras_of(t.edge).accumulated, hook)


def register_after(node: Inspectable, hook: Hook) -> RemovableHandle:
    """Register ``hook(grad_inputs, grad_outputs)``, called after the node is pulled."""
    HOOKS.used = True
    return RemovableHandle(extras_of(node).after, hook)


def register_before(node: Inspectable, hook: Hook) -> RemovableHandle:
    """Register ``hook(grad_outputs)``, called before the node is pulled."""
    HOOKS.used = True
    return RemovableHandle(extras_of(node).before, hook)


def retain_grad(t: Tensor) -> None:
    """Keep the gradient of a tensor that is no leaf in its ``grad``, too."""
    if t.edge is None:
        raise EngineError("can't retain_grad on Tensor that has requires_grad=False")
    if t.is_leaf or t.retains_grad:
        return
    t.__dict__["_retains_grad"] = True
    keep_gradient(t)


def keep_gradient(t: Tensor) -> None:
    """Let every pass store the gradient that arrives at a tensor in its ``grad``."""
    from weakref import ref

    held = ref(t)

    def keep(g: Tensor) -> None:
        tensor = held()
        if tensor is not None:
            before = tensor.__dict__.get("_grad")
            tensor.__dict__["_grad"] = g.clone() if before is None else before + g

    HOOKS.used = True
    node, nr = output_at(t.edge)
    extras = extras_of(node)
    extras.types[nr] = t.raw.dtype
    extras.retained[nr] = keep


def arrive(node: Node | AccumulateGrad, nr: int, g: Array, xp: NumberSystem) -> Array:
    """Return an output's cotangent as the hooks of its tensor leave it."""
    extras: NodeAttachments | None = getattr(node, "extras", None)
    if extras is None or g is None:
        return g
    if nr in extras.types:
        g = in_type(g, extras.types[nr])
    for hook in list(extras.tensor.get(nr, {}).values()):
        returned = hook(lifted(g, xp))
        if returned is not None:
            g = _replaced(hook, returned, g)
    keep = extras.retained.get(nr)
    if keep is not None:
        keep(lifted(g, xp))
    return g


def before(node: Node | AccumulateGrad, g: Any) -> Any:
    """Return a node's arriving cotangents as its hooks before the run leave them."""
    extras: NodeAttachments | None = getattr(node, "extras", None)
    if extras is None or not extras.before:
        return g
    several = isinstance(g, tuple)
    for hook in list(extras.before.values()):
        given = g if several else (g,)
        returned = hook(tuple([lifted(part, node.xp) for part in given]))
        if returned is not None:
            parts = _parts(hook, returned, given)
            g = parts if several else parts[0]
    return g


def after(
    node: Node | AccumulateGrad, pulled: Pulled, g: Array
) -> tuple[Array | None, ...]:
    """Return the cotangents that a node gave as its hooks after the run leave them."""
    extras: NodeAttachments | None = getattr(node, "extras", None)
    if extras is None or not extras.after:
        return pulled
    xp = node.xp
    outputs = tuple([lifted(p, xp) for p in (g if isinstance(g, tuple) else (g,))])
    for hook in list(extras.after.values()):
        returned = hook(tuple([lifted(p, xp) for p in pulled]), outputs)
        if returned is not None:
            pulled = _parts(hook, returned, pulled)
    return pulled


def accumulated(end: AccumulateGrad) -> None:
    """Call the hooks of a leaf to whose gradient a pass has added."""
    extras: NodeAttachments | None = getattr(end, "extras", None)
    if extras is not None:
        for hook in list(extras.accumulated.values()):
            returned = hook(end.variable)
            _demand_tensor(returned)
            if returned is not None:
                raise EngineError(
                    "Tensor post accumulate grad hooks should return None."
                )


def _demand_tensor(returned: object) -> None:
    if returned is not None and not isinstance(returned, Tensor):
        raise TypeError(
            f"expected Variable, but hook returned '{type(returned).__name__}'"
        )


def _replaced(hook: Hook, returned: Any, g: Array | None) -> Any:
    """Return what a hook returned for ``g``, as a tensor or an array as ``g`` is."""
    _demand_tensor(returned)
    if returned is None:
        return None
    if g is None:
        raise EngineError("can't replace a None gradient with a non-None value")
    if tuple(returned.raw.shape) != tuple(g.shape):
        raise EngineError(f"hook '{_name(hook)}' has changed the size of value")
    was = raw_of(g)
    if returned.raw.dtype != was.dtype:
        before, after = (dtypes.of(raw).legacy for raw in (was, returned.raw))
        raise EngineError(
            f"hook '{_name(hook)}' has changed the type of value (was "
            f"torch.{before}Tensor got torch.{after}Tensor)"
        )
    return returned if isinstance(g, Tensor) else returned.raw


def _parts(
    hook: Hook, returned: object, given: tuple[Array | None, ...]
) -> tuple[Any, ...]:
    """Return what a node's hook returned, checked for each cotangent."""
    if not isinstance(returned, tuple):
        raise TypeError(
            f"expected tuple, but hook returned '{type(returned).__name__}'"
        )
    if len(returned) != len(given):
        raise EngineError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got "
            f"{len(returned)}, but expected {len(given)})"
        )
    pairs = zip(returned, given, strict=True)
    return tuple(_replaced(hook, new, g) for new, g in pairs)


def _name(hook: Hook) -> str:
    return str(getattr(hook, "__name__", type(hook).__name__))
