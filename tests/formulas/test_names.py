"""Whatever a program's names are, the code compiles, and says what it calls them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gradcli.formulas.c import C
from gradcli.formulas.libraries import NumPy
from gradcli.formulas.tree import FreshNames

from .written import Library, run_python, same, written

SETS = [
    ("int", "double", "value"),
    ("e", "I", "gamma"),
    ("y0", "j1", "exp"),
    ("x", "x_grad", "x_grad_"),
    ("t1", "t2", "t1_"),
    ("gradient", "sigmoid", "logsigmoid"),
    ("np", "torch", "special"),
    ("α", "alpha", "Α"),
    ("μ", "µ", "mu"),
    ("θ_1", "Ω", "é"),
    ("变量", "变", "x变"),
    ("_", "__", "_x"),
    ("NAN", "INFINITY", "M_PI"),
    ("isnan", "sin", "pow"),
    ("float", "len", "print"),
    ("const", "void", "restrict"),
    ("_Bool", "linux", "signbit"),
    ("sinf", "lgamma_r", "erfl"),
]

PROGRAM = "{0}*sigmoid({1}) + {2}**2*exp({0}) + logsigmoid({1})*sin({2})"


def program(names: tuple[str, str, str]) -> str:
    return PROGRAM.format(*names)


def values(names: tuple[str, str, str]) -> dict[str, float]:
    return dict(zip(names, (0.5, -1.25, 2.0), strict=True))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_compiles_under_any_names(tmp_path: Path) -> None:
    each = [written(program(names), values(names)) for names in SETS]
    library = Library([one.text("c") for one in each], tmp_path)
    for number, one in enumerate(each):
        same(library.run(number, one.kind, one.shapes, one.inputs), one.results)


@pytest.mark.parametrize("language", ["numpy", "torch"])
@pytest.mark.parametrize("names", SETS, ids="-".join)
def test_python_runs_under_any_names(
    language: str, names: tuple[str, str, str]
) -> None:
    if language == "torch":
        pytest.importorskip("torch")
    one = written(program(names), values(names))
    same(run_python(one.text(language), "gradient", one.inputs), one.results)


def test_a_parameter_is_never_broken_in_two() -> None:
    names = [f"a_rather_long_name_{k}" for k in range(9)]
    one = written(" * ".join(names), dict.fromkeys(names, 1.0))
    lines = one.text("c").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("void "))
    signature = lines[start : lines.index("{")]
    assert len(signature) > 1
    assert all(line.endswith((",", ")")) and len(line) <= 80 for line in signature)


@pytest.mark.parametrize("language", ["numpy", "torch", "c"])
def test_a_name_that_cannot_stay_is_said(language: str) -> None:
    one = written("int*value", {"int": 2, "value": 3})
    text = one.text(language)
    assert "int_: a number (here for int)" in text
    assert "value: a number\n" in text
    assert "out  value_2: the output, a number" in text


def test_a_name_is_kept_where_it_can_be() -> None:
    names = FreshNames(C.reserved, C.ascii)
    taken = [names.take(n) for n in ("theta", "x", "int", "θ", "λ", "Ω", "变")]
    assert taken == ["theta", "x", "int_", "theta_2", "lambda", "Omega", "v"]
    names = FreshNames(NumPy.reserved)
    taken = [names.take(n) for n in ("θ", "int", "µ", "μ")]
    assert taken == ["θ", "int_", "μ", "μ_2"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize(
    "comment",
    ["*/ int x; /*", "/* again", "??/", "\\", "a \\", "\x0c", "// twice", '"', "%d"],
)
def test_nothing_in_a_program_leaves_the_comment(tmp_path: Path, comment: str) -> None:
    one = written(f"y = x*2  # {comment}\ny*3", {"x": 2})
    library = Library([one.text("c")], tmp_path)
    same(library.run(0, one.kind, one.shapes, one.inputs), one.results)
    for language in ("numpy", "torch"):
        compile(one.text(language), "<written>", "exec")
