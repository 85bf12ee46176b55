"""A program in gradcli and in PyTorch, side by side.

Invariant: a number that differs is a difference unless PyTorch's own number moves as
much when its steps are rounded otherwise (`tests.random.noise`); there is no tolerance
beyond a few units in the last place.

    difference(program)          # None, or what differs first
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from tests.random.noise import RUNS, Moved
from tests.random.ours import OURS
from tests.random.outcome import ORDERS, Outcome, outcome
from tests.random.program import Program
from tests.random.theirs import THEIRS

UNITS = 16
"""Units in the last place that two ways to compute the same may differ by."""

RANGE = 1e4
"""How much smaller an entry may be than the largest, to be measured against that: the
error of a product of matrices, or of a solution, is even over its entries."""

SLIGHT = {"float64": 1e-9, "float32": 1e-3}
"""What is off by less, relative to the largest entry, ties that break may explain."""

SHOWN = 6
"""How many of the entries that differ are shown."""

SPREAD = 8.0
"""How much farther than PyTorch's own spread a number may lie: few runs are drawn."""

TAIL = 6.0
"""Of numbers drawn evenly, or normally, the largest deviation is rarely so many times
the middle one."""

MOST_TAIL = 10.0
"""Beyond, the largest is a jump, which says nothing of how far others lie."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs first, and how."""

    what: str
    ours: str
    theirs: str
    relative: float = np.inf
    """The largest error relative to PyTorch's number."""

    @property
    def kind(self) -> str:
        """What differs; for a refusal, with the beginning of its words."""
        if "refuses" not in self.what:
            return self.what
        words = re.sub(r"'\w+'|[\d\[\]]+", "", self.ours or self.theirs)
        return f"{self.what} ({words[:40]})"

    def __str__(self) -> str:
        off = f" ({self.relative:.1e} off)" if np.isfinite(self.relative) else ""
        return f"{self.what}{off}: \n    gradcli {self.ours}\n    PyTorch {self.theirs}"


def difference(program: Program, graph: bool = True) -> Difference | None:
    """What differs first: a refusal, the value, the graph or a derivative."""
    try:
        ours = outcome(OURS, program)
    except Exception as error:
        return Difference("crash", f"{type(error).__name__}: {error}", "")
    if ours.refusal is not None and "E401" in ours.refusal.message:
        return None
    theirs = outcome(THEIRS, program)
    refused = refusals(ours, theirs)
    if refused and refused.what.endswith("the value"):
        return refused
    if ours.refusal and ours.refusal.stage == "value":
        return None
    return (
        kinds(ours, theirs)
        or numbers(program, "value", [ours.value], [theirs.value])
        or (graphs(ours, theirs) if graph else None)
        or refused
        or numbers(program, "gradient", ours.gradients, theirs.gradients)
        or numbers(program, "Jacobian", ours.jacobians, theirs.jacobians)
        or numbers(program, "second derivative", ours.seconds, theirs.seconds)
    )


def refusals(ours: Outcome, theirs: Outcome) -> Difference | None:
    a, b = ours.refusal, theirs.refusal
    if a is not None and "E599" in a.message:
        return Difference("crash", str(a), str(b))
    if (a is None) == (b is None) and (a is None or b is None or a.stage == b.stage):
        return None
    if b is not None and (a is None or a.stage != "value"):
        return Difference(f"PyTorch alone refuses the {b.stage}", "", str(b))
    assert a is not None
    return Difference(f"gradcli alone refuses the {a.stage}", str(a), "")


def kinds(ours: Outcome, theirs: Outcome) -> Difference | None:
    pairs = {
        "shape": (ours.value.shape, theirs.value.shape),
        "dtype": (ours.dtype, theirs.dtype),
        "requires_grad": (ours.requires_grad, theirs.requires_grad),
    }
    for what, (a, b) in pairs.items():
        if a != b:
            return Difference(what, str(a), str(b))
    return None


def graphs(ours: Outcome, theirs: Outcome) -> Difference | None:
    if ours.graph == theirs.graph:
        return None
    return Difference("graph", "; ".join(ours.graph), "; ".join(theirs.graph))


FIELDS = {
    "value": "value", "gradient": "gradients", "Jacobian": "jacobians",
    "second derivative": "seconds",
}  # fmt: skip


