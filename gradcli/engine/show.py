"""A tensor as text: its entries and the facts beside them.

Invariant: entries are copied to the host to be read, explicitly; what is shown is what
PyTorch shows.
"""

from __future__ import annotations

from typing import Any

from . import devices, printing
from .dtypes import DEFAULT
from .tensor import Tensor


def show(t: Tensor) -> str:
    """``tensor([1., 2.], requires_grad=True)``."""
    if t.xp.symbolic:
        return f"tensor({t.tolist()}{''.join(f', {fact}' for fact in _graph(t))})"
    raw = devices.host(t.raw)
    return printing.text(raw, [*_facts(t, raw), *_graph(t)])


def _facts(t: Tensor, raw: Any) -> list[str]:
    facts = []
    place = t.device
    if place.type != "cpu":
        facts.append(f"device='{place}'")
    if not raw.size and raw.ndim != 1:
        facts.append(f"size={tuple(raw.shape)}")
    implied = (DEFAULT.name,) if not raw.size else (DEFAULT.name, "int64", "bool")
    if raw.dtype.name not in implied:
        facts.append(f"dtype={t.dtype}")
    return facts


def _graph(t: Tensor) -> list[str]:
    made = t.grad_fn
    if made is not None:
        return [f"grad_fn=<{made.name()}>"]
    return ["requires_grad=True"] if t.requires_grad else []
