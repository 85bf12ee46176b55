"""Functions of books at the command line: gradients, claims, refusals."""

from __future__ import annotations

import pytest

from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import execute, prepare

from .conftest import Run

GRADIENTS = [
    ("bessel_j0(x)*x", "-x*bessel_j1(x) + bessel_j0(x)"),
    ("bessel_j1(x)*x", "x*bessel_j0(x)"),
    ("bessel_y1(x)*x", "x*bessel_y0(x)"),
    ("modified_bessel_k1(x)*x", "-x*modified_bessel_k0(x)"),
    ("spherical_bessel_j0(x)*x", "cos(x)"),
    ("airy_ai(x)*x", "x*airy_ai_prime(x) + airy_ai(x)"),
    ("chebyshev_polynomial_t(x, 4)*x", "40*x**4 - 24*x**2 + 1"),
    ("erfi(x)*x", "2*x*exp(x**2)/sqrt(pi) + erfi(x)"),
    ("Ei(x)*x", "exp(x) + expi(x)"),
    ("li(x)*x", "x/log(x) + expi(log(x))"),
    ("Si(x)*x", "sin(x) + Si(x)"),
    ("Ci(x)*x", "cos(x) + Ci(x)"),
    ("Shi(x)*x", "sinh(x) + Shi(x)"),
    ("Chi(x)*x", "cosh(x) + Chi(x)"),
    ("fresnels(x)*x", "x*sin(x**2*pi/2) + fresnels(x)"),
    ("LambertW(x)*x", "lambertw(x) + lambertw(x)/(lambertw(x) + 1)"),
    ("polylog(2, x/3)*x", "polylog(1, x/3) + polylog(2, x/3)"),
]


@pytest.mark.parametrize(("program", "form"), GRADIENTS)
def test_a_function_of_books_has_its_derivative_proved(
    gradcli: Run, program: str, form: str
) -> None:
    done = gradcli("grad", program, "x=2")
    assert done.status == 0
    assert f"d/dx  proved  {form}  " in done.out


@pytest.mark.parametrize(
    ("program", "right", "wrong"),
    [
        ("y = bessel_j0(x)", "-bessel_j1(x)", "bessel_j1(x)"),
        ("y = bessel_y1(x)*x", "bessel_y0(x)*x", "bessel_y0(x)"),
        ("y = airy_ai(x)", "airy_ai_prime(x)", "x*airy_ai(x)"),
        ("y = legendre_polynomial_p(x, 2)", "3x", "2x"),
        ("y = Si(x)", "sin(x)/x", "cos(x)/x"),
        ("y = li(x)", "1/log(x)", "1/(x*log(x))"),
        ("y = lambertw(x)", "lambertw(x)/(x*(1 + lambertw(x)))", "lambertw(x)/x"),
        ("y = polylog(2, x)", "-log(1 - x)/x", "log(1 - x)/x"),
    ],
)
def test_a_right_claim_is_shown_and_a_wrong_one_refuted(
    gradcli: Run, program: str, right: str, wrong: str
) -> None:
    done = gradcli("check", program, "--claim", f"dy/dx = {right}")
    assert done.status == 0
    assert "proved" in done.out or "certified" in done.out
    done = gradcli("check", program, "--claim", f"dy/dx = {wrong}")
    assert done.status == 1
    assert "refuted" in done.out


@pytest.mark.parametrize(
    "program",
    ["legendre_polynomial_p(x, n)", "hermite_polynomial_h(x, n)", "zeta(n, x)"],
)
def test_a_derivative_by_an_order_is_refused_with_a_way_out(program: str) -> None:
    bindings = read_bindings(["x=0.3", "n=4"])
    run = execute(prepare(f"{program}*x", bindings))
    with pytest.raises(ProgramError, match="derivative for") as caught:
        run.gradients(None)
    assert caught.value.code == "E596"
    assert "--wrt" in (caught.value.hint or "")


HELD_FIXED = [
    ("soft_margin_loss(x, t)", "t=[[1.0,-1.0]]"),
    ("cross_entropy(x, t)", "t=[1.0]"),
    ("nll_loss(x, t)", "t=[1.0]"),
    ("binary_cross_entropy(x, 1 - x, t)", "t=[[1.0,0.5]]"),
    ("binary_cross_entropy_with_logits(x, 1 - x, t)", "t=[[1.0,0.5]]"),
]
"""Losses and the arguments in which they have no derivative."""


@pytest.mark.parametrize(("program", "fixed"), HELD_FIXED)
def test_a_gradient_by_what_a_loss_holds_fixed_is_refused_with_a_way_out(
    gradcli: Run, program: str, fixed: str
) -> None:
    words = ["grad", program, "x=[[0.3,0.6]]", fixed, "--no-verify"]
    done = gradcli(*words)
    assert (done.out, done.status) == ("", 3)
    assert "error[E596]: the function '" in done.err
    assert "is not differentiable with respect to argument" in done.err
    assert "--wrt" in done.err
    assert gradcli(*words, "--wrt", "x").status == 0


def test_a_polylogarithm_of_an_order_that_varies_is_refused() -> None:
    with pytest.raises(ProgramError, match="plain number as its order"):
        execute(prepare("polylog(s, x)", read_bindings(["x=0.3", "s=2"])))
