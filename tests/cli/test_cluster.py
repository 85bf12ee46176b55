"""``--cluster``: processes of this machine, and a real cluster of which one is
killed; results come in order, errors behind them."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor, Future
from pathlib import Path
from typing import Any

import pytest

from gradcli.lang.errors import ProgramError, Span
from gradcli.tables.workers import Workers
from gradcli.tables.workers import cluster as cluster_of
from tests.processes import HANGS

from .conftest import COMMAND, Run, environment

distributed = pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil", reason="distributed brings it")

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


class Gone:
    """A client of a cluster in a state of its own."""

    def __init__(self, workers: int = 1, status: str = "running") -> None:
        self.workers, self.status = workers, status

    def get_executor(self, pure: bool) -> Executor:
        return Executor()

    def scheduler_info(self) -> dict[str, object]:
        return {"workers": range(self.workers)}


@pytest.mark.parametrize(
    ("client", "error", "said"),
    [
        (Gone(workers=0), TimeoutError(), "it has no workers"),
        (Gone(status="closed"), TimeoutError(), "the scheduler has ended"),
        (Gone(), CancelledError(), "the scheduler has ended"),
        (Gone(), distributed.KilledWorker("t", None, 3), "a block of rows ends"),
    ],
)
def test_a_cluster_that_is_lost_is_told(
    client: Gone, error: Exception, said: str
) -> None:
    future: Future[int] = Future()
    future.set_exception(error)
    workers = cluster_of(str, client)._replace(submit=lambda item: future)
    with pytest.raises(ProgramError, match=said):
        list(workers.in_order([1]))


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

    found = Workers(lambda item: item, lambda: 5).in_order(futures())
    assert [next(found), next(found)] == [0, 1]
    with pytest.raises(ProgramError, match="a bad row"):
        next(found)


def test_no_more_than_asked_for_are_on_their_way() -> None:
    asked: list[int] = []

    def futures() -> Iterator[Future[int]]:
        for nr in range(9):
            asked.append(nr)
            yield ready(nr)

    found = Workers(lambda item: item, lambda: 2).in_order(futures())
    assert next(found) == 0
    assert len(asked) == 1
    assert list(found) == list(range(1, 9))


def test_a_killed_process_changes_no_byte(gradcli: Run, table: str) -> None:
    words = ["grad", PROGRAM, "--table", table, "--on-error", "nan"]
    here = gradcli(*words)
    there = subprocess.Popen(
        [*COMMAND, *words, "--cluster", "local:2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    # The output is not read yet: the pipe is full before the last rows are computed.
    assert there.stderr is not None
    first = there.stderr.readline()
    psutil.Process(there.pid).children()[-1].kill()
    out, err = there.communicate(timeout=HANGS)
    assert (there.returncode, out, first + err) == (here.status, here.out, here.err)


@pytest.mark.skipif(os.name == "nt", reason="signals are the system's")
def test_ctrl_c_in_a_terminal_is_told_once(table: str) -> None:
    words = ["grad", PROGRAM, "--table", table, "--cluster", "local:2"]
    with subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    ) as there:
        assert there.stderr is not None
        assert "part00.csv, line 5" in there.stderr.readline()
        os.killpg(there.pid, signal.SIGINT)
        _, err = there.communicate(timeout=HANGS)
    assert there.returncode == 130
    assert err.splitlines()[-1].startswith("interrupted: ")
    assert "Traceback" not in err


def test_an_error_of_a_row_comes_back_with_its_place(
    gradcli: Run, tmp_path: Path
) -> None:
    path = tmp_path / "p.csv"
    path.write_text("x\n1\noops\n3\n")
    words = ["grad", "x**2", "--table", str(path), "--on-error", "stop"]
    here = gradcli(*words)
    there = gradcli(*words, "--cluster", "local:2")
    assert (there.status, there.out, there.err) == (here.status, here.out, here.err)
    assert "line 3" in there.err


def test_an_error_can_be_sent() -> None:
    error = ProgramError("E101", "unknown", Span(1, 2), "a b", hint="c", exit_status=9)
    found = pickle.loads(pickle.dumps(error))
    assert found.as_dict() == error.as_dict()
    assert found.exit_status == 9


def test_local_workers_are_started_and_stopped(gradcli: Run, tmp_path: Path) -> None:
    pattern = str(tmp_path / "*.csv")
    for name, x in (("b", 2), ("a", 1)):
        (tmp_path / f"{name}.csv").write_text(f"x\n{x}\n")
    ended = gradcli("grad", "x**2", "--table", pattern, "--cluster", "local:2")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "x,value,grad_x\n1,1,2\n2,4,4\n"


@pytest.mark.parametrize("address", ["local:0", "local:many", "tcp://127.0.0.1:1"])
def test_a_cluster_that_is_not_there_is_an_error(gradcli: Run, address: str) -> None:
    ended = gradcli("grad", "x", "--sweep", "x=0..1:2", "--cluster", address)
    assert ended.status == 2
    assert f"--cluster {address}" in ended.err
    assert "Traceback" not in ended.err
