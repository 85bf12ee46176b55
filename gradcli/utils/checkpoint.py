"""Checkpoints: functions whose saved values are computed again in the reverse pass.

Invariant: nodes under a checkpoint save a *slot* in place of each value. When a reverse
pass reads the first slot, the function runs again, once, on the saved inputs; the
values that this run saves, in the same order, fill all slots for that pass. Both runs
draw the same random numbers, and the second restores the generator's state afterwards.

    y = checkpoint(block, x)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, ref

from ..autograd.function import Keeper
from ..engine.backward import PASSES, Pass
from ..engine.draws import fork_rng, get_rng_state, set_rng_state
from ..engine.errors import EngineError
from ..engine.modes import MODE, enable_grad
from ..engine.raw import Params, Run
from ..engine.saved import Packing
from ..engine.tensor import Tensor

__all__ = ["CheckpointError", "checkpoint"]
__dir__ = __all__.copy

CHECKS: dict[str, Callable[[Tensor], object]] = {
    "default": lambda t: (tuple(t.shape), t.dtype, t.device),
    "none": lambda t: None,
}
"""Functions that describe a value; the recomputed one must have an equal description.
"""


class Slot:
    """A node's stand-in for a value that it saves."""

    __slots__ = ("__weakref__",)


class CheckpointError(EngineError):
    """The error of a function that saves other values when it runs again."""


class _Finished(Exception):
    """An exception that ends the second run as soon as every slot is filled."""


def checkpoint(
    function: Callable[..., object],
    *args: object,
    use_reentrant: bool | None = None,
    determinism_check: str = "default",
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> Any:
    """Return ``function(*args, **kwargs)``, recorded so that the reverse pass runs it
    again in place of keeping its intermediate values.

    Args:
        function: a function that does the same whenever its arguments are the same.
        args, kwargs: its arguments.
        use_reentrant: accepted, as in PyTorch; it changes no result.
        determinism_check: ``default`` compares shapes, dtypes and devices of the values
            that both runs save; ``none`` compares nothing.
        early_stop: end the second run as soon as all saved values are computed.
        preserve_rng_state: let both runs draw the same random numbers.

    Raises:
        CheckpointError: in the reverse pass, if the second run saves other values.
        ValueError: there is no such ``determinism_check``.
    """
    if determinism_check not in CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(CHECKS)}, but got "
            f"{determinism_check}"
        )
    if not MODE.enabled:
        return function(*args, **kwargs)
    region = _Region(function, args, kwargs, CHECKS[determinism_check], early_stop)
    region.start = get_rng_state() if preserve_rng_state else None
    with Packing(region.pack, region.unpack):
        return function(*args, **kwargs)


Filled: TypeAlias = "MutableMapping[Slot, Tensor]"


class _Region:
    """One call of a function under a checkpoint whose nodes are recorded.

    ``start`` is the generator's state before the call; None: it is not restored.
    """

    start: Tensor | None

    def __init__(
        self,
        function: Run,
        args: tuple[Any, ...],
        kwargs: Params,
        describe: Callable[[Tensor], object],
        early_stop: bool,
    ) -> None:
        self._early_stop, self._describe = early_stop, describe
        self._function, self._kwargs = function, kwargs
        self._args = [Keeper(x) if isinstance(x, Tensor) else x for x in args]
        self._slots: list[ref[Slot]] = []
        self._kinds: list[object] = []
        self._filled: WeakKeyDictionary[Pass, Filled] = WeakKeyDictionary()

    def pack(self, tensor: Tensor) -> Slot:
        """Return a new slot that a node of the first run saves in place of a value."""
        slot = Slot()
        self._slots.append(ref(slot))
        self._kinds.append(self._describe(tensor))
        return slot

    def unpack(self, slot: Slot) -> Tensor:
        """Return a slot's value; the first call in a pass computes all values."""
        running = PASSES.running
        filled: Filled = WeakKeyDictionary()
        if running is not None:
            filled = self._filled.setdefault(running, filled)
        if slot not in filled:
            self._fill(filled)
        return filled.pop(slot)

    def _fill(self, filled: Filled) -> None:
        """Run the function again, and fill every slot that a node still holds."""
        kinds: list[object] = []

        def pack(tensor: Tensor) -> Tensor:
            nr, alone = len(kinds), tensor.detach()
            kinds.append(self._describe(tensor))
            slot = self._slots[nr]() if nr < len(self._slots) else None
            if slot is not None:
                filled[slot] = alone
            if self._early_stop and nr + 1 == len(self._slots):
                raise _Finished
            return alone

        args = [x() if isinstance(x, Keeper) else x for x in self._args]
        try:
            with self._from_start(), enable_grad(), Packing(pack, lambda t: t):
                self._function(*args, **self._kwargs)
        except _Finished:
            pass
        if kinds != self._kinds:
            raise CheckpointError(
                "a function under a checkpoint saved other values when it ran again: "
                f"{len(kinds)} of the kinds {kinds}, where it had saved "
                f"{len(self._kinds)} of the kinds {self._kinds}"
            )

    @contextmanager
    def _from_start(self) -> Iterator[None]:
        """Return a block that draws the first run's numbers and restores the state."""
        with fork_rng(enabled=self.start is not None):
            if self.start is not None:
                set_rng_state(self.start)
            yield
