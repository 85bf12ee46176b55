"""Derivatives inside programs: what they are, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.implicit import equation_of
from gradcli.lang.parser import parse
from gradcli.lang.run import evaluate

X = sympy.Symbol("x")


def ran(source: str, **values: Any) -> tuple[Tensor, dict[str, Tensor]]:
    tensors = {n: Tensor(np.array(v, float), NUMPY, True) for n, v in values.items()}
    return evaluate(source, tensors)[0], tensors


def value(source: str, **values: Any) -> Any:
    return ran(source, **values)[0].tolist()


FORMULAS = ["x^3", "sin(x)*x", "exp(sin(x))/x", "x^x", "atan(x^2)", "log(x + 1)^3"]


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_it_is_the_derivative_that_sympy_has(text: str, order: int) -> None:
    source = f"diff({text}, x, {order})"
    formula = sympy.sympify(text.replace("^", "**"))
    output, tensors = ran(source, x=1.3)
    (again,) = grad([output], [tensors["x"]])
    assert again is not None
    true = [float(sympy.diff(formula, X, order + k).subs(X, 1.3)) for k in (0, 1)]
    assert [output.item(), again.item()] == pytest.approx(true)


MEANT = {
    "diff(diff(x^4, x), x)": 48.0,
    "diff(x^3*y^2, x, y)": 72.0,
    "diff(x^3, [x, 2])": 12.0,
    "diff(y, x)": 0.0,
    "diff(5, x)": 0.0,
    "z = x^2; diff(z^3, z)": 48.0,
    "z = x^2; diff(z*x, x)": 12.0,
    "z = x^2; diff(z*x, z)": 2.0,
    "z = x; diff(z*x, z)": 2.0,
    "z = 3; diff(z^3, z)": 27.0,
    "f(t) = diff(t*x, t); f(x)": 2.0,
    "f(t) = t^3; f'(x)": 12.0,
    "f(t) = t^3; f''(2x)": 24.0,
    "f(t) = t^3; f′(x)": 12.0,
    "f(t) = t^3; x*f'(x) + f(x)": 32.0,
    "exp'(0)": 1.0,
    "D[x^3, x]": 12.0,
    "D[x^3 y, {x, 2}]": 36.0,
    r"\frac{d}{dx} x^3 + 1": 13.0,
    r"\frac{d}{dx}(x^3 + x)": 13.0,
    r"\frac{\partial x^3 y}{\partial x}": 36.0,
    r"\frac{\partial^2}{\partial x \partial y} x^3 y^2": 72.0,
    r"\frac{d^2}{dx^2} x^{3}": 12.0,
    r"f(t) = t^3; \frac{d f(x)}{dx}": 12.0,
    r"f(t) = t^3; \frac{d f}{dx}": 12.0,
    r"f(s, t) = s^3*t^2; \frac{d f(x, y)}{dx}": 108.0,
    r"f(x, y) = x^3 y^2; \frac{\partial^2 f}{\partial x \partial y}": 72.0,
    r"f = x^3 y^2; \frac{\partial^2 f}{\partial x \partial y}": 72.0,
    "d/dx x^2": 4.0,
    "d/dx(x^3)": 12.0,
    "d/dx x^3 + 1": 13.0,
    "z = d/dx x^3*y": 36.0,
    "x*(d/dx x^2)": 8.0,
    "∂/∂x x²": 4.0,
    "d^2/dx^2 x^3": 12.0,
    "∂²/∂x∂y x^3*y^2": 72.0,
    "d = 6; dx = 3; d/dx": 2.0,
    "z = 0\nfor i in range(4): z = z + diff(x^i, x)\nz": 17.0,
    "with no_grad(): z = diff(x^2, x)\nz": 4.0,
}


@pytest.mark.parametrize("source", MEANT)
def test_a_derivative_is_read_and_computed(source: str) -> None:
    known = {"x": 2.0, "y": 3.0}
    read = parse(source, known).source
    needed = {n: v for n, v in known.items() if n in read}
    assert value(source, **needed) == MEANT[source]


def test_arrays_by_a_number_and_numbers_by_an_array() -> None:
    v = [1.0, 2.0, 3.0]
    assert value("diff(v*x^2, x)", x=2, v=v) == [4.0, 8.0, 12.0]
    assert value("diff([x, x^2], x)", x=2) == [1.0, 4.0]
    assert value("diff(sum(v^2)*x, v)", x=2, v=v) == [4.0, 8.0, 12.0]


def test_without_a_name_it_is_the_difference_of_entries() -> None:
    v = [1.0, 2.0, 4.0]
    assert value("diff(v)", v=v) == value("diff(v, 1)", v=v) == [1.0, 2.0]
    assert value("diff(v, n=2)", v=v) == [1.0]
    assert value("diff(v, dim=0)", v=v) == [1.0, 2.0]


REFUSED = {
    "diff(x^2, 2)": "write diff(x^2, x)",
    "diff(x^2, 2*x)": "write diff(x^2, x)",
    "diff(x^2, x, 1.5)": "diff(f, x, 2)",
    "diff(x^2, x, 0)": "diff(f, x, 2)",
    "diff(x^2, x, n=2)": "diff(f, x, 2)",
    "diff(v*x, v)": "gradcli jacobian",
    "diff('a', x)": "diff(x^2, x)",
    "g(s, t) = s*t; g'(x, x)": "write diff(f(x, y), x)",
    "g'(x)": "define f(x) = ...",
}


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_no_derivative_is_refused_with_a_way_out(source: str) -> None:
    with pytest.raises(ProgramError) as caught:
        ran(source, x=2, v=[1.0, 2.0])
    assert REFUSED[source] in (caught.value.hint or "")


def test_no_derivative_leads_out_of_no_grad() -> None:
    output, tensors = ran("with no_grad(): z = diff(x^2, x)\nz*x", x=2)
    (g,) = grad([output], [tensors["x"]])
    assert g is not None
    assert g.item() == 4.0


def test_an_equation_is_one_only_if_nothing_else_is_meant() -> None:
    names = ["x", "y"]
    found = equation_of("x²+y²=25", "y", names)
    assert found is not None
    assert found.names == ("x", "y")
    assert found.others(None) == ["x"]
    for text in ("y = x^2", "x^2 + y^2", "x^2 == y", "f(x) = x*y", "a = x; x+y = a"):
        assert equation_of(text, "y", names) is None
    assert equation_of("x²+y²=25", "z", names) is None
    assert equation_of("x²+y²=25", None, names) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x=3", "y=3"], "left 18, right 25"),
        (["x=5", "y=0"], "no function of the others"),
        (["x=[3,4]", "y=4"], "arrays"),
    ],
)
def test_values_off_an_equation_are_refused(words: list[str], said: str) -> None:
    found = equation_of("x²+y²=25", "y", ["x", "y"])
    assert found is not None
    with pytest.raises(ProgramError, match=said):
        found.require_at(read_bindings(words))
    found.require_at(read_bindings(["x=3", "y=4"]))
    found.require_at(read_bindings(["x=3"]))
