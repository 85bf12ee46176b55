"""PyTorch's first constructors: ``Tensor(2, 3)``, ``FloatTensor([1, 2])``.

Invariant: numbers alone mean a shape, a sequence means its entries.
"""

from __future__ import annotations

import numpy as np

from ..ops.limits import check_size
from . import devices, dtypes
from .dtypes import DEFAULT, dtype
from .numbers import array_of
from .raw import Raw
from .size import Size, sizes_of
from .tensor import Tensor


def floats_of(t: Tensor, data: tuple[object, ...]) -> Raw:
    """The array that ``Tensor(...)`` means, of the default type."""
    return array_of_legacy(data, DEFAULT.dtype)


def array_of_legacy(data: tuple[object, ...], type_: dtype) -> Raw:
    """The array that such a constructor means."""
    first = data[0] if data else 0
    if len(data) > 1 or isinstance(first, int | Size):
        shape = sizes_of(data or (0,), "new")
        check_size(shape)
        return np.zeros(shape, type_.name)
    if isinstance(first, Tensor):
        made: Raw = devices.host(first.raw).astype(type_.name)
        return made
    if isinstance(first, float):
        raise TypeError("new(): data must be a sequence (got float)")
    return array_of(first, type_, copy=True)


class TypedTensor:
    """``FloatTensor`` and its kind: makes tensors of a type, and recognises them."""

    __slots__ = ("__name__", "dtype")

    def __init__(self, type_: dtype) -> None:
        self.dtype = type_
        self.__name__ = f"{type_.legacy}Tensor"

    def __call__(self, *data: object) -> Tensor:
        return Tensor(array_of_legacy(data, self.dtype), devices.NUMPY)

    def __instancecheck__(self, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is self.dtype
            and not instance.is_cuda
        )

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"


TYPED = {each: TypedTensor(each) for each in dtypes.ALL}
"""The constructor of each type."""
