"""`gradcli value`: a program's value as text, as bare numbers and as JSON."""

from __future__ import annotations

from .conftest import Run


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
