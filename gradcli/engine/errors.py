"""What the engine raises. Each class is also the builtin that PyTorch raises there,
so that ``except RuntimeError`` keeps working; messages are PyTorch's where it has one.
"""

from __future__ import annotations

from typing import Any

from ..ops.checks import EngineError, ShapeError, ValueRangeError, broadcast_shape

__all__ = [
    "FREED",
    "NOT_SCALAR",
    "NO_GRAD_FN",
    "CallError",
    "DeviceError",
    "EngineError",
    "GradError",
    "LimitError",
    "ShapeError",
    "ValueRangeError",
    "explain_failure",
]


class GradError(EngineError):
    """A backward pass that cannot be run as asked."""


class DeviceError(EngineError):
    """A device that is not there, or operands on two of them."""


class LimitError(EngineError):
    """A result that would be larger than allowed; nothing was allocated."""


class CallError(TypeError):
    """A call that does not fit the function's parameters.

    ``given`` is the offending keyword or None, ``allowed`` the parameter names.
    """

    def __init__(
        self, message: str, allowed: tuple[str, ...], given: str | None = None
    ) -> None:
        super().__init__(message)
        self.allowed = allowed
        self.given = given


NOT_SCALAR = "grad can be implicitly created only for scalar outputs"
NO_GRAD_FN = "element {} of tensors does not require grad and does not have a grad_fn"
FREED = (
    "Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved tensors after calling backward."
)


def explain_failure(op: Any, shapes: list[tuple[int, ...]], error: Exception) -> Any:
    """The engine's error for an exception that a forward formula let out."""
    if isinstance(error, EngineError):
        return error
    if op.elementwise:
        try:
            broadcast_shape(*shapes)
        except ShapeError as clash:
            return clash
    listed = " and ".join(str(list(s)) for s in shapes)
    text = str(error)
    if "ingular matrix" in text:
        return ValueRangeError(f"{op.base}: the matrix is singular")
    if "positive definite" in text:
        return ValueRangeError(f"{op.base}: the matrix is not positive-definite")
    if isinstance(error, IndexError | ValueError):
        kind = IndexError if isinstance(error, IndexError) else ShapeError
        return kind(f"{op.base}: {text}" + (f" (shapes {listed})" if listed else ""))
    if isinstance(error, MemoryError):
        return ValueRangeError(f"{op.base}: not enough memory ({text or listed})")
    return error
