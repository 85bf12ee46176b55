"""`checkpoint` and `checkpoint_sequential` as PyTorch's users call them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ...engine.modes import MODE
from ...engine.tensor import Tensor
from .recompute import CHECKS, Contexts, Region
from .reentrant import CheckpointFunction

SAY_WHICH = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
    "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
    "exception. use_reentrant=False is recommended, but if you need to preserve the "
    "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
    "details on the differences between the two variants."
)
NO_GRADIENTS = "None of the inputs have requires_grad=True. Gradients will be None"
NOT_REENTRANT = (
    "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
)


def noop_context_fn() -> tuple[
    AbstractContextManager[object], AbstractContextManager[object]
]:
    """Give two blocks that do nothing."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., object],
    *args: object,
    use_reentrant: bool | None = None,
    context_fn: Contexts = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: object,
) -> Any:
    """Run ``function`` and keep its inputs; run it again for the reverse pass.

    Args:
        function: has to do the same whenever it is given the same.
        args, kwargs: what it is given; keywords only where not ``use_reentrant``.
        use_reentrant: record one node, whose reverse rule is a backward pass of its
            own, and not the function's nodes. Takes `backward` into all leaves alone.
        context_fn: makes two blocks, around the first run and the second.
        determinism_check: ``default`` compares shapes, types and devices of what both
            runs save; ``none`` compares nothing.
        debug: list the operations of both runs where they differ.
        early_stop: end the second run when all values are there.
        preserve_rng_state: let both runs draw the same random numbers.

    Raises:
        CheckpointError: in the reverse pass, if the second run differs.
        ValueError: arguments that do not go together.
    """
    if use_reentrant is None:
        warnings.warn(SAY_WHICH, UserWarning, stacklevel=2)
        use_reentrant = True
    if use_reentrant:
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        if context_fn is not noop_context_fn or debug:
            raise ValueError(NOT_REENTRANT)
        if MODE.enabled and not any(
            isinstance(x, Tensor) and x.requires_grad for x in args
        ):
            warnings.warn(NO_GRADIENTS, UserWarning, stacklevel=2)
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(CHECKS)}, but got "
            f"{determinism_check}"
        )
    if not MODE.recording:
        return function(*args, **kwargs)
    first, again = context_fn()
    region = Region(
        function, args, kwargs, again, preserve_rng_state, determinism_check,
        early_stop, debug,
    )  # fmt: skip
    with first, region.recording():
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: object,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """Run functions one after another, in segments of which all but the last keep only
    their input.

    Args:
        functions: a list of them, or a module of modules.
        segments: how many.
        input: what the first function is given.
        use_reentrant, kwargs: as for `checkpoint`; ``preserve_rng_state`` alone.
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    if use_reentrant is None:
        warnings.warn(SAY_WHICH, UserWarning, stacklevel=2)
        use_reentrant = True
    steps = list(functions.children() if hasattr(functions, "children") else functions)
    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size or 1):
        input = checkpoint(
            _in_turn(steps[start : start + size]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _in_turn(steps[last:])(input)


def _in_turn(steps: Sequence[Callable[[object], object]]) -> Callable[[object], object]:
    def run(value: object) -> object:
        for step in steps:
            value = step(value)
        return value

    return run
