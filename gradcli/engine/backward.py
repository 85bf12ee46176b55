"""The reverse pass.

Invariants: nodes run in order of dependency counts, each once; cotangents that meet at
a node are added; saved values are freed as they are used unless the graph is retained;
where gradients of given tensors are asked for, only the nodes between run; no
recursion, so that a chain of a million nodes works.

The same loop serves both kinds of pass: on raw arrays, or, to record the pass itself,
on tensors (`create_graph`).
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

from . import hooks
from .anomaly import ANOMALY
from .errors import NO_GRAD_FN, NOT_SCALAR, GradError, ShapeError
from .handmade import Handmade
from .hooks import HOOKS
from .modes import MODE
from .node import AccumulateGrad, Edge, Node, Port, carried
from .record import RECORDING
from .tensor import Tensor
from .unchanged import demand_unchanged
from .versions import CLOCK
from .walk import inputs_first

_new = object.__new__


def backward(
    outputs: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    retain_graph: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None = None,
) -> None:
    """Accumulate the gradients of ``outputs`` into their leaves, or into ``inputs``."""
    if inputs is None:
        cotangents = _cotangents(outputs, gradients)
        _run(outputs, cotangents, retain_graph, create_graph, None)
        return
    for x in inputs:
        x.retain_grad()
    found = grad(outputs, inputs, gradients, retain_graph, create_graph)
    for x, g in zip(inputs, found, strict=True):
        if g is not None:
            accumulate(x, g if create_graph else g.raw)


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
    cotangents = _cotangents(outputs, grad_outputs or [None] * len(outputs))
    captured: dict[Any, Any] = {t.edge: None for t in inputs if t.edge is not None}
    _run(outputs, cotangents, retain_graph or create_graph, create_graph, captured)
    return [_gradient_of(t, captured.get(t.edge)) for t in inputs]


def _gradient_of(t: Tensor, g: Any) -> Tensor | None:
    """What arrived at a tensor, in its type: on the way wider operands widen it."""
    return None if g is None else _in_type_of(t, _as_tensor(g, t.xp))


def _in_type_of(t: Tensor, g: Tensor) -> Tensor:
    if t.raw is None or g.raw.dtype == t.raw.dtype:
        return g
    from .convert import to

    return to(g, t.dtype)


def _cotangents(
    outputs: Sequence[Tensor], given: Sequence[Tensor | None]
) -> list[Tensor]:
    pairs = zip(outputs, given, strict=True)
    return [_cotangent(output, g, place) for place, (output, g) in enumerate(pairs)]


def _cotangent(output: Tensor, given: Tensor | None, place: int) -> Tensor:
    if output.edge is None:
        raise GradError(NO_GRAD_FN.format(place))
    if given is None:
        if output.numel() != 1:
            raise GradError(NOT_SCALAR)
        return Tensor(output.xp.ones_like(output.raw), output.xp)
    if given.shape != output.shape:
        raise ShapeError(
            f"Mismatch in shape: grad_output[{place}] has a shape of {given.shape} and "
            f"output[{place}] has a shape of {output.shape}."
        )
    return _in_type_of(output, given)


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
    pruned = captured is not None and _has_other_ends(waiting, captured)
    ends: set[Any] = set()
    if pruned:
        waiting, ends = _between(arrived, captured)
        arrived = {edge: g for edge, g in arrived.items() if edge in waiting}
    ready: list[Any] = [edge for edge in arrived if not waiting[edge]]
    special = create_graph or ANOMALY.enabled or HOOKS.used
    watched = captured is not None or HOOKS.used
    frees = not retain_graph
    clock = CLOCK.now
    before = MODE.enabled
    MODE.record(create_graph)
    try:
        while ready:
            node = ready.pop()
            g = arrived.pop(node, None)
            if watched:
                if HOOKS.used:
                    g = _shown(node, g)
                if captured is not None and node in captured:
                    captured[node] = g
                    if node in ends:
                        continue
            kind = type(node)
            if kind is AccumulateGrad:
                if captured is None and g is not None:
                    _finish(node, g)
                continue
            if kind is Port:
                _deliver(node, g, arrived, waiting, ready)
                continue
            if clock and node.born != clock:
                demand_unchanged(node)
            edges = node.edges
            if g is None:
                pulled: tuple[Any, ...] = (None,) * len(edges)
            elif special:
                pulled = _pull_with_care(node, g, create_graph)
            else:
                pulled = node.pull(g if type(g) is not list else materialise(node, g))
            if frees and node.holds:
                node.free()
            for edge, gi in zip(edges, pulled):  # noqa: B905 (hot; both are one per edge)
                if edge is None or (pruned and edge not in waiting):
                    continue
                if gi is not None:
                    arrived[edge] = arrived[edge] + gi if edge in arrived else gi
                left = waiting[edge] - 1
                if left:
                    waiting[edge] = left
                else:
                    ready.append(edge)
    finally:
        MODE.record(before)


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


def _has_other_ends(waiting: Any, captured: Any) -> bool:
    """Whether a pass runs into anything but leaves that are asked for."""
    ends = [edge for edge in waiting if type(edge) is AccumulateGrad]
    return len(ends) != len(captured) or any(edge not in captured for edge in ends)


def _between(roots: Any, wanted: Any) -> tuple[dict[Any, int], set[Any]]:
    """Dependency counts of what leads from ``roots`` to ``wanted``; where it ends."""
    needed: set[Any] = set()
    ends: set[Any] = set()
    for edge in inputs_first(list(roots)):
        if any(e in needed for e in edge.edges):
            needed.add(edge)
        elif edge in wanted:
            needed.add(edge)
            ends.add(edge)
    waiting = dict.fromkeys(needed, 0)
    for edge in needed:
        for e in edge.edges:
            if e in needed:
                waiting[e] += 1
    return waiting, ends


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


def materialise(node: Node, gs: list[Any]) -> Any:
    """The cotangents of all outputs that carry one, as the node's rule takes them.

    Where none arrived stands None if the row says how many outputs it has, else zeros.
    """
    if isinstance(node, Handmade):
        return tuple(gs)
    if node.op.returns > 1:
        return gs[0] if len(gs) == 1 else tuple(gs)
    given = next(g for g in gs if g is not None)
    xp = RECORDING if isinstance(given, Tensor) else node.xp
    return tuple(
        xp.new_full(given, shape, 0) if g is None else g
        for g, shape in zip(gs, node.y_shapes(), strict=True)
    )


def _pull_with_care(node: Node, g: Any, create_graph: bool) -> tuple[Any, ...]:
    """Pull through a node where the pass is recorded or its numbers are checked."""
    if type(g) is list:
        g = materialise(node, g)
    g = hooks.before(node, g)
    if ANOMALY.enabled:
        with ANOMALY.inside(node):
            pulled = _pull_recorded(node, g) if create_graph else node.pull(g)
        ANOMALY.check(node, g, pulled)
    else:
        pulled = _pull_recorded(node, g) if create_graph else node.pull(g)
    found: tuple[Any, ...] = hooks.after(node, pulled, g)
    return found


def _shown(node: Any, g: Any) -> Any:
    """Let the hooks of the tensor that a node made see what arrives."""
    if type(node) is Port:
        return hooks.arrive(node.node, node.nr, g, node.node.xp)
    if type(g) is list:
        return g
    return hooks.arrive(node, 0, g, node.xp)


def _finish(end: AccumulateGrad, g: Any) -> None:
    """Add to a leaf's gradient, between its hooks."""
    if HOOKS.used:
        g = hooks.before(end, g)
    _add_to_leaf(end, g)
    if HOOKS.used:
        hooks.after(end, (), g)
        hooks.accumulated(end)


