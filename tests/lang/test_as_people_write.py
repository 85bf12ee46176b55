"""Lines as students and engineers type them: read as they are meant, or put right."""

from pathlib import Path

import pytest
import sympy

from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.parser import parse
from gradcli.lang.run import Run, Session, prepare
from gradcli.lang.suggest import other_reading
from gradcli.lang.tensor_library import CONSTANTS, is_function

X, Y, W, B = sympy.symbols("x y w b", real=True)
POINT = {X: 0.75, Y: 2.5, W: -1.5, B: 0.25}
VALUES = {symbol.name: f"{symbol.name}={value}" for symbol, value in POINT.items()}

E = sympy.E
PI = sympy.pi


def root(x: sympy.Expr, n: int) -> sympy.Expr:
    return x ** sympy.Rational(1, n)


READ = {
    "2x+1": 2 * X + 1,
    "2x^2": 2 * X**2,
    "4x³-2x": 4 * X**3 - 2 * X,
    "10⁻³x": X / 1000,
    "x²y": X**2 * Y,
    "-x²": -(X**2),
    "2 sin(x) cos(x)": 2 * sympy.sin(X) * sympy.cos(X),
    "2(x+1)": 2 * (X + 1),
    "(x+1)(x-1)": (X + 1) * (X - 1),
    "e^(-x²/2)/√(2π)": E ** (-(X**2) / 2) / sympy.sqrt(2 * PI),
    "2e": 2 * E + 0 * X,
    "2e3x": 2000 * X,
    "π*x": PI * X,
    "tau*x - 2pi*x": 0 * X,
    "|x-1|": abs(X - 1),
    "2|x|+|x||y|": 2 * abs(X) + abs(X) * abs(Y),
    "||x|-1|": abs(abs(X) - 1),
    "||x||": abs(X),
    "√x": sympy.sqrt(X),
    "3√x": 3 * sympy.sqrt(X),
    "x × y ÷ 2 − 1": X * Y / 2 - 1,
    "1 if x ≤ y else x": 1 + 0 * X,
    "log(x, 3)": sympy.log(X) / sympy.log(3),
    "log2(8x)": sympy.log(8 * X) / sympy.log(2),
    "root(x, 5)": root(X, 5),
    "sec(x)+csc(x)+cot(x)": sympy.sec(X) + sympy.csc(X) + sympy.cot(X),
    "sech(x)+csch(x)+coth(x)": sympy.sech(X) + sympy.csch(X) + sympy.coth(X),
    "asec(1+x)+acsc(1+x)+acot(x)": sympy.asec(1 + X)
    + sympy.acsc(1 + X)
    + sympy.acot(X),
    "asech(x)+acsch(x)+acoth(1+x)": sympy.asech(X)
    + sympy.acsch(X)
    + sympy.acoth(1 + X),
    "max(x, 0)": X,
    "max(x,y)": Y + 0 * X,
    "min(max(x, 0), 6)": X,
    "[x, y]@[y, x]": 2 * X * Y,
    "[[x, y], [0, 1]]@[y, 2]@[1, 0]": X * Y + 2 * Y,
    "norm([x, 2x])": sympy.sqrt(5) * X,
    "sum([x, x²])": X + X**2,
    "1/2x": X / 2,
    "nCr(3, 2)*x": 3 * X,
    "x^2/2 - 1e-3": X**2 / 2 - sympy.Rational(1, 1000),
    "y = 2x; y²": (2 * X) ** 2,
    "x✕y⨯2": 2 * X * Y,
    "jnp.sin(x)": sympy.sin(X),
    "x y": X * Y,
    "x e^x": X * E**X,
    "x 2": 2 * X,
    "x^2(y+1)": X**2 * (Y + 1),
    "(x+1)2": 2 * (X + 1),
    "x(1+y)": X * (1 + Y),
    "a = 3; 2a x²": 6 * X**2,
    "sin x": sympy.sin(X),
    "sin 2x": sympy.sin(2 * X),
    "sin x cos x": sympy.sin(X) * sympy.cos(X),
    "exp -x": E**-X,
    "sin²(x)": sympy.sin(X) ** 2,
    "sin²x": sympy.sin(X) ** 2,
    "sin^2 x + cos^2 x": 1 + 0 * X,
    "sin^(-1)(x)": sympy.asin(X),
    "sinx": sympy.sin(X),
    "2πx": 2 * PI * X,
    "tanh(wx+b)": sympy.tanh(W * X + B),
    "x!": sympy.gamma(X + 1),
    "σ(x)": 1 / (1 + E**-X),
    "∑x²": X**2,
    "ln|x-1|": sympy.log(abs(X - 1)),
    "y|x-1|": Y * abs(X - 1),
    "lg x": sympy.log(X) / sympy.log(10),
    "tg^-1 x": sympy.atan(X),
    "IF(x>0,x²,0)": X**2,
    "2x mod 1": 2 * X - 1,
    "mod(x, 2)": X,
    "sinxcosx": sympy.sin(X) * sympy.cos(X),
    "sinx^2": sympy.sin(X**2),
    "sin2x": sympy.sin(2 * X),
    "xysin(x)": X * Y * sympy.sin(X),
    "e^-xy": E ** (-X * Y),
    "√xy": sympy.sqrt(X * Y),
    "x½": X / 2,
    "sin(30x°)": sympy.sin(X * PI / 6),
    "sin 30° + x": X + sympy.Rational(1, 2),
    "eˣ": E**X,
    "x⁽²⁺¹⁾": X**3,
    "⌊x⌋ + x": X,
    "x.^2./y": X**2 / Y,
    "Sin[x]^2 Cos[x]": sympy.sin(X) ** 2 * sympy.cos(X),
    "MAX(x;0)": X,
    "=SIN(x)*2": 2 * sympy.sin(X),
    "$x^2$": X**2,
    "exp{-x}/{x+1}": E**-X / (X + 1),
    r"\frac{1}{2x}": 1 / (2 * X),
    r"e^{x}y": E**X * Y,
    r"\frac{1}{\sqrt{2\pi}}e^{-\frac{x^2}{2}}": E ** (-(X**2) / 2) / sympy.sqrt(2 * PI),
    r"\sin^{2}\left(x\right)": sympy.sin(X) ** 2,
    r"\sqrt[3]{x} \cdot \left|x-1\right|": root(X, 3) * abs(X - 1),
    "log_3(x)*2": 2 * sympy.log(X) / sympy.log(3),
    "xy²/2": X * Y**2 / 2,
    "||x||_2": abs(X),
    "degrees(x)": 180 * X / PI,
    r"\sigma(x)": 1 / (1 + E**-X),
    "½x": X / 2,
    "x ＋ 1": X + 1,
    "5% * x": X / 20,
    "f(x) = x^2": X**2,
    "f(x) = x^2; f(3x)": 9 * X**2,
    "f(t, s) = t*s; g(t) = f(t, t+1); g(x)": X * (X + 1),
    "f = lambda t: t**2; f(x)*x": X**3,
    "def f(t, n=2): return t**n\nf(x) + f(y, n=3)": X**2 + Y**3,
    "def f(x):\n  '''A square.'''\n  z = x*x\n  return z": X**2,
    "sum(i*x for i in range(4))": 6 * X,
    "prod([x**i for i in range(4) if i != 2])": X**4,
    "from math import *\nmath.arctan(x)": sympy.atan(X),
    "return x**2": X**2,
}
"""What a line means; None: it is among those that are put right."""

