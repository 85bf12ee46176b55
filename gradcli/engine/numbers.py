"""Conversion of Python's numbers, lists of them and arrays to one NumPy array.

Invariant: Python's floats get the default type; whatever has a type of its own keeps
it. Errors are PyTorch's, in class and words.

    array_of([[1, 2.5]], None, copy=True)       # float32, shape (1, 2)
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from . import devices
from .dtypes import DEFAULT, dtype, to_dtype
from .errors import OVERFLOW, EngineError
from .limits import MAX_LIST_DEPTH
from .promote import promoted, type_of
from .raw import Host
from .tensor import Tensor, raw_of

KINDS = "biuf"

H = TypeVar("H", bound="np.ndarray[Any, np.dtype[Any]] | np.generic[Any]")


def array_of(data: object, type_: dtype | None, copy: bool) -> Host:
    """Return the NumPy array of a number, nested lists or an array.

    Args:
        data: a number, nested lists or tuples of numbers, or an array.
        type_: the type of the result; None: that of the data.
        copy: always copy; False: share the data's memory where that is possible.
    """
    if isinstance(data, np.ndarray | np.generic):
        array = check_kind(data)
        return np.array(array, None if type_ is None else to_dtype(type_).name,
                        copy=copy or None)  # fmt: skip
    typed, values = _read(data, type_ is not None and to_dtype(type_).code[0] == "f")
    if type_ is not None:
        return _fitting(values, to_dtype(type_))
    if values.dtype.kind == "f" and typed is None:
        return values.astype(DEFAULT.name)
    return values


def check_kind(array: H) -> H:
    """Return the array; raise an error if a tensor cannot hold its entries."""
    if array.dtype.kind not in KINDS:
        raise TypeError(
            f"can't convert np.ndarray of type {array.dtype.type.__module__}."
            f"{array.dtype.type.__name__}. The only supported types are: float64, "
            "float32, float16, int64, int32, int16, int8, uint64, uint32, uint16, "
            "uint8, and bool."
        )
    return array


def _read(data: object, in_floats: bool) -> tuple[np.dtype[Any] | None, Host]:
    """Return the dtype of the data's typed numbers, None if all are plain, and the
    array. Where floats are wanted, integers may be of any size."""
    kinds = _kinds(data, 0)
    typed = None if kinds <= PLAIN else _own_type(data)
    plain = data if typed is None else _plain(data, 0)
    try:
        array = np.array(plain)
    except (ValueError, OverflowError):
        _complain(data)
        raise
    if in_floats and kinds <= PLAIN and array.dtype.kind in "uO":
        array = array.astype("float64")
    if array.dtype.kind == "u" and typed is None:
        raise ValueError("Overflow when unpacking long long")
    if array.dtype.kind in KINDS:
        return typed, array if typed is None else array.astype(typed)
    if array.size == 0:
        return typed, array.astype(DEFAULT.name)
    _complain(data)
    first = data
    while isinstance(first, list | tuple | range) and len(first):
        first = first[0]
    raise EngineError(f"Could not infer dtype of {type(first).__name__}")


PLAIN = frozenset({int, float, bool})
"""Classes of plain numbers, which have no dtype."""


def _kinds(data: object, depth: int) -> set[type]:
    """Return the classes of the entries of nested sequences."""
    if not isinstance(data, list | tuple | range) or depth >= MAX_LIST_DEPTH:
        return {type(data)}
    found = set(map(type, data))
    if found <= PLAIN:
        return found
    inner = found.union(*[_kinds(each, depth + 1) for each in data])
    return inner - {list, tuple, range}


def _own_type(data: object) -> np.dtype[Any] | None:
    """Return the common NumPy dtype of all typed entries; None if none is typed."""
    leaves = [data]
    while any(isinstance(each, list | tuple | range) for each in leaves):
        leaves = [
            entry
            for each in leaves
            for entry in (each if isinstance(each, list | tuple | range) else (each,))
        ]
    found = None
    for each in leaves:
        raw = raw_of(each)
        if not isinstance(raw, int | float) and not hasattr(raw, "dtype"):
            return None
        own = type_of(raw)
        found = own if found is None else promoted(found, own)
    return found


def _plain(data: object, depth: int) -> object:
    """Return nested sequences with their tensors replaced by NumPy arrays."""
    if isinstance(data, Tensor):
        return data.tolist() if data.xp.symbolic else devices.host(data.raw)
    if isinstance(data, list | tuple | range) and depth < MAX_LIST_DEPTH:
        return [_plain(item, depth + 1) for item in data]
    return data


def _complain(data: object) -> None:
    """Raise PyTorch's error for data that is no array of numbers."""
    level: list[Any] = [data]
    dim = 0
    while True:
        lists = [isinstance(item, list | tuple | range) for item in level]
        if not any(lists):
            break
        if not all(lists):
            if lists[0]:
                raise TypeError("not a sequence")
            name = type(level[lists.index(True)]).__name__
            raise TypeError(f"'{name}' object cannot be interpreted as an integer")
        wanted = len(level[0])
        for item in level:
            if len(item) != wanted:
                raise ValueError(
                    f"expected sequence of length {wanted} at dim {dim} "
                    f"(got {len(item)})"
                )
        level, dim = [entry for item in level for entry in item], dim + 1
    for entry in level:
        _complain_of_entry(entry, dim)


def _complain_of_entry(entry: object, dim: int) -> None:
    name = type(entry).__name__
    if isinstance(entry, str) and dim:
        raise ValueError(f"too many dimensions '{name}'")
    if isinstance(entry, str | bytes):
        raise TypeError(f"new(): invalid data type '{name}'")
    if isinstance(entry, int) and abs(entry) >= 1 << 63:
        raise ValueError("Overflow when unpacking long long")
    if not isinstance(entry, int | float | np.generic):
        raise EngineError(f"Could not infer dtype of {name}")


def _fitting(values: Host, type_: dtype) -> Host:
    """Return values in a type; raise an error for one that integers do not hold."""
    if type_.code[0] in "iu" and values.dtype.kind in "iuf" and values.size:
        top = np.iinfo(type_.name).max
        low = -top if type_.code[0] == "u" else np.iinfo(type_.name).min
        if not (values.min() >= low and values.max() <= top):
            raise EngineError(OVERFLOW.format(type_.name))
    return values.astype(type_.name)
