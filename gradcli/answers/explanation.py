"""The backward pass as it happened: a step per node, in the order of the engine.

Invariants: the steps are what the engine showed an observer while it ran, in its order;
the gradient that arrives at a node is the sum, in that order, of what earlier steps
sent to it.

    steps = explain(run.output, cotangent, names, view)
    steps[0].node, steps[0].sends[0].gradient        # ("RsubBackward1", -1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from numpy import errstate

from ..engine import AccumulateGrad, Node, Port, Tensor, grad
from ..engine.backward import accumulate_gradients
from ..engine.modes import WATCH, PassObserver
from ..engine.walk import inputs_first
from ..lang.excerpt import printable
from ..ops.types import Array
from .fields import HIDDEN, ROWS, named
from .gradients import OutputView, derived, output_of
from .graph import assignment_text, shape_text, size_text
from .graph_view import (
    GraphView,
    NameCollector,
    NodeView,
    Shape,
    graph_of,
    raw_partials,
)
from .line import BLANK, Layout, Line, Part, aligned, dim
from .numbers import Plain, Shown, extent, inline, plain, six_digits
from .question import Question
from .textbook_rules import COTANGENT, Rules, StatedRules, meanings


@dataclass(frozen=True, slots=True)
class Send:
    """Gradient that one edge carries to the next node.

    edge            The number of the edge, among those of the node.
    id              The node at its end, by `id`.
    to              The name of that node.
    name            The program's name for the value there, or its text.
    output_nr       The number of that node's output.
    local_gradient  the partial derivative on the edge, where it is elementwise
    rule            the rule along the edge, unless the partial derivative is a number
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
    rule: str | None = field(metadata=HIDDEN)
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
    letters  the letters in the rules, with their meanings
    shapes   the shapes of the program's values, by name
    """

    command: ClassVar = "explain"

    program: str
    output: OutputView
    start: Plain = field(metadata=named("grad_output"))
    given: bool = field(metadata=HIDDEN)
    steps: tuple[StepView, ...] = field(metadata=ROWS)
    letters: str = field(metadata=HIDDEN)
    shapes: Mapping[str, Shape] = field(default_factory=dict, metadata=HIDDEN)


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
        rules = Rules(names, view)
        steps = explain(run.output, start, names, view, rule=rules)
    return Explanation(
        program=run.source,
        output=output_of(run),
        start=plain(start.raw),
        given=question.grad_output is not None,
        steps=steps,
        letters=rule_letters(steps, rules.taken),
        shapes=run.shapes(),
    )


@errstate(all="ignore")
def explain(
    output: Tensor,
    cotangent: Tensor,
    names: NameCollector,
    view: GraphView,
    shown: Callable[[object], object] = plain,
    run: Callable[..., object] | None = None,
    rule: Callable[[Node, int], str | None] = lambda node, nr: None,
) -> tuple[StepView, ...]:
    """Run the backward pass of ``output`` and return every step of it.

    The pass is run by ``run``, a function of the cotangent; by default leaves
    accumulate their gradients, and saved values are freed. Numbers and arrays are
    ``shown`` as plain numbers or in another form; ``rule`` gives the rule along an edge
    in the program's names.
    """
    watch = _StepRecorder(output, cotangent, names, view, shown, rule)
    with watch.looking(output):
        if run is None:
            accumulate_gradients([output], [cotangent], False, False)
        else:
            run(cotangent)
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


class _StepRecorder(PassObserver):
    """An observer that records the steps while the engine takes them."""

    def __init__(
        self,
        output: Tensor,
        cotangent: Tensor,
        names: NameCollector,
        view: GraphView,
        shown: Callable[[Any], Any],
        rule: Callable[[Node, int], str | None] = lambda node, nr: None,
    ) -> None:
        self.steps: list[StepView] = []
        self._shown = shown
        self._rule = rule
        self._names = names
        self._nodes: Mapping[int, NodeView] = {n.address: n for n in view.nodes}
        self._arrived = {output.edge: cotangent.raw}
        self._before: Plain | None = None

    @contextmanager
    def looking(self, output: Tensor) -> Iterator[list[Node | AccumulateGrad]]:
        """Watch the nodes below an output in a block; yield them, inputs first."""
        with WATCH.by(self):
            yield [e for e in inputs_first([output.edge]) if not isinstance(e, Port)]

    def rehearsed(self, leaf: AccumulateGrad, came: Any) -> None:
        """Record a leaf's step for a pass that stopped before the leaf accumulated."""
        held = None if leaf.grad is None else leaf.grad.raw
        after = self._shown(came if held is None else held + came)
        before = None if held is None else self._shown(held)
        self._note(leaf, (self._shown(came),), (), before, after)

    def before(self, node: Any, g: Any) -> Any:
        """Note the gradient that a leaf has before a pass adds to it."""
        if isinstance(node, AccumulateGrad):
            held = node.grad
            self._before = None if held is None else self._shown(held.raw)
        return super().before(node, g)

    def finished(self, leaf: Any, g: Any) -> None:
        """Record a leaf's step."""
        super().finished(leaf, g)
        after = None if leaf.grad is None else self._shown(leaf.grad.raw)
        self._note(leaf, (self._shown(_raw(g)),), (), self._before, after)

    def after(self, node: Any, pulled: Any, g: Any) -> Any:
        """Record a node's step."""
        pulled = super().after(node, pulled, g)
        given = g if isinstance(g, tuple) else (g,)
        self._record(node, tuple(map(_raw, pulled)), tuple(map(_raw, given)))
        return pulled

    def _record(
        self, node: Node, sent: tuple[Any, ...], given: tuple[Any, ...]
    ) -> None:
        shape = next(tuple(g.shape) for g in given if g is not None)
        edges = zip(node.edges, sent, raw_partials(node), strict=True)
        sends = [
            self._send(node, nr, edge, g, partial, shape)
            for nr, (edge, g, partial) in enumerate(edges)
            if edge is not None and g is not None
        ]
        incoming = tuple(None if g is None else self._shown(g) for g in given)
        self._note(node, incoming, tuple(sends))

    def _send(
        self,
        node: Node,
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
        single = partial is not None and getattr(partial, "shape", ()) == ()
        return Send(
            edge=nr,
            id=made.id,
            to=made.name,
            name=self._names.of(edge) or (None if several else made.source),
            output_nr=edge.nr if isinstance(edge, Port) else 0,
            local_gradient=None if partial is None else self._shown(partial),
            rule=None if single else self._rule(node, nr),
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


def _raw(g: Any) -> Any:
    """Return a cotangent's array; in a pass that is recorded it is a tensor."""
    return g.raw if isinstance(g, Tensor) else g


MAX_LABEL_COLUMNS = 16
"""Largest width that labels are padded to, in columns."""

MAX_VALUE_CHARACTERS = 40
"""Largest length of an array that a terminal writes out, in characters; for a longer
one it shows the shape and the range."""


def lines(
    explanation: Explanation, layout: Layout, rules: StatedRules
) -> Iterator[Line]:
    """Yield the whole explanation: the start of the pass, then every step."""
    yield from opening(explanation, layout)
    for each in explanation.steps:
        yield from step(each, layout, rules)


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
    if explanation.letters:
        yield dim(explanation.letters)


def rule_letters(steps: Iterable[StepView], known: frozenset[str]) -> str:
    """Return the letters in the rules of steps with their meanings, except the
    ``known`` ones."""
    rules = (send.rule for each in steps for send in each.sends)
    return meanings([rule for rule in rules if rule is not None], known)


def step(view: StepView, layout: Layout, rules: StatedRules) -> Iterator[Line]:
    """Yield a blank line, the node, and its gradients with the ``rules`` that gave
    them."""
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
        for label, said, note in _happened(view, layout, rules)
    ]
    yield from aligned(rows, 1, margin + "  ", len(margin) + MAX_LABEL_COLUMNS)


def _happened(
    view: StepView, layout: Layout, rules: StatedRules
) -> Iterator[tuple[str, str, str]]:
    """Yield the label, the numbers and the note of each row of a step."""
    several = len(view.incoming) > 1
    for nr, g in enumerate(view.incoming):
        yield f"arrives{f' #{nr}' * several}", _value(g, layout), ""
    for send in view.sends:
        said, notes = _value(send.gradient, layout), []
        made = product(view, send, " * ", lambda number: _factor(number, layout), str)
        said = f"{made} = {said}" if made else said
        stated = rules.get((view.id, send.edge))
        if stated is not None:
            notes.append(stated.named)
        elif not made:
            notes.append("by the node's own rule")
        if send.reduced is not None:
            notes.append(f"summed to the shape {shape_text(send.reduced) or '[]'}")
        if send.held is not None:
            held, total = _value(send.held, layout), _value(send.total, layout)
            notes.append(f"{held} had arrived: together {total}")
        note = f"  ({'; '.join(notes)})" if notes else ""
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


def product(
    view: StepView,
    send: Send,
    sign: str,
    shown: Callable[[Plain], str],
    code: Callable[[str], str],
) -> str:
    """Return how a step makes the gradient that it sends along an edge: two numbers
    with a sign between them, or the rule as ``code``; an empty text where neither is
    known."""
    if send.rule is not None:
        return code(send.rule)
    return sign.join(map(shown, factors(view, send)))


def factors(view: StepView, send: Send) -> tuple[Plain, ...]:
    """Return the two factors of the gradient that a step sends along an edge; nothing
    if it is no product."""
    arrived = view.incoming[0] if len(view.incoming) == 1 else None
    if arrived is None or send.local_gradient is None:
        return ()
    return arrived, send.local_gradient


def _factor(number: Plain, layout: Layout) -> str:
    """Return a factor; the gradient that arrives is ``g`` if it is not written out."""
    text = _value(number, layout)
    return text if text == inline(number) else COTANGENT


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
