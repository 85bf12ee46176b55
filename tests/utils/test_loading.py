"""Data sets, samplers and loaders: which items come, in which batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradcli as torch
from gradcli.utils import data


class Countdown(data.IterableDataset):
    """The numbers below a start, downwards."""

    def __init__(self, start: int) -> None:
        self.start = start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.start, 0, -1))


sizes = st.integers(1, 40)


@given(sizes, st.integers(1, 12), st.booleans(), st.booleans())
def test_a_pass_gives_every_item_once_in_full_batches_but_for_the_last(
    count: int, batch_size: int, shuffle: bool, drop_last: bool
) -> None:
    loader = data.DataLoader(range(count), batch_size, shuffle, drop_last=drop_last)
    batches = [batch.tolist() for batch in loader]
    items = [item for batch in batches for item in batch]
    assert len(batches) == len(loader)
    assert all(len(batch) == batch_size for batch in batches[:-1])
    if drop_last:
        assert len(items) == count - count % batch_size
        assert len(set(items)) == len(items)
    else:
        assert sorted(items) == list(range(count))
    if not shuffle:
        assert items == sorted(items)


@given(sizes, st.integers(1, 12), st.booleans())
def test_a_stream_is_batched_like_a_list(
    count: int, batch_size: int, drop_last: bool
) -> None:
    loader = data.DataLoader(Countdown(count), batch_size, drop_last=drop_last)
    whole = data.DataLoader(list(range(count, 0, -1)), batch_size, drop_last=drop_last)
    assert [b.tolist() for b in loader] == [b.tolist() for b in whole]


@given(st.lists(st.integers(0, 10), min_size=1, max_size=5))
def test_a_split_is_a_partition(lengths: list[int]) -> None:
    total = sum(lengths)
    parts = data.random_split(range(total), lengths)
    assert [len(part) for part in parts] == lengths
    assert sorted(i for part in parts for i in part) == list(range(total))


def test_samplers_give_what_their_names_say() -> None:
    torch.manual_seed(0)
    assert list(data.SequentialSampler("abc")) == [0, 1, 2]
    assert sorted(data.RandomSampler(range(9))) == list(range(9))
    assert len(list(data.RandomSampler(range(3), num_samples=7))) == 7
    again = data.RandomSampler(range(3), replacement=True, num_samples=50)
    assert set(again) == {0, 1, 2}
    assert list(data.BatchSampler(range(5), 2, False)) == [[0, 1], [2, 3], [4]]


def test_a_loader_takes_positions_from_a_sampler_of_ones_own() -> None:
    loader = data.DataLoader([10, 20, 30], sampler=[2, 0], batch_size=2)
    assert [b.tolist() for b in loader] == [[30, 10]]
    loader = data.DataLoader([10, 20, 30], batch_sampler=[[0], [1, 2]])
    assert [b.tolist() for b in loader] == [[10], [20, 30]]
    assert (len(loader), loader.batch_size) == (2, None)


def test_without_a_batch_size_items_come_as_they_are() -> None:
    items = [np.ones(2), {"x": 3}, (1, "a")]
    loaded = list(data.DataLoader(items, batch_size=None))
    assert loaded[0].tolist() == [1.0, 1.0]
    assert loaded[1:] == [{"x": 3}, [1, "a"]]


def test_a_set_that_gives_several_items_at_once_is_asked_for_them() -> None:
    class Several(data.Dataset):
        asked: list[list[int]] = []  # noqa: RUF012

        def __len__(self) -> int:
            return 3

        def __getitems__(self, at: list[int]) -> list[int]:
            self.asked.append(at)
            return [10 * i for i in at]

    batches = [b.tolist() for b in data.DataLoader(Several(), batch_size=2)]
    assert batches == [[0, 10], [20]]
    assert Several.asked == [[0, 1], [2]]


def test_what_cannot_be_put_together_is_refused() -> None:
    with pytest.raises(TypeError, match="found <class 'object'>"):
        data.default_collate([object()])
    with pytest.raises(RuntimeError, match="should be of equal size"):
        data.default_collate([[1], [1, 2]])


def test_workers_are_not_started_and_the_batches_are_the_same() -> None:
    with pytest.warns(UserWarning, match="num_workers=2: this DataLoader starts no"):
        asked = data.DataLoader(
            range(9), 4, shuffle=True, num_workers=2, persistent_workers=True
        )
    torch.manual_seed(0)
    found = [batch.tolist() for batch in asked]
    torch.manual_seed(0)
    assert found == [b.tolist() for b in data.DataLoader(range(9), 4, shuffle=True)]


def test_a_stream_has_no_order_to_choose() -> None:
    with pytest.raises(ValueError, match="items in its own order"):
        data.DataLoader(Countdown(3), shuffle=True)
