"""Laws of random programs: drawn from the table, seeded, and never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli import compile
from gradcli.engine.errors import EngineError
from gradcli.lang.errors import ProgramError
from gradcli.ops import FUNCTIONS
from tests.random.calls import calls_of, functions, is_question
from tests.random.generate import random_program
from tests.random.ours import OURS
from tests.random.outcome import Outcome, outcome

SEEDS = range(150)
MOST_REFUSED = 25
"""Of so many programs at most so many may be refused: most are meant to run."""


def test_every_public_function_can_be_drawn() -> None:
    public = {name for name in FUNCTIONS if not name.startswith("_")}
    without = {name for name in public if not calls_of(name)}
    assert not without
    questions = {name for name in public if is_question(FUNCTIONS[name])}
    assert set(functions()) == public - questions


def test_a_number_gives_one_program() -> None:
    for seed in range(20):
        # By their text, as NaN is not equal to itself.
        assert repr(random_program(seed)) == repr(random_program(seed))


def test_a_program_that_is_not_wild_runs_and_gives_one_number() -> None:
    for seed in range(60):
        program = random_program(seed, wild=False, dtype="float64", scalar=True)
        value = OURS.run(program)[0]
        assert value.numel() == 1, program.text


def shown(seed: int) -> Outcome:
    """What the program came to; any exception but a refusal gets out."""
    return outcome(OURS, random_program(seed))


def test_a_program_runs_or_is_refused() -> None:
    outcomes = [shown(seed) for seed in SEEDS]
    refused = [o.refusal for o in outcomes if o.refusal is not None]
    assert len(refused) <= MOST_REFUSED
    assert not [r for r in refused if r is not None and "E599" in r.message]


BRANCHES = ("y = x\nwhile y.sum() < 9: y = y*y + w*w + 1\ny.sum()",
            "x.sum()*w if x[0] > 0 else (x*w).exp().sum()", "x[x > 0].sum() + w",
            "y = x*w\nif w > 0: y += x\n(y*y).sum()",
            "baddbmm(x.reshape(1, 3, 1), ones(1, 3, 2), ones(1, 2, 1)).sum()*w",
            )  # fmt: skip


def test_a_compiled_program_gives_at_each_point_what_a_fresh_one_gives() -> None:
    rng = np.random.default_rng(0)
    drawn = [random_program(seed, scalar=True, dtype="float64") for seed in range(45)]
    given = [(each.text, each.inputs) for each in drawn if each.inputs]
    given += [(text, {"x": np.ones(3), "w": 0.5}) for text in BRANCHES]
    for text, inputs in given:
        program = compile(text)
        start = {name: np.asarray(value, "float64") for name, value in inputs.items()}
        for nr in range(7):
            point = {n: x + nr % 3 * rng.normal(size=x.shape) for n, x in start.items()}
            assert_alike(answer(program, point), answer(compile(text), point), text)


def test_the_sign_of_a_zero_that_was_read_is_read_again() -> None:
    program = compile("1/x.item() + 0*x")
    found = [program.grad(x=zero).value for zero in (0.0, 0.0, 0.0, -0.0)]
    assert found == [np.inf, np.inf, np.inf, -np.inf]


def answer(program: Any, point: dict[str, Any]) -> list[Any]:
    try:
        found = program.grad(**point)
    except (ProgramError, EngineError) as error:
        return [str(error)]
    return [found.value, *found.grads.values()]


def assert_alike(ours: list[Any], fresh: list[Any], text: str) -> None:
    assert len(ours) == len(fresh), text
    for a, b in zip(ours, fresh, strict=True):
        if a is None or isinstance(a, str):
            assert a == b, text
        else:
            np.testing.assert_allclose(a, b, 1e-12, 1e-12, err_msg=text)


def test_float32_programs_stay_in_float32() -> None:
    for seed in range(60):
        found = shown_in("float32", seed)
        if found.refusal is None and found.value.dtype.kind == "f":
            assert found.dtype == "float32"
            kinds = {np.asarray(g).dtype.name for g in found.gradients if g is not None}
            assert kinds <= {"float32"}


def shown_in(dtype: str, seed: int) -> Outcome:
    return outcome(OURS, random_program(seed, dtype=dtype))


@pytest.mark.parametrize("kind", [ProgramError, EngineError])
def test_a_refusal_is_one_of_gradclis_own(kind: Any) -> None:
    assert kind in OURS.refusals
