"""A program and its reverse pass, recorded on a few entries.

Invariant: it is recorded twice, on other entries and another count of them; a recording
counts only if both are the same, so that nothing in it depends on either.

    recorded(program, [x, y], x.shape).rounds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gradcli.engine.raw import Raw, RawDtype
from gradcli.lang.kernels.plan import Plan, plan
from gradcli.lang.kernels.traced import Operand, Recording, Traced, constant_key

SAMPLE_ENTRIES = (61, 67)
"""Of the two recordings: first and last ones."""


class Results(NamedTuple):
    """What a program gives on traced arrays.

    arrays   of which each entry is asked for, and the types that they are wanted in
    numbers  traced numbers, or constants
    """

    arrays: list[tuple[Traced, RawDtype]]
    numbers: list[Traced | Operand]


Program = Callable[[Recording, list[Traced]], Results]
"""Runs on traced arrays."""


def recorded(
    program: Program, arrays: Sequence[Raw], shape: tuple[int, ...] | None
) -> Plan | None:
    """What is to be done to tiles of arrays; None where that depends on their entries.

    Args:
        program: what is run.
        arrays: what it is run on, each of one dimension, of more entries than a sample.
        shape: that the program sees; None: it may be any, and nothing depends on it.
    """
    few, more = SAMPLE_ENTRIES
    first = _recording(program, shape, [a[:few] for a in arrays])
    if first is None:
        return None
    second = _recording(program, shape, [a[-more:] for a in arrays])
    if second is None or _told(*first) != _told(*second):
        return None
    recording, results = first
    return plan(recording, results.arrays, results.numbers)


def _recording(
    program: Program, shape: tuple[int, ...] | None, samples: list[Raw]
) -> tuple[Recording, Results] | None:
    recording = Recording(samples[0].shape if shape is None else shape)
    given = [recording.input(sample) for sample in samples]
    try:
        with np.errstate(all="ignore"):
            results = program(recording, given)
    except Exception:
        # Whatever it is, it is met again, and told, where the program runs on arrays.
        return None
    return None if recording.refused else (recording, results)


def _told(recording: Recording, results: Results) -> tuple[object, ...]:
    """What two recordings agree in that are the same."""
    steps = [step.key() for step in recording.steps]
    asked = [(array.value, dtype) for array, dtype in results.arrays]
    numbers = [
        number.value if isinstance(number, Traced) else constant_key(number)
        for number in results.numbers
    ]
    return recording.inputs, steps, asked, numbers
