"""Blocks of points computed side by side: by threads, by processes, on a Dask cluster.

A task and its results can be sent between processes; the results of a block depend on
that block alone.

Invariants: results come in the order of the blocks, each once, even if workers die; an
error comes after all results before it. Only a few blocks for each worker are in
progress at any time, so that memory does not grow with the table.

    with workers("local:4", task) as four:
        for done in in_order(four, blocks):
            ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from os import getpid
from typing import Any

import numpy as np

from ..engine.parts import cores
from ..lang.compiled import Compiled
from ..lang.errors import ProgramError
from ..lang.process import end_with
from ..lang.rows import Ways
from ..lang.text_tables import BadRow, Block
from ..render.columns import KINDS
from .limits import rows
from .problems import wrong

LOCAL = "local:"
"""Beginning of an address that asks for workers on this machine."""

BLOCKS_PER_PROCESS = 2
"""Number of blocks in progress for each process of this machine."""

BLOCKS_PER_WORKER = 3
"""Number of blocks in progress for each worker of a cluster."""

MAX_DEATHS = 8
"""Largest number of processes that may die before that is an error."""

MAX_LOSSES = 100
"""Largest number of results that may be lost with workers of a cluster."""

CONNECT_SECONDS = 10
"""Most time that a cluster may take to answer, in seconds."""

LOOK_SECONDS = 30
"""Time between two looks for a worker while a result is waited for, in seconds."""


def header(given: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Return the names of the columns, all different: a result whose name is that of an
    input is numbered."""
    names = list(given)
    for name in results(wanted):
        number = 2
        found = name
        while found in names:
            found = f"{name}_{number}"
            number += 1
        names.append(found)
    return names


def results(wanted: Sequence[str]) -> list[str]:
    """Return the names that results have if no input has the same name."""
    return ["value", *(f"grad_{name}" for name in wanted)]


def _with_gaps(column: Any, bad: Sequence[BadRow]) -> Any:
    """Return a column with NaN inserted at the bad rows."""
    whole = np.full((len(column) + len(bad), *np.shape(column)[1:]), np.nan)
    good = np.ones(len(whole), bool)
    good[[row.nr for row in bad]] = False
    whole[good] = column
    return whole


@dataclass(frozen=True, slots=True)
class Done:
    """Results of a block.

    rows   the results, encoded
    count  the number of its rows, good and bad
    bad    why rows could not be computed, by the row's number in the block; None: the
           reason names the place in the table
    error  the error that ended the work
    size   the size of the block in the table, as in `Block`
    ways   how its rows were computed; None: there were none
    """

    rows: Any
    count: int
    bad: tuple[tuple[int | None, str], ...]
    error: ProgramError | None = None
    size: int = 0
    ways: Ways | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A program with what is the same for all blocks.

    shared    the values that all points share
    given     the inputs that differ from point to point
    wanted    the inputs whose gradients are written
    suffix    the format of the results
    on_error  the fate of a row that cannot be computed: skip, stop or nan
    """

    program: Compiled
    shared: Mapping[str, object]
    given: tuple[str, ...]
    wanted: tuple[str, ...]
    suffix: str
    on_error: str

    def __call__(self, block: Block) -> Done:
        """Compute the value and the gradients at each point of a block; encode them."""
        return self.encoded(self.computed(block))

    def encoded(self, done: Done) -> Done:
        """Return a block's results with their columns encoded for the file."""
        names = header(self.given, self.wanted)
        return replace(done, rows=KINDS[self.suffix].encoded(names, done.rows))

    def computed(self, block: Block) -> Done:
        """Return the value and the gradients of a block, as columns of numbers."""
        points, stop, error = block(), self.on_error == "stop", None
        if stop and points.bad:
            bad = points.bad[0]
            error = ProgramError("E517", f"{bad.place}: {bad.reason}")
            points = points.before(bad.nr)
        failed: dict[int, ProgramError] = {}
        with rows() as each:
            found = self.program.at_rows(
                points.columns, self.shared, failed, each, first=stop
            )
        columns = [
            *(points.columns[name] for name in self.given),
            found.value,
            *(found.grads[name] for name in self.wanted),
        ]
        lost = list(failed)
        if stop and failed:
            error = failed[min(failed)]
            lost = list(range(min(failed), points.rows))
        if self.on_error == "nan":
            if points.bad:
                columns = [_with_gaps(c, points.bad) for c in columns]
                by_name = dict(zip(self.given, columns, strict=False))
                for row in points.bad:
                    for name, number in row.cells:
                        if by_name[name].ndim == 1:
                            by_name[name][row.nr] = number
        elif lost:
            columns = [np.delete(column, lost, axis=0) for column in columns]
        told: list[tuple[int | None, str]] = [
            (None, f"{bad.place}: {bad.reason}") for bad in points.bad
        ]
        told += [(points.number(nr), e.message) for nr, e in failed.items()]
        count = points.rows + len(points.bad)
        bad_rows = () if stop else tuple(told)
        return Done(columns, count, bad_rows, error, block.size, found.ways)


