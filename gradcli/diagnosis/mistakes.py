"""The hypotheses about a false claim, simplest first.

Invariant: each is a function of the evidence that fits all samples or says None; the
order here is the order in which they are asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from math import prod
from typing import Any

import numpy as np

from ..lang.parser import parse
from ..lang.syntax import Call, MethodCall, walk
from ..views.claims import Diagnosis
from .chain_rule import passed_over, stops_short, taken_for_constant
from .evidence import Sample, derivative
from .hypothesis import Evidence, Hypothesis
from .inner import inner_derivative
from .likeness import (
    CLOSE,
    Pair,
    all_same,
    constant_factor,
    largest,
    number_text,
    same,
    simple_number,
)
from .limits import MAX_DIMENSIONS, MAX_NAME_PAIRS
from .path_errors import wrong_path
from .repairs import wrong_subterm
from .terms import lacking_term, wrong_term

ROUNDED = 2e-3
"""Relative distance up to which a constant may have been rounded."""


def sides(evidence: Evidence) -> list[Pair]:
    """Per sample the derivative and the claim; none where their shapes do not fit."""
    pairs: list[Any] = [(sample.true, sample.aligned()) for sample in evidence.samples]
    return [] if any(claimed is None for _, claimed in pairs) else pairs


def wrong_sign(evidence: Evidence) -> Diagnosis | None:
    if not _alike([(a, -b) for a, b in sides(evidence)]):
        return None
    return Diagnosis("sign", "the sign is wrong", "multiply by -1")


def rounded(evidence: Evidence) -> Diagnosis | None:
    pairs = sides(evidence)
    if not _speaking(pairs):
        return None
    worst = max(largest(a - b) / (largest(a) or 1.0) for a, b in pairs)
    if worst > ROUNDED:
        return None
    text = f"the two differ by {worst:.1g} of their size at most"
    return Diagnosis("rounding", text, "write the constants in full")


def constant(evidence: Evidence) -> Diagnosis | None:
    c = constant_factor(sides(evidence))
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
    """A mean taken for a sum, or the other way round, if either stands anywhere."""
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
    """Numbers of entries that a mean may have been taken over."""
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
    """The dimensions in another order, perhaps with a factor as well."""
    first = evidence.samples[0]
    if first.claimed.ndim != first.true.ndim or first.true.ndim > MAX_DIMENSIONS:
        return None
    for order in list(permutations(range(first.true.ndim)))[1:]:
        pairs = [(s.true, np.transpose(s.claimed, order)) for s in evidence.samples]
        fitting = all(a.shape == b.shape for a, b in pairs)
        c = constant_factor(pairs) if fitting else None
        if c is not None:
            how = ".t()" if len(order) == 2 else f".permute{tuple(order)}"
            text = "the result is transposed"
            return _with_factor("transpose", text, f"take {how} of it", c)
    return None


def sum_left_out(evidence: Evidence) -> Diagnosis | None:
    """The claim has dimensions that the derivative adds up, or averages, over."""
    first = evidence.samples[0]
    if not 0 < first.claimed.ndim <= MAX_DIMENSIONS:
        return None
    for name, reduce in (("sum", np.sum), ("mean", np.mean)):
        for axes in _axes(first.claimed.ndim):
            pairs = [(s.true, reduce(s.claimed, axis=axes)) for s in evidence.samples]
            c = constant_factor(pairs)
            if c is None or (name == "sum" and _is_mean(first, axes, c)):
                continue
            along = _along(axes, first.claimed.ndim)
            text = f"a {name} over {along} is left out"
            repair = f"take .{name}({_arguments(axes, first.claimed.ndim)}) of it"
            return _with_factor(name, text, repair, c)
    return None


def _is_mean(sample: Sample, axes: tuple[int, ...], c: float) -> bool:
    """Whether a factor on a sum over these axes is what makes a mean of it."""
    count = prod(sample.claimed.shape[axis] for axis in axes)
    return bool(count > 1 and simple_number(1 / c) == count)


def sum_too_much(evidence: Evidence) -> Diagnosis | None:
    """The claim adds up what the derivative keeps apart."""
    first = evidence.samples[0]
    if not 0 < first.true.ndim <= MAX_DIMENSIONS or first.true.size < 2:
        return None
    for name, reduce in (("sum", np.sum), ("mean", np.mean)):
        for axes in _axes(first.true.ndim):
            pairs = [(reduce(s.true, axis=axes), s.claimed) for s in evidence.samples]
            if _alike(pairs):
                along = _along(axes, first.true.ndim)
                text = f"the claim takes a {name} over {along} of the derivative"
                return Diagnosis(name, text, f"leave the {name} out")
    return None


def diagonal(evidence: Evidence) -> Diagnosis | None:
    """One side is a matrix, the other its diagonal, as a row or between zeros."""
    samples = evidence.samples
    true, claimed = samples[0].true, samples[0].claimed
    pairs: list[Pair] = []
    if true.ndim == 2 and true.shape == claimed.shape:
        pairs = [(s.true * np.eye(*s.true.shape), s.claimed) for s in samples]
        text, repair = "the entries off the diagonal are left out", "add them"
    elif true.shape == (claimed.size,) * 2:
        pairs = [(s.true, np.diag(np.ravel(s.claimed))) for s in samples]
        text = "the derivative is a diagonal matrix, of which this is the diagonal"
        repair = "take diag(...) of it"
    elif claimed.shape == (true.size,) * 2:
        pairs = [(s.true, np.diagonal(s.claimed)) for s in samples]
        text = "the derivative is the diagonal of this matrix alone"
        repair = "take its diagonal"
    if true.size < 2 or not _alike(pairs):
        return None
    return Diagnosis("diagonal", text, repair)


def upside_down(evidence: Evidence) -> Diagnosis | None:
    pairs = sides(evidence)
    if not all(a.all() and b.all() for a, b in pairs):
        return None
    if not _alike([(a, 1 / b) for a, b in pairs]):
        return None
    return Diagnosis("reciprocal", "the result is upside down", "take 1 divided by it")


def swapped(evidence: Evidence) -> Diagnosis | None:
    """Another input's derivative, or two inputs exchanged."""
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
        if _alike(pairs):
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
        if not evidence.in_time():
            return None
        if all(_right_with(evidence, said, s, a, b) for s in evidence.samples):
            text = f"{a} and {b} are swapped"
            return Diagnosis("swapped", text, f"write {a} for {b} and {b} for {a}")
    return None


