"""What may be typed as a claim, and what it means."""

from __future__ import annotations

from math import inf

import pytest

from gradcli.check.claim_judge import judge
from gradcli.check.claims import Claim, ClaimInput, ClaimsTask, Ruling, read_claim
from gradcli.lang.errors import ProgramError
from tests.check.claims.asking import ruled

LEFT = {
    "d/dx = 1": (None, ("x",)),
    "dL/dx=1": ("L", ("x",)),
    " ∂L / ∂x = 1": ("L", ("x",)),
    "d2L/dx dy = 1": ("L", ("x", "y")),
    "d2/dx2 = 1": (None, ("x", "x")),
    "d²L/dx² = 1": ("L", ("x", "x")),
    "d^2/dx^2 = 1": (None, ("x", "x")),
    "dd/da = 1": ("d", ("a",)),
    "dy/dx2 = 1": ("y", ("x2",)),
    "d(L)/d(x) = 1": ("L", ("x",)),
    "d2L/dxdy = 1": ("L", ("x", "y")),
    "d2L/dx2 == 1": ("L", ("x", "x")),
    "x.grad = 1": (None, ("x",)),
    "grad x = 1": (None, ("x",)),
    "grad_x = 1": (None, ("x",)),
    "grad(L, x) = 1": ("L", ("x",)),
    "gradient(x) = 1": (None, ("x",)),
    "jacobian x = 1": (None, ("x",)),
    "∇x = 1": (None, ("x",)),
    "∇_x L = 1": ("L", ("x",)),
    "∇²x = 1": (None, ("x", "x")),
    "hessian(L, x) = 1": ("L", ("x", "x")),
    "dx = 1": (None, ("x",)),
}


@pytest.mark.parametrize("text", LEFT)
def test_left_hand_sides_are_read_as_mathematicians_write_them(text: str) -> None:
    claim = read_claim(text, names=("x", "y"))
    assert (claim.output, claim.by) == LEFT[text]
    assert claim.expression is not None
    assert text[claim.offset :] == claim.expression


