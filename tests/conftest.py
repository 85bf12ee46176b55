"""Settings that all tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradcli.cli.defaults import SETTINGS
from tests.processes import warm

TESTS = Path(__file__).parent

SLOW = {
    "cli": "processes",
    "documents": "training",
    "numbers/trees": "a program of each row",
    "random": "programs beside PyTorch",
    "render/code": "programs that are compiled and run",
    "samples": "processes",
    "verify": "proofs by SymPy",
}
"""The folders whose tests take longest, and what in them does."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.path.is_relative_to(TESTS / folder) for folder in SLOW):
            item.add_marker(pytest.mark.slow)


def pytest_configure(config: pytest.Config) -> None:
    # What people set for themselves changes no test.
    os.environ["XDG_CONFIG_HOME"] = str(TESTS / "no-such-folder")
    for setting in SETTINGS:
        os.environ.pop(setting.variable, None)
    # The engine means its infinities and says so to NumPy when it is imported; pytest
    # puts its own filters in place of that one.
    config.addinivalue_line(
        "filterwarnings",
        r"ignore::RuntimeWarning:gradcli\.(ops|engine|nn|optim|numbers|verify)\b",
    )


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, for tests that stand beside it."""
    return pytest.importorskip("torch")


@pytest.fixture(scope="session")
def warm_command() -> Iterator[list[str]]:
    """The words of a command that does what ``python -m gradcli`` does, but sooner."""
    with warm() as command:
        yield command
