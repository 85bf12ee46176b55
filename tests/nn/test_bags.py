"""Bags of embeddings: beside PyTorch's at random, and where PyTorch's are wrong."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli
from gradcli.nn import functional as F


def test_a_gradient_by_frequency_is_divided_by_how_often_a_row_was_looked_up() -> None:
    """PyTorch divides by the frequency of another row where numbers repeat."""
    w = gradcli.zeros(3, 1, requires_grad=True)
    at = gradcli.tensor([2, 0, 0, 0, 2, 0])
    starts = gradcli.tensor([0, 4])
    y = F.embedding_bag(at, w, starts, mode="sum", scale_grad_by_freq=True)
    y.sum().backward()
    assert w.grad.tolist() == [[1.0], [0.0], [1.0]]


def test_the_last_offset_ends_the_last_bag() -> None:
    """PyTorch reads on to the end of the input in double precision."""
    w = gradcli.tensor([[1.0], [2.0], [4.0]])
    at, offsets = gradcli.tensor([0, 1, 2]), gradcli.tensor([0, 1, 2])
    y = F.embedding_bag(at, w, offsets, mode="sum", include_last_offset=True)
    assert y.tolist() == [[1.0], [2.0]]


def test_offsets_that_say_nothing_of_the_bags_are_refused() -> None:
    w, at = gradcli.ones(3, 2), gradcli.tensor([0, 1, 2])
    with pytest.raises(RuntimeError, match="offsets must not become smaller"):
        F.embedding_bag(at, w, gradcli.tensor([0, 2, 1]))
    none = gradcli.tensor([], dtype=gradcli.int64)
    with pytest.raises(RuntimeError, match="no bag begins"):
        F.embedding_bag(at, w, none)
    with pytest.raises(RuntimeError, match="should be at least 1"):
        F.embedding_bag(at, w, none, include_last_offset=True)


def test_second_derivatives_are_the_differences_of_the_first() -> None:
    gradcli.manual_seed(0)
    double = {"dtype": gradcli.float64, "requires_grad": True}
    w, samples = gradcli.randn(4, 2, **double), gradcli.randn(2, 3, **double)
    at = gradcli.tensor([[0, 1, 1], [3, 0, 2]])

    def put_together(w: Any, samples: Any) -> Any:
        y = F.embedding_bag(at, w, mode="sum", per_sample_weights=samples)
        return y * y

    assert gradcli.autograd.gradgradcheck(put_together, (w, samples))
