"""A tensor of truth values is a mask, as in PyTorch."""

from __future__ import annotations

import pytest

from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import execute, prepare


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x[tensor([True, False, True])]", [3.0, 5.0]),
        ("masked_select(x, tensor([False, True, False]))", [4.0]),
        ("x*tensor([True, False, True])", [3.0, 0.0, 5.0]),
        ("x[tensor([1, 0])]", [4.0, 3.0]),
        ("index_put(x, (tensor([True, False, True]),), 9*ones(()))", [9.0, 4.0, 9.0]),
    ],
)
def test_truth_values_choose_and_numbers_count(text: str, value: list[float]) -> None:
    run = execute(prepare(text, read_bindings(["x=[3,4,5]"])))
    assert run.output.tolist() == value
