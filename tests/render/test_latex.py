"""LaTeX: it compiles, reads back as the same function, and looks as on paper."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest
from gradcli.render.latex import latex, names_in
from gradcli.render.latex_names import Symbols

from gradcli.ops import OPS
from gradcli.render.latex_forms import equations, latex_lines
from gradcli.verify.closed import _NAMES
from gradcli.views.closed_forms import FIRST, FormulaView, indices


def written(formula: str) -> str:
    return latex(formula, Symbols(names_in(formula)))


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("-a*w3", r"-a w_{3}"),
        ("-a*w3*sin(x[0])**2/2", r"-\frac{a w_{3} \sin^{2} x_{0}}{2}"),
        ("log(x)*y", r"y \log x"),
        ("x*2", r"2 x"),
        ("2*3*x", r"2 \cdot 3 x"),
        ("sin(x)*cos(x)", r"\sin\left(x\right) \cos x"),
        ("a*(b*sin(x))*y", r"a y b \sin x"),
        ("sin(x)**-1", r"\left(\sin x\right)^{-1}"),
        ("(-x)**2", r"\left(-x\right)^{2}"),
        ("-x**2", r"-x^{2}"),
        ("x - (y - 1)", r"x - \left(y - 1\right)"),
        ("x - -y", "x + y"),
        ("x/y/z", r"\frac{x}{y z}"),
        ("1/4*x", r"\frac{x}{4}"),
        ("-(x + y)/2", r"-\frac{x + y}{2}"),
        ("1e-05*x", r"1 \cdot 10^{-5} x"),
        ("exp(-x**2/2)", r"e^{-\frac{x^{2}}{2}}"),
        ("exp(x)**2", r"\left(e^{x}\right)^{2}"),
        ("polygamma(2, x)", r"\psi^{(2)}(x)"),
        ("abs(x)/x", r"\frac{\left|x\right|}{x}"),
        ("foo*bar", r"\mathit{foo} \, \mathit{bar}"),
    ],
)
def test_a_formula_looks_as_on_paper(formula: str, expected: str) -> None:
    assert written(formula) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("w1", "w_{1}"),
        ("w_1", "w_{1}"),
        ("alpha", r"\alpha"),
        ("lambda_", r"\lambda"),
        ("theta_12", r"\theta_{12}"),
        ("Omega", r"\Omega"),
        ("x_max", r"x_{\mathrm{max}}"),
        ("x_i_2", "x_{i,2}"),
        ("sigma_x", r"\sigma_{x}"),
        ("loss", r"\mathit{loss}"),
        ("θ", r"\theta"),
        ("é", r"\text{é}"),
        ("_x", r"\mathtt{\_x}"),
        ("x_", r"\mathtt{x\_}"),
        ("a1b2", r"\mathtt{a1b2}"),
    ],
)
def test_a_name_has_its_symbol(name: str, expected: str) -> None:
    assert Symbols([name])[name] == expected


def test_an_entry_is_a_subscript_of_the_whole_name() -> None:
    symbols = Symbols(["x", "w1", "alpha"])
    assert symbols.entry("x", "0,1") == "x_{0,1}"
    assert symbols.entry("w1", "0") == "(w_{1})_{0}"
    assert symbols.entry("alpha", "2") == r"\alpha_{2}"


def test_two_names_never_look_alike() -> None:
    names = ["w1", "w_1", "lambda_", "λ", "θ", "theta"]
    symbols = Symbols(names)
    assert len({symbols[name] for name in names}) == len(names)
    assert symbols["w_1"] == r"\mathtt{w\_1}"


READABLE = [
    "-a*b*sin(x)**2/2", "log(x)*y", "x**y**z - (y - 1)", "0.25*x", "a/(b/c)",
    "abs(x)/x", "asin(x)/2", "x**(1/2)", "(x*y)**2", "a*(b*sin(x))*y", "(a + b)**x",
    "2*x/(x**2 + 1)**2", "-1/x", "x - -y", "3/4*x", "2**(x + 1)*3", "-x**2", "-(-x)",
    "a - (b - (c - x))", "1/(1/x + 1/y)", "x/y*z", "x/(y*z)", "-x/-y", "cos(2*x)*y",
    "x*-y*-2", "a*tan(x)**2", "(a - b)/(x*y)",
]  # fmt: skip
"""What SymPy's reader can tell apart: not brackets behind a symbol, which may be a
call's, nor a factor behind a function."""

FORMULAS = [
    *READABLE, "(x + y)*a*b", "x*(y - z)/(a + b)", "-(x + y)*2*3**2", "(-x)**2*y",
    "x*(y - z)*(a + b)", "sqrt(x)/sqrt(z)",
    "sin(x)*cos(y)*tan(z + 1)", "foo*bar_1/lambda_", "w1[0]**2*x[1,2]", "1e-05*x**-2",
]  # fmt: skip
AT = {"a": 0.7, "b": 1.9, "c": -0.4, "x": 0.3, "y": 2.2, "z": 1.1}


