"""Laws of the adjoint program over random programs, at its point and at another.

The text is made at one point. At another point of the same shapes, at which the same
conditions stand on top of it, it must give the gradients there: no number of the point
that it was made at is left in it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.formulas.programs import AdjointProgram, program
from gradcli.formulas.tree import Unwritable
from gradcli.lang.run import Run, evaluate
from gradcli.ops import OPS
from tests.grouped import by_row
from tests.random.generate import random_program

from .programs import run_of, summed_gradient, text_of, zeros_for

SEEDS = range(120)
SHARE = 4
"""One ten of so many tens of seeds is drawn in every run, the others at night."""

MOST_ALONE = 40
"""Of these programs so many at most may hold at their own point alone."""


CHANGING = range(60)

MOST_REFUSED = 8
"""So many of these programs at most may change what they cannot be written with."""

NAMES = ["x", "w", "A", "t1", "x_grad", "e", "I", "lambda_", "θ", "np", "out", "F"]
"""Names that a text may have use for itself."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A program, and two points of the same shapes."""

    source: str
    here: dict[str, Any]
    there: dict[str, Any]


UNWRITTEN = {entry.base for entry in OPS.values() if entry.ours} | {"li", "airy_ai"}
"""Functions that PyTorch does not have, or whose derivatives it does not have."""


def drawn(seed: int, in_place: bool = False) -> Drawn:
    """The program of a number: a number of its inputs."""
    programs = (
        random_program(
            number,
            wild=False,
            dtype="float64",
            scalar=True,
            in_place=in_place,
            names=Random(number).sample(NAMES, len(NAMES)),
            # PyTorch has nine digits of the trigamma function.
            has=lambda name, method: (
                not method and "gamma" not in name and name not in UNWRITTEN
            ),
        )
        for number in count(seed, 1000)
    )
    program = next(program for program in programs if program.inputs)
    numbers = np.random.default_rng(seed)
    here = {name: np.array(value, float) for name, value in program.inputs.items()}
    # One factor for each input: a symmetric matrix has to stay one.
    there = {name: v * numbers.uniform(0.95, 1.05) for name, v in here.items()}
    # Each input counts, also where all that was made of it is held back.
    terms = [program.text, *(f"{name}.sum()" for name in here)]
    return Drawn(" + ".join(terms), here, there)


def lists(point: dict[str, Any]) -> dict[str, Any]:
    return {name: array.tolist() for name, array in point.items()}


def conditions(made: AdjointProgram) -> list[str]:
    return [line for line in made.lines if line.startswith("# where")]


def differs(found: Any, true: Any, tolerance: float = 1e-11) -> bool:
    """Whether arrays differ by more than rounding of their largest entry."""
    found, true = np.asarray(found), np.asarray(true)
    finite = np.abs(true[np.isfinite(true)])
    bound = tolerance * max(1.0, finite.max(initial=0.0))
    bounds = {"rtol": tolerance, "atol": bound, "equal_nan": True}
    return found.shape != true.shape or not np.allclose(found, true, **bounds)


class Made:
    """A drawn program's texts at a point, and the points at which they hold."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.run = run_of(drawn.source, lists(drawn.here))
        self.program = program(self.run)
        self.points = [drawn.here]
        other = program(run_of(drawn.source, lists(drawn.there)))
        if conditions(other) == conditions(self.program):
            self.points.append(drawn.there)
        # What is no number has no derivative to agree on.
        self.points = [
            p for p in self.points if is_known(run_of(drawn.source, lists(p)))
        ]

    def runs(self) -> list[tuple[dict[str, Any], Run]]:
        return [(p, run_of(self.drawn.source, lists(p))) for p in self.points]


def is_known(run: Run) -> bool:
    """Whether a program's value is a number in every entry."""
    return bool(np.isfinite(run.output.raw).all())


@cache
def made(seed: int) -> Made:
    with np.errstate(all="ignore"):
        return Made(drawn(seed))


def ten(seed: str) -> str:
    """The ten of seeds that one belongs to."""
    return f"{seed[:-1] or '0'}x"


@pytest.mark.nightly
def test_most_programs_hold_at_both_points() -> None:
    assert sum(len(made(seed).points) < 2 for seed in SEEDS) <= MOST_ALONE


@by_row("seed", SEEDS, str, ten, share=SHARE)
def test_program_gives_the_gradients(seed: int) -> None:
    gives_the_gradients(made(seed))


def gives_the_gradients(made: Made) -> None:
    for point, run in made.runs():
        first = summed_gradient(run)
        for name, own in made.program.gradients.items():
            given = {n: Tensor(np.array(a), NUMPY) for n, a in point.items()}
            found, _, _ = evaluate(made.program.text, given, of=own)
            assert not differs(found.raw, first[name]), made.program.text


@by_row("seed", SEEDS, str, ten, share=SHARE)
def test_gradient_of_the_program_is_the_second_derivative(seed: int) -> None:
    text, own_names = made(seed).program.text, made(seed).program.gradients
    for point, run in made(seed).runs():
        leaves = [given.tensor for given in run.inputs]
        gradients = grad([run.output], leaves, create_graph=True)
        for given, g in zip(run.inputs, gradients, strict=True):
            own = own_names[given.name]
            named = {n: Tensor(np.array(a), NUMPY, True) for n, a in point.items()}
            found, _, _ = evaluate(text, named, of=own)
            again = pulled_ones(found, [named[each.name] for each in run.inputs])
            for ours, true in zip(again, pulled_ones(g, leaves), strict=True):
                assert not differs(ours, true, 1e-8), text


def pulled_ones(y: Tensor | None, inputs: list[Tensor]) -> list[Any]:
    """The gradient of an array's sum."""
    if y is None or y.edge is None:
        return [np.zeros(x.shape) for x in inputs]
    found = grad([y], inputs, [Tensor(np.ones(y.shape), y.xp)], retain_graph=True)
    return [zeros_for(g, x) for g, x in zip(found, inputs, strict=True)]


@by_row("seed", SEEDS, str, ten, share=SHARE)
def test_function_on_numpy_gives_the_value_and_the_gradients(seed: int) -> None:
    gives_value_and_gradients(made(seed), "numpy", np.array)


@pytest.mark.peers
@by_row("seed", SEEDS, str, ten, share=SHARE)
def test_function_on_torch_gives_the_value_and_the_gradients(
    seed: int, torch: Any
) -> None:
    gives_value_and_gradients(made(seed), "torch", torch.tensor)


def gives_value_and_gradients(made: Made, library: str, array: Any) -> None:
    code = text_of(made.run, library)
    scope: dict[str, Any] = {}
    exec(code, scope)
    for point, run in made.runs():
        given = [array(point[each.name]) for each in run.inputs]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            # Means and variances of too few entries are NaN, and are said to be.
            warnings.simplefilter("ignore")
            value, gradients = scope["gradient"](*given)
        assert not differs(value, run.output.raw), code
        for g, true in zip(gradients, summed_gradient(run).values(), strict=True):
            assert not differs(g, true), code


@cache
def changing(seed: int) -> Made | None:
    """The program of a number that changes values; None where it is not written."""
    try:
        with np.errstate(all="ignore"):
            return Made(drawn(seed, in_place=True))
    except Unwritable:
        return None


@pytest.mark.nightly
def test_most_programs_that_change_values_are_written() -> None:
    assert sum(changing(seed) is None for seed in CHANGING) <= MOST_REFUSED


@by_row("seed", CHANGING, str, ten, share=SHARE)
def test_program_that_changes_values_gives_the_gradients(seed: int) -> None:
    made = changing(seed)
    if made is not None:
        gives_the_gradients(made)
