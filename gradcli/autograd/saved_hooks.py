"""Blocks in which hooks keep what nodes save.

Invariant: a block's hooks apply to what is saved inside it, in the thread that entered
it; of blocks in one another, the innermost applies.

    with saved_tensors_hooks(lambda t: t.half(), lambda t: t.float()):
        y = model(x)                     # saved values take half the memory
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..engine import devices
from ..engine.errors import GradError
from ..engine.modes import MODE
from ..engine.packing import Hooks, active_hooks, apply_hooks
from ..engine.tensor import Tensor


class saved_tensors_hooks(Hooks):
    """Hand each tensor that a node saves to ``pack_hook``, and keep what it gives.

    When the node runs, ``unpack_hook`` is given that and gives the tensor back. Hooks
    of the innermost block apply; nothing is recorded inside them.
    """

    def __enter__(self) -> None:
        if _DISABLED:
            raise GradError(_DISABLED[-1])
        apply_hooks((*MODE.packing, self))

    def __exit__(self, *exception: object) -> None:
        apply_hooks(MODE.packing[:-1])


class save_on_cpu(saved_tensors_hooks):
    """Keep what nodes save in the host's memory until they run.

    ``pin_memory`` is accepted; the host's memory is ordinary memory here.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[object, Tensor]:
            return tensor.xp, devices.host(tensor.raw)

        def unpack(kept: tuple[Any, Any]) -> Tensor:
            xp, array = kept
            return Tensor(xp.array(array), xp)

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse `saved_tensors_hooks` inside, with this message."""
    if active_hooks() is not None:
        raise GradError(error_message)
    _DISABLED.append(error_message)
    try:
        yield
    finally:
        _DISABLED.pop()


_DISABLED: list[str] = []
