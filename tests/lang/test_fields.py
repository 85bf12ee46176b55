"""Divergence, curl and Laplacian inside programs, beside SymPy, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang.errors import ProgramError
from gradcli.lang.run import evaluate

AT = {"x": 1.25, "y": -0.5, "z": 2.0}


def ran(source: str, **values: Any) -> tuple[Tensor, dict[str, Tensor]]:
    tensors = {n: Tensor(np.array(v, float), NUMPY, True) for n, v in values.items()}
    return evaluate(source, tensors)[0], tensors


def value(source: str, **values: Any) -> Any:
    return ran(source, **values)[0].tolist()


FIELDS = [
    ["x*y", "y^2*z", "sin(z)*x"], ["y", "z", "x"], ["-y", "x", "0*x"],
    ["exp(x*y)", "x^2 + y^2 + z^2", "cos(x - z)"],
]  # fmt: skip


def true(entries: list[str], kind: str) -> Any:
    names = sympy.symbols("x y z")
    field = [sympy.sympify(e.replace("^", "**")) for e in entries]
    partial = [[sympy.diff(f, s).subs(AT) for s in names] for f in field]
    if kind == "div":
        return float(sum(partial[k][k] for k in range(3)))
    turns = [(1, 2), (2, 0), (0, 1)]
    return [float(partial[j][i] - partial[i][j]) for i, j in turns]


@pytest.mark.parametrize("entries", FIELDS)
@pytest.mark.parametrize("kind", ["div", "curl"])
def test_it_is_what_sympy_has(entries: list[str], kind: str) -> None:
    found = value(f"{kind}([{', '.join(entries)}])", **AT)
    assert found == pytest.approx(true(entries, kind))


@pytest.mark.parametrize("text", ["x^2*y^3*z", "exp(x)*sin(y)*z", "sqrt(x^2+y^2+z^2)"])
def test_a_laplacian_is_what_sympy_has(text: str) -> None:
    formula = sympy.sympify(text.replace("^", "**"))
    symbols = sympy.symbols("x y z")
    laplacian = sum(sympy.diff(formula, s, 2) for s in symbols)
    output, tensors = ran(f"lap({text})", **AT)
    (again,) = grad([output], [tensors["y"]])
    assert again is not None
    second = sympy.diff(laplacian, symbols[1])
    known = [float(e.subs(AT)) for e in (laplacian, second)]
    assert [output.item(), again.item()] == pytest.approx(known)


MEANT = {
    "div([y, x])": 0.0,
    "div([x^2, y])": 3.5,
    "div([x^2, y], [x, y])": 3.5,
    "div([y^2, x], y, x)": 0.0,
    "F = [x^2, y]; div(F)": 3.5,
    "divergence([x*y, y])": 0.5,
    "div(grad(x^2*y^2))": 3.625,
    "div(x, y)": -2.5,
    "div(x, y, rounding_mode='floor')": -3.0,
    "curl([-y, x])": 2.0,
    "rot([-y, x])": 2.0,
    "curl([-y, x, 0])": [0.0, 0.0, 2.0],
    "laplacian(x^2)": 2.0,
    "lap(x^2*y, y)": 0.0,
    "f(x, y) = x^2*y; lap(f(x, y))": -1.0,
    "g(x, y) = lap(x^2*y); g(y, x)": 2.5,
    "u = x^2; lap(u^2 + 0*y, u)": 2.0,
}


@pytest.mark.parametrize("source", MEANT)
def test_it_is_what_is_meant(source: str) -> None:
    read = {n: v for n, v in AT.items() if n in "xy"}
    if "y" not in source:
        read.pop("y")
    assert value(source, **read) == pytest.approx(MEANT[source])


def test_the_entries_of_a_vector_are_coordinates() -> None:
    x = [1.0, 2.0, 3.0]
    assert value("lap((x**2).sum())", x=x) == 6.0
    assert value("div(A@x)", A=[[1.0, 2.0], [3.0, 4.0]], x=x[:2]) == 5.0
    assert value("divergence(A@v, v)", A=[[1.0, 2.0], [3.0, 4.0]], v=x[:2]) == 5.0
    assert value("curl([x[1]*x[2], x[0], 0*x[0]])", x=x) == [0.0, 2.0, -2.0]


REFUSED = {
    "div([x*z, y])": "there is no divergence by x, y, z of shape [2]",
    "div(x*y*z)": "there is no divergence by x, y, z of a number",
    "curl([x, y, z, x])": "there is no curl by x, y, z of shape [4]",
    "u = 2*x; v = y*z; lap('a')": "the laplacian by x, y, z is of a formula in these",
}


@pytest.mark.parametrize("source", REFUSED)
def test_what_has_no_meaning_is_refused(source: str) -> None:
    with pytest.raises(ProgramError) as caught:
        value(source, **AT)
    assert caught.value.message == REFUSED[source]
    assert caught.value.hint


def test_coordinates_have_to_be_named_where_they_are_no_x_y_z() -> None:
    with pytest.raises(ProgramError) as caught:
        value("lap(u^2*v)", u=1.0, v=2.0)
    assert caught.value.hint == "name other coordinates: laplacian(f, u, v)"
    with pytest.raises(ProgramError, match="x, y are no coordinates"):
        value("lap((x*y).sum())", x=[1.0, 2.0], y=[1.0, 2.0])
