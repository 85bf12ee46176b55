"""Results that are computed side by side, in the order in which they were asked for.

Invariant: each comes once; what fails on the way comes after all that went before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..lang.errors import ProgramError
from ..lang.points import Block
from ..lang.tiles import cores
from .point_task import Done, Task


def in_order(futures: Iterator[object], ahead: Callable[[], int]) -> Iterator[Done]:
    """The results of futures; while one is waited for, ``ahead()`` more are on their
    way.

    Raises:
        ProgramError: what ended the futures, after all results before it.
    """
    waiting: deque[Any] = deque()
    failure: ProgramError | None = None
    while True:
        try:
            future = next(futures, None)
        except ProgramError as error:
            failure = error
            break
        if future is None:
            break
        waiting.append(future)
        while waiting and (len(waiting) > ahead() or waiting[0].done()):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
    if failure is not None:
        raise failure


def mapped(task: Task, blocks: Iterable[Block]) -> Iterator[Done]:
    """Blocks read and computed one after the other, and made text beside that."""
    count = cores()
    with ThreadPoolExecutor(count) as pool:
        done = (pool.submit(task.encoded, task.computed(block)) for block in blocks)
        yield from in_order(done, lambda: count)
