"""Display of tensors as text.

Invariant: entries are copied to the host explicitly; the text is PyTorch's. All entries
of a tensor share a width and a notation: integers, fixed or scientific.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from . import devices
from .dtypes import DEFAULT
from .raw import Raw
from .tensor import TANGENT, Tensor

OPENING = "tensor("


PRECISION: Final = 4
"""Number of digits after the point."""

THRESHOLD: Final = 1000
"""Largest number of entries of a tensor that is shown whole."""

EDGE: Final = 3
"""Number of entries shown at each end of a dimension of a larger tensor."""

LINE_WIDTH: Final = 80
"""Length of a line, in columns."""


class _Entries:
    """The notation and the width in which the entries of one tensor are written."""

    def __init__(self, values: Sequence[Any], floating: bool) -> None:
        self.form, self.width = ".0f" if floating else "", 1
        plain = [v for v in values if not floating or (v and math.isfinite(v))]
        if floating and plain:
            largest = max(abs(v) for v in plain)
            smallest = min(abs(v) for v in plain)
            whole = all(v == math.ceil(v) for v in plain)
            spread = largest / smallest > 1000 or largest > 1e8
            if spread or (not whole and smallest < 1e-4):
                self.form = f".{PRECISION}e"
            elif not whole:
                self.form = f".{PRECISION}f"
        self.width = max(1, *(len(self(v)) for v in plain)) if plain else 1

    def __call__(self, value: Any) -> str:
        text = format(value, self.form)
        whole = self.form == ".0f" and math.isfinite(value)
        return f"{text}{'.' * whole}".rjust(self.width)


def body(raw: Raw, indent: int = len(OPENING)) -> str:
    """Return the entries of an array in nested brackets.

    Args:
        raw: an array of numbers, on the CPU.
        indent: columns already taken on the first line.
    """
    summarise = raw.size > THRESHOLD
    shown = list(_shown(raw, summarise))
    entries = _Entries(shown, raw.dtype.kind == "f")
    return _block(raw, entries, indent, summarise)


def _kept(n: int, summarise: bool) -> tuple[range, range]:
    """Return the indices shown before and after the dots, if there are any."""
    if summarise and n > 2 * EDGE:
        return range(EDGE), range(n - EDGE, n)
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
    per_line = max(1, (LINE_WIDTH - indent) // (entries.width + 2))
    lines = [
        ", ".join(cells[at : at + per_line]) for at in range(0, len(cells), per_line)
    ]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def text(raw: Raw, facts: Sequence[str], opening: str = OPENING) -> str:
    """Return the text ``tensor(...)`` of an array, with facts behind the entries.

    Args:
        raw: an array on the CPU.
        facts: ``dtype=torch.float64``, ``grad_fn=<AddBackward0>`` and the like.
        opening: the text before the entries, with its bracket.
    """
    indent = len(opening)
    inner = body(raw, indent) if raw.size else "[]"
    written = opening + inner
    column = len(written) - written.rfind("\n") + 1
    pieces = [written]
    for fact in facts:
        if column + len(fact) + 2 > LINE_WIDTH:
            pieces.append(",\n" + " " * indent + fact)
            column = indent + len(fact)
        else:
            pieces.append(", " + fact)
            column += len(fact) + 2
    return "".join(pieces) + ")"


def show(t: Tensor) -> str:
    """Return the text of a tensor, as ``tensor([1., 2.], requires_grad=True)``."""
    if t.xp.symbolic:
        return (
            f"tensor({t.xp.shown(t.raw)}{''.join(f', {fact}' for fact in _graph(t))})"
        )
    raw = devices.host(t.raw)
    return text(raw, [*_facts(t, raw), *_graph(t)])


def _facts(t: Tensor, raw: Raw) -> list[str]:
    facts = []
    device = t.device
    if device.type != "cpu":
        facts.append(f"device='{device}'")
    if not raw.size and raw.ndim != 1:
        facts.append(f"size={tuple(raw.shape)}")
    implied = (DEFAULT.name,) if not raw.size else (DEFAULT.name, "int64", "bool")
    if raw.dtype.name not in implied:
        facts.append(f"dtype={t.dtype}")
    return facts


def _graph(t: Tensor) -> list[str]:
    made = t.grad_fn
    facts = ["requires_grad=True"] if made is None and t.requires_grad else []
    if made is not None:
        facts = [f"grad_fn=<{type(made).__name__}>"]
    dual = t.__dict__.get(TANGENT)
    if dual is not None and dual.level.open:
        facts.append(f"tangent={show(dual.tangent)}")
    return facts
