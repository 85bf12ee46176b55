"""The reverse pass.

Invariants: nodes run in order of dependency counts, each once; cotangents that meet at
a node are added; saved values are freed as they are used unless the graph is retained;
no recursion, so that a chain of a million nodes works.

The same loop serves both kinds of pass: on raw arrays, or, to record the pass itself,
on tensors (`create_graph`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .errors import NO_GRAD_FN, NOT_SCALAR, GradError, ShapeError
from .modes import MODE
from .node import AccumulateGrad, Edge, Node, Port, carried
from .record import RECORDING
from .tensor import Tensor

_new = object.__new__


def backward(
    output: Tensor, gradient: Tensor | None, retain_graph: bool, create_graph: bool
) -> None:
    """Accumulate the gradient of ``output`` into its leaves."""
    _run([output], [_cotangent(output, gradient)], retain_graph, create_graph, None)


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Tensor | None]:
    """The gradients of ``outputs`` with respect to ``inputs``; leaves stay untouched.

    Returns:
        One tensor per input, of its shape; None where the graph does not reach it.

    Raises:
        GradError: a vector output without a cotangent, an output without a graph, or
            saved values that were freed.
    """
    given = grad_outputs or [None] * len(outputs)
    cotangents = [_cotangent(o, g) for o, g in zip(outputs, given, strict=True)]
    captured: dict[Any, Any] = {t.edge: None for t in inputs if t.edge is not None}
    _run(outputs, cotangents, retain_graph or create_graph, create_graph, captured)
    return [
        _as_tensor(captured[t.edge], t.xp)
        if t.edge is not None and captured[t.edge] is not None
        else None
        for t in inputs
    ]


def _cotangent(output: Tensor, given: Tensor | None) -> Tensor:
    if output.edge is None:
        raise GradError(NO_GRAD_FN)
    if given is None:
        if output.numel() != 1:
            raise GradError(NOT_SCALAR)
        return Tensor(output.xp.ones_like(output.raw), output.xp)
    if given.shape != output.shape:
        raise ShapeError(
            f"Mismatch in shape: grad_output has a shape of {list(given.shape)} and "
            f"output has a shape of {list(output.shape)}."
        )
    return given


def _run(
    outputs: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    retain_graph: bool,
    create_graph: bool,
    captured: dict[Any, Any] | None,
) -> None:
    arrived: dict[Any, Any] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        g = cotangent if create_graph else cotangent.raw
        edge = output.edge
        arrived[edge] = arrived[edge] + g if edge in arrived else g
    waiting = _dependencies(list(arrived))
    ready: list[Any] = [edge for edge in arrived if not waiting[edge]]
    before = MODE.enabled
    MODE.enabled = create_graph
    try:
        while ready:
            node = ready.pop()
            g = arrived.pop(node, None)
            if captured is not None and node in captured:
                captured[node] = g
            kind = type(node)
            if kind is AccumulateGrad:
                if captured is None and g is not None:
                    _accumulate(node, g)
                continue
            if kind is Port:
                _deliver(node, g, arrived, waiting, ready)
                continue
            edges = node.edges
            if g is None:
                pulled: tuple[Any, ...] = (None,) * len(edges)
            elif create_graph:
                pulled = _pull_recorded(node, g)
            else:
                pulled = node.pull(g if type(g) is not list else _materialise(node, g))
            if not retain_graph:
                node.free()
            for edge, gi in zip(edges, pulled, strict=True):
                if edge is None:
                    continue
                if gi is not None:
                    arrived[edge] = arrived[edge] + gi if edge in arrived else gi
                left = waiting[edge] - 1
                waiting[edge] = left
                if not left:
                    ready.append(edge)
    finally:
        MODE.enabled = before


def _dependencies(roots: list[Any]) -> dict[Any, int]:
    """How many edges lead to each node of the graph below ``roots``."""
    waiting: dict[Any, int] = dict.fromkeys(roots, 0)
    stack = roots
    while stack:
        for edge in stack.pop().edges:
            if edge is not None:
                if edge in waiting:
                    waiting[edge] += 1
                else:
                    waiting[edge] = 1
                    stack.append(edge)
    return waiting


def _deliver(
    port: Port, g: Any, arrived: Any, waiting: dict[Any, int], ready: list[Any]
) -> None:
    """Hand a port's cotangent to its place among its node's outputs."""
    node = port.node
    if g is not None:
        outputs = arrived.setdefault(node, [None] * len(node.y_shapes()))
        outputs[port.nr] = g
    waiting[node] -= 1
    if not waiting[node]:
        ready.append(node)


def _materialise(node: Node, gs: list[Any]) -> Any:
    """The cotangents of all outputs that carry one, zeros where none arrived."""
    given = next(g for g in gs if g is not None)
    xp = RECORDING if isinstance(given, Tensor) else node.xp
    full = [
        xp.new_full(given, shape, 0) if g is None else g
        for g, shape in zip(gs, node.y_shapes(), strict=True)
    ]
    return full[0] if node.op.returns > 1 and len(full) == 1 else tuple(full)


def _pull_recorded(node: Node, g: Any) -> tuple[Any, ...]:
    """Run the node's rules on tensors that carry their own graph."""
    if type(g) is list:
        g = _materialise(node, g)
    raw = node.raw_inputs()
    edges: dict[int, Edge] = dict(zip(node.slots or range(len(raw)), node.edges,
                                      strict=False))  # fmt: skip
    inputs = tuple(
        _rebuild(value, node.xp, edges.get(slot)) for slot, value in enumerate(raw)
    )
    y = node.y
    if isinstance(y, tuple):
        count = carried(node.op, y)
        outputs: Any = tuple(
            _rebuild(part, node.xp, Port(node, nr) if nr < count else None)
            for nr, part in enumerate(y)
        )
    else:
        outputs = _rebuild(y, node.xp, node)
    return node.apply_rules(RECORDING, g, outputs, inputs)


def _rebuild(value: Any, xp: Any, edge: Edge) -> Any:
    """A saved raw value as the tensor it was; shapes, numbers and None as they are."""
    if not hasattr(value, "dtype"):
        return value
    out: Tensor = _new(Tensor)
    out.raw = value
    out.xp = xp
    out.edge = edge
    return out


def _as_tensor(value: Any, xp: Any) -> Tensor:
    return value if isinstance(value, Tensor) else Tensor(value, xp)


def _accumulate(end: AccumulateGrad, g: Any) -> None:
    """Add to the leaf's gradient, whose memory is the leaf's own."""
    variable = end.variable
    if variable is None:
        return
    if end.grad is not None:
        held: Any = end.grad
        end.grad = held + g if isinstance(g, Tensor) else Tensor(held.raw + g, held.xp)
        return
    if isinstance(g, Tensor):
        end.grad = g
    else:
        if g.dtype != variable.raw.dtype:
            g = g.astype(variable.raw.dtype)
        end.grad = Tensor(g.copy() if g.shape else g, variable.xp)