@pytest.mark.parametrize("text", ["2*x", "x = 2", "d/dx =", "dx/y = 1", "", "d2/dx=1"])
def test_what_is_no_claim_is_refused_with_a_caret_and_a_way_out(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        read_claim(text)
    assert caught.value.span is not None
    assert caught.value.hint
    assert caught.value.exit_status == 2


PRIMES = {
    "f' = 1": (None, ("x",)),
    "f'(x) = 1": (None, ("x",)),
    "u' = 1": ("u", ("x",)),
    "f'' = 1": (None, ("x", "x")),
    "f″(x) = 1": (None, ("x", "x")),
}


@pytest.mark.parametrize("text", PRIMES)
def test_primes_are_derivatives_by_the_only_input(text: str) -> None:
    claim = read_claim(text, names=("x",), variables=("u",))
    assert (claim.output, claim.by) == PRIMES[text]
    with pytest.raises(ProgramError):
        read_claim("f' = 1", names=("x", "y"))


OUTPUTS = {
    "∇u = 1": ("u", ("x",)),
    "grad u = 1": ("u", ("x",)),
    "∇_x u = 1": ("u", ("x",)),
    "u_x = 1": ("u", ("x",)),
    "u_xx = 1": ("u", ("x", "x")),
}


@pytest.mark.parametrize("text", OUTPUTS)
def test_an_output_has_a_gradient_and_partial_derivatives(text: str) -> None:
    claim = read_claim(text, names=("x",), variables=("u",))
    assert (claim.output, claim.by) == OUTPUTS[text]


def test_subscripts_are_inputs() -> None:
    assert read_claim("f_xy = 1", names=("x", "y")).by == ("x", "y")
    for text in ("f_xz = 1", "w_x = 1"):
        with pytest.raises(ProgramError):
            read_claim(text, names=("x", "y"), variables=("f",))


def test_a_formula_alone_is_the_derivative_by_the_only_input() -> None:
    claim = read_claim("2*x", names=("x",))
    assert (claim.text, claim.by) == ("d/dx = 2*x", ("x",))
    assert claim.text[claim.offset :] == claim.expression
    with pytest.raises(ProgramError):
        read_claim("2*x", names=("x", "y"))


def test_a_name_that_is_no_input_is_no_derivative() -> None:
    with pytest.raises(ProgramError):
        read_claim("dist = 1", names=("x",))
    with pytest.raises(ProgramError, match="no derivative") as caught:
        read_claim("x = 1", names=("x",))
    assert caught.value.hint == 'write "d/dx = EXPR"'


def test_lists_in_a_claim_are_arrays() -> None:
    program = "stack([x**2 * y, sin(y)])"
    inputs = {"x": (), "y": ()}
    assert ruled(program, inputs, "d/dy = [x**2, cos(y)]").verdict == "proved"
    assert ruled(program, inputs, "d/dx = 2*x*[y, 0]").verdict == "proved"
    variable = ruled("v = [x, sin(y)]; sum(v)", inputs, "dv/dy = [0, cos(y)]")
    assert variable.verdict == "proved"
    rows = "d/dX = [[X[0, 0], 0], [0, X[1, 1]]] * [[2, 0], [0, 2]]"
    assert ruled("(X*X*eye(2)).sum()", {"X": (2, 2)}, rows).verdict == "proved"


CONSTANTS = {
    "0.1*3*x": "0.3*x",
    "cos(x - pi/2)": "sin(x)",
    "(2*pi)**-0.5 * x": "x/sqrt(2*pi)",
    "2**0.5 * x": "sqrt(2)*x",
    "x*180/pi": "x/(pi/180)",
}


@pytest.mark.parametrize("program", CONSTANTS)
def test_constants_are_the_numbers_that_were_meant(program: str) -> None:
    claims = (Claim("value"), Claim("d/dx", by=("x",)))
    given_x = (ClaimInput("x", ()),)
    alike = ClaimsTask(program, given_x, claims, other=CONSTANTS[program], seconds=inf)
    assert [r.verdict for r in judge(alike).rulings] == ["proved", "proved"]


def test_a_rounded_constant_is_not_the_number_itself() -> None:
    claims = (Claim("value"),)
    rounded = ClaimsTask("3.14159*x", (ClaimInput("x", ()),), claims, other="pi*x")
    assert judge(rounded).rulings[0].verdict == "refuted"


def at_3(*claims: str) -> list[Ruling]:
    given_x = (ClaimInput("x", (), (3.0,)),)
    read = tuple(read_claim(claim) for claim in claims)
    return list(judge(ClaimsTask("x**2", given_x, read, seconds=inf)).rulings)


def test_a_number_is_claimed_for_the_point_given_alone() -> None:
    right, wrong, formula = at_3("d/dx = 6", "d/dx = 5", "d/dx = x + 3")
    assert (right.verdict, right.points) == ("agrees", 1)
    assert wrong.counterexample is not None
    assert wrong.counterexample.inputs == (("x", (), (3.0,)),)
    assert formula.verdict == "refuted"


def test_a_number_that_holds_everywhere_is_proved() -> None:
    given_x = (ClaimInput("x", (), (3.0,)),)
    asked = ClaimsTask("2*x", given_x, (read_claim("d/dx = 2"),), seconds=inf)
    assert judge(asked).rulings[0].verdict == "proved"


DIGITS = {
    "pi*x": ("3.141592653589793", "3.1415926535897931"),
    "x/3": ("0.3333333333333333",),
    "sqrt(2)*x": ("1.4142135623730951",),
}
"""Programs, and decimals that agree with their derivatives to the last digit."""


@pytest.mark.parametrize("program", DIGITS)
def test_a_decimal_of_many_digits_agrees_to_these_and_proves_nothing(
    program: str,
) -> None:
    for decimal in DIGITS[program]:
        found = ruled(program, {"x": ()}, f"d/dx = {decimal}")
        assert (found.verdict, decimal in (found.note or "")) == ("agrees", True)
        exact = ruled(f"{decimal}*x", {"x": ()}, f"d/dx = {decimal}")
        assert exact.verdict == "proved"


@pytest.mark.parametrize(
    ("program", "claim"),
    [("pi*x", "3.14159265358979"), ("pi*x", "3.141592653589794"), ("x/3", "0.3333"),
     ("pi*x", "3.14159265358979323846"), ("2*x", "2.0000000000000001"),
     ("2*x", "2.0000000000000004")],
)  # fmt: skip
def test_a_decimal_that_its_digits_tell_apart_is_refuted(
    program: str, claim: str
) -> None:
    assert ruled(program, {"x": ()}, f"d/dx = {claim}").verdict == "refuted"
