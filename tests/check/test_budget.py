"""The limit on seconds is heard wherever it falls."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable

import pytest

from gradcli.check.process.budget import Budget, OutOfTime
from tests.processes import HANGS

TIMED = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")

SECONDS = 0.01
"""Seconds of work of a budget that ends amid a finalizer."""

STEPS = 100_000_000
"""Steps of a loop that the second ring ends after a millisecond."""


def _work_until(budget: Budget) -> None:
    while budget.left > 0:
        pass
    signal.raise_signal(signal.SIGALRM)


class Watched:
    """An object that has a weak reference to it."""


class Finalized:
    """An object during whose finalizer a budget ends."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def __del__(self) -> None:
        _work_until(self.budget)


def _by_reference(budget: Budget) -> None:
    watched = Watched()
    reference = weakref.ref(watched, lambda _: _work_until(budget))
    del watched
    assert reference() is None


def _by_finalizer(budget: Budget) -> None:
    Finalized(budget)


@TIMED
@pytest.mark.parametrize("lose", [_by_reference, _by_finalizer])
def test_a_ring_that_falls_into_a_finalizer_is_repeated_at_once(
    lose: Callable[[Budget], None],
) -> None:
    def work() -> None:
        budget = Budget(SECONDS)
        with budget.slice(SECONDS):
            lose(budget)
            for _ in range(STEPS):
                pass

    with pytest.raises(OutOfTime):
        work()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@TIMED
def test_a_ring_before_the_work_is_done_ends_nothing() -> None:
    """Other processes that take the processor meanwhile cost a budget nothing."""
    budget = Budget(6000.0)
    with budget.slice(6000.0):
        signal.raise_signal(signal.SIGALRM)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 5000
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@TIMED
def test_waiting_counts_a_twentieth_of_work() -> None:
    budget = Budget(0.02)
    with pytest.raises(OutOfTime), budget.slice(0.02):
        time.sleep(HANGS)


def test_importing_sympy_is_not_counted() -> None:
    code = (
        "import resource, time; from gradcli.check.process import budget as b; "
        "resource.setrlimit(resource.RLIMIT_CPU, (900, 1000)); "
        "own, began = b.Budget(9e3), time.process_time(); b.load_sympy(); "
        "took = time.process_time() - began; "
        "assert own.spent < took / 2, (own.spent, took); "
        "assert 900 < resource.getrlimit(resource.RLIMIT_CPU)[0] < 1000"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
