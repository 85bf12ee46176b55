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
    rewriting(run, [span]).text     # "where(x > 0, sqrt(where(x > 0, x, 1)), 0)"
    tried(run, "xlogy(x, y)", None).gradients["y"]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

import numpy as np

from ..autograd.numeric import slopes
from ..engine import NUMPY, Node, Tensor, grad
from ..engine.raw import Host
from ..engine.walk import inputs_first
from ..lang.errors import ProgramError, Span
from ..lang.parser import parse
from ..lang.run import Run, all_finite, evaluate, execute
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
from ..views.graph import raw_partials
from ..views.numbers import Plain, plain
from ..views.places import Places

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


@dataclass(slots=True)
class _Match:
    letters: dict[str, str] = field(default_factory=dict)
    rest: str = ""


def rewriting(
    run: Run, culprits: Sequence[Span], cotangent: Tensor | None = None
) -> Rewriting | None:
    """Return the first rewriting that passes the tests; None if none does.

    Args:
        run: a run whose value or gradients are not finite.
        culprits: the places of the expressions where numbers stopped being finite.
        cotangent: the weights of a vector output's entries; None: ones.
    """
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
            return Rewriting(proposal.text, proposal.instead, source, value, gradients)
    return None


def _proposals(program: Program, culprits: Sequence[Span]) -> Iterator[_Proposal]:
    definitions = _definitions(program)
    nodes = [node for node in walk(program) if isinstance(node, Expression)]
    for culprit in culprits:
        for node in nodes:
            if node.span == culprit:
                yield from _guarded(program, nodes, node, definitions)
    for pattern, replacement in INSTEAD:
        for node in nodes:
            match = _Match()
            if _matches(_pattern(pattern), node, program, definitions, match):
                text = _filled(replacement, match)
                yield _Proposal(node.span, text, text, program.text(node))


def _definitions(program: Program) -> dict[str, Expression]:
    """Return the values of the names that are assigned exactly once."""
    found: dict[str, Expression] = {}
    twice: set[str] = set()
    for node in walk(program):
        if isinstance(node, Assign):
            for target in node.targets:
                if target.name in found:
                    twice.add(target.name)
                found[target.name] = node.value
    return {name: value for name, value in found.items() if name not in twice}


@cache
def _pattern(text: str) -> Expression:
    statement = parse(text, ["A", "B", REST]).body.statements[0]
    assert isinstance(statement, Evaluate)
    return statement.value


