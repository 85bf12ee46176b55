"""Forks a process for each command line that comes by a socket.

python server.py ADDRESS      # until its standard input is closed
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from importlib import import_module
from math import inf
from typing import Any, NoReturn

from gradcli.check.process import client
from gradcli.check.process.budget import Budget
from gradcli.cli import app
from gradcli.cli.commands import COMMANDS

LOADED = (
    "numpy", "gradcli.cli.group", "gradcli.answers.question", "gradcli.check.whole",
    "gradcli.check.verify", "gradcli.answers.jsons", "gradcli.functions.checker",
    "gradcli.functions.verify_function", "gradcli.nn", "numpy.random",
    *(f"gradcli.cli.commands.{name}" for name in COMMANDS),
)  # fmt: skip
"""What commands and checks import; not what reads the environment when imported."""


PATIENCE = 600.0
"""Seconds for verifying from which on no attempt has a limit of its own, so that no
verdict depends on how busy the machine is."""


_limited = Budget.__init__


def patient(budget: Budget, seconds: float) -> None:
    """Begin a budget that has no end where there is patience."""
    _limited(budget, inf if seconds >= PATIENCE else seconds)


class Forked:
    """A checking process, with what `Checker` uses of `subprocess.Popen`."""

    def __init__(self) -> None:
        job, write = os.pipe()
        read, answers = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.dup2(job, 0)
            os.dup2(answers, 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            reopen()
            client.main()
            sys.stdout.flush()
            os._exit(0)
        os.close(job)
        os.close(answers)
        self.stdin = os.fdopen(write, "wb")
        self.stdout = os.fdopen(read, "rb")
        self._status: int | None = None

    def poll(self) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def kill(self) -> None:
        if self._status is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        end = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                import subprocess

                raise subprocess.TimeoutExpired("worker", timeout or 0.0)
            time.sleep(0.001)
        return status


def serve(address: str) -> None:
    """Fork a process for each connection, until standard input is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        print("listening", flush=True)
        while True:
            ready, _, _ = select.select([listener, 0], [], [])
            if 0 in ready:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                answer(connection)
            connection.close()


def answer(connection: socket.socket) -> NoReturn:
    """Run one command line in a process below this one, and say how it ended."""
    length, streams, _, _ = socket.recv_fds(connection, 8, 3)
    with connection.makefile("rb") as stream:
        request = json.loads(stream.read(int.from_bytes(length, "big")))
    pid = os.fork()
    if pid == 0:
        connection.close()
        become(request, streams)
    for stream_number in (*streams, 1):
        os.close(stream_number)
    ended = os.pidfd_open(pid)
    ready, _, _ = select.select([ended, connection], [], [])
    if ended not in ready:
        # Whoever asked is gone.
        os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    told = os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024
    connection.sendall(b"%d %d" % told)
    os._exit(0)


def become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the process that ``python -m gradcli`` would start."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    reopen()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["gradcli", *request["argv"]]
    sys.path[0] = request["folder"]
    sys.path[1:1] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    app.main()


def reopen() -> None:
    """Open the standard streams anew: what they can do is found out when opened."""
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)


if __name__ == "__main__":
    for name in LOADED:
        import_module(name)
    assert "rich" not in sys.modules
    Budget.__init__ = patient  # type: ignore[method-assign]
    client.Checker.start = classmethod(lambda cls: cls(Forked()))  # type: ignore
    gc.collect()
    gc.freeze()
    serve(sys.argv[1])
