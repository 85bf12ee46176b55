"""Samplers: iterables of the positions at which the items of a set are read.

Invariant: a sampler is iterated anew for every pass; a random sampler draws during the
iteration, from its own generator or from the default one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from ...engine.creation import as_tensor
from ...engine.draws import Generator, multinomial, randint, randperm

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

END_OF_SEEDS = 1 << 63
"""Smallest positive integer that is no seed."""

DRAWN_AT_ONCE = 32
"""Number of positions that are drawn at once, as in PyTorch."""


def fresh_seed(generator: Generator | None = None) -> int:
    """Return a seed drawn from a generator; None: the default one."""
    return int(randint(0, END_OF_SEEDS, (), generator=generator))


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


class SubsetRandomSampler(Sampler[int]):
    """A sampler of given positions in a random order."""

    def __init__(
        self, indices: Sequence[int], generator: Generator | None = None
    ) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        order = randperm(len(self.indices), generator=self.generator)
        return iter([self.indices[at] for at in order.tolist()])

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """A sampler of positions with probabilities in proportion to weights."""

    def __init__(
        self, weights: object, num_samples: int, replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:  # fmt: skip
        _positive("num_samples", num_samples)
        self.weights = as_tensor(weights).double()
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """A sampler of lists of ``batch_size`` positions; ``drop_last`` leaves out a last
    list that is shorter."""

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        _positive("batch_size", batch_size)
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


def _positive(name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(
            f"{name} should be a positive integer value, but got {name}={value}"
        )
