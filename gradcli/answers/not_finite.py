"""Search for the step at which a gradient stopped being finite, and for rewritings of
the program that keep it finite, each of them tested.

The engine's own reverse pass is run once more and watched. The first edge is reported
that makes a result that is not finite from finite numbers; if it is an infinity, the
first edge that later makes nan of it is reported, too.

A row of the table below is two texts of the language: a pattern, and what to write
instead. A capital letter stands for any expression, REST for further arguments; a
letter in braces is put in parentheses where its expression needs them.

Invariant: a proposal has been run. Its values are those of the old program wherever
these are finite, at the point and at sampled points, and its gradients are finite and,
if that was asked for, between the slopes on both sides. It is a proposal, not a
verdict: it is tested in the floats of the program, before anything is shown, because
`verify` would take seconds on balls.

    trouble(run, None).edges[0].incoming        # 0.0
    trouble(run, None).rewriting.text   # "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"
    tried(run, "xlogy(x, y)", None).gradients["y"]
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from ..engine import Node, Tensor, grad
from ..engine.modes import WATCH, PassObserver
from ..engine.numeric import slopes
from ..engine.raw import Host
from ..engine.tensor import lifted
from ..lang.errors import ProgramError, Span
from ..lang.excerpt import printable
from ..lang.parser import parse
from ..lang.run import Run, Session, all_finite, evaluate
from ..lang.syntax import (
    Assign,
    Binary,
    Call,
    Evaluate,
    Expression,
    Literal,
    MethodCall,
    Name,
    Program,
    Unary,
    children,
    walk,
)
from ..ops import ALIASES, FUNCTIONS
from ..ops.types import Array
from .fields import IF_ANY
from .graph import shorten
from .graph_view import MAX_NOTE_CHARACTERS, SpanFinder, raw_partials
from .numbers import Plain, inline, number, plain

MAX_REWRITINGS = 24
"""Largest number of rewritings of a program that are tried."""

INSTEAD: Sequence[tuple[str, str]] = (
    ("log(softmax(A, REST))", "log_softmax(A, REST)"),
    ("log(sigmoid(A))", "logsigmoid(A)"),
    ("log(1 - sigmoid(A))", "logsigmoid(-{A})"),
    ("log(1 + exp(A))", "softplus(A)"),
    ("log1p(exp(A))", "softplus(A)"),
    ("log(exp(A) + exp(B))", "logaddexp(A, B)"),
    ("log(sum(exp(A)))", "logsumexp(flatten(A), dim=0)"),
    ("log(sum(exp(A), REST))", "logsumexp(A, REST)"),
    ("exp(A)/(1 + exp(A))", "sigmoid(A)"),
    ("1/(1 + exp(-A))", "sigmoid(A)"),
    ("exp(A)/sum(exp(A))", "softmax(A, dim=0)"),
    ("exp(A)/sum(exp(A), REST)", "softmax(A, dim=-1)"),
    ("exp(A)/sum(exp(A), REST)", "softmax(A, dim=0)"),
    ("log(prod(A))", "sum(log(A))"),
    ("A*log(B)", "where({A} == 0, 0, {A}*log(where({A} == 0, 1, B)))"),
    ("A*log1p(B)", "where({A} == 0, 0, {A}*log1p(where({A} == 0, 0, B)))"),
    ("sqrt(sum(A**2))", "norm(A)"),
    ("sqrt(sum(A*A))", "norm(A)"),
    ("sum(A**2)**0.5", "norm(A)"),
    ("sqrt(A**2 + B**2)", "norm(stack([A, B]))"),
    ("sqrt(A*A + B*B)", "norm(stack([A, B]))"),
    ("sqrt(A**2)", "abs(A)"),
    ("sqrt(A*A)", "abs(A)"),
    ("(A**2)**0.5", "abs(A)"),
    ("sum(A*A)**0.5", "norm(A)"),
    ("sqrt(mean(A**2))", "(norm(A)/sqrt({A}.numel()))"),
    ("sqrt(mean(A*A))", "(norm(A)/sqrt({A}.numel()))"),
    ("sqrt(var(A))", "std(A)"),
    ("sqrt(var(A, REST))", "std(A, REST)"),
    ("sqrt(A)**2", "{A}"),
    ("sqrt(A)*sqrt(A)", "{A}"),
    ("exp(log(A))", "{A}"),
    ("exp(A*log(B))", "({B}**{A})"),
    ("sin(A)/A", "sinc({A}/pi)"),
    ("(exp(A) - exp(-A))/(exp(A) + exp(-A))", "tanh(A)"),
    ("exp(A)/(exp(A) + exp(B))", "sigmoid({A} - {B})"),
)

_OPERATORS = {"/": "div", "**": "pow"}

REST = "REST"
COMMUTATIVE = frozenset({(Binary, "+"), (Binary, "*")})
LETTERS = re.compile(r"\b[AB]\b")
FILLED = re.compile(r"\{([AB])\}|\b[AB]\b|, REST\b")
ATOM = re.compile(r"[\w.]+(\([^()]*\))?")


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A new expression or assignment, the one that it replaces, and the new program
    with its value and its gradients."""

    text: str
    instead: str
    program: str
    value: Plain
    gradients: Mapping[str, Plain | None]


