"""Refuted gradients at several points, and tests of one kind: is backward the
derivative of a forward that differs from the function's own in one step or in one small
number?

Invariant: the first point is the given one; the others are drawn near it, possibly on
another branch. The recorded forward is altered in one step of its reverse pass, or in
one small number, at a time. A mistake is named only if the altered forward gives what
backward gave at every point.

    case = Case.of(checked, {"x"})
    step_wrong(case).text       # "the inner derivative of sin is missing …"
    small_number(case).text     # "backward is that of a forward with 0 in …"
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import FrameType
from typing import Any, Final

import numpy as np

from ..answers.chain_rule import (
    TOLERANCE,
    ChainGraph,
    Change,
    cutting,
    explains,
    passing_over,
    ways,
    wrong_parts,
)
from ..answers.evidence import CLOSE, Diagnosis, Pair, number_text, same, simple_number
from ..answers.survey import largest
from ..autograd.function import Function, FunctionCtx
from ..engine.dtypes import float64
from ..engine.modes import MODE, enable_grad
from ..engine.node import Node
from ..engine.record import call as call_of
from ..engine.tensor import Tensor
from .checker import CheckedCall
from .function_call import FunctionCall, matrices
from .tolerances import MAX_TRIED, Place, handing, place_in, replacing
from .tolerances import Change as Changed
from .user_lines import at, caller

POINTS: Final = 3
"""Number of points, beside the given one, at which a hypothesis must hold."""

SHOWN: Final = 3
"""Largest number of inputs' names that are all written out."""


@dataclass(frozen=True, slots=True)
class RefutedFunction:
    """A function with refuted gradients at several points.

    names  the inputs whose gradients are wrong
    """

    points: Sequence[CheckedCall]
    names: Sequence[str]

    @classmethod
    def of(cls, checked: CheckedCall, names: set[str]) -> RefutedFunction:
        """Return a function at its inputs, in float64 where possible, because numbers
        are compared to their last digits, and at random points near them."""
        draws = np.random.default_rng(checked.plan.seed + 7)

        def drawn(values: Any) -> Any:
            return values * draws.uniform(0.7, 1.3, values.shape)

        here = [checked]
        if checked.type is not float64 and checked.call.module is None:
            here = [*_points(checked, lambda values: values)] or here
        near = [p for _ in range(POINTS) for p in _points(checked, drawn)]
        return cls([*here, *near], sorted(names))

    @property
    def pairs(self) -> list[Pair]:
        """Return the true and the given block of each wrong input at each point."""
        return [pair for name in self.names for pair in self.of_input(name)]

    @property
    def by(self) -> str:
        """Return words such as ``the gradient by x and y``."""
        names, count = self.names, len(self.names)
        shown = names if count <= SHOWN else [*names[:2], f"{count - 2} more"]
        return f"the gradient by {' and '.join(shown)}"

    @property
    def call(self) -> FunctionCall:
        return self.points[0].call

    def of_input(self, name: str) -> list[Pair]:
        return [(p.blocks[name].true, p.blocks[name].given) for p in self.points]

    def shape(self, name: str) -> tuple[int, ...]:
        return tuple(self.points[0].blocks[name].slot.given.shape)

    def each(self) -> Iterator[RefutedFunction]:
        """Yield the case of each wrong input by itself."""
        for name in self.names:
            yield RefutedFunction(self.points, [name])


def _points(checked: CheckedCall, moved: Callable[[Any], Any]) -> Iterator[CheckedCall]:
    """Yield the function at changed arguments; nothing if it fails there."""
    with suppress(Exception):
        call = checked.call
        held = "float64" if call.module is None else checked.type.name
        there = call.moved(moved, held)
        again = CheckedCall(there, checked.plan.near(checked.plan.seconds))
        again.proof()
        if again.blocks:
            yield again


MAX_STEPS: Final = 80
"""Largest number of steps of a forward of which each is altered."""

