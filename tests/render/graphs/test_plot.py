"""Plots: round axes, curves that stop at poles and jumps, arrows uphill."""

from __future__ import annotations

from math import atan2, pi
from xml.etree import ElementTree

import numpy as np
import pytest

from gradcli.render.graphs.axes import Axis, heights, ticks
from gradcli.render.graphs.plot import as_json, plot, stretches
from gradcli.render.graphs.svg import whole
from gradcli.views.plot import Curve, Field, KinkMark, Surface

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (-3.0, 3.0, [-3, -2, -1, 0, 1, 2, 3]),
        (0.0, 1.0, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0.0, 0.007, [0, 0.002, 0.004, 0.006]),
        (2.0, 2.0, [2]),
    ],
)
def test_ticks(low: float, high: float, found: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(found)


@pytest.mark.parametrize("most", [2, 4, 7, 9])
def test_any_span_has_ticks_and_no_more_than_asked(most: int) -> None:
    for span in range(10, 1000):
        found = ticks(0.0, span / 10, most)
        assert 1 <= len(found) <= most


def test_a_pole_does_not_flatten_the_rest() -> None:
    x = np.linspace(-1, 1, 400)
    low, high = heights(1 / x)
    assert -60 < low < -5
    assert 5 < high < 60
    assert heights(np.array([np.nan])) == (0.0, 1.0)


def test_a_curve_stops_at_poles_at_jumps_and_where_nothing_is() -> None:
    x = np.linspace(-1, 1, 400)
    up = Axis(-10.0, 10.0, 0.0, 1.0)
    assert len(list(stretches(x, 1 / x, up))) == 2
    gap = np.where(abs(x) < 0.5, np.nan, x)
    assert len(list(stretches(x, gap, up))) == 2
    assert len(list(stretches(x, np.sign(x), up, [0.0]))) == 2
    assert len(list(stretches(x, abs(x), up, [0.0]))) == 1


def test_a_curve_is_drawn_with_its_slope_and_its_kinks() -> None:
    x = np.linspace(-3, 3, 101)
    kinks = (KinkMark(1.0, "abs(x - 1) </title>"),)
    view = Curve("y = abs(x - 1) < 2", "y", "x", x, abs(x - 1), np.sign(x - 1), kinks)
    root = ElementTree.fromstring(whole(plot(view)))
    lines = [p.get("class") for p in root.iter(f"{SVG}polyline")]
    assert lines == ["curve", "curve slope", "curve slope"]
    marked = [g.findtext(f"{SVG}title") for g in root.iter(f"{SVG}g")]
    assert marked == ["kink at 1.0: abs(x - 1) </title>"] * 2
    (dot,) = root.iter(f"{SVG}circle")
    first = next(root.iter(f"{SVG}line"))
    assert float(first.get("x1", 0)) == 84.0
    assert float(dot.get("cx", 0)) == pytest.approx(84 + 612 * 4 / 6, abs=0.1)


def test_arrows_point_uphill_as_it_is_seen() -> None:
    pytest.importorskip("contourpy", reason="the extra `pictures` is not installed")
    x, y = np.linspace(0, 1, 41), np.linspace(0, 10, 41)
    across, up = np.meshgrid(x, y)
    slopes = np.full_like(across, 10.0), np.ones_like(up)
    surface = Surface("x", "y", x, y, 10 * across + up, slopes)
    view = Field("10*x + y", "", surface)
    root = ElementTree.fromstring(whole(plot(view)))
    lines = [e for e in root.iter(f"{SVG}line") if e.get("class") == "arrow"]
    assert len(lines) == 225
    for each in lines:
        x1, y1, x2, y2 = (float(each.get(k, 0)) for k in ("x1", "y1", "x2", "y2"))
        assert atan2(y1 - y2, x2 - x1) == pytest.approx(pi / 4, abs=0.02)
    drawn = [p for p in root.iter(f"{SVG}polyline") if p.get("class") != "arrow"]
    for each in drawn:
        points = [p.split(",") for p in (each.get("points") or "").split()]
        (a, b), (c, d) = points[0], points[-1]
        assert abs(float(c) - float(a)) == pytest.approx(
            abs(float(d) - float(b)), abs=1
        )


def test_the_numbers_of_a_plot() -> None:
    x = np.array([0.0, 1.0])
    line = as_json(Curve("x", "", "x", x, x, None, None)).text
    assert '"grad": null' in line
    assert '"kinks": null' in line
