"""A diagnosis names the mistake, and its repair makes the claim right."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.diagnosis import evidence
from tests.verify.claims.asking import Inputs, X, mistake, ruled, task


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


REPAIRS = {
    "multiply": ("sin(x**2)", "cos(x**2)", "(cos(x**2)) * ({})", "multiply by "),
    "add": ("x*exp(x)", "exp(x)", "(exp(x)) + ({})", "add "),
    "divide": ("x**3", "6*x**2", "(6*x**2) / ({})", "divide by "),
    "subtract": (
        "x**2",
        "log(exp(2*x)*exp(5))",
        "log(exp(2*x)*exp(5)) - ({})",
        "subtract ",
    ),
    "another sign": ("x*exp(x)", "exp(x)*(1 - x)", "{}", "write "),
    "another sign in front": ("x**2 - x", "1 - 2*x + 4*x", "{}", "write "),
    "another factor": ("x**2 - x", "x - 1", "{}", "write "),
    "no such term": ("x**2", "2*x + 5", "{}", "write "),
    "no such term in front": ("-x**2", "3 - 2*x", "{}", "write "),
    "another exponent": ("x**3/3 + x", "1 + x**3", "{}", "write "),
    "another number": ("x**2 + x", "2*(x + 3)", "{}", "write "),
}


@pytest.mark.parametrize("kind", REPAIRS)
def test_a_repair_makes_the_claim_right(kind: str) -> None:
    program, wrong, repaired, begin = REPAIRS[kind]
    found = mistake(program, X, f"d/dx = {wrong}")
    assert found is not None
    assert found.repair.startswith(begin)
    right = repaired.format(found.repair.removeprefix(begin))
    assert ruled(program, X, f"d/dx = {right}").verdict == "proved"


def test_a_missing_path_is_named_by_the_variables_on_it() -> None:
    program = "b = w1*a; c = w2*a; d = w3*b + w4*c; L = 10 - d"
    inputs: Inputs = dict.fromkeys(("w1", "a", "w2", "w3", "w4"), ())
    found = mistake(program, inputs, "dL/da = -w4*w2")
    assert found is not None
    assert found.text == "the path L → d → b → a is missing"


MISTAKES = {
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
    "a term too many": ("x**2", X, "d/dx = 2*x + 1", "term", "the term 1 does not"),
    "a number": ("x**2 + x", X, "d/dx = 2*(x + 3)", "factor", "where 1/2 belongs"),
    "a term missing": ("exp(x*x)", X, "d2/dx2 = 4*x**2*exp(x*x)", "term", "2*exp(x*x)"),
    "one term with a wrong sign": (
        "x*sin(x)", X, "d/dx = sin(x) - x*cos(x)", "sign", "the term x*cos(x) has",
    ),
    "one term with a wrong factor": (
        "x**3 + x", X, "d/dx = x**2 + 1", "factor", "the term x**2 lacks the factor 3",
    ),
    "an operand transposed": (
        "((X@W - Y)**2).sum()", dict.fromkeys("XWY", (2, 2)),
        "d/dW = 2*X @ (X@W - Y)", "transpose", "X should be transposed",
    ),
    "an operand not transposed": (
        "((X@W - Y)**2).sum()", dict.fromkeys("XWY", (2, 2)),
        "d/dX = 2*(X@W - Y).t() @ W.t()", "transpose", "should not be transposed",
    ),
    "factors in the wrong order": (
        "((X@W - Y)**2).sum()", dict.fromkeys("XWY", (2, 2)),
        "d/dX = 2*W.t() @ (X@W - Y)", "transpose", "in the wrong order",
    ),
    "a sum left out inside": (
        "s = softmax(x, dim=0); (g*s).sum()", {"x": (3,), "g": (3,)},
        "d/dx = s*(g - g*s)", "sum", "(g*s).sum() is meant",
    ),
    "an exponent": (
        "h = tanh(x); h*w + x", {"x": (), "w": ()}, "d/dx = w*(1 - h) + 1", "power",
        "h has the wrong exponent",
    ),
    "another name": (
        "h1 = tanh(u*a + w*c); h2 = tanh(u*b + w*h1)",
        dict.fromkeys("uawcb", ()),
        "dh2/dw = (1 - h2**2)*(h1 + w*(1 - h1**2)*h1)", "name", "h1 stands where c",
    ),
    "a way back that ends too soon": (
        "logsumexp(A@x, dim=0)", {"A": (3, 3), "x": (3,)},
        "d/dx = softmax(A@x, dim=0)", "inner", "this is the derivative by A@x",
    ),
    "a part of a local gradient": (
        "x**y", {"x": (), "y": ()}, "d/dy = x**y", "inner", "the factor log(x)",
    ),
    "a rounded constant": ("x/3", X, "d/dx = 0.333", "rounding", "differ"),
    "upside down": ("a/b", {"a": (), "b": ()}, "d/da = b", "reciprocal", ""),
    "a sum too much": (
        "(x**2).sum()", {"x": (3,)}, "d/dx = 2*x.sum()", "sum", "the claim takes a sum",
    ),
    "a mean over several dimensions left out": (
        "(x*b).mean()", {"x": (2, 3), "b": ()}, "d/db = x", "mean",
        "a mean over all entries is left out",
    ),
    "one of several paths with a wrong sign": (
        "x*sin(x)", X, "d/dx = sin(x) - x*cos(x)/2 - x*cos(x)/2", "sign",
        "sin(x) → x has the wrong",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_named(kind: str) -> None:
    program, inputs, claim, cause, said = MISTAKES[kind]
    found = mistake(program, inputs, claim)
    assert found is not None
    assert found.cause == cause
    assert said in found.text
    assert ruled(program, inputs, claim).verdict == "refuted"


def test_a_claim_without_a_simple_mistake_gets_no_diagnosis() -> None:
    assert mistake("x**3 + sin(x)", X, "d/dx = exp(x) - tanh(x)") is None


def test_a_step_with_several_results_is_no_value_on_the_way() -> None:
    assert mistake("linalg.eigvalsh(A)[0] * 1", {"A": (3, 3)}, "d/dA = A") is None


@pytest.mark.parametrize("function", ["derivative", "said_by"])
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
    assert found.said("tahn(x)", samples[0]) is None

    def broken(*args: object) -> None:
        raise AttributeError("a slip")

    monkeypatch.setattr(evidence, "said_by", broken)
    with pytest.raises(AttributeError, match="a slip"):
        found.said("x", samples[0])
