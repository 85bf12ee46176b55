"""Blocks of points computed side by side: by threads, or by the workers of a Dask
cluster.

A task and its results can be sent between processes; the results of a block depend on
that block alone.

Invariants: results come in the order of the blocks, each once, even if workers die; an
error comes after all results before it. Only a few blocks for each worker are in
progress at any time, so that memory does not grow with the table.

    with workers("local:4", task) as four:
        for done in four.in_order(blocks):
            ...
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from itertools import zip_longest
from signal import SIG_IGN, SIGINT, signal
from typing import Any, NamedTuple

import numpy as np

from ..engine.extras import how_to_install
from ..engine.parts import cores
from ..lang.compiled import Compiled
from ..lang.errors import ProgramError
from ..lang.run import no_gradient
from .column_files import KINDS, Sparse
from .text_tables import BadRow, Points, RowBlock

LOCAL = "local:"
"""Beginning of an address that asks for workers on this machine."""

BLOCKS_PER_WORKER = 3
"""Number of blocks in progress for each worker of a cluster."""

MAX_PROCESSES = 1000
"""Largest number of processes of this machine that may be asked for."""

CONNECT_SECONDS = 10
"""Most time that a cluster may take to answer, in seconds."""

LOOK_SECONDS = 30
"""Time between two looks for a worker while a result is waited for, in seconds."""


def _with_bad(name: str, column: Any, bad: Sequence[BadRow]) -> Any:
    """Return a column with the cells of bad rows inserted, or NaN."""
    at = [row.nr - before for before, row in enumerate(bad)]
    fill = '""' if column.dtype == object else np.nan
    cells = [dict(row.cells).get(name, fill) for row in bad]
    plain = np.asarray(column)
    made = np.insert(plain, at, fill if column.ndim > 1 else cells, axis=0)
    if not isinstance(column, Sparse):
        return made
    return Sparse.of(made, np.insert(column.absent, at, False))


@dataclass(frozen=True, slots=True)
class Done:
    """Results of a block: its rows, encoded; their count, good and bad; why rows could
    not be computed, by their number in the block, or None where the reason names the
    place; the numbers of those that are nan; why rows fall short of what is required,
    by their number; the error that ended the work; the block's size in the table, as in
    `RowBlock`; the number of rows that were computed one by one."""

    rows: Any
    count: int
    bad: tuple[tuple[int | None, str], ...]
    nan: tuple[int, ...]
    weak: tuple[tuple[int, str], ...]
    error: ProgramError | None
    size: int
    single: int


@dataclass(frozen=True, slots=True)
class Task:
    """A program with what is the same for all blocks: the values that all points share,
    the inputs that differ from point to point, the columns that are carried along, what
    is computed, as `Rows` has it, the names of all columns of the results, their
    format, the fate of a row that cannot be computed, or is nan: skip, stop or nan, and
    without a word of the user skip and nan; a block that limits each row; and the
    function that
    tells which rows fall short of what is required."""

    program: Compiled
    shared: Mapping[str, object]
    given: tuple[str, ...]
    kept: tuple[str, ...]
    kind: str
    names: tuple[str, ...]
    suffix: str
    on_error: str | None
    limited: Callable[[], AbstractContextManager[Any]]
    shortfalls: Callable[..., Sequence[tuple[int, str]]] | None = None

    def __call__(self, block: RowBlock) -> Done:
        """Compute the value and its derivatives at each point of a block; encode
        them."""
        return self.encoded(self.computed(block))

    def encoded(self, done: Done) -> Done:
        """Return a block's results with their columns encoded for the file."""
        return replace(done, rows=KINDS[self.suffix].encoded(self.names, done.rows))

    def computed(self, block: RowBlock) -> Done:
        """Return the value and its derivatives of a block, as columns."""
        points, stop, error = block(), self.on_error == "stop", None
        if stop and points.bad:
            bad = points.bad[0]
            error = ProgramError("E517", f"{bad.place}: {bad.reason}")
            before = {name: c[: bad.nr] for name, c in points.columns.items()}
            points = Points(before, ())
        failed: dict[int, ProgramError] = {}
        with self.limited() as each:
            given = {name: points.columns[name] for name in self.given}
            found = self.program.at_rows(
                given, self.shared, failed, each, first=stop, kind=self.kind
            )
        names = (*self.kept, *self.given)
        results = [found.value, *found.grads.values()]
        if self.kind != "value" and found.grads and 0 in found.absent:
            none = np.flatnonzero(found.absent[0]).tolist()
            failed |= {nr: no_gradient() for nr in none if nr not in failed}
        nan = [nr for nr in _nan_rows(results) if nr not in failed]
        lost = list(failed)
        if stop and (failed or nan):
            first = min([*failed, *nan])
            error = failed.get(first)
            if error is None:
                number = points.number(first)
                error = NanRow("E517", "the value or a derivative is nan", number)
            lost = list(range(first, points.rows))
        elif self.on_error == "skip":
            lost += nan
        short: Sequence[tuple[int, str]] = ()
        if self.shortfalls is not None:
            there = [nr for nr in range(points.rows) if nr not in {*lost}]
            short = self.shortfalls(given, results, there)
        absent = {nr: mask for nr, mask in found.absent.items() if nr}
        results = [
            Sparse.of(column, absent[nr]) if nr in absent else column
            for nr, column in enumerate(results)
        ]
        columns = [*(points.columns[name] for name in names), *results]
        if self.on_error == "nan":
            pairs = zip_longest(names, columns, fillvalue="")
            columns = [_with_bad(name, column, points.bad) for name, column in pairs]
        elif lost:
            columns = [_without(column, lost) for column in columns]
        told: list[tuple[int | None, str]] = []
        if not stop:
            told += [(None, f"{bad.place}: {bad.reason}") for bad in points.bad]
            told += [(points.number(nr), e.message) for nr, e in failed.items()]
        count = points.rows + len(points.bad)
        counted = () if stop else tuple(map(points.number, nan))
        weak = tuple((points.number(nr), text) for nr, text in short)
        ended = counted, weak, error, block.size, found.single
        return Done(columns, count, tuple(told), *ended)


