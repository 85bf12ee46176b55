"""Rows are aligned in columns, and views are written as objects with their fields."""

from __future__ import annotations

import json
from dataclasses import dataclass

from gradcli.render.jsons import answer, dumps, entries, listed
from gradcli.render.line import Part, aligned


def test_the_first_parts_of_rows_are_as_wide_as_the_widest() -> None:
    rows: list[list[Part]] = [
        [("a", "name"), ("  one", "plain"), ("  end", "dim")],
        [("long", "name"), ("  1", "plain")],
    ]
    assert [line.text for line in aligned(rows, 2)] == ["a     one  end", "long  1  "]
    capped = [line.text for line in aligned(rows, 1, most=2)]
    assert capped == ["a   one  end", "long  1"]
    assert list(aligned([], 3)) == []


@dataclass(frozen=True, slots=True)
class Inner:
    value: float


@dataclass(frozen=True, slots=True)
class Outer:
    name: str
    inner: Inner
    several: tuple[Inner, ...]
    hidden: int = 0


def test_views_are_objects_wherever_they_stand() -> None:
    view = Outer("x", Inner(1.0), (Inner(float("nan")), Inner(2.0)))
    assert json.loads(dumps({"view": view})) == {
        "view": {
            "name": "x", "inner": {"value": 1.0},
            "several": [{"value": "nan"}, {"value": 2.0}], "hidden": 0,
        }
    }  # fmt: skip
    assert list(entries(view, "hidden")) == ["name", "inner", "several"]


def test_a_list_with_a_line_each_is_one_object() -> None:
    for objects in ([], [1], [Inner(0.5), {"a": None}]):
        lines = [each.text for each in listed(answer("graph", x=1), "nodes", objects)]
        assert len(lines) == len(objects) + 2
        told = json.loads("\n".join(lines))
        assert told["x"] == 1
        assert len(told["nodes"]) == len(objects)
