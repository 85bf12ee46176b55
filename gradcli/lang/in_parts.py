"""Gradients of programs of sums of entries, computed part by part on all cores.

Invariant: results are those of one run over the whole arrays, bit for bit, and no
intermediate array is larger than a part.

    run_in_parts(prepare("sum(tanh(a*b))", read_bindings(["a=@a.npy", "b=@b.npy"])))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine import NUMPY, Tensor, grad
from ..engine.devices import host
from ..engine.dtypes import default_dtype
from ..engine.raw import Raw
from ..large.kernel import Kernel, Number, Results, TilePlan, parts, traced_plan
from ..large.one_kernel import GpuPlan, gpu_plan
from ..large.tracing import Sample, SampleNamespace
from ..ops.records import record
from .maxima import MIN_ENTRIES_IN_PARTS
from .prepare import Prepared
from .run import Run, Session, all_finite

GPU_SAMPLE = 1 << 13
"""Number of entries that a graph is shown of where a GPU computes all in one kernel."""


class InParts(NamedTuple):
    """A value, its gradients, and the number of entries of the parts."""

    value: Tensor
    grads: list[Tensor | None]
    tile_entries: int


class Traced(NamedTuple):
    """A program that was traced.

    plan     the steps that are run on tiles, or as one kernel of a GPU
    reached  the inputs that its value depends on
    """

    plan: TilePlan | GpuPlan
    reached: frozenset[str]


Known = dict[tuple[object, ...], Traced | None]
"""The traces of a program, by the dtypes and shapes of its inputs and their names; None
where it cannot be traced."""


@record
class RunInParts(Run):
    """A run whose gradients are known; its graph is that of a run of the first part."""

    found: tuple[Tensor | None, ...]

    def gradients(self, cotangent: Tensor | None = None) -> list[Tensor | None]:
        return list(self.found)


def run_in_parts(prepared: Prepared) -> RunInParts | None:
    """Run a prepared program part by part, and return the run; None if it cannot, or if
    a result is not finite: then a whole run is needed to find where that began."""
    answer = in_parts(prepared, {})
    if answer is None or not all(
        g is None or all_finite(g) for g in (answer.value, *answer.grads)
    ):
        return None
    count = max(given.tensor.numel() for given in prepared.inputs)
    start, stop = next(parts(0, count, answer.tile_entries))
    arrays = {g.name: g.tensor.raw for g in prepared.inputs if g.tensor.ndim}
    few = {name: raw.reshape(-1)[start:stop] for name, raw in arrays.items()}
    first = prepared.on(prepared.leaves(prepared.factory.xp, few))
    run = Session(first).run()
    value = answer.value
    value.edge = run.output.edge
    # The leaves of the graph are the part's tensors, under the names of the inputs.
    variables = {**first.environment, **run.variables}
    of, name, notes = run.of, run.output_name, run.notes
    return RunInParts(prepared, of, value, name, variables, notes, tuple(answer.grads))


def _are_large(arrays: Sequence[Raw]) -> bool:
    """Return whether arrays gain from being computed part by part, and can be."""
    return (
        any(a.size >= MIN_ENTRIES_IN_PARTS for a in arrays)
        and len({a.shape for a in arrays}) == 1
        and all(a.flags.c_contiguous for a in arrays)
    )


def in_parts(prepared: Prepared, known: Known) -> InParts | None:
    """Return the value and the gradients, computed in parts; None if that cannot be
    done, or gains nothing. A new trace of the program is added to the ``known``
    ones."""
    factory = prepared.factory
    arrays = {g.name: g.tensor.raw for g in prepared.inputs if g.tensor.ndim}
    xp: Any = factory.xp
    if xp is not NUMPY and xp.pending is None:
        return None
    if not _are_large([*arrays.values()]):
        return None
    names = [given.name for given in prepared.inputs if given.requires_grad]
    with default_dtype(factory.dtype):
        found = _traced_before(prepared, arrays, names, known)
        if found is None:
            return None
        reached = [name for name in names if name in found.reached]
        flat = [raw.reshape(-1) for raw in map(xp.np.asarray, arrays.values())]
        if isinstance(found.plan, GpuPlan):
            wholes, (*numbers, value) = found.plan.run(flat, xp)
            value, numbers = xp.np.asarray(value), [*map(xp.np.asarray, numbers)]
            made = dict(zip([n for n in reached if n in arrays], wholes, strict=True))
            tile = min(GPU_SAMPLE, flat[0].size)
            return _answer(names, arrays, reached, made, numbers, value, xp, tile)
        grads: dict[str, Number] = {
            name: np.empty(flat[0].size, arrays[name].dtype)
            for name in reached
            if name in arrays
        }
        kernel = Kernel(found.plan, flat, [np.asarray(g) for g in grads.values()])
        *numbers, value = kernel.run()
    tile = kernel.tile_entries
    return _answer(names, arrays, reached, grads, numbers, value, xp, tile)


def _answer(
    names: Sequence[str], arrays: dict[str, Raw], reached: Sequence[str],
    grads: dict[str, Any], numbers: Sequence[Any], value: Any, xp: Any, tile: int,
) -> InParts:  # fmt: skip
    """Return the answer: gradients by arrays in their shape, and those by numbers."""
    single = [name for name in reached if name not in arrays]
    shape = next(iter(arrays.values())).shape
    whole = {name: g.reshape(shape) for name, g in grads.items()}
    whole |= dict(zip(single, numbers, strict=True))
    tensors = {name: Tensor(g, xp) for name, g in whole.items()}
    found = [tensors.get(name) for name in names]
    return InParts(Tensor(value, xp), found, tile)


def _traced_before(
    prepared: Prepared, arrays: dict[str, Raw], names: list[str], known: Known
) -> Traced | None:
    if len(arrays) < len(prepared.inputs):
        return _traced(prepared, arrays, names)  # a trace keeps numbers as constants
    dtypes = [(raw.dtype.str, raw.shape, name) for name, raw in arrays.items()]
    key = (*dtypes, *names)
    if key not in known:
        known[key] = _traced(prepared, arrays, names)
    return known[key]


def _traced(
    prepared: Prepared, arrays: dict[str, Raw], names: list[str]
) -> Traced | None:
    reached = set[str]()

    single = [g for g in prepared.inputs if not g.tensor.ndim]
    numbers = {given.name: host(given.tensor.raw) for given in single}

    def run(xp: SampleNamespace, given: list[Sample]) -> Results:
        raws = numbers | dict(zip(arrays, given, strict=True))
        leaves = prepared.leaves(xp, raws)
        y = Session(prepared.on(leaves, prepared.factory.on(xp)))()
        if not isinstance(y.raw, Sample) or y.raw.shape:
            raise xp.trace.refuse("the value is no number that is made of all entries")
        found = grad([y], [leaves[name] for name in names])
        pairs = zip(names, found, strict=True)
        grads = {name: g.raw for name, g in pairs if g is not None}
        reached.update(grads)
        return Results(
            [(xp.traced(g), arrays[n].dtype) for n, g in grads.items() if n in arrays],
            [*(g for n, g in grads.items() if n not in arrays), y.raw],
        )

    whole = next(iter(arrays.values())).shape
    make = None if prepared.factory.xp is NUMPY else gpu_plan
    made = traced_plan(run, [raw.reshape(-1) for raw in arrays.values()], whole, make)
    return None if made is None else Traced(made, frozenset(reached))
