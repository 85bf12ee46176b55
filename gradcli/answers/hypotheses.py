"""Mistakes that numbers show: the test for each, its sentence, and its repair.

The numbers of a claim and those of a custom backward are tested by the same hypotheses,
each of which has a sentence for either.

Invariant: a hypothesis explains all pairs of right and given numbers together, and
neither side of the pairs is zero throughout: zeros alone never count as a match.

    SIGN.of_claim([(np.ones(2), -np.ones(2))]).repair       # "multiply by -1"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import isfinite, prod

import numpy as np

from ..engine.raw import Host
from .claim_views import Diagnosis
from .survey import largest

Array = Host
Pair = tuple[Array, Array]

CLOSE = 1e-8
"""Largest relative distance of two equal numbers that were computed differently."""

SIMPLE = 64
"""Largest denominator of a constant factor that someone may have forgotten."""


def same(a: Array, b: Array) -> bool:
    """Tell whether two arrays are finite and equal, ignoring dimensions of size 1."""
    a, b = np.squeeze(a), np.squeeze(b)
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    size = max(largest(a), largest(b))
    return bool((abs(a - b) <= CLOSE * size).all())


def all_same(pairs: Iterable[Pair]) -> bool:
    return all(same(a, b) for a, b in pairs)


def speaking(pairs: Sequence[Pair]) -> bool:
    """Tell whether each side has an entry that is not zero."""
    return any(largest(a) for a, _ in pairs) and any(largest(b) for _, b in pairs)


def alike(pairs: Sequence[Pair]) -> bool:
    """Tell whether both sides are equal and neither is all zeros."""
    return speaking(pairs) and all_same(pairs)


def constant_factor(pairs: Sequence[Pair]) -> float | None:
    """Return the ``c`` with ``a = c * b`` for all pairs; None if there is none, or if a
    side is all zeros or not finite."""
    if any(np.squeeze(a).shape != np.squeeze(b).shape for a, b in pairs):
        return None
    if not pairs:
        return None
    a = np.concatenate([np.ravel(p) for p, _ in pairs])
    b = np.concatenate([np.ravel(q) for _, q in pairs])
    if not a.size or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return None
    square = float(b @ b)
    if not square or not largest(a):
        return None
    c = float(a @ b) / square
    if not c or largest(a - c * b) > CLOSE * max(largest(a), abs(c) * largest(b)):
        return None
    return c


def simple_number(c: float) -> Fraction | None:
    """Return the simple fraction that a number is; None if it is none."""
    if not isfinite(c):
        return None
    near = Fraction(c).limit_denominator(SIMPLE)
    if abs(float(near) - c) > CLOSE * abs(c) or abs(near.numerator) > SIMPLE * SIMPLE:
        return None
    return near


def number_text(c: float) -> str:
    """Return a number as a simple fraction, or else as a short decimal."""
    simple = simple_number(c)
    return str(simple) if simple is not None else f"{c:.8g}"


MAX_DIMENSIONS = 4
"""Largest number of dimensions whose orders and sums are tried."""

Seen = Callable[[Array, Array], "Pair | None"]
"""Type of a function from right and given numbers to two arrays that are equal if
this is the mistake; it returns None if the shapes rule the mistake out."""


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A mistake that numbers may show, with its test and its sentences.

    cause        the kind of the mistake, in one word
    seen         a function that returns the two arrays that the mistake makes equal
    text         the sentence about a claim; ``repair`` says how to put it right
    of_gradient  cause, sentence and repair for a gradient, whose name replaces ``{}``
    scaled       whether a claim may also lack a constant factor
    unless       a divisor that is not taken for that factor: another mistake fits it
    """

    cause: str
    seen: Seen
    text: str
    repair: str
    of_gradient: tuple[str, str, str] = ("", "", "")
    scaled: bool = False
    unless: int = 1

    def _compared(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return the arrays that must be equal; none if a pair's shapes do not fit."""
        found = [self.seen(true, given) for true, given in pairs]
        known = [pair for pair in found if pair is not None]
        return known if len(known) == len(found) else []

    def of_claim(self, pairs: Sequence[Pair]) -> Diagnosis | None:
        """Return the diagnosis of a claim; None if it does not have this mistake."""
        compared = self._compared(pairs)
        plain = Diagnosis(self.cause, self.text, self.repair)
        if not self.scaled:
            return plain if alike(compared) else None
        c = constant_factor(compared)
        if c is None or (self.unless > 1 and simple_number(1 / c) == self.unless):
            return None
        if abs(c - 1) <= CLOSE:
            return plain
        also = number_text(c)
        text = f"{self.text}, and the factor {also}"
        return Diagnosis(self.cause, text, f"{self.repair} and multiply by {also}")

    def of_backward(self, pairs: Sequence[Pair], gradient: str) -> Diagnosis | None:
        """Return the diagnosis of a backward; None if it does not have this mistake."""
        cause, text, repair = self.of_gradient
        right = alike(self._compared(pairs))
        return Diagnosis(cause, text.format(gradient), repair) if right else None


def first_of(rows: Iterable[Hypothesis], pairs: Sequence[Pair]) -> Diagnosis | None:
    """Return the diagnosis of the first hypothesis that fits; None if none does."""
    return next(filter(None, (row.of_claim(pairs) for row in rows)), None)


SIGN = Hypothesis(
    "sign", lambda a, b: (a, -b), "the sign is wrong", "multiply by -1",
    of_gradient=("sign", "{} has the wrong sign", "multiply it by -1"),
)  # fmt: skip

OFF_DIAGONAL = Hypothesis(
    "diagonal",
    lambda a, b: (np.where(np.eye(*a.shape), a, 0), b)
    if a.ndim == 2 and a.shape == b.shape and a.size > 1 else None,
    "the entries off the diagonal are left out", "add them",
    of_gradient=(
        "path", "{} is right for the entry of the same position alone: outputs depend "
        "on the other entries, too",
        "add what comes from the other entries of the output",
    ),
)  # fmt: skip

DIAGONALS = (
    OFF_DIAGONAL,
    Hypothesis(
        "diagonal",
        lambda a, b: (a, np.diag(np.ravel(b)))
        if a.shape == (b.size,) * 2 and a.size > 1 else None,
        "the derivative is a diagonal matrix, of which this is the diagonal",
        "take diag(...) of it",
    ),
    Hypothesis(
        "diagonal",
        lambda a, b: (a, np.diagonal(b))
        if b.shape == (a.size,) * 2 and a.size > 1 else None,
        "the derivative is the diagonal of this matrix alone",
        "take its diagonal",
    ),
)  # fmt: skip
"""Hypotheses that one side is a matrix and the other its diagonal."""

UPSIDE_DOWN = Hypothesis(
    "reciprocal", lambda a, b: (a, 1 / b) if a.all() and b.all() else None,
    "the result is upside down", "take 1 divided by it",
)  # fmt: skip


def transpositions(ndim: int, outer: int = 0) -> Iterator[Hypothesis]:
    """Yield the hypotheses that ``ndim`` dimensions, behind ``outer`` ones that stay in
    place, are in another order."""
    if ndim > MAX_DIMENSIONS:
        return
    for order in list(permutations(range(ndim)))[1:]:

        def seen(a: Array, b: Array, order: tuple[int, ...] = order) -> Pair | None:
            if b.ndim != outer + ndim:
                return None
            turned = b.transpose(*range(outer), *(outer + d for d in order))
            return (a, turned) if turned.shape == a.shape else None

        how = ".t()" if len(order) == 2 else f".permute{order}"
        yield Hypothesis(
            "transpose", seen, "the result is transposed", f"take {how} of it",
            of_gradient=("transpose", "{} is transposed", f"take {how} of it"),
            scaled=True,
        )  # fmt: skip


def sums(shape: tuple[int, ...], left_out: bool) -> Iterator[Hypothesis]:
    """Yield the hypotheses that a sum or a mean over some dimensions is left out of a
    claim of this shape, or is taken of a derivative of this shape."""
    if len(shape) > MAX_DIMENSIONS or (prod(shape) < 2 and not left_out):
        return
    for name, reduce in (("sum", np.sum), ("mean", np.mean)):
        for axes in _choices(len(shape)):
            every = len(axes) == len(shape)
            plural = "s" if len(axes) > 1 else ""
            along = f"dimension{plural} {', '.join(map(str, axes))}"
            along = "all entries" if every else along
            how = "" if every else f"dim={axes if plural else axes[0]}"
            if left_out:
                count = prod(shape[axis] for axis in axes)
                yield Hypothesis(
                    name, lambda a, b, f=reduce, axes=axes: (a, f(b, axis=axes)),  # type: ignore[misc]
                    f"a {name} over {along} is left out", f"take .{name}({how}) of it",
                    scaled=True, unless=count if name == "sum" else 1,
                )  # fmt: skip
            else:
                yield Hypothesis(
                    name, lambda a, b, f=reduce, axes=axes: (f(a, axis=axes), b),  # type: ignore[misc]
                    f"the claim takes a {name} over {along} of the derivative",
                    f"leave the {name} out",
                )  # fmt: skip


def _choices(ndim: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, ndim + 1):
        yield from combinations(range(ndim), count)
