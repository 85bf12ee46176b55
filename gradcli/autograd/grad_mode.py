"""The blocks that turn recording on and off, under PyTorch's module name."""

from __future__ import annotations

from ..engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class set_multithreading_enabled:
    """Whether a backward pass may use several threads; a block, or a plain call.

    A pass runs in the thread that asked for it here, so that the setting changes no
    result; it is taken for programs that set it.
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, *raised: object) -> None:
        """End the block."""

    def clone(self) -> set_multithreading_enabled:
        """Another block of the same setting."""
        return set_multithreading_enabled(self.mode)
