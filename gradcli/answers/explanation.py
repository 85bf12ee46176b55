"""The backward pass as it happened: a step per node, in the order of the engine.

Invariants: the steps are what the engine passed to hooks while it ran, in its order;
the gradient that arrives at a node is the sum, in that order, of what earlier steps
sent to it.

    steps = explain(run.output, cotangent, names, view)
    steps[0].node, steps[0].sends[0].gradient        # ("RsubBackward1", -1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy import errstate

from ..engine import AccumulateGrad, Node, Port, Tensor, grad
from ..engine.walk import inputs_first
from ..lang.excerpt import printable
from ..ops.types import Array
from .briefly import extent
from .fields import HIDDEN, ROWS, named
from .gradients import OutputView, derived, output_of
from .graph import assignment_text, shape_text, size_text
from .graph_view import GraphView, NodeView, Shape, graph_of, raw_partials
from .line import BLANK, Layout, Line, Part, aligned
from .names import NameCollector
from .numbers import inline, six_digits
from .plain_numbers import Plain, Shown, plain
from .question import Question


@dataclass(frozen=True, slots=True)
class Send:
    """Gradient that one edge carries to the next node.

    edge            The number of the edge, among those of the node.
    id              The node at its end, by `id`.
    to              The name of that node.
    name            The program's name for the value there, or its text.
    output_nr       The number of that node's output.
    local_gradient  the partial derivative on the edge, where it is elementwise
    reduced         the shape that the product was summed to for a broadcast input
    held            The gradient that had arrived there before.
    total           The sum of all that has arrived there now.
    """

    edge: int
    id: int
    to: str
    name: str | None
    output_nr: int
    local_gradient: Plain | None = field(metadata=HIDDEN)
    gradient: Plain
    reduced: Shape | None = field(metadata=HIDDEN)
    held: Plain | None
    total: Plain


@dataclass(frozen=True, slots=True)
class StepView:
    """A node's step in the backward pass: the gradients that arrive and go on.

    number           The number of the step, from 1.
    id               The node's number in the graph, which edges name.
    source           The program's text of the value.
    line             The line of that text, counted from 1.
    column           The column of that text, counted from 1.
    arrived          The gradient that arrived; with several outputs one for each.
    grad_before      For a leaf: its gradient before the step.
    grad_after       For a leaf: its gradient after the step.
    outputs          The number of outputs of the node.
    local_gradients  The partial derivative on each edge, where it is elementwise.
    """

    number: int = field(metadata=named("step"))
    id: int
    node: str
    name: str | None
    source: str | None
    line: int | None
    column: int | None
    arrived: Plain | tuple[Plain | None, ...] | None = field(metadata=named("incoming"))
    sends: tuple[Send, ...]
    grad_before: Plain | None
    grad_after: Plain | None
    outputs: int
    local_gradients: tuple[Plain | None, ...]

    @property
    def incoming(self) -> tuple[Plain | None, ...]:
        """Gradients that arrived at each output; None where none did."""
        arrived: Any = self.arrived
        return (arrived,) if self.outputs == 1 else arrived

    @property
    def is_leaf(self) -> bool:
        """Whether this step adds to a leaf's gradient."""
        return self.node == "AccumulateGrad"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Answer of `gradcli explain`: the pass, from the gradient that it starts with.

    program  The program's text.
    start    The gradient that the pass starts with.
    given    whether the user gave that gradient
    steps    The steps of the pass, in order.
    """

    command: ClassVar = "explain"

    program: str
    output: OutputView
    start: Plain = field(metadata=named("grad_output"))
    given: bool = field(metadata=HIDDEN)
    steps: tuple[StepView, ...] = field(metadata=ROWS)


def explanation(
    question: Question, look: Callable[[Tensor, GraphView], None] | None = None
) -> Explanation:
    """Run the program of a question and its backward pass; return every step. The
    output and the graph are passed to ``look`` before the pass frees saved values."""
    run, names = question.run_with_names()
    run.require_graph()
    start = run.first_cotangent(question.grad_output)
    view = graph_of(run, local_gradients=False)
    if look is not None:
        look(run.output, view)
    with run.explained():
        steps = explain(run.output, start, names, view)
    given = question.grad_output is not None
    return Explanation(run.source, output_of(run), plain(start.raw), given, steps)


@errstate(all="ignore")
def explain(
    output: Tensor,
    cotangent: Tensor,
    names: NameCollector,
    view: GraphView,
    shown: Callable[[object], object] = plain,
    run: Callable[..., object] | None = None,
    **options: object,
) -> tuple[StepView, ...]:
    """Run the backward pass of ``output`` and return every step of it.

    The pass is run by ``run``, by default `Tensor.backward`; leaves accumulate their
    gradients, and saved values are freed, unless its ``options`` say otherwise. Numbers
    and arrays are ``shown`` as plain numbers or in another form.
    """
    watch = _StepRecorder(output, cotangent, names, view, shown)
    with watch.looking(output):
        (run or output.backward)(cotangent, **options)
    return tuple(watch.steps)


@errstate(all="ignore")
def rehearse(
    output: Tensor,
    cotangent: Tensor,
    names: NameCollector,
    view: GraphView,
    shown: Callable[[object], object] = plain,
) -> tuple[StepView, ...]:
    """Return the steps of a pass, as `explain` does, and change nothing: no leaf's
    gradient is added to, none of its hooks is called, and nothing is freed. The leaves'
    steps come last."""
    watch = _StepRecorder(output, cotangent, names, view, shown)
    with watch.looking(output) as below:
        leaves = [node for node in below if isinstance(node, AccumulateGrad)]
        inputs = [leaf.variable for leaf in leaves]
        found = grad([output], inputs, [cotangent], retain_graph=True)
    for leaf, arriving in zip(leaves, found, strict=True):
        if arriving is not None:
            watch.rehearsed(leaf, arriving.raw)
    return tuple(watch.steps)


class _StepRecorder:
    """An observer that records the steps while the engine takes them."""

    def __init__(
        self,
        output: Tensor,
        cotangent: Tensor,
        names: NameCollector,
        view: GraphView,
        shown: Callable[[Any], Any],
    ) -> None:
        self.steps: list[StepView] = []
        self._shown = shown
        self._names = names
        self._nodes: Mapping[int, NodeView] = {n.address: n for n in view.nodes}
        self._arrived = {output.edge: cotangent.raw}
        self._before: Plain | None = None

    @contextmanager
    def looking(self, output: Tensor) -> Iterator[list[Node | AccumulateGrad]]:
        """Watch the nodes below an output in a block; yield them, inputs first."""
        below = [e for e in inputs_first([output.edge]) if not isinstance(e, Port)]
        handles = [handle for node in below for handle in self._over(node)]
        try:
            yield below
        finally:
            for handle in handles:
                handle.remove()

    def rehearsed(self, leaf: AccumulateGrad, came: Any) -> None:
        """Record a leaf's step for a pass that stopped before the leaf accumulated."""
        held = None if leaf.grad is None else leaf.grad.raw
        after = self._shown(came if held is None else held + came)
        before = None if held is None else self._shown(held)
        self._note(leaf, (self._shown(came),), (), before, after)

    def _over(self, node: Node | AccumulateGrad) -> Iterator[Any]:
        """Register hooks on one node, and yield their handles."""
        if isinstance(node, AccumulateGrad):
            yield node.register_prehook(lambda arriving: self._see_leaf(node))
            yield node.register_hook(lambda _, given: self._leaf(node, given[0]))
        else:
            yield node.register_hook(lambda sent, given: self._node(node, sent, given))

    def _see_leaf(self, leaf: AccumulateGrad) -> None:
        self._before = None if leaf.grad is None else self._shown(leaf.grad.raw)

    def _leaf(self, leaf: AccumulateGrad, arriving: Tensor) -> None:
        after = None if leaf.grad is None else self._shown(leaf.grad.raw)
        self._note(leaf, (self._shown(arriving.raw),), (), self._before, after)

    def _node(
        self, node: Node, sent: tuple[Tensor | None, ...], given: tuple[Any, ...]
    ) -> None:
        shape = next(tuple(g.shape) for g in given if g is not None)
        edges = zip(node.edges, sent, raw_partials(node), strict=True)
        sends = [
            self._send(nr, edge, g.raw, partial, shape)
            for nr, (edge, g, partial) in enumerate(edges)
            if edge is not None and g is not None
        ]
        incoming = tuple(None if g is None else self._shown(g.raw) for g in given)
        self._note(node, incoming, tuple(sends))

    def _send(
        self,
        nr: int,
        edge: Node | Port | AccumulateGrad,
        g: Array,
        partial: Array | float | None,
        shape: Shape,
    ) -> Send:
        before = self._arrived.get(edge)
        total = g if before is None else before + g
        self._arrived[edge] = total
        several = isinstance(edge, Port)
        made = self._nodes[id(edge.node if isinstance(edge, Port) else edge)]
        reduced = partial is not None and g.shape != shape
        return Send(
            edge=nr,
            id=made.id,
            to=made.name,
            name=self._names.of(edge) or (None if several else made.source),
            output_nr=edge.nr if isinstance(edge, Port) else 0,
            local_gradient=None if partial is None else self._shown(partial),
            gradient=self._shown(g),
            reduced=tuple(g.shape) if reduced else None,
            held=None if before is None else self._shown(before),
            total=self._shown(total),
        )

    def _note(
        self,
        node: Node | AccumulateGrad,
        incoming: tuple[Plain | None, ...],
        sends: tuple[Send, ...],
        before: Plain | None = None,
        after: Plain | None = None,
    ) -> None:
        made = self._nodes[id(node)]
        self.steps.append(
            StepView(
                number=len(self.steps) + 1,
                id=made.id,
                node=made.name,
                name=self._names.of(node) or made.variable or made.output,
                source=made.source,
                line=made.line,
                column=made.column,
                arrived=incoming[0] if len(incoming) == 1 else incoming,
                sends=sends,
                grad_before=before,
                grad_after=after,
                outputs=len(incoming),
                local_gradients=tuple(send.local_gradient for send in sends),
            )
        )


