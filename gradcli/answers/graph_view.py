"""A recorded graph as a list of nodes, which are numbered from the root.

Invariants: ids count from 0 at the root in the order in which following
`next_functions` from left to right discovers the nodes; the view is the graph, node
for node and edge for edge, whatever its depth. It must be made before a backward pass
frees what the nodes saved, because shapes and local gradients are read from there.

    view = graph_view(run.output, source=run.source, name="L", variables=run.variables)
    view.nodes[0].name                   # "RsubBackward1"
    view.nodes[0].next_functions         # ((1, 0),)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from ..engine import AccumulateGrad, Node, Port, Tensor
from ..engine.custom import CustomNode
from ..engine.node import ConstantNode, Edge, UnaryNode
from ..ops.checks import KindError
from ..ops.types import Array
from .fields import HIDDEN, ROWS, named
from .places import Span, SpanFinder
from .plain_numbers import Shown, shown

if TYPE_CHECKING:
    from ..lang.run import Run

Shape: TypeAlias = tuple[int, ...]
GraphNode: TypeAlias = Node | AccumulateGrad

MAX_SOURCE_CHARACTERS = 1000
"""Largest length of a node's text that is kept, in characters: in a sum of n terms the
texts of all partial sums together have n² characters. The span is always exact."""


class NodeView(NamedTuple):
    """One node; a tuple, because there may be a million of them.

    ``variable`` is the name of a leaf, ``output`` the program's name for what the node
    made; either may be None. ``next_functions`` holds an id (None: that input needs no
    gradient) and an output number per input, ``local_gradients`` the elementwise
    partial there, or None where there is none. ``line`` and ``column`` count from 1.
    """

    id: int
    name: str
    address: int
    variable: str | None
    output: str | None
    shape: Shape
    source: str | None
    line: int | None
    column: int | None
    span: Span | None
    next_functions: tuple[tuple[int | None, int], ...]
    local_gradients: tuple[Shown | None, ...]

    @classmethod
    def json_keys(cls) -> list[str]:
        """Return the fields that are keys of the node's object."""
        return [name for name in cls.__match_args__ if name != "address"]

    @property
    def is_leaf(self) -> bool:
        """Whether this is the `AccumulateGrad` of an input."""
        return self.name == "AccumulateGrad"


@dataclass(frozen=True, slots=True)
class GraphView:
    """The answer of `gradcli graph`: the graph below one output.

    program    The program's text.
    name       The output's name.
    shape      the output's shape
    output_nr  The number of the output among those of the root.
    root       The id of the node that made the output; null: it needs no gradient.
    nodes      The nodes, by id.
    """

    command: ClassVar = "graph"

    program: str
    name: str = field(metadata=named("output"))
    shape: Shape = field(metadata=HIDDEN)
    output_nr: int
    root: int | None
    nodes: Sequence[NodeView] = field(metadata=ROWS)

    def uses(self) -> list[int]:
        """Return how many edges lead to each node."""
        counts = [0] * len(self.nodes)
        for node in self.nodes:
            for child, _ in node.next_functions:
                if child is not None:
                    counts[child] += 1
        return counts


def graph_view(
    output: Tensor,
    *,
    source: str,
    name: str,
    variables: Mapping[str, object],
    inputs: Mapping[str, object] | None = None,
    local_gradients: bool = True,
    at_once: bool = True,
) -> GraphView:
    """Return the graph below ``output``, with spans in the program's ``source``.

    The program's variables, and its inputs even if it assigned to their names, name
    leaves and intermediate values. Nodes are viewed ``at_once``, or each when it is
    asked for, which takes a quarter of the memory, but has no ``local_gradients`` after
    a backward pass.
    """
    root = _ends_at(output.edge)
    shape = tuple(output.shape)
    if root is None:
        return GraphView(source, name, shape, output.output_nr, None, ())
    ids, shapes = _discover(root, shape)
    places = SpanFinder(source, MAX_SOURCE_CHARACTERS)
    names = _names(variables) | _names(inputs or {})
    nodes = _Nodes(list(ids), ids, shapes, names, places, local_gradients)
    made = tuple(nodes) if at_once else nodes
    return GraphView(source, name, shape, output.output_nr, 0, made)


def graph_of(run: Run, local_gradients: bool, at_once: bool = True) -> GraphView:
    """Return the graph below a run's output; call it before a backward pass."""
    return graph_view(
        run.output,
        source=run.source,
        name=run.output_name,
        variables={**run.prepared.environment, **run.variables},
        inputs=run.prepared.environment,
        local_gradients=local_gradients,
        at_once=at_once,
    )