@pytest.mark.parametrize("formula", READABLE)
def test_it_reads_back_as_the_same_function(formula: str) -> None:
    pytest.importorskip("lark")
    from sympy.parsing.latex import parse_latex_lark

    from gradcli.engine import NUMPY, Tensor
    from gradcli.lang.run import evaluate

    read: Any = parse_latex_lark(written(formula))
    found = float(read.subs({str(s): AT[str(s)] for s in read.free_symbols}))
    given = {n: Tensor(NUMPY.array(AT[n]), NUMPY) for n in names_in(formula)}
    assert isclose(found, evaluate(formula, given)[0].item(), rel_tol=1e-12)


def compiles(text: str) -> None:
    """Matplotlib's reader takes it; it knows no environments and not all commands."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    mathtext.MathTextParser("path").parse(f"${text}$")


@pytest.mark.parametrize("formula", FORMULAS)
def test_it_compiles(formula: str) -> None:
    compiles(written(formula))


WORDS = sorted({*_NAMES.values(), "sqrt", "digamma", "sinc"})


@pytest.mark.parametrize("name", WORDS)
def test_every_function_of_a_closed_form_compiles(name: str) -> None:
    text = f"{name}(x + 1, y)" if name == "atan2" else f"{name}(x + 1)"
    for formula in (text, f"{text}**2*y", f"y*{text}*{text}/{text}", f"-{text} + 1"):
        compiles(written(formula))
        assert written(formula).count("{") == written(formula).count("}")


@pytest.mark.parametrize(
    "op", [op for op in OPS.values() if op.latex and op.node], ids=lambda op: op.name
)
def test_every_template_has_its_brackets(op: Any) -> None:
    from gradcli.ops import parameters

    named = dict.fromkeys(parameters(op), "p")
    text = op.latex.format(*["x"] * 9, **named)
    assert text.count("{") == text.count("}")
    if "cases" not in text and r"\bmod" not in text:
        compiles(text)


HARD = [
    "_",
    "__",
    "x__y",
    "é",
    "变",
    "x变_1",
    "µ",
    "Ж",
    "a_b_c_d",
    "alpha_beta",
    "e",
    "I",
]


@pytest.mark.parametrize("name", HARD)
def test_every_name_compiles(name: str) -> None:
    text = Symbols([name]).entry(name, "0,1")
    assert text.count("{") == text.count("}")
    if text.isascii():
        compiles(text)
    else:
        assert r"\text{" in text


def view(
    of: str, by: str, lead: tuple[int, ...], shape: tuple[int, ...],
    texts: tuple[str | None, ...], second: bool = False, missing: str | None = None,
) -> FormulaView:  # fmt: skip
    around = ("d2L/d", " d") if second else FIRST
    return FormulaView(
        "L" if second else of, of, by, around, indices(lead), indices(shape),
        (*lead, *shape), texts, missing,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (view("L", "x", (), (), ("2*x",)), r"\frac{\partial L}{\partial x} = 2 x"),
        (view("L", "x", (), (2,), ("x[0]", "1")),
         r"\frac{\partial L}{\partial x} = "
         r"\begin{pmatrix} x_{0} \\ 1 \end{pmatrix}"),
        (view("L", "A", (), (1, 2), ("1", "2")),
         r"\frac{\partial L}{\partial A} = \begin{pmatrix} 1 & 2 \end{pmatrix}"),
        (view("y", "x", (2,), (1,), ("1", "2")),
         r"\frac{\partial y}{\partial x} = \begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
        (view("y", "A", (1,), (1, 2), ("1", "2")),
         r"\frac{\partial y_{0}}{\partial \left(A_{0,0}, A_{0,1}\right)} = "
         r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
        (view("x", "x", (), (), ("2",), True),
         r"\frac{\partial^{2} L}{\partial x^{2}} = 2"),
        (view("x", "y", (), (), ("2",), True),
         r"\frac{\partial^{2} L}{\partial x \, \partial y} = 2"),
        (view("x", "y", (), (2,), ("1", "2"), True),
         r"\frac{\partial^{2} L}{\partial x \, \partial y^{\top}} = "
         r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
        (view("x", "y", (2,), (), ("1", "2"), True),
         r"\frac{\partial^{2} L}{\partial x \, \partial y} = "
         r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
        (view("", "x", (), (), ("2",)), r"\frac{\partial f}{\partial x} = 2"),
        (view("", "f", (), (), ("2",)), r"\frac{\partial F}{\partial f} = 2"),
        (view("L", "x", (), (2,), ("1", None)),
         r"\frac{\partial L}{\partial x} = \begin{pmatrix} 1 \\ ? \end{pmatrix}"),
        (view("L", "x", (), (0,), ()),
         r"\frac{\partial L}{\partial x} = \begin{pmatrix}  \end{pmatrix}"),
    ],
)  # fmt: skip
def test_a_block_is_one_equation(block: FormulaView, expected: str) -> None:
    assert equations([block]) == [expected]


def test_what_was_not_found_is_a_comment() -> None:
    lost = view("L", "x", (), (), (None,), missing="out of\ntime % here")
    part = view("L", "y", (), (2,), ("1", None), missing="out of time")
    assert equations([lost]) == [None]
    first, second, third = [line.text for line in latex_lines([lost, part])]
    assert first == "% dL/dx: no formula: out of\\ntime % here"
    assert second.startswith(r"\frac")
    assert third == "% ?: no formula: out of time"


def test_a_long_sum_is_written_without_recursion() -> None:
    assert written(" + ".join(["x*y"] * 5000)).count("x y") == 5000
