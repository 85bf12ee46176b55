"""Runs of a backward under the conditions of training: for single inputs, with
cotangents that are not contiguous in memory, and a second time.

Invariant: each pass is compared with a plain pass of the same cotangents; a pass that
raises or differs is a fault, whatever the true derivative is.

    for fault in faults(call, Run(call), cotangents): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from ..engine.raw import Host
from .function_call import Arrays, Call, Run
from .function_proof import Fault, Index, OutputEntry
from .torch_names import lack_in
from .user_lines import words_of

ROUNDINGS: Final = 1024
"""Largest difference of two computations of one gradient, in units of rounding."""

NEEDS, PIECES, IN_PLACE = "needs_input_grad", "non-contiguous", "in-place"
UNDEFINED: Final = "undefined cotangents"
BACKWARD: Final = "backward"
LACKED: Final = "lacked"
"""Kind of a fault for which gradcli is responsible: a pass uses something that gradcli
lacks."""


def entry_of(row: int, outputs: Sequence[int], shapes: Sequence[Index]) -> OutputEntry:
    """Return the number of the output and the entry that a row of the Jacobian belongs
    to; ``shapes`` are those of ``outputs``."""
    for nr, shape in zip(outputs, shapes, strict=True):
        if row < prod(shape):
            at = tuple(int(i) for i in np.unravel_index(row, shape))
            return OutputEntry(nr, at)
        row -= prod(shape)
    raise IndexError(row)


def faults(call: Call, run: Run, cotangents: Arrays) -> Iterator[Fault]:
    """Yield the faults of a function's backward after a run; ``cotangents`` are one
    array for each of its outputs."""
    yield from _changed(call, run, "running the function forward")
    plain = run.gradients([g.copy() for g in cotangents])
    kept = [g.copy() for g in cotangents]
    if not all_same(plain, run.gradients(kept)):
        text = (
            "a second pass through the same graph gives other gradients: backward "
            "changes what forward saved"
        )
        yield Fault(IN_PLACE, text)
    if not all(map(np.array_equal, kept, cotangents)):
        text = "backward changes the cotangent that it is given, which is not its own"
        yield Fault(IN_PLACE, text)
    yield from _changed(call, run, "backward")
    for trials in (
        _in_pieces(run),
        _alone(run, cotangents),
        _needed(call, plain, cotangents),
    ):
        yield from islice(filter(None, map(_contradiction, trials)), 1)


def _changed(call: Call, run: Run, what: str) -> Iterator[Fault]:
    for slot in call.slots:
        before = np.asarray(slot.given.raw)
        after = np.asarray(run.leaves[slot.name].raw)
        if isinstance(slot.key, int) and not is_same(before, after):
            text = f"{what} changes the input {slot.name} in place without saying so"
            yield Fault(IN_PLACE, text)
            return


class Trial(NamedTuple):
    """A pass that should give the gradients ``whole``; ``says`` that it does not."""

    kind: str
    what: str
    says: str
    whole: Arrays
    run: Callable[[], Arrays]


def _in_pieces(run: Run) -> Iterator[Trial]:
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
        yield Trial(
            PIECES, f"with cotangents {what}, backward",
            "gives other gradients than with the same numbers in one piece",
            run.gradients([np.array(g, order="C") for g in pieces]),
            partial(run.gradients, pieces),
        )  # fmt: skip


def _alone(run: Run, cotangents: Arrays) -> Iterator[Trial]:
    """Yield trials in which one output has a cotangent and the others have none."""
    count = len(cotangents)
    for k in range(count) if count > 1 else ():
        zeros = [np.zeros_like(g) for g in cotangents]
        zeros[k] = cotangents[k].copy()
        yield Trial(
            UNDEFINED, f"with a cotangent for output {k} alone, backward",
            "gives other gradients than with zeros for the others",
            run.gradients(zeros), partial(run.gradients, [cotangents[k].copy()], [k]),
        )  # fmt: skip


def _needed(call: Call, plain: Arrays, cotangents: Arrays) -> Iterator[Trial]:
    """Yield trials in which one input alone requires a gradient."""

    def alone(nr: int) -> Arrays:
        run = Run(call, call.leaves([call.varied[nr]]))
        run.wanted = [run.wanted[nr]]
        return run.gradients([g.copy() for g in cotangents])

    for nr, slot in enumerate(call.varied if len(call.varied) > 1 else ()):
        yield Trial(
            NEEDS,
            f"where no other input requires a gradient, the one by {slot.name}",
            "is another than with all",
            [plain[nr]],
            partial(alone, nr),
        )


def _contradiction(trial: Trial) -> Fault | None:
    """Return the fault of a pass that raises or gives other gradients; None if it gives
    the same."""
    kind, what, says, whole, run = trial
    try:
        found = run()
    except Exception as error:
        lack = lack_in(error)
        if lack is not None:
            return Fault(LACKED, f"{what} asks for more: {lack}")
        return Fault(kind, f"{what} raises {words_of(error)}")
    return None if all_same(whole, found) else Fault(kind, f"{what} {says}")


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
