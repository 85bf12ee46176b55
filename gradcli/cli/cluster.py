"""Blocks of points computed by the workers of a Dask cluster, or by processes.

Invariant: results come in the order of the blocks, each once, whatever becomes of a
worker; a few blocks for each worker are on their way at any time, so that memory does
not grow with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib.util import find_spec
from logging import ERROR, getLogger
from typing import Any

from ..lang.errors import ProgramError
from .ordered import in_order
from .problems import wrong

LOCAL = "local:"
"""What an address begins with that asks for workers on this machine."""

BLOCKS_PER_WORKER = 3
"""Blocks that are on their way for each worker."""

CONNECT_SECONDS = 10
"""How long a cluster may take to answer."""

LOOK_SECONDS = 30
"""Between two looks at whether there is a worker, while one is waited for."""

MAX_LOSSES = 100
"""Results that may be lost with workers before it is said that they are."""

Mapper = Callable[[Callable[[Any], Any], Iterable[object]], Iterator[Any]]


@contextmanager
def mapping(address: str) -> Iterator[Mapper]:
    """What applies a function to items on a cluster, in their order.

    Args:
        address: a scheduler's address, or ``local:N`` for N processes of this machine.

    Raises:
        ProgramError: there is no such cluster, or Dask is not installed.
    """
    if address.startswith(LOCAL):
        count = address.removeprefix(LOCAL)
        if not count.isdigit() or not int(count):
            hint = "as in --cluster local:4"
            raise wrong("E595", f"--cluster {address}: no number of workers", hint)
        from .processes import mapping as in_processes

        with in_processes(int(count)) as mapped:
            yield mapped
        return
    if find_spec("distributed") is None:
        hint = "pip install 'gradcli[cluster]', or --cluster local:N"
        raise wrong("E590", "--cluster: Dask is not installed", hint)
    from distributed import Client

    # That a lost result is computed anew is nobody's concern.
    getLogger("distributed.client").setLevel(ERROR)
    try:
        client = Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TimeoutError) as error:
        hint = "give the scheduler's address, as in tcp://10.0.0.1:8786, or local:N"
        message = f"--cluster {address}: no cluster answers ({error})"
        raise wrong("E595", message, hint) from None
    with client:
        yield _mapper(client)


def _mapper(client: Any) -> Mapper:
    """The function on the workers of a client."""

    def mapped(
        function: Callable[[Any], Any], items: Iterable[object]
    ) -> Iterator[Any]:
        workers = _Workers(client, function)
        futures = (_Result(workers, item) for item in items)
        return in_order(futures, ahead)

    def ahead() -> int:
        return BLOCKS_PER_WORKER * max(1, len(client.scheduler_info()["workers"]))

    return mapped


class _Workers:
    """The workers of a client, who all have one function."""

    def __init__(self, client: Any, function: Callable[[Any], Any]) -> None:
        self._client = client
        self._function = function
        self._sent = self._send()
        self._losses = 0

    def _send(self) -> Any:
        """The function where the workers are.

        Raises:
            ProgramError: there is no worker.
        """
        try:
            return self._client.scatter(self._function, broadcast=True)
        except TimeoutError:
            raise _gone("it has no workers") from None

    def begin(self, item: object) -> Any:
        """The future of an item."""
        return self._client.submit(_applied, self._sent, item, pure=False)

    def begin_again(self, item: object) -> Any:
        """The future of an item whose result was lost with the worker that had it.

        Raises:
            ProgramError: that happens again and again.
        """
        self._losses += 1
        if self._losses > MAX_LOSSES or self._client.status != "running":
            raise _gone("its workers have died, or the scheduler has")
        if self._sent.cancelled():
            self._sent = self._send()
        return self.begin(item)

    def demand(self) -> None:
        """See that there is a worker.

        Raises:
            ProgramError: there is none.
        """
        if self._client.status != "running":
            raise _gone("the scheduler has ended")
        if not self._client.scheduler_info()["workers"]:
            raise _gone("it has no workers")


class _Result:
    """What an item gives, whatever becomes of the worker that computes it."""

    def __init__(self, workers: _Workers, item: object) -> None:
        self._workers = workers
        self._item = item
        self._future = workers.begin(item)

    def done(self) -> bool:
        return bool(self._future.done())

    def result(self) -> object:
        from distributed import KilledWorker

        while True:
            try:
                return self._future.result(timeout=LOOK_SECONDS)
            except CancelledError:
                self._future = self._workers.begin_again(self._item)
            except KilledWorker:
                raise _gone("a block of rows ends its workers") from None
            except TimeoutError:
                self._workers.demand()


def _gone(reason: str) -> ProgramError:
    hint = "is there enough memory? or compute on this machine with --cluster local:N"
    message = f"--cluster: the cluster does not answer: {reason}"
    return ProgramError("E403", message, hint=hint)


def _applied(function: Callable[[object], object], item: object) -> object:
    return function(item)
