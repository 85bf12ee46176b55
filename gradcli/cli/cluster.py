"""Blocks of points computed by the workers of a Dask cluster, or by processes.

Invariant: results come in the order of the blocks, each once, whatever becomes of a
worker; a few blocks for each worker are on their way at any time, so that memory does
not grow with the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from .ordered import in_order
from .problems import wrong

LOCAL = "local:"
"""What an address begins with that asks for workers on this machine."""

BLOCKS_PER_WORKER = 3
"""Blocks that are on their way for each worker."""

CONNECT_SECONDS = 10
"""How long a cluster may take to answer."""

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
        shared = client.scatter(function, broadcast=True)
        futures = (client.submit(_applied, shared, x, pure=False) for x in items)
        return in_order(futures, ahead)

    def ahead() -> int:
        return BLOCKS_PER_WORKER * max(1, len(client.scheduler_info()["workers"]))

    return mapped


def _applied(function: Callable[[object], object], item: object) -> object:
    return function(item)
