"""What floats show of a backward: passes under the conditions of training (for single
inputs, with cotangents that are not contiguous in memory, a second time), and, where
balls cannot verify a gradient, difference quotients in float64.

Invariant: each pass is compared with a plain pass of the same cotangents; a pass that
raises or differs is a fault, whatever the true derivative is. Of difference quotients,
agreement within a tolerance is all that is shown, and only where quotients of two steps
agree with each other. Only the backward of a custom function, all of whose forward
counts, is refuted by them: elsewhere a number that leaves the tensors is a constant to
the graph, but not to differences.

    for fault in faults(call, Run(call), cotangents): ...
    held_by_differences(call, proofs, 0, 30)    # unknown ones, as far as this can tell
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ..check.process.budget import Budget, OutOfTime
from ..check.process.job import REFUTED, SAMPLED, UNKNOWN
from ..engine.numeric import SCALES, by_scales, kinks_among
from ..engine.raw import Host
from ..engine.tensor import Tensor
from .function_call import (
    MORE_OPERATIONS,
    Arrays,
    FunctionCall,
    FunctionRun,
    OperationBound,
    OperationLimit,
)
from .function_proof import (
    DIFFERENCES,
    Fault,
    Index,
    InputProof,
    OutputEntry,
    WrongEntry,
    brackets,
)
from .torch_names import lack_in
from .user_lines import words_of

ROUNDINGS: Final = 1024
"""Largest difference of two computations of one gradient, in units of rounding."""

FACTORS: Final = (-1.0, 2.0**10, 2.0**-10, 2.0**20, 2.0**-30)
"""Factors of cotangents, all powers of 2, by which gradients are multiplied as well."""

NEAR_FACTORS: Final = (-1.0, 4.0, 0.25)
"""Factors that leave numbers within the range of a narrow type."""

ODD: Final = (3.0, 1 / 7)
"""Factors that are no powers of 2, whose rounding backward magnifies."""

SUMS: Final = 2
"""Number of sums of cotangents that are tried."""

FEW_UNITS: Final = 16
"""Largest difference of two computations in a narrow type, or beside their own noise,
in units of that."""

NEEDS, PIECES, IN_PLACE = "needs_input_grad", "non-contiguous", "in-place"
UNDEFINED: Final = "undefined cotangents"
BACKWARD: Final = "backward"
LINEAR: Final = "linearity"
ELSEWHERE: Final = "another branch"
ENDLESS: Final = "endless"
"""Kind of a trial that was stopped because it took too many operations, which is no
fault."""

LACKED: Final = "lacked"
"""Kind of a fault for which gradcli is responsible: a pass uses something that gradcli
lacks."""


def entry_of(row: int, outputs: Sequence[int], shapes: Sequence[Index]) -> OutputEntry:
    """Return the output and the entry that a row of the Jacobian belongs to."""
    for nr, shape in zip(outputs, shapes, strict=True):
        if row < prod(shape):
            at = tuple(int(i) for i in np.unravel_index(row, shape))
            return OutputEntry(nr, at)
        row -= prod(shape)
    raise IndexError(row)


Excuse = Callable[["PassTrial", Arrays, Arrays], bool]
"""Type of a test whether something explains that a trial's two gradients differ."""


def faults(
    call: FunctionCall, run: FunctionRun, cotangents: Arrays, eps: float, excuse: Excuse
) -> Iterator[Fault]:
    """Yield the faults of a function's backward after a run.

    Args:
        cotangents: one array for each of the function's outputs.
        eps: the unit of rounding of the narrowest type that backward computes in.
        excuse: a test of what may explain a difference.
    """
    yield from _changed(call, run, "running the function forward")
    kept = [g.copy() for g in cotangents]
    run.gradients(kept)
    if not all(map(np.array_equal, kept, cotangents)):
        text = "backward changes the cotangent that it is given, which is not its own"
        yield Fault(IN_PLACE, text)
    yield from _changed(call, run, "backward")
    for trials in (
        _scaled(run, cotangents, eps),
        _in_pieces(run),
        _single_outputs(run, cotangents),
        _needed(call, cotangents),
    ):
        judged = (_contradiction(call, trial, excuse) for trial in trials)
        with suppress(OperationLimit):
            for fault in filter(None, judged):
                yield fault
                if fault.kind != ENDLESS:
                    break


