"""Shapes of inputs that have no value, from what the program does with them.

Invariant: with the shapes that are returned the program runs, whatever number each size
stands for; two sizes have one name only if the program needs them to be equal.

    infer_shapes(["A", "x"], runs)[0]       # {"A": ("n", "m"), "x": ("m",)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Final, TypeAlias

from .tree import greek_letter

Sizes: TypeAlias = Mapping[str, tuple[int, ...]]
Runs: TypeAlias = Callable[[Sizes], bool]
"""Whether a program runs with inputs of these shapes."""

MAX_DIMENSIONS: Final = 2
"""Most dimensions of an input whose shape is inferred."""

MAX_INPUTS: Final = 6
"""Most inputs whose shapes are inferred."""

SIZE_NAMES: Final = ("n", "m", "k", "p", "q", "r", "s", "t", "u", "v", "w", "z")
"""Names of sizes, in the order of their use."""

PLAIN_SIZE, OTHER_SIZE = 3, 13
"""Sizes that a program is tried with."""

MAX_TRIES: Final = 2_000
"""Most runs of a program with shapes that may be those of its inputs."""


def infer_shapes(
    names: Sequence[str], runs: Runs, known: Sequence[int] = ()
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]] | None:
    """Return the shape of each input as names of sizes, and a number for each size;
    None if no shapes were found.

    A name in capitals is rather a matrix, a Greek one a number and any other a vector,
    as in books. Not all inputs are numbers.

    Args:
        known: the sizes that inputs with a shape have.
    """
    if len(names) > MAX_INPUTS:
        return None
    sizes = [n for n in dict.fromkeys(known) if n > 1 and n != OTHER_SIZE]
    tried = 0
    for counts in _dimension_counts(names):
        places = [(name, at) for name, count in zip(names, counts, strict=True)
                  for at in range(count)]  # fmt: skip
        for numbers in _size_choices(len(places), sizes):
            tried += 1
            if tried > MAX_TRIES:
                return None
            numbered = dict(zip(places, numbers, strict=True))
            if runs(_shapes(names, counts, numbered)):
                groups = _distinct_sizes(names, counts, numbered, runs)
                return _with_size_names(names, counts, numbered, groups)
    return None


def _size_choices(count: int, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield sizes for a number of places: all of one size first, then the sizes of
    other inputs in each order."""
    for size in (PLAIN_SIZE, *sizes):
        yield (size,) * count
    for choice in product(sizes, repeat=count):
        if len(set(choice)) > 1:
            yield choice


def _dimension_counts(names: Sequence[str]) -> Iterator[tuple[int, ...]]:
    """Yield numbers of dimensions for the inputs, the likeliest ones first; not all
    are numbers."""
    every = product(range(MAX_DIMENSIONS + 1), repeat=len(names))
    yield from sorted(
        (counts for counts in every if any(counts)),
        key=lambda counts: sum(map(_unlikeliness, names, counts)),
    )


def _unlikeliness(name: str, dimensions: int) -> int:
    """Return how far a number of dimensions is from what a name suggests."""
    if name[0].isupper():
        return MAX_DIMENSIONS - dimensions
    greek = {"lam", "eps", "eta"} | {greek_letter(chr(c)) for c in range(945, 970)}
    stem = greek_letter(name[0]) if not name[0].isascii() else name
    usual = 0 if stem.rstrip("0123456789_") in greek else 1
    return abs(dimensions - usual) * (1 + (dimensions > usual))


def _shapes(
    names: Sequence[str], counts: Sequence[int], sizes: Mapping[tuple[str, int], int]
) -> dict[str, tuple[int, ...]]:
    return {
        name: tuple([sizes[name, at] for at in range(count)])
        for name, count in zip(names, counts, strict=True)
    }


def _distinct_sizes(
    names: Sequence[str],
    counts: Sequence[int],
    numbered: Mapping[tuple[str, int], int],
    runs: Runs,
) -> list[set[tuple[str, int]]]:
    """Return the places of sizes, in groups of those that have to be equal.

    Two places belong together unless the program runs with two different sizes there.
    """
    places = [*numbered]
    groups = [
        {place for place in places if numbered[place] == size}
        for size in dict.fromkeys(numbered.values())
    ]
    for number in range(1, len(places)):
        for chosen in combinations(places, number):
            others = set(chosen)
            if not any(group & others and group - others for group in groups):
                continue
            other = {**numbered, **dict.fromkeys(chosen, OTHER_SIZE)}
            if runs(_shapes(names, counts, other)):
                groups = [
                    part
                    for group in groups
                    for part in (group - others, group & others)
                    if part
                ]
    return sorted(groups, key=lambda group: min(map(places.index, group)))


def _with_size_names(
    names: Sequence[str],
    counts: Sequence[int],
    numbered: Mapping[tuple[str, int], int],
    groups: list[set[tuple[str, int]]],
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]] | None:
    free = [size for size in SIZE_NAMES if size not in names]
    if len(groups) > len(free):
        return None
    called = {
        place: size
        for size, group in zip(free, groups, strict=False)
        for place in group
    }
    shapes = {
        name: tuple([called[name, at] for at in range(count)])
        for name, count in zip(names, counts, strict=True)
    }
    return shapes, {size: numbered[place] for place, size in called.items()}