MAX_LABEL_COLUMNS = 16
"""Largest width that labels are padded to, in columns."""

MAX_VALUE_CHARACTERS = 40
"""Largest length of an array that a terminal writes out, in characters; for a longer
one it shows the shape and the range."""


def lines(explanation: Explanation, layout: Layout) -> Iterator[Line]:
    """Yield the whole explanation: the start of the pass, then every step."""
    yield from opening(explanation, layout)
    for each in explanation.steps:
        yield from step(each, layout)


def opening(explanation: Explanation, layout: Layout) -> Iterator[Line]:
    """Yield the output and the gradient that the pass starts with."""
    output, seed = explanation.output, derived(explanation.output)
    equals: Part = (" = ", "plain")
    found = _value(output.value, layout)
    yield Line((printable(output.name), "name"), equals, (found, "number"))
    label = "--grad-output" if explanation.given else f"d{seed}/d{seed}" * bool(seed)
    named = [(label, "name"), equals] if label else []
    start = _value(explanation.start, layout)
    yield Line(("the pass starts with ", "dim"), *named, (start, "number"))


def step(view: StepView, layout: Layout) -> Iterator[Line]:
    """Yield a blank line, the node, and what happened there."""
    yield BLANK
    number = str(view.number)
    yield Line(
        (number, "dim"),
        (f"  {view.node}", "node"),
        (
            f"  {assignment_text(view.name, view.source)}",
            "name" if view.is_leaf else "plain",
        ),
    )
    margin = " " * (len(number) + 2)
    rows: list[list[Part]] = [
        [(margin + label, "dim"), (f"  {said}", "number"), (note, "dim")]
        for label, said, note in _happened(view, layout)
    ]
    yield from aligned(rows, 1, margin + "  ", len(margin) + MAX_LABEL_COLUMNS)


