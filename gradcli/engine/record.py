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

from ..ops import FUNCTIONS, OPS, Composite, Op, parameters
from .call import bind, bind_composite
from .errors import DeviceError, explain_failure
from .inference import (
    inference_was_used,
    normal,
    refuse_inference_tensors,
    settled,
)
from .limits import LIMIT, check_broadcast
from .modes import MODE
from .namespace import Namespace
from .node import (
    BinaryNode,
    ConstantNode,
    Node,
    Port,
    UnaryNode,
    carried,
    differentiable_slots,
    node_class,
)
from .promote import harmonised
from .promote import settled as settled_type
from .returns import CLASSES
from .tensor import Tensor, constant
from .versions import CLOCK
from .views import note_views

_new = object.__new__
_NO_PARAMS: dict[str, Any] = {}

WHOLE = "biu"
"""The kinds of arrays whose results the general path gives their type."""


class Recorder:
    """One row, ready to run on tensors; its node class is made on first use."""

    __slots__ = ("cls", "may_view", "op", "slots")

    def __init__(self, op: Op) -> None:
        self.op = op
        differentiable = op.node is not None
        self.cls: Any = node_class(op) if differentiable else None
        self.slots = differentiable_slots(op) if differentiable else ()
        self.may_view = differentiable and not op.elementwise and not op.variadic

    def __call__(self, inputs: tuple[Any, ...], params: dict[str, Any]) -> Any:
        op = self.op
        xp, raw = _raw(op, inputs)
        if MODE.inference or xp.inference:
            xp = settled(xp)
        whole = False
        try:
            if not xp.symbolic:
                raw, whole = harmonised(op, raw, params)
            if op.elementwise:
                check_broadcast(raw)
            y = op.fwd(xp, *raw, **params)
        except Exception as error:
            failure = explain_failure(op, raw, error)
            if failure is error:
                raise
            raise failure from error
        if whole:
            y = settled_type(op, raw, y)
        edges: tuple[Any, ...] = ()
        if self.cls is not None and MODE.recording:
            chosen = inputs if op.variadic else [inputs[i] for i in self.slots]
            edges = tuple([t.edge if isinstance(t, Tensor) else None for t in chosen])
        node: Any = None
        if edges and any(e is not None for e in edges):
            node = _new(self.cls)
            node.edges = edges
            node.xp = xp
            node.span = None
            node.born = CLOCK.now
            node.keep(raw, y, params)
            if inference_was_used():
                refuse_inference_tensors(node, inputs)
        out: Any
        if op.returns == 1 and not isinstance(y, tuple):
            out = _tensor(y, xp, node)
        else:
            count = 0 if node is None else carried(op, y)
            parts = [
                _tensor(part, xp, Port(node, i) if i < count else None)
                for i, part in enumerate(y)
            ]
            out = CLASSES.get(op.base, tuple)(parts)
        if self.may_view:
            note_views(inputs[0], out)
        if MODE.looked_at:
            _look(op, inputs, params, raw, node, out)
        return out


def _look(
    op: Op, inputs: Any, params: dict[str, Any], raw: Any, node: Any, out: Any
) -> None:
    """Show a call and its node to those who look; they may look at each other's."""
    if node is not None:
        for look in MODE.on_node:
            look(node)
    for look in MODE.on_call:
        look(op, inputs, params, raw, out)


def _raw(op: Op, inputs: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    xp: Any = None
    first: Tensor
    raw = []
    mixed = False
    for value in inputs:
        if isinstance(value, Tensor):
            raw.append(value.raw)
            if xp is None:
                xp, first = value.xp, value
            elif value.xp is not xp:
                first = _leading(first, value)
                xp = first.xp
                mixed = True
        else:
            raw.append(value)
    if mixed and not xp.symbolic:
        raw = [_number(v, r, xp) for v, r in zip(inputs, raw, strict=True)]
    if xp is None:
        first = constant(inputs[0])
        return first.xp, (first.raw, *raw[1:])
    return xp, tuple(raw)


def _number(value: Any, raw: Any, xp: Any) -> Any:
    """A lone number on the host as Python's, where it meets another device's arrays."""
    away = isinstance(value, Tensor) and value.xp.device != xp.device
    return raw.item() if away else raw


def _leading(a: Tensor, b: Tensor) -> Tensor:
    """Of operands of two number systems the one whose system takes both.

    A symbolic system lifts constant arrays; of arrays only a lone number on the host
    meets those of another device.
    """
    if normal(a.xp) is normal(b.xp):
        return b if a.xp.inference else a
    for one, other in ((a, b), (b, a)):
        lone = other.xp.device == "cpu" and not other.raw.shape
        lifted = one.xp.symbolic and not other.xp.symbolic
        if (lifted or lone) and other.edge is None:
            return one
    raise DeviceError(
        "Expected all tensors to be on the same device, but found at "
        f"least two devices, {a.xp.device} and {b.xp.device}!"
    )


def _tensor(raw: Any, xp: Any, edge: Any) -> Tensor:
    out: Tensor = _new(Tensor)
    out.raw = raw
    out.xp = xp
    out.edge = edge
    return out


def unary(op: Op) -> Callable[[Tensor], Tensor]:
    """The fast recorder of a row with one input and no parameters."""
    slow = recorder(op)
    fwd, cls = op.fwd, slow.cls
    keeps = not issubclass(cls, ConstantNode)

    def call(t: Tensor) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        try:
            y = fwd(xp, x)
        except Exception:
            return slow((t,), _NO_PARAMS)  # type: ignore[no-any-return]
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        if edge is None or not MODE.fast:
            if MODE.looked_at or xp.inference or x.dtype.kind in WHOLE:
                return slow((t,), _NO_PARAMS)  # type: ignore[no-any-return]
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge,)
        node.xp = xp
        node.shapes = node.span = None
        node.born = CLOCK.now
        if keeps:
            node.saved = x
            node.y = y
        else:
            node.saved = node.y = None
        out.edge = node
        return out

    return call


