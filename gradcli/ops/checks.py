"""Checks of operands, and of the size of one result, before it is allocated.

Invariant: a check returns the value that the formula goes on with, or raises an error
that names the offending shapes or dimensions. No entries of tensors are read here.
Sizes are computed from shapes and parameters alone: an entry of an array counts as 8
bytes in every number system, a number in a Python list as `LISTED` bytes.

    dims_of((3, 4), 5)                  # IndexError: Dimension out of range (...)
    check_size((100_000, 100_000))      # LimitError: ... needs 80 GB
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Protocol, SupportsFloat, SupportsInt

from .types import Array, Dims, Shape, Sizes


class EngineError(RuntimeError):
    """The base class of errors that the table and the engine raise."""


class ShapeError(EngineError):
    """An error: the operands' shapes do not fit the operation or one another."""


class ValueRangeError(EngineError, ValueError):
    """An error: the operation cannot take a value, such as a singular matrix."""


class PositionError(EngineError, IndexError):
    """An error: an index is out of range; nothing is to be added to its message."""


class KindError(EngineError, NotImplementedError):
    """An error: the operands have a dtype that the operation does not take."""


class NoSlope(ValueRangeError):
    """An error: an argument that is held fixed asks for a gradient or a tangent."""


class UnknownSlope(KindError):
    """An error: the operation has no derivative by one of its arguments."""


class ArgumentError(EngineError):
    """An error: the operation does not know a parameter's value."""


def refuse(
    wrong: object, words: str, *shown: object, kind: type[Exception] = ShapeError
) -> None:
    """Raise an error of a kind if something is wrong; ``words`` has a place ``{}`` for
    each value that its message shows."""
    if wrong:
        raise kind(words.format(*shown))


def demand_fixed(function: str, operand: str, value: object) -> None:
    """Raise `NoSlope` if ``value`` needs a gradient or has a tangent."""
    if getattr(value, "_is_followed", False):
        recorded = getattr(value, "requires_grad", False)
        what = "requires_grad True" if recorded else "a tangent"
        raise NoSlope(
            f"The function '{function}' is not differentiable with respect to argument "
            f"'{operand}'. This input cannot have {what}."
        )


class Number(SupportsInt, SupportsFloat, Protocol):
    """A single number: a plain one, or a tensor with a single entry."""


def holds(kinds: str, x: object) -> bool:
    """Return whether the letter of a tensor's kind is among ``kinds``."""
    return getattr(getattr(x, "dtype", None), "code", " ")[0] in kinds


def as_integer(value: Number) -> int:
    """Return a number, or a tensor of one, as an int; raise if it is no integer."""
    if type(value) is int:
        return value
    number: int | None
    try:
        number = int(value)
    except (OverflowError, ValueError):
        number = None
    if number is None or bool(number != value):
        raise ValueError(f"expected an integer, got {float(value)}")
    return number


def as_sizes(values: Sizes) -> Shape:
    """Return a size, or a list of them, as a tuple."""
    given = values if isinstance(values, list | tuple) else (values,)
    return tuple([as_integer(n) for n in given])


def each_dim(name: str, value: Sizes, rank: int, least: int | None = None) -> Shape:
    """Return one number per spatial dimension; a single ``value`` is repeated."""
    given = as_sizes(value) if isinstance(value, list | tuple) else (int(value),)
    if len(given) not in (1, rank):
        raise ShapeError(f"{name} has to be one number, or {rank}: {list(given)}")
    if least is not None and min(given) < least:
        words = f"{name} has to be at least {least}, but got {list(given)}"
        raise ValueRangeError(words)
    return given * rank if len(given) == 1 else given


def dim_of(shape: Sequence[int], dim: int) -> int:
    """Return a dimension counted from the front; a scalar counts as having one."""
    if type(dim) is int and 0 <= dim < len(shape):
        return dim
    if type(dim) is not int:
        try:
            dim = index(dim)
        except TypeError:
            raise TypeError(f"dim must be one integer, not {dim!r}") from None
    ndim = len(shape) or 1
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, "
            f"{ndim - 1}], but got {dim})"
        )
    return dim % ndim


def real_dim(shape: Sequence[int], dim: int) -> int:
    """Return a dimension counted from the front; a scalar has none."""
    words = "Dimension specified as {} but tensor has no dimensions"
    refuse(not shape, words, dim, kind=IndexError)
    return dim_of(shape, dim)


