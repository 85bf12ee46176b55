"""The laws are checked in double precision, lists of a case's numbers among it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradcli.engine.dtypes import default_dtype


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with default_dtype("float64"):
        yield
