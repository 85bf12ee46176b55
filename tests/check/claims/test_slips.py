"""A diagnosis names the mistake, and its repair makes the claim right."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.answers import evidence
from tests.check.claims.asking import Inputs, X, mistake, ruled, task


@given(st.sampled_from([-3, -0.5, 0.25, 2, 3, 7]), st.sampled_from(["x", "w"]))
@settings(max_examples=12)
def test_a_constant_factor_is_found_whatever_it_is(factor: float, by: str) -> None:
    gradient = {"x": "w * cos(w*x)", "w": "x * cos(w*x)"}[by]
    inputs: Inputs = {"x": (), "w": ()}
    found = mistake("sin(w*x)", inputs, f"d/d{by} = {1 / factor!r} * ({gradient})")
    assert found is not None
    assert found.cause in ("factor", "sign")
    right = f"d/d{by} = {factor!r} * {1 / factor!r} * ({gradient})"
    assert ruled("sin(w*x)", inputs, right, prove=False).verdict == "agrees"


def test_a_claim_without_a_simple_mistake_gets_no_diagnosis() -> None:
    assert mistake("x**3 + sin(x)", X, "d/dx = exp(x) - tanh(x)") is None


def test_a_step_with_several_results_is_no_value_on_the_way() -> None:
    assert mistake("linalg.eigvalsh(A)[0] * 1", {"A": (3, 3)}, "d/dA = A") is None


@pytest.mark.parametrize("function", ["derivative", "claimed_numbers"])
def test_a_mistake_of_gradcli_itself_is_not_taken_for_a_value_that_is_missing(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> None:
        raise AttributeError("a slip")

    monkeypatch.setattr(evidence, function, broken)
    with pytest.raises(AttributeError, match="a slip"):
        mistake("x**2", X, "d/dx = x")


def test_a_mistake_of_gradcli_itself_does_not_pass_for_a_repair_without_a_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = task("x**2", X, "d/dx = x")
    (claim,) = asked.claims
    samples = evidence.gather(asked, claim, 1, inf)
    found = evidence.Evidence(asked, claim, samples, inf)
    assert found.claimed("tahn(x)", samples[0]) is None

    def broken(*args: object) -> None:
        raise AttributeError("a slip")

    monkeypatch.setattr(evidence, "claimed_numbers", broken)
    with pytest.raises(AttributeError, match="a slip"):
        found.claimed("x", samples[0])
