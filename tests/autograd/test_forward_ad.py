"""Tangents carried beside the program."""

from __future__ import annotations

import gradcli as torch
from gradcli.autograd import grad
from gradcli.autograd.forward_ad import dual_level, make_dual, unpack_dual


def test_tangents_follow_whether_or_not_a_graph_is_recorded() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with dual_level():
        dual = make_dual(x, torch.tensor(1.0))
        with torch.no_grad():
            quiet = unpack_dual(dual * dual)
        loud = unpack_dual(dual * dual)
        plain = make_dual(torch.tensor(2.0), torch.tensor(1.0)) ** 2
        assert not plain.requires_grad
    assert quiet.tangent.item() == loud.tangent.item() == 4
    assert not quiet.tangent.requires_grad
    assert loud.tangent.requires_grad


def test_a_tangent_that_requires_a_gradient_is_differentiable_too() -> None:
    t = torch.tensor(3.0, requires_grad=True)
    with dual_level():
        dual = make_dual(torch.tensor(2.0), t)
        tangent = unpack_dual(dual * dual * dual).tangent
    assert grad(tangent, t)[0].item() == 12
