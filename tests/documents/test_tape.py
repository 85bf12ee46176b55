"""The tape: a recurrent step is recorded line by line and read backwards."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli as torch

SIZES = {"W_h": (4, 3), "h": (1, 3), "W_x": (4, 2), "x": (1, 2)}


@pytest.fixture
def tape() -> dict[str, torch.Tensor]:
    torch.manual_seed(40)
    step = {
        name: torch.tensor(torch.randn(*size).tolist(), requires_grad=True)
        for name, size in SIZES.items()
    }
    step["i2h"] = torch.mm(step["W_x"], step["x"].t())
    step["h2h"] = torch.mm(step["W_h"], step["h"].t())
    step["next_h"] = step["h2h"] + step["i2h"]
    step["next_next_h"] = step["next_h"].tanh()
    return step


def below(node: Any) -> list[str]:
    """A node and its descendants, by name, first to last, each under its parent."""
    names = []
    stack = [node]
    while stack:
        current = stack.pop()
        names.append(type(current).__name__)
        stack += [n for n, _ in reversed(current.next_functions) if n is not None]
    return names


def test_each_line_adds_its_node_and_no_more() -> None:
    w = torch.ones(4, 2, requires_grad=True)
    x = torch.ones(1, 2, requires_grad=True)
    left = torch.mm(w, x.t())
    right = torch.mm(w * 2, x.t())
    assert below(left.grad_fn) == [
        "MmBackward0", "AccumulateGrad", "TBackward0", "AccumulateGrad",
    ]  # fmt: skip
    joined = left + right
    assert joined.grad_fn.next_functions[0][0] is left.grad_fn
    assert joined.grad_fn.next_functions[1][0] is right.grad_fn


def test_results_remember_what_made_them(tape: dict[str, torch.Tensor]) -> None:
    made_by = {name: type(t.grad_fn).__name__ for name, t in tape.items()}
    assert made_by == {
        "W_h": "NoneType",
        "h": "NoneType",
        "W_x": "NoneType",
        "x": "NoneType",
        "i2h": "MmBackward0",
        "h2h": "MmBackward0",
        "next_h": "AddBackward0",
        "next_next_h": "TanhBackward0",
    }
    assert tape["W_h"].grad_fn is None
    assert tape["x"].grad_fn is None


def test_the_way_back_is_the_one_the_text_guesses(
    tape: dict[str, torch.Tensor],
) -> None:
    half = ["MmBackward0", "AccumulateGrad", "TBackward0", "AccumulateGrad"]
    expected = ["TanhBackward0", "AddBackward0", *half, *half]
    assert below(tape["next_next_h"].grad_fn) == expected


def test_next_functions_verify_it(tape: dict[str, torch.Tensor]) -> None:
    top = tape["next_next_h"].grad_fn
    assert top.next_functions == ((tape["next_h"].grad_fn, 0),)
    assert top.next_functions[0][0].next_functions == (
        (tape["h2h"].grad_fn, 0),
        (tape["i2h"].grad_fn, 0),
    )
    shown = repr(top.next_functions)
    assert shown.startswith("((<AddBackward0 object at 0x")
    assert shown.endswith(">, 0),)")


def test_the_leaves_at_the_ends_are_the_user_s(tape: dict[str, torch.Tensor]) -> None:
    product = tape["i2h"].grad_fn
    (weight, _), (turned, _) = product.next_functions
    assert weight.variable is tape["W_x"]
    assert turned.next_functions[0][0].variable is tape["x"]


def test_the_pass_back_gives_each_leaf_its_gradient(
    tape: dict[str, torch.Tensor],
) -> None:
    out = tape["next_next_h"]
    out.backward(torch.ones(out.shape))
    slope = 1 - out.detach() ** 2
    assert torch.allclose(tape["W_x"].grad, slope * tape["x"].detach(), rtol=1e-6)
    assert torch.allclose(tape["W_h"].grad, slope * tape["h"].detach(), rtol=1e-6)
    by_x = (tape["W_x"].detach() * slope).sum(0, keepdim=True)
    assert torch.allclose(tape["x"].grad, by_x, rtol=1e-5)


def test_control_flow_decides_while_the_tape_runs() -> None:
    x = torch.tensor(1.5, requires_grad=True)
    y = x
    steps = 0
    while y < 50:
        y = y * y if steps % 2 else y * 3
        steps += 1
    assert below(y.grad_fn).count("MulBackward0") >= steps
    y.backward()
    assert x.grad.item() == pytest.approx(2 * y.item() / 1.5, rel=1e-6)
