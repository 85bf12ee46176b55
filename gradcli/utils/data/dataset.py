"""Data sets: items that are read by position, or iterated over.

Invariant: a set that is made of other sets keeps no items of its own; it reads them
from the other sets when they are asked for.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ...engine.draws import Generator, randperm
from ...engine.tensor import Tensor

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A set of items by position; subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError

    def __add__(self, other: Dataset[object]) -> ConcatDataset[Any]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """A set of items that are iterated over; a subclass defines ``__iter__``."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """A set made of tensors of equal length; an item has one row of each tensor."""

    def __init__(self, *tensors: Tensor) -> None:
        lengths = {len(tensor) for tensor in tensors}
        assert len(lengths) == 1, "Size mismatch between tensors"
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])


class ConcatDataset(Dataset[T_co]):
    """A set that has the items of several sets, one set after the other."""

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        assert self.datasets, "datasets should not be an empty iterable"
        sizes = [len(dataset) for dataset in self.datasets]  # type: ignore[arg-type]
        self.cumulative_sizes = list(accumulate(sizes))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T_co:
        if index < 0:
            index += len(self)
        if index < 0:
            raise ValueError("absolute value of index should not exceed dataset length")
        at = bisect_right(self.cumulative_sizes, index)
        start = self.cumulative_sizes[at - 1] if at else 0
        return self.datasets[at][index - start]  # type: ignore[no-any-return]


class Subset(Dataset[T_co]):
    """A set that has the items of another set at given positions."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T_co:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]  # type: ignore[no-any-return]
        return self.dataset[self.indices[index]]  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.indices)


MAX_ROUNDING = 1e-9
"""Largest amount by which fractions may add up to more than 1, through rounding."""


def _sizes(total: int, lengths: Sequence[float]) -> list[int]:
    """Return lengths as sizes; items left over by fractions go to the first parts."""
    if not (math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + MAX_ROUNDING):
        return [int(n) for n in lengths]
    for i, fraction in enumerate(lengths):
        if not 0 <= fraction <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    sizes = [math.floor(total * fraction) for fraction in lengths]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    return sizes


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Return random parts of a set, which together have each item once.

    Args:
        dataset: the set that is split.
        lengths: the sizes of the parts, or fractions that add up to 1.
        generator: draws the random numbers; None: the default generator.

    Raises:
        ValueError: the sizes do not add up to the size of the set.
    """
    sizes = _sizes(len(dataset), lengths)
    if sum(sizes) != len(dataset):
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset!"
        )
    order = randperm(sum(sizes), generator=generator).tolist()
    ends = list(accumulate(sizes))
    return [
        Subset(dataset, order[end - size : end])
        for end, size in zip(ends, sizes, strict=True)
    ]
