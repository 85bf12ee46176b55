"""A condition number is what a relative error of an input becomes in the output."""

from __future__ import annotations

from math import exp, inf, isnan, tan

import pytest

from gradcli.answers.grad import Condition, conditions, in_words
from gradcli.answers.gradients import view_of
from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Session, prepare


def condition_of(
    source: str, *bindings: str, weights: object = None
) -> dict[str, Condition]:
    run = Session(prepare(source, read_bindings(bindings))).run()
    given = None if weights is None else Tensor(NUMPY.array(weights), NUMPY)
    found = grad([run.output], [i.tensor for i in run.inputs], [given])
    names = [i.name for i in run.inputs]
    view = view_of(run, dict(zip(names, found, strict=True)))
    return {c.name: c for c in conditions(view, weights)}  # type: ignore[arg-type]


CASES = {
    # |x f'/f| by hand
    "x**5": (2.0, 5.0),
    "exp(x)": (3.0, 3.0),
    "sin(x)": (0.3, 0.3 / tan(0.3)),
    "x - 1": (1.001, 1.001 / (1.001 - 1)),
    "7*x": (4.0, 1.0),
}


@pytest.mark.parametrize("source", CASES)
def test_it_is_the_ratio_of_small_relative_changes(source: str) -> None:
    x, _ = CASES[source]
    step = 1e-6
    values = [Session(prepare(source, read_bindings([f"x={v!r}"]))).run().output.item()
              for v in (x, x * (1 + step))]  # fmt: skip
    measured = abs((values[1] - values[0]) / values[0]) / step
    assert condition_of(source, f"x={x}")["x"].norm == pytest.approx(measured, rel=1e-4)


def test_output_that_vanishes_has_no_bound() -> None:
    assert condition_of("x - 2", "x=2")["x"].norm == inf
    assert "without bound" in in_words(inf, 1e-16)


@pytest.mark.parametrize("x", ["[1e308, 1e308]", "[inf, -inf]", "[1, inf]"])
def test_where_the_output_has_no_size_nothing_is_known(x: str) -> None:
    found = condition_of("x*1", f"x={x}", weights=[1.0, 1.0])["x"]
    assert isnan(found.norm)
    assert isnan(found.largest)
    assert "not known" in in_words(found.norm, 1e-16)


def test_vector_output_is_contracted_as_its_gradient_is() -> None:
    found = condition_of("stack([exp(x), sin(x)])", "x=0.5", weights=[2.0, 0.0])["x"]
    assert found.norm == pytest.approx(0.5 * 2 * exp(0.5) / (2 * exp(0.5)))
    other = condition_of("stack([exp(x), sin(x)])", "x=0.5", weights=[0.0, 1.0])["x"]
    assert other.norm == pytest.approx(0.5 / tan(0.5))


@pytest.mark.parametrize(
    ("number", "word"),
    [(1000.0, "amplified 1e+03 times"), (1.0, "handed on"), (0.01, "damped to 0.01")],
)
def test_words_say_what_becomes_of_an_error(number: float, word: str) -> None:
    assert in_words(number, 1e-16).startswith(word)
