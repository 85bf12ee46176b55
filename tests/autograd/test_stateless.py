"""A module as a function of its parameters: it is left as it was."""

from __future__ import annotations

import copy

import pytest

import gradcli as torch
from gradcli import nn
from gradcli.func import functional_call, stack_module_state, vmap


@pytest.fixture
def net() -> nn.Module:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def test_given_parameters_take_the_places_of_its_own(net: nn.Module) -> None:
    x = torch.randn(5, 3)
    own = dict(net.named_parameters())
    before = net(x)
    zeros = {name: torch.zeros_like(p) for name, p in own.items()}
    assert functional_call(net, zeros, x).tolist() == [[0]] * 5
    assert torch.equal(net(x), before)
    assert all(p is own[name] for name, p in net.named_parameters())


def test_an_ensemble_is_a_map_over_stacked_parameters(net: nn.Module) -> None:
    models = [copy.deepcopy(net) for _ in range(3)]
    for model in models:
        nn.init.normal_(model[0].weight)
    x = torch.randn(5, 3)
    parameters, buffers = stack_module_state(models)
    run = lambda p, b: functional_call(net, (p, b), (x,))
    together = vmap(run)(parameters, buffers)
    assert torch.allclose(together, torch.stack([model(x) for model in models]))
    assert all(p.is_leaf and p.requires_grad for p in parameters.values())


def test_a_shared_weight_is_replaced_under_all_its_names() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(2, 2, bias=False)
            self.b = self.a

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(self.a(x))

    double = {"a.weight": torch.eye(2) * 2}
    assert functional_call(Tied(), double, torch.ones(2)).tolist() == [4, 4]


def test_names_that_do_not_fit_are_refused(net: nn.Module) -> None:
    x = torch.ones(3)
    own = dict(net.named_parameters())
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): ..w.."):
        functional_call(net, {**own, "w": torch.ones(1)}, x, strict=True)
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): .*'0.weight'"):
        functional_call(net, {}, x, strict=True)
    with pytest.raises(ValueError, match="multiple dictionaries"):
        functional_call(net, ({"0.bias": x}, {"0.bias": x}), x)
    with pytest.raises(RuntimeError, match="at least one model"):
        stack_module_state([])
