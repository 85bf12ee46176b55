"""Items put together to a batch.

Invariant: what is alike is stacked: tensors, arrays and numbers become tensors with
one more dimension in front; dicts and sequences are put together member by member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ...engine.creation import as_tensor, tensor
from ...engine.dtypes import float64
from ...engine.record import call
from ...engine.tensor import Tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """Put the items of a batch together.

    Raises:
        TypeError: items that do not stack: name a ``collate_fn`` for them.
        RuntimeError: sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return call("stack", batch)
    if isinstance(first, numpy.ndarray):
        if first.dtype.kind not in "biuf":
            raise TypeError(_unknown(first.dtype))
        return call("stack", [as_tensor(item) for item in batch])
    if isinstance(first, numpy.generic):
        return as_tensor(numpy.asarray(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        return _alike(
            first, {name: default_collate([d[name] for d in batch]) for name in first}
        )
    if isinstance(first, Sequence):
        return _members(first, batch)
    raise TypeError(_unknown(type(first)))


def _members(first: Sequence[object], batch: Sequence[Any]) -> object:
    if any(len(item) != len(first) for item in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [default_collate(members) for members in zip(*batch, strict=True)]
    if hasattr(first, "_fields"):
        return type(first)(*parts)
    return parts if isinstance(first, tuple) else _alike(first, parts)


def _alike(first: Any, parts: Any) -> object:
    """Put the parts into a container of the items' own type, where it takes them."""
    try:
        return type(first)(parts)
    except TypeError:
        return parts


def _unknown(kind: object) -> str:
    return (
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
        f"lists; found {kind}"
    )


def default_convert(data: object) -> Any:
    """Convert the arrays of one item to tensors."""
    if isinstance(data, Tensor | str | bytes):
        return data
    if isinstance(data, numpy.ndarray | numpy.generic):
        return as_tensor(data) if data.dtype.kind in "biuf" else data
    if isinstance(data, Mapping):
        return _alike(data, {name: default_convert(v) for name, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*[default_convert(item) for item in data])
    if isinstance(data, Sequence):
        parts = [default_convert(item) for item in data]
        return parts if isinstance(data, tuple) else _alike(data, parts)
    return data
