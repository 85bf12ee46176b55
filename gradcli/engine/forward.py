"""Forward mode: tangents are pushed through a recorded graph by the table's rows.

Invariant: a node's tangent comes from its row's partials, from ``fwd`` itself where the
row is linear, from its ``jvp``, or from the transpose of its reverse rules.

    (t,) = jvp([y], [x], [v])        # t = J v
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ops import LINEAR, MULTILINEAR, TRANSPOSED, Op
from ..ops.checks import broadcast_shape
from ..ops.types import Shape
from .backward import grad, rebuilt
from .custom import CustomNode, hidden_from
from .errors import GradError, ShapeError
from .modes import MODE
from .namespace import NumberSystem
from .node import AccumulateGrad, ConstantNode, Node, Port, pushed_parts
from .raw import Raw
from .record import RECORDING, apply
from .rules import reverse_rules, times
from .saved import demand_unchanged
from .tensor import Tensor, lifted, raw_of, zeros_for
from .versions import CLOCK
from .walk import inputs_first


def jvp(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    tangents: Sequence[Tensor],
    create_graph: bool = False,
) -> list[Tensor]:
    """Return the tangents of ``outputs`` for given tangents of ``inputs``.

    Args:
        outputs: tensors of one recorded graph.
        inputs: tensors that require a gradient.
        tangents: one per input, of its shape.
        create_graph: record the pass itself, so that tangents can be differentiated.

    Returns:
        One tensor per output, of its shape; zeros where no input reaches it.

    Raises:
        ShapeError: a tangent is not of its input's shape.
        GradError: an input is outside every graph, or saved values were freed.
    """
    known: dict[object, Any] = {}
    for x, t in zip(inputs, tangents, strict=True):
        if x.edge is None:
            raise GradError("an input of jvp does not require grad")
        demand_fit(x, t)
        known[x.edge] = t if create_graph else t.raw
    roots = [o.edge for o in outputs if o.edge is not None]
    with MODE.having(enabled=create_graph):
        push_through(roots, known, lambda node, ts: push(node, ts, create_graph))
    return [_tangent_of(output, known) for output in outputs]


def demand_fit(x: Tensor, tangent: Tensor) -> None:
    """Raise an error if a tangent is not of its tensor's shape."""
    if x.shape != tangent.shape:
        raise ShapeError(
            "Trying to set a forward gradient that has a different size than that of "
            "the original Tensor, this is not supported. Tensor is of size "
            f"{list(x.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


def push_through(
    roots: Iterable[object],
    known: dict[Any, Any],
    run: Callable[[Node, list[Any]], object],
) -> None:
    """Add to ``known`` the tangent of every edge below ``roots`` that depends on those
    in it; ``run(node, tangents)`` gives a node's from those of its edges."""
    for edge in inputs_first(roots, frozenset(known)):
        if edge in known or isinstance(edge, AccumulateGrad):
            continue
        if isinstance(edge, Port):
            pushed = known.get(edge.node)
            if pushed is not None:
                known[edge] = pushed[edge.nr] if isinstance(pushed, tuple) else pushed
            continue
        arriving = [known.get(e) for e in edge.edges]
        if any(t is not None for t in arriving):
            known[edge] = run(edge, arriving)


def push(
    node: Node,
    arriving: Sequence[Any],
    recorded: bool = False,
    xp: NumberSystem | None = None,
) -> Any:
    """Return the tangent of a node's output, given its edges' tangents (None: zero).

    Tangents are arrays, or tensors where the push itself is to be ``recorded``; ``xp``
    is the namespace of arrays that are of another kind than the node's.
    """
    if isinstance(node, CustomNode):
        return _push_custom(node, arriving, recorded)
    if CLOCK.now and node.born != CLOCK.now:
        demand_unchanged(node, pushed_parts)
    op: Op = node.op
    xp = RECORDING if recorded else xp or node.xp
    if isinstance(node, ConstantNode):
        terms = zip(node.factors, arriving, strict=False)
        total = _add_up(
            times(factor, False)(xp, t, None) for factor, t in terms if t is not None
        )
        return _spread(xp, total, node.shapes)
    raw, y = rebuilt(node) if recorded else node.restored()
    slots = range(len(raw)) if op.variadic else node.slots
    by_slot = dict(zip(slots, arriving, strict=True))
    if op.partials is not None:
        # The reverse rule of an elementwise row maps tangents in the same way.
        rules = reverse_rules(op)
        total = _add_up(
            rules[slot](xp, t, y, *raw, **node.params)
            for slot, t in by_slot.items()
            if t is not None
        )
        return _spread(xp, total, (y.shape,))
    if op.jvp is MULTILINEAR:
        return _add_up(
            _run(node, xp, (*raw[:slot], t, *raw[slot + 1 :]))
            for slot, t in by_slot.items()
            if t is not None
        )
    if op.jvp is TRANSPOSED:
        return _transposed(node, raw, y, by_slot, recorded)
    some = next(t for t in arriving if t is not None)
    full = [
        (xp.new_full(some, raw[i].shape, 0) if by_slot[i] is None else by_slot[i])
        if i in by_slot and raw[i] is not None
        else None
        for i in range(len(raw))
    ]
    if op.jvp is LINEAR:
        mixed = [raw[i] if t is None else t for i, t in enumerate(full)]
        return _run(node, xp, tuple(mixed))
    assert callable(op.jvp)
    return op.jvp(xp, tuple(full), y, *raw, **node.params)


def _run(node: Node, xp: NumberSystem, inputs: tuple[object, ...]) -> Any:
    """Return the result of a row's formula, recorded as one node if ``xp`` records."""
    if xp is RECORDING:
        return apply(node.op, inputs, node.params)
    return node.op.fwd(xp, *inputs, **node.params)


def _transposed(
    node: Node, raw: Sequence[Any], y: Any, tangents: dict[int, Any], recorded: bool
) -> Any:
    """Return the tangent of a node's output by its reverse rules: the slope, by the
    cotangent, of their products with the tangents."""
    op, xp = node.op, node.xp
    ways = {slot: lifted(t, xp) for slot, t in tangents.items() if t is not None}
    like = next(iter(ways.values()))
    inputs = [lifted(v, xp) if hasattr(v, "dtype") else v for v in raw]
    outputs = [lifted(v, xp) for v in (y if isinstance(y, tuple) else (y,))]
    given = tuple(outputs) if isinstance(y, tuple) else outputs[0]
    zeros = [zeros_for(like, part.shape) for part in outputs[: op.carries]]
    alone = {} if recorded else UNOBSERVED
    with MODE.having(enabled=True, **alone):
        cotangents = [Tensor(zero.raw, xp, True) for zero in zeros]
        g = cotangents[0] if op.carries == 1 else tuple(cotangents)
        rules = reverse_rules(op)
        products = {
            slot: rules[slot](RECORDING, g, given, *inputs, **node.params)
            for slot in ways
        }
        ends = {n: p for n, p in products.items() if p is not None and p.requires_grad}
        found: list[Any] = [None] * len(cotangents)
        if ends:
            there = [ways[slot] for slot in ends]
            found = list(grad([*ends.values()], cotangents, there, True, recorded))
    made = [zero if t is None else t for zero, t in zip(zeros, found, strict=True)]
    result = made if recorded else [raw_of(t) for t in made]
    return result[0] if op.carries == 1 else tuple(result)


UNOBSERVED: dict[str, Any] = dict.fromkeys(("on_node", "on_call"), ()) | {
    "made": None,
    "muffled": False,
}
"""Attributes of `MODE` under which nobody sees what is recorded."""


def _push_custom(node: CustomNode, arriving: Sequence[Any], recorded: bool) -> Any:
    if recorded:
        with hidden_from(node):
            return node.push_tensors(arriving)
    pushed = node.push_tensors([lifted(t, node.xp) for t in arriving])
    several = isinstance(pushed, tuple)
    return tuple(map(raw_of, pushed)) if several else raw_of(pushed)


def _add_up(terms: Iterable[Any]) -> Any:
    total = None
    for term in terms:
        if total is None:
            total = term
        elif isinstance(total, tuple):
            total = tuple(a + b for a, b in zip(total, term, strict=True))
        else:
            total = total + term
    return total


def _spread(
    xp: NumberSystem, t: Tensor, shapes: Sequence[Shape | None] | None
) -> Tensor | Raw:
    """Return a tangent, expanded to the broadcast shape of the node's inputs."""
    if shapes is None:
        return t
    shape = broadcast_shape(*[s for s in shapes if s is not None])
    return t if t.shape == shape else xp.expand(t, shape)


def _tangent_of(output: Tensor, known: dict[object, object]) -> Tensor:
    t = known.get(output.edge) if output.edge is not None else None
    found: Tensor = zeros_for(output) if t is None else lifted(t, output.xp)
    return found