def _parts(node: object) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return what a node is, and its parts in order; a function and the method of the
    same name are the same."""
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
    pattern: object,
    node: Any,
    program: Program,
    definitions: Mapping[str, Expression],
    match: _Match,
) -> bool:
    """Tell whether a node matches a pattern, as written or, if an operator allows, with
    its operands exchanged; recursion is as deep as the pattern."""

    def inside(wanted: Sequence[object], given: Sequence[object]) -> bool:
        pairs = zip(wanted, given, strict=True)
        return all(_matches(a, b, program, definitions, match) for a, b in pairs)

    if isinstance(pattern, Name) and LETTERS.fullmatch(pattern.name):
        text = program.text(node)
        return match.letters.setdefault(pattern.name, text) == text
    if isinstance(node, Name):
        defined = definitions.get(node.name)
        followed = defined is not None and not isinstance(defined, Name)
        return followed and inside([pattern], [defined])
    (what, wanted), (found, given) = _parts(pattern), _parts(node)
    if what != found:
        return False
    if wanted and isinstance(wanted[-1], Name) and wanted[-1].name == REST:
        wanted = wanted[:-1]
        given, further = given[: len(wanted)], given[len(wanted) :]
        match.rest = "".join(f", {program.text(a)}" for a in further)
    if len(wanted) != len(given):
        return False
    before = dict(match.letters)
    if inside(wanted, given):
        return True
    match.letters = before
    return what in COMMUTATIVE and inside(wanted, given[::-1])


def _filled(replacement: str, match: _Match) -> str:
    def meant(found: re.Match[str]) -> str:
        if found[0].endswith(REST):
            return match.rest
        letter = found[1] or found[0]
        expression = match.letters.get(letter, letter)
        tight = not found[1] or ATOM.fullmatch(expression)
        return expression if tight else f"({expression})"

    return FILLED.sub(meant, replacement)


def _guarded(
    program: Program, nodes: Sequence[Any], culprit: Expression,
    definitions: Mapping[str, Expression],
) -> Iterator[_Proposal]:  # fmt: skip
    """Yield proposals that put a harmless argument where a `where` drops the result."""
    guarded = _argument(culprit)
    if guarded is None:
        return
    argument, harmless = guarded
    inner = program.text(argument)
    for node in nodes:
        what, operands = _parts(node)
        if what != ("call", "where") or len(operands) != 3:
            continue
        condition, taken, dropped = operands
        pairs = {taken: f"{inner}, {harmless}", dropped: f"{harmless}, {inner}"}
        for branch, pair in pairs.items():
            put = f"where({program.text(condition)}, {pair})"
            name = branch.name if isinstance(branch, Name) else ""
            shown = definitions.get(name, branch) if name else node
            outer = definitions.get(name, branch).span
            if outer.start <= culprit.span.start and culprit.span.end <= outer.end:
                head = f"{name} = " if name else ""
                text = head + _put(program, shown.span, argument.span, put)
                instead = head + program.text(shown)
                yield _Proposal(argument.span, put, text, instead, guards=True)


def _argument(culprit: object) -> tuple[Any, str] | None:
    """Return the argument of a function or an operator that can make it not finite, and
    a harmless value for that argument; None if there is none."""
    (_, name), operands = _parts(culprit)
    called = _OPERATORS.get(name, name)
    tame = FUNCTIONS[called].tame if called in FUNCTIONS else ()
    pairs = zip(operands, tame, strict=False)
    return next((pair for pair in pairs if pair[1]), None)


def _put(program: Program, outer: Span, part: Span, new: str) -> str:
    source = program.source
    return source[outer.start : part.start] + new + source[part.end : outer.end]


SAME, STEP, SLACK = 0.55, 0.4, 0.2
"""Powers of the dtype's precision: the relative distance of two equal values, the
relative step of a slope, and the slope's relative error."""

MAX_DIRECTIONS = 8
"""Largest number of entries of which each is moved alone; with more, as many random
directions are tried."""

OTHER_POINTS = 4
"""Number of points, beside the given one, at which values are compared."""

MAX_LOOP_STEPS = 200_000
"""Largest number of steps in loops that a program may take at another point, where a
loop may not end."""

Raws = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """The value of a new program, and its gradient by each input."""

    value: Any
    gradients: Mapping[str, Any | None]


def tried(
    run: Run, source: str, cotangent: Tensor | None, across: bool = True
) -> Trial | None:
    """Return a new program's value and gradients; None if it does not pass the tests.

    Args:
        run: a run of the old program, whose value or gradients are not finite.
        source: the new program.
        cotangent: the weights of a vector output's entries; None: ones.
        across: whether the gradients must lie between the slopes on both sides.
    """
    new = _Program(run, source)
    with np.errstate(all="ignore"):
        output, leaves = new.at(new.point)
        if output is None or not all_finite(output):
            return None
        if not new.same(run.output, output):
            return None
        ones = output.xp.ones_like(output.raw)
        weights = ones if cotangent is None else cotangent.raw
        trial = _differentiated(run, output, leaves, weights)
        if trial is None or (across and not _sound(new, weights, trial)):
            return None
        return trial if _same_elsewhere(new, _Program(run, run.source)) else None


