"""Checkpoints: functions whose saved values are computed again in the reverse pass.

Invariant: nodes under a checkpoint save a *slot* in place of each value. When a reverse
pass reads the first slot, the function runs again, once, on the saved inputs; the
values that this run saves, in the same order, fill all slots for that pass. Both runs
draw the same random numbers, and the second restores the generator's state afterwards.

    y = checkpoint(block, x, use_reentrant=False)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary, ref

from ..autograd import Function
from ..autograd.function_node import keeper
from ..autograd.graph import Slot, saved_tensors_hooks
from ..engine.backward import PASSES, Pass, backward
from ..engine.draws import fork_rng, get_rng_state, set_rng_state
from ..engine.errors import EngineError
from ..engine.modes import MODE, enable_grad
from ..engine.raw import Params, Run
from ..engine.tensor import Tensor

__all__ = ["CheckpointError", "checkpoint"]
__dir__ = __all__.copy

SAY_WHICH = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
    "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
    "exception. use_reentrant=False is recommended, but if you need to preserve the "
    "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
    "details on the differences between the two variants."
)
OTHER_COUNT = (
    "torch.utils.checkpoint: A different number of tensors was saved during the "
    "original forward and recomputation.\nNumber of tensors saved during forward: {}\n"
    "Number of tensors saved during recomputation: {}."
)
OTHER_KIND = (
    "torch.utils.checkpoint: Recomputed values for the following tensors have "
    "different metadata than during the forward pass.\n{}"
)
CHOSEN_LEAVES = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
    "passing an `inputs` parameter to .backward(). To resolve this error, you can "
    "either set use_reentrant=False, or call .backward() without passing the `inputs` "
    "argument."
)

CHECKS: dict[str, Callable[[Tensor], object]] = {
    "default": lambda t: {"shape": t.shape, "dtype": t.dtype, "device": t.device},
    "none": lambda t: None,
}
"""Functions that describe a value; the recomputed one must have an equal description.
"""


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
        args, kwargs: its arguments; keywords are refused with ``use_reentrant=True``.
        use_reentrant: record one node, whose reverse rule runs a backward pass of its
            own. Such a node supports only a `backward` into all leaves.
        determinism_check: ``default`` compares shapes, dtypes and devices of the values
            that both runs save; ``none`` compares nothing.
        early_stop: end the second run as soon as all saved values are computed.
        preserve_rng_state: let both runs draw the same random numbers.

    Raises:
        CheckpointError: in the reverse pass, if the second run saves other values.
        ValueError: the arguments contradict each other.
    """
    if use_reentrant is None:
        warnings.warn(SAY_WHICH, UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if MODE.enabled and not any(
            isinstance(x, Tensor) and x.requires_grad for x in args
        ):
            warnings.warn(
                "None of the inputs have requires_grad=True. Gradients will be None",
                UserWarning, stacklevel=2,
            )  # fmt: skip
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(CHECKS)}, but got "
            f"{determinism_check}"
        )
    if not MODE.enabled:
        return function(*args, **kwargs)
    again = same_draws(preserve_rng_state)
    region = _Region(function, args, kwargs, again, determinism_check, early_stop)
    with saved_tensors_hooks(region.pack, region.unpack):
        return function(*args, **kwargs)


def same_draws(preserve: bool) -> Callable[[], AbstractContextManager[object]]:
    """Return a function that makes a context; in it the default generator starts from
    its state at the time of this call. Without ``preserve`` the context does nothing.
    """
    if not preserve:
        return nullcontext
    start = get_rng_state()

    @contextmanager
    def again() -> Iterator[None]:
        with fork_rng():
            set_rng_state(start)
            yield

    return again


class CheckpointFunction(Function):
    """A checkpoint that is one node, whose reverse rule runs its own reverse pass."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        """Return the function's result, computed without recording."""
        ctx.function = function
        ctx.again = same_draws(preserve)
        ctx.others = [None if isinstance(x, Tensor) else x for x in args]
        ctx.positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.positions))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Tensor | None, ...]:
        """Return the gradients of the inputs, from a second run, which is recorded."""
        running = PASSES.running
        if running is None or not running.whole:
            raise EngineError(CHOSEN_LEAVES)
        own = list(ctx.others)
        for position, tensor in zip(ctx.positions, ctx.saved_tensors, strict=True):
            own[position] = tensor.detach().requires_grad_(tensor.requires_grad)
        with ctx.again(), enable_grad():
            result = ctx.function(*own)
        outputs = result if isinstance(result, tuple) else (result,)
        live = [
            (y, g)
            for y, g in zip(outputs, cotangents, strict=True)
            if isinstance(y, Tensor) and y.requires_grad
        ]
        if not live:
            raise EngineError(
                "none of output has requires_grad=True, this checkpoint() is not "
                "necessary"
            )
        backward([y for y, _ in live], [g for _, g in live], False, False)
        gradients = [x.grad if isinstance(x, Tensor) else None for x in own]
        return (None, None, *gradients)


Filled: TypeAlias = "MutableMapping[Slot, Tensor]"


class _Region:
    """One call of a function under a checkpoint whose nodes are recorded."""

    def __init__(
        self,
        function: Run,
        args: tuple[Any, ...],
        kwargs: Params,
        again: Callable[[], AbstractContextManager[object]],
        check: str,
        early_stop: bool,
    ) -> None:
        self._early_stop = early_stop
        self._describe = CHECKS[check]
        self._again = again
        self._function, self._kwargs = function, kwargs
        self._others = [None if isinstance(x, Tensor) else x for x in args]
        self._at = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        self._kept = [keeper(args[i]) for i in self._at]
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
        filled: Filled
        if running is None:
            filled = WeakKeyDictionary()
        else:
            filled = self._filled.setdefault(running, WeakKeyDictionary())
        if slot not in filled:
            self._fill(filled)
        return filled.pop(slot)

    def _fill(self, filled: Filled) -> None:
        """Run the function again, and fill every slot that a node still holds."""
        kinds: list[object] = []

        def pack(tensor: Tensor) -> Tensor:
            nr = len(kinds)
            if nr == len(self._slots):
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during "
                    "recomputation than during the original forward pass."
                )
            kinds.append(self._describe(tensor))
            slot = self._slots[nr]()
            alone = tensor.detach()
            if slot is not None:
                filled[slot] = alone
            if self._early_stop and nr + 1 == len(self._slots):
                raise _Finished
            return alone

        args = list(self._others)
        for position, keep in zip(self._at, self._kept, strict=True):
            args[position] = keep()
        try:
            with self._again(), enable_grad(), saved_tensors_hooks(pack, lambda t: t):
                self._function(*args, **self._kwargs)
        except _Finished:
            pass
        if len(kinds) != len(self._kinds):
            raise CheckpointError(OTHER_COUNT.format(len(self._kinds), len(kinds)))
        differing = [
            f"tensor at position {nr}:\nsaved metadata: {was}\n"
            f"recomputed metadata: {now}\n"
            for nr, (was, now) in enumerate(zip(self._kinds, kinds, strict=True))
            if was != now
        ]
        if differing:
            raise CheckpointError(OTHER_KIND.format("".join(differing)))