def with_number(op: Op) -> Callable[[Tensor, float], Tensor]:
    """The fast recorder of an elementwise row of one tensor and one number."""
    (parameter,) = parameters(op)[1:]
    slow = recorder(op)
    fwd, cls = op.fwd, slow.cls

    def call(t: Tensor, number: float) -> Tensor:
        x, xp, edge = t.raw, t.xp, t.edge
        try:
            y = fwd(xp, x, number)
        except Exception:
            return slow((t,), {parameter: number})  # type: ignore[no-any-return]
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        if edge is None or not MODE.fast:
            if MODE.looked_at or xp.inference or x.dtype.kind in WHOLE:
                return slow((t,), {parameter: number})  # type: ignore[no-any-return]
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge,)
        node.xp = xp
        node.params = {parameter: number}
        node.saved = (x,)
        node.y = y
        node.shapes = node.span = None
        node.born = CLOCK.now
        out.edge = node
        return out

    return call


def plain(number: Any) -> Any:
    """A number of NumPy's as one of Python's, which leaves a tensor its type."""
    return number.item() if hasattr(number, "item") else number


def binary(op: Op) -> Callable[[Tensor, Any], Tensor]:
    """The fast recorder of an operator: a tensor and a tensor or a number."""
    slow = recorder(op)
    fwd, cls = op.fwd, slow.cls
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
                if a.size * b.size > LIMIT.entries or a.dtype is not b.dtype:
                    return slow((t, other), _NO_PARAMS)  # type: ignore[no-any-return]
            elif (edge_a is None or edge_b is None) and a.dtype is not b.dtype:
                return slow((t, other), _NO_PARAMS)  # type: ignore[no-any-return]
        elif type(other) is float or type(other) is int:
            b, edge_b = other, None
        elif isinstance(other, int | float) or not getattr(other, "shape", True):
            b, edge_b = plain(other), None
        else:
            return call(t, constant(other))
        try:
            y = fwd(xp, a, b)
        except Exception:
            return slow((t, other), _NO_PARAMS)  # type: ignore[no-any-return]
        out: Tensor = _new(Tensor)
        out.raw = y
        out.xp = xp
        if (edge_a is None and edge_b is None) or not MODE.fast:
            if MODE.looked_at or xp.inference or a.dtype.kind in WHOLE:
                return slow((t, other), _NO_PARAMS)  # type: ignore[no-any-return]
            out.edge = None
            return out
        node: Node = _new(cls)
        node.edges = (edge_a, edge_b)
        node.xp = xp
        node.shapes = shapes
        node.span = None
        node.born = CLOCK.now
        if keeps:
            node.saved = (a, b)
            node.y = y
        else:
            node.saved = node.y = None
        out.edge = node
        return out

    return call


PLAIN = (UnaryNode, BinaryNode, ConstantNode)
"""The nodes that the fast recorders of one and of two operands can make."""

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
    count = len(parameters(op))
    plain = record.cls is not None and issubclass(record.cls, PLAIN)
    fast: Any = (unary, binary)[count - 1](op) if plain and count <= 2 else None

    def run(*args: Any, **kwargs: Any) -> Any:
        return record(*bind(op, args, kwargs))

    def run_plain(*args: Any, **kwargs: Any) -> Any:
        fits = len(args) == count and not kwargs and isinstance(args[0], Tensor)
        if fits and (count == 1 or isinstance(args[1], Tensor | int | float)):
            return fast(*args)
        return run(*args, **kwargs)

    return run if fast is None else run_plain


def _composite(entry: Composite) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = bind_composite(entry, args, kwargs)
        return entry.build(call, *args, **kwargs)

    return run


class RecordingNamespace(Namespace):
    """The vocabulary on recording tensors: rules run with it are differentiable."""

    device = "recording"
    call = staticmethod(call)

    def to_copy(self, x: Any, dtype: Any, device: Any, back: Any = None) -> Any:
        from .convert import moved

        return moved(x, dtype, device, back)

    def __getattr__(self, name: str) -> Any:
        try:
            found = function(name)
        except KeyError:
            raise AttributeError(f"no function {name!r} in the table") from None
        setattr(self, name, found)
        return found


RECORDING = RecordingNamespace()
