"""The entries of a pointwise program, their sum and their gradients, tile by tile.

Invariant: the numbers of the program run over everything. A program that asks nothing
of its entries is recorded once, its reverse pass with it, and the recording is done to
every tile; any other is run anew on each part.

    entries_of(prepared, np.ones(()), keeps=False).grads
"""

from collections.abc import Sequence
from threading import local
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang import tiles
from gradcli.lang.errors import ProgramError
from gradcli.lang.kernels.kernel import Kernel
from gradcli.lang.kernels.plan import Plan
from gradcli.lang.kernels.recorded import SAMPLE_ENTRIES, Results, recorded
from gradcli.lang.kernels.traced import Recording, Traced
from gradcli.lang.prepare import Input, Prepared
from gradcli.lang.run import Session

Plans = dict[tuple[object, ...], Plan | None]
"""What was recorded of a program, by its inputs' types and those asked for."""


class Entries(NamedTuple):
    """What a program of single entries gives.

    values        the entries; None: they were not asked for
    total         their sum
    grads         the gradients by arrays
    single        the gradients by single numbers
    tile_entries  the most that were computed at once
    """

    values: Any
    total: Any
    grads: dict[str, Any]
    single: dict[str, Any]
    tile_entries: int


def entries_of(
    prepared: Prepared, seed: Any, keeps: bool, plans: Plans | None = None
) -> Entries | None:
    """What a program of single entries gives; None where it is none after all.

    Args:
        prepared: the program, without a sum or a mean, and its inputs.
        seed: the cotangent of each entry.
        keeps: keep the entries themselves.
        plans: what was recorded of the program before, and will be.
    """
    wanted = _Wanted(prepared, seed, keeps)
    plan = _plan_of(wanted, plans)
    return _by_sessions(wanted) if plan is None else _by_kernel(wanted, plan)


class _Wanted:
    """A program of single entries and what is asked of it, as arrays to be filled.

    values  the value's entries; None: they are not kept
    grads   the gradients of the arrays
    single  the inputs that are single numbers, of those that gradients are asked for
    """

    def __init__(self, prepared: Prepared, seed: Any, keeps: bool) -> None:
        self.prepared = prepared
        self.seed = seed
        self.large = [g for g in prepared.inputs if g.tensor.raw.ndim]
        self.count = self.large[0].tensor.numel()
        self.values = np.empty(self.count, prepared.factory.dtype) if keeps else None
        self.names = [g.name for g in prepared.inputs if g.requires_grad]
        self.grads = {
            g.name: np.empty(self.count, g.tensor.raw.dtype)
            for g in self.large
            if g.requires_grad
        }
        self.single = [name for name in self.names if name not in self.grads]

    def found(self, total: Any, single: Sequence[Any], tile_entries: int) -> Entries:
        by_name = dict(zip(self.single, single, strict=True))
        return Entries(self.values, total, self.grads, by_name, tile_entries)


def _leaves(prepared: Prepared, large: Sequence[Any]) -> dict[str, Tensor]:
    """The inputs by name, with other arrays in place of the large ones."""
    rest = iter(large)
    return {
        given.name: Tensor(
            next(rest) if given.tensor.raw.ndim else given.tensor.raw,
            given.tensor.xp,
            requires_grad=given.requires_grad,
        )
        for given in prepared.inputs
    }


def on_part(prepared: Prepared, start: int, stop: int) -> Prepared:
    """The same program on some entries, the same ones of all large inputs."""
    large = [g.tensor.raw for g in prepared.inputs if g.tensor.raw.ndim]
    leaves = _leaves(prepared, [raw.reshape(-1)[start:stop] for raw in large])
    return _with_leaves(prepared, leaves)


def _with_leaves(prepared: Prepared, leaves: dict[str, Tensor]) -> Prepared:
    inputs = tuple(
        Input(given.name, leaves[given.name], given.sampled, given.requires_grad)
        for given in prepared.inputs
    )
    return Prepared(prepared.source, prepared.code, prepared.factory, inputs)


# recorded once


