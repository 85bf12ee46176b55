"""Whatever becomes of the checking process, there is an answer, in time; the process
ends, whatever it is doing, and never holds anybody back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gradcli.check.process.client import Checker
from gradcli.check.process.job import Job, Verification
from tests.processes import HANGS

from .jobs import NEURON_VALUES, NEURONS, checked, claiming, job

ROOT = Path(__file__).resolve().parents[2]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the system's own limits")

HOG = """
from gradcli.check.process import client as worker
worker.MAX_MEMORY_BYTES = 1 << 28
def hog(text, report, limit):
    limit(30)
    taken = []
    while True:
        taken.append(bytearray(1 << 24))
        report_size = len(taken)
        with open(sys.argv[1], "w") as told:
            told.write(str(report_size))
worker.perform = hog
worker.main()
"""

HOG_IN_THE_PROGRAM = """
from gradcli.check import verify
from gradcli.check.process import client as worker
worker.MAX_MEMORY_BYTES = 1 << 28
def hog(*arguments):
    taken = []
    while True:
        taken.append(bytearray(1 << 24))
verify.run_of = hog
worker.main()
"""

FAULTS = {
    "ends with a status": ("sys.exit(7)", "status 7"),
    "dies of a signal": ("os.kill(os.getpid(), 9)", "signal 9"),
    "raises": ("1/0", "status 1"),
    "ends without a word": ("sys.stdin.readline()", "status 0"),
    "prints what is no answer": ("print('gar{bage'); time.sleep(600)", "be read"),
    "prints another object": ("print('{\"a\": 1}'); time.sleep(600)", "be read"),
    "prints a list": ("print('[1, 2]'); time.sleep(600)", "be read"),
    "prints bytes that are no text": (
        "sys.stdout.buffer.write(bytes(range(128, 256)) + b'\\n'); "
        "sys.stdout.flush(); time.sleep(600)",
        "be read",
    ),
    "closes its end": (
        "sys.stdout.close(); os.close(1); time.sleep(600)", "fell silent"),
    "reads nothing": ("os.close(0); sys.exit(3)", "status 3"),
}  # fmt: skip


def process(code: str, *arguments: str) -> Checker:
    """A checking process with a fault."""
    started = subprocess.Popen(
        [sys.executable, "-c", f"import os, sys, time\n{code}", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return Checker(started)


def told(checker: Checker, timeout: float) -> Verification:
    given = replace(job("x**2", {"x": 3.0}), seconds=timeout)
    with checker:
        checker.submit(given)
        last = list(checker.results(timeout))[-1]
    assert checker.process.returncode is not None
    assert last.done
    return last


def test_a_process_that_says_nothing_is_gone_at_its_limit() -> None:
    last = told(process("time.sleep(600)"), 0.0)
    assert last.verdict == "unknown"
    assert "time-out" in (last.inputs[0].note or "")


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_process_leaves_unknown_with_a_reason_and_is_gone(fault: str) -> None:
    code, reason = FAULTS[fault]
    last = told(process(code), HANGS)
    assert last.verdict == "unknown"
    assert reason in (last.inputs[0].note or "")


def test_what_was_shown_before_the_fault_stands() -> None:
    shown = told(Checker.start(), HANGS)
    assert shown.verdict == "proved"
    answer = replace(shown, done=False).to_json()
    last = told(process(f"print({answer!r}); print('garbage')"), HANGS)
    assert (last.verdict, last.inputs) == (shown.verdict, shown.inputs)


@LINUX
def test_process_that_takes_memory_without_end_is_stopped_at_its_bound(
    tmp_path: Path,
) -> None:
    taken = tmp_path / "taken"
    last = told(process(HOG, str(taken)), HANGS)
    assert last.verdict == "unknown"
    assert "status 1" in (last.inputs[0].note or "")
    # Of 256 MiB in pieces of 16, all that the process itself did not need.
    assert 8 <= int(taken.read_text()) <= 16


@LINUX
def test_check_that_takes_memory_without_end_says_so_itself() -> None:
    last = told(process(HOG_IN_THE_PROGRAM), HANGS)
    assert last.verdict == "unknown"
    assert "the memory that a check may take ran out" in (last.inputs[0].note or "")


@LINUX
def test_command_outlives_its_checking_process() -> None:
    endless = ["y = x\nfor i in range(6000): y = sin(y) + lgamma(y*y + 3)", "x=0.5"]
    command = [sys.executable, "-m", "gradcli", "grad", *endless,
               "--verify-seconds", "600", "--max-seconds", "600"]  # fmt: skip
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert running.stdout is not None
    for line in running.stdout:
        if line.startswith("dy/dx"):
            break
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text()
    (child,) = children.split()
    os.kill(int(child), signal.SIGKILL)
    rest, errors = running.communicate(timeout=HANGS)
    assert running.returncode == 0, errors
    assert "unknown" in rest
    assert "the checking process ended: signal 9" in rest


# the process at work


def outcome(given: Job, timeout: float | None = None) -> list[Verification]:
    with Checker.start() as checker:
        checker.submit(replace(given, seconds=min(given.seconds, HANGS)))
        return list(checker.results(timeout))


def test_process_finds_what_the_library_finds() -> None:
    given = job(NEURONS, NEURON_VALUES)
    last = outcome(given)[-1]
    here = checked(given)
    assert last.done
    assert last.verdict == here.verdict == "proved"
    assert last.inputs == here.inputs


def test_wrong_claim_is_refuted_by_the_process() -> None:
    wrong = claiming(job("x**2", {"x": 3.0}), "x", lambda g: -g)
    assert outcome(wrong)[-1].verdict == "refuted"


def test_worker_ends_itself_where_nobody_stops_it() -> None:
    endless = replace(job("x**2", {"x": 3.0}), source="while x > 0: x = x + 1\nx")
    endless = replace(endless, seconds=0.3)
    last = outcome(endless, timeout=HANGS)[-1]
    assert last.done
    assert "time-out" in (last.inputs[0].note or "")


def test_stop_is_harmless_twice_and_before_any_job() -> None:
    checker = Checker.start()
    checker.stop()
    checker.stop()
    assert checker.process.returncode is not None


def test_client_imports_nothing_heavy() -> None:
    code = (
        "import sys; import gradcli.check.process.client, gradcli.check.process.job; "
        "print(sorted({'numpy', 'sympy', 'mpmath', 'subprocess'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_process_takes_no_module_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sympy.py").write_text("raise SystemExit('taken')")
    monkeypatch.chdir(tmp_path)
    last = outcome(job("x**2", {"x": 3.0}))[-1]
    assert last.verdict in ("certified", "proved")
    assert "ended" not in (last.inputs[0].note or "")


def test_job_and_verification_survive_the_wire() -> None:
    given = job("x*y", {"x": [float("inf"), 1.0], "y": [2.0, float("nan")]})
    assert Job.from_json(given.to_json()).to_json() == given.to_json()
    verification = checked(job("x**2", {"x": 3.0}))
    assert Verification.from_json(verification.to_json()) == verification


@LINUX
def test_worker_limits_its_own_memory() -> None:
    code = (
        "from gradcli.check.process import client; client._limit(1.0)\n"
        "try: bytearray(client.MAX_MEMORY_BYTES + (1 << 28))\n"
        "except MemoryError: print('refused')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "refused"
