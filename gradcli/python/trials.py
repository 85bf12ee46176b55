"""Runs of a backward under the conditions of training: for single inputs, with
cotangents that are not contiguous in memory, and a second time.

Invariant: each pass is compared with a plain pass of the same cotangents; a pass that
raises or differs is a fault, whatever the true derivative is.

    for fault in faults(call, outputs, leaves, cotangents): ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import prod
from typing import Any, Final

import numpy as np

from ..autograd.blocks import blocks_of, filled, pull
from ..engine.raw import Host
from ..engine.tensor import Tensor, zeros_for
from .function_call import Call, Slot
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

Leaves = Mapping[str, Tensor]
Arrays = list[Any]
Trials = Iterator[Fault | None]


def gradients(
    outputs: Sequence[Tensor], leaves: Sequence[Tensor], cotangents: Sequence[object]
) -> Arrays:
    """Return the gradients by the leaves, as copied arrays."""
    pairs = zip(outputs, cotangents, strict=True)
    seeds = [g if isinstance(g, Tensor) else Tensor(g, y.xp) for y, g in pairs]
    found = filled(pull(outputs, leaves, seeds), leaves)
    return [np.array(g.detach().raw) for g in found]


def matrices(outputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> Arrays:
    """Return the Jacobian by each leaf, with one row for each entry of all outputs."""
    rows = blocks_of(outputs, leaves)
    return [
        np.concatenate([
            np.asarray(row[nr].detach().raw, np.float64).reshape(y.numel(), x.numel())
            for row, y in zip(rows, outputs, strict=True)
        ])
        for nr, x in enumerate(leaves)
    ]  # fmt: skip


def entry_of(row: int, outputs: Sequence[int], shapes: Sequence[Index]) -> OutputEntry:
    """Return the number of the output and the entry that a row of the Jacobian belongs
    to; ``shapes`` are those of ``outputs``."""
    for nr, shape in zip(outputs, shapes, strict=True):
        if row < prod(shape):
            at = tuple(int(i) for i in np.unravel_index(row, shape))
            return OutputEntry(nr, at)
        row -= prod(shape)
    raise IndexError(row)


def faults(
    call: Call, outputs: Sequence[Tensor], leaves: Leaves, cotangents: Sequence[Tensor]
) -> Iterator[Fault]:
    """Yield the faults of a function's backward, after a run on ``leaves``.

    Args:
        outputs: the outputs of that run, with their graph.
        cotangents: one array for each output.
    """
    wanted = [leaves[slot.name] for slot in call.varied]
    yield from _changed(call.slots, leaves, "running the function forward")
    plain = gradients(outputs, wanted, [np.array(g) for g in cotangents])
    kept = [np.array(g) for g in cotangents]
    seeds = [Tensor(g, y.xp) for y, g in zip(outputs, kept, strict=True)]
    again = gradients(outputs, wanted, seeds)
    if not _all_same(plain, again):
        text = (
            "a second pass through the same graph gives other gradients: backward "
            "changes what forward saved"
        )
        yield Fault(IN_PLACE, text)
    if not all(map(np.array_equal, kept, cotangents)):
        text = "backward changes the cotangent that it is given, which is not its own"
        yield Fault(IN_PLACE, text)
    yield from _changed(call.slots, leaves, "backward")
    for trials in (
        _in_pieces(outputs, wanted),
        _alone(outputs, wanted, cotangents),
        _needed(call, plain, cotangents),
    ):
        yield from islice(filter(None, trials), 1)


def _changed(slots: Sequence[Slot], leaves: Leaves, what: str) -> Iterator[Fault]:
    for slot in slots:
        before, after = np.asarray(slot.given.raw), np.asarray(leaves[slot.name].raw)
        if isinstance(slot.key, int) and not is_same(before, after):
            text = f"{what} changes the input {slot.name} in place without saying so"
            yield Fault(IN_PLACE, text)
            return


def _in_pieces(outputs: Sequence[Tensor], wanted: Sequence[Tensor]) -> Trials:
    """Yield trials with cotangents that have the memory layouts of common uses."""
    draws = np.random.default_rng(2)
    shapes = [tuple(y.shape) for y in outputs]
    types = [np.asarray(y.detach().raw).dtype for y in outputs]
    of_sum = [
        np.broadcast_to(np.ones((), t), n) for n, t in zip(shapes, types, strict=True)
    ]
    turned = [
        np.array(draws.uniform(0.5, 1.5, n), t, order="F")
        for n, t in zip(shapes, types, strict=True)
    ]
    gaps = [
        draws.uniform(0.5, 1.5, (*n, 2)).astype(t)[..., 0]
        for n, t in zip(shapes, types, strict=True)
    ]
    ways = {
        "as sum() makes them, all one number in memory": of_sum,
        "as of a transposed output": turned,
        "with gaps in memory, as of a slice": gaps,
    }
    for what, pieces in ways.items():
        yield _contradiction(
            PIECES, f"with cotangents {what}, backward",
            "gives other gradients than with the same numbers in one piece",
            gradients(outputs, wanted, [np.array(g, order="C") for g in pieces]),
            partial(gradients, outputs, wanted, pieces),
        )  # fmt: skip


def _alone(
    outputs: Sequence[Tensor], wanted: Sequence[Tensor], cotangents: Sequence[object]
) -> Trials:
    """Yield trials in which one output has a cotangent and the others have none."""
    live = [k for k, y in enumerate(outputs) if y.edge is not None]
    for k in live if len(live) > 1 else ():
        zeros = [
            np.array(g) if i == k else np.array(zeros_for(y).raw)
            for i, (y, g) in enumerate(zip(outputs, cotangents, strict=True))
        ]
        yield _contradiction(
            UNDEFINED, f"with a cotangent for output {k} alone, backward",
            "gives other gradients than with zeros for the others",
            gradients(outputs, wanted, zeros),
            partial(gradients, [outputs[k]], wanted, [np.array(cotangents[k])]),
        )  # fmt: skip


def _needed(call: Call, plain: Arrays, cotangents: Sequence[object]) -> Trials:
    """Yield trials in which one input alone requires a gradient."""

    def alone(name: str, leaves: Leaves) -> Arrays:
        seeds = [np.array(g) for g in cotangents]
        return gradients(call.outputs(leaves), [leaves[name]], seeds)

    several = len(call.varied) > 1
    for slot, whole in zip(call.varied, plain, strict=True) if several else ():
        yield _contradiction(
            NEEDS,
            f"where no other input requires a gradient, the one by {slot.name}",
            "is another than with all",
            [whole],
            partial(alone, slot.name, call.leaves([slot])),
        )


def _contradiction(
    kind: str, what: str, says: str, whole: Arrays, run: Callable[[], Arrays]
) -> Fault | None:
    """Return the fault of a pass that raises or gives gradients other than ``whole``;
    None if it gives the same."""
    try:
        found = run()
    except Exception as error:
        lack = lack_in(error)
        if lack is not None:
            return Fault(LACKED, f"{what} asks for more: {lack}")
        return Fault(kind, f"{what} raises {words_of(error)}")
    return None if _all_same(whole, found) else Fault(kind, f"{what} {says}")


def _all_same(a: Arrays, b: Arrays) -> bool:
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
