"""Functions that return facts about tensors, types and positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.custom import RefusingNode
from ..engine.dtypes import DEFAULT, Size, to_dtype
from ..engine.dtypes import dtype as Type
from ..engine.dtypes import named as named_type
from ..engine.errors import EngineError, KindError
from ..engine.modes import MODE
from ..engine.promote import promoted, result_of
from ..engine.record import function
from ..engine.tensor import FLOATS, Tensor, constant, raw_of
from ..ops.checks import broadcast_shape, dim_of


def is_tensor(obj: object) -> bool:
    """Return whether an object is a tensor."""
    return isinstance(obj, Tensor)


numel = Tensor.numel
is_floating_point = Tensor.is_floating_point


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and the same entries."""
    if input.raw.shape != other.raw.shape:
        return False
    return bool((input.detach() == other.detach()).raw.all())


def allclose(
    input: Tensor,
    other: Tensor,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> bool:
    """Return whether all entries are equal within tolerances.

    Raises:
        EngineError: the two tensors are of different types.
    """
    if input.dtype is not other.dtype:
        raise EngineError(f"{input.dtype.legacy} did not match {other.dtype.legacy}")
    close = function("isclose")(input.detach(), other.detach(), rtol, atol, equal_nan)
    return bool(close.raw.all())


def where(condition: Tensor, input: object = None, other: object = None) -> Any:
    """Return the entries of two tensors by a condition, or where a lone one is true."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return function("where")(condition, input, other)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the positions of the entries that are not 0.

    Returns:
        Positions of type int64, of shape ``(count, input.ndim)``; with ``as_tuple`` a
        tensor of shape ``(count,)`` per dimension.
    """
    xp, raw = input.xp, input._shareable()
    mask = xp.ne(raw, 0) if xp.symbolic else raw
    found = [Tensor(a, xp) for a in xp.np.nonzero(xp.np.atleast_1d(mask))]
    if as_tuple:
        return tuple(found)
    if not input.shape:
        return Tensor(xp.np.zeros((int(bool(input)), 0), "int64"), xp)
    return function("stack")(found, 1)


class Unique2Backward0(RefusingNode):
    """The node of what `unique` returns, which has no derivative."""

    __slots__ = ()


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the entries without repetitions, in order; with ``dim``, the slices.

    Args:
        sorted: accepted; the entries are in order in either case.
        return_inverse: also return the place in the result of each entry of ``input``.
        return_counts: also return how often each entry occurs.

    Returns:
        A tensor, or a tuple of it and the other results asked for, without derivatives.
    """
    raw, np = input.detach()._shareable(), input.xp.np
    d = None if dim is None else dim_of(raw.shape, dim)
    found = np.unique(
        raw, False, return_inverse, return_counts, axis=d, equal_nan=False
    )
    parts = list(found) if isinstance(found, tuple) else [found]
    if return_inverse:
        parts[1] = parts[1].reshape(raw.shape if d is None else -1)
    tensors = tuple([Tensor(part, input.xp) for part in parts])
    y = tensors[0]
    if input.edge is not None and MODE.enabled and y.raw.dtype.kind in FLOATS:
        error = KindError("the derivative for '_unique2' is not implemented.")
        y.edge = Unique2Backward0((input.edge,), y, error)
    return tensors if len(tensors) > 1 else tensors[0]


def isin(
    elements: Any,
    test_elements: Any,
    *,
    assume_unique: bool = False,
    invert: bool = False,
) -> Tensor:
    """Return whether each of ``elements`` is in ``test_elements``; NaN never is.

    Args:
        assume_unique: accepted; the answer does not depend on it.
        invert: return which elements do not occur instead.

    Raises:
        TypeError: neither is a tensor.
    """
    tensors = [x for x in (elements, test_elements) if isinstance(x, Tensor)]
    if not tensors:
        raise TypeError("isin(): elements or test_elements has to be a tensor")
    xp = tensors[0].xp
    raw = [raw_of(elements), raw_of(test_elements)]
    asked, known = (xp.np.asarray(x).astype(result_of(raw)) for x in raw)
    return Tensor(xp.np.asarray(xp.np.isin(asked, known, invert=invert)), xp)


def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the index at which each entry can be inserted into a sorted sequence.

    Args:
        sorted_sequence: one sequence for all entries of ``input``, or one in the last
            dimension for each line of ``input``.
        out_int32: int32 results instead of int64.
        right: insert behind entries that are equal, instead of before them.
        side: "left" or "right", another way to give ``right``.
        sorter: the positions that bring ``sorted_sequence`` into order.

    Raises:
        EngineError: the shapes do not fit, or ``side`` contradicts ``right``.
    """
    if side == "left" and right:
        raise EngineError(
            "torch.searchsorted(): side and right can't be set to opposites, got side "
            "of left while right was True"
        )
    xp = sorted_sequence.xp
    np, borders = xp.np, xp.np.asarray(sorted_sequence.raw)
    values = np.asarray(constant(input).raw)
    alone = borders.ndim == 1
    if not alone and (not borders.ndim or borders.shape[:-1] != values.shape[:-1]):
        raise EngineError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the "
            "first N-1 dimensions of boundaries tensor and input value tensor must "
            f"match, but we got boundaries tensor {list(borders.shape)} and input "
            f"value tensor {list(values.shape)}"
        )
    if sorter is not None:
        borders = np.take_along_axis(borders, np.asarray(sorter.raw), -1)
    where = side or ("right" if right else "left")
    found = np.empty(values.shape, "int32" if out_int32 else "int64")
    for line in np.ndindex(*borders.shape[:-1]):
        of = () if alone else line
        found[of] = np.searchsorted(borders[line], values[of], where)
    if values.dtype.kind == "f":
        found[np.isnan(values)] = borders.shape[-1]
    return Tensor(found, xp)


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of these shapes broadcast to.

    Raises:
        ShapeError: the shapes do not broadcast.
    """
    return Size(broadcast_shape(*[(s,) if isinstance(s, int) else s for s in shapes]))


def promote_types(type1: Type, type2: Type) -> Type:
    """Return the smallest type that holds the numbers of both."""
    return named_type(promoted(np.dtype(type1.name), np.dtype(type2.name)).name)


def result_type(tensor1: object, tensor2: object) -> Type:
    """Return the type of a result of arithmetic between two tensors or numbers."""
    return named_type(result_of([raw_of(tensor1), raw_of(tensor2)]).name)


class finfo:
    """The limits of a type of floats."""

    dtype: str
    bits: int
    resolution: float
    min: float
    max: float
    eps: float
    smallest_normal: float
    tiny: float

    def __init__(self, type: Type | None = None) -> None:
        chosen = DEFAULT.dtype if type is None else to_dtype(type)
        if not chosen.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo "
                "to handle integer types."
            )
        self.dtype, self.bits = chosen.name, 8 * chosen.itemsize
        for name in ("resolution", "min", "max", "eps", "smallest_normal", "tiny"):
            setattr(self, name, float(getattr(np.finfo(chosen.name), name)))

    def __repr__(self) -> str:
        limits = {n: v for n, v in vars(self).items() if n not in ("dtype", "bits")}
        facts = [f"{name}={value:.6g}" for name, value in limits.items()]
        return f"finfo({', '.join(facts)}, dtype={self.dtype})"


class iinfo:
    """The limits of a type of integers."""

    dtype: str
    bits: int
    min: int
    max: int

    def __init__(self, type: Type) -> None:
        if type.code[0] not in "iu":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to "
                "handle floating point types."
            )
        self.dtype, self.bits = type.name, 8 * type.itemsize
        held = np.iinfo(type.name)
        self.min, self.max = int(held.min), int(held.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate: the tensor itself."""
    return input


