"""Tests of a backward at several points: is it the derivative of a forward that differs
from the function's own in one step or in one small number?

Invariant: the first point is the given one; the others are drawn near it, possibly on
another branch. The recorded forward is altered in one step of its reverse pass, or in
one small number, at a time. A mistake is named only if the altered forward gives what
backward gave at every point.

    points = [*here(checked), *elsewhere(checked)]
    step_wrong(points, {"x"}).text      # "the inner derivative of sin is missing …"
    small_number(points, {"x"}).text    # "backward is that of a forward with 0 in …"
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ..autograd.function import Function, FunctionCtx
from ..diagnosis.chain_rule import Change, altered, passing_over, unchanged
from ..diagnosis.hypotheses import largest, number_text, same, simple_number
from ..engine.dtypes import float64
from ..engine.modes import MODE, enable_grad
from ..engine.node import Node
from ..engine.record import call as call_of
from ..engine.tensor import Tensor
from ..engine.walk import inputs_first
from ..views.claims import Diagnosis
from ..views.survey import below
from .checker import Checked, Plan
from .function_call import Both, Call
from .script_passes import Step, recording
from .trials import matrices
from .user_lines import at, caller

POINTS: Final = 3
"""Number of points, beside the given one, at which a hypothesis must hold."""

SHOWN: Final = 3
"""Largest number of inputs' names that are all written out."""


@dataclass(frozen=True, slots=True)
class Point:
    """A function at one point, with its Jacobian's blocks, given and true."""

    call: Call
    blocks: Mapping[str, Both]

    def refuted(self, names: set[str]) -> list[Both]:
        return [b for name, b in self.blocks.items() if name in names]


Test = Callable[[Sequence[Point], set[str]], "Diagnosis | None"]


def pairs_of(points: Sequence[Point], wrong: set[str]) -> list[tuple[Any, Any]]:
    """Return the true and the given block of each wrong input at each point."""
    return [(b.true, b.given) for p in points for b in p.refuted(wrong)]


def gradient_by(wrong: set[str]) -> str:
    """Return words such as ``the gradient by x and y``."""
    names = sorted(wrong)
    shown = names if len(names) <= SHOWN else [*names[:2], f"{len(names) - 2} more"]
    return f"the gradient by {' and '.join(shown)}"


def here(checked: Checked) -> list[Point]:
    """Return the given point, in float64 where possible, because numbers are compared
    to their last digits."""
    if checked.type is float64 or checked.call.module is not None:
        return [Point(checked.call, checked.blocks)]
    wide = list(_points(checked, lambda values: values))
    return wide or [Point(checked.call, checked.blocks)]


def elsewhere(checked: Checked) -> list[Point]:
    """Return random points near the given one at which the function runs."""
    draws = np.random.default_rng(checked.plan.seed + 7)

    def drawn(values: Any) -> Any:
        return values * draws.uniform(0.7, 1.3, values.shape)

    return [each for _ in range(POINTS) for each in _points(checked, drawn)]


def _points(checked: Checked, moved: Callable[[Any], Any]) -> Iterator[Point]:
    """Yield the function at changed arguments; nothing if it fails there."""
    with suppress(Exception):
        call = checked.call
        held = "float64" if call.module is None else checked.type.name
        there = call.moved(moved, held)
        plan = Plan(seconds=checked.plan.seconds, second=False, prove=False)
        again = Checked(there, plan)
        again.proof()
        if again.blocks:
            yield Point(there, again.blocks)


MAX_STEPS: Final = 80
"""Largest number of steps of a forward of which each is altered."""

MAX_INNER: Final = 3
"""Largest number of successive steps whose derivatives may be missing together."""

FITS: Final = 1e-7
"""Largest relative distance of a part of a gradient that fits it."""

MOVES: Final = frozenset({"CloneBackward0", "ViewBackward0"})
"""Names of nodes that only move values and have no derivative worth naming."""


@contextmanager
def _placed() -> Iterator[dict[object, str]]:
    """Record the user's line of each node that is made while the block runs."""
    places: dict[object, str] = {}

    def look(node: Any) -> None:
        places[node] = at(*caller(sys._getframe(1)))

    with MODE.having(on_node=(*MODE.on_node, look)):
        yield places


