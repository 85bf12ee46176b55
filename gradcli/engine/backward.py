"""The reverse pass.

Invariants: nodes run in order of dependency counts, each once; cotangents that meet at
a node are added; saved values are freed as they are used unless the graph is retained;
where gradients of given tensors are asked for, only the nodes between them and the
outputs run; nothing recurses, so that a chain of a million nodes works.

The same loop runs on raw arrays, or on tensors if the pass itself is recorded
(`create_graph`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from ..ops.locks import forkable
from ..ops.op import RESULT, Rule
from ..ops.types import Array
from .custom import CustomNode
from .errors import FREED as FREED_GRAPH
from .errors import NO_GRAD_FN, NOT_SCALAR, GradError, ShapeError
from .modes import MODE, WATCH, PassObserver
from .node import (
    FREED,
    AccumulateGrad,
    Edge,
    Node,
    Port,
    carried,
    input_edges,
    output_at,
)
from .raw import Arrived, Pulled
from .record import RECORDING, call, in_type
from .saved import demand_unchanged
from .tensor import Tensor, lifted, ones_for, rebuild, with_edge
from .versions import CLOCK
from .walk import between


def accumulate_gradients(
    outputs: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    retain_graph: bool,
    create_graph: bool,
    ends: Sequence[Edge] | None = None,
) -> None:
    """Add the gradients of ``outputs`` to all leaves, or run to ``ends`` only."""
    only = None if ends is None else {output_at(edge)[0] for edge in ends}
    cotangents = _cotangents(outputs, gradients)
    _run(outputs, cotangents, retain_graph, create_graph, None, only)


def grad(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    grad_outputs: Sequence[Tensor | None] | None = None,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> list[Tensor | None]:
    """Return the gradients of ``outputs`` by ``inputs``; leaves stay untouched.

    Returns:
        One tensor per input, of its shape; None where the graph does not reach it.

    Raises:
        GradError: a vector output without a cotangent, an output without a graph, or
            saved values that were freed.
    """
    cotangents = _cotangents(outputs, grad_outputs or [None] * len(outputs))
    edges = [t.edge for t in inputs]
    captured: Arrived = {edge: None for edge in edges if edge is not None}
    _run(outputs, cotangents, retain_graph or create_graph, create_graph, captured)
    return [
        _gradient_of(t, edge, captured.get(edge))
        for t, edge in zip(inputs, edges, strict=True)
    ]


def _gradient_of(t: Tensor, edge: Edge, g: Array | None) -> Tensor | None:
    """Return the cotangent that arrived at ``t`` as a tensor of its type, or None."""
    if g is None:
        return None
    found: Tensor = in_type(lifted(g, output_at(edge)[0].xp), t.raw.dtype)
    return found


def _cotangents(
    outputs: Sequence[Tensor], given: Sequence[Tensor | None]
) -> list[Tensor]:
    pairs = zip(outputs, given, strict=True)
    return [_cotangent(output, g, nr) for nr, (output, g) in enumerate(pairs)]


def _cotangent(output: Tensor, given: Tensor | None, nr: int) -> Tensor:
    if output.edge is None:
        raise GradError(NO_GRAD_FN.format(nr))
    if given is None:
        if output.numel() != 1:
            raise GradError(NOT_SCALAR)
        return ones_for(output)
    if given.shape != output.shape:
        raise ShapeError(
            f"Mismatch in shape: grad_output[{nr}] has a shape of {given.shape} and "
            f"output[{nr}] has a shape of {output.shape}."
        )
    found: Tensor = in_type(given, output.raw.dtype)
    return found


def _run(
    outputs: Sequence[Tensor],
    cotangents: Sequence[Tensor],
    retain_graph: bool,
    create_graph: bool,
    captured: Arrived | None = None,
    only: set[object] | None = None,
) -> None:
    """Run a pass that ends at all leaves, or at ``only``, or sets the values of
    ``captured`` to the cotangents that arrive at its keys."""
    arrived: Arrived = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        g = cotangent if create_graph else cotangent.raw
        edge = output.edge
        arrived[edge] = arrived[edge] + g if edge in arrived else g
    waiting = _dependencies(list(arrived))
    ends: Any = captured or ()
    pruned = only is not None
    if captured is not None and only is None:
        leaves = [edge for edge in waiting if type(edge) is AccumulateGrad]
        asked = all(edge in captured for edge in leaves)
        pruned = len(leaves) != len(captured) or not asked
    if pruned:
        waiting, ends = _between(arrived, captured if only is None else only)
        arrived = {edge: g for edge, g in arrived.items() if edge in waiting}
    ready: list[object] = [edge for edge in arrived if not waiting[edge]]
    observer = WATCH.observer
    special = create_graph or observer is not None
    plain = not (special or pruned)
    watched = captured is not None or observer is not None
    frees = not retain_graph
    clock = CLOCK.now
    before = MODE.enabled
    MODE.enabled = create_graph
    node: Any = None
    following: object = None
    carried_on: Any = None
    pulled: Any
    gi: Any
    some: Sequence[Edge] | None = None
    try:
        while ready or following is not None:
            if following is not None:
                node, g = following, carried_on
                following = carried_on = None
            else:
                node = ready.pop()
                g = arrived.pop(node, None)
            if watched:
                if captured is not None and node in captured:
                    if node in ends:
                        captured[node] = _shown(node, g, observer)
                        continue
                    # At a node below which the pass goes on, the gradient is captured
                    # before the tensor's hooks change it, as in PyTorch.
                    captured[node] = g
                g = _shown(node, g, observer)
            kind = type(node)
            if kind is AccumulateGrad:
                if captured is None and g is not None:
                    finish(node, g)
                continue
            if kind is Port:
                _deliver(node, g, arrived, waiting, ready)
                continue
            if clock and node.born != clock:
                demand_unchanged(node)
            edges = node.edges
            if pruned:
                edges = tuple([edge if edge in waiting else None for edge in edges])
                some = None if edges == node.edges else edges
            if plain and g is not None:
                pulled = node.pull(g if type(g) is not list else materialise(node, g))
            elif g is None and not isinstance(node, CustomNode):
                pulled = (None,) * len(edges)
            elif special:
                pulled = _pull_with_care(node, g, create_graph, some, observer)
            else:
                pulled = _pull_some(
                    node, g if type(g) is not list else materialise(node, g), some
                )
            if frees and node.holds:
                if node.lets_go:
                    node.saved = FREED
                    node.y = None
                else:
                    node.free()
            # The last node to become ready runs next, and is not put into ``ready``.
            for edge, gi in zip(edges, pulled):  # noqa: B905 (a hot loop; equally long)
                if edge is None:
                    continue
                left = waiting[edge] - 1
                if left:
                    waiting[edge] = left
                    if gi is not None:
                        arrived[edge] = arrived[edge] + gi if edge in arrived else gi
                    continue
                if following is not None:
                    ready.append(following)
                    if carried_on is not None:
                        arrived[following] = carried_on
                following = edge
                if edge in arrived:
                    carried_on = arrived.pop(edge)
                    if gi is not None:
                        carried_on = carried_on + gi
                else:
                    carried_on = gi
    except Exception as error:
        if observer is not None and node is not None:
            observer.failed(output_at(node)[0], error)
        raise
    finally:
        MODE.enabled = before


def _dependencies(roots: list[Any]) -> dict[Edge, int]:
    """Return how many edges lead to each node of the graph below ``roots``."""
    waiting: dict[Edge, int] = dict.fromkeys(roots, 0)
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


def _between(roots: Iterable[object], wanted: Any) -> tuple[dict[Any, int], set[Any]]:
    """Return how many edges of the paths from ``roots`` to ``wanted`` lead to each node
    on them, and the set of the nodes at which those paths end."""
    needed = between(list(roots), wanted)
    waiting = dict.fromkeys(needed, 0)
    ends = {edge for edge in needed if not any(e in waiting for e in edge.edges)}
    for edge in needed:
        for e in edge.edges:
            if e in waiting:
                waiting[e] += 1
    return waiting, ends


def _deliver(
    port: Port,
    g: Array,
    arrived: Arrived,
    waiting: dict[Edge, int],
    ready: list[object],
) -> None:
    """Store an output's cotangent, if one arrived, for its node; add the node to
    ``ready`` if it waits for no other output."""
    node = port.node
    if g is not None:
        outputs = arrived.setdefault(node, [None] * len(node.y_shapes()))
        outputs[port.nr] = g
    waiting[node] -= 1
    if not waiting[node]:
        ready.append(node)


def materialise(node: Node, gs: list[object]) -> Any:
    """Return the cotangents of a node's outputs in the form that its rule takes.

    Where none arrived it is None, or zeros if the row's number of outputs can vary.
    """
    if isinstance(node, CustomNode):
        return tuple(gs)
    if node.op.returns > 1:
        return gs[0] if len(gs) == 1 else tuple(gs)
    given = next(g for g in gs if g is not None)
    xp = RECORDING if isinstance(given, Tensor) else node.xp
    return tuple(
        xp.new_full(given, shape, 0) if g is None else g
        for g, shape in zip(gs, node.y_shapes(), strict=True)
    )


def _pull_some(node: Node, g: Array, some: Sequence[Edge] | None) -> Pulled:
    """Return the cotangents of a node's inputs; an edge that is None in ``some`` needs
    none."""
    if some is None or isinstance(node, CustomNode):
        return node.pull(g)
    inputs, y = node.restored()
    return node.apply_rules(node.xp, g, y, inputs, some)


def _pull_with_care(
    node: Node,
    g: Any,
    create_graph: bool,
    some: Sequence[Edge] | None,
    observer: PassObserver | None,
) -> tuple[object, ...]:
    """Return the cotangents of a node's inputs in a pass that runs on tensors, or that
    an observer looks at."""
    run = _pull_recorded if create_graph else _pull_some
    shown = tuple(g) if type(g) is list else g
    if observer is not None:
        shown = observer.before(node, shown)
    parts = shown if isinstance(shown, tuple) else (shown,)
    if all(part is None for part in parts) and not isinstance(node, CustomNode):
        return (None,) * len(node.edges)
    g = materialise(node, list(parts)) if type(g) is list else shown
    pulled = run(node, g, some)
    if observer is None:
        return pulled
    found: tuple[object, ...] = observer.after(node, pulled, shown)
    return found


def _shown(edge: Any, g: Any, observer: PassObserver | None) -> Any:
    """Return the cotangent that arrived at an edge as the observer leaves it."""
    if observer is None or g is None or type(g) is list:
        return g
    return observer.arrive(*output_at(edge), g)


def _pull_recorded(
    node: Node, g: Array, some: Sequence[Edge] | None
) -> tuple[Any, ...]:
    """Return the cotangents of a node's inputs as tensors with their own graph; an edge
    that is None in ``some`` needs none."""
    if isinstance(node, CustomNode):
        return node.pull_tensors(g)
    inputs, y = rebuilt(node)
    arrived = in_types_of(y, g)
    pulled = node.apply_rules(RECORDING, arrived, y, inputs, some)
    rule = node.op.rule
    found: tuple[object, ...] = (
        pulled if rule is None else _joined(node, rule, arrived, pulled)
    )
    return found


# Nodes of reverse rules in a recorded pass, with the edges that PyTorch's have. PyTorch
# records some rules as one node, which leads to the cotangent and to all that the rule
# was given; the table writes the same rule as a formula, whose nodes lead to what it
# depends on. Here the rest is added, and no value changes.


class Joined(CustomNode):
    """The node of a rule: its first edge is the formula's, the others are joined."""

    __slots__ = ()
    zeros: bool
    shapes_given: tuple[tuple[int, ...], ...]
    shown: tuple[Edge, ...]
    """Edges of PyTorch's node: the cotangent, and what the rule was given."""

    @property
    def next_functions(self) -> tuple[tuple[Node | AccumulateGrad | None, int], ...]:
        return tuple([output_at(edge) for edge in self.shown])

    def input_shapes(self, shape: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [shape, *self.shapes_given]

    def pull_tensors(self, g: Any) -> tuple[Tensor | None, ...]:
        if self.saved is FREED:
            raise GradError(FREED_GRAPH)
        given = [
            call("new_full", g, shape, 0) if self.zeros else None
            for shape in self.shapes_given
        ]
        return (g, *given)

    def push_tensors(self, tangents: Sequence[Tensor | None]) -> Tensor | None:
        return tangents[0]


def _joined(node: Node, rule: Rule, arrived: Tensor, pulled: tuple[Any, ...]) -> Any:
    """Return the cotangents that a node's rules gave, with edges to all that the rules
    were given: the cotangent that ``arrived``, the inputs and the result."""
    if not MODE.enabled:
        return pulled
    by_slot: dict[int | None, Edge] = dict(zip(node.slots, node.edges, strict=True))
    by_slot[RESULT] = node
    shapes: list[tuple[int, ...]] = []
    edges: list[Edge] = []
    if not rule.passes:
        raw, y = node.restored()
        for slot in rule.given:
            edge = by_slot.get(slot)
            if slot is not None and edge is not None:
                edges.append(edge)
                shapes.append(tuple((y if slot == RESULT else raw[slot]).shape))
    if not edges and arrived.edge is None and not rule.passes:
        return pulled
    found = []
    for slot, g in zip(node.slots, pulled, strict=True):
        given = isinstance(g, Tensor) and (rule.gives is None or slot in rule.gives)
        if not given or (rule.passes and g.edge is None):
            found.append(g)
            continue
        made = object.__new__(_class(rule.node))
        made.edges = (g.edge, *edges)
        first = [slot] if rule.turns else []
        order = [*first, *[s for s in rule.given if s not in first]]
        made.shown = (
            (arrived.edge, *[by_slot.get(s) for s in order])
            if rule.whole
            else made.edges
        )
        made.xp, made.span, made.zeros = g.xp, None, rule.zeros
        made.shapes_given, made.like = tuple(shapes), g.detach()
        found.append(with_edge(g.raw, g.xp, made))
    return tuple(found)


@cache
def _class(name: str) -> type[Joined]:
    return type(name, (Joined,), {"__slots__": ()})


# Saved values and leaves.


def rebuilt(node: Node) -> tuple[tuple[Any, ...], Any]:
    """Return a node's saved inputs and output as tensors, with their edges."""
    raw, y = node.restored()
    edges = input_edges(node)
    inputs = tuple(
        rebuild(value, node.xp, edges.get(slot)) for slot, value in enumerate(raw)
    )
    if isinstance(y, tuple):
        count = carried(node.op, y)
        outputs: object = tuple(
            rebuild(part, node.xp, Port(node, nr) if nr < count else None)
            for nr, part in enumerate(y)
        )
    else:
        outputs = rebuild(y, node.xp, node)
    return inputs, outputs


def in_types_of(y: Any, g: object) -> Any:
    """Return the cotangents of one tensor, or of several, each in its tensor's type.

    None stays None. Where the tensor was not kept, its cotangent keeps its own type.
    """
    if isinstance(g, tuple):
        return tuple([in_types_of(*pair) for pair in zip(y, g, strict=False)])
    value = y[0] if isinstance(y, tuple) else y
    known = isinstance(value, Tensor) and g is not None
    return in_type(g, value.raw.dtype) if known else g


def finish(end: AccumulateGrad, g: Any) -> None:
    """Add a cotangent to a leaf's gradient."""
    observer = WATCH.observer
    if observer is not None:
        g = observer.before(end, g)
    with _ADDING:
        if end.grad is not None:
            _add_into(end, end.grad, g)
        else:
            g = in_type(g, end.raw.dtype)
            end.grad = (
                _copied(g)
                if isinstance(g, Tensor)
                else Tensor(g.copy() if g.shape else g, end.xp)
            )
    if observer is not None:
        observer.finished(end, g)


_ADDING = forkable()
"""Lock that is held while a leaf's gradient is read and written in any thread."""


def _copied(g: Tensor) -> Tensor:
    """Return a copy of a gradient; the copy is recorded if the gradient has a graph."""
    if g.edge is None:
        return Tensor(g.xp.clone(g.raw), g.xp)
    found: Tensor = call("copy_.default", g.detach(), g)
    return found


def _add_into(end: AccumulateGrad, held: Tensor, g: Array) -> None:
    """Add ``g`` to the gradient ``held``: in place unless either has a graph."""
    if isinstance(g, Tensor):
        end.grad = held + g
    elif held.edge is None and held.raw.shape and not held.xp.symbolic:
        held.raw += g
    else:
        held.raw = held.raw + g
