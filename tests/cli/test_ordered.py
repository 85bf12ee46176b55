"""Results in their order, and what fails after what went before it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from gradcli.cli.ordered import in_order
from gradcli.lang.errors import ProgramError


def ready(value: int) -> Future[int]:
    future: Future[int] = Future()
    future.set_result(value)
    return future


def test_a_failure_comes_after_the_results_before_it() -> None:
    late: list[Future[int]] = [Future(), Future()]

    def futures() -> Iterator[Any]:
        yield from late
        for nr, future in enumerate(late):
            future.set_result(nr)
        raise ProgramError("E517", "a bad row")

    found = in_order(futures(), lambda: 5)
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ProgramError, match="a bad row"):
        next(found)


def test_no_more_than_asked_for_are_on_their_way() -> None:
    asked: list[int] = []

    def futures() -> Iterator[Any]:
        for nr in range(9):
            asked.append(nr)
            yield ready(nr)

    found = in_order(futures(), lambda: 2)
    assert next(found) == 0
    assert len(asked) == 1
    assert list(found) == list(range(1, 9))
