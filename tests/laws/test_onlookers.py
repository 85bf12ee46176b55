"""Packed values and anomaly mode, on every case of every row."""

from __future__ import annotations

import numpy as np

from gradcli.autograd import set_detect_anomaly
from gradcli.ops import OPS
from tests.grouped import by_row

from .draw import draw, ident, spots
from .measure import cotangents, pull

SPOTS = list(spots())


@by_row("at", SPOTS, ident)
def test_anomaly_mode_changes_no_gradient(at: tuple[str, int]) -> None:
    spot = draw(OPS[at[0]], at[1])
    v = cotangents(spot)
    expected = pull(spot, v)
    with set_detect_anomaly(True):
        found = pull(spot, v)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
