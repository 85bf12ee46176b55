"""Settings that all tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent

SLOW = {
    "check": "proofs of claims",
    "cli": "processes",
    "documents": "training",
    "random": "programs beside PyTorch",
    "samples": "processes",
    "trees": "a program of each row",
    "verify": "proofs by SymPy",
    "written": "programs that are compiled and run",
}
"""The folders whose tests take longest, and what in them does."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SLOW:
            item.add_marker(pytest.mark.slow)


def pytest_configure(config: pytest.Config) -> None:
    # The engine means its infinities and says so to NumPy when it is imported; pytest
    # puts its own filters in place of that one.
    config.addinivalue_line(
        "filterwarnings",
        r"ignore::RuntimeWarning:gradcli\.(ops|engine|nn|optim|numbers|verify)\b",
    )
