"""A recorded graph as a list of nodes, which are numbered from the root; the names that
a program gave to their values, and the places of their texts.

Invariants: ids count from 0 at the root in the order in which following
`next_functions` from left to right discovers the nodes; the view is the graph, node
for node and edge for edge, whatever its depth. It must be made before a backward pass
frees what the nodes saved, because shapes and local gradients are read from there.
Lines and columns count from 1, as in messages.

    view = graph_view(run.output, source=run.source, name="L", variables=run.variables)
    view.nodes[0].name                   # "RsubBackward1"
    view.nodes[0].next_functions         # ((1, 0),)
    SpanFinder("y = sin(x)").find((4, 10))        # ("sin(x)", 1, 5)
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from ..engine import AccumulateGrad, Node, Port, Tensor
from ..engine.custom import CustomNode
from ..engine.node import ConstantNode, Edge
from ..lang.excerpt import CUT, LINE_BREAK
from ..lang.run import Input
from ..ops.checks import KindError
from ..ops.records import record
from ..ops.types import Array
from .fields import ALWAYS, HIDDEN, IF_ANY, ROWS, Metadata, named
from .numbers import Shown, shown

if TYPE_CHECKING:
    from ..lang.run import Run


Span: TypeAlias = tuple[int, int]

MAX_NOTE_CHARACTERS = 60
"""Largest length of a text in a note or in a table, in characters."""


class Where(NamedTuple):
    """The text of a span and where it begins; all None for an unknown span."""

    text: str | None = None
    line: int | None = None
    column: int | None = None


class SpanFinder:
    """A finder of spans in one program; it cuts texts to ``most`` characters."""

    def __init__(self, source: str, most: int = MAX_NOTE_CHARACTERS) -> None:
        self._source = source
        self._most = most
        self._lines = [0, *(found.end() for found in LINE_BREAK.finditer(source))]
        self._found: dict[Span, Where] = {}

    def find(self, span: Span | None) -> Where:
        """Return the text, line and column of a span."""
        if span is None:
            return Where()
        found = self._found.get(span)
        if found is None:
            start, end = span
            line = bisect_right(self._lines, start)
            text = " ".join(self._source[start : min(end, start + self._most)].split())
            text += CUT if end - start > self._most else ""
            found = Where(text, line, start - self._lines[line - 1] + 1)
            self._found[span] = found
        return found


class NameCollector:
    """A collector of the names that values get during a run.

    A value is called by its input's name or else by the first name that it was given
    while the program ran. `sole` tells whether that name meant nothing else at any
    time, so that a formula may use it.
    """

    def __init__(self) -> None:
        self._by_edge: dict[object, str] = {}
        self._by_value: dict[int, str] = {}
        self._held: list[object] = []
        self._times: Counter[str] = Counter()
        self._assigned: frozenset[str] = frozenset()

    def record_statement(self, span: object, name: str | None, value: object) -> None:
        """Record a statement that ran; the run takes this method as its trace."""
        if name is not None:
            self._times[name] += 1
            if isinstance(value, Tensor) and value.edge is not None:
                self._by_edge.setdefault(value.edge, name)

    def settle(
        self,
        inputs: Iterable[Input],
        variables: Mapping[str, object],
        assigned: frozenset[str],
    ) -> None:
        """Record, after a run, its inputs, its variables and the names assigned."""
        self._assigned = assigned
        for name, value in variables.items():
            if isinstance(value, Tensor):
                self._by_edge.setdefault(value.edge, name)
                self._call(value.raw, name)
        for given in inputs:
            self._times[given.name] += 1
            self._by_edge[given.tensor.edge] = given.name
            self._call(given.tensor.raw, given.name)

    def _call(self, raw: object, name: str) -> None:
        self._by_value[id(raw)] = name
        # The value is kept, because another one could get its id once it is freed.
        self._held.append(raw)

    def of(self, edge: object) -> str | None:
        """Return the name of the value that an edge leads to; None if it has none."""
        return None if edge is None else self._by_edge.get(edge)

    def of_constant(self, raw: object) -> str | None:
        """Return the name of a raw value without a gradient; None if it has none."""
        return self._by_value.get(id(raw))

    def known(self) -> frozenset[str]:
        """Return all names that values have."""
        return frozenset(self._by_edge.values()).union(self._by_value.values())

    def sole(self, name: str) -> bool:
        """Return whether the name meant only one value during the whole run.

        The names that a `for` assigns are not recorded, so they count as not.
        """
        heard = self._times[name]
        return heard == 1 or (heard == 0 and name not in self._assigned)


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
    ``saved`` has texts of what a node of PyTorch saved, by name; None for other nodes.
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
    saved: Mapping[str, str] | None = None

    @classmethod
    def json_keys(cls) -> dict[str, Metadata]:
        """Return the fields that are keys of the node's object, with their metadata."""
        keys = dict.fromkeys(cls.__match_args__, ALWAYS) | {"saved": IF_ANY}
        del keys["address"]
        return keys

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


@record
class GraphFile:
    """Answer of `gradcli graph --out`: the file that was written.

    program  The program's text.
    file     The file that was written.
    nodes    The number of nodes of the graph.
    """

    command: ClassVar = "graph"

    program: str
    file: str
    nodes: int


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


@record
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
