"""Data sets, the orders in which their items are read, and their loading in batches.

Invariant: a sampler is iterated anew for every pass over a set; a random one draws
during the iteration, from its own generator or from the default one. Items are read in
the sampler's order and joined by ``collate_fn``, in the process that asks for them. By
default tensors, arrays and numbers are stacked to tensors with one more dimension in
front; dicts and sequences are joined member by member.

    data = TensorDataset(x, y)
    for xs, ys in DataLoader(data, batch_size=32, shuffle=True):
        ...
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from typing import Any, Generic, TypeVar

import numpy

from ..engine.dtypes import float64
from ..engine.record import call
from ..engine.tensor import Tensor
from ..torch.absent import offer
from ..torch.creation import as_tensor, tensor
from ..torch.draws import Generator, randint, randperm

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A set of items by position; subclasses define ``__getitem__`` and ``__len__``."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError


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


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Return random parts of a set, which together have each item once.

    Args:
        dataset: the set that is split.
        lengths: the sizes of the parts, or fractions that add up to 1; items left over
            by fractions go to the first parts.
        generator: draws the random numbers; None: the default generator.

    Raises:
        ValueError: the sizes do not add up to the size of the set.
    """
    total, sizes = len(dataset), [int(n) for n in lengths]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1 + MAX_ROUNDING:
        for i, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes = [math.floor(total * fraction) for fraction in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset!"
        )
    order = randperm(total, generator=generator).tolist()
    pairs = zip(accumulate(sizes), sizes, strict=True)
    return [Subset(dataset, order[end - size : end]) for end, size in pairs]


END_OF_SEEDS = 1 << 63
"""Smallest positive integer that is no seed."""

DRAWN_AT_ONCE = 32
"""Number of positions that are drawn at once, as in PyTorch."""


def _fresh_seed(generator: Generator | None = None) -> int:
    """Return a seed drawn from a generator; None: the default one."""
    return int(randint(0, END_OF_SEEDS, (), generator=generator))


def _demand_positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(
            f"{name} should be a positive integer value, but got {name}={value}"
        )


