"""Which outputs lie in the memory of which inputs, for every function and case.

for trial in trials():
    sharers(trial.run(inputs), inputs, memory)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcli.ops import Op

from .recorded import ENTRIES, Trial

LAYOUTS = ("C", "F")
"""The orders of the inputs' entries in memory; a result may depend on them."""

Sharers = list[tuple[int, int]]
"""The number of an output and that of an input whose memory it shares."""


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


def sharers(outputs: Any, inputs: list[Any], memory: Callable[[Any], Any]) -> Sharers:
    """Return which outputs lie in the memory of which inputs.

    Args:
        outputs: what a row or a function gave.
        inputs: what it was given.
        memory: returns what names the memory of a tensor; None for what has none.
    """
    parts = outputs if isinstance(outputs, tuple | list) else (outputs,)
    names = [memory(x) for x in inputs]
    return [
        (nr, i)
        for nr, here in enumerate(map(memory, parts))
        for i, name in enumerate(names)
        if here is not None and name == here
    ]
