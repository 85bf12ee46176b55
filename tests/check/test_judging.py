"""A verdict on a claim says what was shown, and rests on more than the engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.lang.errors import ProgramError
from gradcli.ops import OPS
from gradcli.symbolic.claims import judge
from gradcli.symbolic.claims_points import SIMPLE
from gradcli.symbolic.claims_task import ClaimsTask, Given, Judgement, Ruling
from gradcli.symbolic.claims_text import Claim, read_claim
from gradcli.views.diagnosis import Diagnosis, diagnose

Inputs = dict[str, tuple[int, ...]]
X: Inputs = {"x": ()}


def task(program: str, inputs: Inputs, *claims: str, **more: Any) -> ClaimsTask:
    return ClaimsTask(
        program,
        tuple(Given(name, shape) for name, shape in inputs.items()),
        tuple(read_claim(claim) for claim in claims),
        **{"seconds": 20.0, **more},
    )


def ruled(program: str, inputs: Inputs, claim: str, **more: Any) -> Ruling:
    return judge(task(program, inputs, claim, **more)).rulings[0]


def slip(program: str, inputs: Inputs, claim: str) -> Diagnosis | None:
    asked = task(program, inputs, claim)
    return diagnose(asked, asked.claims[0], 10.0)


LEFT = {
    "d/dx = 1": (None, ("x",)),
    "dL/dx=1": ("L", ("x",)),
    " ∂L / ∂x = 1": ("L", ("x",)),
    "d2L/dx dy = 1": ("L", ("x", "y")),
    "d2/dx2 = 1": (None, ("x", "x")),
    "d²L/dx² = 1": ("L", ("x", "x")),
    "d^2/dx^2 = 1": (None, ("x", "x")),
    "dd/da = 1": ("d", ("a",)),
    "dy/dx2 = 1": ("y", ("x2",)),
}


@pytest.mark.parametrize("text", LEFT)
def test_left_hand_sides_are_read_as_mathematicians_write_them(text: str) -> None:
    claim = read_claim(text)
    assert (claim.output, claim.by) == LEFT[text]
    assert claim.expression is not None
    assert text[claim.offset :] == claim.expression


@pytest.mark.parametrize("text", ["2*x", "x = 2", "d/dx =", "dx/y = 1", "", "d2/dx=1"])
def test_what_is_no_claim_is_refused_with_a_caret_and_a_way_out(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        read_claim(text)
    assert caught.value.span is not None
    assert caught.value.hint
    assert caught.value.exit_status == 2


def test_tasks_and_judgements_survive_their_journey() -> None:
    asked = task("log(x)", X, "d/dx = 1/x", "d/dx = x", "d2/dx2 = -1/x**2")
    assert ClaimsTask.from_json(asked.to_json()) == asked
    judgement = judge(asked)
    assert Judgement.from_json(judgement.to_json()) == judgement
    assert [r.verdict for r in judgement.rulings] == ["proved", "refuted", "proved"]


def test_the_truth_is_not_the_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(OPS["sin"], partials=(lambda xp, y, x: 2 * xp.cos(x),))
    monkeypatch.setitem(OPS, "sin", broken)
    assert ruled("sin(x)", X, "d/dx = cos(x)").verdict == "proved"
    assert ruled("sin(x)", X, "d/dx = 2*cos(x)").verdict == "refuted"
    assert ruled("sin(x)", X, "d2/dx2 = -sin(x)").verdict == "proved"


def test_a_proof_tells_where_it_holds() -> None:
    assert ruled("log(x)", X, "d/dx = 1/x").side_conditions == ("x > 0",)
    assert ruled("x**2", X, "d/dx = 2*x").side_conditions == ()


def test_a_claim_true_on_one_branch_alone_is_refuted_on_the_other() -> None:
    found = ruled("relu(x)", X, "d/dx = 1")
    assert found.counterexample is not None
    assert found.counterexample.inputs == (("x", (), (-1.0,)),)


def test_conditions_that_nothing_depends_on_are_not_printed() -> None:
    claim = "d/dx = softmax(x, dim=0)"
    found = ruled("logsumexp(x, dim=0)", {"x": (3,)}, claim)
    assert (found.verdict, found.side_conditions) == ("proved", ())


def test_what_is_detached_counts_as_a_constant() -> None:
    assert ruled("x * x.detach()", X, "d/dx = x").verdict == "proved"
    assert ruled("x * x.detach()", X, "d/dx = 2*x").verdict == "refuted"


def test_a_point_given_in_part_is_looked_at_first() -> None:
    given_x = Given("x", (), (0.5,))
    asked = ClaimsTask(
        "x*y", (given_x, Given("y", ())), (read_claim("d/dx = y"),),
        prove=False, points=3, seconds=20.0,
    )  # fmt: skip
    assert judge(asked).rulings[0].points == 4


def test_points_outside_the_domain_say_nothing() -> None:
    asked = ClaimsTask(
        "log(x)", (Given("x", (), (-1.0,)),), (read_claim("d/dx = 1/x"),), seconds=20.0
    )
    found = judge(asked).rulings[0]
    assert (found.verdict, found.side_conditions) == ("proved", ("x > 0",))
    assert "outside the domain" in (found.note or "")
    nowhere = ruled("sqrt(-x**2 - 1)", X, "d/dx = 1")
    assert (nowhere.verdict, nowhere.points) == ("unknown", 0)


def test_without_a_proof_the_number_of_points_is_what_was_shown() -> None:
    found = ruled("x**2", X, "d/dx = 2*x", prove=False, points=5)
    assert (found.verdict, found.points) == ("agrees", 5)


def test_a_task_beyond_its_time_ends_in_time_with_a_reason() -> None:
    asked = task(
        "y = X\nfor i in range(40): y = tanh(y @ X)\ny.sum()", {"X": (8, 8)},
        "d/dX = X", seconds=0.5,
    )  # fmt: skip
    judgement = judge(asked)
    assert judgement.seconds < 2
    assert judgement.rulings[0].verdict == "unknown"
    assert "time" in (judgement.rulings[0].note or "")


def test_indices_keep_the_values_they_were_given() -> None:
    inputs = (Given("x", (3,)), Given("i", (), (1.0,)))
    claims = (read_claim("d/dx = tensor([0, 2, 0]) * x"),)
    asked = ClaimsTask("x[i]**2", inputs, claims, seconds=20.0)
    assert judge(asked).rulings[0].verdict == "proved"


def test_two_programs_are_compared_in_value_and_gradient() -> None:
    claims = (Claim("value"), Claim("d/dx", by=("x",)))
    alike = ClaimsTask("sin(x)**2", (Given("x", ()),), claims, other="1 - cos(x)**2")
    assert [r.verdict for r in judge(alike).rulings] == ["proved", "proved"]
    cut = replace(alike, source="x*x", other="x*x.detach()")
    assert [r.verdict for r in judge(cut).rulings] == ["proved", "refuted"]


@given(st.sampled_from([-3, -0.5, 0.25, 2, 3, 7]), st.sampled_from(["x", "w"]))
@settings(max_examples=12, deadline=None)
def test_a_constant_factor_is_found_whatever_it_is(factor: float, by: str) -> None:
    gradient = {"x": "w * cos(w*x)", "w": "x * cos(w*x)"}[by]
    inputs: Inputs = {"x": (), "w": ()}
    found = slip("sin(w*x)", inputs, f"d/d{by} = {1 / factor!r} * ({gradient})")
    assert found is not None
    assert found.cause in ("factor", "sign")
    right = f"d/d{by} = {factor!r} * {1 / factor!r} * ({gradient})"
    assert ruled("sin(w*x)", inputs, right, prove=False).verdict == "agrees"


REPAIRS = {
    "multiply": ("sin(x**2)", "cos(x**2)", "(cos(x**2)) * ({})", "multiply by "),
    "add": ("x*exp(x)", "exp(x)", "(exp(x)) + ({})", "add "),
    "divide": ("x**3", "6*x**2", "(6*x**2) / ({})", "divide by "),
    "subtract": ("x**2", "2*x + 5", "(2*x + 5) - ({})", "subtract "),
}


@pytest.mark.parametrize("kind", REPAIRS)
def test_a_repair_makes_the_claim_right(kind: str) -> None:
    program, wrong, repaired, begin = REPAIRS[kind]
    found = slip(program, X, f"d/dx = {wrong}")
    assert found is not None
    assert found.repair.startswith(begin)
    right = repaired.format(found.repair.removeprefix(begin))
    assert ruled(program, X, f"d/dx = {right}").verdict == "proved"


def test_a_missing_path_is_named_by_the_variables_on_it() -> None:
    program = "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d"
    inputs: Inputs = dict.fromkeys(("w1", "a", "w2", "w3", "w4"), ())
    found = slip(program, inputs, "dL/da = -w4*w2")
    assert found is not None
    assert found.text == "the path L → d → b → a is missing"


SLIPS = {
    "a variable taken for a constant": (
        "m = x.mean(); v = ((x - m)**2).mean(); L = (g * (x - m) / sqrt(v)).sum()",
        {"x": (4,), "g": (4,)}, "dL/dx = (g - g.mean()) / sqrt(v)", "path",
        "v is taken for a constant",
    ),
    "a function passed over in the middle": (
        "h = tanh(W@x); L = ((V@h)**2).sum()",
        {"W": (3, 2), "x": (2,), "V": (2, 3)},
        "dL/dx = 2*W.t() @ (V.t() @ (V@h))", "inner", "inner derivative of tanh(W@x)",
    ),
    "only the diagonal": (
        "x.sum()**3", {"x": (3,)}, "d2/dx2 = 6*x.sum()*eye(3)", "diagonal", "off the",
    ),
    "the diagonal as a row": ("sin(x)", {"x": (3,)}, "d/dx = cos(x)", "diagonal", ""),
    "a term too many": ("x**2", X, "d/dx = 2*x + 1", "term", "1 is added"),
    "a rounded constant": ("x/3", X, "d/dx = 0.333", "rounding", "differ"),
    "upside down": ("a/b", {"a": (), "b": ()}, "d/da = b", "reciprocal", ""),
    "a sum too much": (
        "(x**2).sum()", {"x": (3,)}, "d/dx = 2*x.sum()", "sum", "the claim takes a sum",
    ),
    "one of several paths with a wrong sign": (
        "x*sin(x)", X, "d/dx = sin(x) - x*cos(x)", "sign", "sin(x) → x has the wrong",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SLIPS)
def test_a_slip_is_told_by_its_name(kind: str) -> None:
    program, inputs, claim, cause, said = SLIPS[kind]
    found = slip(program, inputs, claim)
    assert found is not None
    assert found.cause == cause
    assert said in found.text
    assert ruled(program, inputs, claim).verdict == "refuted"


def test_a_claim_without_a_simple_slip_gets_no_diagnosis() -> None:
    assert slip("x**3 + sin(x)", X, "d/dx = exp(x) - tanh(x)") is None


def test_shapes_that_cannot_be_compared_refute_and_are_shown_whole() -> None:
    found = ruled("(X @ w).sum()", {"X": (3, 2), "w": (2,)}, "d/dX = outer(w, ones(3))")
    assert found.verdict == "refuted"
    assert found.counterexample is not None
    assert found.counterexample.entry is None
    assert len(found.counterexample.claimed) == len(found.counterexample.true) == 6


def test_simple_numbers_are_exact() -> None:
    assert all(2 * n == round(2 * n) for n in SIMPLE)
