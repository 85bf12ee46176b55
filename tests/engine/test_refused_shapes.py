"""Shapes, indices, numbers and memory that are refused, or written to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcli as torch
import gradcli.nn.functional as F
from gradcli.engine import NUMPY, Tensor, function


def test_neighbours_are_the_next_floats() -> None:
    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    up = torch.nextafter(x, x + 1) - x
    assert up.tolist() == [2.0**-52, 2.0**-51]
    assert torch.nextafter(x.float(), x.float() + 1)[0].item() == 1 + 2.0**-23


@pytest.mark.parametrize("type_", [torch.int64, torch.int32, torch.bool, torch.float32])
def test_no_entries_of_any_type_can_be_gone_through(type_: Any) -> None:
    assert list(torch.zeros(0, 3, dtype=type_)) == []
    assert torch.zeros(2, 0, dtype=type_).unbind(1) == ()


def test_whole_numbers_of_any_size_become_floats() -> None:
    assert torch.tensor(2**63, dtype=torch.float64).item() == 2.0**63
    assert torch.tensor([2**70, 1], dtype=torch.float32).tolist() == [2.0**70, 1.0]
    with pytest.raises(ValueError, match="Overflow"):
        torch.tensor(2**63)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.__setitem__(0, 1.0),
        lambda x: x.__setitem__(..., 5.0),
        lambda x: x.fill_(torch.tensor(5.0)),
        lambda x: x.add_(1),
        lambda x: x.copy_(torch.ones(3, 2)),
    ],
)
def test_entries_that_share_a_place_in_memory_are_not_written(write: Any) -> None:
    seen = torch.zeros(3, 1).expand(3, 2)
    with pytest.raises(RuntimeError, match="single memory location"):
        write(seen)
    assert not seen.any()


MASK = torch.tensor([[True, False], [False, False], [False, True]])


@pytest.mark.parametrize(
    ("write", "want"),
    [
        (lambda x: x.__setitem__((0, 1), 5.0), [5, 2, 3]),
        (lambda x: x.__setitem__((slice(None), 0), torch.ones(1, 3)), [1, 1, 1]),
        (lambda x: x.__setitem__([0, 1], 5.0), [5, 5, 3]),
        (lambda x: x.__setitem__(MASK, 5.0), [5, 2, 5]),
        (lambda x: x.masked_fill_(MASK, 9.0), [9, 2, 9]),
        (lambda x: x.index_put_((torch.tensor([0]),), torch.tensor(9.0)), [9, 2, 3]),
        (lambda x: x.fill_(7), [7, 7, 7]),
        (lambda x: x.zero_(), [0, 0, 0]),
    ],
)
def test_an_entry_of_an_expanded_tensor_is_written_for_all(
    write: Any, want: list[float]
) -> None:
    base = torch.tensor([[1.0], [2.0], [3.0]])
    seen = base.expand(3, 2)
    write(seen)
    assert base[:, 0].tolist() == want
    assert seen.tolist() == [[n, n] for n in want]


def test_the_gradient_of_an_expanded_entry_is_that_of_all() -> None:
    w = torch.ones(1, requires_grad=True)
    x = (w * 1).expand(3)
    x[0] = w[0] * 5
    (x * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert w.grad.tolist() == [30.0]
    with pytest.raises(RuntimeError, match="single memory location"):
        x[[0, 1]] = w


REFUSED: dict[str, tuple[Any, str]] = {
    "triplet": (
        lambda: F.triplet_margin_loss(torch.ones(2, 2), torch.ones(2), torch.ones(2)),
        "as many dimensions",
    ),
    "group_norm": (
        lambda: F.group_norm(torch.ones(1, 2), 2),
        "more than 1 value per channel",
    ),
    "normal": (lambda: torch.normal(0.0, -1.0, (3,)), "std >= 0.0, but found std -1"),
    "normal, tensors": (
        lambda: torch.normal(torch.zeros(2), torch.tensor([1.0, -1.0])),
        "all elements of std >= 0.0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_meaning_is_refused_in_pytorch_s_words(name: str) -> None:
    run, words = REFUSED[name]
    with pytest.raises((RuntimeError, ValueError), match=words):
        run()


def test_half_floats_are_interpolated_without_overflow() -> None:
    a, b = (torch.tensor([s * 6e4], dtype=torch.float16) for s in (-1, 1))
    assert torch.lerp(a, b, 0.5).tolist() == [0.0]
    weight = torch.tensor([0.75], dtype=torch.float16)
    assert torch.lerp(a, b, weight).tolist() == [3e4]


def x34() -> Tensor:
    return Tensor(np.arange(12.0).reshape(3, 4), NUMPY, True)


@pytest.mark.parametrize(
    ("name", "dims", "words"),
    [
        ("linalg.matrix_norm", (1, 0), "dim must be a 2-tuple"),
        ("tensordot", (x34(), [0]), "has to hold two lists of dimensions"),
    ],
)
def test_dimensions_that_are_too_few_are_refused(
    name: str, dims: tuple[Any, ...], words: str
) -> None:
    with pytest.raises(RuntimeError, match=words):
        function(name)(x34(), *dims)