@dataclass(frozen=True, slots=True)
class NonFiniteEdge:
    """An edge of the reverse pass at which numbers stopped being finite.

    ``entry`` is the index of the entry that the numbers belong to. ``incoming`` and
    ``local_gradient`` are None if the result is not just their product; ``needs`` is
    what the local gradient needs that no real number is.
    """

    node: str
    source: str | None
    line: int | None
    column: int | None
    to: str
    entry: tuple[int, ...]
    incoming: float | None
    local_gradient: float | None
    result: float
    needs: str | None = field(default=None, metadata=IF_ANY)


@dataclass(frozen=True, slots=True)
class Trouble:
    """The edges at which numbers stopped being finite, and a rewriting."""

    edges: tuple[NonFiniteEdge, ...]
    rewriting: Rewriting | None


def trouble(run: Run, cotangent: Tensor | None) -> Trouble:
    """Return what a watched reverse pass shows of a run whose value or gradients are
    not finite; ``cotangent`` weighs a vector output's entries."""
    edges, culprits = _watched(run, cotangent)
    program = parse(run.source, [given.name for given in run.inputs])
    for proposal in islice(_proposals(program, culprits), MAX_REWRITINGS):
        span = proposal.span
        source = run.source[: span.start] + proposal.put + run.source[span.end :]
        trial = tried(run, source, cotangent, across=not proposal.guards)
        if trial is not None:
            gradients = {
                name: None if raw is None else plain(raw)
                for name, raw in trial.gradients.items()
            }
            value = plain(trial.value)
            found = Rewriting(proposal.text, proposal.instead, source, value, gradients)
            return Trouble(tuple(edges), found)
    return Trouble(tuple(edges), None)


# the edge where it began


def _watched(
    run: Run, cotangent: Tensor | None
) -> tuple[list[NonFiniteEdge], list[Span]]:
    """Return the first edge of a second reverse pass that is not finite, and the first
    that makes nan, with their places."""
    again = Session(run.prepared, of=run.of).run()
    leaves = {i.tensor.edge: i.name for i in again.inputs}
    places = SpanFinder(run.source)
    found: list[NonFiniteEdge] = []
    spans: list[Span] = []

    def look(node: Node, pulled: Sequence[Any], arrived: Sequence[Any]) -> None:
        if found and np.isnan(found[-1].result):
            return
        came_bad = any(g is not None and not all_finite(g) for g in arrived)
        had_nan = any(g is not None and g.xp.isnan(g.raw).any() for g in arrived)
        for position, g in enumerate(pulled):
            if g is None or all_finite(g):
                continue
            entry, incoming, local, result = _product(node, position, g, arrived)
            # An edge that only passes an infinity on is not where it began.
            if came_bad and (had_nan or not np.isnan(result)):
                continue
            span = None if node.span is None else Span(*node.span[:2])
            spans.extend([] if span is None else [span])
            to, where = node.next_functions[position][0], places.find(span)
            needs = _needs(node, position) if local is not None else None
            found.append(NonFiniteEdge(
                type(node).__name__, where.text, where.line, where.column,
                leaves.get(to) or type(to).__name__, entry, incoming, local, result,
                needs,
            ))  # fmt: skip
            return

    output = again.output
    if output.edge is not None:
        ones = Tensor(output.xp.ones_like(output.raw), output.xp)
        given = [i.tensor for i in again.inputs if i.requires_grad]
        with WATCH.by(_PulledObserver(look)), np.errstate(all="ignore"):
            grad([output], given, [ones if cotangent is None else cotangent])
    return found, spans


