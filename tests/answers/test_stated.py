"""Rules as textbooks state them come from the rows' own formulas."""

from __future__ import annotations

import pytest

import gradcli as torch
from gradcli.answers.graph_view import raw_partials
from gradcli.answers.textbook_rules import multiplied, stated
from gradcli.formulas.texts import Text
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Run, Session, prepare
from gradcli.ops import OPS, parameters
from gradcli.ops.spellings import PRODUCT, SIGN, SUM

X = torch.tensor([[0.3, 0.2], [0.5, 0.7]], requires_grad=True)
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)


@pytest.mark.parametrize(
    ("made", "nr", "name", "text"),
    [
        (X + W, 0, "sum rule", "d(a + b)/da = 1"),
        (X * W, 1, "product rule", "d(a * b)/db = a"),
        (X / W, 1, "quotient rule", "d(a / b)/db = -a / b**2"),
        (X**3, 0, "power rule", "d x**3/dx = 3 * x**2"),
        (X.tanh(), 0, "", "d tanh(x)/dx = 1 - tanh(x)**2"),
        (X.exp(), 0, "", "d exp(x)/dx = exp(x)"),
        (X @ W, 0, "", "a @ b: a gets g @ b.T"),
        (X @ W, 1, "", "a @ b: b gets a.T @ g"),
        (X.sum(), 0, "", "sum(x): x gets g"),
        (torch.stack([X, W]), 1, "", "[a, b, ...]: b gets g[1]"),
        (torch.cat([X, W[:1]]), 1, "", "[a, b, ...]: b gets g[2:3]"),
    ],
)
def test_rules(made: torch.Tensor, nr: int, name: str, text: str) -> None:
    found = stated(made.grad_fn, nr)
    assert found is not None
    assert (found.name, found.text) == (name, text)


ONE = (
    "3 - x", "x**3", "2**x", "sqrt(x)", "rsqrt(x)", "exp(x)", "expm1(x)", "exp2(x)",
    "log(x)", "log1p(x)", "log2(x)", "log10(x)", "sin(x)", "cos(x)", "tan(x)",
    "asin(x)", "acos(x)", "atan(x)", "sinh(x)", "cosh(x)", "tanh(x)", "asinh(x)",
    "atanh(x)", "sigmoid(x)", "logsigmoid(x)", "relu(x)", "leaky_relu(x)", "elu(x)",
    "selu(x)", "celu(x)", "softplus(x)", "gelu(x)", "silu(x)", "mish(x)",
    "hardswish(x)",
    "abs(x)", "erf(x)", "erfc(x)", "lgamma(x)", "reciprocal(x)",
)  # fmt: skip
TWO = ("a + b", "a - b", "a * b", "a / b", "a**b", "maximum(a, b)", "minimum(a, b)",
       "atan2(a, b)", "hypot(a, b)", "logaddexp(a, b)", "xlogy(a, b)")  # fmt: skip


@pytest.mark.parametrize("program", ONE + TWO)
def test_a_rule_is_a_program_that_gives_the_local_gradient(program: str) -> None:
    at = {"x": 0.7} if program in ONE else {"a": 0.7, "b": 1.3}
    words = [f"{name}={value}" for name, value in at.items()]
    output = run_program(program, words).output
    node = output.grad_fn
    assert node is not None
    names = parameters(node.op)
    for nr in range(len(node.slots)):
        rule = stated(node, nr)
        assert rule is not None
        given = [f"{name}={v}" for name, v in zip(names, at.values(), strict=False)]
        _, _, told = rule.text.partition(" = ")
        found = run_program(f"0*({'+'.join(names[: len(at)])}) + {told}", given)
        true = raw_partials(node)[nr]
        assert found.output.item() == pytest.approx(float(true), rel=1e-12)


def run_program(program: str, words: list[str]) -> Run:
    return Session(prepare(program, read_bindings(words))).run()


def test_a_rule_says_all_of_itself_or_nothing() -> None:
    assert stated(torch.special.sinc(X).grad_fn, 0) is None
    largest = stated(torch.max(X).grad_fn, 0)
    assert largest is not None
    assert "where(logical" in largest.text
    assert r"\mathtt{where(logical" in largest.latex


def test_a_rule_without_words_is_none() -> None:
    values, _ = torch.sort(X)
    assert stated(values.grad_fn, 0) is None


def test_books_name_rules_of_rows_that_are_differentiated() -> None:
    assert {op.taught for op in OPS.values()} > {"sum rule", "product rule"}
    assert all(op.node for op in OPS.values() if op.taught)


@pytest.mark.parametrize(
    ("local", "shown"),
    [
        (Text("w"), "g * w"),
        (Text("1"), "g"),
        (Text("-1", SIGN), "-g"),
        (Text("2"), "2 * g"),
        (Text("-w", SIGN), "-g * w"),
        (Text("1 / x", PRODUCT), "g / x"),
        (Text("a + b", SUM), "g * (a + b)"),
        (Text("-a + b", SUM), "g * (-a + b)"),
    ],
)
def test_the_rule_of_an_elementwise_node_is_a_product(local: Text, shown: str) -> None:
    assert multiplied("g", local) == shown
