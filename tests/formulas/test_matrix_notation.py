"""Derivatives in matrix notation equal the derivatives, at sizes that were inferred."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli.answers.derivatives import hessian, jacobian
from gradcli.answers.inferred_sizes import at_regular_point, infer_sizes
from gradcli.answers.matrix_form import form_at_values, matrix_form
from gradcli.answers.question import Question
from gradcli.check.claim_judge import judge
from gradcli.engine import grad
from gradcli.formulas.linear_maps import LinearMaps
from gradcli.formulas.matrix_algebra import MatrixAlgebra
from gradcli.formulas.matrix_notation import MatrixFormulas
from gradcli.formulas.tree import Tree
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Session, evaluate, prepare

PROGRAMS = (Path(__file__).parent / "matrix_calculus.txt").read_text().splitlines()
"""Examples of matrix calculus, as the Matrix Cookbook's sections 2.1 to 2.8 and
matrixcalculus.org have them, and losses of machine learning."""


BLOCKS = (Path(__file__).parent / "matrix_blocks.txt").read_text().splitlines()
"""Jacobians and Hessians of books and of losses, each with its command."""


def asked(source: str, scalar: bool = True) -> Question:
    inferred = infer_sizes(source, (), {}, scalar=scalar)
    shapes = {} if inferred is None else inferred.shapes
    return Question(source, shapes=shapes, inferred=inferred, symbols=True)


def gradients_of(source: str, kind: str = "gradient") -> MatrixFormulas:
    return formulas_of(asked(source, kind != "jacobian"), kind)


def formulas_of(question: Question, kind: str = "gradient") -> MatrixFormulas:
    form = matrix_form(question, question.run(), kind)
    assert form is not None
    return form.formulas


@pytest.mark.parametrize("line", BLOCKS)
def test_formula_gives_the_block(line: str) -> None:
    kind, _, source = line.partition(" ")
    question = asked(source, kind != "jacobian")
    formulas = formulas_of(question, kind)
    assert formulas.general
    shapes = question.shapes
    lone = {b for b in formulas.others if all(len(shapes[name]) < 2 for name in b)}
    assert not lone, "vectors have formulas"
    run = Session(at_regular_point(prepare(source, shapes=shapes))).run()
    found = hessian(run) if kind == "hessian" else jacobian(run, "auto")
    for by, text in formulas.claims.items():
        value, _, _ = evaluate(text, run.prepared.environment)
        block = found.by[by].dense().raw
        assert value.shape == block.shape, (by, text)
        np.testing.assert_allclose(
            np.asarray(value.raw, float), block, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("_column", "hessian logsumexp(A@x, 0)"),
        ("_choice", "jacobian where(A@x > 0, A@x, 0)"),
        ("_weighted", "jacobian (A@x)*(B@x)"),
    ],
)
def test_a_wrong_map_is_seen(
    name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sign that is turned in one step of the reading of linear maps."""
    right = getattr(LinearMaps, name)

    def wrong(self: LinearMaps, *args: Any) -> Tree:
        found: Tree = right(self, *args)
        return found.xp.operate("neg", found)

    monkeypatch.setattr(LinearMaps, name, wrong)
    with pytest.raises(AssertionError):
        test_formula_gives_the_block(line)


BLOCKS_SHOWN = {
    "jacobian A@x": {("x",): "A"},
    "jacobian sin(A@x)": {("x",): "diag(cos(A @ x)) @ A"},
    "jacobian softmax(z, 0)": {
        ("z",): "diag(softmax(z, 0)) - outer(softmax(z, 0), softmax(z, 0))"
    },
    "jacobian x/norm(x)": {("x",): "eye(n) / norm(x) - outer(x, x) / norm(x)**3"},
    "hessian x.T@A@x": {("x", "x"): "A + A.T"},
    "hessian norm(A@x-b)^2": {("x", "x"): "2 * A.T @ A", ("x", "b"): "-2 * A.T"},
    "hessian sum(exp(A@x))": {("x", "x"): "A.T @ diag(exp(A @ x)) @ A"},
    "hessian norm(X@w-y)^2 + lam*norm(w)^2": {
        ("w", "w"): "2 * (X.T @ X + lam * eye(m))", ("lam", "w"): "2 * w",
    },
}  # fmt: skip


