"""Deviations from a middle: long loops are followed with few bits, and hold."""

from __future__ import annotations

from typing import Any

import pytest
from flint import arb

from gradcli.check.balls import working
from gradcli.check.graph import ACCURATE_BITS, Centred, Evaluation
from gradcli.check.terms import Terms

CONTRACTING = {
    "logistic": lambda t, y, r: t.apply(
        "mul", t.apply("mul", r, y), t.apply("sub", t.lift(1), y)
    ),
    "sine": lambda t, y, r: t.apply("sin", t.apply("mul", r, y)),
    "quotient": lambda t, y, r: t.apply("div", y, t.apply("add", y, r)),
}


def looped(name: str, times: int, r: float = 0.8, y: float = 0.4) -> Any:
    terms = Terms()
    rate, state = terms.symbol("r", r), terms.symbol("y", y)
    start = state.serial
    for _ in range(times):
        state = CONTRACTING[name](terms, state, rate)
    return terms, state.serial, (rate.serial, start)


def order(terms: Terms, output: int) -> list[int]:
    return terms.evaluation.below([output])


@pytest.mark.parametrize("name", CONTRACTING)
def test_values_and_derivatives_are_those_of_many_bits(name: str) -> None:
    terms, output, entries = looped(name, 30)
    centred = Centred(terms)
    values = centred.values([output], order(terms, output))
    evaluation = Evaluation(terms)
    many = evaluation.value(output, 2048)
    assert values is not None
    with working(2048):
        assert values[0].contains(many.mid())
        slopes = centred.cotangents(evaluation.order([output]), {output: 1 + 0 * many})
        true = evaluation.cotangents([output], [1], 2048)
        assert slopes is not None
        for entry in entries:
            assert slopes[entry].contains(true[entry].mid())


def test_a_loop_that_contracts_needs_no_more_bits() -> None:
    terms, output, entries = looped("logistic", 2_000, r=3.2)
    evaluation = terms.evaluation
    found = evaluation.gradient([output], [1.0], entries)
    assert found[0].rel_accuracy_bits() >= ACCURATE_BITS
    assert set(evaluation.known) == {128}
    (value,) = evaluation.settled([output])
    # The orbit has period 2: r*x**2 - (r + 1)*x + (r + 1)/r = 0.
    with working(128):
        r, x = arb(3.2), value
        assert abs(r * x * x - (r + 1) * x + (r + 1) / r) < 2.0**-100


def test_a_loop_that_spreads_is_left_to_more_bits() -> None:
    terms, output, _ = looped("logistic", 300, r=3.7)
    assert Centred(terms).values([output], order(terms, output)) is None
    (value,) = terms.evaluation.settled([output])
    assert value.rel_accuracy_bits() >= ACCURATE_BITS
    assert max(terms.evaluation.known) > 128