def recorded(
    call: Call, made_by: type[Function]
) -> tuple[dict[str, Tensor], list[Tensor]]:
    """Return leaves, and the outputs that carry a gradient of a run of a custom
    function's forward on them, which is recorded step by step."""

    def run(*arguments: object) -> Any:
        # Forward gets copies, because it may change its arguments in place.
        given = [call_of("clone", x) if isinstance(x, Tensor) else x for x in arguments]
        with enable_grad():
            if made_by.setup_context is not Function.setup_context:
                return made_by.forward(*given)
            needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in given)
            return made_by.forward(FunctionCtx(needs), *given)

    plain = call.with_function(run)
    leaves = plain.leaves()
    pairs = zip(call.outputs(call.leaves()), plain.outputs(leaves), strict=True)
    return leaves, [made for y, made in pairs if y.edge is not None]


class Forward:
    """The recorded steps of a forward at one point.

    ends   the edges at which gradients arrive, by input
    order  the graph's nodes, outputs first
    given  the gradients of backward for random cotangents; ``true``: the right ones
    """

    def __init__(self, point: Point, made_by: type[Function], seed: int) -> None:
        with _placed() as self.places:
            leaves, made = recorded(point.call, made_by)
        draws = np.random.default_rng(seed)
        cotangents = [draws.uniform(-1, 1, tuple(y.shape)) for y in made]
        self.seeds: dict[object, Any] = {}
        for y, g in zip(made, cotangents, strict=True):
            if y.edge is None:
                raise ValueError("an output without a graph")
            known = self.seeds.get(y.edge)
            self.seeds[y.edge] = g if known is None else known + g
        self.ends: Mapping[str, Any] = {n: t.edge for n, t in leaves.items()}
        self.shapes = {n: tuple(t.shape) for n, t in leaves.items()}
        self.order = list(reversed(inputs_first(self.seeds)))
        row = np.concatenate([g.ravel() for g in cotangents])
        self.given = {n: row @ b.given for n, b in point.blocks.items()}
        self.true = {n: row @ b.true for n, b in point.blocks.items()}

    def under(self, change: Change) -> dict[object, Any]:
        """Return what arrives at each edge in a reverse pass with a change."""
        return altered(self.seeds, change)

    def of(self, arrived: Mapping[object, Any], name: str) -> Any:
        """Return the gradient by an input, flattened, from what arrived."""
        found = arrived.get(self.ends[name])
        size = int(np.prod(self.shapes[name]))
        return np.zeros(size) if found is None else np.asarray(found).reshape(-1)

    def words(self, node: Any) -> str:
        """Return the name of a node's operation, with the user's line if known."""
        where = self.places.get(node, "")
        name = node.op.name.partition(".")[0]
        return f"{name} ({where})" if where else str(name)


def _forwards(points: Sequence[Point]) -> list[Forward]:
    """Return the forwards at all points; none if they have different steps, or if the
    function is not custom."""
    made_by = points[0].call.custom
    if made_by is None:
        return []
    found = []
    with suppress(Exception):
        found = [Forward(p, made_by, 11 + k) for k, p in enumerate(points)]
    kinds = {tuple(type(e).__name__ for e in each.order) for each in found}
    if len(kinds) != 1 or len(found[0].order) > MAX_STEPS:
        return []
    return found


Altered = Callable[[Forward], Any]
"""Type of a function from a forward to the change that stands for a mistake."""