def second_pass(
    call: FunctionCall, run: FunctionRun, cotangents: Arrays, first: Arrays
) -> Fault | None:
    """Return the fault of a backward that gives other gradients than the ``first`` ones
    when it is run a second time on the same graph, as with ``retain_graph``; None if it
    gives the same."""
    trial = PassTrial(
        IN_PLACE, "a second pass through the same graph, where backward changes what "
        "forward saved or keeps what it computed,", "gives other gradients",
        lambda: first, partial(run.gradients, [g.copy() for g in cotangents]),
    )  # fmt: skip
    return _contradiction(call, trial, lambda *found: False)


def _changed(call: FunctionCall, run: FunctionRun, what: str) -> Iterator[Fault]:
    for slot in call.slots:
        before = np.asarray(slot.given.raw)
        after = np.asarray(run.leaves[slot.name].raw)
        if isinstance(slot.key, int) and not is_same(before, after):
            text = f"{what} changes the input {slot.name} in place without saying so"
            yield Fault(IN_PLACE, text)
            return


class PassTrial(NamedTuple):
    """A pass, `run`, that should give the gradients of another, `whole`.

    says   that it does not, in words
    least  the size, beside that of all gradients, of those that the pass gives before
           they are scaled
    units  the largest difference that is rounding, relative to the largest gradient
    input  the number of the only input whose gradient the pass gives; None: of all
    """

    kind: str
    what: str
    says: str
    whole: Callable[[], Arrays]
    run: Callable[[], Arrays]
    least: float = 1.0
    units: float | None = None
    input: int | None = None

    def agrees(self, whole: Arrays, found: Arrays) -> bool:
        if self.units is None:
            return all_same(whole, found)
        if not all(np.isfinite(g).all() for g in (*whole, *found)):
            # Large numbers may overflow in a narrow type, which shows nothing.
            return True
        return _largest_gap(whole, found) <= self.units


def _largest_gap(whole: Arrays, found: Arrays) -> float:
    """Return the largest difference, relative to the largest number beside it."""
    pairs = [(np.abs(a - b).max(initial=0.0), np.abs([a, b]).max(initial=0.0))
             for a, b in zip(whole, found, strict=True)]  # fmt: skip
    return max((float(gap / size) for gap, size in pairs if gap), default=0.0)


def _scaled(run: FunctionRun, cotangents: Arrays, eps: float) -> Iterator[PassTrial]:
    """Yield trials with multiples and sums of cotangents, in which backward is linear.

    Multiples by powers of 2 are exact. How much the rounding of a sum is magnified is
    measured by multiples that are not. A backward that iterates until a step is small
    may not end for large ones.
    """
    bound = OperationBound()

    def times(factor: float, given: Arrays) -> Arrays:
        scaled = [np.multiply(g, factor, dtype=g.dtype) for g in given]
        with bound.on_run():
            return [g / factor for g in run.gradients(scaled)]

    narrow = eps > np.finfo(np.float64).eps
    units = FEW_UNITS * eps if narrow else ROUNDINGS * eps
    for factor in NEAR_FACTORS if narrow else FACTORS:
        yield PassTrial(
            LINEAR, f"for cotangents times {factor:g}, backward",
            "does not give as many times the gradients, so it is not linear in them",
            partial(times, 1.0, cotangents), partial(times, factor, cotangents),
            min(1.0, abs(factor)), units,
        )  # fmt: skip
    draws = np.random.default_rng(3)
    for _ in range(SUMS):
        others = [np.array(draws.normal(size=g.shape), g.dtype) for g in cotangents]
        both = [a + b for a, b in zip(cotangents, others, strict=True)]

        def separately(others: Arrays = others) -> Arrays:
            pairs = zip(times(1.0, cotangents), times(1.0, others), strict=True)
            return [a + b for a, b in pairs]

        parts = [*map(np.abs, times(1.0, others))]
        whole = times(1.0, both)
        sizes = [max(np.abs(g).max(initial=0.0), p.max(initial=0.0))
                 for g, p in zip(whole, parts, strict=True)]  # fmt: skip
        smallest = [np.abs(g).max(initial=0.0) for g in whole]
        # Where terms cancel, their rounding is large beside the sum.
        lost = max((a / b for a, b in zip(sizes, smallest, strict=True) if b),
                   default=1.0)  # fmt: skip
        noise = max(_largest_gap(whole, times(f, both)) for f in ODD)
        yield PassTrial(
            LINEAR, "for a sum of two cotangents, backward",
            "gives another gradient than the sum of both, so it is not linear in them",
            separately, partial(times, 1.0, both), 1.0,
            units * lost + FEW_UNITS * noise,
        )  # fmt: skip


