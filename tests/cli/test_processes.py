"""``--cluster local:N``: processes of this machine, which may die."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

from gradcli.lang.errors import ProgramError, Span
from tests.processes import HANGS

from .conftest import Run, environment

SCRIPT = """
import os, signal, sys
from gradcli.cli.executors import Processes, in_order

def task(item):
    if item == 3 and (always or not os.path.exists(mark)):
        open(mark, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return item, os.getpid()

mark, always = sys.argv[1], len(sys.argv) > 2
processes = Processes(task, 2)
found = list(in_order(processes, range(12)))
processes.executor.shutdown()
print([item for item, _ in found], os.getpid() in {pid for _, pid in found})
"""


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT, *words]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=HANGS, env=environment()
    )


def test_what_a_killed_process_had_is_computed_by_others(tmp_path: Path) -> None:
    ended = ran(str(tmp_path / "mark"))
    assert ended.stdout == f"{list(range(12))} False\n"
    assert (tmp_path / "mark").exists()


def test_processes_that_always_die_are_told(tmp_path: Path) -> None:
    ended = ran(str(tmp_path / "mark"), "always")
    assert "9 processes have died" in ended.stderr


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
