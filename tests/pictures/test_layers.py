"""Boxes and labels keep clear of one another, lines go through their own places."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.pictures import layers
from gradcli.pictures.layers import Connector, Placed, place


def overlap(placed: Placed, sizes: list[tuple[float, float]]) -> bool:
    corners = [(p.x - w / 2, p.y - h / 2, p.x + w / 2, p.y + h / 2)
               for p, (w, h) in zip(placed.boxes, sizes, strict=True)]  # fmt: skip
    return any(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
        for nr, a in enumerate(corners)
        for b in corners[:nr]
    )


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[float, float]], list[Connector]]:
    count = draw(st.integers(1, 14))
    sizes = [(draw(st.sampled_from([40.0, 90.0, 200.0])), 50.0) for _ in range(count)]
    lines = [Connector(draw(st.integers(0, n - 1)), n, 30.0) for n in range(1, count)]
    for _ in range(draw(st.integers(0, 8)) if count > 1 else 0):
        end = draw(st.integers(1, count - 1))
        lines.append(Connector(draw(st.integers(0, end - 1)), end, 30.0))
    return sizes, lines


@settings(max_examples=40)
@given(graphs())
def test_nothing_overlaps(
    drawn: tuple[list[tuple[float, float]], list[Connector]],
) -> None:
    sizes, lines = drawn
    placed = place(sizes, lines)
    assert not overlap(placed, sizes)
    for nr, label in enumerate(placed.labels):
        for other in placed.labels[:nr]:
            assert abs(label.x - other.x) >= 30 or abs(label.y - other.y) >= 18
    for line, points in zip(lines, placed.bends, strict=True):
        start, end = placed.boxes[line.start], placed.boxes[line.end]
        assert points[0].y == pytest.approx(start.y + sizes[line.start][1] / 2)
        assert points[-1].y == pytest.approx(end.y - sizes[line.end][1] / 2)
        assert all(a.y <= b.y for a, b in pairwise(points))
        # Upright through each layer, so that no box there is in the way.
        assert all(a.x == b.x for a, b in zip(points[1:-1:2], points[2:-1:2],
                                              strict=True))  # fmt: skip


def test_the_five_neurons_are_drawn_without_a_crossing() -> None:
    ends = [(0, 1), (1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7), (5, 8), (5, 9),
            (7, 8), (7, 10)]  # fmt: skip
    placed = place([(100.0, 50.0)] * 11, [Connector(a, b, 20.0) for a, b in ends])
    row = {n: placed.boxes[n].x for n in (4, 5, 6, 7)}
    first, second = sorted([sorted([row[4], row[5]]), sorted([row[6], row[7]])])
    assert first[1] < second[0]


def test_lines_that_are_too_long_for_all_are_hinted_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layers, "MAX_BENDS", 10)
    lines = [Connector(n, n + 1, 0.0) for n in range(8)] + [Connector(0, 8, 0.0)]
    placed = place([(50.0, 20.0)] * 9, lines)
    assert [len(points) for points in placed.bends] == [4] * 8 + [3]


def test_a_long_line_goes_straight_past_boxes_of_any_width() -> None:
    widths = [100.0, 300.0, 90.0, 240.0, 120.0, 200.0, 100.0]
    lines = [Connector(n, n + 1, 20.0) for n in range(6)] + [Connector(0, 6, 20.0)]
    placed = place([(width, 40.0) for width in widths], lines)
    *_, around = placed.bends
    assert len({round(point.x, 6) for point in around[1:-1]}) == 1


def test_a_box_below_another_is_reached_by_a_straight_line() -> None:
    placed = place([(200.0, 40.0), (90.0, 40.0)], [Connector(0, 1, 20.0)])
    (points,) = placed.bends
    assert len({round(point.x, 6) for point in points}) == 1


def test_what_needs_no_crossing_stands_in_the_order_of_its_lines() -> None:
    lines = [Connector(0, n, 10.0) for n in range(1, 12)]
    placed = place([(60.0, 40.0)] * 12, lines)
    across = [box.x for box in placed.boxes[1:]]
    assert across == sorted(across)


def test_lines_meet_a_box_between_its_round_corners() -> None:
    lines = [Connector(n, 9, 10.0) for n in range(9)]
    placed = place([(120.0, 40.0)] * 10, lines)
    ends = sorted(points[-1].x - placed.boxes[9].x for points in placed.bends)
    assert ends[0] >= -40.001
    assert ends[-1] <= 40.001
    assert all(b - a > 5 for a, b in pairwise(ends))


def test_a_chain_stands_upright_though_each_box_leads_far_as_well() -> None:
    lines = [line for n in range(10) for line in (Connector(n, n + 1, 20.0),
                                                  Connector(n, 11, 60.0))]  # fmt: skip
    placed = place([(120.0, 40.0)] * 12, [*lines, Connector(10, 11, 20.0)])
    for above, below in pairwise(placed.boxes[:10]):
        assert abs(above.x - below.x) < 15