def _in_pieces(run: FunctionRun) -> Iterator[PassTrial]:
    """Yield trials with cotangents that have the memory layouts of common uses."""
    draws = np.random.default_rng(2)
    kinds = [(y.shape, y.dtype) for y in (np.asarray(t.raw) for t in run.outputs)]
    ways = {
        "as sum() makes them, all one number in memory":
            [np.broadcast_to(np.ones((), t), n) for n, t in kinds],
        "as of a transposed output":
            [np.array(draws.uniform(0.5, 1.5, n), t, order="F") for n, t in kinds],
        "with gaps in memory, as of a slice":
            [draws.uniform(0.5, 1.5, (*n, 2)).astype(t)[..., 0] for n, t in kinds],
    }  # fmt: skip
    for what, pieces in ways.items():
        yield PassTrial(
            PIECES, f"with cotangents {what}, backward",
            "gives other gradients than with the same numbers in one piece",
            partial(run.gradients, [np.array(g, order="C") for g in pieces]),
            partial(run.gradients, pieces),
        )  # fmt: skip


def _single_outputs(run: FunctionRun, cotangents: Arrays) -> Iterator[PassTrial]:
    """Yield trials in which one output has a cotangent and the others have none."""
    count = len(cotangents)
    for k in range(count) if count > 1 else ():
        zeros = [np.zeros_like(g) for g in cotangents]
        zeros[k] = cotangents[k].copy()
        yield PassTrial(
            UNDEFINED, f"with a cotangent only for output {k}, backward",
            "gives other gradients than with zeros for the others",
            partial(run.gradients, zeros),
            partial(run.gradients, [cotangents[k].copy()], [k]),
        )  # fmt: skip


def _needed(call: FunctionCall, cotangents: Arrays) -> Iterator[PassTrial]:
    """Yield trials in which only one input requires a gradient."""

    def of(nr: int, own: bool) -> Arrays:
        run = FunctionRun(call, call.leaves([call.varied[nr]] if own else None))
        run.wanted = [run.wanted[nr]]
        return run.gradients([g.copy() for g in cotangents])

    for nr, slot in enumerate(call.varied if len(call.varied) > 1 else ()):
        yield PassTrial(
            NEEDS,
            f"where no other input requires a gradient, the one by {slot.name}",
            "is another than with all",
            partial(of, nr, False),
            partial(of, nr, True),
            input=nr,
        )


def _contradiction(
    call: FunctionCall, trial: PassTrial, excuse: Excuse
) -> Fault | None:
    """Return the fault of a pass that raises, or gives other gradients that nothing
    explains, if it does."""
    whole = trial.whole()
    try:
        found = trial.run()
    except OperationLimit:
        text = f"{trial.what} takes over {MORE_OPERATIONS} times the operations"
        return Fault(ENDLESS, f"{text}: it was not tried to its end")
    except Exception as error:
        lack = lack_in(error)
        if lack is not None:
            return Fault(LACKED, f"{trial.what} asks for more: {lack}")
        return Fault(trial.kind, f"{trial.what} raises {words_of(error)}")
    if trial.agrees(whole, found) or excuse(trial, whole, found):
        return None
    said = f"{trial.what} {trial.says}: {numbers_of(call, trial, whole, found)}"
    return Fault(trial.kind, said)


