"""In which order the items of a set are taken.

Invariant: a sampler is iterated anew for every pass; random ones draw at that time,
from their generator or from the default one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...engine.creation import as_tensor
from ...engine.draws import Generator, multinomial, randint, randperm

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


END_OF_SEEDS = 1 << 63
"""The first integer that is no seed."""


DRAWN_AT_ONCE = 32
"""Positions that are drawn together, as PyTorch draws them."""


def fresh_seed(generator: Generator | None = None) -> int:
    """Draw a seed from a generator, or from the default one."""
    return int(randint(0, END_OF_SEEDS, (), generator=generator))


class Sampler(Generic[T_co]):
    """Gives positions; a subclass defines ``__iter__``, and mostly ``__len__``."""

    def __init__(self, data_source: Any = None) -> None:
        """Whatever is sampled, for subclasses that keep it."""

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All positions in order."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Positions in a random order.

    Args:
        data_source: what is sampled.
        replacement: draw every position anew, so that one may come twice.
        num_samples: how many are drawn; None: as many as there are.
        generator: where the random numbers come from.
    """

    def __init__(
        self, data_source: Any, replacement: bool = False,
        num_samples: int | None = None, generator: Generator | None = None,
    ) -> None:  # fmt: skip
        self.data_source = data_source
        self.replacement = _truth("replacement", replacement)
        self._num_samples = num_samples
        self.generator = generator
        _positive("num_samples", self.num_samples)

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, wanted = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(fresh_seed())
        if self.replacement:
            # A few at a time: there may be more of them than memory holds.
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


class SubsetRandomSampler(Sampler[int]):
    """Given positions in a random order."""

    def __init__(
        self, indices: Sequence[int], generator: Generator | None = None
    ) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = randperm(len(self.indices), generator=self.generator)
        for at in order.tolist():
            yield self.indices[at]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Positions drawn with probabilities in proportion to weights."""

    def __init__(
        self, weights: object, num_samples: int, replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:  # fmt: skip
        _positive("num_samples", num_samples)
        self.weights = as_tensor(weights).double()
        self.num_samples = num_samples
        self.replacement = _truth("replacement", replacement)
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of positions from another sampler.

    Args:
        sampler: gives the positions.
        batch_size: how long a list is.
        drop_last: leave out a last list that is shorter.
    """

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        _positive("batch_size", batch_size)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = _truth("drop_last", drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        return _batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return _batch_count(count, self.batch_size, self.drop_last)


def _batches(items: Iterable[T], size: int, drop_last: bool) -> Iterator[list[T]]:
    """Gather items in lists; the last one may be shorter, unless it is dropped."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


def _batch_count(items: int, size: int, drop_last: bool) -> int:
    """Count the lists that `_batches` gives for so many items."""
    full, rest = divmod(items, size)
    return full + bool(rest and not drop_last)


def _positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(
            f"{name} should be a positive integer value, but got {name}={value}"
        )


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")
    return value