def _happened(view: StepView, layout: Layout) -> Iterator[tuple[str, str, str]]:
    """Yield the label, the numbers and the note of each row of a step."""
    several = len(view.incoming) > 1
    for nr, g in enumerate(view.incoming):
        yield f"arrives{f' #{nr}' * several}", _value(g, layout), ""
    for send in view.sends:
        said, notes = _value(send.gradient, layout), []
        both = factors(view, send)
        if both:
            said = " * ".join(_value(each, layout) for each in both) + f" = {said}"
        if send.local_gradient is None:
            notes.append("not elementwise: by the node's own rule")
        if send.reduced is not None:
            notes.append(f"summed to the shape {shape_text(send.reduced) or '[]'}")
        if send.held is not None:
            held, total = _value(send.held, layout), _value(send.total, layout)
            notes.append(f"{held} had arrived: together {total}")
        note = f"  ({', '.join(notes)})" if notes else ""
        yield f"to {printable(target(send))}", said, note
    if view.is_leaf:
        label = f"{printable(view.name or 'leaf')}.grad"
        after, before = _value(view.grad_after, layout), view.grad_before
        if before is None:
            yield label, after, "  (was None)"
        else:
            yield label, f"{_value(before, layout)} + what arrives = {after}", ""


def target(send: Send) -> str:
    """Return the name of the value that an edge leads to, else its node's; an output
    that is not the first has its number."""
    return (send.name or send.to) + (f" #{send.output_nr}" if send.output_nr else "")


def factors(view: StepView, send: Send) -> tuple[Plain, ...]:
    """Return the two factors of the gradient that a step sends along an edge; nothing
    if it is no product."""
    arrived = view.incoming[0] if len(view.incoming) == 1 else None
    if arrived is None or send.local_gradient is None:
        return ()
    return arrived, send.local_gradient


def _value(number: Shown | None, layout: Layout) -> str:
    """Return a value on one line; in a terminal a large array's shape and range."""
    if number is None:
        return "None"
    text = inline(number)
    if layout.rows is None or len(text) <= MAX_VALUE_CHARACTERS:
        return text
    size, among = size_text(number), extent(number)
    if among.low > among.high:
        return f"{size} of nan" if among.nan else size
    nan = ", nan among them" if among.nan else ""
    return f"{size} from {six_digits(among.low)} to {six_digits(among.high)}{nan}"


def plain_steps(explanation: Explanation) -> Iterator[Line]:
    """Yield the gradients that arrive at each step, a step a line."""
    for view in explanation.steps:
        text = " ".join("None" if g is None else inline(g) for g in view.incoming)
        yield Line((text, "number"))
