"""The limit on seconds is heard wherever it falls."""

from __future__ import annotations

import signal
import weakref
from collections.abc import Callable

import pytest

from gradcli.verify.process.budget import Budget, OutOfTime

STEPS = 100_000_000
"""Of a loop that the second ring ends after a millisecond."""


class Held:
    """What has a weak reference to it."""


class Finalized:
    """What is finalized amid the ring."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGALRM)


def _by_reference() -> None:
    held = Held()
    watched = weakref.ref(held, lambda _: signal.raise_signal(signal.SIGALRM))
    del held
    assert watched() is None


def _by_finalizer() -> None:
    Finalized()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
@pytest.mark.parametrize("lose", [_by_reference, _by_finalizer])
def test_a_ring_that_falls_into_a_finalizer_is_repeated_at_once(
    lose: Callable[[], None],
) -> None:
    def work() -> None:
        with Budget(6000.0).slice(6000.0):
            lose()
            for _ in range(STEPS):
                pass

    with pytest.raises(OutOfTime):
        work()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