def dims_of(shape: Sequence[int], dim: Dims) -> tuple[int, ...]:
    """Return dimensions as a tuple, counted from the front; None and () mean all."""
    if type(dim) is int and shape:
        return (dim_of(shape, dim),)
    everything = tuple(range(len(shape)))
    if dim is None:
        return everything
    asked = tuple(dim) if isinstance(dim, list | tuple) else (dim,)
    found = tuple([dim_of(shape, d) for d in asked])
    for d in found:
        if found.count(d) > 1:
            raise ShapeError(f"dim {d} appears multiple times in the list of dims")
    return (found or everything) if shape else ()


RANKS = {1: "a vector (1-D)", 2: "a matrix (2-D)"}
"""Words for tensors, by their number of dimensions."""


def demand_rank(what: str, x: Array, least: int, most: int | None = None) -> None:
    """Refuse a tensor of fewer dimensions than ``least``, or of more than ``most``.

    ``what`` names, for the message, a function of one operand or ``function: operand``.
    """
    rank = len(x.shape)
    if rank < least or (most is not None and rank > most):
        wanted = f"at least {least}-D" if most is None else f"at most {most}-D"
        if least == most:
            wanted = RANKS.get(least, f"{least}-D")
        operand = what if ":" in what else f"{what}: the operand"
        raise ShapeError(f"{operand} must be {wanted}, not {rank}-D")


def demand_shape(what: str, x: Array | None, shape: Sequence[int]) -> None:
    """Raise `ShapeError` unless ``x``, if there is one, has the given shape."""
    if x is not None and tuple(x.shape) != tuple(shape):
        raise ShapeError(f"{what}: expected shape {list(shape)}, got {list(x.shape)}")


def demand_multiple(what: str, size: int, by: int) -> None:
    """Raise `ShapeError` unless ``size`` is divisible by ``by``."""
    if size % by:
        raise ShapeError(f"{what} is {size}, which is not divisible by {by}")


def demand_choice(what: str, value: object, choices: Iterable[object]) -> None:
    """Raise `ValueRangeError` unless ``value`` is one of ``choices``."""
    if value not in choices:
        known = ", ".join(map(str, choices))
        raise ValueRangeError(f"{what} has to be one of {known}, not {value!r}")


def reduced_shape(shape: Sequence[int], dims: Sequence[int]) -> Shape:
    """Return the shape with 1 in place of each reduced dimension."""
    return tuple([1 if i in dims else n for i, n in enumerate(shape)])


def count_of(sizes: Iterable[int]) -> int:
    """Return the number of entries of a shape."""
    count = 1
    for n in sizes:
        count *= n
    return count


def broadcast_shape(*shapes: Sequence[int]) -> Shape:
    """Return the common shape of operands that broadcast."""
    out: list[int] = []
    for shape in shapes:
        missing = len(shape) - len(out)
        out = [1] * missing + out
        for i in range(1, len(shape) + 1):
            have, new = out[-i], shape[-i]
            if have not in (new, 1) and new != 1:
                raise ShapeError(
                    f"The size of tensor a ({have}) must match the size of tensor b "
                    f"({new}) at non-singleton dimension {len(out) - i}"
                )
            out[-i] = new if have == 1 else have
    return tuple(out)


BYTES_PER_ENTRY = 8

LISTED = 64
"""Size in bytes of a Python number, or of a short range of them, in a list."""

PIECE = 512
"""Size in bytes of a tensor without its entries."""


class LimitError(EngineError):
    """An error: a result would be larger than allowed; it was not allocated."""


class Limit:
    """The largest allowed size of a result, in bytes and in entries."""

    def __init__(self, size: int) -> None:
        self.set(size)

    def set(self, size: int) -> None:
        """Allow results of up to ``size`` bytes."""
        self.bytes = size
        self.entries = size // BYTES_PER_ENTRY


LIMIT = Limit(4 << 30)


def check_size(shape: Sequence[int], each: int = BYTES_PER_ENTRY) -> None:
    """Refuse a result of ``shape`` that is larger than allowed.

    Args:
        each: the size of one entry, in bytes.

    Raises:
        LimitError: the result is too large; the message has its size.
    """
    size = count_of(shape) * each
    if size > LIMIT.bytes:
        raise LimitError(
            f"a result of shape {list(shape)} needs {size_text(size)}, "
            f"more than the {size_text(LIMIT.bytes)} allowed"
        )


def size_text(count: int) -> str:
    """Return a number of bytes as text in the form that options take: ``80 GB``."""
    for exponent, unit in ((12, "TB"), (9, "GB"), (6, "MB"), (3, "kB")):
        if count >= 10**exponent:
            amount = f"{count / 10**exponent:,.1f}".removesuffix(".0")
            return f"{amount} {unit}"
    return f"{count} bytes"
