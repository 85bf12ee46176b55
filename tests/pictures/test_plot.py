"""Plots: round axes, curves that stop at poles and jumps, arrows uphill."""

from __future__ import annotations

from math import atan2, pi
from xml.etree import ElementTree

import numpy as np
import pytest

from gradcli.answers.curves import Curve, Field, KinkMark, Surface
from gradcli.engine.raw import Host
from gradcli.pictures.plot import Axis, plot, stretches
from gradcli.pictures.svg import whole

SVG = "{http://www.w3.org/2000/svg}"
NONE = np.empty((0, 3))


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
    kinks = (KinkMark(1.0, "abs(x - 1) </title>", 0.0),)
    y, slope = abs(x - 1), np.sign(x - 1)
    view = Curve("y = abs(x - 1) < 2", "y", ("x",), x, y, slope, kinks, NONE)
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
    x, y = np.linspace(0, 1, 41), np.linspace(0, 10, 41)
    across, up = np.meshgrid(x, y)
    slopes = np.full_like(across, 10.0), np.ones_like(up)
    surface = Surface(("x", "y"), x, y, 10 * across + up, slopes)
    view = Field("10*x + y", None, surface)
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
        along, down = float(c) - float(a), float(d) - float(b)
        assert abs(along) == pytest.approx(abs(down), abs=1)


def curve(
    x: Host,
    value: Host,
    slope: Host,
    *kinks: KinkMark,
    edges: Host = NONE,
    log: str = "",
) -> ElementTree.Element:
    view = Curve("f", None, ("x",), x, value, slope, kinks, edges)
    return ElementTree.fromstring(whole(plot(view, log=log)))


def words(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}text")]


def test_a_curve_goes_through_its_kinks() -> None:
    x = np.linspace(-1, 1, 10)
    root = curve(x, abs(x), np.sign(x), KinkMark(0.0, "abs(x)", 0.0))
    (dot,) = root.iter(f"{SVG}circle")
    line = next(root.iter(f"{SVG}polyline")).get("points") or ""
    near = [tuple(map(float, p.split(","))) for p in line.split()]
    at = float(dot.get("cx", 0)), float(dot.get("cy", 0))
    assert any(p == pytest.approx(at, abs=0.06) for p in near)


def test_notes_of_many_kinks_leave_room_for_the_axis() -> None:
    x = np.linspace(0, 1, 20)
    kinks = [KinkMark(n / 50 + 1 / 3, "k") for n in range(30)]
    said = next(w for w in words(curve(x, x, x, *kinks)) if w.startswith("no deriv"))
    assert said.endswith(", …")
    assert len(said) <= 40


def field(value: Host, x: Host, y: Host) -> list[str]:
    surface = Surface(("x", "y"), x, y, value, (value * 0, value * 0))
    return words(ElementTree.fromstring(whole(plot(Field("f", None, surface)))))


def test_a_field_without_lines_says_why_and_has_none_at_its_least_value() -> None:
    x = y = np.linspace(-1, 1, 21)
    assert "value is 3 everywhere" in field(np.full((21, 21), 3.0), x, y)
    assert "nothing finite to draw" in field(np.full((21, 21), np.nan), x, y)
    hill = np.maximum(0.0, 1 - 4 * (x[:, None] ** 2 + y**2))
    grid = field(np.zeros((21, 21)) + np.arange(21), x, y)
    assert field(hill, x, y).count("0") == grid.count("0")


def test_no_number_beside_a_curve_is_clipped() -> None:
    x = np.linspace(1e9, 1e9 + 1, 50)
    root = curve(x, x * 1.0, x * 0 + 1e-12)
    for each in root.iter(f"{SVG}text"):
        wide = len(each.text or "") * 7.25
        at, anchor = float(each.get("x", 0)), each.get("text-anchor", "start")
        left = at - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        assert left >= 0
        assert left + wide <= 720
