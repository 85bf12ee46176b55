"""Laws of threads: each has its own mode, and no gradient is lost between them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Thread

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gradcli
from tests.processes import HANGS

THREADS = 4
ROUNDS = 100
LEAVES, PASSES = 8, 20
LARGE = 50_000
"""Entries for which NumPy lets other threads run while it adds."""


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads change places as often as Python lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def in_threads(work: Callable[[], None]) -> None:
    """Run ``work`` in several threads at once; what it raises is raised here."""
    start, failures = Barrier(THREADS), []

    def run() -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_a_thread_starts_by_recording_whatever_the_others_do() -> None:
    seen = []
    with gradcli.no_grad():
        thread = Thread(target=lambda: seen.append(gradcli.is_grad_enabled()))
        thread.start()
        thread.join()
        assert not gradcli.is_grad_enabled()
    assert seen == [True]


def test_a_backward_pass_keeps_no_other_thread_from_recording(hasty: None) -> None:
    def train() -> None:
        for _ in range(ROUNDS):
            x = gradcli.ones(3, requires_grad=True)
            y = (x * 2).exp().sum()
            assert y.requires_grad
            y.backward()
            assert_allclose(x.grad.numpy(), 2 * np.exp(2.0), rtol=1e-6)

    in_threads(train)


def test_what_one_thread_does_not_record_others_do(hasty: None) -> None:
    def both() -> None:
        x = gradcli.ones(3, requires_grad=True)
        for _ in range(ROUNDS):
            with gradcli.no_grad():
                assert not (x * 2).requires_grad
            assert (x * 2).requires_grad

    in_threads(both)


def test_threads_that_share_a_leaf_lose_no_gradient(hasty: None) -> None:
    for _ in range(LEAVES):
        leaf = gradcli.zeros(LARGE, requires_grad=True)

        def add(leaf: gradcli.Tensor = leaf) -> None:
            for _ in range(PASSES):
                leaf.sum().backward()

        in_threads(add)
        assert set(leaf.grad.tolist()) == {float(THREADS * PASSES)}


FORKS = """
import os, sys, threading
import gradcli as torch

x = torch.ones(300_000, requires_grad=True)

def work():
    while True:
        (x * x).sum().backward()

def passes():
    z = torch.ones(3, 3, requires_grad=True)
    (z @ z).sum().backward()
    # The work of this one is shared out to threads, which a child has to start.
    w = torch.ones(1 << 16, dtype=torch.float64, requires_grad=True)
    torch.erf(w).sum().backward()
    return z.grad is not None and w.grad is not None

passes()
threading.Thread(target=work, daemon=True).start()
while x.grad is None:
    pass
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(0 if passes() else 1)
    if os.waitpid(child, 0)[1]:
        os._exit(1)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_amid_a_pass_of_another_thread_leaves_a_child_that_works() -> None:
    done = subprocess.run([sys.executable, "-c", FORKS], timeout=HANGS, check=False)
    assert done.returncode == 0


def test_every_lock_of_the_package_is_free_in_a_forked_process() -> None:
    """Locks that outlive a call come from `gradcli.ops.locks`."""
    package = Path(gradcli.__file__).parent
    own = re.compile(r"^(?:\w+(?:: \w+)?|\s+self\.\w+) = R?Lock\(\)", re.MULTILINE)
    places = [path for path in package.rglob("*.py") if own.search(path.read_text())]
    assert places == []