class _Program:
    """A program that runs on the inputs of a run with any values."""

    def __init__(self, run: Run, source: str) -> None:
        self.run = run
        self.source = source
        self.point: Raws = {each.name: each.tensor.raw for each in run.inputs}
        self.precision = float(np.finfo(run.dtype).eps)

    def at(self, point: Raws) -> tuple[Tensor | None, dict[str, Tensor]]:
        """Return the output, or None if the program fails, and the leaves by name."""
        run = self.run
        leaves = {
            each.name: Tensor(point[each.name], each.tensor.xp, each.requires_grad)
            for each in run.inputs
        }
        try:
            output, _, _ = evaluate(
                self.source,
                leaves,
                of=run.of,
                seed=run.seed,
                dtype=run.dtype,
                max_steps=MAX_LOOP_STEPS,
            )
        except ProgramError:
            return None, leaves
        return output, leaves

    def height(self, point: Raws, weights: Array) -> float:
        """Return the weighted sum of the output; nan if the program fails."""
        output, _ = self.at(point)
        return float("nan") if output is None else float((output.raw * weights).sum())

    def same(self, before: Tensor, after: Tensor) -> bool:
        """Tell whether two values agree up to rounding wherever the first is finite."""
        if before.shape != after.shape:
            return False
        room = self.precision**SAME * (1 + abs(before.raw))
        close = abs(before.raw - after.raw) <= room
        return bool((close | ~before.xp.isfinite(before.raw)).all())

    def like(self, name: str, values: Host) -> Any:
        """Return numbers as an array of an input's library and of the run's dtype."""
        tensor = next(each.tensor for each in self.run.inputs if each.name == name)
        return tensor.xp.array(values.astype(self.run.dtype))


def _differentiated(
    run: Run, output: Tensor, leaves: Mapping[str, Tensor], weights: Array
) -> Trial | None:
    """Return the value and its gradients; None if a gradient is not finite."""
    if output.edge is None:
        return None
    names = [each.name for each in run.inputs if each.requires_grad]
    found = grad([output], [leaves[n] for n in names], [Tensor(weights, output.xp)])
    if not all(g is None or all_finite(g) for g in found):
        return None
    raws = [None if g is None else g.raw for g in found]
    return Trial(output.raw, dict(zip(names, raws, strict=True)))


def _sound(new: _Program, weights: Array, trial: Trial) -> bool:
    """Tell whether the gradient lies between the slopes on both sides, in every
    direction that has finite slopes."""
    for way in _ways(new, trial):
        size = max(1.0, *(float(abs(new.point[n]).max()) for n in way))
        step = size * new.precision**STEP
        claimed = sum(float((trial.gradients[n] * d).sum()) for n, d in way.items())

        def along(t: Tensor, way: Mapping[str, Any] = way) -> list[Host]:
            moved = {n: new.point[n] + float(t.raw) * d for n, d in way.items()}
            return [np.asarray(new.height({**new.point, **moved}, weights))]

        start = Tensor(np.zeros(()), NUMPY)
        (both,) = slopes(along, along(start), start, 0, step)
        known = [float(s) for s in (both.below, both.above) if np.isfinite(s)]
        room = new.precision**SLACK * (1 + max(map(abs, known), default=0.0))
        if known and not min(known) - room <= claimed <= max(known) + room:
            return False
    return True


def _ways(new: _Program, trial: Trial) -> Iterator[dict[str, Any]]:
    """Yield directions: each entry alone if there are few, else random ones."""
    shapes = {n: g.shape for n, g in trial.gradients.items() if g is not None}
    sizes = {n: int(np.prod(shape)) for n, shape in shapes.items()}
    if sum(sizes.values()) <= MAX_DIRECTIONS:
        for name, size in sizes.items():
            for unit in np.eye(size):
                yield {name: new.like(name, unit.reshape(shapes[name]))}
        return
    random = np.random.default_rng(new.run.seed)
    for _ in range(MAX_DIRECTIONS):
        yield {n: new.like(n, random.uniform(-1, 1, shapes[n])) for n in shapes}


def _same_elsewhere(new: _Program, old: _Program) -> bool:
    """Tell whether two programs agree at random points where the old one runs."""
    random = np.random.default_rng(new.run.seed)
    moving = [each.name for each in new.run.inputs if each.requires_grad]
    for _ in range(OTHER_POINTS):
        sampled = {
            n: new.like(n, random.uniform(0.1, 0.9, tuple(new.point[n].shape)))
            for n in moving
        }
        point = {**new.point, **sampled}
        before, after = old.at(point)[0], new.at(point)[0]
        if before is not None and (after is None or not new.same(before, after)):
            return False
    return True


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of the reverse pass at which numbers stopped being finite.

    ``entry`` is the index of the entry that the numbers belong to. ``incoming`` and
    ``local_gradient`` are None if the result is not just their product.
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


