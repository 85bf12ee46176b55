"""Packings of saved tensors: what they see, and when they are called."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import grad
from gradcli.engine.saved import Packing


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


class Counting:
    """A packing that counts its calls."""

    def __init__(self) -> None:
        self.packed: list[tuple[int, ...]] = []
        self.unpacked = 0

    def block(self) -> Packing:
        return Packing(self.pack, self.unpack)

    def pack(self, t: torch.Tensor) -> torch.Tensor:
        self.packed.append(tuple(t.shape))
        return t.detach()

    def unpack(self, t: torch.Tensor) -> torch.Tensor:
        self.unpacked += 1
        return t


@pytest.mark.parametrize(
    ("f", "count"),
    [
        (lambda x: x.exp(), 1),
        (lambda x: x.sin(), 1),
        (lambda x: x * x, 2),
        (lambda x: x * 3, 0),
        (lambda x: x + x, 0),
        (lambda x: x.sum(), 0),
        (lambda x: x.reshape(1, 2), 0),
        (lambda x: x.outer(x), 2),
        (lambda x: x**3, 1),
        (lambda x: torch.ones(2) * x, 1),
        (lambda x: x.log_softmax(0), 1),
        (lambda x: x.max(0).values, 1),
        (lambda x: torch.addmm(x, torch.ones(2, 2), torch.ones(2, 2)), 0),
    ],
)
def test_packings_see_what_the_rules_read_and_nothing_else(f: Any, count: int) -> None:
    seen = Counting()
    x = leaf(1.0, 2.0)
    with seen.block():
        y = f(x)
    assert len(seen.packed) == count
    y.backward(torch.ones(y.shape))
    assert seen.unpacked == count
    assert torch.equal(x.grad, grad(f(x), x, torch.ones(y.shape))[0])


def test_what_was_packed_is_let_go_of_when_the_graph_is_freed() -> None:
    class Kept:
        def __init__(self, t: torch.Tensor) -> None:
            self.t = t.detach()

    held: list[weakref.ref[Kept]] = []

    def pack(t: torch.Tensor) -> Kept:
        kept = Kept(t)
        held.append(weakref.ref(kept))
        return kept

    x = leaf(1.0)
    with Packing(pack, lambda kept: kept.t):
        y = x.exp()
    assert held[0]() is not None
    y.backward()
    gc.collect()
    assert held[0]() is None


def test_nothing_is_recorded_inside_a_packing() -> None:
    modes = []

    def pack(t: torch.Tensor) -> torch.Tensor:
        modes.append(torch.is_grad_enabled())
        return t * 2

    x = leaf(1.0)
    with Packing(pack, lambda t: t / 2):
        x.exp().backward()
    assert modes == [False]
    assert x.grad.item() == pytest.approx(2.718281, rel=1e-6)