MAX_INNER: Final = 3
"""Largest number of successive steps whose derivatives may be missing together."""

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
    call: FunctionCall, made_by: type[Function]
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

    plain = FunctionCall(run, call.arguments, call.title, call.names)
    leaves = plain.leaves()
    pairs = zip(call.outputs(call.leaves()), plain.outputs(leaves), strict=True)
    return leaves, [made for y, made in pairs if y.edge is not None]


class Steps:
    """The recorded steps of a custom function's forward at all points, by one input.

    places  the user's line of each node at the first point
    """

    def __init__(self, case: RefutedFunction, made_by: type[Function]) -> None:
        (name,) = case.names
        self.by, self.name = case.by, name
        self.graphs: list[ChainGraph] = []
        for seed, point in enumerate(case.points, 11):
            with _placed() as places:
                leaves, made = recorded(point.call, made_by)
            if not self.graphs:
                self.places = places
            draws = np.random.default_rng(seed)
            weights = [draws.uniform(-1, 1, tuple(y.shape)) for y in made]
            seeds: dict[object, Any] = {}
            for y, g in zip(made, weights, strict=True):
                seeds[y.edge] = seeds[y.edge] + g if y.edge in seeds else g
            row = np.concatenate([g.ravel() for g in weights])
            block = point.blocks[name]
            sides = row @ block.true, row @ block.given
            self.graphs.append(ChainGraph([seeds], leaves[name].edge, *sides))
        self.first = self.graphs[0].nodes

    def fit(self) -> bool:
        """Tell whether the recorded graphs have the same few steps, and the derivative
        that was found on balls."""
        kinds = {tuple(type(e).__name__ for e in g.nodes) for g in self.graphs}
        few = len(kinds) == 1 and len(self.first) <= MAX_STEPS
        return few and all(same(g.gradient(), g.true) for g in self.graphs)

    def words(self, node: Any) -> str:
        """Return the name of a node's operation, with the user's line if known."""
        where = self.places.get(node, "")
        name = _operation(node)
        return f"{name} ({where})" if where else name


def _operation(node: Any) -> str:
    return str(node.op.name.partition(".")[0])