def numbers_of(
    call: FunctionCall, trial: PassTrial, whole: Arrays, found: Arrays
) -> str:
    """Return the entry in which two gradients differ most, with both numbers."""
    slots = call.varied if trial.input is None else [call.varied[trial.input]]
    pairs = zip(whole, found, strict=True)
    gaps = [np.nan_to_num(np.abs(a - b), nan=np.inf) for a, b in pairs]
    nr = int(np.argmax([gap.max(initial=0.0) for gap in gaps]))
    at = np.unravel_index(int(gaps[nr].argmax()), gaps[nr].shape)
    entry = brackets(tuple(map(int, at)))
    return f"{found[nr][at]!s} for {slots[nr].name}{entry}, not {whole[nr][at]!s}"


def all_same(a: Arrays, b: Arrays) -> bool:
    return all(map(is_same, a, b))


def is_same(a: Any, b: Host) -> bool:
    """Tell whether two arrays are equal up to rounding."""
    if a.dtype.kind != "f" or not a.size:
        return bool(np.array_equal(a, b))
    with np.errstate(all="ignore"):
        size = float(np.nanmax(np.abs(a), initial=0.0))
        allowed = ROUNDINGS * np.finfo(a.dtype).eps * size
        near = (np.abs(a - b) <= allowed) | (a == b) | (np.isnan(a) & np.isnan(b))
    return bool(near.all())


# difference quotients

STEP: Final = 1e-5
"""Step from which both steps of the quotients are scaled, for an input of size 1."""

TOLERANCE: Final = 1e-6
"""Largest distance, relative to the largest entry, of numbers that agree."""

CLEARLY: Final = 1e-4
"""Smallest distance, relative to the largest entry, that refutes a gradient."""

FAR: Final = 100.0
"""Smallest ratio of that distance to the distance of the two quotients."""

MAX_DRAWN: Final = 128
"""Largest number of an input's entries that are all compared; of more, this many are
drawn by the seed."""

MAX_ROWS: Final = 4096
"""Largest number of a Jacobian's entries; above it, the outputs are contracted."""


def confirm_by_differences(
    call: FunctionCall, proofs: Sequence[InputProof], seed: int, seconds: float
) -> list[InputProof]:
    """Return the proofs of a call in float64, with those that are unknown replaced by
    comparisons with difference quotients where these decide more."""
    found = list(proofs)
    try:
        with Budget(seconds).slice(seconds), np.errstate(all="ignore"):
            quotients = _Quotients(call, seed)
            for k, proof in enumerate(proofs):
                held = (
                    quotients.confirmed(k, proof) if proof.verdict == UNKNOWN else proof
                )
                # Balls may meet a kink only in a comparison, as in a loop's condition.
                if proof.witness is None or held.verdict == SAMPLED:
                    found[k] = held
    except (Exception, OutOfTime):
        # A function that fails in float64, or takes too long, stays unknown.
        return found
    return found


