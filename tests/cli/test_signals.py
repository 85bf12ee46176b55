"""A signal at any moment: one exit status, nothing half written, nothing left running.

The moments are drawn with fixed seeds, and what is asserted holds at each of them.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest

from tests.processes import COLD as COMMAND
from tests.processes import HANGS

from .conftest import environment

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/environ").exists(), reason="needs /proc"
)

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGQUIT)

MOST_SECONDS = 0.7
"""Latest moment of a signal, in seconds after the process answers signals."""

BEFORE = b"what was there before\n"
"""Content of the file that a command is about to replace."""

ENDLESS = "y = x\nwhile True: y = sin(y)\n\n"


class Case(NamedTuple):
    """A command line, what it reads, and the file that it writes if it gets to its end;
    ``ends`` is whether it ever does."""

    words: list[str]
    reads: str = ""
    out: str | None = None
    ends: bool = False


ROWS = ["grad", "x**2 + sin(x)", "--sweep", "x=0..1:3001"]
MANY = "x\n" + "\n".join(map(str, range(300))) + "\n"
CASES = [
    Case(["repl"], f"x = 3\nx^2\n{ENDLESS}"),
    Case(["repl"], "x = 3\ngrad sin(x)*exp(x)\nz = x\n"),
    Case(["repl"], "descend x^2 x=3 --steps 999999999 --lr 1e-12\n"),
    Case(["descend", "(x-1)^2", "x=3", "--steps", "999999999", "--lr", "1e-12"]),
    Case(["grad", ENDLESS, "x=1", "--max-seconds", "60"]),
    Case(["grad", "x**2", "--table", "-"], MANY),
    Case(["grad", "x**2", "--table", "-", "--cluster", "local:2"], MANY),
    *(
        Case(["grad", "x**2", "--table", "-", "--out", name], MANY, name)
        for name in ("o.csv", "o.tsv", "o.jsonl", "o.npy", "o.csv.gz")
    ),
    Case([*ROWS, "--out", "o.csv"], "", "o.csv", ends=True),
    Case([*ROWS, "--out", "o.npy"], "", "o.npy", ends=True),
    Case(["plot", "sin(x)", "x=0..9", "-o", "o.svg"], "", "o.svg", ends=True),
    Case(["graph", "x*y", "x=1", "y=2", "-o", "o.html"], "", "o.html", ends=True),
]  # fmt: skip


def marked(mark: str) -> list[int]:
    """Return the numbers of the living processes that have a mark in the
    environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "environ").read_bytes():
                found.append(int(place.name))
        except OSError:
            continue
    return found


def answers_signals(pid: int) -> bool:
    """Return whether a process has set what it does on a signal, SIGQUIT the last."""
    status = Path(f"/proc/{pid}/status").read_text()
    caught = re.search(r"SigCgt:\s*(\w+)", status)
    return caught is not None and bool(int(caught[1], 16) >> signal.SIGQUIT - 1 & 1)


def trial(seed: int, folder: Path, whole: Mapping[str, bytes]) -> tuple[float, str]:
    """Send a signal at a random moment, and see to what is left; return the seconds
    until no process was left, and what was done."""
    draw = random.Random(seed)
    case, number = CASES[seed % len(CASES)], draw.choice(SIGNALS)
    to_all, moment = draw.random() < 0.3, draw.random() * MOST_SECONDS
    mark = uuid4().hex
    if case.out is not None:
        (folder / case.out).write_bytes(BEFORE)
    with subprocess.Popen(
        [*COMMAND, *case.words],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        cwd=folder, env=environment(GRADCLI_TRIAL=mark), start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(case.reads.encode())
        process.stdin.flush()
        begun = time.monotonic()
        while process.poll() is None and not answers_signals(process.pid):
            assert time.monotonic() < begun + HANGS
            time.sleep(0.002)
        time.sleep(moment)
        (os.killpg if to_all else os.kill)(process.pid, number)
        sent = time.monotonic()
        status = process.wait(HANGS)
        while marked(mark) and time.monotonic() < sent + HANGS:
            time.sleep(0.01)
        seconds = time.monotonic() - sent
        assert not marked(mark)
        told = process.stderr.read().decode()
    done = f"{case.words[0]} {case.out or ''} {number.name} {status}"
    killed = number == signal.SIGKILL
    assert status == (-number if killed else 128 + number) or (
        case.ends and status == 0
    )
    assert "Traceback" not in told
    names = {path.name for path in folder.iterdir()}
    if killed:
        names = {name for name in names if not name.startswith(".gradcli-")}
    assert names == ({case.out} if case.out else set())
    if case.out is not None:
        found = (folder / case.out).read_bytes()
        assert found in ((BEFORE, whole[case.out]) if case.ends else (BEFORE,))
    return seconds, done


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that are written by the commands that come to their end."""
    return written(tmp_path_factory.mktemp("whole"))


def written(folder: Path) -> dict[str, bytes]:
    for case in CASES:
        if case.ends:
            subprocess.run(
                [*COMMAND, *case.words], cwd=folder, env=environment(), check=True,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
    return {path.name: path.read_bytes() for path in folder.iterdir()}


EVERY = 6
"""Number of moments of every run; others are tried nightly."""


@pytest.mark.parametrize(
    "seed",
    [
        *range(EVERY),
        *(pytest.param(n, marks=pytest.mark.nightly) for n in range(EVERY, 200)),
    ],
)
def test_a_signal_leaves_nothing_half_done(
    seed: int, tmp_path: Path, whole: dict[str, Any]
) -> None:
    trial(seed, tmp_path, whole)
