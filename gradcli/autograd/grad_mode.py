"""The blocks with which programs turn recording on and off.

Invariant: the function of a forward-mode transform (`gradcli.func.jvp`, ``jacfwd``,
``linearize``) is recorded in order to push tangents through its graph. There `no_grad`
stops gradients but no tangents, as in PyTorch (see `gradcli.engine.custom`).
The engine's own blocks (`gradcli.engine.modes`) stop all recording everywhere.
"""

from __future__ import annotations

from ..engine import modes
from ..engine.modes import MODE, enable_grad, inference_mode

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled"]
__dir__ = __all__.copy


class no_grad(modes.RecordingOff):
    """A block in which no node is recorded for gradients; also a decorator."""

    def enter(self) -> None:
        """Stop recording, unless tangents are to be pushed through the graph."""
        MODE.allow(False)


class set_grad_enabled(modes.RecordingMode):
    """Record, or do not, inside a ``with`` block; also a decorator.

    As a plain call it takes effect at once, as in PyTorch.
    """

    def enter(self) -> None:
        """Turn recording on or off; it stays on where the graph is for tangents."""
        MODE.allow(self.mode)
