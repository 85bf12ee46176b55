"""One run of a large program on a tape, and the references that are read off it.

Invariant: the references rest on the tape and SymPy's derivative of each scalar
function; the engine's own pass only tells what rounding does to its rules.

    point = run_on_tape(job, evaluate)
    point.mark({"x": [0, 7]})
    References(job, point, [1.0], None).of("x", 7)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..engine import NUMPY, Tensor, grad
from ..numbers.precision import EXACT
from ..numbers.tape import Tape, slopes
from ..numbers.taped import TapeNamespace
from .point import Evaluate
from .process.job import Input, Job
from .rounding import Reference, Rules, amplified, lost, ruled, settle


@dataclass(frozen=True, slots=True)
class Taped:
    """A run of the program on a tape.

    outputs  the terms of the output's entries
    inputs   by name, the tensor and its terms; those asked for
    size     of the tape, before any reverse pass
    """

    tape: Tape
    output: Tensor
    outputs: Any
    inputs: dict[str, tuple[Tensor, Any]]
    size: int
    ties: tuple[tuple[Any, Any], ...]
    kinks: dict[int, str]

    def mark(self, places: Mapping[str, Any]) -> None:
        """Make these entries of the inputs the ones to be differentiated by."""
        marked = [terms[places[name]] for name, (_, terms) in self.inputs.items()]
        self.tape.mark(np.concatenate(marked), self.size)


def run_on_tape(job: Job, evaluate: Evaluate, lean: int = 0) -> Taped:
    """Run the program; ``lean`` decides ties, as on a `Tape`.

    Raises:
        ValueError: the output has another shape than the job's.
    """
    tape = Tape(lean, job.dtype)
    namespace = TapeNamespace(tape)
    tensors = {i.name: _tensor(i, namespace) for i in job.inputs}
    namespace.watching = True
    try:
        output = evaluate(dict(tensors))
    finally:
        namespace.watching = False
    places = namespace.elements(output.raw)
    if places.shape != job.output.shape:
        raise ValueError(
            f"run by the checker the program gives shape {places.shape}, run by the "
            f"engine {job.output.shape}"
        )
    inputs = {
        i.name: (tensors[i.name], tensors[i.name].raw.data.reshape(-1))
        for i in job.inputs
        if i.claim is not None
    }
    return Taped(tape, output, places.reshape(-1), inputs, tape.size,
                 tuple(tape.ties), dict(tape.kinks))  # fmt: skip


def _tensor(given: Input, namespace: TapeNamespace) -> Tensor:
    values = np.array(given.value.values())
    if given.whole:
        whole = values.astype(np.int64).reshape(given.value.shape)
        return Tensor(whole, NUMPY)
    asked = given.claim is not None
    return Tensor(namespace.symbols(values, given.value.shape, asked), namespace, asked)


class References:
    """The derivative of one contraction of the output in every marked entry."""

    def __init__(
        self, job: Job, point: Taped, cotangent: list[float],
        engine: dict[str, Any] | None,
    ) -> None:  # fmt: skip
        self.point = point
        self.engine = engine
        self.cotangent = cotangent
        self.dtype = job.dtype
        self._found: dict[Any, dict[int, Any]] = {}

    def of(self, name: str, place: int) -> Reference:
        tape = self.point.tape
        serial = int(self.point.inputs[name][1][place])
        value = self._in(EXACT, serial)
        moved = [self._in(context, serial) for context in tape.shaken]
        if self.engine is None:
            close = self._in(tape.near, serial)
        else:
            theirs = int(self.engine[name][place])
            close = tape.value_in(tape.near, theirs)
        scale = amplified(value, moved, self.dtype)
        found = [Reference(value, scale, lost(close, value))]
        settle(found, lambda context: [self._in(context, serial)])
        if self.engine is None:
            return found[0]
        again = partial(tape.value_in, root=theirs)
        rules = Rules(tape.value(theirs), again, close, tape.moved(theirs))
        return ruled(found[0], rules, self.dtype)

    def _in(self, context: Any, serial: int) -> Any:
        """An entry's derivative in a precision; all are computed at once."""
        if context not in self._found:
            tape, outputs = self.point.tape, self.point.outputs
            self._found[context] = slopes(tape, outputs, self.cotangent, context)
        return self._found[context].get(serial, context.zero)


def value_of(tape: Tape, serial: int, dtype: str) -> Reference:
    """A reference for a term's own value."""
    value = tape.value(serial)
    scale = amplified(value, tape.moved(serial), dtype)
    natural = lost(tape.value_in(tape.near, serial), value)
    found = [Reference(value, scale, natural)]
    settle(found, lambda context: [tape.value_in(context, serial)])
    return found[0]


def engine_row(point: Taped, cotangent: list[float]) -> dict[str, Any] | None:
    """The engine's own reverse pass on the tape; None where it does not run there."""
    if point.output.edge is None:
        return None
    namespace: Any = point.output.xp
    try:
        g = namespace.array(np.array(cotangent).reshape(point.output.shape))
        tensors = [tensor for tensor, _ in point.inputs.values()]
        found = grad([point.output], tensors, [Tensor(g, namespace)], True)
        zeros = [namespace.zeros_like(t.raw) for t in tensors]
        parts = [z if f is None else f.raw for f, z in zip(found, zeros, strict=True)]
        rows = [namespace.elements(p).reshape(-1) for p in parts]
        return dict(zip(point.inputs, rows, strict=True))
    except Exception:
        return None
