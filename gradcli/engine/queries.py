"""Functions that return facts about tensors, types and positions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..ops.checks import broadcast_shape, count_of, dim_of
from .custom import without_derivative
from .dtypes import DEFAULT, Size, of, to_dtype
from .dtypes import dtype as Type
from .errors import EngineError
from .into import taking_out
from .promote import promoted, result_of
from .record import function
from .tensor import Tensor, raw_of


def is_tensor(obj: object) -> bool:
    """Return whether an object is a tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> int:
    """Return the number of entries."""
    return input.numel()


def is_floating_point(input: Tensor) -> bool:
    """Return whether the tensor's entries are floats."""
    return input.is_floating_point()


def is_inference(input: Tensor) -> bool:
    """Return whether the tensor was made in inference mode."""
    return input.is_inference()


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


@partial(taking_out, "where")
def where(condition: Tensor, input: object = None, other: object = None) -> Any:
    """Return the entries of two tensors by a condition, or where a lone one is true."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return function("where")(condition, input, other)


@partial(taking_out, "nonzero")
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


@without_derivative("Unique2Backward0", "_unique2")
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
    lines = raw.reshape(-1, 1)
    if d is not None:
        moved = np.moveaxis(raw, d, 0)
        lines = moved.reshape(len(moved), count_of(moved.shape[1:]))
    order = np.lexsort(lines.T[::-1]) if lines.shape[1] else np.arange(len(lines))
    ordered = lines[order]
    begins = np.ones(len(lines), bool)
    begins[1:] = np.any(np.not_equal(ordered[1:], ordered[:-1]), 1)
    runs = np.cumsum(begins) - 1
    kept = ordered[begins]
    if d is None:
        values = kept.reshape(-1)
    else:
        rest = (*raw.shape[:d], *raw.shape[d + 1 :])
        values = np.moveaxis(kept.reshape(len(kept), *rest), 0, d)
        values = np.ascontiguousarray(values)
    found = [values]
    if return_inverse:
        places = np.empty(len(lines), "int64")
        places[order] = runs
        found.append(places.reshape(raw.shape) if d is None else places)
    if return_counts:
        found.append(np.bincount(runs, minlength=len(kept)).astype("int64"))
    tensors = tuple([Tensor(each, input.xp) for each in found])
    return tensors if len(tensors) > 1 else tensors[0]


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of these shapes broadcast to.

    Raises:
        ShapeError: the shapes do not broadcast.
    """
    return Size(broadcast_shape(*[(s,) if isinstance(s, int) else s for s in shapes]))


def promote_types(type1: Type, type2: Type) -> Type:
    """Return the smallest type that holds the numbers of both."""
    return of(np.empty((), promoted(np.dtype(type1.name), np.dtype(type2.name))))


def result_type(tensor1: object, tensor2: object) -> Type:
    """Return the type of a result of arithmetic between two tensors or numbers."""
    return of(np.empty((), result_of([raw_of(tensor1), raw_of(tensor2)])))


class _Limits:
    """The limits of a type of numbers."""

    dtype: str
    bits: int
    max: Any
    min: Any

    def __init__(self, type_: Type, held: object, names: str) -> None:
        self.dtype, self.bits = type_.name, 8 * type_.itemsize
        for name in names.split():
            value = getattr(held, name)
            setattr(self, name, value.item() if hasattr(value, "item") else value)


class finfo(_Limits):
    """The limits of a type of floats."""

    eps: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: Type | None = None) -> None:
        chosen = DEFAULT.dtype if type is None else to_dtype(type)
        if not chosen.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo "
                "to handle integer types."
            )
        names = "resolution min max eps smallest_normal tiny"
        super().__init__(chosen, np.finfo(chosen.name), names)

    def __repr__(self) -> str:
        limits = {n: v for n, v in vars(self).items() if n not in ("dtype", "bits")}
        facts = [f"{name}={value:.6g}" for name, value in limits.items()]
        return f"finfo({', '.join(facts)}, dtype={self.dtype})"


class iinfo(_Limits):
    """The limits of a type of integers."""

    def __init__(self, type: Type) -> None:
        if type.code[0] not in "iu":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to "
                "handle floating point types."
            )
        super().__init__(type, np.iinfo(type.name), "max min")

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
