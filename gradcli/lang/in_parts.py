"""The gradients of a pointwise program, computed part by part on all cores.

Invariant: the numbers of one run over everything, bit for bit in the value and in the
gradients of arrays; a gradient by a single number that is read more than once is added
up in another order. Nothing on the way is larger than a part.

    run_in_parts(prepare("sum(tanh(a*b))", read_bindings(["a=@a.npy", "b=@b.npy"])))
"""

from threading import local
from typing import Any

import numpy as np

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.dtypes import default_dtype
from gradcli.lang import tiles
from gradcli.lang.code import Code
from gradcli.lang.errors import ProgramError
from gradcli.lang.fusion import Fusion
from gradcli.lang.prepare import Input, Prepared
from gradcli.lang.reading import Reading
from gradcli.lang.run import Run, Session, all_finite

Gradients = tuple[Tensor, list[Tensor | None]]


class RunInParts(Run):
    """A run whose gradients are known; its graph is that of the first part."""

    found: tuple[Tensor | None, ...]

    def gradients(self, cotangent: Tensor | None = None) -> list[Tensor | None]:
        return list(self.found)


def run_in_parts(prepared: Prepared, fusion: Fusion | None = None) -> RunInParts | None:
    """A prepared program run part by part; None where that does not apply, or where a
    number is not finite, whose origin is looked for in the graph of everything.

    Args:
        prepared: the program and its inputs.
        fusion: is told what was run in parts, or why not.
    """
    if fusion is None and _shape(prepared) is None:
        return None
    names = [given.name for given in prepared.inputs]
    reading = Reading(prepared.source, frozenset(names), None)
    answer = in_parts(prepared, reading)
    if answer is None:
        if fusion is not None:
            _tell_why(prepared, reading, fusion)
        return None
    value, found = answer
    if not all(g is None or all_finite(g) for g in (value, *found)):
        if fusion is not None:
            fusion.refused("a number is not finite: where that began is looked for")
        return None
    if fusion is not None:
        tell_region(prepared, reading, fusion)
    first = _on_part(prepared, *next(tiles.parts(0, _count(prepared))))
    run = Session(first).run()
    value.edge = run.output.edge
    # The graph's leaves are those of the part: they have the inputs' names.
    variables = {**first.environment, **run.variables}
    of, name, notes = run.of, run.output_name, run.notes
    return RunInParts(prepared, of, value, name, variables, notes, tuple(found))


def tell_region(prepared: Prepared, reading: Reading, fusion: Fusion) -> None:
    """Tell that a pointwise program is run in parts."""
    assert reading.pointwise is not None
    _, reduction, span, _ = reading.pointwise
    fusion.region(prepared.source, span, reduction, _count(prepared))


def _tell_why(prepared: Prepared, reading: Reading, fusion: Fusion) -> None:
    """Tell why a program is not run in parts."""
    raws = [given.tensor.raw for given in prepared.inputs]
    if prepared.factory.xp is not NUMPY:
        fusion.refused("the arrays are not in the processor's memory")
    elif tiles.in_the_way(raws):
        fusion.refused(tiles.in_the_way(raws))
    if reading.pointwise is not None and reading.pointwise.obstacles:
        fusion.obstacles(prepared.source, reading.pointwise.obstacles)
    elif reading.reduction == "":
        fusion.refused("it ends with no sum and no mean of all entries")
    if not fusion.rest:
        fusion.refused("its value has not one entry for each of the inputs'")


def in_parts(prepared: Prepared, reading: Reading) -> Gradients | None:
    """The value and the gradients of a sum or a mean of entries; None where the
    program is no such one, or its arrays are small."""
    factory, reduction = prepared.factory, reading.reduction
    shape = _shape(prepared)
    if not reduction or shape is None:
        return None
    entries = _entries(prepared, reading.entries, reduction)
    if entries is None:
        return None
    with default_dtype(factory.dtype):
        found = tiles.over_parts(entries.count, entries.sums)
    value, *scalars = (
        tiles.total({at: sums[k] for at, sums in found.items()}, 0, entries.count)
        for k in range(1 + len(entries.single))
    )
    known = dict(zip(entries.single, scalars, strict=True))
    known |= {name: g.reshape(shape) for name, g in entries.grads.items()}
    if reduction == "mean":
        value = value / entries.count
    grads = [Tensor(known[name], factory.xp) for name in entries.wanted]
    return Tensor(value, factory.xp), [*grads]


