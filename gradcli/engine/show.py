"""A tensor as text: its entries and the facts beside them.

Invariant: entries are copied to the host to be read, explicitly; what is shown is what
PyTorch shows.
"""

from __future__ import annotations

from . import devices, printing
from .dtypes import DEFAULT
from .raw import Raw
from .tensor import TANGENT, Tensor
from .views import LostView


def show(t: Tensor) -> str:
    """Return the text ``tensor([1., 2.], requires_grad=True)``."""
    if t.xp.symbolic:
        return (
            f"tensor({t.xp.shown(t.raw)}{''.join(f', {fact}' for fact in _graph(t))})"
        )
    raw = devices.host(t.raw)
    return printing.text(raw, [*_facts(t, raw), *_graph(t)])


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
    dual = t.__dict__.get(TANGENT)
    if dual is not None and dual.level.open:
        facts.append(f"tangent={show(dual.tangent)}")
    return facts