class _PulledObserver(PassObserver):
    """An observer that shows a function each node, what it gave and what arrived."""

    def __init__(self, look: Callable[[Node, Any, Any], None]) -> None:
        self.look = look

    def after(self, node: Any, pulled: Any, g: Any) -> Any:
        """Show the cotangents that a node gave."""
        given = g if isinstance(g, tuple) else (g,)
        self.look(node, *[[lifted(p, node.xp) for p in ps] for ps in (pulled, given)])
        return super().after(node, pulled, g)


def _product(
    node: Node, position: int, pulled: Tensor, arrived: Sequence[Any]
) -> tuple[tuple[int, ...], float | None, float | None, float]:
    """Return the first entry that is not finite, its two factors and its value."""
    slope = raw_partials(node)[position]
    if slope is not None and len(arrived) == 1 and arrived[0] is not None:
        incoming, local = np.broadcast_arrays(_host(arrived[0].raw), _host(slope))
        product = incoming * local
        if not bool(np.isfinite(product).all()):
            entry = _first(product)
            result = float(product[entry])
            return entry, float(incoming[entry]), float(local[entry]), result
    entry = _first(pulled.raw)
    return entry, None, None, float(pulled.raw[entry])


class _Listening:
    """A namespace that keeps why the first of its results that is NaN is so."""

    def __init__(self, xp: Any) -> None:
        self.xp, self.why = xp, ""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self.xp, name)

        def run(*args: object, **named: object) -> Any:
            made = function(*args, **named)
            if not self.why and name in FUNCTIONS and self.xp.isnan(made).any():
                self.why = FUNCTIONS[name].not_finite.get("nan", "")
            return made

        return run


def _needs(node: Node, position: int) -> str | None:
    """Return what makes a local gradient NaN, if a function in its formula does."""
    partial = (node.op.partials or ())[node.slots[position]]
    if not callable(partial):
        return None
    raw, y = node.restored()
    listening = _Listening(node.xp)
    partial(listening, y, *raw, **node.params)
    return listening.why or None


def _host(raw: object) -> Host:
    return np.asarray(plain(raw))


def _first(raw: object) -> tuple[int, ...]:
    """Return the index of the first nan, or of the first infinity if none is nan."""
    values = _host(raw)
    bad = np.isnan(values)
    if not bool(bad.any()):
        bad = ~np.isfinite(values)
    return tuple(int(i) for i in np.argwhere(bad)[0])


# proposals


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A text to put in place of a part of the program, and how both are shown.

    ``guards`` means that it keeps a value that a `where` drops from being computed; the
    gradient is then that of the branch taken, which slopes across the border miss.
    """

    span: Span
    put: str
    text: str
    instead: str
    guards: bool = False


def _proposals(program: Program, culprits: Sequence[Span]) -> Iterator[_Proposal]:
    nodes = [node for node in walk(program) if isinstance(node, Expression)]
    assigned = [
        (target.name, node.value)
        for node in walk(program)
        if isinstance(node, Assign)
        for target in node.targets
    ]
    counts = Counter(name for name, _ in assigned)
    # A name stands for its value if it is assigned exactly once.
    definitions = {name: value for name, value in assigned if counts[name] == 1}
    for culprit in culprits:
        for node in nodes:
            if node.span == culprit:
                yield from _guarded(program, nodes, node, definitions)
    for pattern, replacement in INSTEAD:
        for node in nodes:
            found = _matches(_pattern(pattern), node, program, definitions, {})
            if found is not None:
                text = _filled(replacement, found)
                yield _Proposal(node.span, text, text, program.text(node))


@cache
def _pattern(text: str) -> Expression:
    statement = parse(text, ["A", "B", REST]).body.statements[0]
    assert isinstance(statement, Evaluate)
    return statement.value


def _parts(node: object) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what a node is, and its parts in order."""
    if isinstance(node, Call):
        called = ALIASES.get(node.function, node.function)
        return ("call", called), (*node.arguments, *node.keywords)
    if isinstance(node, MethodCall):
        called = ALIASES.get(node.method, node.method)
        return ("call", called), (node.receiver, *node.arguments, *node.keywords)
    if isinstance(node, Unary | Binary):
        return (type(node), node.operator), children(node)
    return (type(node), node.value if isinstance(node, Literal) else None), ()