def _plan_of(wanted: _Wanted, plans: Plans | None) -> Plan | None:
    """The recorded program; None where it cannot be recorded, or is soon done."""
    if wanted.count < sum(SAMPLE_ENTRIES):
        return None
    if plans is None or len(wanted.large) < len(wanted.prepared.inputs):
        return _recorded(wanted)  # single numbers are constants of a recording
    dtypes = [given.tensor.raw.dtype.str for given in wanted.large]
    key = (*dtypes, *wanted.names, wanted.values is None, str(wanted.seed))
    if key not in plans:
        plans[key] = _recorded(wanted)
    return plans[key]


def _recorded(wanted: _Wanted) -> Plan | None:
    def run(recording: Recording, given: list[Traced]) -> Results:
        leaves = _leaves(wanted.prepared, given)
        y = Session(_with_leaves(wanted.prepared, leaves))()
        if not isinstance(y.raw, Traced) or y.raw.shape != given[0].shape:
            raise recording.refuse(
                "the value has not one entry for each of the inputs'"
            )
        total = np.add.reduce(y.raw)
        cotangent = np.broadcast_to(wanted.seed, y.raw.shape)
        seed = Tensor(recording.constant(cotangent), y.xp)
        found = grad([y], [leaves[name] for name in wanted.names], [seed])
        grads = {
            name: 0.0 if g is None else g.raw
            for name, g in zip(wanted.names, found, strict=True)
        }
        arrays = [grads[name] for name in wanted.grads]
        if wanted.values is not None:
            arrays.append(y.raw)
        full = [
            a if isinstance(a, Traced) else recording.constant(np.full(y.raw.shape, a))
            for a in arrays
        ]
        return Results(full, [total, *(grads[name] for name in wanted.single)])

    arrays = [given.tensor.raw.reshape(-1) for given in wanted.large]
    return recorded(run, arrays, [out.dtype for out in _outputs(wanted)])


def _outputs(wanted: _Wanted) -> list[Any]:
    values = [] if wanted.values is None else [wanted.values]
    return [*wanted.grads.values(), *values]


def _by_kernel(wanted: _Wanted, plan: Plan) -> Entries:
    arrays = [given.tensor.raw.reshape(-1) for given in wanted.large]
    kernel = Kernel(plan, arrays, _outputs(wanted))
    total, *single = kernel.run()
    return wanted.found(total, single, kernel.tile_entries)


# run anew on each part


def _by_sessions(wanted: _Wanted) -> Entries | None:
    sessions = _Sessions(wanted)
    if not sessions.apply(*next(tiles.parts(0, wanted.count))):
        return None
    found = tiles.over_parts(wanted.count, sessions.sums)
    total, *single = (
        tiles.total({at: sums[k] for at, sums in found.items()}, 0, wanted.count)
        for k in range(1 + len(wanted.single))
    )
    return wanted.found(total, single, tiles.PART_ENTRIES)


class _Sessions:
    """A program of single entries, run on parts of its inputs."""

    def __init__(self, wanted: _Wanted) -> None:
        self.wanted = wanted
        self.threads = local()

    def apply(self, start: int, stop: int) -> bool:
        """Whether a part's result has an entry, with a gradient, for each entry."""
        try:
            y, _ = self._run(start, stop)
        except ProgramError:
            return False  # said of the whole, whose shape is the caller's
        return tuple(y.shape) == (stop - start,) and y.requires_grad

    def sums(self, start: int, stop: int) -> list[Any]:
        """The sum of a part's entries, and of its gradients by each single number."""
        wanted = self.wanted
        with np.errstate(all="ignore"):
            y, leaves = self._run(start, stop)
            cotangent = Tensor(np.broadcast_to(wanted.seed, y.raw.shape), y.xp)
            found = grad([y], [leaves[name] for name in wanted.names], [cotangent])
            by_name = {
                name: 0.0 if g is None else g.raw
                for name, g in zip(wanted.names, found, strict=True)
            }
            for name, g in wanted.grads.items():
                g[start:stop] = by_name[name]
            if wanted.values is not None:
                wanted.values[start:stop] = y.raw
            return [y.raw.sum(), *(by_name[name] for name in wanted.single)]

    def _run(self, start: int, stop: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The program's entries on a part, and its inputs there."""
        part = on_part(self.wanted.prepared, start, stop)
        leaves = part.environment
        session: Session | None = getattr(self.threads, "session", None)
        if session is None:
            session = self.threads.session = Session(part)
        session.rebind(leaves)
        return session(), leaves
