"""Programs on large arrays, and their gradients, tile by tile.

Invariant: the numbers of the program run over everything. A program that asks nothing
of its entries but sums is recorded once, its reverse pass with it, and the recording is
done to every tile; any other whose entries are computed apart is run anew on each part.

    number_of(prepared, {}).grads
"""

from collections.abc import Sequence
from math import prod
from threading import local
from typing import NamedTuple

import numpy as np

from gradcli.engine import Tensor, grad
from gradcli.engine.raw import Raw
from gradcli.lang import tiles
from gradcli.lang.errors import ProgramError
from gradcli.lang.kernels.kernel import Kernel, Number
from gradcli.lang.kernels.plan import Plan
from gradcli.lang.kernels.recorded import SAMPLE_ENTRIES, Results, recorded
from gradcli.lang.kernels.traced import Recording, Traced
from gradcli.lang.prepare import Input, Prepared
from gradcli.lang.run import Session


class Entries(NamedTuple):
    """What a program of single entries gives.

    values        the entries; None: they were not asked for
    total         their sum
    grads         the gradients by the inputs' names; None: no entry depends on one
    tile_entries  the most that were computed at once
    """

    values: Raw | None
    total: Number
    grads: dict[str, Number | None]
    tile_entries: int


class Recorded(NamedTuple):
    """What was recorded of a program.

    plan     what is done to tiles
    reached  the inputs that its entries depend on
    """

    plan: Plan
    reached: frozenset[str]


Known = dict[tuple[object, ...], Recorded | None]
"""What was recorded of a program, by the types of its inputs and what is asked for;
None: it cannot be."""


def number_of(prepared: Prepared, known: Known) -> Entries | None:
    """The number that a program gives, and its gradients; None where it cannot be
    recorded, or is none.

    Args:
        prepared: the program and its inputs, of which the large ones have one shape.
        known: what was recorded of the program before, and will be.
    """
    asked = _Asked(prepared, None, False)
    found = _recorded_before(asked, known)
    return None if found is None else _by_kernel(asked, found)


def entries_of(prepared: Prepared, known: Known) -> Entries | None:
    """The entries that a program of single entries gives, and the derivative of each;
    None where it is none after all.

    Args:
        prepared: the program and its inputs.
        known: what was recorded of the program before, and will be.
    """
    asked = _Asked(prepared, np.ones((), prepared.factory.dtype), True)
    found = _recorded_before(asked, known)
    return _by_sessions(asked) if found is None else _by_kernel(asked, found)


def sum_of(prepared: Prepared, seed: Raw) -> Entries | None:
    """The sum of the entries of a program that cannot be recorded, and its gradients;
    None where it is no program of single entries after all.

    Args:
        prepared: the program, without the sum, and its inputs.
        seed: the cotangent of each entry.
    """
    return _by_sessions(_Asked(prepared, seed, False))


def on_part(prepared: Prepared, start: int, stop: int) -> Prepared:
    """The same program on some entries, the same ones of all large inputs."""
    large = [g.tensor.raw for g in prepared.inputs if g.tensor.raw.ndim]
    return _on_arrays(prepared, [raw.reshape(-1)[start:stop] for raw in large])


def _on_arrays(prepared: Prepared, large: Sequence[Raw]) -> Prepared:
    """The same program with other arrays in place of the large inputs."""
    rest = iter(large)
    inputs = []
    for given in prepared.inputs:
        tensor, wanted = given.tensor, given.requires_grad
        raw = next(rest) if tensor.raw.ndim else tensor.raw
        leaf = Tensor(raw, tensor.xp, requires_grad=wanted)
        inputs.append(Input(given.name, leaf, given.sampled, wanted))
    return Prepared(prepared.source, prepared.code, prepared.factory, tuple(inputs))


class _Asked:
    """A program, and what is asked of it.

    seed    the cotangent of each entry; None: the value is a number, not entries
    large   the inputs that are arrays
    count   the entries of each
    shape   of each; None: nothing depends on it
    names   the inputs that gradients are asked for
    arrays  those of them that are arrays
    values  takes the value's entries; None: they are not kept
    """

    def __init__(self, prepared: Prepared, seed: Raw | None, keeps: bool) -> None:
        self.prepared = prepared
        self.seed = seed
        self.large = {g.name: g.tensor.raw for g in prepared.inputs if g.tensor.ndim}
        whole = next(iter(self.large.values())).shape
        self.count = prod(whole)
        self.shape = whole if seed is None else None
        self.names = [g.name for g in prepared.inputs if g.requires_grad]
        self.arrays = [name for name in self.names if name in self.large]
        self.values = np.empty(self.count, prepared.factory.dtype) if keeps else None

    def pass_from(
        self, y: Tensor, leaves: dict[str, Tensor], seed: Raw | None
    ) -> list[Raw | None]:
        """The gradients by the names, from the cotangent of each entry."""
        wanted = [leaves[name] for name in self.names]
        found = grad([y], wanted, None if seed is None else [Tensor(seed, y.xp)])
        return [None if g is None else g.raw for g in found]


# recorded once


