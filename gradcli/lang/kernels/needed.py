"""The steps of a recording that its results need, each once.

Invariant: what is left out changes no bit of a result: steps that nobody reads, steps
that repeat one on the same values, and products of what was computed with an exact 1
(a NaN that signals would be quiet after them; what is computed is no such NaN).

    steps, (y, dx) = needed(recording, [y, dx])
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from gradcli.lang.kernels.traced import (
    Operand,
    Recording,
    Step,
    Traced,
    Uniform,
    Value,
    constant,
)


def needed(
    recording: Recording, wanted: Sequence[Traced | Operand]
) -> tuple[dict[int, Step], list[Operand]]:
    """The steps by the numbers of their values, in order, and what was wanted: a value,
    or the constant that it is.

    Args:
        recording: what was done.
        wanted: traced arrays, or constants.
    """
    same: dict[Value, Operand] = {}
    seen: dict[Hashable, Value] = {}
    kept: dict[int, Step] = {}
    for nr, step in enumerate(recording.steps, recording.inputs):
        operands = tuple([same.get(o, o) if isinstance(o, Value) else o
                          for o in step.operands])  # fmt: skip
        here, step = Value(nr), step._replace(operands=operands)
        if step.function is constant:
            same[here] = operands[0]
            continue
        found = _unchanged(step, kept)
        if found is None:
            found = seen.setdefault(step.key(), here)
        if found == here:
            kept[nr] = step
        same[here] = found
    results = [w.value if isinstance(w, Traced) else w for w in wanted]
    results = [same.get(r, r) if isinstance(r, Value) else r for r in results]
    waiting = [r for r in results if isinstance(r, Value)]
    read: set[int] = set()
    while waiting:
        nr = waiting.pop().nr
        if nr in kept and nr not in read:
            read.add(nr)
            waiting += [o for o in kept[nr].operands if isinstance(o, Value)]
    return {nr: step for nr, step in kept.items() if nr in read}, results


def _unchanged(step: Step, kept: dict[int, Step]) -> Value | None:
    """The operand that a product with 1 gives back; None: it is no such product."""
    if step.function is not np.multiply or step.options:
        return None
    for one, other in (step.operands, step.operands[::-1]):
        number = one.number if isinstance(one, Uniform) else one
        if isinstance(number, Value) or not isinstance(other, Value) or number != 1:
            continue
        made = kept.get(other.nr)
        if made is not None and (made.dtype, made.entries) == (
            step.dtype,
            step.entries,
        ):
            return other
    return None
