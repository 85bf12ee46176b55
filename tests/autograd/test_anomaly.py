"""Anomaly mode names the line of the program where things went wrong."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import detect_anomaly, grad, set_detect_anomaly

from .functions import backward_of


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


def logarithm(x: torch.Tensor) -> torch.Tensor:
    y = x.log()
    return (y * 3).exp()


def told(f: Any, x: torch.Tensor) -> tuple[str, str]:
    """The error of a pass in anomaly mode, and what the warnings before it say."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with detect_anomaly(), pytest.raises(RuntimeError) as caught:
            f(x).sum().backward()
    ours = [w for w in warned if w.category is UserWarning]
    assert "Anomaly Detection has been enabled." in str(ours[0].message)
    assert all(w.filename == __file__ for w in ours)
    return str(caught.value), "\n".join(str(w.message) for w in ours[1:])


def test_a_nan_is_traced_to_its_forward_line() -> None:
    error, warned = told(root, leaf(-1.0))
    assert error == "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert warned.startswith(
        "Error detected in SqrtBackward0. Traceback of forward call that caused the "
        "error:"
    )
    number = line_of(root, "doubled.sqrt()")
    assert f'File "{__file__}", line {number}, in root' in warned
    assert "return doubled.sqrt() + 1" in warned


def test_an_infinite_cotangent_is_nobodys_fault() -> None:
    x = leaf(2.0)
    with set_detect_anomaly(True):
        (x * 3).backward(torch.tensor([float("inf")]))
    assert x.grad.tolist() == [float("inf")]


def test_the_lines_lead_from_the_outermost_to_the_innermost() -> None:
    _, text = told(lambda x: root(x), leaf(-1.0))
    assert text.index("in <lambda>") < text.index("in root")
    assert "gradcli/engine" not in text


@backward_of(lambda x: x * 2)
def Outer(ctx: Any, g: torch.Tensor) -> torch.Tensor:
    return Inner.apply(g)


@backward_of(lambda x: x * 2)
def Inner(ctx: Any, g: torch.Tensor) -> torch.Tensor:
    raise ValueError("not today")


def test_what_a_backward_pass_recorded_names_the_node_that_was_run() -> None:
    x, v = leaf(1.0), leaf(1.0)
    with set_detect_anomaly(True), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (first,) = grad(Outer.apply(x), x, v, create_graph=True)
        with pytest.raises(ValueError, match="not today"):
            first.backward()
    failed, induced = (str(w.message) for w in warned)
    assert failed.startswith("Error detected in InnerBackward.")
    assert "return Inner.apply(g)" in failed
    assert "Previous calculation was induced by OuterBackward." in induced
    assert "grad(Outer.apply(x), x, v, create_graph=True)" in induced


def test_where_warnings_are_errors_the_lines_are_noted_on_the_error() -> None:
    x = leaf(-1.0)
    with set_detect_anomaly(True), pytest.raises(RuntimeError) as caught:
        root(x).backward()
    (note,) = caught.value.__notes__
    assert note.startswith("Error detected in SqrtBackward0.")
    assert "return doubled.sqrt() + 1" in note


def test_a_graph_recorded_before_is_said_to_be() -> None:
    y = root(leaf(-1.0)).sum()
    unseen = "Error detected in SqrtBackward0. No forward pass information available."
    with (
        pytest.raises(RuntimeError),
        pytest.warns(UserWarning, match=unseen),
        set_detect_anomaly(True),
    ):
        y.backward()
