"""What the engine raises. Each class is also the builtin that PyTorch raises there,
so that ``except RuntimeError`` keeps working; messages are PyTorch's where it has one.
"""

from __future__ import annotations

from typing import Any


class EngineError(RuntimeError):
    """The root of the engine's own errors."""


class ShapeError(EngineError):
    """The shapes of the operands do not fit together."""


class GradError(EngineError):
    """A backward pass that cannot be run as asked."""


class DeviceError(EngineError):
    """A device that is not there, or operands on two of them."""


class ValueRangeError(EngineError, ValueError):
    """A value that the operation cannot take: a singular matrix, a bad reduction."""


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
NO_GRAD_FN = "element 0 of tensors does not require grad and does not have a grad_fn"
FREED = (
    "Trying to backward through the graph a second time (or directly access saved "
    "tensors after they have already been freed). Saved intermediate values of the "
    "graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if "
    "you need to access saved tensors after calling backward."
)


def broadcast_message(shapes: list[tuple[int, ...]]) -> str | None:
    """PyTorch's words for shapes that do not broadcast; None if they do."""
    if len(shapes) < 2:
        return None
    a = shapes[0]
    for b in shapes[1:]:
        for offset in range(1, min(len(a), len(b)) + 1):
            p, q = a[-offset], b[-offset]
            if p != q and p != 1 and q != 1:
                dim = max(len(a), len(b)) - offset
                return (
                    f"The size of tensor a ({p}) must match the size of tensor b "
                    f"({q}) at non-singleton dimension {dim}"
                )
    return None


def explain_failure(op: Any, shapes: list[tuple[int, ...]], error: Exception) -> Any:
    """The engine's error for an exception that a forward formula let out."""
    listed = " and ".join(str(list(s)) for s in shapes)
    if op.elementwise:
        message = broadcast_message(shapes)
        if message:
            return ShapeError(message)
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
