"""Anomaly mode names the line of the program where things went wrong."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import Function, detect_anomaly, grad, set_detect_anomaly
from gradcli.engine.modes import MODE


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


def message(f: Any, x: torch.Tensor, error: type[Exception] = RuntimeError) -> str:
    with pytest.raises(error) as caught, detect_anomaly():
        f(x).sum().backward()
    return str(caught.value)


def test_a_nan_is_traced_to_its_forward_line() -> None:
    text = message(root, leaf(-1.0))
    first = "Function 'SqrtBackward0' returned nan values in its 0th output."
    assert text.splitlines()[0] == first
    number = line_of(root, "doubled.sqrt()")
    assert f'File "{__file__}", line {number}, in root' in text
    assert "return doubled.sqrt() + 1" in text


def test_an_infinity_is_traced_as_well() -> None:
    text = message(root, leaf(4.0, 0.0))
    assert text.startswith(
        "Function 'SqrtBackward0' returned infinite values in its 0th output."
    )
    assert "return doubled.sqrt() + 1" in text


def test_an_infinite_cotangent_is_nobodys_fault() -> None:
    x = leaf(2.0)
    with detect_anomaly():
        (x * 3).backward(torch.tensor([float("inf")]))
    assert x.grad.tolist() == [float("inf")]


def test_where_the_forward_pass_went_wrong_before_is_told_too() -> None:
    text = message(logarithm, leaf(-1.0))
    assert text.startswith("Function 'ExpBackward0' returned nan values")
    assert "The forward pass had nan values before: 'LogBackward0' made them" in text
    number = line_of(logarithm, "x.log()")
    assert f"line {number}, in logarithm" in text
    assert "y = x.log()" in text


def test_a_nan_that_was_handed_in_is_blamed_on_no_operation() -> None:
    text = message(lambda x: (x * 2).exp() * 3, leaf(float("nan")))
    assert "The forward pass had" not in text


def test_the_lines_lead_from_the_outermost_to_the_innermost() -> None:
    text = message(lambda x: root(x), leaf(-1.0))
    assert text.index("in <lambda>") < text.index("in root")
    assert "gradcli/engine" not in text


def test_a_second_order_names_both_passes() -> None:
    x = leaf(0.0)
    with detect_anomaly():
        (first,) = grad((x**1.5).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError) as caught:
            first.sum().backward()
    text = str(caught.value)
    assert "Recorded by the backward of 'PowBackward0'" in text
    assert "x**1.5" in text


def test_a_graph_recorded_before_is_said_to_be() -> None:
    y = root(leaf(-1.0)).sum()
    unseen = "before anomaly detection was enabled"
    with pytest.raises(RuntimeError, match=unseen), detect_anomaly():
        y.backward()


def test_custom_functions_are_traced() -> None:
    class Bad(Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            return g * float("nan")

    def use(x: torch.Tensor) -> torch.Tensor:
        return Bad.apply(x)

    text = message(use, leaf(1.0))
    assert text.startswith("Function 'BadBackward' returned nan values in its 0th")
    assert "return Bad.apply(x)" in text


def test_checks_can_be_left_out() -> None:
    x = leaf(-1.0)
    with detect_anomaly(check_nan=False):
        x.sqrt().backward()
    assert x.grad.isnan().all()


def test_the_mode_is_a_switch_and_a_block() -> None:
    assert not torch.is_anomaly_enabled()
    set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    with set_detect_anomaly(False):
        assert not torch.is_anomaly_enabled()
    assert torch.is_anomaly_enabled()
    set_detect_anomaly(False)
    assert not torch.is_anomaly_enabled()


def test_when_it_is_off_nobody_looks() -> None:
    with detect_anomaly():
        assert not MODE.fast
    assert MODE.fast
    assert not MODE.on_node
    assert not MODE.on_call
