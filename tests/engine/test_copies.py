"""Pickling and copying of tensors: memory, types, steps and attributes stay."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli as torch

Again = Callable[[Any], Any]
WAYS: dict[str, Again] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "deepcopy": copy.deepcopy,
    "copy": lambda x: [copy.copy(each) for each in x],
}
MADE: dict[str, Callable[[], torch.Tensor]] = {
    "scalar": lambda: torch.tensor(3.0),
    "result of shape ()": lambda: torch.ones(2).sum(),
    "expanded": lambda: torch.ones(3, 1).expand(3, 4),
    "transposed": lambda: torch.arange(6).view(2, 3).t(),
    "backwards": lambda: torch.from_numpy(np.arange(6.0)[::-1]),
    "in Fortran's order": lambda: torch.from_numpy(np.asfortranarray(np.eye(2, 3))),
    "of no entries": lambda: torch.zeros(0, 3)[:, :1],
    "other bytes": lambda: torch.ones(2).view(torch.int32),
    "truth values": lambda: torch.tensor([True, False])[1:],
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("way", WAYS)
def test_what_comes_back_is_what_went_in(way: str, name: str) -> None:
    x = MADE[name]()
    (y,) = WAYS[way]([x])
    assert repr(y) == repr(x)
    assert (y.dtype, y.shape) == (x.dtype, x.shape)
    assert y.numel() == 0 or y.stride() == x.stride()
    assert x.numel() == 0 or (y.data_ptr() == x.data_ptr()) is (way == "copy")


@pytest.mark.parametrize("way", WAYS)
def test_tensors_on_one_memory_stay_on_one(way: str) -> None:
    base = torch.arange(6.0)
    x, row, column = WAYS[way]([base, base.view(2, 3)[1], base.view(2, 3)[:, 0]])
    x[3] = 9
    assert row.tolist() == [9.0, 4.0, 5.0]
    assert column.tolist() == [0.0, 9.0]
    assert (base[3] == 9).item() is (way == "copy")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_tensor_from_a_pickle_can_be_written_to(protocol: int) -> None:
    x = pickle.loads(pickle.dumps(torch.ones(2), protocol))
    assert x.add_(1).tolist() == [2.0, 2.0]
    x += 1
    assert x.tolist() == [3.0, 3.0]