class Sampler(Generic[T_co]):
    """An iterable of positions; a subclass defines ``__iter__`` and ``__len__``."""

    def __init__(self, data_source: Any = None) -> None:
        """Accept the sampled set, which a subclass may keep."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """A sampler of all positions in order."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """A sampler of positions in a random order.

    Args:
        data_source: the set that is sampled.
        replacement: draw each position independently, so that one may come twice.
        num_samples: how many positions are drawn; None: the size of the set.
        generator: draws the random numbers; None: the default generator.
    """

    def __init__(
        self, data_source: Any, replacement: bool = False,
        num_samples: int | None = None, generator: Generator | None = None,
    ) -> None:  # fmt: skip
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        _demand_positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(_fresh_seed())
        if self.replacement:
            # Positions are drawn a few at a time: memory may not hold all of them.
            for done in range(0, wanted, DRAWN_AT_ONCE):
                some = min(DRAWN_AT_ONCE, wanted - done)
                yield from randint(0, count, (some,), generator=generator).tolist()
            return
        while wanted > 0:
            order = randperm(count, generator=generator).tolist()
            yield from order[:wanted]
            wanted -= count

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """A sampler of lists of ``batch_size`` positions; ``drop_last`` leaves out a last
    list that is shorter."""

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        _demand_positive("batch_size", batch_size)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        return self.batches(self.sampler)

    def batches(self, items: Iterable[T]) -> Iterator[list[T]]:
        """Yield the items in lists for batches."""
        batch: list[T] = []
        for item in items:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        return self.count(len(self.sampler))  # type: ignore[arg-type]

    def count(self, items: int) -> int:
        """Return how many lists `batches` makes of so many items."""
        full, rest = divmod(items, self.batch_size)
        return full + bool(rest and not self.drop_last)


class DataLoader:
    """An iterable of the batches of a set; every iteration is one pass over the set.

    Args:
        batch_size: items per batch; None: items are given one by one.
        shuffle: take the items in a new random order in each pass.
        sampler: an iterable of positions, used in place of ``shuffle``.
        batch_sampler: an iterable of lists of positions, one for each batch.
        num_workers: no workers are started, and a warning says so: items are loaded in
            the process that asks for them, in the same order.
        collate_fn: joins a list of items to a batch.
        drop_last: leave out a last batch that is smaller.
        timeout, worker_init_fn, multiprocessing_context, prefetch_factor,
            persistent_workers: options of workers, refused with ``num_workers=0``.
        pin_memory, in_order, pin_memory_device: accepted; they change nothing.

    Raises:
        ValueError: options contradict each other, or need workers.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[list[Any]] | None = None, num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: object = None,
        multiprocessing_context: object = None, generator: Generator | None = None, *,
        prefetch_factor: int | None = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _no_workers(
            num_workers, timeout=timeout, worker_init_fn=worker_init_fn,
            multiprocessing_context=multiprocessing_context,
            prefetch_factor=prefetch_factor, persistent_workers=persistent_workers,
        )  # fmt: skip
        self.dataset = dataset
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.generator = generator
        self._stream = isinstance(dataset, IterableDataset)
        if self._stream and (shuffle or sampler is not None or batch_sampler):
            raise ValueError("an IterableDataset gives its items in its own order")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, "
                    "shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("without batches, which batch_size=None asks for, there "
                             "is no last one: leave out drop_last")  # fmt: skip
        self.sampler: Any = sampler
        if sampler is None and not self._stream:
            self.sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle and len(dataset)
                else SequentialSampler(dataset)
            )
        if batch_size is not None and batch_sampler is None:
            order: Any = repeat(None) if self._stream else self.sampler
            batch_sampler = BatchSampler(order, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.batch_sampler = batch_sampler
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws a seed for its workers here; drawing it keeps later draws equal.
        _fresh_seed(self.generator)
        return map(self.collate_fn, self._taken())

    def _taken(self) -> Iterator[Any]:
        """Return an iterator over items, or over lists of the items of a batch."""
        batches: Any = self.batch_sampler
        if self._stream:
            items: Iterator[Any] = iter(self.dataset)
            return items if batches is None else batches.batches(items)
        if batches is None:
            return (self.dataset[at] for at in self.sampler)
        return map(self._items, batches)

    def _items(self, positions: list[Any]) -> Any:
        several = getattr(self.dataset, "__getitems__", None)
        if several is not None:
            return several(positions)
        return [self.dataset[at] for at in positions]

    def __len__(self) -> int:
        batches: Any = self.batch_sampler
        if self._stream:
            count: int = len(self.dataset)
            return count if batches is None else batches.count(count)
        return len(self.sampler if batches is None else batches)


def _no_workers(num_workers: int, **options: object) -> None:
    """Warn if workers are asked for, and refuse options that need workers."""
    if num_workers:
        warnings.warn(
            f"num_workers={num_workers}: this DataLoader starts no worker processes; "
            "items are loaded in this one, in the same order, and random numbers that "
            "the dataset draws are this process's; num_workers=0 does the same without "
            "this warning", UserWarning, stacklevel=3,
        )  # fmt: skip
        return
    for name, value in options.items():
        if value:
            raise ValueError(
                f"{name}={value!r} needs worker processes, which this DataLoader does "
                "not start: leave it out, items are loaded in this process"
            )


def default_collate(batch: Sequence[Any]) -> Any:
    """Return the items of a batch as one object, in which tensors are stacked.

    Raises:
        TypeError: items cannot be stacked: give a ``collate_fn`` that joins them.
        RuntimeError: sequences differ in length.
    """
    return _joined(batch, _stacked)


def default_convert(data: object) -> Any:
    """Return one item with its arrays converted to tensors."""
    return _joined([data], _converted)


def _joined(batch: Sequence[Any], leaf: Callable[[Sequence[Any]], Any]) -> Any:
    """Join items member by member; join members that are no containers by ``leaf``."""
    first = batch[0]
    if isinstance(first, Mapping):
        named = {name: _joined([item[name] for item in batch], leaf) for name in first}
        return _alike(first, named)
    if isinstance(first, str | bytes) or not isinstance(first, Sequence):
        return leaf(batch)
    if any(len(item) != len(first) for item in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    parts = [_joined(members, leaf) for members in zip(*batch, strict=True)]
    if hasattr(first, "_fields"):
        return type(first)(*parts)
    return parts if isinstance(first, tuple) else _alike(first, parts)


def _alike(first: Any, parts: Any) -> object:
    """Return the parts in a container of the type of ``first``, if it can be made."""
    try:
        return type(first)(parts)
    except TypeError:
        return parts


NUMBERS = "biuf"
"""Letters of the kinds of NumPy's dtypes that are truth values or real numbers."""


def _stacked(batch: Sequence[Any]) -> Any:
    first = batch[0]
    if isinstance(first, Tensor):
        return call("stack", batch)
    if isinstance(first, numpy.ndarray) and first.dtype.kind in NUMBERS:
        return call("stack", [as_tensor(item) for item in batch])
    if isinstance(first, numpy.generic):
        return as_tensor(numpy.asarray(batch))
    if isinstance(first, int | float):
        return tensor(batch, dtype=float64 if isinstance(first, float) else None)
    if isinstance(first, str | bytes):
        return batch
    kind = first.dtype if isinstance(first, numpy.ndarray) else type(first)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
        f"lists; found {kind}"
    )


def _converted(batch: Sequence[Any]) -> Any:
    (item,) = batch
    array = isinstance(item, numpy.ndarray | numpy.generic)
    return as_tensor(item) if array and item.dtype.kind in NUMBERS else item


offer(__name__, sys.modules[__name__])
