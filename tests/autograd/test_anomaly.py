"""Anomaly mode names the line of the program where things went wrong."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import detect_anomaly, set_detect_anomaly


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def line_of(function: Any, text: str) -> int:
    """The number of a function's only line that contains a text."""
    lines, first = inspect.getsourcelines(function)
    (place,) = [i for i, line in enumerate(lines) if text in line]
    return first + place


def root(x: torch.Tensor) -> torch.Tensor:
    doubled = x * 2
    return doubled.sqrt() + 1


def said(f: Any, x: torch.Tensor) -> tuple[str, str]:
    """The error of a pass in anomaly mode, and the note that it bears."""
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        block = detect_anomaly()
    with block, pytest.raises(RuntimeError) as caught:
        f(x).sum().backward()
    (note,) = caught.value.__notes__
    return str(caught.value), note


def test_a_nan_is_traced_to_its_forward_line() -> None:
    error, note = said(root, leaf(-1.0))
    assert note.startswith("Error detected in SqrtBackward0, which was recorded at:")
    number = line_of(root, "doubled.sqrt()")
    assert error == (
        "Function 'SqrtBackward0' returned nan values in its 0th output. It was "
        f"recorded in {__file__}:{number}."
    )
    assert f'File "{__file__}", line {number}, in root' in note
    assert "return doubled.sqrt() + 1" in note


def test_an_infinite_cotangent_is_nobodys_fault() -> None:
    x = leaf(2.0)
    with set_detect_anomaly(True):
        (x * 3).backward(torch.tensor([float("inf")]))
    assert x.grad.tolist() == [float("inf")]


def test_the_lines_lead_from_the_outermost_to_the_innermost() -> None:
    _, note = said(lambda x: root(x), leaf(-1.0))
    assert note.index("in <lambda>") < note.index("in root")
    assert "gradcli/engine" not in note


def test_a_graph_recorded_before_has_no_lines() -> None:
    y = root(leaf(-1.0)).sum()
    with set_detect_anomaly(True), pytest.raises(RuntimeError) as caught:
        y.backward()
    (note,) = caught.value.__notes__
    assert note == "Error detected in SqrtBackward0, which was recorded at:\n"
