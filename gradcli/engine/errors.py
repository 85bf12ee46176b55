"""Errors of the engine. Each class is also the builtin that PyTorch raises there,
so that ``except RuntimeError`` keeps working; messages are PyTorch's where it has one.
"""

from __future__ import annotations

from ..ops.checks import (
    EngineError,
    KindError,
    LimitError,
    NoSlope,
    ShapeError,
    UnknownSlope,
    ValueRangeError,
)

__all__ = [
    "FREED",
    "NOT_SCALAR",
    "NO_GRAD_FN",
    "CallError",
    "DeviceError",
    "EngineError",
    "GradError",
    "KindError",
    "LimitError",
    "NoSlope",
    "ShapeError",
    "UnknownSlope",
    "ValueRangeError",
]


class GradError(EngineError):
    """Error of a derivative pass that cannot be run as asked."""


class DeviceError(EngineError):
    """Error of a device that is missing, or of operands on two devices."""


class CallError(TypeError):
    """Error of a call that does not fit the function's parameters.

    ``given`` is the offending keyword or None, ``allowed`` the parameter names,
    ``way_out`` what to write instead, where that is known.
    """

    def __init__(
        self,
        message: str,
        allowed: tuple[str, ...],
        given: str | None = None,
        way_out: str = "",
    ) -> None:
        told = f"; {way_out}" if way_out else ""
        if given is not None and given not in allowed:
            from .absent import instead

            told = f": {instead(given, allowed)}"
        super().__init__(message + told)
        self.message = message
        self.allowed = allowed
        self.given = given
        self.way_out = way_out


NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NO_GRAD_FN = "element {} of tensors does not require grad and does not have a grad_fn"
FREED = (
    "Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved tensors after calling backward."
)


class LinAlgError(ValueRangeError):
    """Error of a matrix that has no inverse, or no factor of the kind asked for."""


OVERFLOW = "value cannot be converted to type {} without overflow"
"""Message on a number that a type cannot hold."""
