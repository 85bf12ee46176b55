"""Each departure explains a difference that is there: a small program shows it."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from tests.random.compare import difference
from tests.random.departures import DEPARTURES, departure
from tests.random.program import Line, Program

pytestmark = pytest.mark.peers

nan, inf = float("nan"), float("inf")