@dataclass(frozen=True, slots=True)
class Trouble:
    """The edges at which numbers stopped being finite, and a rewriting."""

    edges: tuple[Edge, ...]
    rewriting: Rewriting | None


def trouble(run: Run, cotangent: Tensor | None) -> Trouble:
    """Return what a watched reverse pass shows of a value or gradient not finite."""
    watch = _watched(run, cotangent)
    return Trouble(tuple(watch.found), rewriting(run, watch.spans, cotangent))


def _watched(run: Run, cotangent: Tensor | None) -> _Watch:
    """Return the record of a second reverse pass of a run."""
    again = execute(run.prepared, of=run.of)
    watch = _Watch(again)
    if again.output.edge is None:
        return watch
    nodes = [n for n in inputs_first([again.output.edge]) if isinstance(n, Node)]
    handles = [node.register_hook(watch.seen(node)) for node in nodes]
    given = [i.tensor for i in again.inputs if i.requires_grad]
    if cotangent is None:
        cotangent = Tensor(again.output.xp.ones_like(again.output.raw), again.output.xp)
    try:
        with np.errstate(all="ignore"):
            grad([again.output], given, [cotangent])
    finally:
        for handle in handles:
            handle.remove()
    return watch


class _Watch:
    """A record of the first edge that is not finite, and the first that makes nan."""

    def __init__(self, run: Run) -> None:
        self.found: list[Edge] = []
        self.spans: list[Span] = []
        self._places = Places(run.source)
        self._leaves = {i.tensor.edge: i.name for i in run.inputs}

    def seen(self, node: Node) -> Callable[..., object]:
        def look(pulled: object, arrived: object) -> None:
            if not self.found or not np.isnan(self.found[-1].result):
                self._look(node, pulled, arrived)

        return look

    def _look(self, node: Node, pulled: Any, arrived: Any) -> None:
        came_bad = any(g is not None and not all_finite(g) for g in arrived)
        for position, g in enumerate(pulled):
            if g is None or all_finite(g):
                continue
            edge = self._edge(node, position, g, arrived)
            # An edge that only passes an infinity on is not where it began.
            if not came_bad or (np.isnan(edge.result) and self._made_nan(arrived)):
                self.found.append(edge)
                self.spans += [] if node.span is None else [Span(*node.span[:2])]
                return

    def _made_nan(self, arrived: Tensor) -> bool:
        return not any(g is not None and bool(g.xp.isnan(g.raw).any()) for g in arrived)

    def _edge(self, node: Node, position: int, g: Tensor, arrived: object) -> Edge:
        span = None if node.span is None else (node.span[0], node.span[1])
        following = node.next_functions[position][0]
        target = self._leaves.get(following) or type(following).__name__
        where = self._places.find(span)
        entry, incoming, local, result = _product(node, position, g, arrived)
        return Edge(
            type(node).__name__, where.text, where.line, where.column,
            target, entry, incoming, local, result,
        )  # fmt: skip


def _product(
    node: Node, position: int, pulled: Tensor, arrived: Any
) -> tuple[tuple[int, ...], float | None, float | None, float]:
    """Return the first entry that is not finite, its two factors and its value."""
    partial = raw_partials(node)[position]
    if partial is not None and len(arrived) == 1 and arrived[0] is not None:
        factors = np.broadcast_arrays(_host(arrived[0].raw), _host(partial))
        incoming, local = factors
        product = incoming * local
        if not bool(np.isfinite(product).all()):
            entry = _first(product)
            result = float(product[entry])
            return entry, float(incoming[entry]), float(local[entry]), result
    entry = _first(pulled.raw)
    return entry, None, None, float(pulled.raw[entry])


def _host(raw: object) -> Host:
    return np.asarray(plain(raw))


def _first(raw: object) -> tuple[int, ...]:
    """Return the index of the first nan, or of the first infinity if none is nan."""
    values = _host(raw)
    bad = np.isnan(values)
    if not bool(bad.any()):
        bad = ~np.isfinite(values)
    return tuple(int(i) for i in np.argwhere(bad)[0])
