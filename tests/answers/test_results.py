"""`gradcli.grad`, `gradcli.jacobian` and `gradcli.check` in Python, and tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import gradcli
from gradcli.lang.errors import ProgramError

PATIENCE = 600.0
"""Seconds that a check may take here: a busy machine changes no verdict."""


def test_a_gradient_has_numbers_formula_and_verdict() -> None:
    found = gradcli.grad("x^2", x=3, seconds=PATIENCE)
    assert (found.value, found["x"], found.grads) == (9.0, 6.0, {"x": 6.0})
    assert found.verdicts == {"x": "proved"}
    assert found.formulas == {"x": "2*x"}
    lines = repr(found).splitlines()
    assert lines[0] == "output = 9.0"
    assert "d/dx = 6.0" in lines
    assert "d/dx  proved  2*x  max_error 0" in lines
    assert found._repr_latex_() == (
        r"$$\begin{aligned} \frac{\partial f}{\partial x} &= 2 x \end{aligned}$$"
    )
    cells = [cell.text for cell in ElementTree.fromstring(found._repr_html_()).iter()]
    assert {"d/dx", "6.0", "2*x", "proved"} < {*cells}


def test_without_values_the_answer_is_the_formula() -> None:
    found = gradcli.grad("y = x^2*sin(a)", seconds=PATIENCE)
    assert found.value is None
    assert found.formulas == {"x": "2*x*sin(a)", "a": "x**2*cos(a)"}
    assert repr(found).splitlines()[0] == "dy/dx = 2*x*sin(a)  proved"
    given = gradcli.grad("y = x^2*a", a=2, seconds=PATIENCE)
    assert given.formulas["x"] == "2*a*x"
    matrices = gradcli.grad("norm(A@x - b)^2", wrt="x", seconds=PATIENCE)
    assert matrices.formulas == {"x": "2 * A.T @ (A @ x - b)"}


def test_an_unchecked_gradient_starts_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from gradcli.answers import results

    monkeypatch.setattr(results, "Checker", None)
    found = gradcli.grad("sum(x^2)", x=np.arange(3.0), verify=False)
    assert found["x"].tolist() == [0.0, 2.0, 4.0]
    assert found.verdict == "unknown"
    assert found._repr_latex_() is None
    assert repr(found).endswith("d/dx = [0.0, 2.0, 4.0]")
    tensor = gradcli.tensor([1.0, 2.0])
    assert isinstance(gradcli.grad("sum(x)", x=tensor, verify=False)["x"], type(tensor))


def test_names_of_arguments_are_names_of_inputs_too() -> None:
    found = gradcli.grad("of*wrt", {"of": 2, "wrt": 5}, wrt="of", verify=False)
    assert found.grads == {"of": 5.0}


def test_a_jacobian_has_a_block_for_each_input() -> None:
    found = gradcli.jacobian("[x*y, x^2]", x=2, y=3, seconds=PATIENCE)
    assert found.value.tolist() == [6.0, 4.0]
    assert {name: block.tolist() for name, block in found.blocks.items()} == {
        "x": [3.0, 4.0],
        "y": [2.0, 0.0],
    }
    assert found.verdicts == {"x": "proved", "y": "proved"}
    assert r"\begin{pmatrix} y \\ 2 x \end{pmatrix}" in str(found._repr_latex_())
    assert "d/dx  (2)  dense" in repr(found)
    symbols = gradcli.jacobian("[x, x^2]", seconds=PATIENCE)
    assert "x" in symbols.formulas
    assert "proved" in repr(symbols)


def test_claims_are_true_or_false() -> None:
    wrong = gradcli.check("x^2", "d/dx = 3*x", seconds=PATIENCE)
    assert not wrong
    assert wrong.verdict == "refuted"
    assert wrong.claims[0].right == "2*x"
    assert "the derivative is 2*x" in repr(wrong)
    assert "refuted" in wrong._repr_html_()
    right = gradcli.check("x^2", "d/dx = 2*x", "d2/dx2 = 2", seconds=PATIENCE)
    assert right
    assert [each.verdict for each in right.claims] == ["proved", "proved"]
    assert gradcli.check("(x+1)^2", same="x^2 + 2x + 1", seconds=PATIENCE)


def test_the_room_of_checks_is_still_a_room() -> None:
    import gradcli.check.verify as file

    assert file.__name__ == "gradcli.check.verify"
    assert callable(gradcli.check)


def test_what_is_wrong_is_said_with_a_way_out() -> None:
    with pytest.raises(TypeError, match=r"gradcli\.func\.grad takes functions"):
        gradcli.grad(len)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match=r"gradcli\.jacobian"):
        gradcli.grad("x^2", x=[1.0, 2.0])
    with pytest.raises(ProgramError, match="did you mean 'tanh'"):
        gradcli.grad("tahn(x)", x=1)
    with pytest.raises(ProgramError, match="it reads x"):
        gradcli.grad("x^2", y=1)
    with pytest.raises(ProgramError, match="nothing to check"):
        gradcli.check("x^2")


def test_results_of_a_compiled_program_show_their_numbers() -> None:
    program = gradcli.compile("y = x^2 + a")
    point = program.grad(x=3.0, a=1.0)
    assert repr(point) == "value  10.0\nd/dx   6.0\nd/da   1.0"
    assert ElementTree.fromstring(point._repr_html_()).tag == "table"
    block = gradcli.compile("x^2").jacobian(x=np.array([1.0, 2.0]))
    assert repr(block) == "value  [1., 4.]\nd/dx   [[2., 0.],\n        [0., 4.]]"


COLUMNS = {"x": [1.0, 2.0, 3.0], "a": [3.0, 4.0, 5.0]}


class Stream:
    """A table that gives its columns in Arrow's way alone."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(schema)


def frame(kind: str) -> Any:
    """Return a table of a library."""
    if kind == "pandas":
        return pytest.importorskip("pandas").DataFrame(COLUMNS)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(COLUMNS)
    table = pytest.importorskip("pyarrow").table(COLUMNS)
    return Stream(table) if kind == "stream" else table


@pytest.mark.peers
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "stream"])
def test_tables_of_libraries_are_columns(kind: str) -> None:
    found = gradcli.compile("x^2*a").table(frame(kind))
    true = {"x": [6.0, 16.0, 30.0], "a": [1.0, 4.0, 9.0]}
    assert {name: g.tolist() for name, g in found.grads.items()} == true


@pytest.mark.peers
@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_columns_of_libraries_are_arrays(kind: str) -> None:
    columns = frame(kind)
    found = gradcli.grad("sum(x^2)", x=columns["x"], verify=False)
    assert np.asarray(found["x"]).tolist() == [2.0, 4.0, 6.0]


def test_what_has_no_columns_is_refused() -> None:
    columns: Mapping[str, object] = (1, 2)  # type: ignore[assignment]
    with pytest.raises(ProgramError, match="columns have names"):
        gradcli.compile("x").table(columns)
