"""Sparse derivatives that are asked for again: of another graph of the same structure.

Invariant: a graph is planned for by what it is (its nodes, edges, parameters, shapes,
types and integers), never by its floats; where the entries of a derivative stand is
found without reading a float. So a plan serves every later graph of that structure. It
is the recording of a sparse reverse pass whose entries alone depend on the graph. What
that pass reads of the floats is asked again each time; where the answer is another one,
or a number is not finite, the derivative is computed as if it were the first.

    for _ in range(3):
        y = x[1:] * x[:-1]          # the second call plans, the third follows the plan
        jacobian(y, [x])
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ..engine import NUMPY
from ..engine.batch import batches_over
from ..engine.custom import CustomNode
from ..engine.entries import SparsePlaces, SparseSum
from ..engine.jacobian import JacobianBlock, columns_of, is_sparse, rows_of
from ..engine.node import FREED, AccumulateGrad, Edge, Node, Port, Shaped
from ..engine.saved import demand_unchanged
from ..engine.tensor import Tensor, with_edge
from ..engine.versions import CLOCK
from ..engine.walk import between
from ..ops.locks import forkable
from .recording import CallRecorder, Departed, Replay
from .tracing import Trace

Outputs = Callable[[Tensor, Sequence[Tensor]], list[Tensor]]
"""A function from a value and inputs to the tensors whose derivatives are asked for."""

MAX_NODES = 1000
"""Largest number of nodes of a graph that is planned for."""

MAX_PLANS = 16
"""Largest number of plans, and of structures without one, that are remembered."""

MAX_KEPT = 1 << 23
"""Largest number of entries that the matrices of all plans have."""

MAX_KEY_BYTES = 1 << 20
"""Largest array of integers that belongs to a graph's structure, in bytes."""


class _Unplanned(Exception):
    """The error of a graph or a derivative that there is no plan for."""


_PLAIN = frozenset({type(None), bool, int, str})
"""Types of which a value belongs to the structure of a graph."""

_ARRAYS = (np.ndarray, np.generic)
"""Classes of arrays and of their numbers."""


class _Reading:
    """The structure of a graph, and its floats.

    Args:
        outputs: the tensors that the graph leads to.
        inputs: the tensors that it begins with.
    """

    def __init__(self, output: Tensor, inputs: Sequence[Tensor]) -> None:
        self.output = output
        self.inputs = inputs
        ends = {x.edge for x in inputs if x.edge is not None}
        if output.edge is None:
            raise _Unplanned
        self.order: list[Any] = between([output.edge], ends)
        if len(self.order) > MAX_NODES:
            raise _Unplanned
        self.raws: list[Any] = []
        self._met: dict[int, int] = {}
        numbers: dict[Edge, int] = {edge: nr for nr, edge in enumerate(self.order)}
        told: list[Hashable] = [
            (numbers.get(x.edge), self.structure_of(x.raw)) for x in (output, *inputs)
        ]
        for edge in self.order:
            if isinstance(edge, Node):
                told.append(self._node(edge))
            elif isinstance(edge, Port):
                told.append(edge.nr)
            told.append(tuple([numbers.get(e) for e in edge.edges]))
        self.key: Hashable = tuple(told)

    def _node(self, node: Node) -> Hashable:
        if isinstance(node, CustomNode) or node.xp is not NUMPY or node.saved is FREED:
            raise _Unplanned
        if CLOCK.now and node.born != CLOCK.now:
            demand_unchanged(node)
        params = tuple(
            [(name, self.structure_of(v)) for name, v in node.params.items()]
        )
        saved = self.structure_of(node.saved), self.structure_of(node.y)
        return type(node), node.shapes, params, saved

    def structure_of(self, value: Any) -> Hashable:
        """Return what belongs to the structure of a value that a node keeps; note its
        floats."""
        kind = type(value)
        if kind in _PLAIN:
            return kind, value
        if isinstance(value, _ARRAYS):
            dtype = value.dtype
            if dtype.kind in "iu":
                if value.nbytes > MAX_KEY_BYTES:
                    raise _Unplanned
                return dtype, value.shape, value.tobytes()
            nr = self._met.setdefault(id(value), len(self.raws))
            if nr == len(self.raws):
                self.raws.append(value)
            return dtype, value.shape, nr
        if kind is float:
            return kind, value.hex()
        if kind is tuple or kind is list:
            return kind, tuple([self.structure_of(part) for part in value])
        if kind is Shaped:
            return kind, value.shape
        if kind is slice:
            return kind, value.start, value.stop, value.step
        if value is ... or isinstance(value, np.dtype):
            return value
        raise _Unplanned

    def recorded(self, xp: CallRecorder) -> tuple[Tensor, list[Tensor]]:
        """Return the output and the inputs of a graph like this one, in which the
        floats are inputs of a recording."""
        known = {id(raw): xp.input(raw) for raw in self.raws}

        def on(value: Any) -> Any:
            if isinstance(value, tuple | list):
                return type(value)([on(part) for part in value])
            return known.get(id(value), value)

        made: dict[Any, Any] = {None: None}
        for edge in self.order:
            if isinstance(edge, AccumulateGrad):
                made[edge] = Tensor(on(edge.raw), xp, True).edge
            elif isinstance(edge, Port):
                made[edge] = Port(made[edge.node], edge.nr)
            else:
                node = made[edge] = object.__new__(type(edge))
                node.edges = tuple([made.get(e) for e in edge.edges])
                node.xp, node.span, node.born = xp, None, CLOCK.now
                node.shapes = edge.shapes
                node.saved, node.y = on(edge.saved), on(edge.y)
                if not isinstance(type(edge).params, dict):
                    node.params = {name: on(v) for name, v in edge.params.items()}
        output, *inputs = [
            with_edge(on(x.raw), xp, made.get(x.edge))
            for x in (self.output, *self.inputs)
        ]
        return output, inputs