class NanRow(ProgramError):
    """The error of a row that is nan, with the row's number in its block."""

    def __init__(self, code: str, message: str, number: int) -> None:
        super().__init__(code, message)
        self.number = number

    def at(self, before: int) -> ProgramError:
        """Return the error of the row, of a table with ``before`` rows before its
        block."""
        message = f"row {before + self.number}: {self.message}"
        return ProgramError("E517", message, hint="--on-error nan writes it")

    def __reduce__(self) -> tuple[Any, ...]:
        return NanRow, (self.code, self.message, self.number)


def _nan_rows(columns: Sequence[Any]) -> list[int]:
    """Return the numbers of the rows in which a result is nan."""
    found = np.zeros(len(columns[0]), bool)
    for column in columns:
        found |= np.isnan(column).any(tuple(range(1, np.ndim(column))))
    numbers: list[int] = np.flatnonzero(found).tolist()
    return numbers


def _without(column: Any, rows: Sequence[int]) -> Any:
    """Return a column without some of its rows."""
    left = np.delete(np.asarray(column), rows, axis=0)
    if not isinstance(column, Sparse):
        return left
    return Sparse.of(left, np.delete(column.absent, rows))


class Workers(NamedTuple):
    """Workers of any kind: ``submit`` returns the future of an item's result, ``ahead``
    how many items may be in progress while one is waited for, ``lost`` the error for a
    worker that was lost, or None while there are workers, and ``begun`` the items, with
    what can be done before their turn."""

    submit: Callable[[Any], Future[Any]]
    ahead: Callable[[], int]
    lost: Callable[[Exception], ProgramError | None] = lambda error: None
    begun: Callable[[Iterable[Any]], Iterable[Any]] = iter

    def in_order(self, items: Iterable[object]) -> Iterator[Any]:
        """Yield the results of items, in their order."""
        waiting: deque[tuple[object, Future[Any]]] = deque()
        failure: ProgramError | None = None
        rest = iter(self.begun(items))
        while True:
            try:
                item = next(rest)
                waiting.append((item, self.submit(item)))
            except StopIteration:
                break
            except ProgramError as error:
                failure = error
                break
            except CancelledError as error:
                failure = self.lost(error)
                if failure is None:
                    raise
                break
            while waiting and (len(waiting) > self.ahead() or waiting[0][1].done()):
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())
        if failure is not None:
            raise failure

    def _result(self, item: object, future: Future[Any]) -> Any:
        while True:
            try:
                return future.result(LOOK_SECONDS)
            except ProgramError:
                raise
            except Exception as error:
                lost = self.lost(error)
                if lost is not None:
                    raise lost from None
                # Otherwise the result was waited for in vain, and is waited for again.
                if future.done() and future.exception() is error:
                    raise


