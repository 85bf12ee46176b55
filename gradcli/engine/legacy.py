"""PyTorch's first constructors: ``Tensor(2, 3)``, ``FloatTensor([1, 2])``.

Invariant: numbers alone mean a shape, a sequence means its entries, a tensor itself.
"""

from __future__ import annotations

import numpy as np

from ..ops.limits import check_size
from . import devices, dtypes
from .dtypes import DEFAULT, dtype
from .factories import at_home
from .namespace import Namespace
from .numbers import array_of
from .raw import Raw
from .record import call
from .size import Size, sizes_of
from .tensor import Tensor
from .views import note_view


def become_alias(t: Tensor, source: Tensor) -> None:
    """Make a tensor a view of another, in its type and its graph."""
    made = call("alias", source)
    t.raw, t.xp, t.edge = made.raw, made.xp, made.edge
    note_view(source, t)


def floats_of(t: Tensor, data: tuple[object, ...]) -> tuple[Raw, Namespace]:
    """Return the array that ``Tensor(...)`` means, in floats, and its namespace."""
    return at_home(_array_of(data, DEFAULT.dtype), devices.NUMPY)


def tensor_of(data: tuple[object, ...], type_: dtype, xp: Namespace) -> Tensor:
    """Return the tensor that such a constructor of a type means.

    Raises:
        TypeError: it is given a tensor of another type.
    """
    given = data[0] if len(data) == 1 else None
    if isinstance(given, Tensor):
        if given.dtype is not type_:
            raise TypeError(f"expected a tensor of {type_} (got {given.dtype})")
        return Tensor(given)
    return Tensor(*at_home(_array_of(data, type_), xp))


def _array_of(data: tuple[object, ...], type_: dtype) -> Raw:
    """Return the array that such a constructor means, of no tensor."""
    first = data[0] if data else 0
    if len(data) > 1 or isinstance(first, int | Size):
        shape = sizes_of(data or (0,), "new")
        check_size(shape)
        return np.zeros(shape, type_.name)
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
        return tensor_of(data, self.dtype, devices.NUMPY)

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
