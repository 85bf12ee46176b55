"""Modules: where members are found, what a state holds, when hooks run."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import gradcli as torch
from gradcli import nn


class Net(nn.Module):
    """Two layers, one of them in a row, a scale and two buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.Tanh())
        self.head = nn.Linear(3, 1)
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.register_buffer("shift", torch.tensor(1.0))
        self.register_buffer("cache", torch.zeros(2), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.head(self.body(x)) * self.scale + self.shift


def test_walks_name_every_member_once_in_the_order_of_assignment() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        "scale", "body.0.weight", "body.0.bias", "head.weight", "head.bias",
    ]  # fmt: skip
    assert [n for n, _ in net.named_modules()] == [
        "", "body", "body.0", "body.1", "head",
    ]  # fmt: skip
    assert [n for n, _ in net.named_buffers()] == ["shift", "cache"]
    assert len(list(net.parameters(recurse=False))) == 1


def test_assignment_moves_a_name_from_table_to_table() -> None:
    module = nn.Module()
    module.a = 3
    module.a = nn.Parameter(torch.ones(1))
    assert [n for n, _ in module.named_parameters()] == ["a"]
    module.a = None
    assert list(module.parameters()) == []
    del module.a
    module.a = nn.ReLU()
    assert [n for n, _ in module.named_children()] == ["a"]
    del module.a
    module.a = "text"
    assert module.a == "text"


def test_a_state_makes_two_modules_equal_and_keeps_them_apart() -> None:
    a, b = Net(), Net()
    b.load_state_dict(a.state_dict())
    x = torch.randn(4, 2)
    assert torch.equal(a(x), b(x))
    with torch.no_grad():
        a.scale.mul_(3.0)
    assert b.scale.item() == 2.0


def test_a_state_shares_the_modules_memory() -> None:
    net = Net()
    state = net.state_dict()
    with torch.no_grad():
        net.scale.fill_(5.0)
    assert state["scale"].item() == 5.0
    assert "cache" not in state


def test_a_copy_is_deep() -> None:
    net = Net()
    net.register_forward_hook(lambda m, args, out: out + 1)
    twin = copy.deepcopy(net)
    x = torch.ones(1, 2)
    assert torch.equal(net(x), twin(x))
    assert isinstance(twin.scale, nn.Parameter)
    with torch.no_grad():
        twin.scale.fill_(0.0)
    assert net.scale.item() == 2.0


def test_a_parameter_shared_by_two_modules_stays_shared_in_a_copy() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    twin = copy.deepcopy(net)
    assert twin[1].weight is twin[0].weight
    assert twin[0].weight is not net[0].weight


def test_conversion_keeps_the_parameters_themselves_and_integer_buffers() -> None:
    net = nn.BatchNorm1d(2)
    weight = net.weight
    net(torch.randn(4, 2)).sum().backward()
    net.double()
    assert net.weight is weight
    assert weight.grad is not None
    tensors = (weight, weight.grad, net.running_mean)
    assert {str(t.dtype) for t in tensors} == {"torch.float64"}
    assert net.num_batches_tracked.dtype is torch.int64


def test_zeroing_gradients_may_keep_their_memory() -> None:
    net = Net()
    net(torch.ones(1, 2)).sum().backward()
    held = net.head.weight.grad
    net.zero_grad(set_to_none=False)
    assert net.head.weight.grad is not None
    assert held.tolist() == [[0.0, 0.0, 0.0]]
    net.zero_grad()
    assert net.head.weight.grad is None


def test_names_of_members_are_offered_for_completion() -> None:
    assert {"scale", "shift", "head", "forward"} <= set(dir(Net()))


# containers


def test_a_sequential_is_changed_like_a_list() -> None:
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Identity()
    net = nn.Sequential(a, b)
    net.insert(1, c)
    assert list(net) == [a, c, b]
    assert net.pop(0) is a
    net[0] = a
    del net[1]
    assert [n for n, _ in net.named_children()] == ["0"]
    assert list(net + nn.Sequential(b)) == [a, b]
    net += [c]
    assert list(net) == [a, c]
    assert isinstance(net[:1], nn.Sequential)


def test_older_words_for_a_reduction_still_mean_it() -> None:
    x, y = torch.tensor([1.0, 3.0]), torch.zeros(2)
    with pytest.warns(UserWarning, match="reduction='sum'"):
        loss = nn.MSELoss(size_average=False)
    assert loss(x, y).item() == 10.0
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.functional.l1_loss(x, y, reduce=False).tolist() == [1.0, 3.0]


def test_the_weight_of_a_loss_moves_with_it() -> None:
    loss = nn.CrossEntropyLoss(weight=torch.ones(3)).double()
    assert loss.weight.dtype is torch.float64
    assert list(loss.state_dict()) == ["weight"]
