"""A checkpoint as one node, whose reverse rule is a reverse pass of its own.

Invariant: the forward pass records nothing inside; the reverse rule runs the function
again on inputs of its own, records it, and runs backward through that.
"""

from __future__ import annotations

from typing import Any

from ...autograd import Function
from ...engine.backward import backward
from ...engine.errors import EngineError
from ...engine.modes import enable_grad
from ...engine.passes import PASSES
from ...engine.tensor import Tensor
from .draws import same_draws

CHOSEN_LEAVES = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
    "passing an `inputs` parameter to .backward(). To resolve this error, you can "
    "either set use_reentrant=False, or call .backward() without passing the `inputs` "
    "argument."
)
UNNECESSARY = (
    "none of output has requires_grad=True, this checkpoint() is not necessary"
)


class CheckpointFunction(Function):
    """``apply(function, preserve_rng_state, *args)``."""

    @staticmethod
    def forward(ctx: Any, function: Any, preserve: bool, *args: Any) -> Any:
        """Run the function without recording it."""
        ctx.function = function
        ctx.again = same_draws(preserve)
        ctx.others = [None if isinstance(x, Tensor) else x for x in args]
        ctx.positions = [i for i, x in enumerate(args) if isinstance(x, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.positions))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Tensor | None, ...]:
        """Run it again, and backward through it."""
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
            raise EngineError(UNNECESSARY)
        backward([y for y, _ in live], [g for _, g in live], False, False)
        gradients = [x.grad if isinstance(x, Tensor) else None for x in own]
        return (None, None, *gradients)
