"""Mutants of elementwise rows, in programs whose gradients are then verified.

Invariant: the fault stands in the row's nodes while the gradient is computed and while
it is verified, as it would if the table had it; the verification is the very function
that the checking process runs on a job of ``gradcli grad``.

    trial_of(mutant).verdict                        # "refuted"
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np

from gradcli.check.process.job import CERTIFIED, PROVED, REFUTED, UNKNOWN, Job
from gradcli.engine import NUMPY, Tensor
from gradcli.lang.run import evaluate
from gradcli.ops import FUNCTIONS, OPS, Op
from tests.laws.draw import Spot, draw, generator
from tests.laws.mutant_trial import (
    CONVENTION,
    FAILED,
    FORMULA_DIGITS,
    excuse,
    refutation,
    rows_below,
)
from tests.laws.mutants import Mutant, all_mutants, planted

from .jobs import checked, job

DEEP_INSIDE = {
    "rrelu_with_noise.default": "rrelu(x0, 0.0)",
    "mul.Scalar": "cross_entropy(x0, [1, 0, 2], label_smoothing=0.5)",
    "div.Scalar": "cross_entropy(x0, x0)",
}
"""Programs for rows that other functions record deep inside. (`ndtr` records a product
with a number, too, but twice in a row, so that two wrong signs make a right one.)"""

ONLY_AT_KINKS = "it differs only at kinks, where there is no derivative to check with"
NOT_A_NUMBER = "its gradient is nan, which the check leaves unknown"
TOO_SMALL = "it differs by less than rounding may"
NO_GRADIENT = "its pass fails, or it is the same function, in every program"


@dataclass(frozen=True, slots=True)
class Program:
    """A program in the language that records a row at a case's point."""

    text: str
    values: dict[str, Any]
    weights: Any

    def job(self) -> Job:
        """What the engine says of its gradient, to be verified."""
        return job(self.text, self.values, cotangent=self.weights)


@dataclass(frozen=True, slots=True)
class Trial:
    """What verification said of a mutant's gradient; ``excuse``: why not `refuted`."""

    mutant: Mutant
    program: Program | None
    verdict: str | None
    excuse: str | None = None

    @property
    def explained(self) -> bool:
        return self.verdict == REFUTED or self.excuse is not None


def in_programs() -> list[Mutant]:
    """The mutants that a reverse pass through an elementwise row goes through."""
    return [m for m in all_mutants() if OPS[m.row].elementwise and m.in_reverse]


def trial_of(mutant: Mutant) -> Trial:
    """Verify the mutant's gradient, in the smallest program first; a mutant that is not
    refuted there has as many chances as there are programs."""
    found = None
    for program in programs(mutant.row):
        right = program.job()
        with planted(mutant):
            try:
                wrong = program.job()
            except Exception:
                # No gradient is shown, so there is none to verify.
                continue
            if not differ(right, wrong):
                continue
            verdict = checked(wrong).verdict
        if verdict == REFUTED:
            return Trial(mutant, program, verdict)
        found = Trial(mutant, program, verdict, gap(mutant, verdict, right, wrong))
    return found or Trial(mutant, None, None, sameness(mutant))


def differ(right: Job, wrong: Job) -> bool:
    """Whether two gradients are different numbers."""
    pairs = zip(right.inputs, wrong.inputs, strict=True)
    return any(a.claim != b.claim for a, b in pairs)


def are_near(right: Job, wrong: Job) -> bool:
    """Whether two gradients are one number, up to what another formula loses."""
    pairs = zip(right.inputs, wrong.inputs, strict=True)
    claims = [(a.claim, b.claim) for a, b in pairs]
    return all(
        a is not None
        and b is not None
        and np.allclose(a.values(), b.values(), rtol=FORMULA_DIGITS, atol=0)
        for a, b in claims
    )


def gap(mutant: Mutant, verdict: str, right: Job, wrong: Job) -> str | None:
    """Why a gradient that is not the row's own is not refuted."""
    if verdict == UNKNOWN and has_nan(wrong) and not has_nan(right):
        return NOT_A_NUMBER
    if verdict in (CERTIFIED, PROVED) and (
        refutation(mutant) == "digits" or are_near(right, wrong)
    ):
        return TOO_SMALL
    return None


def has_nan(job: Job) -> bool:
    claims = [i.claim.values() for i in job.inputs if i.claim is not None]
    return any(number != number for claim in claims for number in claim)


def sameness(mutant: Mutant) -> str | None:
    """Why the gradient is the row's own in every program in which there is one."""
    law = refutation(mutant)
    if law is None:
        return excuse(mutant)
    return {CONVENTION: ONLY_AT_KINKS, FAILED: NO_GRADIENT}.get(law)


# From a row and a case to a program.


@cache
def programs(row: str) -> tuple[Program, ...]:
    """A program per case that a program can have, the smallest first."""
    op = OPS[row]
    found = [p for n in range(len(op.cases)) if (p := program_of(op, n)) is not None]
    return tuple(sorted(found, key=lambda p: sum(map(np.size, p.values.values()))))


def program_of(op: Op, number: int) -> Program | None:
    spot = draw(op, number)
    values = {f"x{i}": spot.arrays[i] for i in spot.free}
    for text in spellings(op, spot) if values else ():
        shape = shape_if_recorded(op, text, values)
        if shape is not None:
            drawn = generator(op.name, number, "weights").uniform(0.5, 1.5, shape)
            return Program(text, values, np.round(drawn, 1))
    return None


def shape_if_recorded(op: Op, text: str, values: dict[str, Any]) -> Any:
    """The output's shape, if the program runs and records the row; else None."""
    try:
        y = evaluate(text, {n: Tensor(v, NUMPY, True) for n, v in values.items()})[0]
    except Exception:
        return None
    recorded = isinstance(y, Tensor) and op.name in rows_below(y)
    return y.shape if recorded else None


def spellings(op: Op, spot: Spot) -> Iterator[str]:
    """Calls that may record the row: of its own function with the arguments in every
    order, then of any other."""
    if op.name in DEEP_INSIDE:
        yield DEEP_INSIDE[op.name]
    names = [f"x{i}" if i in spot.free else literal(a)
             for i, a in enumerate(spot.arrays)]  # fmt: skip
    flat = [names[0], *(f"{name}.flatten()" for name in names[1:])]
    params = {k: literal(v) for k, v in spot.case.params.items()}
    keywords = [f"{k}={v}" for k, v in params.items()]
    for inputs in (names, flat):
        for order in permutations(inputs):
            yield f"{op.base}({', '.join([*order, *keywords])})"
        for order in permutations([*inputs, *params.values()]):
            yield f"{op.base}({', '.join(order)})"
    for other in FUNCTIONS:
        yield f"{other}({', '.join(names)})"


def literal(value: Any) -> str:
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)