class Workers:
    """Threads that encode results as text; the calling thread computes them."""

    lost: tuple[type[BaseException], ...] = ()
    """Errors that mean that an item's worker is lost."""

    executor: Executor

    def __init__(self, function: Any, count: int) -> None:
        self._function = function
        self._count = count
        self.executor = self._started()

    def _started(self) -> Executor:
        return ThreadPoolExecutor(max(1, self._count))

    def ahead(self) -> int:
        """Return how many items may be in progress while one is waited for."""
        return self._count

    def submit(self, item: Any) -> Future[Any]:
        """Return the future of an item's result."""
        done = self._function.computed(item)
        return self.executor.submit(self._function.encoded, done)

    def recover(self, executor: Executor, error: BaseException) -> None:
        """Let other workers compute what those of an executor lost.

        Raises:
            ProgramError: results were lost too often.
        """

    def look(self) -> None:
        """Check that there is a worker.

        Raises:
            ProgramError: there is none.
        """


def in_order(workers: Workers, items: Iterable[object]) -> Iterator[Any]:
    """Yield the results of items, in their order.

    Raises:
        ProgramError: the items raised it; all results before it come first.
    """
    waiting: deque[tuple[object, Executor, Future[object]]] = deque()
    failure: ProgramError | None = None
    rest = iter(items)
    while True:
        try:
            item = next(rest, None)
            if item is None:
                break
            waiting.append(_begun(workers, item))
        except ProgramError as error:
            failure = error
            break
        while waiting and (len(waiting) > workers.ahead() or waiting[0][2].done()):
            yield _result(workers, *waiting.popleft())
    while waiting:
        yield _result(workers, *waiting.popleft())
    if failure is not None:
        raise failure


def _begun(workers: Workers, item: object) -> tuple[object, Executor, Future[object]]:
    """Return an item, the executor that computes it, and its future."""
    while True:
        executor = workers.executor
        try:
            return item, executor, workers.submit(item)
        except workers.lost as error:
            workers.recover(executor, error)


def _result(
    workers: Workers, item: object, executor: Executor, future: Future[object]
) -> object:
    """Return the result of an item; submit it again if its worker is lost."""
    while True:
        try:
            return future.result(LOOK_SECONDS)
        except workers.lost as error:
            workers.recover(executor, error)
            _, executor, future = _begun(workers, item)
        except TimeoutError:
            workers.look()


_function: Callable[[object], object]
"""Function that a process of this machine applies to its items."""


def _begin(function: Callable[[Any], Any], parent: int) -> None:
    """Set up a process that was started."""
    global _function
    _function = function
    end_with(parent)


def _apply(item: object) -> object:
    return _function(item)