class _Quotients:
    """A function in float64, with the gradients of its backward.

    weights  the weights of the outputs' entries; None: each entry has its own row
    """

    def __init__(self, call: FunctionCall, seed: int) -> None:
        self.call, self.seed = call, seed
        self.run = FunctionRun(call)
        self.values = self.run.values()
        size = sum(v.size for v in self.values) * max(
            x.numel() for x in self.run.wanted
        )
        self.weights: Arrays | None = None
        if size > MAX_ROWS:
            draws = np.random.default_rng(seed)
            self.weights = [draws.uniform(0.5, 1.5, v.shape) for v in self.values]
            found = self.run.gradients(self.weights)
            self.given = [g.reshape(1, -1) for g in found]
        else:
            self.given = self.run.matrices()

    def _joined(self, values: Arrays) -> Arrays:
        """Return all values in one row, or their weighted change from the given point,
        in which the rounding of entries that do not change cancels."""
        if self.weights is None:
            return [np.concatenate([v.ravel() for v in values])]
        parts = zip(values, self.values, self.weights, strict=True)
        return [np.array([sum(float(((v - w) * c).sum()) for v, w, c in parts)])]

    def _slopes(self, name: str, place: int) -> list[Any]:
        """Return the slopes of all values by one entry, with steps of all scales."""
        leaves = self.call.leaves()
        x = leaves[name]

        def at(moved: Tensor) -> Arrays:
            run = FunctionRun(
                self.call, {**self.call.leaves(), name: moved}, self.run.picked
            )
            return self._joined(run.values())

        step = STEP * max(1.0, abs(float(x.raw.reshape(-1)[place])))
        found = by_scales(at, self._joined(self.values), x, place, step)
        return [per_scale[0] for per_scale in found]

    def confirmed(self, nr: int, proof: InputProof) -> InputProof:
        slot, own = self.call.varied[nr], self.given[nr]
        count = own.shape[1]
        places = np.arange(count)
        if count > MAX_DRAWN:
            draws = np.random.default_rng(self.seed)
            places = np.sort(draws.choice(count, MAX_DRAWN, replace=False))
        by_place = [self._slopes(slot.name, int(at)) for at in places]
        wide = np.array([steps[0].central for steps in by_place]).T
        near = np.array([steps[1].central for steps in by_place]).T
        noise = np.array([steps[1].noise for steps in by_place]).T
        own = own[:, places]
        size = max(np.abs(near).max(initial=0.0), np.abs(own).max(initial=0.0))
        spread, gap = np.abs(wide - near) + noise, np.abs(own - near)
        some = f", for {len(places)} of {count} entries," if len(places) < count else ""
        steps = f"steps {SCALES[0] * STEP:g} and {SCALES[1] * STEP:g}{some}"

        def state(
            verdict: str, text: str, wrong: WrongEntry | None = None
        ) -> InputProof:
            return replace(
                proof, verdict=verdict, note=f"{text}; {proof.note}",
                counterexample=wrong, witness=DIFFERENCES,
            )  # fmt: skip

        allowed = lambda steepest: TOLERANCE * size + 0 * steepest
        for by_scale in by_place:
            for kink in kinks_among([[each] for each in by_scale], allowed):
                return state(UNKNOWN, str(kink))
        # If nothing moves at all, all quotients are 0, and so is the noise.
        moves = size + np.abs(wide).max(initial=0.0)
        if moves and not (spread <= TOLERANCE * size).all():
            worst = float(np.nan_to_num(spread / size, nan=np.inf).max())
            return state(
                UNKNOWN, f"difference quotients with {steps} in float64 are "
                f"{worst if size else 0.0:.2g} from each other",
            )  # fmt: skip
        worst = float((gap / size).max()) if size else 0.0
        if worst <= TOLERANCE:
            return state(
                SAMPLED, f"agrees to {worst:.2g} with difference quotients in float64, "
                f"with {steps}, tolerance {TOLERANCE:g}",
            )  # fmt: skip
        row, column = (int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
        given, true = float(own[row, column]), float(near[row, column])
        if self.call.custom is None or not (
            gap[row, column] > CLEARLY * size
            and gap[row, column] > FAR * spread[row, column]
        ):
            return state(
                UNKNOWN, f"backward gives {given:.9g} where difference quotients in "
                f"float64 with {steps} give {true:.9g}",
            )  # fmt: skip
        shape = tuple(slot.given.shape)
        entry = tuple(int(i) for i in np.unravel_index(int(places[column]), shape))
        shapes = [v.shape for v in self.values]
        alone = self.weights is None
        output = entry_of(row, self.run.picked, shapes) if alone else None
        return state(REFUTED, "no error bounds", WrongEntry(output, entry, given, true))
