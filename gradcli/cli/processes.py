"""Blocks of points computed in processes of this machine.

Invariant: results come in the order of the blocks, each once; when a process dies, all
that was on its way is computed anew by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_all_start_methods, get_context
from os import getpid
from typing import Any

from ..lang.errors import ProgramError
from ..lang.process import end_with
from .ordered import in_order

BLOCKS_PER_PROCESS = 2
"""Blocks that are on their way for each process."""

MAX_DEATHS = 8
"""Processes that may die before it is said that they do."""

_task: Callable[[object], object]


def _begin(task: Callable[[Any], Any], parent: int) -> None:
    """What a process does first."""
    global _task
    _task = task
    end_with(parent)


def _apply(item: object) -> object:
    return _task(item)


@contextmanager
def mapping(count: int) -> Iterator[Callable[..., Iterator[object]]]:
    """What applies a function to items in so many processes, in their order."""
    made: list[_Pool] = []

    def mapped(
        task: Callable[[object], object], items: Iterable[object]
    ) -> Iterator[object]:
        made.append(_Pool(count, task))
        futures = (made[0].submit(item) for item in items)
        return in_order(futures, lambda: BLOCKS_PER_PROCESS * count)

    try:
        yield mapped
    finally:
        for pool in made:
            pool.stop()


class _Pool:
    """Processes that apply one function, started anew when one of them dies."""

    def __init__(self, count: int, task: Callable[[Any], Any]) -> None:
        self._count = count
        self._task = task
        self._deaths = 0
        self._executor = self._started()

    def _started(self) -> ProcessPoolExecutor:
        # A copy of this process has the libraries already.
        copied = "fork" in get_all_start_methods()
        return ProcessPoolExecutor(
            self._count,
            get_context("fork" if copied else "spawn"),
            _begin,
            (self._task, getpid()),
        )

    def submit(self, item: object) -> _Result:
        return _Result(self, item)

    def begin(self, item: object) -> tuple[ProcessPoolExecutor, Future[object]]:
        """The future of an item, and who computes it."""
        while True:
            executor = self._executor
            try:
                return executor, executor.submit(_apply, item)
            except BrokenProcessPool:
                self.renew(executor)

    def renew(self, broken: ProcessPoolExecutor) -> None:
        """Start other processes, unless that was done.

        Raises:
            ProgramError: they die again and again.
        """
        if broken is not self._executor:
            return
        self._deaths += 1
        if self._deaths > MAX_DEATHS:
            message = f"--cluster: {self._deaths} processes have died"
            hint = "is there enough memory? ask for fewer processes"
            raise ProgramError("E403", message, hint=hint)
        broken.shutdown(wait=False)
        self._executor = self._started()

    def stop(self) -> None:
        self._executor.shutdown(cancel_futures=True)


class _Result:
    """What an item gives, whatever becomes of the process that computes it."""

    def __init__(self, pool: _Pool, item: object) -> None:
        self._pool = pool
        self._item = item
        self._executor, self._future = pool.begin(item)

    def done(self) -> bool:
        return self._future.done()

    def result(self) -> object:
        while True:
            try:
                return self._future.result()
            except BrokenProcessPool:
                self._pool.renew(self._executor)
                self._executor, self._future = self._pool.begin(self._item)