def _read_ahead(threads: Executor, blocks: Iterable[RowBlock]) -> Iterator[RowBlock]:
    """Yield blocks, each of which is read while the one before is computed."""
    begun: deque[RowBlock] = deque()
    try:
        for block in blocks:
            begun.append(block._replace(read=threads.submit(block.read).result))
            if len(begun) > 1:
                yield begun.popleft()
    except ProgramError:
        yield from begun
        raise
    yield from begun


@contextmanager
def workers(
    address: str | None, task: Task, held_back: bool = True
) -> Iterator[Workers]:
    """Yield workers that do a task: those of a Dask cluster at an address or, for None,
    this process, whose threads encode what it computes; they may hold results back
    until the next block."""
    if address is None:
        ahead = cores() if held_back else 0
        threads = ThreadPoolExecutor(max(1, ahead))
        begun = partial(_read_ahead, threads) if held_back else iter
        computed, encoded = task.computed, task.encoded
        submit = lambda b: threads.submit(encoded, computed(b))
        waited = False
        try:
            yield Workers(submit, lambda: ahead, begun=begun)
            waited = True
        finally:
            # After Ctrl-C or an error, a thread may wait for a pipe for ever.
            threads.shutdown(waited, cancel_futures=not waited)
    else:
        with _client(address) as client:
            yield cluster(task, client)


def cluster(task: Callable[[Any], Any], client: Any) -> Workers:
    """Return the workers of a client of a Dask cluster, which computes again by itself
    what one of them loses."""

    def known() -> int:
        return len(client.scheduler_info()["workers"])

    def lost(error: Exception) -> ProgramError | None:
        if client.status != "running" or isinstance(error, CancelledError):
            reason = "the scheduler has ended"
        elif type(error).__name__ == "KilledWorker":
            reason = "a block of rows ends its workers"
        elif isinstance(error, TimeoutError) and not known():
            reason = "it has no workers"
        else:
            return None
        hint = "is there enough memory? or compute on this machine: --cluster local:N"
        message = f"--cluster: the cluster does not answer: {reason}"
        return ProgramError("E403", message, hint=hint)

    executor = client.get_executor(pure=False)
    ahead = lambda: BLOCKS_PER_WORKER * max(1, known())
    return Workers(lambda item: executor.submit(task, item), ahead, lost)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """Yield a client of the scheduler at an address, or of N new processes of this
    machine for ``local:N``."""
    if find_spec("distributed") is None:
        hint = how_to_install("dask[distributed]", "pyarrow")
        raise ProgramError("E590", "--cluster: Dask is not installed", hint=hint)
    number = _number_of_processes(address) if address.startswith(LOCAL) else None
    from logging import CRITICAL, ERROR, getLogger

    try:
        from distributed import Client, LocalCluster

        # A lost result is computed again, so users need no message about it.
        getLogger("distributed.client").setLevel(ERROR)
        with ExitStack() as ended:
            if number is not None:
                settings = {"dashboard_address": None, "silence_logs": CRITICAL + 1}
                # Ctrl-C in a terminal reaches all processes, and this one ends them.
                interrupted = signal(SIGINT, SIG_IGN)
                try:
                    own = LocalCluster(number, threads_per_worker=1, **settings)
                finally:
                    signal(SIGINT, interrupted)
                ended.enter_context(own)
                address = own.scheduler_address
            client = Client(address, timeout=CONNECT_SECONDS)
            ended.enter_context(client)
            ended = ended.pop_all()
    except Exception as error:
        # Each protocol has errors of its own, such as a library that is missing.
        hint = "give the scheduler's address, as in tcp://10.0.0.1:8786, or local:N"
        message = f"--cluster {address}: no cluster answers: {error}"
        raise ProgramError("E595", message, hint=hint) from None
    with ended:
        yield client


def _number_of_processes(address: str) -> int:
    digits = address.removeprefix(LOCAL)
    number = int(digits) if re.fullmatch("[0-9]{1,9}", digits) else 0
    if not 1 <= number <= MAX_PROCESSES:
        message = f"--cluster {address}: not local:N, N from 1 to {MAX_PROCESSES}"
        raise ProgramError("E595", message, hint="as in --cluster local:4")
    return number
