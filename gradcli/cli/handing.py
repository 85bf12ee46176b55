"""A derivative's numbers, as they are handed to the checking process.

Invariant: what is handed over are the numbers of the block; of a large block a seeded
choice of them, half among those that are stored and half among all, so that zeros that
should be none are found, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..engine.devices import host
from ..engine.jacobian import Block
from ..verify.process.job import Block as Numbers

if TYPE_CHECKING:
    from ..engine.raw import Host

MAX_HANDED: Final = 1 << 20
"""Entries that are all handed over."""

DRAWN: Final = 1 << 10
"""Entries that are drawn of more, among the stored ones and among all."""


def claim(blocks: Sequence[Block], seed: int) -> Numbers:
    """The numbers of blocks by one input, one block under the other.

    Args:
        blocks: with equally many columns.
        seed: of the choice.
    """
    columns = blocks[0].x.numel()
    starts = [0, *accumulate(block.output.numel() for block in blocks)]
    shape = (starts[-1], *blocks[0].x.shape)
    if starts[-1] * columns <= MAX_HANDED:
        parts = [_host(block.dense().raw).ravel() for block in blocks]
        return Numbers(shape, _bytes(np.concatenate(parts)))
    random = Random(seed)
    places, numbers = [], []
    for block, start in zip(blocks, starts[:-1], strict=True):
        rows, across = _drawn(block, random, len(blocks))
        places.append((rows + start) * columns + across)
        numbers.append(_at(block.matrix, rows, across))
    where, first = np.unique(np.concatenate(places), return_index=True)
    values = np.concatenate(numbers)[first]
    return Numbers(shape, _bytes(values), where.astype(np.int64).tobytes())


def _drawn(block: Block, random: Random, among: int) -> tuple[Host, Host]:
    """Rows and columns of a block's share of what is drawn."""
    rows, columns = block.output.numel(), block.x.numel()
    share, every = max(1, DRAWN // among), rows * columns
    some = random.sample(range(every), min(share, every))
    anywhere = np.array(some, dtype=np.int64)
    found, across = anywhere // max(1, columns), anywhere % max(1, columns)
    if block.sparse:
        stored = block.matrix.nnz
        chosen = np.sort(random.sample(range(stored), min(share, stored)))
        chosen = chosen.astype(np.int64)
        line = np.searchsorted(block.matrix.indptr, chosen, side="right") - 1
        found = np.concatenate([found, line])
        across = np.concatenate([across, block.matrix.indices[chosen]])
    return found, across


def _at(matrix: Any, rows: Host, columns: Host) -> Host:
    """The entries of a matrix at some places."""
    if matrix is None:
        return np.zeros(len(rows))
    return _host(matrix[rows, columns])


def _host(array: object) -> Host:
    """An array where the processor can read it, dense."""
    array = host(array)
    return array.toarray().ravel() if hasattr(array, "toarray") else np.asarray(array)


def _bytes(numbers: object) -> bytes:
    found: bytes = np.ascontiguousarray(numbers, dtype=np.float64).tobytes()
    return found
