"""Settings that all tests share."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    # The engine means its infinities and says so to NumPy when it is imported; pytest
    # puts its own filters in place of that one.
    config.addinivalue_line(
        "filterwarnings",
        r"ignore::RuntimeWarning:gradcli\.(ops|engine|nn|optim|numbers|verify)\b",
    )
