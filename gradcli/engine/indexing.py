"""``tensor[...]``: an index expression becomes the chain of rows that PyTorch records.

Invariant: items are taken from left to right; an integer selects, a slice narrows, None
adds a dimension, and lists and masks are collected for one `index.Tensor` at the end.

    x[1:, None, ..., 0]     # Select(Unsqueeze(Slice(x)))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ops import OPS
from ..ops.index import byte_as_mask, check_mask, check_positions, is_mask
from .raw import Raw
from .record import apply, call
from .tensor import Tensor

_SELECT, _SLICE = OPS["select"], OPS["slice.Tensor"]

MAX_ITEMS_OF_INDEX_LIST = 31
"""Most items of a list, with lists among them, that is read as a tuple of indices, as
in PyTorch."""

INTEGER_OF_SCALAR = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` to convert a 0-dim tensor "
    "to a number"
)
SLICE_OF_SCALAR = "slice() cannot be applied to a 0-dim tensor."


def getitem(x: Tensor, index: Any) -> Tensor:
    """Return ``x[index]``, recorded as the rows that PyTorch records.

    Raises:
        IndexError: a position is outside a dimension, or there are too many items.
        ValueError: a slice steps backwards.
    """
    if isinstance(index, int) and not isinstance(index, bool):
        _demand_dimension(x, INTEGER_OF_SCALAR)
        return _select(x, 0, index, 0)
    if isinstance(index, slice):
        _demand_dimension(x, SLICE_OF_SCALAR)
        return _slice(x, 0, index)
    items = list(index) if _is_several(index) else [index]
    return _read(x, [_item(x, i) for i in items])


def assignable(x: Tensor, index: Any) -> tuple[tuple[object, ...], bool]:
    """Return an index as NumPy takes it, and whether it holds lists or masks.

    Raises:
        IndexError: it does not fit the tensor.
    """
    items = list(index) if _is_several(index) else [index]
    read = [_plain_slice(i) if isinstance(i, slice) else _item(x, i) for i in items]
    at = tuple(read)
    try:
        x.raw[at]
    except IndexError:
        getitem(x.detach(), index)
        raise
    return at, any(hasattr(i, "dtype") or isinstance(i, bool) for i in at)


def _plain_slice(item: slice) -> slice:
    """Return a slice with its ends as numbers."""
    ends = [_whole_number(end, None) for end in (item.start, item.stop, item.step)]
    if ends[2] is not None and ends[2] <= 0:
        raise ValueError("step must be greater than zero")
    return slice(*ends)


def rows_of(x: Tensor) -> Iterator[Tensor]:
    """Return an iterator over the rows of a tensor, recorded as one node."""
    if not x.shape:
        raise TypeError("iteration over a 0-d tensor")
    return iter(call("unbind", x, 0))


def _is_several(index: object) -> bool:
    """Return whether an index is several items: a tuple, or a short list of such."""
    if isinstance(index, tuple):
        return True
    return (
        isinstance(index, list)
        and len(index) <= MAX_ITEMS_OF_INDEX_LIST
        and any(isinstance(i, Tensor | list | tuple | slice) or i in (None, ...)
                for i in index)
    )  # fmt: skip


def _item(x: Tensor, item: Any) -> Any:
    """Return an item as an int, a bool, a slice, None, Ellipsis or an index array."""
    if item is None or item is ... or isinstance(item, int | slice):
        return item
    if isinstance(item, Tensor):
        raw = byte_as_mask(item.xp, item.raw)
        array = x.xp.as_index(item.xp.as_index(raw))
    elif isinstance(item, range):
        array = x.xp.as_index(item)
    elif isinstance(item, list | tuple):
        array = x.xp.as_index(list(item) if len(item) else [0])[: len(item)]
    elif hasattr(item, "dtype"):
        array = x.xp.as_index(byte_as_mask(x.xp, item))
    else:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte "
            f"Variables are valid indices (got {type(item).__name__})"
        )
    if array.shape or (x.xp.keeps_positions and array.dtype.kind != "b"):
        return array
    return bool(array) if array.dtype.kind == "b" else int(array)


def _read(x: Tensor, items: list[Any]) -> Tensor:
    """Return what the items of an index select, taken from left to right."""
    start, unnamed = x, x.ndim - sum(_dimensions(i) for i in items)
    if unnamed < 0:
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    # An item selects from ``dim``; ``named`` is that dimension's number in ``start``.
    dim = named = 0
    arrays: dict[int, Any] = {}
    for item in items:
        if item is ...:
            dim += unnamed
        elif item is None or isinstance(item, bool):
            x = call("unsqueeze", x, dim)
            if item is not None:
                arrays[dim] = x.xp.as_index([item])
            dim += 1
        elif isinstance(item, int):
            x = _select(x, dim, item, named)
        elif isinstance(item, slice):
            if not _is_whole(item, x.shape[dim]):
                x = _slice(x, dim, item)
            dim += 1
        else:
            _check_positions(x, dim, item, named)
            if item.shape:
                arrays[dim] = item
                dim += _dimensions(item)
            else:
                x = call("index.Tensor", x, (*[None] * dim, item))
        named += unnamed if item is ... else _dimensions(item)
    if arrays:
        at, indices = 0, []
        while at <= max(arrays):
            array = arrays.get(at)
            indices.append(array)
            at += 1 if array is None else _dimensions(array)
        x = call("index.Tensor", x, tuple(indices))
    elif x is start:
        x = call("alias", x)
    return x


def _dimensions(item: Any) -> int:
    """Return how many of the tensor's dimensions an item uses up."""
    if item is None or item is ... or isinstance(item, bool):
        return 0
    if isinstance(item, int | slice):
        return 1
    return int(item.ndim) if item.dtype.kind == "b" else 1


def _is_whole(item: slice, size: int) -> bool:
    """Return whether a slice keeps all entries by plain bounds and so is not recorded;
    one that counts from the end, as ``-2:`` of two entries, is recorded."""
    return bool(
        _whole_number(item.step, 1) == 1
        and _whole_number(item.start, 0) == 0
        and _whole_number(item.stop, size) >= size
    )


def _slice(x: Tensor, dim: int, item: slice) -> Tensor:
    step = _whole_number(item.step, 1)
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError(
            "step must be greater than zero; flip(x, dim) reads a dimension backwards"
        )
    start = _whole_number(item.start, None)
    stop = _whole_number(item.stop, None)
    params = {"dim": dim, "start": start, "end": stop, "step": step}
    found: Tensor = apply(_SLICE, (x,), params)
    return found


def _whole_number(value: object, default: int | None) -> Any:
    if value is None:
        return default
    if isinstance(value, Tensor):
        return int(value.xp.as_index(value.raw))
    if isinstance(value, int):
        return value
    if hasattr(value, "__index__"):
        return value.__index__()
    raise TypeError(
        "slice indices must be integers or None or have an __index__ method"
    )


def _select(x: Tensor, dim: int, index: int, named: int) -> Tensor:
    size = x.raw.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"index {index} is out of bounds for dimension {named} with size {size}"
        )
    found: Tensor = apply(_SELECT, (x,), {"dim": dim, "index": index})
    return found


def _demand_dimension(x: Tensor, message: str) -> None:
    if not x.raw.shape:
        raise IndexError(message)


def _check_positions(x: Tensor, dim: int, array: Raw, named: int) -> None:
    if is_mask(array):
        check_mask(x.shape, dim, array, named)
    else:
        check_positions(x.xp, x.shape[dim], named, array)