def step_wrong(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a step of forward that is differentiated wrongly."""
    made_by = case.call.custom
    if made_by is None:
        return None
    with suppress(Exception):
        steps = [Steps(each, made_by) for each in case.each()]
        if all(each.fit() for each in steps):
            found = [_single_use(s) or _inner(s) or _branch(s) for s in steps]
            return found[0] if all(found) else None
    return None


def _single_use(steps: Steps) -> Diagnosis | None:
    """Return the diagnosis of an input with several uses of which only one counts."""
    end, nodes = steps.graphs[0].end, steps.first
    copies = [e for e in nodes if end in getattr(e, "edges", ())]
    uses = [way for way, edge in ways(nodes) if edge in copies]
    for place, nr in uses if len(uses) > 2 else ():
        others = [use for use in uses if use != (place, nr)]
        if explains(steps.graphs, partial(cutting, others)):
            return Diagnosis(
                "batch", f"{steps.by} has only one part of what is to be added up: of "
                f"{len(uses)} uses of {steps.name} the one in "
                f"{steps.words(nodes[place])}",
                "add up those of all uses, as grad = grad + ... in a loop",
            )  # fmt: skip
    return None


def _inner(steps: Steps) -> Diagnosis | None:
    """Return the diagnosis of successive steps whose derivatives are missing."""
    for place, node in reversed(list(enumerate(steps.first))):
        passed: list[Any] = []
        end = node
        while len(passed) < MAX_INNER and isinstance(end, Node) and _single(end):
            passed.append(end)
            end = _single(end)
            if explains(steps.graphs, partial(_passing, place, len(passed))):
                told = [e for e in passed if type(e).__name__ not in MOVES]
                names = " and ".join(dict.fromkeys(map(_operation, told)))
                where = steps.places.get(node, "")
                return Diagnosis(
                    "inner",
                    f"{steps.by} lacks an inner derivative: that of {names} ({where})",
                    f"multiply by the derivative of {names} on the way back through it",
                )
    return None


def _single(node: Any) -> Any:
    """Return the only edge that a node has; None if it has several or none."""
    held = [e for e in getattr(node, "edges", ()) if e is not None]
    return held[0] if len(held) == 1 else None


def _passing(place: int, length: int, graph: ChainGraph) -> Change:
    """Return the change that skips successive steps from a position on."""
    start = end = graph.nodes[place]
    for _ in range(length):
        end = _single(end)
    return passing_over(start, end)


def _branch(steps: Steps) -> Diagnosis | None:
    """Return the diagnosis of a part of the sum over paths with a wrong factor."""
    found = [way for (way,) in wrong_parts(steps.graphs)]
    if not found:
        return None
    (place, nr), c = found[0]
    node = steps.first[place]
    child, near = node.edges[nr], simple_number(c)
    if abs(c) <= TOLERANCE:
        told = child if isinstance(child, Node) else node
        if type(told).__name__ in MOVES:
            told = node
        return Diagnosis(
            "path", f"{steps.by} leaves out what goes through {steps.words(told)}, as "
            "if that were a constant",
            "add what comes through it; if it is to be held constant, detach() it in "
            "forward as well",
        )  # fmt: skip
    if near is None:
        return None
    where = steps.words(node if c < 0 else steps.first[found[-1][0][0]])
    if near == -1:
        return Diagnosis(
            "sign", f"{steps.by} has the wrong sign in one part of it, which goes "
            f"through {where}", "turn the sign of that part",
        )  # fmt: skip
    text = number_text(1 / c)
    return Diagnosis(
        "factor", f"{steps.by} lacks the factor {text} in one part of it, which goes "
        f"through {where}", f"multiply that part by {text}",
    )  # fmt: skip


USUAL: Final = (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Small numbers that a backward may have in place of forward's."""

SMALL: Final = 0.1
"""Largest number that counts as small, added to keep something from being 0."""


def _noting(found: dict[tuple[Place, float], None]) -> Changed:
    """Return a change that replaces nothing and adds the small numbers that it meets,
    with their places, to ``found``."""

    def note(x: Any, frame: FrameType | None) -> Any:
        if isinstance(x, float) and 0 < abs(x) <= SMALL and frame is not None:
            found[place_in(frame), float(x)] = None
        return x

    return note


def small_number(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a small number in forward that backward lacks or has with
    another value."""
    made_by = case.call.custom
    if made_by is None:
        return None
    found: dict[tuple[Place, float], None] = {}

    def explains_with(change: Changed) -> bool:
        for point in case.points:
            with handing(change, recorded=True):
                leaves, made = recorded(point.call, made_by)
            told = matrices(made, [leaves[name] for name in case.names])
            blocks = [point.blocks[name].given for name in case.names]
            if not all(map(same, told, blocks)):
                return False
        return True

    with suppress(Exception):
        with handing(_noting(found), recorded=True):
            recorded(case.call, made_by)
        for place, x in found:
            for value in USUAL:
                if value != x and explains_with(replacing(x, value, place)):
                    own = case.call.name_of(x)
                    called = f"{own} = {x:g}" if own else f"{x:g}"
                    how = f"with {value:g} in its place" if value else "without it"
                    return Diagnosis(
                        "eps",
                        f"forward adds {called}, and backward is the gradient {how}",
                        f"use {own or format(x, 'g')} in backward where forward does",
                    )
    return None


def small_number_of_backward(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a small number in backward without which it is right."""
    found: dict[tuple[Place, float], None] = {}

    def is_right(point: CheckedCall, change: Changed) -> bool:
        again = CheckedCall(point.call, point.plan.near(point.plan.seconds))
        with handing(change):
            again.proof()
        blocks = [again.blocks.get(name) for name in case.names]
        return all(b is not None and same(b.true, b.given) for b in blocks)

    with suppress(Exception):
        is_right(case.points[0], _noting(found))
        for place, x in [*found][:MAX_TRIED]:
            change = replacing(x, 0.0, place)
            if all(is_right(point, change) for point in case.points):
                return Diagnosis(
                    "eps", f"backward has {x:g} where forward has nothing: without "
                    "it the gradient is right",
                    f"take {x:g} out of backward, or use it in forward as well",
                )  # fmt: skip
    return None


MIN_EACH: Final = 2
"""Smallest number of entries on each side of a threshold; with fewer, a threshold
would always be found."""


def in_a_region(case: RefutedFunction) -> Diagnosis | None:
    """Return the diagnosis of a gradient that is right on one side of a threshold and
    wrong on the other."""
    for each in case.each():
        (name,) = each.names
        bad = np.concatenate([_wrong_entries(*pair) for pair in each.pairs])
        if min(bad.sum(), (~bad).sum()) < MIN_EACH:
            return None
        by_point = [_quantities(point.call, name) for point in case.points]
        for text in by_point[0]:
            found = np.concatenate([quantities[text] for quantities in by_point])
            side = _threshold(found, bad, case.call)
            if side is not None:
                right, wrong = (said.replace("{}", text) for said in side)
                return Diagnosis(
                    "region", f"{each.by} is right where {right}, and wrong where "
                    f"{wrong}", f"see what backward does where {wrong}",
                )  # fmt: skip
    return None


def _wrong_entries(true: Any, given: Any) -> Any:
    """Return which entries of an input have a wrong gradient in any output."""
    gap = np.abs(true - given)
    return (gap > CLOSE * max(largest(true), largest(given))).any(0)


def _quantities(call: FunctionCall, name: str) -> dict[str, Any]:
    """Return the quantities that a branch may depend on, by their text, each with a
    value for every entry of an input."""
    own = next(s for s in call.slots if s.name == name)
    shape = tuple(own.given.shape)
    held = {
        s.name: np.asarray(s.given.raw, np.float64).ravel()
        for s in call.slots
        if tuple(s.given.shape) == shape
    }
    held = {name: held[name], **held}
    found = dict(held)
    found |= {f"abs({n})": np.abs(v) for n, v in held.items()}
    for a, b in combinations(held, 2):
        gap = held[a] - held[b]
        found |= {f"{a} - {b}": gap, f"abs({a} - {b})": np.abs(gap)}
        found[f"{a} * {b}"] = held[a] * held[b]
    return found


def _threshold(found: Any, bad: Any, call: FunctionCall) -> tuple[str, str] | None:
    """Return texts for where it is right and wrong, ``{}`` for the quantity."""
    order = np.argsort(found)
    values, wrong = found[order], bad[order]
    ends = np.flatnonzero(wrong[1:] != wrong[:-1])
    if len(ends) > 2 or any(values[k] == values[k + 1] for k in ends):
        return None
    edges = [_between(float(values[k]), float(values[k + 1]), call) for k in ends]
    below, above = f"{{}} < {edges[0]}", f"{{}} > {edges[-1]}"
    if len(ends) == 1:
        return (above, below) if wrong[0] else (below, above)
    if min(ends[0] + 1, len(values) - 1 - ends[1]) < MIN_EACH:
        return None
    inside, outside = f"{edges[0]} < {{}} < {edges[1]}", f"{below} or {above}"
    return (inside, outside) if wrong[0] else (outside, inside)


def _between(low: float, high: float, call: FunctionCall) -> str:
    """Return a simple number between two, or an argument's name, as text."""
    if low <= 0 <= high:
        return "0"
    for name, x in zip(call.names, call.arguments, strict=False):
        if isinstance(x, int | float):
            if low <= x <= high:
                return name
            if low <= -x <= high:
                return f"-{name}"
    for simple in (1, -1, 0.5, -0.5, 2, -2, 3, -3):
        if low <= simple <= high:
            return f"{simple:g}"
    return f"{(low + high) / 2:.3g}, or near it"