def step_wrong(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a step of forward that is differentiated wrongly."""
    forwards = _forwards(points)
    if not forwards:
        return None
    names = sorted(wrong)
    for name in names:
        unlike = (same(f.of(f.under(unchanged), name), f.true[name]) for f in forwards)
        if not all(unlike):
            return None
    with suppress(Exception):
        found = [_by_one(forwards, name) for name in names]
        if all(each is not None for each in found):
            return found[0]
    return None


def _by_one(forwards: Sequence[Forward], name: str) -> Diagnosis | None:
    """Return the diagnosis of a wrong step in the gradient by one input."""
    by = gradient_by({name})
    first = forwards[0]
    uses = _uses(first, name)
    if len(uses) > 2:
        for k, (place, _) in enumerate(uses):
            others = {use for use in uses if use is not uses[k]}
            if _explains(forwards, name, _without(others)):
                where = first.words(first.order[place])
                return Diagnosis(
                    "batch", f"{by} has only one part of what is to be added up: of "
                    f"{len(uses)} uses of {name} the one in {where}",
                    "add up those of all uses, as grad = grad + ... in a loop",
                )  # fmt: skip
    for place, node in enumerate(first.order):
        for length in range(1, _chain_length(node) + 1):
            if _explains(forwards, name, _passing(place, length)):
                return _inner(first, node, length, by)
    return _branch(forwards, name, by)


def _uses(forward: Forward, name: str) -> list[tuple[int, int]]:
    """Return the edges into the copy of an input, as positions of a node and of its
    edge."""
    end = forward.ends[name]
    copies = [e for e in forward.order if end in getattr(e, "edges", ())]
    return [
        (place, nr)
        for place, node in enumerate(forward.order)
        if isinstance(node, Node)
        for nr, edge in enumerate(node.edges)
        if edge is not None and edge in copies
    ]


def _without(edges: set[tuple[int, int]]) -> Altered | Any:
    """Return a function from a forward to the change that cuts some edges."""

    def change_of(forward: Forward) -> Change:
        cut = {(id(forward.order[place]), nr) for place, nr in edges}
        nodes = {i for i, _ in cut}

        def change(edge: Any, total: object) -> Any:
            if id(edge) not in nodes:
                return None
            found = list(zip(
                [nr for nr, e in enumerate(edge.edges) if e is not None],
                below(edge, total), strict=False,
            ))  # fmt: skip
            return [pair for nr, pair in found if (id(edge), nr) not in cut]

        return change

    return change_of


def _chain_length(node: Any) -> int:
    """Return the number of successive steps with one operand, from a node on."""
    length = 0
    while length < MAX_INNER and isinstance(node, Node) and _single(node) is not None:
        length += 1
        node = _single(node)
    return length


def _single(node: Any) -> Any:
    """Return the only edge that a node has; None if it has several or none."""
    held = [e for e in getattr(node, "edges", ()) if e is not None]
    return held[0] if len(held) == 1 else None


def _passing(place: int, length: int) -> Any:
    """Return a function from a forward to the change that skips successive steps from
    position ``place`` on."""

    def change_of(forward: Forward) -> Change:
        start = forward.order[place]
        end = start
        for _ in range(length):
            end = _single(end)

        return passing_over(start, end)

    return change_of


def _explains(forwards: Sequence[Forward], name: str, change_of: Any) -> bool:
    for forward in forwards:
        try:
            found = forward.of(forward.under(change_of(forward)), name)
        except Exception:
            # A skipped step may change the shape.
            return False
        if not same(found, forward.given[name]):
            return False
    return True


def _inner(first: Forward, node: Any, length: int, by: str) -> Diagnosis:
    passed = []
    where = first.places.get(node, "")
    for _ in range(length):
        if type(node).__name__ not in MOVES:
            passed.append(node.op.name.partition(".")[0])
        node = _single(node)
    names = " and ".join(dict.fromkeys(passed))
    return Diagnosis(
        "inner", f"{by} lacks an inner derivative: that of {names} ({where})",
        f"multiply by the derivative of {names} on the way back through it",
    )  # fmt: skip


def _branch(forwards: Sequence[Forward], name: str, by: str) -> Diagnosis | None:
    """Return the diagnosis of a part of the sum over paths with a wrong factor."""
    first = forwards[0]
    totals = [f.true[name] for f in forwards]
    given = np.concatenate([f.given[name] for f in forwards])
    whole = np.concatenate(totals)
    scale = max(largest(given), largest(whole))
    found: list[tuple[float, Any, Any]] = []
    for place, node in enumerate(first.order):
        if not isinstance(node, Node):
            continue
        held = [nr for nr, e in enumerate(node.edges) if e is not None]
        for nr in held:
            change_of = _without({(place, nr)})
            rest = np.concatenate([f.of(f.under(change_of(f)), name) for f in forwards])
            part = whole - rest
            if min(largest(part), largest(rest)) <= FITS * scale:
                continue
            c = float(part @ (given - rest)) / float(part @ part)
            if largest(rest + c * part - given) <= FITS * scale:
                found.append((c, node, node.edges[nr]))
    if not found:
        return None
    c = found[0][0]
    if abs(c) <= FITS:
        _, node, child = found[0]
        told = child if isinstance(child, Node) else node
        if type(told).__name__ in MOVES:
            told = node
        return Diagnosis(
            "path", f"{by} leaves out what goes through {first.words(told)}, as if "
            "that were a constant",
            "add what comes through it; if it is to be held constant, detach() it in "
            "forward as well",
        )  # fmt: skip
    near = simple_number(c)
    if near is None:
        return None
    _, node, _ = found[0] if c < 0 else found[-1]
    if near == -1:
        return Diagnosis("sign", f"{by} has the wrong sign in one part of it, which "
                         f"goes through {first.words(node)}",
                         "turn the sign of that part")  # fmt: skip
    text = number_text(1 / c)
    return Diagnosis(
        "factor", f"{by} lacks the factor {text} in one part of it, which goes through "
        f"{first.words(node)}", f"multiply that part by {text}",
    )  # fmt: skip


USUAL: Final = (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Small numbers that a backward may have in place of forward's."""

SMALL: Final = 0.1
"""Largest number that counts as small, added to keep something from being 0."""


@dataclass(frozen=True, slots=True)
class Small:
    """A small number that is an operand of a step: the positions, and its value."""

    step: int
    operand: int
    value: float


class Replayed:
    """The recorded steps of a forward, which can be run with other numbers."""

    def __init__(self, point: Point, made_by: type[Function]) -> None:
        self.point = point
        with recording() as self.tape:
            leaves, self.roots = recorded(point.call, made_by)
        self.names = {id(t): name for name, t in leaves.items()}

    @property
    def steps(self) -> list[Step]:
        return self.tape.steps(self.roots[0])

    def smalls(self) -> Iterator[Small]:
        """Yield the small numbers among the steps' operands."""
        for place, step in enumerate(self.steps):
            for nr, x in enumerate(step.given):
                if isinstance(x, float) and 0 < abs(x) <= SMALL:
                    yield Small(place, nr, x)

    def gives(self, small: Small, value: float, wrong: set[str]) -> bool:
        """Tell whether backward is the derivative of forward with another number."""
        step = self.steps[small.step]
        given = list(step.given)
        given[small.operand] = value
        rows: dict[str, list[Any]] = {name: [] for name in wrong}
        for root in self.roots:
            run, copies, leaves = self.tape.function(root, {step.made: given})
            y = run(*copies)
            assert isinstance(y, Tensor)
            for t, block in zip(leaves, matrices([y], copies), strict=True):
                if self.names[id(t)] in rows:
                    rows[self.names[id(t)]].append(block)
        return all(
            same(np.concatenate(rows[b.slot.name]), b.given)
            for b in self.point.refuted(wrong)
        )


def small_number(points: Sequence[Point], wrong: set[str]) -> Diagnosis | None:
    """Return the diagnosis of a small number in forward that backward lacks or has with
    another value."""
    made_by = points[0].call.custom
    if made_by is None:
        return None
    with suppress(Exception):
        replays = [Replayed(point, made_by) for point in points]
        for small in replays[0].smalls():
            for value in USUAL:
                if value != small.value and all(
                    r.gives(small, value, wrong) for r in replays
                ):
                    return _told(points[0], small, value)
    return None


def _told(point: Point, small: Small, value: float) -> Diagnosis:
    own = point.call.name_of(small.value)
    called = f"{own} = {small.value:g}" if own else f"{small.value:g}"
    without = "without it" if not value else f"with {value:g} in its place"
    return Diagnosis(
        "eps", f"forward adds {called}, and backward is the gradient {without}",
        f"use {own or format(small.value, 'g')} in backward where forward does",
    )  # fmt: skip