def _matches(
    pattern: object, node: Any, program: Program,
    definitions: Mapping[str, Expression], letters: dict[str, str],
) -> dict[str, str] | None:  # fmt: skip
    """Return the texts of a pattern's letters and REST where a node matches it, as
    written or, if an operator allows, with its operands exchanged; None if it does not.
    Recursion is as deep as the pattern."""

    def inside(
        wanted: Sequence[object], given: Sequence[object]
    ) -> dict[str, str] | None:
        found: dict[str, str] | None = letters
        for a, b in zip(wanted, given, strict=True):
            if found is not None:
                found = _matches(a, b, program, definitions, found)
        return found

    if isinstance(pattern, Name) and LETTERS.fullmatch(pattern.name):
        text = program.text(node)
        known = letters.get(pattern.name, text) == text
        return {**letters, pattern.name: text} if known else None
    if isinstance(node, Name):
        defined = definitions.get(node.name)
        if defined is None or isinstance(defined, Name):
            return None
        return _matches(pattern, defined, program, definitions, letters)
    (what, wanted), (found, given) = _parts(pattern), _parts(node)
    if what != found:
        return None
    if wanted and isinstance(wanted[-1], Name) and wanted[-1].name == REST:
        wanted = wanted[:-1]
        given, further = given[: len(wanted)], given[len(wanted) :]
        rest = "".join(f", {program.text(a)}" for a in further)
        letters = {**letters, REST: rest}
    if len(wanted) != len(given):
        return None
    told = inside(wanted, given)
    if told is None and what in COMMUTATIVE:
        return inside(wanted, given[::-1])
    return told


def _filled(replacement: str, letters: Mapping[str, str]) -> str:
    def meant(found: re.Match[str]) -> str:
        if found[0].endswith(REST):
            return letters.get(REST, "")
        letter = found[1] or found[0]
        expression = letters.get(letter, letter)
        tight = not found[1] or ATOM.fullmatch(expression)
        return expression if tight else f"({expression})"

    return FILLED.sub(meant, replacement)


def _guarded(
    program: Program, nodes: Sequence[Any], culprit: Expression,
    definitions: Mapping[str, Expression],
) -> Iterator[_Proposal]:  # fmt: skip
    """Yield proposals that put a harmless argument where a `where` drops the result."""
    (_, name), operands = _parts(culprit)
    called = _OPERATORS.get(name, name)
    tame = FUNCTIONS[called].tame if called in FUNCTIONS else ()
    pairs = zip(operands, tame, strict=False)
    given: Any = next((pair for pair in pairs if pair[1]), None)
    for node in nodes if given is not None else ():
        what, operands = _parts(node)
        if what != ("call", "where") or len(operands) != 3:
            continue
        (argument, harmless), (condition, *branches) = given, operands
        for k, branch in enumerate(branches):
            kept = [program.text(argument), harmless]
            pair = ", ".join(kept[::-1] if k else kept)
            put = f"where({program.text(condition)}, {pair})"
            name = branch.name if isinstance(branch, Name) else ""
            shown = definitions.get(name, branch) if name else node
            outer = definitions.get(name, branch).span
            if outer.start <= culprit.span.start and culprit.span.end <= outer.end:
                head = f"{name} = " if name else ""
                source, span = program.source, argument.span
                before = source[shown.span.start : span.start]
                text = head + before + put + source[span.end : shown.span.end]
                instead = head + program.text(shown)
                yield _Proposal(span, put, text, instead, guards=True)


# trials

SAME, STEP, SLACK = 0.55, 0.4, 0.2
"""Powers of the dtype's precision: the relative distance of two equal values, the
relative step of a slope, and the slope's relative error."""

MAX_ENTRIES = 8
"""Largest number of entries by which a gradient is compared with slopes."""

OTHER_POINTS = 4
"""Number of points, beside the given one, at which values are compared."""

MAX_LOOP_STEPS = 200_000
"""Largest number of steps in loops that a program may take at another point, where a
loop may not end."""

Raws = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RewriteTrial:
    """The value of a new program, and its gradient by each input."""

    value: Any
    gradients: Mapping[str, Any]


def tried(
    run: Run, source: str, cotangent: Tensor | None, across: bool = True
) -> RewriteTrial | None:
    """Return the value and gradients of ``source`` in place of the program of a run;
    None if it does not pass the tests. ``across`` says whether the gradients must lie
    between the slopes on both sides."""
    moving = [each.name for each in run.inputs if each.requires_grad]
    with np.errstate(all="ignore"):
        output, leaves = _at(run, source, {})
        if output is None or output.edge is None or not all_finite(output):
            return None
        ones = output.xp.ones_like(output.raw)
        weights = ones if cotangent is None else cotangent.raw
        if not _same(run, run.output, output):
            return None
        given = [Tensor(weights, output.xp)]
        found = grad([output], [leaves[name] for name in moving], given)
        if not all(g is None or all_finite(g) for g in found):
            return None
        raws = [None if g is None else g.raw for g in found]
        trial = RewriteTrial(output.raw, dict(zip(moving, raws, strict=True)))
        if across and not _sound(run, source, weights, trial):
            return None
        random = np.random.default_rng(run.seed)
        for _ in range(OTHER_POINTS):
            point = {
                x.name: _like(x.tensor, random.uniform(0.1, 0.9, tuple(x.tensor.shape)))
                for x in run.inputs
                if x.requires_grad
            }
            before, after = _at(run, run.source, point)[0], _at(run, source, point)[0]
            if before is not None and (after is None or not _same(run, before, after)):
                return None
        return trial


