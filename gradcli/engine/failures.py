"""The engine's error for an exception that a forward formula let out.

Invariant: asked only after the array module gave up; matrices are copied to the host to
tell where they are singular or indefinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops import Op
from ..ops.checks import broadcast_shape
from . import devices
from .errors import (
    OVERFLOW,
    EngineError,
    LimitError,
    LinAlgError,
    ShapeError,
    ValueRangeError,
)
from .raw import Host, Raw

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


def explain_failure(op: Op, raw: tuple[Raw, ...], error: Exception) -> Any:
    """Return the engine's error for an exception that a forward formula let out."""
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
        template = SINGULAR.get(op.base, f"{op.base}: the matrix is singular")
        return LinAlgError(template.format(zero_pivot(raw[0])))
    if "positive definite" in text:
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
    """Return the error about a plain number that NumPy found too large for an array."""
    number, name = text.split()[2], text.split()[-1]
    if number.startswith("-") and name.startswith("u"):
        return ValueRangeError("Integers to negative integer powers are not allowed.")
    return ValueRangeError(OVERFLOW.format("int" if name == "int32" else f"{name}_t"))


def _is_ours(error: Exception) -> bool:
    """Return whether a statement of the table raised it, in PyTorch's words."""
    from opcode import opmap

    trace: Any = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    where = str(frame.f_globals.get("__name__", ""))
    raising = frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    return raising and where.startswith(TABLE)


TABLE = f"{__name__.partition('.')[0]}.ops."


def zero_pivot(a: Raw) -> int:
    """Return the number, counted from 1, of the first pivot that is 0."""
    for matrix in _matrices(a):
        n = len(matrix)
        for k in range(n):
            best = k + int(np.argmax(np.abs(matrix[k:, k])))
            if matrix[best, k] == 0:
                return k + 1
            matrix[[k, best]] = matrix[[best, k]]
            matrix[k + 1 :] -= np.outer(matrix[k + 1 :, k] / matrix[k, k], matrix[k])
    return 1


def indefinite_minor(a: Raw) -> int:
    """Return the order of the first leading minor that is not positive-definite."""
    for matrix in _matrices(a):
        for n in range(1, len(matrix) + 1):
            try:
                np.linalg.cholesky(matrix[:n, :n])
            except np.linalg.LinAlgError:
                return n
    return 1


def _matrices(a: Raw) -> Host:
    array = np.array(devices.host(a))
    return array.reshape(-1, *array.shape[-2:])
