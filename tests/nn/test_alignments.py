"""CTC: its derivatives, and its values and gradients beside PyTorch's at random."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.nn import functional as F


def test_both_derivatives_of_normalised_scores_are_the_differences() -> None:
    gradcli.manual_seed(0)
    x = gradcli.randn(4, 2, 3, dtype=gradcli.float64, requires_grad=True)
    targets = gradcli.tensor([[1, 2, 2], [1, 1, 0]])

    def loss(x: Any) -> Any:
        return F.ctc_loss(x.log_softmax(2), targets, (4, 3), (2, 2), reduction="none")

    assert gradcli.autograd.gradcheck(loss, (x,), check_forward_ad=True)
    assert gradcli.autograd.gradgradcheck(loss, (x,))


def test_the_slope_of_free_scores_is_the_value_s_and_their_exponential() -> None:
    x = gradcli.tensor([[[0.3, -0.2]], [[0.1, 0.5]]], dtype=gradcli.float64)
    x.requires_grad_()
    y = F.ctc_loss(x, gradcli.tensor([[1]]), (2,), (1,), reduction="sum")
    (g,) = gradcli.autograd.grad(y, [x])
    shares = (g - x.detach().exp()).sum(2)
    assert np.allclose(shares.raw, -1)


def test_the_second_derivative_of_free_scores_is_the_slope_of_their_gradient() -> None:
    def slope(x: Any) -> Any:
        y = F.ctc_loss(x, gradcli.tensor([[1, 1]]), (3,), (2,), reduction="sum")
        return gradcli.autograd.grad(y, [x], create_graph=True)[0]

    x = gradcli.linspace(-1, 1, 6, dtype=gradcli.float64).reshape(3, 1, 2)
    assert gradcli.autograd.gradcheck(slope, (x.requires_grad_(),))


def test_a_long_sequence_neither_overflows_nor_underflows() -> None:
    scores = gradcli.full((2000, 1, 4), -50.0, dtype=gradcli.float64)
    targets = gradcli.tensor([[1, 2, 3] * 10])
    y = F.ctc_loss(scores, targets, (2000,), (30,), reduction="sum")
    assert 2000 * 49 < float(y) < 2000 * 50


def test_a_label_that_no_class_has_is_refused() -> None:
    x = gradcli.zeros(3, 1, 2)
    with pytest.raises(IndexError, match="Target 2 is out of bounds"):
        F.ctc_loss(x, gradcli.tensor([[2]]), (3,), (1,))


@pytest.mark.peers
@pytest.mark.parametrize("seed", range(4))
def test_values_and_gradients_are_pytorch_s(seed: int) -> None:
    torch = pytest.importorskip("torch")
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    for _ in range(20):
        x, rest = sample(draw, rng)
        theirs = outcome(torch, x, *rest)
        ours = outcome(gradcli, x, *rest)
        for a, b in zip(ours, theirs, strict=True):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-11, equal_nan=True)


def sample(draw: random.Random, rng: Any) -> tuple[Any, tuple[Any, ...]]:
    times, items, classes, longest = (
        draw.randint(1, 7), draw.randint(1, 3), draw.randint(2, 5), draw.randint(0, 3)
    )  # fmt: skip
    blank = draw.randrange(classes)
    labels = [c for c in range(classes) if c != blank]
    counts = [draw.randint(0, longest) for _ in range(items)]
    lengths = [draw.randint(0, times) for _ in range(items)]
    shape = draw.choice([(items, longest), (sum(counts),)])
    targets = rng.choice(labels, shape)
    how = draw.choice(["none", "mean", "sum"])
    x = rng.standard_normal((times, items, classes))
    return x, (targets, lengths, counts, blank, how, draw.random() < 0.5)


def outcome(module: Any, x: Any, targets: Any, *rest: Any) -> list[Any]:
    scores = module.from_numpy(x.copy()).requires_grad_()
    labels = module.from_numpy(targets.copy())
    y = module.nn.functional.ctc_loss(scores, labels, *rest)
    (g,) = module.autograd.grad(y.sum(), [scores])
    return [y.detach().numpy(), g.numpy()]
