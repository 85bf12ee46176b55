"""Difference quotients in float64, for gradients that balls cannot verify.

Invariant: agreement within a tolerance is all that is shown, and only where quotients
of two steps agree with each other. Only the backward of a custom function, all of whose
forward counts, is refuted: elsewhere a number that leaves the tensors is a constant to
the graph, but not to differences.

    held_by_differences(checked, proofs)    # unknown ones, as far as this can tell
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ..autograd.numeric import SCALES, by_scales, kinks_among
from ..engine.tensor import Tensor
from ..verify.process.budget import Budget, OutOfTime
from ..verify.process.job import REFUTED, SAMPLED, UNKNOWN
from .function_call import Arrays, Call, Run
from .function_proof import DIFFERENCES, Counterexample, InputProof
from .trials import entry_of

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


def held_by_differences(
    call: Call, proofs: Sequence[InputProof], seed: int, seconds: float
) -> list[InputProof]:
    """Return the proofs, with those that are unknown replaced by comparisons with
    difference quotients where these decide more.

    Args:
        call: the function and its inputs, in float64.
        seed: the seed by which entries are drawn.
        seconds: the time that all comparisons may take.
    """
    found = list(proofs)
    try:
        with Budget(seconds).slice(seconds), np.errstate(all="ignore"):
            quotients = _Quotients(call, seed)
            for k, proof in enumerate(proofs):
                held = quotients.held(k, proof) if proof.verdict == UNKNOWN else proof
                # Balls may meet a kink in a comparison alone, as in a loop's condition.
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

    def __init__(self, call: Call, seed: int) -> None:
        self.call, self.seed = call, seed
        self.run = Run(call)
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
            run = Run(self.call, {**self.call.leaves(), name: moved}, self.run.picked)
            return self._joined(run.values())

        step = STEP * max(1.0, abs(float(x.raw.reshape(-1)[place])))
        found = by_scales(at, self._joined(self.values), x, place, step)
        return [per_scale[0] for per_scale in found]

    def held(self, nr: int, proof: InputProof) -> InputProof:
        """Return the proof by comparison of one input's gradient."""
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

        def said(
            verdict: str, text: str, wrong: Counterexample | None = None
        ) -> InputProof:
            return replace(
                proof, verdict=verdict, note=f"{text}; {proof.note}",
                counterexample=wrong, witness=DIFFERENCES,
            )  # fmt: skip

        allowed = lambda steepest: TOLERANCE * size + 0 * steepest
        for by_scale in by_place:
            for kink in kinks_among([[each] for each in by_scale], allowed):
                return said(UNKNOWN, str(kink))
        # If nothing moves at all, all quotients are 0, and so is the noise.
        moves = size + np.abs(wide).max(initial=0.0)
        if moves and not (spread <= TOLERANCE * size).all():
            worst = float(np.nan_to_num(spread / size, nan=np.inf).max())
            return said(
                UNKNOWN, f"difference quotients with {steps} in float64 are "
                f"{worst if size else 0.0:.2g} from each other",
            )  # fmt: skip
        worst = float((gap / size).max()) if size else 0.0
        if worst <= TOLERANCE:
            return said(
                SAMPLED, f"agrees to {worst:.2g} with difference quotients in float64, "
                f"with {steps}, tolerance {TOLERANCE:g}",
            )  # fmt: skip
        row, column = (int(i) for i in np.unravel_index(gap.argmax(), gap.shape))
        given, true = float(own[row, column]), float(near[row, column])
        if self.call.custom is None or not (
            gap[row, column] > CLEARLY * size
            and gap[row, column] > FAR * spread[row, column]
        ):
            return said(
                UNKNOWN, f"backward gives {given:.9g} where difference quotients in "
                f"float64 with {steps} give {true:.9g}",
            )  # fmt: skip
        shape = tuple(slot.given.shape)
        entry = tuple(int(i) for i in np.unravel_index(int(places[column]), shape))
        shapes = [v.shape for v in self.values]
        alone = self.weights is None
        output = entry_of(row, self.run.picked, shapes) if alone else None
        return said(
            REFUTED, "no error bounds", Counterexample(output, entry, given, true)
        )