PUT_RIGHT = {
    "10^-3x": ("10^-3*x", X / 1000),
    "1/xy^2": ("1/(x*y^2)", 1 / (X * Y**2)),
    "derivative of x^2": ("x^2", X**2),
    "1 000*x": ("1000*x", 1000 * X),
    "2 1/2 x": ("(2+1/2) x", 5 * X / 2),
    "3,000x": ("3000x", 3000 * X),
    "evaluate x^2": ("x^2", X**2),
    "'x^2'": ("x^2", X**2),
    "1,5x": ("1.5x", 1.5 * X),
    "f'(x) = 2x": ("f = 2x", 2 * X),
    "dy/dx = 2x": ("y = 2x", 2 * X),
    "dy/dx x^2": ("x^2", X**2),
}
"""What is shown in place of a line, and what that means."""


def ran(line: str) -> Run:
    """The line, with values for the names that are in it."""
    line = line.replace("ˣ", "^x")
    words = [word for name, word in VALUES.items() if name in line.replace("tanh", "")]
    line_has = [w for w in words if w[0] in "xy" or "tanh" in line]
    return Session(prepare(line, read_bindings(line_has))).run()


def derivative(run: Run, name: str) -> float:
    names = [given.name for given in run.inputs]
    if name not in names or run.output.edge is None:
        return 0.0
    found = run.gradients()[names.index(name)]
    return 0.0 if found is None else float(found)