def entrywise(prepared: Prepared, reading: Reading) -> Gradients | None:
    """Each entry of a pointwise program's value, and its derivative by each input's
    entry; None where the program is no such one.

    All inputs are vectors of one length.
    """
    entries = _entries(prepared, reading.entries, "")
    if entries is None:
        return None
    entries.values = np.empty(entries.count, prepared.factory.dtype)
    with default_dtype(prepared.factory.dtype):
        tiles.over_parts(entries.count, entries.sums)
    xp = prepared.factory.xp
    return Tensor(entries.values, xp), [Tensor(g, xp) for g in entries.grads.values()]


def _shape(prepared: Prepared) -> tuple[int, ...] | None:
    """The one shape of all large inputs, where it pays to cut them."""
    if prepared.factory.xp is not NUMPY:
        return None
    return tiles.common_shape([given.tensor.raw for given in prepared.inputs])


def _count(prepared: Prepared) -> int:
    """The entries of the large inputs."""
    return max(given.tensor.numel() for given in prepared.inputs)


def _on_part(prepared: Prepared, start: int, stop: int) -> Prepared:
    """The same program on the same entries of all large inputs."""
    inputs = tuple(
        Input(given.name, _part(given, start, stop), given.sampled, given.requires_grad)
        for given in prepared.inputs
    )
    return Prepared(prepared.source, prepared.code, prepared.factory, inputs)


def _part(given: Input, start: int, stop: int) -> Tensor:
    raw = given.tensor.raw
    cut = raw.reshape(-1)[start:stop] if raw.ndim else raw
    return Tensor(cut, given.tensor.xp, requires_grad=given.requires_grad)


def _entries(
    prepared: Prepared, code: Code | None, reduction: str
) -> "_Entries | None":
    """The code of single entries, if there is some and it runs as such."""
    count = _count(prepared)
    if code is None or prepared.factory.xp is not NUMPY or not count:
        return None
    one = np.ones((), prepared.factory.dtype)
    seed = one / count if reduction == "mean" else one
    alone = Prepared(prepared.source, code, prepared.factory, prepared.inputs)
    entries = _Entries(alone, count, seed)
    with default_dtype(prepared.factory.dtype):
        return entries if entries.apply(*next(tiles.parts(0, count))) else None


class _Entries:
    """A program of single entries, run on parts of its inputs.

    values  the value's entries, filled part by part; None: they are not kept
    grads   the gradients of the arrays, likewise
    single  the inputs that are single numbers, of those that gradients are asked for
    """

    def __init__(self, prepared: Prepared, count: int, seed: Any) -> None:
        self.prepared = prepared
        self.count = count
        self.seed = seed
        self.values: Any = None
        wanted = [given for given in prepared.inputs if given.requires_grad]
        self.wanted = [given.name for given in wanted]
        large = [given for given in wanted if given.tensor.raw.ndim]
        self.grads = {g.name: np.empty(count, g.tensor.raw.dtype) for g in large}
        self.single = [name for name in self.wanted if name not in self.grads]
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
        with np.errstate(all="ignore"):
            y, leaves = self._run(start, stop)
            cotangent = Tensor(np.broadcast_to(self.seed, y.raw.shape), y.xp)
            wanted = [leaves[name] for name in self.wanted]
            found = grad([y], wanted, [cotangent])
            by_name = {
                name: 0.0 if g is None else g.raw
                for name, g in zip(self.wanted, found, strict=True)
            }
            for name, g in self.grads.items():
                g[start:stop] = by_name[name]
            if self.values is not None:
                self.values[start:stop] = y.raw
            return [y.raw.sum(), *(by_name[name] for name in self.single)]

    def _run(self, start: int, stop: int) -> tuple[Tensor, dict[str, Tensor]]:
        """The program's entries on a part, and its inputs there."""
        part = _on_part(self.prepared, start, stop)
        leaves = part.environment
        session: Session | None = getattr(self.threads, "session", None)
        if session is None:
            session = self.threads.session = Session(part)
        session.rebind(leaves)
        return session(), leaves