class Processes(Workers):
    """Processes of this machine, which are started again when one of them dies."""

    lost = (BrokenExecutor,)

    _deaths = 0

    def _started(self) -> Executor:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_all_start_methods, get_context

        # A forked process has the imported libraries already.
        copied = "fork" in get_all_start_methods()
        return ProcessPoolExecutor(
            self._count,
            get_context("fork" if copied else "spawn"),
            _begin,
            (self._function, getpid()),
        )

    def ahead(self) -> int:
        return BLOCKS_PER_PROCESS * self._count

    def submit(self, item: object) -> Future[object]:
        return self.executor.submit(_apply, item)

    def recover(self, executor: Executor, error: BaseException) -> None:
        if executor is not self.executor:
            return
        self._deaths += 1
        if self._deaths > MAX_DEATHS:
            message = f"--cluster: {self._deaths} processes have died"
            hint = "is there enough memory? ask for fewer processes"
            raise ProgramError("E403", message, hint=hint)
        executor.shutdown(wait=False)
        self.executor = self._started()


class Cluster(Workers):
    """The workers of a client of a Dask cluster."""

    def __init__(self, function: Callable[[Any], Any], client: Any) -> None:
        from distributed import KilledWorker

        self.lost = (CancelledError, KilledWorker)
        self._client = client
        self._sent: Any = None
        """The function as an object on the workers."""
        self._losses = 0
        super().__init__(function, BLOCKS_PER_WORKER)

    def _started(self) -> Executor:
        made: Executor = self._client.get_executor(pure=False)
        return made

    def ahead(self) -> int:
        return self._count * max(1, len(self._client.scheduler_info()["workers"]))

    def submit(self, item: object) -> Future[object]:
        if self._sent is None or self._sent.cancelled():
            try:
                self._sent = self._client.scatter(self._function, broadcast=True)
            except TimeoutError:
                raise _gone("it has no workers") from None
        return self.executor.submit(_applied, self._sent, item)

    def recover(self, executor: Executor, error: BaseException) -> None:
        if not isinstance(error, CancelledError):
            raise _gone("a block of rows ends its workers") from None
        self._losses += 1
        if self._losses > MAX_LOSSES or self._client.status != "running":
            raise _gone("its workers have died, or the scheduler has")

    def look(self) -> None:
        if self._client.status != "running":
            raise _gone("the scheduler has ended")
        if not self._client.scheduler_info()["workers"]:
            raise _gone("it has no workers")


def _gone(reason: str) -> ProgramError:
    hint = "is there enough memory? or compute on this machine with --cluster local:N"
    message = f"--cluster: the cluster does not answer: {reason}"
    return ProgramError("E403", message, hint=hint)


def _applied(function: Callable[[object], object], item: object) -> object:
    return function(item)


@contextmanager
def workers(
    address: str | None, task: Task, held_back: bool = True
) -> Iterator[Workers]:
    """Yield workers that do a task.

    Args:
        address: a scheduler's address, ``local:N`` for N processes of this machine,
            or None for this process.
        task: the function that is applied to each block.
        held_back: whether results of a block may wait in this process for the next
            block.

    Raises:
        ProgramError: there is no such cluster, or Dask is not installed.
    """
    if address is None:
        threads = Workers(task, cores() if held_back else 0)
        with threads.executor:
            yield threads
    elif address.startswith(LOCAL):
        count = address.removeprefix(LOCAL)
        if not count.isdigit() or not int(count):
            hint = "as in --cluster local:4"
            raise wrong("E595", f"--cluster {address}: no number of workers", hint)
        processes = Processes(task, int(count))
        try:
            yield processes
        finally:
            processes.executor.shutdown(cancel_futures=True)
    else:
        with _client(address) as client:
            yield Cluster(task, client)


def _client(address: str) -> Any:
    """Return the client of a scheduler.

    Raises:
        ProgramError: no scheduler answers, or Dask is not installed.
    """
    if find_spec("distributed") is None:
        hint = "pip install 'gradcli[cluster]', or --cluster local:N"
        raise wrong("E590", "--cluster: Dask is not installed", hint)
    from logging import ERROR, getLogger

    from distributed import Client

    # A lost result is computed again, so users need no message about it.
    getLogger("distributed.client").setLevel(ERROR)
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        hint = "give the scheduler's address, as in tcp://10.0.0.1:8786, or local:N"
        message = f"--cluster {address}: no cluster answers ({error})"
        raise wrong("E595", message, hint) from None
