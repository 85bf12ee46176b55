"""Diagnoses of false claims: hypotheses, each tested at several points together.

Invariant: with the repair that a diagnosis proposes, the claim agrees with the
derivative at every sampled point, or differs by rounding. Hypotheses are tested in a
fixed order, simple mistakes first, and the first that fits is the diagnosis.

    diagnose(task, claim, seconds=2).repair      # "multiply by 2"
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from time import thread_time

import numpy as np

from ..lang.parser import parse
from ..lang.syntax import Call, MethodCall, walk
from ..verify.claims.text import Claim, ClaimsTask, about_a_point
from ..verify.process.budget import OutOfTime
from ..views.claims import Diagnosis
from .chain_rule import (
    inner_derivative,
    passed_over,
    stops_short,
    taken_for_constant,
    wrong_path,
)
from .claim_text import lacking_term, wrong_subterm, wrong_term
from .evidence import (
    MIN_SAMPLES,
    Evidence,
    Sample,
    Test,
    derivative,
    gather,
    given_sample,
)
from .hypotheses import (
    DIAGONALS,
    SIGN,
    UPSIDE_DOWN,
    alike,
    constant_factor,
    first_of,
    largest,
    number_text,
    simple_number,
    speaking,
    sums,
    transpositions,
)

ROUNDED = 2e-3
"""Largest relative distance that is put down to rounded constants."""

MAX_NAME_PAIRS = 20
"""Largest number of pairs of names that are tried as swapped."""

SAMPLES = 12
"""Number of samples wanted; a hypothesis must fit all of them."""


def wrong_sign(evidence: Evidence) -> Diagnosis | None:
    return SIGN.of_claim(evidence.sides)


def rounded(evidence: Evidence) -> Diagnosis | None:
    pairs = evidence.sides
    if not speaking(pairs):
        return None
    worst = max(largest(a - b) / (largest(a) or 1.0) for a, b in pairs)
    if worst > ROUNDED:
        return None
    text = f"the two differ by {worst:.1g} of their size at most"
    return Diagnosis("rounding", text, "write the constants in full")


def constant(evidence: Evidence) -> Diagnosis | None:
    c = constant_factor(evidence.sides)
    if c is None:
        return None
    mean = _mean(evidence, c)
    if mean is not None:
        return mean
    inverse = simple_number(1 / c)
    if inverse is not None and inverse.denominator == 1 and abs(inverse) > 1:
        text = f"there is a factor {inverse} too much"
        return Diagnosis("factor", text, f"divide by {inverse}")
    text = f"the factor {number_text(c)} is missing"
    return Diagnosis("factor", text, f"multiply by {number_text(c)}")


def _mean(evidence: Evidence, c: float) -> Diagnosis | None:
    """Return the diagnosis of a mean taken for a sum, or of a sum taken for a mean."""
    counts = {n for n in _counts(evidence.samples[0]) if n > 1}
    n = simple_number(1 / c)
    if n in counts and _calls(evidence.task.source, "mean"):
        text = f"the program takes a mean, the claim a sum: 1/{n} is missing"
        return Diagnosis("mean", text, f"divide by {n}")
    n = simple_number(c)
    if n in counts and _calls(evidence.text, "mean"):
        text = "the claim takes a mean, the derivative a sum"
        return Diagnosis("mean", text, f"multiply by {n}, or use sum")
    return None


def _counts(sample: Sample) -> Iterator[int]:
    """Yield the numbers of entries that a mean may have been taken over."""
    for tensor in sample.variables.values():
        yield tensor.numel()
        yield from tensor.shape


def _calls(source: str, name: str) -> bool:
    for node in walk(parse(source)):
        called = (
            node.function if isinstance(node, Call)
            else node.method if isinstance(node, MethodCall)
            else ""
        )  # fmt: skip
        if name in called:
            return True
    return False


def transposed(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of dimensions in another order, perhaps with a factor."""
    return first_of(transpositions(evidence.samples[0].true.ndim), evidence.pairs)


def shaped_otherwise(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of a diagonal, sum or mean that is taken or left out."""
    first = evidence.samples[0]
    left, taken = sums(first.claimed.shape, True), sums(first.true.shape, False)
    return first_of((*DIAGONALS, *left, *taken), evidence.pairs)


def upside_down(evidence: Evidence) -> Diagnosis | None:
    return UPSIDE_DOWN.of_claim(evidence.sides)


def swapped(evidence: Evidence) -> Diagnosis | None:
    """Return the diagnosis of another input's derivative, or of swapped names."""
    return _other_input(evidence) or _names_swapped(evidence)


def _other_input(evidence: Evidence) -> Diagnosis | None:
    claim, samples = evidence.claim, evidence.samples
    if len(claim.by) != 1:
        return None
    for name in samples[0].inputs:
        if name == claim.by[0]:
            continue
        instead = type(claim)(claim.text, claim.output, (name,), claim.expression)
        pairs = [(derivative(instead, s.target, s.inputs), s.claimed) for s in samples]
        if alike(pairs):
            text = f"this is the derivative by {name}, not by {claim.by[0]}"
            return Diagnosis("swapped", text, f"swap {claim.by[0]} and {name}")
    return None


def _names_swapped(evidence: Evidence) -> Diagnosis | None:
    said = evidence.claim.expression
    first = evidence.samples[0]
    if said is None:
        return None
    pairs = [
        (a, b)
        for a, b in combinations(first.variables, 2)
        if first.variables[a].shape == first.variables[b].shape
    ]
    for a, b in pairs[:MAX_NAME_PAIRS]:
        if evidence.is_right(said, {a: b, b: a}):
            text = f"{a} and {b} are swapped"
            return Diagnosis("swapped", text, f"write {a} for {b} and {b} for {a}")
    return None


HYPOTHESES: tuple[Test, ...] = (
    wrong_sign,
    rounded,
    constant,
    transposed,
    shaped_otherwise,
    wrong_term,
    wrong_path,
    taken_for_constant,
    inner_derivative,
    passed_over,
    stops_short,
    upside_down,
    swapped,
    wrong_subterm,
    lacking_term,
)

POINTED: tuple[Test, ...] = (wrong_sign, rounded, transposed)
"""Hypotheses that can be tested on numbers for one point alone."""


def diagnose(task: ClaimsTask, claim: Claim, seconds: float) -> Diagnosis | None:
    """Return the simplest mistake that explains a claim; None if none does.

    ``seconds`` is a limit on this thread's processor time.
    """
    until = thread_time() + seconds
    if about_a_point(task, claim):
        samples, hypotheses = given_sample(task, claim), POINTED
    else:
        samples, hypotheses = gather(task, claim, SAMPLES, until), HYPOTHESES
        if len(samples) < MIN_SAMPLES:
            return None
    evidence = Evidence(task, claim, samples, until)
    with np.errstate(all="ignore"), suppress(OutOfTime):
        for hypothesis in hypotheses if samples else ():
            evidence.check()
            found = hypothesis(evidence)
            if found is not None:
                return found
    return None