@pytest.mark.parametrize("line", BLOCKS_SHOWN)
def test_block_is_the_one_of_books(line: str) -> None:
    kind, _, source = line.partition(" ")
    texts = gradients_of(source, kind).texts
    assert {by: texts[by] for by in BLOCKS_SHOWN[line]} == BLOCKS_SHOWN[line]


@pytest.mark.parametrize(
    ("source", "shapes", "names"),
    [
        ("norm(A@x - b)^2", {"A": (4, 3)}, {"x": ("3",), "b": ("4",)}),
        ("norm(A@x - b)^2", {"b": (3,)}, {"A": ("3", "m"), "x": ("m",)}),
        ("norm(A@x - b)^2", {"b": (4,)}, {"A": ("4", "m"), "x": ("m",)}),
        ("norm(A@x - b)^2", {"b": (5,), "x": (2,)}, {"A": ("5", "2")}),
        ("sum((Y - X@W)^2)", {"X": (5, 2)}, {"Y": ("5", "m"), "W": ("2", "m")}),
        ("trace(A@X@B)", {"X": (2, 3)}, {"A": ("n", "2"), "B": ("3", "n")}),
    ],
)
def test_a_given_shape_fixes_the_sizes_that_depend_on_it(
    source: str, shapes: dict[str, tuple[int, ...]], names: dict[str, tuple[str, ...]]
) -> None:
    inferred = infer_sizes(source, (), shapes)
    assert inferred is not None
    assert inferred.names == names
    question = Question(
        source, shapes={**shapes, **inferred.shapes}, inferred=inferred, symbols=True
    )
    form = matrix_form(question, question.run())
    assert form is not None
    assert form.formulas.texts == gradients_of(source).texts


@pytest.mark.parametrize("source", PROGRAMS)
def test_formula_gives_the_gradient(source: str) -> None:
    question = asked(source)
    formulas = formulas_of(question)
    run = Session(at_regular_point(prepare(source, shapes=question.shapes))).run()
    named = run.prepared.environment
    found = grad([run.output], [named[name] for (name,) in formulas.claims])
    for ((name,), text), gradient in zip(formulas.claims.items(), found, strict=True):
        value, _, _ = evaluate(text, named)
        assert value.shape == named[name].shape, (name, text)
        np.testing.assert_allclose(
            np.asarray(value.raw, float), gradient.raw, rtol=1e-9, atol=1e-12
        )