def _recorded_before(asked: _Asked, known: Known) -> Recorded | None:
    """The recording of the program; None where there is none, or few entries."""
    if asked.count < sum(SAMPLE_ENTRIES):
        return None
    if len(asked.large) < len(asked.prepared.inputs):
        return _recorded(asked)  # a single number is a constant of a recording
    dtypes = [(raw.dtype.str, name) for name, raw in asked.large.items()]
    key = (*dtypes, *asked.names, asked.values is None, asked.shape)
    if key not in known:
        known[key] = _recorded(asked)
    return known[key]


def _recorded(asked: _Asked) -> Recorded | None:
    reached: set[str] = set()

    def run(recording: Recording, given: list[Traced]) -> Results:
        part = _on_arrays(asked.prepared, given)
        y = Session(part)()
        shape = () if asked.seed is None else recording.shape
        if not isinstance(y.raw, Traced) or y.raw.shape != shape:
            raise recording.refuse("the value is not of the shape that is asked for")
        total, seed = y.raw, None
        if asked.seed is not None:
            total = np.add.reduce(y.raw, axis=None)
            seed = recording.constant(np.broadcast_to(asked.seed, shape))
        found = asked.pass_from(y, part.environment, seed)
        grads = {n: g for n, g in zip(asked.names, found, strict=True) if g is not None}
        reached.update(grads)
        arrays = [
            (recording.array(grads[name]), asked.large[name].dtype)
            for name in asked.arrays
            if name in grads
        ]
        if asked.values is not None:
            arrays.append((y.raw, asked.values.dtype))
        numbers = [g for name, g in grads.items() if name not in asked.large]
        return Results(arrays, [total, *numbers])

    found = recorded(run, _flat(asked), asked.shape)
    return None if found is None else Recorded(found, frozenset(reached))


def _flat(asked: _Asked) -> list[Raw]:
    """The large arrays, without their shapes."""
    return [np.asarray(raw).reshape(-1) for raw in asked.large.values()]


def _by_kernel(asked: _Asked, found: Recorded) -> Entries:
    grads: dict[str, Number | None] = dict.fromkeys(asked.names)
    arrays = {
        name: np.empty(asked.count, asked.large[name].dtype)
        for name in asked.arrays
        if name in found.reached
    }
    outputs = list(arrays.values())
    if asked.values is not None:
        outputs.append(asked.values)
    kernel = Kernel(found.plan, _flat(asked), outputs)
    total, *numbers = kernel.run()
    single = [n for n in asked.names if n in found.reached and n not in asked.large]
    grads |= arrays | dict(zip(single, numbers, strict=True))
    return Entries(asked.values, total, grads, kernel.tile_entries)


# run anew on each part


def _by_sessions(asked: _Asked) -> Entries | None:
    sessions = _Sessions(asked)
    if not sessions.apply(*next(tiles.parts(0, asked.count))):
        return None
    found = tiles.over_parts(asked.count, sessions.sums)
    total, *numbers = tiles.totals(found, asked.count)
    grads: dict[str, Number | None] = dict.fromkeys(asked.names)
    single = [name for name in asked.names if name not in asked.large]
    grads |= sessions.grads | dict(zip(single, numbers, strict=True))
    grads |= dict.fromkeys(sessions.unreached)
    return Entries(asked.values, total, grads, tiles.PART_ENTRIES)


class _Sessions:
    """A program of single entries, run on parts of its inputs.

    grads      the gradients by arrays, filled part by part
    unreached  the inputs that no part depends on
    """

    def __init__(self, asked: _Asked) -> None:
        self.asked = asked
        self.grads = {
            name: np.empty(asked.count, asked.large[name].dtype)
            for name in asked.arrays
        }
        self.unreached = set(asked.names)
        self.threads = local()

    def apply(self, start: int, stop: int) -> bool:
        """Whether a part's result has an entry, with a gradient, for each entry."""
        try:
            y, _ = self._run(start, stop)
        except ProgramError:
            return False  # said of the whole, whose shape is the caller's
        return tuple(y.shape) == (stop - start,) and y.edge is not None

    def sums(self, start: int, stop: int) -> list[Raw]:
        """The sum of a part's entries, and of its gradients by each single number."""
        asked = self.asked
        with np.errstate(all="ignore"):
            y, leaves = self._run(start, stop)
            assert asked.seed is not None
            seed = np.broadcast_to(asked.seed, y.raw.shape)
            found = asked.pass_from(y, leaves, seed)
            self.unreached.difference_update(
                name
                for name, g in zip(asked.names, found, strict=True)
                if g is not None
            )
            sums = [y.raw.sum()]
            for name, g in zip(asked.names, found, strict=True):
                if name in asked.large:
                    self.grads[name][start:stop] = 0.0 if g is None else g
                else:
                    sums.append(0.0 if g is None else g)
            if asked.values is not None:
                asked.values[start:stop] = y.raw
            return sums

    def _run(self, start: int, stop: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The program's entries on a part, and its inputs there."""
        part = on_part(self.asked.prepared, start, stop)
        leaves = part.environment
        session: Session | None = getattr(self.threads, "session", None)
        if session is None:
            session = self.threads.session = Session(part)
        session.rebind(leaves)
        return session(), leaves
