"""Passes inside passes, and edges in the place of tensors."""

from __future__ import annotations

import gradcli as torch


def test_modes_of_the_outer_pass_hold_in_the_deepest() -> None:
    seen = []

    def deep(level: int) -> None:
        z = torch.tensor(1.0, requires_grad=True)
        y = z * 2
        if level:
            y.register_hook(lambda g: deep(level - 1))
        else:
            y.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
        y.backward(create_graph=True)

    deep(20)
    assert seen == [True]