def _pull_recorded(node: Node, g: Any) -> tuple[Any, ...]:
    """Run the node's rules on tensors that carry their own graph."""
    if isinstance(node, Handmade):
        return node.pull_tensors(g)
    inputs, y = rebuilt(node)
    return node.apply_rules(RECORDING, g, y, inputs)


def rebuilt(node: Node) -> tuple[tuple[Any, ...], Any]:
    """A node's saved inputs and output as the tensors they were, graph included."""
    raw, y = node.restored()
    edges: dict[int, Edge] = dict(zip(node.slots or range(len(raw)), node.edges,
                                      strict=False))  # fmt: skip
    inputs = tuple(
        _rebuild(value, node.xp, edges.get(slot)) for slot, value in enumerate(raw)
    )
    if isinstance(y, tuple):
        count = carried(node.op, y)
        outputs: Any = tuple(
            _rebuild(part, node.xp, Port(node, nr) if nr < count else None)
            for nr, part in enumerate(y)
        )
    else:
        outputs = _rebuild(y, node.xp, node)
    return inputs, outputs


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


def accumulate(x: Tensor, g: Any) -> None:
    """Add a gradient, raw or a tensor, to what ``x`` holds."""
    if isinstance(x.edge, AccumulateGrad):
        _finish(x.edge, g)
    elif x.retains_grad:
        x.__dict__["_grad"] = _as_tensor(g, x.xp)


_ADDING = Lock()
"""Held while a leaf's gradient is read and written: passes may run in threads."""


def _add_to_leaf(end: AccumulateGrad, g: Any) -> None:
    """Add to the leaf's gradient, whose memory is the leaf's own."""
    with _ADDING:
        _add(end, g)


def _add(end: AccumulateGrad, g: Any) -> None:
    if end.grad is not None:
        _add_to_held(end, end.grad, g)
        return
    if isinstance(g, Tensor):
        end.grad = g
    else:
        if g.dtype != end.raw.dtype:
            g = g.astype(end.raw.dtype)
        end.grad = Tensor(g.copy() if g.shape else g, end.xp)


def _add_to_held(end: AccumulateGrad, held: Any, g: Any) -> None:
    """Add to a gradient that is there: in its own memory, unless it is recorded."""
    if isinstance(g, Tensor):
        end.grad = held + g
    elif held.edge is None and held.raw.shape and not held.xp.symbolic:
        held.raw += g
    else:
        held.raw = held.raw + g