class _Plan:
    """The way to compute the sparse derivatives of graphs of one structure."""

    def __init__(
        self, reading: _Reading, outputs: Outputs, most: int | None, forward: bool
    ) -> None:
        trace = Trace()
        xp = CallRecorder(NUMPY, trace)
        y, inputs = reading.recorded(xp)
        values: list[Any] = []
        self.rows: list[tuple[list[SparsePlaces | None], Tensor]] = []
        for output in outputs(y, inputs):
            if forward:
                blocks = [columns_of([output], x)[0] for x in inputs]
            else:
                blocks = rows_of(output, inputs)
            places = [_places(block.matrix, values) for block in blocks]
            zero = np.broadcast_to(np.float64(0), output.shape)
            self.rows.append((places, with_edge(zero, NUMPY, None)))
        batches_over.cache_clear()  # it would hold the recording
        self.size = sum(v.shape[0] for v in values)
        if self.size > MAX_KEPT or (most is not None and self.size > most):
            raise _Unplanned
        self.replay = Replay(trace, values)

    def blocks(self, reading: _Reading) -> list[list[JacobianBlock]]:
        """Return the blocks of a graph of this structure.

        Raises:
            Departed: what was read of the floats while planning is another now, or a
                number is not finite.
        """
        with np.errstate(all="ignore"):
            found = self.replay(reading.raws)
        if not all(np.isfinite(values).all() for values in found):
            raise Departed
        each = iter(found)
        return [
            [
                JacobianBlock(
                    None if place is None else place.filled(next(each)), like, x
                )
                for place, x in zip(places, reading.inputs, strict=True)
            ]
            for places, like in self.rows
        ]


def _places(matrix: Any, values: list[Any]) -> SparsePlaces | None:
    """Return the places of a matrix, and add its values to those of others."""
    if matrix is None:
        return None
    if is_sparse(matrix):  # no value depends on the graph's floats
        values.append(matrix.data)
        return SparsePlaces(matrix.indices, matrix.indptr, matrix.shape)
    if not isinstance(matrix, SparseSum):
        raise _Unplanned  # a dense matrix is computed faster
    found = matrix.joined()
    values.append(found.flat().values)
    return found.places()


_PLANS: OrderedDict[Hashable, _Plan | None] = OrderedDict()
"""The plans by what is asked and the structure of the graph; None: there is none, or it
did not serve."""

_NEW: Any = object()
"""The mark of a question that was not asked before."""

_LOCK = forkable()


def asked_again(
    y: Tensor,
    inputs: Sequence[Tensor],
    outputs: Outputs,
    most: int | None,
    forward: bool = False,
) -> list[list[JacobianBlock]] | None:
    """Return the blocks of the outputs that a function makes of a graph, by a plan;
    None: there is none, compute them from the graph.

    Args:
        y: the value that the graph leads to.
        inputs: the tensors to differentiate by.
        outputs: makes the tensors to differentiate of ``y`` and ``inputs``.
        most: entries that all blocks together may store; None: any number.
        forward: compute by forward rules.
    """
    try:
        reading = _Reading(y, inputs)
    except _Unplanned:
        return None
    key = outputs, most, forward, reading.key
    with _LOCK:
        plan = _PLANS.pop(key, _NEW)
    is_new = plan is _NEW
    if is_new:
        plan = _planned(reading, outputs, most, forward)
    found = None
    if plan is not None:
        try:
            found = plan.blocks(reading)
        except Departed:
            plan = None
    with _LOCK:
        _PLANS[key] = plan
        while is_new and (len(_PLANS) > MAX_PLANS or _count_entries() > MAX_KEPT):
            _PLANS.popitem(last=False)
    return found


def _count_entries() -> int:
    """Return how many entries the matrices of all plans have."""
    return sum(plan.size for plan in _PLANS.values() if plan is not None)


def _planned(
    reading: _Reading, outputs: Outputs, most: int | None, forward: bool
) -> _Plan | None:
    """Return a plan for graphs of a structure, if there can be one."""
    try:
        with np.errstate(all="ignore"):
            return _Plan(reading, outputs, most, forward)
    except Exception:
        # Whatever a recording cannot follow, the graph itself can, or refuses.
        return None
