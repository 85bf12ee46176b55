"""Rules as textbooks state them come from the rows' own formulas."""

from __future__ import annotations

import pytest

import gradcli as torch
from gradcli.ops import OPS
from gradcli.render.code.stated import stated

X = torch.tensor([[0.3, 0.2], [0.5, 0.7]], requires_grad=True)
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


@pytest.mark.parametrize(
    ("made", "nr", "name", "text"),
    [
        (X + W, 0, "sum rule", "d(a + b)/da = 1"),
        (X * W, 1, "product rule", "d(a * b)/db = a"),
        (X / W, 1, "quotient rule", "d(a / b)/db = -a / b / b"),
        (X**3, 0, "power rule", "d x**3/dx = 3 * x**2"),
        (X.tanh(), 0, "", "d tanh(x)/dx = 1 - tanh(x) * tanh(x)"),
        (X.exp(), 0, "", "d exp(x)/dx = exp(x)"),
        (X @ W, 0, "", "a @ b: a gets g @ b.T"),
        (X @ W, 1, "", "a @ b: b gets a.T @ g"),
        (X.sum(), 0, "", "sum(x): x gets expand(g, [2, 2])"),
    ],
)
def test_rules(made: torch.Tensor, nr: int, name: str, text: str) -> None:
    found = stated(made.grad_fn, nr)
    assert found is not None
    assert (found.name, found.text) == (name, text)


def test_a_rule_without_words_is_none() -> None:
    values, _ = torch.sort(X)
    assert stated(values.grad_fn, 0) is None


def test_books_name_rules_of_rows_that_are_differentiated() -> None:
    assert {op.taught for op in OPS.values()} > {"sum rule", "product rule"}
    assert all(op.node for op in OPS.values() if op.taught)
