"""Settings that all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import hypothesis
import pytest

import gradcli.torch  # noqa: F401  # tests use the face of the engine's tensors
from gradcli.cli.defaults import SETTINGS
from gradcli.cli.ending import ENDING
from tests.cupy_stand_in.standing import gpu
from tests.processes import warm

# Tests are many objects that are no garbage; a command collects as rarely as this.
gc.set_threshold(100_000, 50, 100)

# No result depends on the clock.
hypothesis.settings.register_profile("gradcli", deadline=None)
hypothesis.settings.load_profile("gradcli")


def pytest_collection_finish() -> None:
    if "torch" in sys.modules:
        in_one_thread(sys.modules["torch"])
    gc.freeze()


def in_one_thread(torch: Any) -> Any:
    """PyTorch without threads: arrays are small, and threads that wait for work keep
    the processor busy."""
    torch.set_num_threads(1)
    return torch


def pytest_configure(config: pytest.Config) -> None:
    # A shell lets what it starts in the background ignore some of these signals, and so
    # would all commands that are tested.
    for name in ENDING:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # What people set for themselves changes no test.
    os.environ["XDG_CONFIG_HOME"] = str(Path(gettempdir()) / "gradcli-no-settings")
    for name in ("COLUMNS", *(setting.variable for setting in SETTINGS)):
        os.environ.pop(name, None)
    # The engine means its infinities and says so to NumPy when it is imported; pytest
    # puts its own filters in place of that one.
    config.addinivalue_line(
        "filterwarnings",
        r"ignore::RuntimeWarning:gradcli\.(ops|engine|torch|nn|optim|numbers|verify)\b",
    )


@pytest.fixture
def cuda() -> Iterator[Any]:
    """The namespace of a GPU's arrays, the stand-in's where there is no GPU."""
    with gpu() as namespace:
        yield namespace


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, for tests that stand beside it."""
    return in_one_thread(pytest.importorskip("torch"))


@pytest.fixture(scope="session")
def warm_command() -> Iterator[list[str]]:
    """The words of a command that does what ``python -m gradcli`` does, but sooner."""
    with warm() as command:
        yield command
