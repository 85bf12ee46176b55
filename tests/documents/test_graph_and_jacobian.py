"""Forward and backward on small graphs, a graph that is used up, rows of a Jacobian."""

from __future__ import annotations

import pytest

import gradcli as torch
from gradcli import nn
from gradcli.autograd import Variable


def test_a_sum_and_a_product_forward_and_backward() -> None:
    x, y, z = (torch.tensor(n, requires_grad=True) for n in (1.0, 3.0, -3.0))
    p = x + y
    g = p * z
    assert (p.item(), g.item()) == (4, -12)
    g.backward()
    assert [t.grad.item() for t in (x, y, z)] == [-3, -3, 4]


def test_two_points_give_a_line_s_slope_and_offset() -> None:
    """``y = k x + b`` is found from examples by following gradients."""
    k = torch.tensor(0.0, requires_grad=True)
    b = torch.tensor(0.0, requires_grad=True)
    x, y = torch.tensor([1.0, 3.0]), torch.tensor([5.0, 9.0])
    for _ in range(500):
        loss = ((k * x + b - y) ** 2).sum()
        by_k, by_b = torch.autograd.grad(loss, (k, b))
        with torch.no_grad():
            k -= 0.05 * by_k
            b -= 0.05 * by_b
    assert k.item() == pytest.approx(2, abs=1e-3)
    assert b.item() == pytest.approx(3, abs=1e-3)


def layer_s_loss(rows: torch.Tensor) -> torch.Tensor:
    torch.manual_seed(7)
    return torch.sum(nn.Linear(3, 4)(rows))


def test_one_layer_is_a_graph_already() -> None:
    rows = torch.randn(2, 3, requires_grad=True)
    layer_s_loss(rows).backward()
    torch.manual_seed(7)
    weights = nn.Linear(3, 4).weight.detach()
    expected = torch.stack([weights.sum(0)] * 2)
    assert torch.allclose(rows.grad, expected, rtol=1e-6)


def test_a_graph_serves_one_pass() -> None:
    loss = layer_s_loss(torch.randn(2, 3, requires_grad=True))
    loss.backward()
    with pytest.raises(RuntimeError) as caught:
        loss.backward()
    text = str(caught.value)
    assert text.startswith("Trying to backward through the graph a second time")
    assert "retain_graph=True" in text


def test_a_retained_graph_serves_two() -> None:
    rows = Variable(torch.randn(2, 3), requires_grad=True)
    loss = layer_s_loss(rows)
    loss.backward(retain_graph=True)
    once = rows.grad.clone()
    loss.backward()
    assert torch.equal(rows.grad, 2 * once)


def test_the_gradient_of_one_output_at_a_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    row = torch.FloatTensor([[1, 2]])
    row.requires_grad = True
    table = torch.FloatTensor([[3, 4], [5, 6]])
    table.requires_grad = True
    both = torch.mm(row, table)
    both.backward(torch.FloatTensor([[1, 0]]), retain_graph=True)
    print(row.grad.data)
    row.grad.data.zero_()
    both.backward(torch.FloatTensor([[0, 1]]))
    print(row.grad.data)
    assert capsys.readouterr().out == "tensor([[3., 5.]])\ntensor([[4., 6.]])\n"


def test_a_pass_per_output_builds_the_jacobian() -> None:
    table = torch.FloatTensor([[3, 4], [5, 6]])
    row = torch.FloatTensor([[1, 2]]).requires_grad_()
    both = torch.mm(row, table)
    rows = []
    for place in range(2):
        if row.grad is not None:
            row.grad.zero_()
        unit = torch.zeros(1, 2)
        unit[0, place] = 1
        both.backward(unit, retain_graph=True)
        rows.append(row.grad.clone())
    by_hand = torch.cat(rows)
    assert torch.equal(by_hand, table.T)
    whole = torch.autograd.functional.jacobian(lambda r: torch.mm(r, table), row)
    assert torch.equal(whole.reshape(2, 2), by_hand)
