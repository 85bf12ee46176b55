"""Display of tensors as text.

Invariant: entries are copied to the host explicitly; the text is PyTorch's. All entries
of a tensor share a width and a notation: integers, fixed or scientific.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ..engine import devices
from ..engine.dtypes import DEFAULT
from ..engine.raw import Raw
from ..engine.tensor import LostView, Tensor

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


def body(raw: Raw, opening: str = OPENING) -> str:
    """Return the entries of an array in nested brackets.

    Args:
        raw: an array of numbers, on the CPU.
        opening: the text before them on the first line.
    """
    shown = raw
    if raw.size > THRESHOLD:
        kept = [
            [*range(EDGE), *range(-EDGE, 0)] if n > 2 * EDGE else [*range(n)]
            for n in raw.shape
        ]
        shown = raw[np.ix_(*kept)]
    values = shown.ravel().tolist()
    entries = _Entries(values, raw.dtype.kind == "f")
    indent = len(opening) + raw.ndim - 1
    per_line = max(1, (LINE_WIDTH - indent) // (entries.width + 2))
    widest = max(len(entries(value)) for value in values)
    written = np.array2string(
        np.asarray(raw),
        indent + per_line * (widest + 2) + raw.ndim - 1,
        separator=", ",
        prefix=opening,
        threshold=THRESHOLD,
        edgeitems=EDGE,
        formatter={"all": entries},
    )
    return written.replace(", ...,", ",  ...,")


def text(raw: Raw, facts: Sequence[str], opening: str = OPENING) -> str:
    """Return the text ``tensor(...)`` of an array, with facts behind the entries.

    Args:
        raw: an array on the CPU.
        facts: ``dtype=torch.float64``, ``grad_fn=<AddBackward0>`` and the like.
        opening: the text before the entries, with its bracket.
    """
    indent = len(opening)
    inner = body(raw, opening) if raw.size else "[]"
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
    if isinstance(t, LostView):
        return ["grad_fn=<Invalid>"]
    made = t.grad_fn
    facts = ["requires_grad=True"] if made is None and t.requires_grad else []
    if made is not None:
        facts = [f"grad_fn=<{type(made).__name__}>"]
    return facts