def numbers(
    program: Program, what: str, ours: list[Any], theirs: list[Any]
) -> Difference | None:
    for at, (a, b) in enumerate(zip_longest(ours, theirs)):
        if a is None and b is None:
            continue
        a = np.zeros_like(b) if a is None else a
        b = np.zeros_like(a) if b is None else b
        if a.shape != b.shape:
            return Difference(f"{what}'s shape", str(a.shape), str(b.shape))
        # Cotangents are of size 1: where they cancel, rounding of that size is left.
        far = ~near(a, b, 0.0 if what == "value" else 1.0)
        if what != "value":
            # Where PyTorch has no number there is none to agree on.
            far &= np.isfinite(b)
        if far.any():
            far &= ~explained(program, what, at, a, b)
        if far.any():
            return Difference(what, shown(a, far), shown(b, far), relative(a, b))
    return None


def relative(a: Any, b: Any) -> float:
    """The largest error relative to what it should be; infinite where one is."""
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(a, float) - b) / np.abs(b)
    known = (a == b) | (np.isnan(a) & np.isnan(b))
    error = np.where(known, 0, np.where(np.isnan(error), np.inf, error))
    return float(error.max(initial=0.0))


def near(a: Any, b: Any, floor: float = 0.0) -> Any:
    """Which entries are equal but for a few units in the last place.

    Args:
        floor: the size of what is known to have been added up.

    Below the least normal number there is no such unit: libraries flush to 0, or not.
    """
    if a.dtype.kind != "f" or b.dtype.kind != "f":
        return a == b
    info = np.finfo(b.dtype)
    with np.errstate(all="ignore"):
        size = np.abs(b)
        largest = size.max(initial=0.0, where=np.isfinite(size))
        scale = np.minimum(largest, RANGE * size)
        bound = UNITS * float(info.eps) * np.maximum(scale, floor)
        bound = bound + float(info.smallest_normal)
        close = np.abs(a - b) <= bound
    return (a == b) | close | (np.isnan(a) & np.isnan(b))


def explained(program: Program, what: str, at: int, a: Any, b: Any) -> Any:
    """Which entries are among those that rounding may give PyTorch itself.

    Numbers whose digits end early are moved as well where little differs: of equal
    entries less their mean, rounding leaves a trace.
    """
    found, within = [np.asarray(b, "float64")], near(a, b)
    enough = 2 * RUNS if slight(a, b) else RUNS
    for seed in range(4 * RUNS):
        if seed >= enough and not (tails(np.array(found)) > 1)[~within].any():
            break
        with Moved(seed, ties=seed < RUNS or seed >= enough):
            again = outcome(THEIRS, program, ORDERS[what])
        parts = getattr(again, FIELDS[what])
        part = parts if what == "value" else parts[at] if at < len(parts) else None
        if part is not None and part.shape == b.shape:
            found.append(np.asarray(part, "float64"))
        within = within | inside(np.array(found), a)
        if within.all():
            break
    return within


def slight(a: Any, b: Any) -> bool:
    """Whether the error is small beside the largest entry, and finite."""
    if b.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        error = np.abs(a - b)[~near(a, b)].max(initial=0.0)
        size = np.abs(b).max(initial=1.0, where=np.isfinite(b))
    return bool(error <= SLIGHT[b.dtype.name] * size)


def inside(drawn: Any, a: Any) -> Any:
    """Which numbers lie among those drawn, or not much farther than they spread.

    What is divided by nothing but rounding has no bounds: the largest of those drawn
    then lies far beyond the others, and others may lie as far beyond it.
    """
    with np.errstate(all="ignore"):
        low, high = drawn.min(axis=0), drawn.max(axis=0)
        reach = SPREAD * (high - low) * tails(drawn)
        among = (a >= low - reach) & (a <= high + reach)
    same = ((drawn == a) | (np.isnan(drawn) & np.isnan(a))).any(axis=0)
    return among | same


def tails(drawn: Any) -> Any:
    """How much farther the largest deviation lies from the middle one than it does
    where numbers are drawn evenly, or normally; at least 1."""
    with np.errstate(all="ignore"):
        off = np.abs(drawn - np.median(drawn, axis=0))
        far = off.max(axis=0) / np.median(off, axis=0) / TAIL
    return np.where(np.isfinite(far) & (far > 1), np.minimum(far, MOST_TAIL), 1)


def shown(values: Any, far: Any) -> str:
    """The entries that differ, with the place of the first."""
    entries = values[far]
    place = "".join(f"[{axis[0]}]" for axis in np.nonzero(far)) if far.ndim else ""
    listed = ", ".join(f"{entry:.10g}" for entry in entries[:SHOWN])
    return f"{place} {listed}{', ...' if entries.size > SHOWN else ''}".strip()