def real(input: Tensor) -> Tensor:
    """Return the real part: the tensor itself."""
    return input


def imag(input: Tensor) -> Any:
    """Raise an error, since tensors here have no imaginary part.

    Raises:
        EngineError: always.
    """
    raise EngineError("imag is not implemented for tensors with non-complex dtypes.")


def is_complex(input: Tensor) -> bool:
    """Return False, since no tensor here has complex entries."""
    return False


# Operators on the bits of integers, ``& | ^ ~ << >>``. The type of a result is that of
# arithmetic on the same operands; a number beside a tensor is first cut to the tensor's
# type. A shift by a negative number, or by more bits than there are, moves all bits
# out. No gradient passes.

OPERATORS = {
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
"""NumPy's functions, by the names of Python's operators."""


def combined(name: str, a: Any, b: Any) -> Tensor:
    """Return what an operator of a name gives for integers or truth values."""
    xp = next(x.xp for x in (a, b) if isinstance(x, Tensor))
    result = result_of([raw_of(a), raw_of(b)])
    if name in ("and", "or", "xor") and (xp.symbolic or result.kind == "b"):
        both: Tensor = function(f"logical_{name}")(a, b)
        return both
    if result.kind in "fb":
        kernel = name if name.endswith("shift") else f"bitwise_{name}"
        kind = named_type(result.name).legacy
        raise NotImplementedError(f"\"{kernel}_cpu\" not implemented for '{kind}'")
    cut: list[Any] = [xp.np.asarray(raw_of(x)).astype(result) for x in (a, b)]
    broadcast_shape(*[x.shape for x in cut])
    return Tensor(xp.np.asarray(getattr(xp.np, OPERATORS[name])(*cut)), xp)


def inverted(input: Tensor) -> Tensor:
    """Return integers with every bit inverted; truth values are negated."""
    if input.raw.dtype.kind == "f":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type "
            "tensors"
        )
    if input.raw.dtype.kind == "b" or input.xp.symbolic:
        negated: Tensor = function("logical_not")(input)
        return negated
    return Tensor(input.xp.np.invert(input.raw), input.xp)
