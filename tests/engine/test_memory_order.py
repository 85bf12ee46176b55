"""Draws fill a tensor in the order in which its entries lie in memory, as PyTorch's do.

PyTorch 2.13 gave the numbers that are written out.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import gradcli as torch
from gradcli.engine.memory_order import memory_order, order_of_results
from gradcli.nn import functional as F

FILLINGS = {
    "uniform_": lambda x: x.uniform_(-1, 2),
    "exponential_": lambda x: x.exponential_(1.5),
    "bernoulli_": lambda x: x.bernoulli_(0.3),
    "random_": lambda x: x.random_(0, 100),
    "normal_": lambda x: x.normal_(0.5, 2),
}
LIKES = {
    "rand_like": torch.rand_like,
    "randn_like": torch.randn_like,
    "dropout": lambda x: F.dropout(x + 1, 0.4),
    "empty_like": lambda x: torch.empty_like(x).uniform_(),
    "zeros_like": lambda x: torch.zeros_like(x).random_(0, 9),
    "clone": lambda x: x.clone().uniform_(),
}


def drawn(draw: Any, x: Any) -> Any:
    torch.manual_seed(7)
    return draw(x)


@pytest.mark.parametrize("name", [*FILLINGS, *LIKES])
@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_a_permuted_tensor_is_drawn_as_its_memory_is(
    name: str, order: tuple[int, ...]
) -> None:
    draw = (FILLINGS | LIKES)[name]
    # Fewer than 16 normal numbers are drawn one by one, in any layout.
    memory = torch.zeros(2, 3, 2)
    in_order = drawn(draw, memory.clone())
    found = drawn(draw, memory.clone().permute(order))
    assert found.permute(*np.argsort(order).tolist()).tolist() == in_order.tolist()
    assert found.stride() == memory.permute(order).stride()


@pytest.mark.parametrize("name", LIKES)
def test_a_contiguous_result_is_drawn_in_the_order_of_indices(name: str) -> None:
    x = torch.zeros(4, 3).t()
    made = torch.rand_like(x, memory_format=torch.contiguous_format)
    assert made.is_contiguous()
    assert drawn(LIKES[name], x.contiguous()).is_contiguous()


KEPT = [[0.0, 0.0], [0.0, 0.0], [2.0, 0.0]]
NORMAL = [1.5409960746765137, -1.3985954523086548, -0.5966353416442871, 0.12270124]
SPREAD = [0.49625659, 0.7682218, 0.088477433, 0.13203049, 0.30742282, 0.63407868]
SPARSE = [1.5409960746765137, -1.0845223665237427, -0.7192575931549072, -0.2934289]
HALVES = [1.5859375, 0.9462890625, -0.84375]
SLOPES = [[-0.9700530171394348, -0.7078198790550232], [2.0, -0.45938295125961304]]
BY_CHANCES = [[1.0, 0.0], [1.0, 1.0], [1.0, 0.0]]
BYTES = [172, 47, 117, 192]


def test_the_numbers_are_pytorchs() -> None:
    x = torch.ones(2, 3).t()
    torch.manual_seed(0)
    kept = F.dropout(x)
    assert kept.tolist() == KEPT
    torch.manual_seed(0)
    near(torch.randn_like(torch.ones(4, 5).t()).flatten()[:4], NORMAL)
    torch.manual_seed(0)
    near(torch.rand_like(torch.ones(3).expand(2, 3).t()).flatten(), SPREAD)
    torch.manual_seed(0)
    near(torch.zeros(6, 8)[::2, ::2].t().normal_().flatten()[:4], SPARSE)
    torch.manual_seed(0)
    near(torch.randn(17, dtype=torch.float16)[-3:], HALVES, 1e-3)
    torch.manual_seed(0)
    near(F.rrelu(torch.tensor([[-1.0, 2.0], [-1.0, -1.0]]).t(), 0, 1, True), SLOPES)
    torch.manual_seed(0)
    chances = torch.full((2, 3), 0.5).t()
    assert torch.zeros(3, 2).bernoulli_(chances).tolist() == BY_CHANCES
    torch.manual_seed(0)
    assert torch.zeros(4, dtype=torch.uint8).random_().tolist() == BYTES


def near(found: Any, meant: Any, most: float = 1e-6) -> None:
    assert np.allclose(found.tolist(), meant, rtol=most, atol=most)


def test_half_numbers_that_round_up_to_the_end_are_the_beginning() -> None:
    torch.manual_seed(68)
    assert 0.0 in torch.rand(5, dtype=torch.float16).tolist()


def test_dimensions_without_steps_keep_their_place() -> None:
    assert memory_order((3, 4), (4, 1)) == [0, 1]
    assert memory_order((3, 4), (1, 3)) == [1, 0]
    assert memory_order((2, 3, 4), (0, 1, 3)) == [0, 2, 1]
    assert memory_order((2, 3), (0, 0), (1, 2)) == [1, 0]


def lying(sizes: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """Return zeros of a shape, the dimension of the longest step first in memory."""
    return np.zeros([sizes[d] for d in order]).transpose(np.argsort(order))


@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 3, 4), (2, 1, 4)])
def test_a_result_lies_as_numpys_does(sizes: tuple[int, ...]) -> None:
    for first, second in product(permutations(range(3)), repeat=2):
        a, b = lying((2, 3, 4), first), lying(sizes, second)
        steps = [np.where(np.array(x.shape) == 1, 0, x.strides) for x in (a, b)]
        order = order_of_results([each.tolist() for each in steps])
        assert lying(a.shape, tuple(order)).strides == (a + b).strides
