"""Jobs for the checking process: the program, the point, and the engine's numbers.

Invariant: a job has all numbers of a block; of a large one a seeded sample, half of it
from its stored entries and half from all, so that wrong zeros are found too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

import numpy as np

from ..check.process.job import Job, JobInput
from ..check.process.job import NumberBlock as Numbers
from ..engine import Tensor
from ..engine.devices import host

if TYPE_CHECKING:
    from random import Random

    from ..engine.jacobian import JacobianBlock
    from ..engine.raw import Host
    from ..lang.run import Run

MAX_HANDED: Final = 1 << 20
"""Largest number of entries of a block that is not sampled."""

MAX_NUMBERS: Final = 1 << 23
"""Largest count of numbers of a job: values, inputs and derivatives together."""

DRAWN: Final = 1 << 10
"""Number of entries drawn from all entries, and again from the stored ones."""


def job_for(
    run: Run,
    seconds: float,
    kind: str,
    claims: Mapping[str, Numbers],
    cotangent: Tensor | None = None,
    formulas: bool = False,
    numbers: bool = True,
) -> Job:
    """Return a job of the program, the point and the engine's numbers by input.

    ``kind`` is ``gradient``, ``jacobian`` or ``hessian``; the cotangent is by default
    ones. With ``formulas`` every entry is wanted as a formula; without ``numbers`` the
    job has only the shapes of the point's numbers.
    """
    inputs = tuple(
        JobInput(given.name, block_of(given.tensor, numbers), claims.get(given.name))
        for given in run.inputs
    )
    return Job(
        run.source,
        inputs,
        block_of(run.output, numbers),
        kind=kind,
        of=run.of,
        cotangent=None if cotangent is None else block_of(cotangent),
        dtype=run.dtype,
        seconds=seconds,
        seed=run.seed,
        formulas=formulas,
    )


def too_many(tensors: Iterable[Tensor]) -> str | None:
    """Return why these tensors are too large for a check; None if they are not."""
    count = sum(x.numel() for x in tensors)
    text = f"{count:,} numbers are too many to be checked"
    return text if count > MAX_NUMBERS else None


def gradient_job(
    run: Run,
    grads: Mapping[str, Tensor | None],
    seconds: float,
    cotangent: Tensor | None,
    formulas: bool = False,
    however_many: bool = True,
) -> tuple[Job, str | None]:
    """Return the job that checks gradients as claims, None for zero, and the reason if
    it has too many numbers; it then has shapes alone. With ``however_many`` it has its
    numbers always, and there is no reason."""
    inputs = {i.name: i.tensor for i in run.inputs}
    asked = [inputs[name] for name in grads]
    many = too_many([*inputs.values(), *asked, run.output])
    reason = None if however_many else many
    numbers = reason is None
    claims = {}
    for name, g in grads.items():
        x = inputs[name]
        if g is None:
            g = Tensor(x.xp.zeros_like(x.raw), x.xp) if numbers else x
        claims[name] = block_of(g, numbers)
    kind = "gradient"
    return job_for(run, seconds, kind, claims, cotangent, formulas, numbers), reason


def block_of(tensor: Tensor, numbers: bool = True) -> Numbers:
    """Return a tensor's shape and its numbers as bytes, or its shape alone."""
    shape = tuple(tensor.shape)
    if not numbers:
        return Numbers(shape, b"", b"")
    return Numbers(shape, _bytes(host(tensor.raw)))


def claim(blocks: Sequence[JacobianBlock], seed: int) -> Numbers:
    """Return the numbers of blocks with equally many columns, one under the other; if
    they are too many, a sample that the seed draws."""
    columns = blocks[0].x.numel()
    starts = [0, *accumulate(block.output.numel() for block in blocks)]
    shape = (starts[-1], *blocks[0].x.shape)
    if starts[-1] * columns <= MAX_HANDED:
        parts = [_host(block.dense().raw).ravel() for block in blocks]
        return Numbers(shape, _bytes(np.concatenate(parts)))
    from random import Random

    random = Random(seed)
    places, numbers = [], []
    for block, start in zip(blocks, starts[:-1], strict=True):
        rows, across = _drawn(block, random, len(blocks))
        places.append((rows + start) * columns + across)
        stored = block.matrix
        found = np.zeros(len(rows)) if stored is None else stored[rows, across]
        numbers.append(_host(found))
    where, first = np.unique(np.concatenate(places), return_index=True)
    values = np.concatenate(numbers)[first]
    return Numbers(shape, _bytes(values), where.astype(np.int64).tobytes())


def _drawn(block: JacobianBlock, random: Random, among: int) -> tuple[Host, Host]:
    """Return rows and columns of the entries drawn from one of ``among`` blocks."""
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


def _host(array: object) -> Host:
    array = host(array)
    return array.toarray().ravel() if hasattr(array, "toarray") else np.asarray(array)


def _bytes(numbers: object) -> bytes:
    found: bytes = np.ascontiguousarray(numbers, dtype=np.float64).tobytes()
    return found
