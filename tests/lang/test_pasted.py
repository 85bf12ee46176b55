"""Lines copied from other systems are read as they mean there, or refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.marks import language_of
from gradcli.lang.prepare import prepare, read_program
from gradcli.lang.run import Session
from tests.random.generate import random_program

VALUES = {
    "A": "[[0.3, 1.7, 0.9], [1.2, 0.6, 2.4]]",
    "v": "[1.5, 0.3, 0.8]",
    "w": "[0.2, 2.1, 1.4]",
    "s": "0.37",
    "t": "1.8",
    "q": "-2.5",
}
LINES = [
    line.split("\t")
    for line in Path(__file__).with_name("pasted.tsv").read_text("utf-8").splitlines()
]
READ = [(text, meant, given) for text, meant, given in LINES if meant != "!"]
REFUSED = [(text, given) for text, meant, given in LINES if meant == "!"]


def value(text: str, given: str) -> Any:
    bound = read_bindings(
        f"{name}={VALUES.get(own, own)}"
        for name, _, own in (each.partition("=") for each in given.split())
    )
    program = read_program(text.replace("⏎", "\n"), bound, {}, lambda note: None)
    return np.asarray(Session(prepare(program, bound, strict=True)).run().output.raw)


@pytest.mark.parametrize(("text", "meant", "given"), READ)
def test_a_copied_line_means_what_it_means_there(
    text: str, meant: str, given: str
) -> None:
    words = "".join(c if c.isalnum() else " " for c in meant).split()
    own = " ".join(f"{name}={name}" for name in VALUES if name in words)
    got, true = value(text, given), value(meant, own)
    assert got.shape == true.shape
    np.testing.assert_allclose(got.astype(float), true.astype(float), rtol=1e-12)


@pytest.mark.parametrize(("text", "given"), REFUSED)
def test_what_is_meant_in_two_ways_or_in_none_is_refused(text: str, given: str) -> None:
    with pytest.raises(ProgramError) as refused:
        value(text, given)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "given", "lines"),
    [
        ("double f(double x) { return 1/2*x; }", "x=s",
         ["f(x) = trunc(1/2)*x", "f(x) = 1/2*x"]),
        ("double f(double x) { return x^2; }", "x=s", ["f(x) = x^2"]),
        ("x -> exp(x) + 1", "x=[[1,2],[3,4]]", ["matrix_exp(x) + 1", "exp(x) + 1"]),
        ("x -> sin(x) + 1", "x=[[1,2],[3,4]]", ["sin(x) + 1"]),
        ("integrate x^2 from 0 to 1", "x=s", ["x^2"]),
        ("the integral of sin(x) dx", "x=s", ["sin(x)"]),
        ("d/dx(x^2) = 2x", "x=s", ["x^2"]),
        ("Integrate[Sin[t], {t, 0, 1}]", "t=t", ["sin(t)"]),
        (r"\tanh x = \frac{\sinh x}{\cosh x}", "x=s", ["sinh(x)/cosh(x)"]),
        (r"x^2 + y^2 = r^{2}", "x=s y=t r=q", ["x^2 + y^2 - (r^2)"]),
        (r"\frac{a}{x} + b = c", "x=s a=t b=q c=1", ["a/x + b - c"]),
        (r"a x^{2} + b x + c = 0", "x=s a=t b=q c=1", ["a*x^2 + b*x + c"]),
        ("x^2 + y^2 = r^2 + 1", "x=s y=t r=q", ["x^2 + y^2 - (r^2 + 1)"]),
        ("x^2/a^2 + y^2 = 1", "x=s a=t y=q", ["x^2/a^2 + y^2 - 1"]),
        ("x*y + 1 = 0", "x=s y=t", ["x*y + 1"]),
        ("Integrate[a Sin[t], {t, 0, x}]", "a=s x=q", ["a*sin(x)"]),
        ("integrate b*x^2 from 0 to a", "a=s b=t", ["b*a^2"]),
        ("integrate t^2 from 1 to x", "x=s", ["x^2"]),
        ("(x^2)' + x", "x=s", ["x^2 + x", "diff(x^2, x) + x"]),
    ],
)  # fmt: skip
def test_each_reading_that_a_refusal_shows_can_be_copied(
    text: str, given: str, lines: list[str]
) -> None:
    with pytest.raises(ProgramError) as refused:
        value(text, given)
    hint = refused.value.hint or ""
    for line in lines:
        assert line in hint
        assert np.isfinite(value(line, given)).all()


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("(x^2)'", "write (x^2).T to transpose, or diff(x^2, x) to derive"),
        ("x'*A*x", "write x.T@A@x to transpose"),
        ("f = @(x) x'*x", "give a value, or a shape as in --shape x=3"),
    ],
)
def test_a_quote_behind_a_name_without_a_value_is_refused(text: str, hint: str) -> None:
    with pytest.raises(ProgramError) as refused:
        read_program(text, (), {}, lambda note: None)
    assert hint in (refused.value.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        *("2f + 1", "2.0f*x", "A @(x)", "x < -3", "x<3", "a % b", "x -1", "[1, -2]"),
        *("y = x.exp().abs(); z = y.sum(); z", "a if x > 0 else b", "max(x, 0)"),
        *("def f(x) -> float: return x", "einsum('ij,jk->ik', a, b)", "x[1:3]"),
        *("torch.where(x > 0, x, 0)", "y = x # -> here", "{x, y}", "f(x) = 2x"),
        *("if x => 2: y", "f(x) => x^2", "Math.exp(-x)", "A[[0]](x)"),
        *(r"\frac{a}{b} ? c", r"x \to y", "sympy.Rational(1, 2)", "rstats.dnorm(x)"),
    ],
)
def test_a_text_of_the_language_has_no_mark_of_another(text: str) -> None:
    assert language_of(text, ()) is None


def test_a_function_with_a_value_is_no_mark() -> None:
    assert language_of("dnorm(x)", ()) == "R"
    assert language_of("dnorm(x)", {"dnorm"}) is None


def test_random_programs_are_in_no_other_language() -> None:
    programs = [random_program(seed, scalar=seed % 2 == 0).text for seed in range(400)]
    assert any(" % " in text for text in programs)
    assert [text for text in programs if language_of(text, "xwAb")] == []


def test_a_remainder_before_a_line_or_a_choice_is_no_comment() -> None:
    assert language_of("v = x % w\ny = v + 1", "xw") is None
    assert language_of("x % w if x > 0 else x", "xw") is None
    assert language_of("y = a*x^2 % the energy in joules", "ax") == "MATLAB"
