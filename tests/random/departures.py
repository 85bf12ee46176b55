"""Where gradcli differs from PyTorch on purpose.

Invariant: every entry says why, and applies as narrowly as it can be told; one that
never fires in a long run is to be taken out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.random.compare import Difference
from tests.random.program import Program


@dataclass(frozen=True, slots=True)
class Departure:
    """A kind of difference that is meant."""

    name: str
    why: str
    applies: Callable[[Program, Difference], bool]


def refuses(words: str, stage: str = "") -> Callable[[Program, Difference], bool]:
    """PyTorch alone refuses, in these words."""
    pattern = re.compile(words)
    return lambda program, d: (
        d.what.startswith("PyTorch alone refuses")
        and d.what.endswith(stage)
        and pattern.search(d.theirs) is not None
    )


def without_numbers(graph: str) -> str:
    """A graph in which `//` has one edge for its tensor, as PyTorch draws it."""
    return re.sub(r"(NotImplemented\(\d+(?:#\d+)?), None\)", r"\1)", graph)


DEPARTURES = (
    Departure(
        "in place",
        "the language computes with what an operand held; PyTorch refuses the pass",
        refuses("modified by an inplace operation"),
    ),
    Departure(
        "no derivative",
        "PyTorch has not written this derivative",
        refuses("derivative for \\S+ is not implemented|not differentiable"),
    ),
    Departure(
        "ways to call",
        "the language reads numbers, lists and parameters in more ways",
        refuses("^TypeError", "value"),
    ),
    Departure(
        "einsum",
        "einsum is one node; PyTorch writes it as products of matrices",
        lambda program, d: d.what == "graph" and "EinsumBackward0" in d.ours,
    ),
)  # fmt: skip


def departure(program: Program, found: Difference) -> Departure | None:
    """The entry that explains a difference."""
    return next((d for d in DEPARTURES if d.applies(program, found)), None)
