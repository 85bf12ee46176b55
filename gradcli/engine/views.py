"""Which tensors are views of which: what an in-place change has to reach.

Invariant: a view knows the tensor at the bottom of its chain of views, never a view
between; that one knows its views only weakly.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

from .tensor import Tensor

FEW = 64
"""From so many views on, dead ones are swept out whenever their number doubles."""


def note_views(source: Any, out: Any) -> None:
    """Remember which of an operation's outputs share the memory of its first input."""
    if not isinstance(source, Tensor):
        return
    raw = source.raw
    below = getattr(raw, "base", None)
    for part in out if isinstance(out, tuple) else (out,):
        y = part.raw
        base = getattr(y, "base", None)
        if base is not None and (base is raw or base is below or y is raw):
            _note(base_of(source), part)


def base_of(t: Tensor) -> Tensor:
    """The tensor that ``t`` is a view of; itself if it is none."""
    return getattr(t, "view_of", t)


def live_views(base: Tensor) -> list[Tensor]:
    """The views of a tensor that somebody still holds."""
    found = [held() for held in getattr(base, "views", ())]
    return [view for view in found if view is not None]


def _note(base: Tensor, view: Tensor) -> None:
    view.view_of = base
    views = getattr(base, "views", None)
    if views is None:
        base.views = [ref(view)]
        return
    count = len(views)
    if count >= FEW and not count & (count - 1):
        views[:] = [held for held in views if held() is not None]
    views.append(ref(view))
