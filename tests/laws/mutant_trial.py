"""The trial of a mutant: which law refutes it, and if none does, why not.

Invariant: a mutant is excused only by numbers: its two modes give what the row's own
give, bit for bit, at the cases, at other points of their kind, near 0 and far from it,
and at integers, where the ties and kinks are.

    refutation(mutant)          # "adjoint"
    excuse(mutant)              # "the same function", or None
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.node import Node
from gradcli.engine.record import RECORDERS
from gradcli.ops import OPS, Case, Op
from gradcli.ops.checks import KindError

from .conventions import POINTS, Point, gradients, run, tangents
from .digits import digits
from .draw import MATRICES, Spot, draw, draw_array, generator, is_shape, root
from .measure import LAWS, both, cotangents, directions, outputs_of
from .mutants import CUT, Mutant, planted, spots_of

FORMULA_DIGITS = 1e-11
"""Largest relative difference of two right formulas for one number; one may lose
some digits."""

SAME_FUNCTION = "the same function"
FAILED = "the pass fails"
CONVENTION = "convention at a kink"
AGAIN = 8
"""Draws of each kind on which a mutant must agree with its row to be excused."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``law``: what refutes the mutant; ``excuse``: why nothing can; or neither."""

    mutant: Mutant
    law: str | None
    excuse: str | None = None

    @property
    def explained(self) -> bool:
        return self.law is not None or self.excuse is not None


def tried(mutant: Mutant) -> Outcome:
    law = refutation(mutant)
    return Outcome(mutant, law, None if law else excuse(mutant))


def refutation(mutant: Mutant) -> str | None:
    """The first law that rejects the spoilt row in one of its cases."""
    spoilt = mutant.op()
    failed = None
    try:
        for laws in (LAWS, {"digits": digits}):
            for spot in spots_of(spoilt):
                for name, law in laws.items():
                    try:
                        if not law(spot) <= 1:
                            return name
                    except Exception:
                        failed = FAILED
    finally:
        RECORDERS.pop(spoilt.name, None)
    return broken_convention(mutant) or failed


def broken_convention(mutant: Mutant) -> str | None:
    """Whether the mutant goes against what is agreed on for kinks."""
    failed = None
    points = points_by_row()[mutant.row]
    with planted(mutant):
        for mode, point in product((gradients, tangents), points):
            try:
                if not agreed(mode(point), point):
                    return CONVENTION
            except Exception:
                failed = FAILED
    return failed


def agreed(found: list[Any], point: Point) -> bool:
    return all(
        np.allclose(f, np.asarray(g), rtol=1e-14, atol=0, equal_nan=True)
        for f, g in zip(found, point.grads, strict=True)
        if g is not None
    )


@cache
def points_by_row() -> dict[str, list[Point]]:
    """The conventions that each row has a part in."""
    found: dict[str, list[Point]] = {op.name: [] for op in OPS.values()}
    for point in POINTS:
        _, y = run(point)
        for row in rows_below(y):
            found[row].append(point)
    return found


def rows_below(y: Tensor) -> set[str]:
    """The rows whose nodes a tensor was made by."""
    edges, found = [y.edge], set()
    while edges:
        edge = edges.pop()
        if edge is not None:
            if isinstance(edge, Node):
                found.add(edge.op.name)
            edges += edge.edges
    return found


def excuse(mutant: Mutant) -> str | None:
    """The reason why no law can refute a mutant; None if there is none."""
    if mutant.slip == CUT:
        return None if is_recorded(mutant) else SAME_FUNCTION
    op, spoilt = OPS[mutant.row], mutant.op()
    try:
        same = all(alike(op, spoilt, n, k) for n, k in points_of(op))
    finally:
        RECORDERS.pop(spoilt.name, None)
    return SAME_FUNCTION if same else None


def is_recorded(mutant: Mutant) -> bool:
    """Whether the row records, in one of its cases, a gradient that is not 0."""
    for spot in spots_of(OPS[mutant.row]):
        leaves, y = spot.run()
        outputs = outputs_of(y)
        v = [Tensor(g, NUMPY, True) for g in cotangents(spot)]
        try:
            found = grad(outputs, leaves, v, create_graph=True)
        except KindError:
            # The row has no derivative by this input.
            continue
        for slot, g in zip(spot.free, found, strict=True):
            mine = mutant.slot in (None, slot)
            if mine and g is not None and g.requires_grad and g.raw.any():
                return True
    return False


def points_of(op: Op) -> Iterator[tuple[int, str]]:
    kinds = [f"{kind} {k}" for kind in KINDS for k in range(AGAIN)]
    for number, case in enumerate(op.cases):
        if draw(op, number).free:
            yield number, DRAWN
            fitting = [k for k in kinds if case.make not in MATRICES or AGAIN_LIKE in k]
            yield from ((number, kind) for kind in fitting)


def alike(op: Op, spoilt: Op, number: int, kind: str) -> bool:
    """Whether both rows give the same products at a point up to the digits that
    another right formula loses, from either mode."""
    ours = own_products(op, number, kind)
    if ours is None:
        return kind != DRAWN
    try:
        theirs = products(drawn(spoilt, number, kind), kind)
    except Exception:
        return False
    return all(
        np.allclose(a, b, rtol=FORMULA_DIGITS, atol=0, equal_nan=True)
        for a, b in zip(ours, theirs, strict=True)
    )


@cache
def own_products(op: Op, number: int, kind: str) -> list[Any] | None:
    """What the row gives at a point; None where there is no such point, as the row
    itself has no value there."""
    try:
        return products(drawn(op, number, kind), kind)
    except Exception:
        return None


def products(spot: Spot, kind: str) -> list[Any]:
    pulled, pushed = both(spot, cotangents(spot, kind), directions(spot, kind))
    return [*pulled, *pushed]


def drawn(op: Op, number: int, kind: str) -> Spot:
    """The case's point, or another one of the kind."""
    first = draw(op, number)
    if kind == DRAWN:
        return first
    rng = generator(root(op), number, kind)
    case, finish = KINDS[kind.rpartition(" ")[0]](first.case)
    arrays = [
        finish(draw_array(rng, shape, case)) if is_shape(shape) else given
        for shape, given in zip(case.inputs, first.arrays, strict=True)
    ]
    return Spot(op, first.case, tuple(arrays))


DRAWN, AGAIN_LIKE = "drawn", "again"
KINDS: dict[str, Callable[[Case], tuple[Case, Callable[[Any], Any]]]] = {
    AGAIN_LIKE: lambda case: (case, np.asarray),
    "near": lambda case: (replace(case, low=-3.0, high=3.0), np.asarray),
    "further": lambda case: (replace(case, low=-10.0, high=10.0), np.asarray),
    "far": lambda case: (replace(case, low=-90.0, high=90.0), np.asarray),
    "whole": lambda case: (replace(case, low=-1.4, high=1.4, make="uniform"), np.round),
}
"""Kinds of points: what a case is drawn like, and what is done to the numbers."""


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """The count, law by law, and every survivor with its reason."""
    outcomes = list(outcomes)
    by_law = Counter(o.law for o in outcomes if o.law)
    survivors = [o for o in outcomes if not o.law]
    return [
        f"laws: killed {by_law.total()} of {len(outcomes)} mutants, "
        f"{by_law[FAILED]} of them because {FAILED}",
        *(f"  {count:5} by {law}" for law, count in by_law.most_common()),
        f"survivors: {len(survivors)}",
        *(f"  {o.mutant}: {o.excuse or 'NOT EXPLAINED'}" for o in survivors),
    ]
