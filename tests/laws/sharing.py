"""How outputs lie in memory, and in that of which inputs, for every function and case.

for trial in trials():
    answer(trial.run(inputs), inputs, memory)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcli.ops import Op

from .recorded import ENTRIES, Trial, told_apart

LAYOUTS = ("C", "F")
"""The orders of the inputs' entries in memory; a result may depend on them."""

Answer = list[tuple[int, int, list[int], int]]
"""Per output: its number, that of each input whose memory it shares, the output's
strides and the place of its first entry, both in entries; once with the number -1 and
the place 0 where it shares none and has more than one entry."""

OWN_MEMORY = -1


def laid_out(trial: Trial) -> list[Any]:
    """Return a trial's arrays in its layout, and what else its case gives."""
    return [
        np.array(a, order=trial.how) if hasattr(a, "dtype") else a
        for a in trial.arrays()
    ]


def trials() -> Iterator[Trial]:
    """Yield every case of every row and of every function, in every layout that
    differs."""
    for name, entry in ENTRIES.items():
        if isinstance(entry, Op) and entry.query:
            continue
        for number, case in enumerate(entry.cases):
            wide = any(_is_matrix(value) for value in case.inputs)
            for layout in LAYOUTS if wide else LAYOUTS[:1]:
                yield Trial(name, number, layout)


def _is_matrix(value: Any) -> bool:
    return isinstance(value, tuple) and sum(n != 1 for n in value) > 1


def answer(outputs: Any, inputs: list[Any], memory: Callable[[Any], Any]) -> Answer:
    """Return who shares with whom, and in what order the entries lie.

    Args:
        outputs: what a row or a function gave.
        inputs: what it was given.
        memory: returns what names the memory of a tensor; None for what has none.
    """
    parts = outputs if isinstance(outputs, tuple | list) else (outputs,)
    held = [memory(x) for x in inputs]
    found: Answer = []
    for nr, part in enumerate(parts):
        here = memory(part)
        if here is None:
            continue
        lenders = [i for i, mine in enumerate(held) if mine == here]
        if lenders:
            place = part.storage_offset()
            found += [(nr, i, steps(part), place) for i in lenders]
        elif steps(part):
            found.append((nr, OWN_MEMORY, steps(part), 0))
    return found


def steps(x: Any) -> list[int]:
    """Return the strides of the dimensions of more than one entry: the others mean
    nothing."""
    return [s for n, s in zip(x.shape, x.stride(), strict=True) if n > 1]


def recorded(trial: Trial) -> Answer | None:
    """Return who shares with whom in PyTorch; None if it has no such function, or
    refuses, or for what is written by a change in place, which it hands to nobody."""
    import torch

    from .in_torch import applied, argument

    entry = trial.entry
    written = isinstance(entry, Op) and entry.owns and entry.base.endswith("_")
    if told_apart(trial, {}) or written:
        return None

    def memory(x: Any) -> int | None:
        held = isinstance(x, torch.Tensor) and x.numel() > 0
        return x.untyped_storage().data_ptr() if held else None

    inputs = [argument(x) for x in laid_out(trial)]
    try:
        return answer(applied(entry, inputs, trial.params), inputs, memory)
    except RuntimeError:
        return None
