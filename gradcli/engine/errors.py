"""What the engine raises. Each class is also the builtin that PyTorch raises there,
so that ``except RuntimeError`` keeps working; messages are PyTorch's where it has one.
"""

from __future__ import annotations

from typing import Any

from ..ops.checks import EngineError, ShapeError, ValueRangeError, broadcast_shape
from ..ops.limits import LimitError

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


class LinAlgError(ValueRangeError):
    """A matrix that has no inverse, or no factor of the kind asked for."""


SINGULAR = {
    "inverse": "linalg.inv: The diagonal element {} is zero, the inversion could not "
    "be completed because the input matrix is singular.",
    "solve": "torch.linalg.solve: The solver failed because the input matrix is "
    "singular.",
}
INDEFINITE = (
    "linalg.cholesky: The factorization could not be completed because the input is "
    "not positive-definite (the leading minor of order {} is not positive-definite)."
)


def explain_failure(op: Any, raw: tuple[Any, ...], error: Exception) -> Any:
    """The engine's error for an exception that a forward formula let out."""
    if isinstance(error, EngineError) or _is_ours(error):
        return error
    shapes = [r.shape for r in raw if hasattr(r, "shape")]
    if op.elementwise:
        try:
            broadcast_shape(*shapes)
        except ShapeError as clash:
            return clash
    listed = " and ".join(str(list(s)) for s in shapes)
    text = str(error)
    if "ingular matrix" in text:
        from .singular import zero_pivot

        template = SINGULAR.get(op.base, f"{op.base}: the matrix is singular")
        return LinAlgError(template.format(zero_pivot(raw[0])))
    if "positive definite" in text:
        from .singular import indefinite_minor

        return LinAlgError(INDEFINITE.format(indefinite_minor(raw[0])))
    if "negative integer powers" in text:
        return ValueRangeError(text)
    if isinstance(error, OverflowError) and "out of bounds for" in text:
        return _out_of_bounds(text)
    if isinstance(error, IndexError | ValueError):
        kind = IndexError if isinstance(error, IndexError) else ShapeError
        return kind(f"{op.base}: {text}" + (f" (shapes {listed})" if listed else ""))
    if isinstance(error, MemoryError):
        return LimitError(f"{op.base}: not enough memory ({text or listed})")
    return error


def _out_of_bounds(text: str) -> ValueRangeError:
    """What is said of a plain number that NumPy found too large for an array."""
    number, name = text.split()[2], text.split()[-1]
    if number.startswith("-") and name.startswith("u"):
        return ValueRangeError("Integers to negative integer powers are not allowed.")
    return ValueRangeError(OVERFLOW.format("int" if name == "int32" else f"{name}_t"))


OVERFLOW = "value cannot be converted to type {} without overflow"
"""What is said of a number that its type does not hold."""


def _is_ours(error: Exception) -> bool:
    """Whether a statement of the table raised it, in PyTorch's words."""
    from opcode import opmap

    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    where = str(frame.f_globals.get("__name__", ""))
    raising = frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    return raising and where.startswith(TABLE)


TABLE = f"{__name__.partition('.')[0]}.ops."
