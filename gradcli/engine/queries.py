"""Questions about tensors and types that have a Python value as their answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .dtypes import DEFAULT, of
from .dtypes import dtype as Type
from .errors import EngineError
from .promote import promoted, result_of
from .record import function
from .tensor import Tensor

__all__ = [
    "allclose",
    "argwhere",
    "equal",
    "finfo",
    "iinfo",
    "is_floating_point",
    "is_nonzero",
    "is_tensor",
    "nonzero",
    "numel",
    "promote_types",
    "result_type",
    "typename",
    "where",
]


def is_tensor(obj: Any) -> bool:
    """Whether it is a tensor."""
    return isinstance(obj, Tensor)


def numel(input: Tensor) -> int:
    """How many entries it has."""
    return input.numel()


def is_floating_point(input: Tensor) -> bool:
    """Whether its entries are floats."""
    return input.is_floating_point()


def is_nonzero(input: Tensor) -> bool:
    """Whether its one entry is not 0."""
    return bool(input)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same entries."""
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
    """Whether all entries are equal within tolerances.

    Raises:
        EngineError: the two are of different types.
    """
    if input.dtype is not other.dtype:
        raise EngineError(f"{input.dtype.legacy} did not match {other.dtype.legacy}")
    close = function("isclose")(input.detach(), other.detach(), rtol, atol, equal_nan)
    return bool(close.raw.all())


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return bool(input.raw.shape == other.raw.shape)


def is_set_to(input: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same view of the same memory."""
    same = input.xp is tensor.xp and input.raw.shape == tensor.raw.shape
    places = [t.xp.address(t._shareable()) for t in (input, tensor)]
    return bool(
        same and places[0] == places[1] and input.raw.strides == tensor.raw.strides
    )


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """Entries of one or of the other; with a condition alone, where it is true."""
    if input is None and other is None:
        return nonzero(condition, as_tuple=True)
    return function("where")(condition, input, other)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where entries are not 0: a row each, or a tensor per dimension."""
    xp = input.xp
    lines = xp.np.atleast_1d(input._shareable())
    found = [Tensor(a, xp) for a in xp.np.nonzero(lines)]
    if as_tuple:
        return tuple(found)
    if not input.shape:
        return Tensor(xp.np.zeros((int(bool(input)), 0), "int64"), xp)
    return function("stack")(found, 1)


def argwhere(input: Tensor) -> Any:
    """The positions of entries that are not 0, a row each."""
    return nonzero(input)


def promote_types(type1: Type, type2: Type) -> Type:
    """The smallest type that holds both."""
    return of(np.empty((), promoted(np.dtype(type1.name), np.dtype(type2.name))))


def result_type(tensor1: Any, tensor2: Any) -> Type:
    """The type of a result of arithmetic between two tensors or numbers."""
    values = [v.raw if isinstance(v, Tensor) else v for v in (tensor1, tensor2)]
    return of(np.empty((), result_of(values)))


def typename(obj: Any) -> str:
    """The name of an object's class, PyTorch's for a tensor."""
    if isinstance(obj, Tensor):
        return str(obj.type())
    return f"{type(obj).__module__}.{type(obj).__qualname__}"


@dataclass(frozen=True, slots=True)
class finfo:
    """The limits of a type of floats."""

    dtype: str
    bits: int
    eps: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    resolution: float

    def __init__(self, type: Type | None = None) -> None:
        chosen = type or DEFAULT.dtype
        if not chosen.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo "
                "to handle integer types."
            )
        held: Any = np.finfo(chosen.name)
        _fill(self, chosen, held, "eps", "max", "min", "tiny", "smallest_normal",
              "resolution")  # fmt: skip


@dataclass(frozen=True, slots=True)
class iinfo:
    """The limits of a type of whole numbers."""

    dtype: str
    bits: int
    max: int
    min: int

    def __init__(self, type: Type) -> None:
        if type.code[0] not in "iu":
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to "
                "handle floating point types."
            )
        _fill(self, type, np.iinfo(type.name), "max", "min")


def _fill(info: Any, type_: Type, held: Any, *names: str) -> None:
    write = object.__setattr__
    write(info, "dtype", type_.name)
    write(info, "bits", 8 * type_.itemsize)
    for name in names:
        value = getattr(held, name)
        write(info, name, value.item() if hasattr(value, "item") else value)
