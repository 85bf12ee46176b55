"""A network of five neurons, its computation graph, and how autograd walks it."""

from __future__ import annotations

import re
from typing import Any

import pytest

import gradcli as torch

SIDE = 3


@pytest.fixture
def net() -> dict[str, torch.Tensor]:
    """``b = w1*a``, ``c = w2*a``, ``d = w3*b + w4*c``, ``L = 10 - d``."""
    torch.manual_seed(101)
    found = {
        name: torch.randn((SIDE, SIDE), requires_grad=True)
        for name in ("a", "w1", "w2", "w3", "w4")
    }
    found["b"] = found["w1"] * found["a"]
    found["c"] = found["w2"] * found["a"]
    found["d"] = found["w3"] * found["b"] + found["w4"] * found["c"]
    found["L"] = 10 - found["d"]
    return found


def test_a_tensor_of_sizes_alone_has_that_shape_and_whatever_values() -> None:
    blank = torch.Tensor(3, 5)
    assert blank.shape == (3, 5)
    assert repr(blank).startswith("tensor([[")
    assert blank.dtype == torch.float32


def test_a_gradient_is_asked_for_at_birth_or_later() -> None:
    born = torch.randn((3, 3), requires_grad=True)
    later = torch.FloatTensor(3, 3)
    assert not later.requires_grad
    later.requires_grad = True
    assert born.requires_grad
    assert later.requires_grad
    with pytest.raises(TypeError):
        torch.FloatTensor(3, 3, requires_grad=True)


def test_needing_a_gradient_is_contagious() -> None:
    plain, asked = torch.ones(2), torch.ones(2, requires_grad=True)
    assert not (plain * plain).requires_grad
    assert (plain * asked).requires_grad
    assert ((plain * asked) + plain).requires_grad


def test_a_leaf_has_no_function_and_a_result_has_its_maker_s(
    net: dict[str, torch.Tensor], capsys: pytest.CaptureFixture[str]
) -> None:
    print("The grad fn for a is", net["a"].grad_fn)
    print("The grad fn for d is", net["d"].grad_fn)
    leaf, result = capsys.readouterr().out.splitlines()
    assert leaf == "The grad fn for a is None"
    pattern = r"The grad fn for d is <AddBackward0 object at 0x[0-9a-f]+>"
    assert re.fullmatch(pattern, result)


def test_leaves_are_what_the_user_made(net: dict[str, torch.Tensor]) -> None:
    assert all(net[name].is_leaf for name in ("a", "w1", "w2", "w3", "w4"))
    assert not any(net[name].is_leaf for name in ("b", "c", "d", "L"))


def test_only_a_scalar_starts_a_backward_pass_by_itself(
    net: dict[str, torch.Tensor],
) -> None:
    with pytest.raises(RuntimeError) as caught:
        net["L"].backward()
    assert str(caught.value) == (
        "grad can be implicitly created only for scalar outputs"
    )


def chain_rule(net: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What the text derives by hand, along every path from ``L``."""
    v = {name: t.detach() for name, t in net.items()}
    return {
        "w4": -v["c"],
        "w3": -v["b"],
        "w2": -v["w4"] * v["a"],
        "w1": -v["w3"] * v["a"],
        "a": -(v["w3"] * v["w1"] + v["w4"] * v["w2"]),
    }


def by_a_sum(loss: torch.Tensor) -> None:
    loss.sum().backward()


def by_a_cotangent_of_ones(loss: torch.Tensor) -> None:
    loss.backward(torch.ones(loss.shape))


@pytest.mark.parametrize("start", [by_a_sum, by_a_cotangent_of_ones])
def test_both_ways_out_give_the_chain_rule_s_gradients(
    start: Any, net: dict[str, torch.Tensor]
) -> None:
    start(net["L"])
    for name, expected in chain_rule(net).items():
        assert torch.allclose(net[name].grad, expected, rtol=1e-6), name


def test_paths_are_multiplied_along_and_added_up(net: dict[str, torch.Tensor]) -> None:
    """The algorithm of the text: follow the edges from ``L`` down to ``a``."""
    v = {name: t.detach() for name, t in net.items()}
    local = {
        ("L", "d"): -torch.ones(SIDE, SIDE),
        ("d", "b"): v["w3"],
        ("d", "c"): v["w4"],
        ("b", "a"): v["w1"],
        ("c", "a"): v["w2"],
    }
    total = torch.zeros(SIDE, SIDE)
    for middle in ("b", "c"):
        path = [("L", "d"), ("d", middle), (middle, "a")]
        product = torch.ones(SIDE, SIDE)
        for edge in path:
            product = product * local[edge]
        total = total + product
    net["L"].sum().backward()
    assert torch.allclose(net["a"].grad, total, rtol=1e-6)


def test_a_step_along_the_gradient_lowers_the_loss(
    net: dict[str, torch.Tensor],
) -> None:
    rate = 0.01
    net["L"].sum().backward()
    w1 = net["w1"] - rate * net["w1"].grad
    lower = 10 - (net["w3"] * (w1 * net["a"]) + net["w4"] * net["c"])
    assert lower.sum() < net["L"].sum()


def test_the_graph_comes_into_being_as_the_program_runs() -> None:
    a = torch.randn((3, 3), requires_grad=True)
    w1 = torch.randn((3, 3), requires_grad=True)
    assert a.grad_fn is None
    assert w1.grad_fn is None
    b = w1 * a
    assert b.grad_fn.name() == "MulBackward0"
    assert [node.variable is t for (node, _), t in zip(
        b.grad_fn.next_functions, (w1, a), strict=True
    )] == [True, True]  # fmt: skip


def test_buffers_are_freed_by_the_first_pass(net: dict[str, torch.Tensor]) -> None:
    loss = net["L"].sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        loss.backward()


def test_a_retained_graph_adds_to_the_gradients(net: dict[str, torch.Tensor]) -> None:
    loss = net["L"].sum()
    loss.backward(retain_graph=True)
    once = net["w1"].grad.clone()
    loss.backward()
    assert torch.equal(net["w1"].grad, 2 * once)


def test_a_frozen_weight_takes_no_part() -> None:
    frozen = torch.ones(3)
    trained = torch.ones(3, requires_grad=True)
    (frozen * trained).sum().backward()
    assert frozen.grad is None
    assert trained.grad.tolist() == [1, 1, 1]


def test_inference_without_a_graph(net: dict[str, torch.Tensor]) -> None:
    with torch.no_grad():
        y = net["w1"] * net["a"]
    assert y.grad_fn is None
    assert not y.requires_grad
