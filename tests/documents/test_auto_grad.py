"""`backward`, `autograd.grad`, a loss, and the parameters of a small network."""

from __future__ import annotations

import re

import pytest

import gradcli as torch
from gradcli import nn

F = torch.nn.functional


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x", capsys.readouterr().out)


def test_a_cube_and_a_constant_by_backward(capsys: pytest.CaptureFixture[str]) -> None:
    base = torch.tensor(2.0, requires_grad=True)
    shift = torch.tensor(1.0, requires_grad=True)
    value = base**3 + shift
    assert value.backward() is None
    print(value, base.grad, shift.grad)
    assert printed(capsys) == (
        "tensor(9., grad_fn=<AddBackward0>) tensor(12.) tensor(1.)\n"
    )


def test_the_same_by_grad(capsys: pytest.CaptureFixture[str]) -> None:
    base = torch.tensor(2.0, requires_grad=True)
    shift = torch.tensor(1.0, requires_grad=True)
    print(torch.autograd.grad(base**3 + shift, inputs=[base, shift]))
    assert printed(capsys) == "(tensor(12.), tensor(1.))\n"
    assert base.grad is None


def test_gradients_of_matrices_have_their_shapes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    p = torch.tensor([[2.0, 3.0], [4.0, 5.0]], requires_grad=True)
    q = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    total = p**2 + p * q + q**2
    found = torch.autograd.grad(
        total, inputs=[p, q], grad_outputs=torch.ones_like(total)
    )
    print(found)
    print(found[0].shape, found[1].shape)
    assert printed(capsys) == (
        "(tensor([[ 5.,  8.],\n        [11., 14.]]), "
        "tensor([[ 4.,  7.],\n        [10., 13.]]))\n"
        "torch.Size([2, 2]) torch.Size([2, 2])\n"
    )


def test_a_loss_and_the_functions_that_made_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    torch.manual_seed(11)
    inputs, targets = torch.ones(5), torch.zeros(3)
    w = torch.randn(5, 3, requires_grad=True)
    b = torch.randn(3, requires_grad=True)
    z = torch.matmul(inputs, w) + b
    loss = F.binary_cross_entropy_with_logits(z, targets)
    print("Gradient function for z =", z.grad_fn)
    print("Gradient function for loss =", loss.grad_fn)
    assert printed(capsys) == (
        "Gradient function for z = <AddBackward0 object at 0x>\n"
        "Gradient function for loss = "
        "<BinaryCrossEntropyWithLogitsBackward0 object at 0x>\n"
    )
    loss.backward()
    assert all(torch.equal(row, b.grad) for row in w.grad)
    assert torch.allclose(b.grad, torch.sigmoid(z.detach()) / 3, rtol=1e-6)


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(8, 12)
        self.act = nn.ReLU()
        self.output = nn.Linear(12, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(self.act(self.hidden(x)))


@pytest.fixture
def net() -> Perceptron:
    torch.manual_seed(12)
    return Perceptron()


def test_parameters_are_found_by_attribute_and_by_name(
    net: Perceptron, capsys: pytest.CaptureFixture[str]
) -> None:
    print(net.hidden.weight.shape, net.hidden.bias.shape)
    for name, parameter in net.named_parameters():
        print(name, parameter.shape)
    assert printed(capsys) == (
        "torch.Size([12, 8]) torch.Size([12])\n"
        "hidden.weight torch.Size([12, 8])\n"
        "hidden.bias torch.Size([12])\n"
        "output.weight torch.Size([4, 12])\n"
        "output.bias torch.Size([4])\n"
    )


def test_a_new_network_has_no_gradients_yet_but_asks_for_them(
    net: Perceptron, capsys: pytest.CaptureFixture[str]
) -> None:
    print(net.hidden.weight.grad, net.hidden.bias.grad)
    print(net.hidden.weight.requires_grad)
    print(net.hidden.bias.requires_grad)
    assert printed(capsys) == "None None\nTrue\nTrue\n"


def test_one_epoch_accumulates_each_batch_s_gradient(net: Perceptron) -> None:
    data, label = torch.randn(30, 8), torch.randn(30, 4)
    dataset = torch.utils.data.TensorDataset(data, label)
    loader = torch.utils.data.DataLoader(dataset, batch_size=10, shuffle=True)
    assert net.train() is net
    if torch.cuda.is_available():
        net.cuda()
    place = net.hidden.weight.device
    alone, lines = [], []
    for step, (rows, goals) in enumerate(loader):
        rows, goals = rows.to(place), goals.to(place)
        loss = F.binary_cross_entropy_with_logits(net(rows), goals)
        alone.append(torch.autograd.grad(loss, net.hidden.weight, retain_graph=True)[0])
        loss.backward()
        lines.append(f"step: {step}, loss: {loss}, grad: {net.hidden.weight.grad}")
        assert torch.allclose(net.hidden.weight.grad, sum(alone), rtol=1e-5, atol=1e-7)
    assert len(lines) == 3
    number = r"-?\d+\.\d+(e-?\d+)?"
    assert all(
        re.match(rf"step: {i}, loss: {number}, grad: tensor\(\[\[", line)
        for i, line in enumerate(lines)
    )


def test_without_a_gpu_moving_to_it_says_so(net: Perceptron) -> None:
    if torch.cuda.is_available():
        assert net.cuda().hidden.weight.is_cuda
        return
    with pytest.raises(RuntimeError, match="CUDA"):
        net.cuda()