def test_a_wrong_rule_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sign that is turned without its difference."""
    monkeypatch.setattr(
        MatrixAlgebra, "_turned", lambda _, tree: tree if tree.head == "sub" else None
    )
    with pytest.raises(AssertionError):
        test_formula_gives_the_gradient("norm(A@x-b)^2")


SHOWN = {
    "norm(A@x-b)^2": {"x": "2 * A.T @ (A @ x - b)", "A": "2 * outer(A @ x - b, x)"},
    "log(det(X))": {"X": "inverse(X).T"},
    "trace(A@X)": {"X": "A.T"},
    "x.T@A@x": {"x": "(A + A.T) @ x", "A": "outer(x, x)"},
    "-sum(y*log(softmax(z,0)))": {"z": "sum(y) * softmax(z, 0) - y"},
    "cross_entropy(z,2)": {"z": "softmax(z, 0) - eye(n)[2]"},
    "-log(softmax(z)[1])": {"z": "softmax(z, 0) - eye(n)[1]"},
    "-log(softmax(W@x + b)[1])": {
        "W": "outer(softmax(W @ x + b, 0) - eye(n)[1], x)",
        "b": "softmax(W @ x + b, 0) - eye(n)[1]",
    },
    "log(z[0]) + z[2]*z[1]": {
        "z": "z[2] * eye(n)[1] + z[1] * eye(n)[2] + eye(n)[0] / z[0]"
    },
    "a@inverse(X)@b": {"X": "-outer(inverse(X).T @ a, inverse(X) @ b)"},
    "trace(X@X@X)": {"X": "3 * X.T @ X.T"},
    "mean((X@w-y)**2)": {"w": "2 * X.T @ (X @ w - y) / n"},
    "var(x)": {"x": "2 * (x - mean(x)) / (n - 1)"},
    "sum(X)": {"X": "ones_like(X)"},
    "trace(X)": {"X": "eye(n)"},
    "norm(x)": {"x": "x / norm(x)"},
}


@pytest.mark.parametrize("source", SHOWN)
def test_formula_is_the_one_of_books(source: str) -> None:
    texts = gradients_of(source).texts
    assert {name: texts[name,] for name in SHOWN[source]} == SHOWN[source]


SHAPES = {
    "norm(A@x-b)^2": {"A": ("n", "m"), "x": ("m",), "b": ("n",)},
    "trace(A@X)": {"A": ("n", "m"), "X": ("m", "n")},
    "sum((X@w-y)**2) + lam*w@w": {
        "X": ("n", "m"), "w": ("m",), "y": ("n",), "lam": (),
    },
    "x^T A x": {"x": ("n",), "A": ("n", "n")},
    "sum(x)": {"x": ("n",)},
}  # fmt: skip


@pytest.mark.parametrize("source", SHAPES)
def test_shapes_are_read_from_the_program(source: str) -> None:
    inferred = infer_sizes(source, (), {})
    assert inferred is not None
    assert inferred.names == SHAPES[source]


@pytest.mark.parametrize("source", ["x**2*sin(x)", "a*x + b", "max(x, 0)"])
def test_numbers_stay_numbers(source: str) -> None:
    assert infer_sizes(source, (), {}) is None


@pytest.mark.parametrize("value", ["x=@-", "x=@missing.npy"])
def test_no_file_is_read_for_shapes(value: str) -> None:
    assert infer_sizes("x@y", read_bindings([value]), {}) is None


def test_a_long_loop_is_not_run_for_shapes() -> None:
    assert infer_sizes("for i in range(10**9): y = x@x\ny", (), {}) is None


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("gradient", "trace(A@X@B)"),
        ("gradient", "x.T@A@x"),
        ("gradient", "log(det(X))"),
        ("jacobian", "tanh(W@x)"),
        ("hessian", "norm(A@x-b)^2"),
    ],
)
def test_formula_is_proved(kind: str, source: str) -> None:
    question = asked(source, kind != "jacobian")
    form = matrix_form(question, question.run(), kind)
    assert form is not None
    assert form.verification(judge(form.task)).verdict == "proved"


AT_VALUES = {
    "jacobian tanh(W@x)": ["W=[[1,2],[3,4]]", "x=[1,2]"],
    "jacobian A@x": ["A=[[1,2,0],[3,4,1]]", "x=[1,2,3]"],
    "hessian norm(A@x-b)^2": ["A=[[1,2],[3,4]]", "x=[1,2]", "b=[1,1]"],
}


@pytest.mark.parametrize("line", AT_VALUES)
def test_values_change_no_notation(line: str) -> None:
    kind, source = line.split(" ")
    run = Session(prepare(source, read_bindings(AT_VALUES[line]))).run()
    found = jacobian(run, "auto") if kind == "jacobian" else hessian(run)
    question = Question(source, read_bindings(AT_VALUES[line]))
    form = form_at_values(question, run, lambda by: found.by[by].dense(), kind)
    assert form is not None
    assert form.formulas.texts == gradients_of(source, kind).texts
    for ruling in judge(form.task).rulings:
        assert ruling.verdict == "proved"


def test_formulas_that_do_not_give_the_numbers_are_not_shown() -> None:
    values = read_bindings(["W=[[1,2],[3,4]]", "x=[1,2]"])
    run = Session(prepare("W@x", values)).run()
    wrong = lambda by: jacobian(run, "auto").by[by].dense() * 2
    assert form_at_values(Question("W@x", values), run, wrong, "jacobian") is None
