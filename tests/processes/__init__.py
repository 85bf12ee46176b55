"""The command line as processes that tests start by the hundred.

Most of the time of a small command goes into imports. A server (`server.py`) imports
once what commands and checks import, and forks itself for each command line: a process
of its own, with its own pipes, environment, folder and exit status, that runs what
``python -m gradcli`` runs. `shim.py` stands for the command in tests and shells. Tests
of how a process starts, is bounded or is interrupted start `COLD` instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLD = [sys.executable, "-m", "gradcli"]
HERE = Path(__file__).parent

HANGS = 600.0
"""Seconds after which a process is taken to hang; no result depends on them."""


@contextmanager
def warm() -> Iterator[list[str]]:
    """The words of a command that does what `COLD` does, while a server runs."""
    if not hasattr(os, "pidfd_open"):
        yield COLD
        return
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
        "OPENBLAS_NUM_THREADS": "1",
    }
    with tempfile.TemporaryDirectory(prefix="gradcli") as folder:
        address = str(Path(folder) / "socket")
        server = subprocess.Popen(
            [sys.executable, str(HERE / "server.py"), address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
        )  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            assert server.stdout.readline() == b"listening\n"
            yield [sys.executable, "-I", "-S", str(HERE / "shim.py"), address]
        finally:
            # The server ends when nobody can write to it.
            server.stdin.close()
            server.wait()
            server.stdout.close()
