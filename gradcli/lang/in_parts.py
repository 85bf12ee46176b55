"""Gradients of programs of sums of entries, computed part by part on all cores.

Invariant: results are those of one run over the whole arrays, bit for bit, and no
intermediate array is larger than a part. The program is traced twice with its reverse
pass, on different entries and numbers of entries; the trace is used only if both traces
are equal, so that no step depends on the entries or their number.

    run_in_parts(prepare("sum(tanh(a*b))", read_bindings(["a=@a.npy", "b=@b.npy"])))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..engine import NUMPY, Tensor, grad
from ..engine.dtypes import default_dtype
from ..engine.raw import Raw, RawDtype
from ..large import tiles
from ..large.kernel import Kernel, Number
from ..large.plan import TilePlan, plan
from ..large.tracing import Operand, Sample, SampleNamespace, Trace, constant_key
from . import fusion as large
from .errors import ProgramError
from .excerpt import Span
from .fusion import Fusion
from .parser import parse
from .prepare import Prepared
from .run import Run, Session, all_finite
from .syntax import Assign, Call, Evaluate, Expression, MethodCall

SAMPLE_ENTRIES = (61, 67)
"""Numbers of entries that the two traces are run on: the arrays' first, and last."""

REDUCTIONS = ("sum", "mean")
"""Names of functions of all entries that a report names as the end of a program."""


class InParts(NamedTuple):
    """A value, its gradients, and the number of entries of the parts."""

    value: Tensor
    grads: list[Tensor | None]
    tile_entries: int


class Results(NamedTuple):
    """The results of a program on samples.

    arrays   samples whose entries are asked for, each with the dtype of its result
    numbers  samples of numbers that are asked for, or constants
    """

    arrays: list[tuple[Sample, RawDtype]]
    numbers: list[Sample | Operand]


class Obstacle(NamedTuple):
    """The reason why a program is not run in parts, and the span that it refers to."""

    reason: str
    span: Span | None = None


class Traced(NamedTuple):
    """A program that was traced.

    plan     the steps that are run on tiles
    reached  the inputs that its value depends on
    """

    plan: TilePlan
    reached: frozenset[str]


Known = dict[tuple[object, ...], Traced | Obstacle]
"""The traces of a program, by the dtypes and shapes of its inputs and their names."""


@dataclass(frozen=True, slots=True, eq=False)
class RunInParts(Run):
    """A run whose gradients are known; its graph is that of a run of the first part."""

    found: tuple[Tensor | None, ...]

    def gradients(self, cotangent: Tensor | None = None) -> list[Tensor | None]:
        return list(self.found)


def run_in_parts(prepared: Prepared, fusion: Fusion | None = None) -> RunInParts | None:
    """Run a prepared program part by part, and return the run; None if it cannot, or if
    a result is not finite: then a whole run is needed to find where that began. The
    region or the reason is added to the report ``fusion``."""
    fusion = Fusion() if fusion is None else fusion
    answer = in_parts(prepared, {})
    if isinstance(answer, Obstacle):
        fusion.refused(answer.reason, prepared.source, answer.span)
        return None
    value, found, tile_entries = answer
    if not all(g is None or all_finite(g) for g in (value, *found)):
        fusion.refused("a number is not finite: where that began is looked for")
        return None
    count = max(given.tensor.numel() for given in prepared.inputs)
    fusion.region(prepared.source, *_ending(prepared), count, tile_entries)
    start, stop = next(tiles.parts(0, count, tile_entries))
    arrays = {g.name: g.tensor.raw for g in prepared.inputs if g.tensor.ndim}
    few = {name: raw.reshape(-1)[start:stop] for name, raw in arrays.items()}
    first = prepared.on(prepared.leaves(prepared.factory.xp, few))
    run = Session(first).run()
    value.edge = run.output.edge
    # The leaves of the graph are the part's tensors, under the names of the inputs.
    variables = {**first.environment, **run.variables}
    of, name, notes = run.of, run.output_name, run.notes
    return RunInParts(prepared, of, value, name, variables, notes, tuple(found))


def _ending(prepared: Prepared) -> tuple[Span, str]:
    """Return the span that is run in parts, and the name of the sum or mean at its
    end."""
    program = parse(prepared.source, [given.name for given in prepared.inputs])
    first, last = program.body.statements[0], program.body.statements[-1]
    if not isinstance(last, Assign | Evaluate):
        return program.span, ""
    value: Expression = last.value
    inner, name = value, ""
    if isinstance(value, Call) and not value.keywords and len(value.arguments) == 1:
        inner, name = value.arguments[0], value.function
    elif isinstance(value, MethodCall) and not (value.arguments or value.keywords):
        inner, name = value.receiver, value.method
    if name not in REDUCTIONS:
        inner, name = value, ""
    if first is not last:
        return Span(first.span.start, last.span.end), name
    return inner.span, name


