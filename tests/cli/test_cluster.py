"""``--cluster``: a real cluster of processes, one of which is killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import pytest

from gradcli.cli.executors import Cluster, in_order
from gradcli.lang.errors import ProgramError
from tests.processes import HANGS

from .conftest import COMMAND, Run, environment

distributed = pytest.importorskip("distributed")

ROWS = 6_000
PROGRAM = "if x > 0: y = sin(x)*b\nelse: y = x*x - b\ny"
"""Branches, so that it is run for each row."""


@pytest.fixture
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as made:
        yield made


@pytest.fixture
def table(tmp_path: Path) -> str:
    """A directory of files, whose rows count on from one to the next."""
    folder = tmp_path / "points"
    folder.mkdir()
    for part in range(12):
        lines = [f"{(-1) ** n * n / 7},{n}" for n in range(part, ROWS, 12)]
        lines[3] = "what,1"
        (folder / f"part{part:02}.csv").write_text("x,b\n" + "\n".join(lines) + "\n")
    return str(folder)


def test_a_worker_killed_in_the_middle_loses_and_repeats_no_row(
    gradcli: Run, cluster: Any, table: str
) -> None:
    words = ["grad", PROGRAM, "--table", table, "--on-error", "nan"]
    here = gradcli(*words)
    assert here.status == 3
    there = subprocess.Popen(
        [*COMMAND, *words, "--cluster", cluster.scheduler_address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    with distributed.Client(cluster) as client:
        while there.poll() is None and not any(client.processing().values()):
            pass
        worker = next(name for name, tasks in client.processing().items() if tasks)
        pid = client.run(os.getpid, workers=[worker], on_error="ignore")[worker]
        os.kill(pid, signal.SIGKILL)
    out, err = there.communicate(timeout=HANGS)
    assert there.returncode == 3
    assert out == here.out
    assert err == here.err


class Forgetful:
    """A client whose every first result is lost."""

    status = "running"

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self.submitted: list[object] = []

    def scatter(self, function: object, broadcast: bool) -> Future[object]:
        if not self.workers:
            raise TimeoutError
        sent: Future[object] = Future()
        sent.set_result(function)
        return sent

    def get_executor(self, pure: bool) -> Forgetful:
        return self

    def submit(self, apply: Any, sent: Future[Any], item: object) -> Future[object]:
        future: Future[object] = Future()
        if self.submitted.count(item):
            future.set_result(apply(sent.result(), item))
        else:
            future.set_exception(CancelledError())
        self.submitted.append(item)
        return future

    def scheduler_info(self) -> dict[str, object]:
        return {"workers": range(self.workers)}


def test_a_result_that_is_lost_with_its_worker_is_computed_again() -> None:
    client = Forgetful()
    found = in_order(Cluster(lambda item: 2 * item, client), [1, 2, 3])
    assert list(found) == [2, 4, 6]
    assert sorted(map(str, client.submitted)) == list("112233")


def test_a_cluster_without_workers_is_told() -> None:
    cluster = Cluster(str, Forgetful(workers=0))
    with pytest.raises(ProgramError, match="it has no workers"):
        list(in_order(cluster, [1]))


def test_local_workers_are_started_and_stopped(gradcli: Run, tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.csv")
    for name, x in (("b", 2), ("a", 1)):
        (tmp_path / f"{name}.csv").write_text(f"x\n{x}\n")
    ended = gradcli("grad", "x**2", "--table", pattern, "--cluster", "local:2")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "x,value,grad_x\n1,1,2\n2,4,4\n"


@pytest.mark.parametrize("address", ["local:0", "local:many", "tcp://127.0.0.1:1"])
def test_a_cluster_that_is_not_there_is_an_error(gradcli: Run, address: str) -> None:
    ended = gradcli("grad", "x", "--sweep", "x=0:1:2", "--cluster", address)
    assert ended.status == 2
    assert f"--cluster {address}" in ended.err
    assert "Traceback" not in ended.err
