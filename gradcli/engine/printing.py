"""Tensors as text, by PyTorch's rules of layout.

Invariant: the text depends on shape, dtype, values and `OPTIONS` alone. All entries of
a tensor share a width and a notation (integers, fixed or scientific). Unless
`set_printoptions` says otherwise there are four digits after the point, more than 1,000
entries are summarised by three at each end of every dimension, and lines break at 80
columns.

    tensor([[3., 5.]])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .raw import Raw

OPENING = "tensor("


@dataclass(frozen=True, slots=True)
class Options:
    """How tensors are printed: ``precision`` digits after the point, ``edgeitems`` at
    each end where there are more than ``threshold``, lines of ``linewidth`` columns;
    ``sci_mode`` is True or False where the notation is not to be chosen by value."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}
"""The options that PyTorch has a name for."""

_chosen = [Options()]


def options() -> Options:
    """Return how tensors are printed at present."""
    return _chosen[0]


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose how tensors are printed; what is left out stays as it is.

    Args:
        precision: digits after the point.
        threshold: how many entries are printed before they are summarised.
        edgeitems: how many are left at each end of a dimension then.
        linewidth: where lines break.
        profile: ``default``, ``short`` or ``full``, from which to start.
        sci_mode: the scientific notation always, never, or (None) where it is needed.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems,
             "linewidth": linewidth}  # fmt: skip
    start = options() if profile is None else PROFILES[profile]
    wanted: Any = {name: value for name, value in given.items() if value is not None}
    _chosen[0] = replace(start, sci_mode=sci_mode, **wanted)


class _Entries:
    """How the entries of one tensor are written: one notation, one width."""

    def __init__(self, values: Sequence[Any], floating: bool) -> None:
        self.write: Callable[[Any], str] = str
        self.width = 1
        if not floating:
            self.width = max((len(str(v)) for v in values), default=1)
            return
        self.write = _whole
        plain = [v for v in values if v and math.isfinite(v)]
        if plain:
            self._choose(plain)

    def _choose(self, plain: Sequence[float]) -> None:
        largest = max(abs(v) for v in plain)
        smallest = min(abs(v) for v in plain)
        whole = all(v == math.ceil(v) for v in plain)
        spread = largest / smallest > 1000 or largest > 1e8
        needed = spread or (not whole and smallest < 1e-4)
        wanted = options().sci_mode
        if needed if wanted is None else wanted:
            self.write = _scientific
        elif not whole:
            self.write = _fixed
        self.width = max(1, *(len(self.write(v)) for v in plain))

    def __call__(self, value: object) -> str:
        return self.write(value).rjust(self.width)


def _whole(value: float) -> str:
    return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"


def _fixed(value: float) -> str:
    return f"{value:.{options().precision}f}"


def _scientific(value: float) -> str:
    return f"{value:.{options().precision}e}"


def body(raw: Raw, indent: int = len(OPENING)) -> str:
    """Return the entries of an array in nested brackets.

    Args:
        raw: an array of numbers, on the CPU.
        indent: columns already taken on the first line.
    """
    summarise = raw.size > options().threshold
    shown = list(_shown(raw, summarise))
    entries = _Entries(shown, raw.dtype.kind == "f")
    return _block(raw, entries, indent, summarise)


def _kept(n: int, summarise: bool) -> tuple[range, range]:
    """Return the indices shown before and after the dots, the latter maybe none."""
    edge = options().edgeitems
    if summarise and n > 2 * edge:
        return range(edge), range(n - edge, n)
    return range(n), range(0)


def _shown(raw: Raw, summarise: bool) -> Iterator[object]:
    if raw.ndim == 0:
        yield raw.item()
        return
    for part in _kept(raw.shape[0], summarise):
        for i in part:
            yield from _shown(raw[i], summarise)


def _block(raw: Raw, entries: _Entries, indent: int, summarise: bool) -> str:
    if raw.ndim == 0:
        return entries(raw.item())
    first, last = _kept(raw.shape[0], summarise)
    if raw.ndim == 1:
        return _row(raw, entries, indent, first, last)
    parts = [_block(raw[i], entries, indent + 1, summarise) for i in first]
    if last:
        parts.append("...")
        parts += [_block(raw[i], entries, indent + 1, summarise) for i in last]
    gap = "," + "\n" * (raw.ndim - 1) + " " * (indent + 1)
    return f"[{gap.join(parts)}]"


def _row(raw: Raw, entries: _Entries, indent: int, first: range, last: range) -> str:
    cells = [entries(raw[i].item()) for i in first]
    if last:
        cells += [" ...", *(entries(raw[i].item()) for i in last)]
    per_line = max(1, (options().linewidth - indent) // (entries.width + 2))
    lines = [
        ", ".join(cells[at : at + per_line]) for at in range(0, len(cells), per_line)
    ]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def text(raw: Raw, facts: Sequence[str], opening: str = OPENING) -> str:
    """Return ``tensor(...)`` with facts behind the entries, on a new line if too long.

    Args:
        raw: an array on the CPU.
        facts: ``dtype=torch.float64``, ``grad_fn=<AddBackward0>`` and the like.
        opening: what stands before the entries, with its bracket.
    """
    indent = len(opening)
    inner = body(raw, indent) if raw.size else "[]"
    written = opening + inner
    column = len(written) - written.rfind("\n") + 1
    pieces = [written]
    for fact in facts:
        if column + len(fact) + 2 > options().linewidth:
            pieces.append(",\n" + " " * indent + fact)
            column = indent + len(fact)
        else:
            pieces.append(", " + fact)
            column += len(fact) + 2
    return "".join(pieces) + ")"
