"""Results in their order, and what fails after what went before it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future

import pytest

from gradcli.cli.executors import Workers, in_order
from gradcli.lang.errors import ProgramError


class Ready(Workers):
    """Workers who give what they are handed, a future."""

    def _started(self) -> Executor:
        return Executor()

    def submit(self, item: Future[int]) -> Future[int]:
        return item


def ready(value: int) -> Future[int]:
    future: Future[int] = Future()
    future.set_result(value)
    return future


def test_a_failure_comes_after_the_results_before_it() -> None:
    late: list[Future[int]] = [Future(), Future()]

    def futures() -> Iterator[Future[int]]:
        yield from late
        for nr, future in enumerate(late):
            future.set_result(nr)
        raise ProgramError("E517", "a bad row")

    found = in_order(Ready(None, 5), futures())
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ProgramError, match="a bad row"):
        next(found)


def test_no_more_than_asked_for_are_on_their_way() -> None:
    asked: list[int] = []

    def futures() -> Iterator[Future[int]]:
        for nr in range(9):
            asked.append(nr)
            yield ready(nr)

    found = in_order(Ready(None, 2), futures())
    assert next(found) == 0
    assert len(asked) == 1
    assert list(found) == list(range(1, 9))