def check(run: Run, meant: sympy.Expr) -> None:
    assert run.output.item() == pytest.approx(float(meant.subs(POINT)), rel=1e-12)
    slope = float(sympy.diff(meant, X).subs(POINT))
    assert derivative(run, "x") == pytest.approx(slope, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("line", [line for line in READ if READ[line] is not None])
def test_a_line_is_read_as_it_is_meant(line: str) -> None:
    meant = READ[line]
    if "y = " in line:
        line = line.replace("y", "z")
    check(ran(line), meant)


@pytest.mark.parametrize("line", READ)
def test_the_latex_of_a_meaning_is_read_as_that(line: str) -> None:
    check(ran(sympy.latex(READ[line])), READ[line])


NOTATION = Path(__file__).with_name("notation.tsv").read_text().splitlines()
"""Formulas, with the number of dimensions of each name, and what they are read as; `!`:
they are refused, `=`: they stand as they are."""


@pytest.mark.parametrize("row", NOTATION)
def test_notation_is_read_by_the_dimensions_of_its_names(row: str) -> None:
    text, names, meant = row.split("\t")
    ranks = {n: int(rank) for n, rank in (each.split(":") for each in names.split())}
    try:
        read = parse(text, ranks, lambda: ranks).source
    except ProgramError:
        read = "!"
    assert read == (text if meant == "=" else meant)


def put_right(line: str) -> str:
    with pytest.raises(ProgramError) as caught:
        ran(line)
    assert caught.value.hint is not None
    return caught.value.hint.rpartition("write ")[2]


@pytest.mark.parametrize("line", PUT_RIGHT)
def test_a_line_that_can_be_meant_in_two_ways_is_put_right(line: str) -> None:
    shown, meant = PUT_RIGHT[line]
    bound = line.replace("y", "z") if "y'" in line or "dy" in line else line
    assert put_right(bound) == shown.replace("y", "z" if bound != line else "y")
    check(ran(shown if bound == line else shown.replace("y", "z")), meant)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("PI", "the constant is written pi"),
        ("E", "the constant is written e"),
        ("T", "a transpose is written x.T"),
        ("xe", "a product is written x e"),
        ("xsiny", "a product is written x sin y"),
        ("theta", None),
        ("wx", None),
        ("sinw", None),
    ],
)
def test_an_input_that_may_be_meant_otherwise_is_told(
    name: str, told: str | None
) -> None:
    values = {"x", "y", *CONSTANTS}
    assert other_reading(name, values, CONSTANTS, is_function) == told


def test_a_name_that_the_program_assigns_later_is_no_constant() -> None:
    assert [i.name for i in prepare("y = 2e; e = 3").inputs] == ["e"]


def test_a_product_without_a_sign_costs_no_recursion() -> None:
    line = "+".join(["2x"] * 20_000)
    assert ran(line).output.item() == pytest.approx(30_000.0)
    assert ran("(" * 3000 + "2x" + ")" * 3000).output.item() == 1.5
    assert ran("|1+" * 500 + "x" + "|" * 500).output.item() == 500.75


ALONG = {
    "softmax(v)": [0.26894142136999505, 0.7310585786300048],
    "v.softmax()": [0.26894142136999505, 0.7310585786300048],
    "softmax([x - 2, 0])": [0.5, 0.5],
    "logsumexp(v)": 2.313261687518223,
    "cumsum(v)": [1.0, 3.0],
}
"""Values of functions that go along the only dimension of a vector."""


@pytest.mark.parametrize("line", ALONG)
def test_a_vector_has_one_dimension_to_go_along(line: str) -> None:
    words = [["v=[1,2]", "x=2"]["x" in line.replace("exp", "").replace("max", "")]]
    run = Session(prepare(line, read_bindings(words))).run()
    assert run.output.tolist() == pytest.approx(ALONG[line])


def test_the_graph_is_that_of_the_call_with_dim() -> None:
    bound = read_bindings(["v=[1,2]"])
    runs = [Session(prepare(f"softmax({v})", bound)).run() for v in ("v", "v, 0")]
    names = [type(run.output.edge).__name__ for run in runs]
    assert names == ["SoftmaxBackward0"] * 2


@pytest.mark.parametrize("line", ["softmax(m)", "logsumexp(m)", "m.softmax()"])
def test_a_matrix_has_two_and_both_readings_are_shown(line: str) -> None:
    bound = read_bindings(["m=[[1,2],[3,4]]"])
    with pytest.raises(ProgramError) as caught:
        Session(prepare(line, bound)).run()
    hint = caught.value.hint or ""
    assert "(x, 0) goes down the columns" in hint
    assert "(x, 1) along the rows" in hint
