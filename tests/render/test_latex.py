"""LaTeX: it compiles, reads back as the same function, and looks as on paper."""

from __future__ import annotations

from math import isclose
from typing import Any

import pytest
import sympy

from gradcli.answers.closed_forms import FIRST, FormulaView, indices
from gradcli.answers.formula_lines import equations, latex_lines, symbols_in
from gradcli.answers.formula_lines import written as with_symbols
from gradcli.check.formulas import _LATEX, _NAMES
from gradcli.formulas.latex import LatexSymbols
from gradcli.ops import OPS

NAMES = ["a", "b", "c", "x", "y", "z", "w3", "foo", "bar_1", "lambda_"]
LETTERS: dict[str, Any] = {name: sympy.Dummy(name, real=True) for name in NAMES}
ENTRIES = {"x0": sympy.Dummy("x[0]", real=True), "x12": sympy.Dummy("x[1,2]")}


def expression(formula: str) -> Any:
    return sympy.sympify(formula, {**LETTERS, **ENTRIES})


def latex_of(formula: str) -> str:
    """A formula's LaTeX, names left open."""
    return str(_LATEX.doprint(expression(formula)))


def written(formula: str) -> str:
    latex = latex_of(formula)
    return with_symbols(latex, LatexSymbols(symbols_in(latex)))


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
    assert LatexSymbols([name])[name] == expected


def test_two_names_never_look_alike_and_an_entry_is_a_subscript_of_the_whole() -> None:
    names = ["w1", "w_1", "lambda_", "λ", "θ", "theta"]
    symbols = LatexSymbols(names)
    assert len({symbols[name] for name in names}) == len(names)
    assert symbols["w_1"] == r"\mathtt{w\_1}"
    assert symbols.entry("x", "0,1") == "x_{1,2}"
    assert symbols.entry("w2", "0") == "(w_{2})_{1}"


READABLE = [
    "-a*b*sin(x)**2/2", "log(x)*y", "x**y**z - (y - 1)", "a/(b/c)", "abs(x)/x",
    "asin(x)/2", "x**(1/2)", "(x*y)**2", "a*(b*sin(x))*y", "2*x/(x**2 + 1)**2", "-1/x",
    "3/4*x", "-x**2", "a - (b - (c - x))", "1/(1/x + 1/y)", "x/y*z", "cos(2*x)*y",
    "a*tan(x)**2", "(a - b)/(x*y)",
]  # fmt: skip
"""What SymPy's reader can tell apart."""

FORMULAS = [
    *READABLE, "(x + y)*a*b", "x*(y - z)/(a + b)", "(-x)**2*y", "sqrt(x)/sqrt(z)",
    "sin(x)*cos(y)*tan(z + 1)", "foo*bar_1/lambda_", "x0**2*x12",
]  # fmt: skip
AT = {"a": 0.7, "b": 1.9, "c": -0.4, "x": 0.3, "y": 2.2, "z": 1.1}


@pytest.mark.parametrize("formula", READABLE)
def test_it_reads_back_as_the_same_function(formula: str) -> None:
    pytest.importorskip("lark")
    from sympy.parsing.latex import parse_latex_lark

    read: Any = parse_latex_lark(written(formula))
    found = float(read.subs({str(s): AT[str(s)] for s in read.free_symbols}))
    true = expression(formula).subs({LETTERS[name]: v for name, v in AT.items()})
    assert isclose(found, float(true), rel_tol=1e-12)


def compiles(text: str) -> None:
    """Matplotlib's reader takes it; it knows no environments and not all commands."""
    mathtext = pytest.importorskip("matplotlib.mathtext")
    mathtext.MathTextParser("path").parse(f"${text}$")


@pytest.mark.parametrize("formula", FORMULAS)
def test_it_compiles(formula: str) -> None:
    compiles(written(formula))


@pytest.mark.parametrize("key", _NAMES, ids=lambda key: "-".join(map(str, key)))
def test_every_function_of_a_closed_form_compiles(key: tuple[Any, ...]) -> None:
    x, y = LETTERS["x"], LETTERS["y"]
    head, *given = key
    free = 2 - len(given) if 2 in head.nargs else 1
    each = head(*given, *(x + 1, y)[:free])
    for made in (each, each**2 * y, y * each * (each + 1) / (each + 2), 1 - each):
        latex = str(_LATEX.doprint(made))
        compiles(with_symbols(latex, LatexSymbols(symbols_in(latex))))


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


HARD = (
    "_",
    "__",
    "x__y",
    "é",
    "变",
    "x变_1",
    "µ",
    "Ж",
    "a_b_c",
    "alpha_beta",
    "e",
    "I",
)


@pytest.mark.parametrize("name", HARD)
def test_every_name_compiles(name: str) -> None:
    text = LatexSymbols([name]).entry(name, "0,1")
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
    latex = tuple(None if t is None else latex_of(t) for t in texts)
    return FormulaView(
        "L" if second else of, of, by, around, indices(lead), indices(shape),
        (*lead, *shape), texts, missing, latex,
    )  # fmt: skip


def test_what_was_not_found_is_a_comment() -> None:
    lost = view("L", "x", (), (), (None,), missing="out of\ntime % here")
    part = view("L", "y", (), (2,), ("1", None), missing="out of time")
    assert equations([lost]) == [None]
    first, second, third = [line.text for line in latex_lines([lost, part])]
    assert first == "% dL/dx: no formula: out of\\ntime % here"
    assert second.startswith(r"\frac")
    assert third == "% ?: no formula: out of time"


def test_a_long_sum_is_written_without_recursion() -> None:
    letters = [sympy.Dummy(f"x[{place}]") for place in range(5000)]
    assert str(_LATEX.doprint(sympy.Add(*letters))).count(" + ") == 4999
