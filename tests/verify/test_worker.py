"""The checking process ends, whatever it is doing, and never holds anybody back."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gradcli.verify.process.client import Checker
from gradcli.verify.process.job import Job, Verification
from tests.processes import HANGS

from .jobs import NEURON_VALUES, NEURONS, checked, claiming, job


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
        "import sys; import gradcli.verify.process.client, gradcli.verify.process.job; "
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


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is the system's to keep")
def test_worker_limits_its_own_memory() -> None:
    code = (
        "from gradcli.verify.process import worker; worker._limit(1.0)\n"
        "try: bytearray(worker.MAX_MEMORY_BYTES + (1 << 28))\n"
        "except MemoryError: print('refused')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "refused"
