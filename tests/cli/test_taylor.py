"""``gradcli taylor`` beside SymPy's series, and what its polynomial is read as."""

from __future__ import annotations

import json

import pytest
import sympy

from gradcli.cli.app import run

Capture = pytest.CaptureFixture[str]

PATIENCE = ["--verify-seconds", "600"]

SERIES = [
    ("exp(x)*sin(x)", "0"), ("log(1+x)/(1-x)", "0"), ("tan(x)", "1/3"),
    ("sqrt(1+x**2)", "2"), ("atan(x)", "-1"), ("cosh(x)**2", "0.5"), ("x**5", "3"),
    ("erf(x)", "0"), ("exp(-x**2)*cos(x)", "pi/4"), ("asin(x)", "0"), ("1/x", "-2"),
]  # fmt: skip


def taylor(capsys: Capture, *words: str) -> dict[str, object]:
    assert run(["taylor", *words, "--json", *PATIENCE]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize(("text", "at"), SERIES)
def test_a_polynomial_is_that_of_sympy(capsys: Capture, text: str, at: str) -> None:
    x, point = sympy.Symbol("x"), sympy.nsimplify(sympy.sympify(at), rational=True)
    point = sympy.sympify(at) if "pi" in at else point
    known = sympy.series(sympy.sympify(text), x, point, 5).removeO()
    found = taylor(capsys, text, f"x={at}", "--order", "4")
    assert found["remainder"].startswith("O(")  # type: ignore[attr-defined]
    read = sympy.sympify(str(found["polynomial"]), rational=True)
    gap = sympy.expand(read - known).subs(x, sympy.Rational(7, 5))
    assert abs(float(gap)) < 1e-12
    verdicts = {term["verdict"] for term in found["terms"]}  # type: ignore[attr-defined]
    assert verdicts == {"certified"}


def test_several_inputs_have_all_powers_up_to_the_order(capsys: Capture) -> None:
    words = ["exp(x + 2*y)", "x=0", "y=0", "--order", "3"]
    found = taylor(capsys, *words)
    terms: dict[tuple[int, ...], float] = {
        tuple(t["powers"]): t["coefficient"]
        for t in found["terms"]  # type: ignore[attr-defined]
    }
    wanted = {
        (i, j): 2**j / float(sympy.factorial(i) * sympy.factorial(j))
        for i in range(4)
        for j in range(4 - i)
    }
    assert terms == pytest.approx(wanted)


def test_the_polynomial_is_a_program(capsys: Capture) -> None:
    found = taylor(capsys, "log(x)*y", "x=2", "y=-1/3", "--order", "6")
    text = str(found["polynomial"])
    assert run(["value", text, "x=2.01", "y=-0.33", "-q"]) == 0
    value = float(capsys.readouterr().out)
    assert value == pytest.approx(float(sympy.log(2.01)) * -0.33, abs=1e-13)


@pytest.mark.parametrize(
    ("text", "at", "order", "radius"),
    [("sin(x)", 0.0, 3, 0.5), ("exp(x)", 1.0, 2, 0.25), ("1/(1 - x)", 0.0, 4, 0.5)],
)
def test_the_remainder_is_within_its_bound(
    capsys: Capture, text: str, at: float, order: int, radius: float
) -> None:
    words = [text, f"x={at}", "--order", str(order), "--within", str(radius)]
    found = taylor(capsys, *words)
    x, bound = sympy.Symbol("x"), float(str(found["bound"]))
    gap = sympy.sympify(text) - sympy.sympify(str(found["polynomial"]))
    apart = [
        abs(float(gap.subs(x, at + radius * k / 8).evalf(30))) for k in range(-8, 9)
    ]
    assert max(apart) <= bound
    # Lagrange's bound is no looser than its derivative's range demands.
    highest = sympy.diff(sympy.sympify(text), x, order + 1)
    largest = max(
        abs(float(highest.subs(x, at + radius * k / 64))) for k in range(-64, 65)
    )
    known = largest * radius ** (order + 1) / float(sympy.factorial(order + 1))
    assert known <= bound <= 1.01 * known


def test_a_wrong_coefficient_is_not_certified(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gradcli.large import blocks

    right = blocks.mixed_derivatives

    def wrong(*given: object) -> object:
        return {n: t + 1 if sum(n) == 2 else t for n, t in right(*given).items()}  # type: ignore[arg-type, operator]

    monkeypatch.setattr(blocks, "mixed_derivatives", wrong)
    words = ["exp(x)", "x=0", "--order", "2", *PATIENCE]
    assert run(["taylor", *words, "--require", "certified"]) == 1
    assert "1 rounded" in capsys.readouterr().out


def test_a_whole_number_behind_the_program_is_the_order(capsys: Capture) -> None:
    found = taylor(capsys, "exp(x)", "2")
    assert found["polynomial"] == taylor(capsys, "exp(x)", "--order", "2")["polynomial"]
    assert found["notes"] == [
        "2 is read as --order 2", "the point is x = 0; x=VALUE gives another"
    ]  # fmt: skip
    for words in (["2", "3"], ["2", "--order", "3"], ["99"]):
        assert run(["taylor", "exp(x)", *words]) == 2
