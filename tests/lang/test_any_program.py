"""Whatever a program says, it ends with a value or with a `ProgramError`."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradcli.answers.graph_view import graph_view
from gradcli.lang.bindings import read_bindings
from gradcli.lang.errors import ProgramError
from gradcli.lang.mathematics import rewritten
from gradcli.lang.notation import Doubt
from gradcli.lang.parser import parse
from gradcli.lang.run import Session, input_names, prepare
from gradcli.ops import FUNCTIONS

GIVEN = {b.name: b for b in read_bindings(["x=[1,2]", "y=2", "A=[[1,2],[3,4]]"])}
LEAVES = (
    *("x", "y", "A", "A.T", "x[0]", "x[5]", "A[:, 0]", "0", "2", "-1", "0.5", "1e300"),
    *("10**400", "[1, 2]", "[x, y]", "[]", "(1, 2)", "range(2)", "True", "None", "'a'"),
    *("...", "pi", "nan"),
)
SIGNS = ("+", "-", "*", "/", "//", "%", "**", "@", "<", "==", "and", "or")
KEYWORDS = ("dim=0", "dim=5", "dim=(0, 1)", "dim='a'", "keepdim=True", "n=3")
STATEMENTS = (
    "b = {}",
    "x += {}",
    "{}",
    "b, c = {}",
    "for i in {}: b = i",
    "if {}: b = x\nelse: b = y",
)


def _expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    functions = st.sampled_from(sorted(FUNCTIONS))
    arguments = st.lists(inner, max_size=3)
    named = st.lists(st.sampled_from(KEYWORDS), max_size=1)
    call = st.builds(
        lambda f, a, k: f"{f}({', '.join(a + k)})", functions, arguments, named
    )
    method = st.builds(lambda x, call: f"({x}).{call}", inner, call)
    sign = st.sampled_from(SIGNS)
    binary = st.builds(lambda a, s, b: f"({a} {s} {b})", inner, sign, inner)
    return call | method | binary


expressions = st.recursive(st.sampled_from(LEAVES), _expressions, max_leaves=5)
statements = st.builds(str.format, st.sampled_from(STATEMENTS), expressions)
programs = st.lists(statements, min_size=1, max_size=3).map("\n".join)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs)
def test_no_program_lets_another_exception_out(source: str) -> None:
    with contextlib.suppress(ProgramError), np.errstate(all="ignore"):
        names = input_names(parse(source, GIVEN), GIVEN)
        values = [binding for name, binding in GIVEN.items() if name in names]
        run = Session(prepare(source, values), max_steps=1000).run()
        view = graph_view(run.output, source=source, name="o", variables=run.variables)
        assert (view.root is None) == (run.output.edge is None)


def test_a_number_may_stand_between_blanks_of_all_kinds() -> None:
    blanks = [chr(n) for n in range(0x3001) if chr(n).isspace()]
    assert len(blanks) > 20
    for blank in blanks:
        bound = read_bindings([f"x={blank}2.5{blank}"])
        assert Session(prepare("x", bound)).run().output.raw == 2.5


WHOLE = ("y = Sin[x] + Sqrt[2 x]", "y <- sin(x) %*% c(1, 2)", "=SUM(A1, 2)^2",
         "y = [1, 2] .* sin(x)';", "Map[Exp, {1, 2}]")  # fmt: skip


@pytest.mark.parametrize("text", WHOLE)
def test_a_formula_of_another_program_may_end_anywhere(text: str) -> None:
    for end in range(len(text)):
        with contextlib.suppress(ProgramError):
            parse(text[:end], GIVEN)


@pytest.mark.parametrize(
    "text", [r"\sum_i A_{,i0}", r"A0\sum_i A_{,er,i0}", r"\sum_i A_{i,,1}", "[]=xx",
             "[] x", "x = []()"],
)  # fmt: skip
def test_what_is_missing_in_a_formula_is_an_error_of_the_formula(text: str) -> None:
    with pytest.raises((ProgramError, Doubt)):
        rewritten(text, {"x": None, "A": 2})
