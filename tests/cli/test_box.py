"""`gradcli grad --box`: ranges as text, JSON and bare numbers, and what is refused."""

from __future__ import annotations

import json

import pytest

from .conftest import Run

QUICK = "--no-verify"


def test_several_boxes_are_given_apart_or_in_one_list(gradcli: Run) -> None:
    apart = gradcli("grad", "x*y", "--box", "x=1..2", "--box", "y=3..4", "-q", QUICK)
    joined = gradcli("grad", "x*y", "--box", "x=1..2,y=3..max(1, 4)", "-q", QUICK)
    assert apart.out == joined.out
    by_x, by_y = map(json.loads, apart.out.splitlines())
    assert by_x == pytest.approx([3, 4], abs=1e-7)
    assert by_y == pytest.approx([1, 2], abs=1e-7)


def test_json_has_the_ranges_beside_what_it_has_always(gradcli: Run) -> None:
    asked = ("grad", "x**2*w", "w=2", "--box", "x=1..2", "--json", QUICK)
    told = gradcli(*asked).json
    box = told["box"]
    assert box["inputs"] == {"x": {"lower": 1.0, "upper": 2.0}}
    assert box["output"]["lower"] == pytest.approx(2, abs=1e-7)
    assert box["output"]["upper"] == pytest.approx(8, abs=1e-7)
    assert (box["kinks"], box["holes"], box["close"]) == ([], [], True)
    x, w = told["inputs"]
    assert x["grad"] == 6.0
    assert x["range"]["sign"] == "positive throughout"
    assert x["range"]["changes_at"] is None
    assert w["range"]["lower"] == pytest.approx(1, abs=1e-7)