def in_parts(prepared: Prepared, known: Known) -> InParts | Obstacle:
    """Return the value and the gradients, computed in parts, or why that is not done; a
    new trace of the program is added to those that are ``known``."""
    factory = prepared.factory
    if factory.xp is not NUMPY:
        return Obstacle("the arrays are not in the processor's memory")
    arrays = {g.name: g.tensor.raw for g in prepared.inputs if g.tensor.ndim}
    obstacle = large.in_the_way([given.tensor.raw for given in prepared.inputs])
    if obstacle:
        return Obstacle(obstacle)
    shape = next(iter(arrays.values())).shape
    names = [given.name for given in prepared.inputs if given.requires_grad]
    with default_dtype(factory.dtype):
        found = _traced_before(prepared, arrays, names, known)
        if isinstance(found, Obstacle):
            return found
        reached = [name for name in names if name in found.reached]
        flat = [np.asarray(raw).reshape(-1) for raw in arrays.values()]
        grads: dict[str, Number] = {
            name: np.empty(flat[0].size, arrays[name].dtype)
            for name in reached
            if name in arrays
        }
        kernel = Kernel(found.plan, flat, [np.asarray(g) for g in grads.values()])
        *numbers, value = kernel.run()
    single = [name for name in reached if name not in arrays]
    grads |= dict(zip(single, numbers, strict=True))
    tensors = {
        name: Tensor(np.reshape(g, shape) if np.ndim(g) else g, NUMPY)
        for name, g in grads.items()
    }
    found_all = [tensors.get(name) for name in names]
    return InParts(Tensor(value, NUMPY), found_all, kernel.tile_entries)


def _traced_before(
    prepared: Prepared, arrays: dict[str, Raw], names: list[str], known: Known
) -> Traced | Obstacle:
    if len(arrays) < len(prepared.inputs):
        return _traced(prepared, arrays, names)  # a trace keeps numbers as constants
    dtypes = [(raw.dtype.str, raw.shape, name) for name, raw in arrays.items()]
    key = (*dtypes, *names)
    if key not in known:
        known[key] = _traced(prepared, arrays, names)
    return known[key]


def _traced(
    prepared: Prepared, arrays: dict[str, Raw], names: list[str]
) -> Traced | Obstacle:
    reached = set[str]()

    def run(xp: SampleNamespace, given: list[Sample]) -> Results:
        leaves = prepared.leaves(xp, dict(zip(arrays, given, strict=True)))
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
    made = traced(run, [raw.reshape(-1) for raw in arrays.values()], whole)
    return made if isinstance(made, Obstacle) else Traced(made, frozenset(reached))


def traced(
    program: Callable[[SampleNamespace, list[Sample]], Results],
    arrays: Sequence[Raw],
    shape: tuple[int, ...],
) -> TilePlan | Obstacle:
    """Return the plan of a program on tiles of arrays, or why there is none.

    Args:
        program: the function to trace; it takes a namespace and the samples.
        arrays: its arguments, each of one dimension, of more entries than a sample.
        shape: the shape that the program's arrays have.
    """
    few, more = SAMPLE_ENTRIES
    made: list[tuple[Trace, Results]] = []
    for samples in ([a[:few] for a in arrays], [a[-more:] for a in arrays]):
        trace = Trace(shape)
        xp = SampleNamespace(NUMPY, trace)
        given = [trace.input(sample, xp) for sample in samples]
        try:
            with np.errstate(all="ignore"):
                made.append((trace, program(xp, given)))
        except Exception as error:
            # Any other error is raised again when the program runs on whole arrays.
            span = error.span if isinstance(error, ProgramError) else None
            return Obstacle(trace.refused or str(error), span)
        if trace.refused:
            return Obstacle(trace.refused)
    if _trace_key(*made[0]) != _trace_key(*made[1]):
        return Obstacle("its steps depend on the entries, or on their count")
    trace, results = made[0]
    found = plan(trace, results.arrays, results.numbers)
    return found or Obstacle("sums of what sums are needed for are computed too often")


def _trace_key(trace: Trace, results: Results) -> tuple[object, ...]:
    """Return a key of a trace and its results; equal traces have equal keys."""
    steps = [step.key() for step in trace.steps]
    asked = [(array.value, dtype) for array, dtype in results.arrays]
    numbers = [
        number.value if isinstance(number, Sample) else constant_key(number)
        for number in results.numbers
    ]
    return trace.inputs, steps, asked, numbers
