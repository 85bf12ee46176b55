"""Hooks, which reverse passes call at tensors, nodes and leaves; anomaly mode, which
names the line that recorded a node which fails or gives a NaN.

Invariant: a node without hooks has no ``extras``; passes are observed from the first
hook on, so that until then they cost nothing more. Hooks are given
cotangents as tensors. What a hook returns, unless it is None, replaces what it got.

The order is PyTorch's: first the hooks of the tensor, then `retain_grad`, then the
node's own hooks before it runs, then those after it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path
from traceback import StackSummary, walk_stack
from types import SimpleNamespace
from typing import Any
from weakref import WeakKeyDictionary

from ..engine import dtypes
from ..engine.errors import EngineError, GradError
from ..engine.modes import MODE, WATCH, PassObserver
from ..engine.node import AccumulateGrad, Edge, Inspectable, Node, output_at
from ..engine.raw import Params, Pulled
from ..engine.record import in_type
from ..engine.tensor import Tensor, lifted, raw_of
from ..ops.types import Array, Dtype

Hook = Callable[..., Any]

_keys = count()

NO_GRADIENT = "cannot register a hook on a tensor that doesn't require gradient"


def observe_passes() -> None:
    """Let all reverse passes from now on look for hooks and for anomalies."""
    if WATCH.observer is None:
        WATCH.observer = OBSERVER


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
        "after", "before", "metadata", "retained", "tensor", "types",
    )  # fmt: skip

    def __init__(self) -> None:
        self.tensor: dict[int, dict[int, Hook]] = {}
        self.retained: dict[int, Hook] = {}
        self.types: dict[int, Dtype] = {}
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}
        self.metadata: Params = {}


def extras_of(node: Inspectable) -> NodeAttachments:
    """Return the attachments of a node, which are made on the first call."""
    found: NodeAttachments | None = getattr(node, "extras", None)
    if found is None:
        found = NodeAttachments()
        node.extras = found
    return found


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
    observe_passes()
    extras = extras_of(node)
    extras.types[nr] = t.raw.dtype
    return RemovableHandle(extras.tensor.setdefault(nr, {}), hook)


def register_after(node: Inspectable, hook: Hook) -> RemovableHandle:
    """Register ``hook(grad_inputs, grad_outputs)``, called after the node is pulled."""
    observe_passes()
    return RemovableHandle(extras_of(node).after, hook)


def register_before(node: Inspectable, hook: Hook) -> RemovableHandle:
    """Register ``hook(grad_outputs)``, called before the node is pulled."""
    observe_passes()
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

    observe_passes()
    node, nr = output_at(t.edge)
    extras = extras_of(node)
    extras.types[nr] = t.raw.dtype
    extras.retained[nr] = keep


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


# Anomaly mode.

ANOMALY = SimpleNamespace(enabled=False, check_values=True, lines=WeakKeyDictionary())


class set_detect_anomaly:
    """Turn anomaly mode on or off, at once or for a ``with`` block."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = ANOMALY.enabled, ANOMALY.check_values
        _turn(mode, check_nan)

    def __enter__(self) -> None:
        """Keep the mode as it was turned."""

    def __exit__(self, *problem: object) -> None:
        _turn(*self._before)


def detect_anomaly(check_nan: bool = True) -> set_detect_anomaly:
    """Return a ``with`` block of anomaly mode."""
    warnings.warn("Anomaly Detection has been enabled. It is slow.", stacklevel=2)
    return set_detect_anomaly(True, check_nan)


def _turn(mode: bool, check_nan: bool) -> None:
    ANOMALY.enabled, ANOMALY.check_values = mode, check_nan
    observe_passes()
    MODE.observe("on_node", _remember, mode)


def _remember(node: Any) -> None:
    frames = StackSummary.extract(walk_stack(None), limit=50, lookup_lines=False)[::-1]
    ours = str(Path(__file__).parents[1])
    ANOMALY.lines[node] = StackSummary([f for f in frames if ours not in f.filename])


def check(node: Any, pulled: tuple[Any, ...]) -> None:
    """Raise an error that names the node if one of its cotangents holds a NaN."""
    for nr, raw in enumerate(map(raw_of, pulled)):
        if "float" in str(getattr(raw, "dtype", "")) and (raw != raw).any():
            last = [*ANOMALY.lines.get(node, ())][-1:]
            at = "".join(f" It was recorded in {f.filename}:{f.lineno}." for f in last)
            name = f"Function '{node.name()}'"
            raise GradError(f"{name} returned nan values in its {nr}th output.{at}")


def blame(node: Any, error: Exception) -> None:
    """Add to an error, as a note, the lines that recorded the node that failed."""
    lines = "".join(ANOMALY.lines.get(node, StackSummary()).format())
    error.add_note(f"Error detected in {node.name()}, which was recorded at:\n{lines}")


class HookObserver(PassObserver):
    """The observer that calls hooks, and looks for anomalies where that is asked."""

    def sees(self, node: Inspectable) -> bool:
        """Return whether a node has any hook, or anomalies are looked for."""
        e: NodeAttachments | None = getattr(node, "extras", None)
        return ANOMALY.enabled or (
            e is not None and any((*e.tensor.values(), e.retained, e.before, e.after))
        )

    def arrive(self, node: Node | AccumulateGrad, nr: int, g: Array) -> Array:
        """Return an output's cotangent as the hooks of its tensor leave it."""
        extras: NodeAttachments | None = getattr(node, "extras", None)
        if extras is None:
            return g
        if nr in extras.types:
            g = in_type(g, extras.types[nr])
        for hook in list(extras.tensor.get(nr, {}).values()):
            returned = hook(lifted(g, node.xp))
            if returned is not None:
                g = _replaced(hook, returned, g)
        keep = extras.retained.get(nr)
        if keep is not None:
            keep(lifted(g, node.xp))
        return g

    def before(self, node: Node | AccumulateGrad, g: Any) -> Any:
        """Return arriving cotangents as the node's hooks before the run leave them."""
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

    def after(self, node: Node | AccumulateGrad, pulled: Pulled, g: Array) -> Pulled:
        """Return the cotangents that a node gave as its hooks after it leave them."""
        if ANOMALY.enabled and ANOMALY.check_values:
            check(node, pulled)
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

    def finished(self, leaf: AccumulateGrad, g: Array) -> None:
        """Call the hooks of a leaf to whose gradient a pass has added."""
        self.after(leaf, (), g)

    def failed(self, node: Inspectable, error: Exception) -> None:
        """Name the lines that recorded the node, if anomalies are looked for."""
        if ANOMALY.enabled:
            blame(node, error)

    def moved(self, t: Tensor, before: Edge) -> None:
        """Let a tensor that keeps its gradient keep that of its new edge."""
        if t.retains_grad:
            node, nr = output_at(before)
            extras_of(node).retained.pop(nr, None)
            if t.edge is not None:
                keep_gradient(t)


OBSERVER = HookObserver()