def _right_with(evidence: Evidence, said: str, sample: Sample, a: str, b: str) -> bool:
    known = sample.named
    exchanged = replace(sample, named={**known, a: known[b], b: known[a]})
    found = evidence.said(said, exchanged)
    return found is not None and same(found, sample.true)


def _speaking(pairs: Sequence[Pair]) -> bool:
    """Whether both sides are anything but zero, so that a likeness means something."""
    return any(largest(a) for a, _ in pairs) and any(largest(b) for _, b in pairs)


def _alike(pairs: Sequence[Pair]) -> bool:
    """Whether both sides are anything but zero, and the same."""
    return _speaking(pairs) and all_same(pairs)


def _axes(ndim: int) -> Iterator[tuple[int, ...]]:
    for count in range(1, ndim + 1):
        yield from combinations(range(ndim), count)


def _along(axes: tuple[int, ...], ndim: int) -> str:
    if len(axes) == ndim:
        return "all entries"
    plural = "s" if len(axes) > 1 else ""
    return f"dimension{plural} {', '.join(map(str, axes))}"


def _arguments(axes: tuple[int, ...], ndim: int) -> str:
    if len(axes) == ndim:
        return ""
    return f"dim={axes[0]}" if len(axes) == 1 else f"dim={axes}"


def _with_factor(cause: str, text: str, repair: str, c: float) -> Diagnosis:
    if abs(c - 1) <= CLOSE:
        return Diagnosis(cause, text, repair)
    also = number_text(c)
    return Diagnosis(
        cause, f"{text}, and the factor {also}", f"{repair} and multiply by {also}"
    )


HYPOTHESES: tuple[Hypothesis, ...] = (
    wrong_sign,
    rounded,
    constant,
    transposed,
    diagonal,
    sum_left_out,
    sum_too_much,
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

POINTED: tuple[Hypothesis, ...] = (wrong_sign, rounded, transposed)
"""What can be said of numbers that are claimed for one point alone."""