def _at(run: Run, source: str, moved: Raws) -> tuple[Tensor | None, dict[str, Tensor]]:
    """Return the output of a program with some inputs moved, or None if it fails, and
    the leaves by name."""
    leaves = {
        each.name: Tensor(
            moved.get(each.name, each.tensor.raw), each.tensor.xp, each.requires_grad
        )
        for each in run.inputs
    }
    try:
        output, _, _ = evaluate(
            source, leaves, of=run.of, seed=run.seed, dtype=run.dtype,
            max_steps=MAX_LOOP_STEPS,
        )  # fmt: skip
    except ProgramError:
        return None, leaves
    return output, leaves


def _precision(run: Run) -> float:
    return float(np.finfo(run.dtype).eps)


def _same(run: Run, before: Tensor, after: Tensor) -> bool:
    """Tell whether two values agree up to rounding wherever the first is finite."""
    if before.shape != after.shape:
        return False
    room = _precision(run) ** SAME * (1 + abs(before.raw))
    close = abs(before.raw - after.raw) <= room
    return bool((close | ~before.xp.isfinite(before.raw)).all())


def _like(tensor: Tensor, values: Host) -> Any:
    return tensor.xp.array(values.astype(tensor.raw.dtype))


def _sound(run: Run, source: str, weights: Array, trial: RewriteTrial) -> bool:
    """Tell whether the gradient lies between the slopes on both sides, by each of some
    entries that have finite slopes."""
    held = {each.name: each.tensor for each in run.inputs}
    entries = [
        (name, place)
        for name, g in trial.gradients.items()
        for place in range(0 if g is None else held[name].numel())
    ]
    random = np.random.default_rng(run.seed)
    for k in random.permutation(len(entries))[:MAX_ENTRIES]:
        name, place = entries[k]
        x = held[name]

        def height(moved: Tensor, name: str = name) -> list[Host]:
            output, _ = _at(run, source, {name: moved.raw})
            if output is None:
                return [np.array(np.nan)]
            return [np.asarray((output.raw * weights).sum())]

        step = max(1.0, float(abs(x.raw).max())) * _precision(run) ** STEP
        (both,) = slopes(height, height(x), x, place, step)
        known = [float(s) for s in (both.below, both.above) if np.isfinite(s)]
        room = _precision(run) ** SLACK * (1 + max(map(abs, known), default=0.0))
        claimed = float(trial.gradients[name].reshape(-1)[place])
        if known and not min(known) - room <= claimed <= max(known) + room:
            return False
    return True


def trouble_notes(found: Trouble) -> Iterator[str]:
    """Yield a sentence for each edge where a gradient stopped being finite, and the
    repair."""
    yield from map(_arose, found.edges)
    way = found.rewriting
    if way is not None:
        gradients = way.gradients.items()
        gives = [f"the value {_short(way.value)}"]
        gives += [f"d/d{printable(name)} = {_short(g)}" for name, g in gradients]
        text, instead = printable(way.text), printable(way.instead)
        yield f"write {text} for {instead}: that gives {', '.join(gives)}"


def _short(value: Plain | None) -> str:
    return "None" if value is None else shorten(inline(value), MAX_NOTE_CHARACTERS)


def _arose(edge: NonFiniteEdge) -> str:
    text = printable(edge.source or edge.node)
    place = "" if edge.line is None else f", line {edge.line}, column {edge.column}"
    at = f", entry {list(edge.entry)}" if edge.entry else ""
    head = f"the gradient becomes {number(edge.result)} at {text}"
    if edge.incoming is None or edge.local_gradient is None:
        return f"{head} ({edge.node} to {printable(edge.to)}{place}{at})"
    needs = f", which needs {edge.needs}" if edge.needs else ""
    return (
        f"{head}: {number(edge.incoming)} * {number(edge.local_gradient)}, incoming "
        f"times local gradient{needs} ({edge.node} to {printable(edge.to)}{place}{at})"
    )
