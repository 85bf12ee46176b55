"""Paths as formulas give the products that the paths have in numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gradcli.answers import path_formulas
from gradcli.answers.graph_view import graph_of
from gradcli.answers.line import Layout
from gradcli.answers.paths import Paths, paths
from gradcli.answers.question import Question
from gradcli.answers.step_formulas import step_formulas
from gradcli.answers.symbol_paths import formula_listing
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import evaluate

CASES = (
    "b = w*a; c = v*a; L = b*c",
    "s = x + y; t = s*x; L = sin(t)*s",
    "u = x - y; L = u*u/y",
    "u = exp(-x); L = u/(1 + u)",
    "h = tanh(W@r); L = sum(h*h)",
    "h = W@r; k = h*h; L = sum(k)",
    "u = x*y; v = u - 2; L = v**3 - u",
    "d = r - 1; L = sum(d*d)*x",
)
VALUES = {
    "a": "2", "w": "3", "v": "0.5", "x": "0.7", "y": "1.3",
    "W": "[[1,2],[3,-1]]", "r": "[0.3,0.1]",
}  # fmt: skip


def asked(source: str) -> Question:
    words = {*re.findall(r"\w+", source)} - {*re.findall(r"(\w+) =", source)}
    names = [name for name in VALUES if name in words]
    values = tuple(read_bindings([f"{name}={VALUES[name]}" for name in names]))
    return Question(source, values)


@pytest.mark.parametrize("source", CASES)
def test_a_path_s_formula_gives_its_product(source: str) -> None:
    run, names = asked(source).run_with_names()
    known = {**run.prepared.environment, **run.variables}
    ends = {given.name: given.tensor for given in run.differentiated}
    view = graph_of(run, local_gradients=False)
    found = Paths(run.output, run.first_cotangent(None), ends, names, view, known)
    for name, end in ends.items():
        listed = found.to(name, 10).paths
        assert listed
        for path in listed:
            assert path.composed is not None
            value, _, _ = evaluate(path.composed, known)
            product = np.broadcast_to(np.asarray(value.raw), end.shape)
            np.testing.assert_allclose(product, path.product, rtol=1e-12)


def test_a_bracket_that_is_left_out_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_formulas, "_within", lambda text: text)
    with pytest.raises(AssertionError):
        test_a_path_s_formula_gives_its_product("h = tanh(W@r); L = sum(h*h)")


def test_a_formula_that_is_no_product_is_not_shown() -> None:
    """The rule of a sum leaves out that its number goes to all entries."""
    question = Question(
        "L = sum(-(W@r))", shapes={"W": (2, 2), "r": (2,)}, symbols=True
    )
    (path,) = paths(question, None, ["r"], 10).targets[0].paths
    assert path.composed is None


def test_the_paths_of_symbols_have_no_numbers() -> None:
    question = Question("b = w*a; c = v*a; L = b*c", symbols=True)
    answer = paths(question, None, ["a"], 10)
    lines = [line.text for line in formula_listing(answer, Layout())]
    assert lines == [
        "dL/da  2 paths",
        "",
        "1  L → b → a",
        "   MulBackward0 → MulBackward0 → AccumulateGrad",
        "   c * w",
        "",
        "2  L → c → a",
        "   MulBackward0 → MulBackward0 → AccumulateGrad",
        "   b * v",
        "",
        "the sum over the paths is dL/da: c * w + b * v",
    ]


def test_the_steps_of_symbols_have_their_rules() -> None:
    lines = [
        x.text for x in step_formulas(Question("u = x*y; L = u + x", symbols=True))
    ]
    assert [" ".join(line.split()) for line in lines if "to" in line] == [
        "to u g", "to x g", "to x g * y", "to y g * x",
    ]  # fmt: skip
