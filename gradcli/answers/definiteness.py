"""The eigenvalues of a Hessian at a point, and whether it is definite there.

Invariant: an eigenvalue that rounding could have made is taken for 0, and the answer
says so; signs of other eigenvalues are those of the numbers that were computed.

    definiteness([[2.0, 0.0], [0.0, 1e-20]])    # "positive semidefinite to rounding"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any, Final

import numpy as np

from ..engine.devices import host
from ..engine.jacobian import JacobianBlock
from .line import Line
from .numbers import number

MAX_SIDE: Final = 300
"""Largest number of rows of a Hessian whose eigenvalues are computed."""

MAX_LISTED: Final = 8
"""Largest number of eigenvalues that a line lists."""

KNOWN_DIGITS: Final = 13
"""Number of digits of the largest eigenvalue that no rounding changes."""

SLACK: Final = 8.0
"""Factor on the rounding error of eigenvalues of exact entries, since entries are
rounded, too."""


@dataclass(frozen=True, slots=True)
class Definiteness:
    """The eigenvalues of a Hessian.

    definiteness  Whether it is positive or negative definite, semidefinite,
                  indefinite, or zero.
    eigenvalues   The eigenvalues, smallest first.
    """

    definiteness: str
    eigenvalues: list[float]


def definiteness_of(
    blocks: Mapping[tuple[str, ...], JacobianBlock], names: Sequence[str], dtype: str
) -> Definiteness | None:
    """Return the definiteness of a Hessian by its blocks; None if it is too large, not
    finite, or not symmetric."""
    sizes = [blocks[name, name].x.numel() for name in names]
    if not 0 < sum(sizes) <= MAX_SIDE:
        return None
    rows = [
        [
            np.asarray(host(blocks[first, second].dense().raw), float).reshape(m, n)
            for second, n in zip(names, sizes, strict=True)
        ]
        for first, m in zip(names, sizes, strict=True)
    ]
    matrix = np.block(rows)
    return definiteness(matrix, float(np.finfo(dtype).eps))


def definiteness(
    matrix: Any, eps: float = float(np.finfo(float).eps)
) -> Definiteness | None:
    """Return the definiteness of a square matrix whose entries have a relative rounding
    error of ``eps``; None if it is not finite or not symmetric."""
    matrix = np.asarray(matrix, float)
    if not np.isfinite(matrix).all():
        return None
    size = float(np.abs(matrix).max(initial=0.0))
    # Entries of any size are squared on the way.
    scaled = matrix / size if size else matrix
    error = SLACK * len(matrix) * eps
    if np.abs(scaled - scaled.T).max(initial=0.0) > error:
        return None
    values = np.linalg.eigvalsh(scaled)
    word = _word(values, error)
    diagonal = np.diagonal(scaled)
    if (diagonal > 0).all() or (diagonal < 0).all():
        # A change of the inputs' units changes no sign of an eigenvalue.
        units = np.sqrt(np.abs(diagonal))
        better = _word(np.linalg.eigvalsh(scaled / np.outer(units, units)), error)
        sign = 1 if diagonal[0] > 0 else -1
        word = better if (sign * values > 0).all() else word
    return Definiteness(word, _known(values * size, word))


def _known(values: Any, word: str) -> list[float]:
    """Return eigenvalues without the digits that rounding may change."""
    largest = float(np.abs(values).max(initial=0.0))
    digits = KNOWN_DIGITS - 1 - floor(log10(largest)) if largest else 0
    rounded = [round(float(value), digits) for value in values]
    if "semidefinite" in word:
        return rounded
    pairs = zip(rounded, values, strict=True)
    return [near or float(f"{value:.2g}") for near, value in pairs]


def _word(values: Any, error: float) -> str:
    """Return the word for a matrix with these eigenvalues, which have a relative
    ``error``."""
    least = error * float(np.abs(values).max(initial=0.0))
    above, below = (values > least).any(), (values < -least).any()
    if above and below:
        return "indefinite"
    if not above and not below:
        return "zero"
    sign = "positive" if above else "negative"
    definite = (np.abs(values) > least).all()
    return f"{sign} definite" if definite else f"{sign} semidefinite to rounding"


def lines(view: Definiteness) -> Iterator[Line]:
    """Yield the line on a Hessian's eigenvalues."""
    values = view.eigenvalues
    word = "eigenvalue" if len(values) == 1 else "eigenvalues"
    if len(values) <= MAX_LISTED:
        said = f"{word} {', '.join(map(number, values))}"
    else:
        said = f"{len(values)} {word} from {number(values[0])} to {number(values[-1])}"
    yield Line((view.definiteness, "name"), (f"; {said}", "plain"))
