"""Lists that hold themselves, or are nested too deeply, are PyTorch's error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli


def endless(count: int) -> list[Any]:
    """Return a list whose entries are all the list itself."""
    made: list[Any] = []
    made += [made] * count
    return made


def deep(count: int) -> Any:
    made: Any = 1.0
    for _ in range(count):
        made = [made]
    return made


@pytest.mark.parametrize("name", ["tensor", "as_tensor", "asarray", "FloatTensor"])
@pytest.mark.parametrize(
    "data",
    [endless(1), endless(2), (1, endless(1)), [[0.5], endless(3)], deep(70)],
    ids=["once", "twice", "in a tuple", "beside numbers", "deep"],
)
def test_a_list_without_an_end_has_too_many_dimensions(name: str, data: Any) -> None:
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        getattr(gradcli, name)(data)


OPERANDS: dict[str, Callable[[Any], object]] = {
    "stack": gradcli.stack,
    "cat": gradcli.cat,
    "an entry of stack": lambda data: gradcli.stack([data, data]),
    "an operand": lambda data: gradcli.ones(2) + data,
    "a condition": lambda data: gradcli.where(data, 1, 2),
    "an index": lambda data: gradcli.ones(3)[data],
    "a place": lambda data: gradcli.ones(3).__setitem__(data, 1),
    "a place's value": lambda data: gradcli.ones(3).__setitem__(0, data),
    "einsum": lambda data: gradcli.einsum("i", data),
    "chunk": lambda data: gradcli.chunk(data, 2),
}


@pytest.mark.parametrize("place", OPERANDS)
def test_an_operand_without_an_end_has_too_many_dimensions(place: str) -> None:
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        OPERANDS[place](endless(2))


def test_a_list_that_stands_twice_in_another_is_none() -> None:
    row = [1.0, 2.0]
    assert gradcli.tensor([[row, row], [row, row]]).shape == (2, 2, 2)
