"""`gradcli value`: a program's value as text, as bare numbers and as JSON."""

from __future__ import annotations

from .conftest import Run


def test_a_value_stands_beside_its_name(gradcli: Run) -> None:
    assert gradcli("value", "y = x**3 + b", "x=2", "b=1").out == "y = 9.0\n"
    ended = gradcli("value", "x*A", "x=2", "A=[[1,2],[3,4]]")
    assert ended.out == "output = [[2.0, 4.0],\n          [6.0, 8.0]]\n"


def test_a_variable_may_be_asked_for(gradcli: Run) -> None:
    assert gradcli("value", "u = 2*x; u**2", "x=3", "--of", "u").out == "u = 6.0\n"


def test_quiet_prints_the_numbers_alone(gradcli: Run) -> None:
    ended = gradcli("value", "x*A", "x=2", "A=[[1,2],[3,4]]", "-q")
    assert ended.out == "[[2.0, 4.0], [6.0, 8.0]]\n"


def test_json_names_the_output_and_its_node(gradcli: Run) -> None:
    assert gradcli("value", "y = log(x)", "x=0", "--json").json == {
        "schema": "gradcli/1",
        "command": "value",
        "program": "y = log(x)",
        "output": {
            "name": "y", "shape": [], "value": "-inf", "grad_fn": "LogBackward0",
        },
        "notes": ["log(x) is -inf: the logarithm of zero (line 1, column 5)"],
    }  # fmt: skip


def test_a_mistake_is_pointed_at(gradcli: Run) -> None:
    ended = gradcli("value", "tahn(x)", "x=1")
    assert (ended.status, ended.out) == (3, "")
    assert "did you mean 'tanh'?" in ended.err
