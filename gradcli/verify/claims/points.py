"""Points at which a claim is tested: the given one, random ones, and simple ones.

Invariant: the same task always gives the same points in the same order.

    points = random_points(inputs, seed=0)
    next(points)                            # {"x": (0.126,), ...}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice, product
from random import Random
from typing import Final

from ...lang.parser import parse
from ...lang.syntax import assigned_names, free_names
from .text import Claim, ClaimsTask, Given

POINT_DECIMALS: Final = 3
"""Number of decimals of a random coordinate: short, and still in general position."""

MAX_GRID_ENTRIES: Final = 3
"""Largest number of all inputs' entries for which every small point is tried."""

SMALL_POINT_TRIES: Final = 60
"""Number of small points tried if there are more entries than `MAX_GRID_ENTRIES`."""

Point = Mapping[str, tuple[float, ...]]

SIMPLE: Final = (0.0, 1.0, 2.0, -1.0, 3.0, -2.0, 0.5, 4.0, -3.0, 1.5, -0.5, 5.0)
"""Coordinates of simple points, the simplest first."""

Sampler = Callable[[Random], float]

_SAMPLERS: Final[tuple[Sampler, ...]] = (
    lambda random: random.gauss(0, 1),
    lambda random: abs(random.gauss(0, 1)) + 0.1,
    lambda random: random.gauss(0, 2),
    lambda random: random.uniform(0.05, 0.95),
    lambda random: random.uniform(1.05, 3),
)
"""Ways to draw a coordinate, one for each point in turn; most domains contain points
of one of them."""


def given_point(inputs: Sequence[Given], seed: int) -> Point | None:
    """Return the typed point, random where it has gaps; None if nothing was typed."""
    typed = frozenset(given.name for given in inputs if given.values is not None)
    return next(random_points(inputs, seed, typed)) if typed else None


def about_a_point(task: ClaimsTask, claim: Claim) -> bool:
    """Tell whether a claim uses no name of a program whose every input was typed; such
    a claim gives numbers for that point."""
    if claim.expression is None or any(g.values is None for g in task.inputs):
        return False
    known = {given.name for given in task.inputs}
    known |= set(assigned_names(parse(task.source, known)))
    return known.isdisjoint(free_names(parse(claim.expression, known)))


def random_points(
    inputs: Sequence[Given], seed: int, pinned: frozenset[str] = frozenset()
) -> Iterator[Point]:
    """Yield random points without end; inputs in ``pinned`` keep their values."""
    random = Random(seed)
    for draw in cycle(_SAMPLERS):

        def numbers(count: int, draw: Sampler = draw) -> list[float]:
            return [round(draw(random), POINT_DECIMALS) for _ in range(count)]

        yield _filled(inputs, pinned, numbers)


def counting_point(inputs: Sequence[Given], pinned: frozenset[str]) -> Point:
    """Return the point whose inputs have the entries 1, 2, 3, … in C order."""
    return _filled(inputs, pinned, lambda count: map(float, range(1, count + 1)))


def small_points(
    inputs: Sequence[Given], seed: int, pinned: frozenset[str]
) -> Iterator[Point]:
    """Yield finitely many points of simple numbers, roughly the simplest first."""
    count = sum(given.size for given in inputs if given.name not in pinned)
    for numbers in map(iter, _small_numbers(count, Random(seed))):
        yield _filled(inputs, pinned, partial(islice, numbers))


def _filled(
    inputs: Sequence[Given], pinned: frozenset[str],
    numbers: Callable[[int], Iterable[float]],
) -> Point:  # fmt: skip
    """Return the point at which inputs in ``pinned`` have their values, and the others,
    in order, what ``numbers`` gives for their count of entries."""
    return {
        given.name: given.values
        if given.values is not None and given.name in pinned
        else tuple(numbers(given.size))
        for given in inputs
    }


def _small_numbers(count: int, random: Random) -> Iterator[Sequence[float]]:
    if count <= MAX_GRID_ENTRIES:
        indices = product(range(len(SIMPLE)), repeat=count)
        for at in sorted(indices, key=lambda p: (sum(p), max(p, default=0))):
            yield [SIMPLE[i] for i in at]
        return
    yield [1.0] * count
    for attempt in range(SMALL_POINT_TRIES):
        among = SIMPLE[: 3 + attempt // 8]
        yield [random.choice(among) for _ in range(count)]


def simpler(value: float) -> Sequence[float]:
    """Return the simple numbers that come before a number, simplest first."""
    return SIMPLE[: SIMPLE.index(value)] if value in SIMPLE else SIMPLE