@dataclass(frozen=True, slots=True)
class _Nodes(Sequence[NodeView]):
    """The nodes of a graph, each made into a view when it is asked for."""

    _order: Sequence[GraphNode]
    _ids: Mapping[Any, int]
    _shapes: Sequence[Shape]
    _names: Mapping[object, str]
    _places: SpanFinder
    _local_gradients: bool

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[NodeView]:
        return map(self._view, self._order)

    def __getitem__(self, index: int) -> NodeView:  # type: ignore[override]
        return self._view(self._order[index])

    def _view(self, node: GraphNode) -> NodeView:
        number, name = self._ids[node], self._names.get(node)
        leaf = isinstance(node, AccumulateGrad)
        edges: Sequence[Edge] = ()
        partials: Sequence[Any] = ()
        span = None
        if not isinstance(node, AccumulateGrad):
            edges, partials = node.edges, [None] * len(node.edges)
            span = None if node.span is None else (node.span[0], node.span[1])
            if self._local_gradients:
                partials = raw_partials(node)
        where = self._places.find(span)
        return NodeView(
            id=number,
            name=type(node).__name__,
            address=id(node),
            variable=name if leaf else None,
            output=None if leaf else name,
            shape=self._shapes[number],
            source=where.text,
            line=where.line,
            column=where.column,
            span=span,
            next_functions=tuple(
                [
                    (None if e is None else self._ids[_ends_at(e)], getattr(e, "nr", 0))
                    for e in edges
                ]
            ),
            local_gradients=tuple([None if p is None else shown(p) for p in partials]),
        )


def _ends_at(edge: Edge) -> GraphNode | None:
    found: GraphNode | None = edge.node if isinstance(edge, Port) else edge
    return found


def _discover(
    root: GraphNode, shape: Shape
) -> tuple[dict[GraphNode, int], list[Shape]]:
    """Return the nodes numbered in order of discovery, and the shape of what each made.

    A node keeps its inputs' shapes rather than its output's, so shapes are handed down
    from the node that uses a value to the node that made it.
    """
    ids: dict[GraphNode, int] = {}
    shapes: list[Shape] = []
    stack: list[tuple[GraphNode, Shape]] = [(root, shape)]
    while stack:
        node, shape = stack.pop()
        if node in ids:
            continue
        ids[node] = len(shapes)
        shapes.append(shape)
        if isinstance(node, AccumulateGrad):
            continue
        edges = zip(node.edges, input_shapes(node, shape), strict=True)
        below = [
            (end, made)
            for edge, made in edges
            if (end := _ends_at(edge)) is not None and end not in ids
        ]
        stack.extend(reversed(below))
    return ids, shapes


def input_shapes(node: Node, shape: Shape) -> list[Shape]:
    """Return the shapes of a node's inputs, one per edge; ``shape`` is its output's."""
    if isinstance(node, CustomNode):
        return node.input_shapes(shape)
    if isinstance(node, UnaryNode):
        return [tuple(node.saved.shape)]
    slots: Sequence[int] = node.slots or range(len(node.edges))
    if isinstance(node, ConstantNode):
        shapes = node.shapes
        return [shape if shapes is None else shapes[slot] or () for slot in slots]
    raw = node.raw_inputs()
    return [tuple(getattr(raw[slot], "shape", ())) for slot in slots]


def _names(variables: Mapping[str, object]) -> dict[object, str]:
    names: dict[object, str] = {}
    for name, value in variables.items():
        if isinstance(value, Tensor) and value.edge is not None:
            edge = value.edge
            if not isinstance(edge, Port):
                names.setdefault(edge, name)
    return names


def raw_partials(node: Node) -> list[None] | list[Array | float | None]:
    """Return the partial of each edge at the saved values, as a raw value of the node's
    own number system; None where the node is not elementwise, that input needs no
    gradient, or its derivative is not known."""
    op = node.row()
    partials = None if op is None else op.partials
    if partials is None:
        return [None] * len(node.edges)
    raw, y = ((), None) if isinstance(node, ConstantNode) else node.restored()
    found = []
    for edge, slot in zip(node.edges, node.slots, strict=True):
        partial = None if edge is None else partials[slot]
        try:
            found.append(
                partial(node.xp, y, *raw, **node.params)
                if callable(partial)
                else partial
            )
        except KindError:
            found.append(None)
    return found
