"""LaTeX: brackets are closed, and names look as on paper; `tests/cli` compiles it."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
import sympy

from gradcli.answers.closed_forms import FIRST, FormulaView, equations, latex_lines
from gradcli.answers.gradients import indices
from gradcli.check.formulas import _LATEX
from gradcli.formulas.latex import LatexSymbols
from gradcli.ops import OPS
from tests.grouped import by_row

NAMES = ["a", "b", "c", "x", "y", "z", "w3", "foo", "bar_1", "lambda_"]
LETTERS: dict[str, Any] = {name: sympy.Dummy(name, real=True) for name in NAMES}
ENTRIES = {"x0": sympy.Dummy("x[0]", real=True), "x12": sympy.Dummy("x[1,2]")}


def expression(formula: str) -> Any:
    return sympy.sympify(formula, {**LETTERS, **ENTRIES})


def latex_of(formula: str) -> str:
    """A formula's LaTeX, names left open."""
    return str(_LATEX.doprint(expression(formula)))


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


@by_row(
    "op", [op for op in OPS.values() if op.latex and op.node], attrgetter("name"), str
)
def test_every_template_has_its_brackets(op: Any) -> None:
    from gradcli.ops import parameters

    named = dict.fromkeys(parameters(op), "p")
    text = op.latex.format(*["x"] * 9, **named)
    assert text.count("{") == text.count("}")


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
def test_every_name_has_its_brackets(name: str) -> None:
    text = LatexSymbols([name]).entry(name, "0,1")
    assert text.count("{") == text.count("}")
    assert text.isascii() or r"\text{" in text


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
    letters = [sympy.Dummy(f"x[{place}]") for place in range(2000)]
    assert str(_LATEX.doprint(sympy.Add(*letters))).count(" + ") == 1999
