"""Tensors under the names that a caller has for them: its variables, the parameters of
its modules and the entries of its lists and dicts.

Invariants: nothing of the caller is changed or called except ``named_parameters()``; a
name of the caller's own comes before one that is made of a container's name.

    variables(sys._getframe(1))     # {"loss": ..., "model.weight": ..., "ws[0]": ...}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

from ..engine import Tensor

PACKAGE: Final = str(Path(__file__).parents[1])
"""Folder of this package."""

MAX_ENTRIES: Final = 10_000
"""Largest number of entries of a container that are looked at."""


def is_internal(filename: str) -> bool:
    """Tell whether a file belongs to this package or to Python's import system."""
    return filename.startswith((PACKAGE, "<frozen"))


def outside(frame: FrameType | None) -> FrameType | None:
    """Return the nearest frame outside this package; None if there is none."""
    while frame is not None and is_internal(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_pytorchs(value: object) -> bool:
    """Tell whether a value is a tensor of PyTorch, which is not imported for that."""
    kind = type(value)
    return hasattr(kind, "new_tensor") and not isinstance(value, Tensor)


def variables(frame: FrameType | None) -> dict[str, Any]:
    """Return the tensors that a frame has names for, gradcli's and PyTorch's."""
    return {} if frame is None else tensors_in({**frame.f_globals, **frame.f_locals})


def tensors_in(held: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tensors among values with names, in modules and in containers."""
    # Names such as _ and _1, which notebooks give to results, come last.
    order = sorted(held, key=lambda name: name.startswith("_"))
    known = {n: held[n] for n in order if _is_tensor(held[n])}
    for name in order:
        for inner, tensor in named_parameters(held[name]):
            known.setdefault(f"{name}.{inner}", tensor)
    for name in order:
        for inner, tensor in _entries(held[name]):
            known.setdefault(f"{name}{inner}", tensor)
    return known


def named_parameters(value: object) -> Iterable[tuple[str, Any]]:
    """Return the parameters of a module with their names; none of another object."""
    if not callable(getattr(type(value), "named_parameters", None)):
        return ()
    module: Any = value
    with suppress(Exception):  # another library's method may take arguments
        return tuple((n, t) for n, t in module.named_parameters() if _is_tensor(t))
    return ()


def _entries(value: object) -> Iterator[tuple[str, Any]]:
    """Yield the tensors in a list, a tuple or a dict, with their places: ``[0]``."""
    if type(value) not in (list, tuple, dict) or len(value) > MAX_ENTRIES:  # type: ignore[arg-type]
        return
    places = value.items() if isinstance(value, Mapping) else enumerate(value)  # type: ignore[arg-type]
    for place, entry in places:
        if _is_tensor(entry):
            yield f"[{place!r}]", entry


def _is_tensor(value: object) -> bool:
    return isinstance(value, Tensor) or is_pytorchs(value)
