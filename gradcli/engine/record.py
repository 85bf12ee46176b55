"""Recording: a row becomes a callable on tensors that runs it and adds its node.

Invariant: the recorded graph is PyTorch's. ``FUNCTIONS_ON_TENSORS[name]`` is what the
language, the methods and the recording namespace all call, so each function exists
once. A node is added if grad mode is on and an input that can carry a gradient has an
edge.

    y = apply(OPS["tanh"], (x,), {})
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import FUNCTIONS, OPS, Composite, Op
from .call import bind, bind_composite
from .errors import DeviceError, explain_failure
from .modes import MODE
from .namespace import Namespace
from .node import Node, Port, differentiable_slots, node_class
from .tensor import Tensor, constant

_new = object.__new__
_NO_PARAMS: dict[str, Any] = {}


class Recorder:
    """One row, ready to run on tensors; its node class is made on first use."""

    __slots__ = ("cls", "op", "slots")

    def __init__(self, op: Op) -> None:
        self.op = op
        differentiable = op.node is not None
        self.cls: type[Node] | None = node_class(op) if differentiable else None
        self.slots = differentiable_slots(op) if differentiable else ()

    def __call__(self, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        op = self.op
        xp, raw = _raw(op, inputs)
        try:
            y = op.fwd(xp, *raw, **params)
        except Exception as error:
            shapes = [r.shape for r in raw if hasattr(r, "shape")]
            failure = explain_failure(op, shapes, error)
            if failure is error:
                raise
            raise failure from error
        edges: tuple[Any, ...] = ()
        if self.cls is not None and MODE.enabled:
            chosen = inputs if op.variadic else [inputs[i] for i in self.slots]
            edges = tuple([t.edge if isinstance(t, Tensor) else None for t in chosen])
        node: Any = None
        if edges and any(e is not None for e in edges):
            node = _new(self.cls)
            node.edges = edges
            node.xp = xp
            node.span = None
            node.keep(raw, y, params)
        if op.returns == 1 and not isinstance(y, tuple):
            return _tensor(y, xp, node)
        return tuple(
            _tensor(part, xp, None)
            if node is None or i >= _carried(op, y)
            else _tensor(part, xp, Port(node, i))
            for i, part in enumerate(y)
        )


def _carried(op: Op, y: Any) -> int:
    """How many outputs carry a gradient; a row of open length carries all."""
    return op.carries if op.returns > 1 else len(y)


def _raw(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    xp = None
    raw = []
    for value in inputs:
        if isinstance(value, Tensor):
            raw.append(value.raw)
            if xp is None:
                xp = value.xp
            elif value.xp is not xp:
                raise DeviceError(
                    "Expected all tensors to be on the same device, but found at "
                    f"least two devices, {xp.device} and {value.xp.device}!"
                )
        else:
            raw.append(value)
    if xp is None:
        first = constant(inputs[0])
        return first.xp, (first.raw, *raw[1:])
    return xp, tuple(raw)


def _tensor(raw: Any, xp: Any, edge: Any) -> Tensor:
    out: Tensor = _new(Tensor)
    out.raw = raw
    out.xp = xp
    out.edge = edge
    return out


def unary(op: Op) -> Callable[[Tensor], Tensor]:
    """The fast recorder of a row with one input and no parameters."""
    fwd, cls = op.fwd, node_class(op)

    def call(t: Tensor) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        y = fwd(xp, x)
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        if edge is None or not MODE.enabled:
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge,)
        node.xp = xp
        node.saved = x
        node.y = y
        node.shapes = node.span = None
        out.edge = node
        return out

    return call


def binary(op: Op) -> Callable[[Tensor, Any], Tensor]:
    """The fast recorder of an operator: a tensor and a tensor or a number."""
    fwd, cls = op.fwd, node_class(op)
    slow = recorder(op)
    keeps = any(callable(p) for p in op.partials or ())

    def call(t: Tensor, other: Any) -> Tensor:
        a, xp, edge_a = t.raw, t.xp, t.edge
        shapes = None
        if isinstance(other, Tensor):
            b, edge_b = other.raw, other.edge
            if other.xp is not xp:
                return slow((t, other), _NO_PARAMS)  # type: ignore[no-any-return]
            if a.shape != b.shape:
                shapes = (a.shape, b.shape)
        else:
            b, edge_b = other, None
        try:
            y = fwd(xp, a, b)
        except Exception:
            return slow((t, other), _NO_PARAMS)  # type: ignore[no-any-return]
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        if (edge_a is None and edge_b is None) or not MODE.enabled:
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge_a, edge_b)
        node.xp = xp
        node.shapes = shapes
        node.span = None
        if keeps:
            node.saved = (a, b)
            node.y = y
        else:
            node.saved = node.y = None
        out.edge = node
        return out

    return call


RECORDERS: dict[str, Recorder] = {}
FUNCTIONS_ON_TENSORS: dict[str, Callable[..., Any]] = {}


def apply(op: Op, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Run a row on tensors and numbers, recording its node."""
    return recorder(op)(inputs, params)


def recorder(op: Op) -> Recorder:
    found = RECORDERS.get(op.name)
    if found is None:
        found = RECORDERS[op.name] = Recorder(op)
    return found


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Run a row (by its full name) or a public function on tensors."""
    op = OPS.get(name)
    if op is not None:
        return apply(op, *bind(op, args, kwargs))
    return function(name)(*args, **kwargs)


def function(name: str) -> Callable[..., Any]:
    """The public function ``name`` on tensors. Raises KeyError if there is none."""
    found = FUNCTIONS_ON_TENSORS.get(name)
    if found is None:
        entry = FUNCTIONS[name]
        found = _composite(entry) if isinstance(entry, Composite) else _row(entry)
        found.__name__ = found.__qualname__ = name
        found.__doc__ = entry.doc or entry.formula
        FUNCTIONS_ON_TENSORS[name] = found
    return found


def _row(op: Op) -> Callable[..., Any]:
    record = recorder(op)

    def run(*args: Any, **kwargs: Any) -> Any:
        return record(*bind(op, args, kwargs))

    return run


def _composite(entry: Composite) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = bind_composite(entry, args, kwargs)
        return entry.build(call, *args, **kwargs)

    return run


class RecordingNamespace(Namespace):
    """The vocabulary on recording tensors: rules run with it are differentiable."""

    device = "recording"

    def __getattr__(self, name: str) -> Any:
        try:
            found = function(name)
        except KeyError:
            raise AttributeError(f"no function {name!r} in the table") from None
        setattr(self, name, found)
        return found


RECORDING = RecordingNamespace()
