"""`gradcli grad --box`: ranges as text, JSON and bare numbers, and what is refused."""

from __future__ import annotations

import json

import pytest

from .conftest import Run

QUICK = "--no-verify"


def test_ranges_follow_the_numbers_at_the_middle(gradcli: Run) -> None:
    ended = gradcli("grad", "x**2", "--box", "x=-1..2", QUICK)
    assert ended.status == 0
    assert ended.err == (
        "note: but for the ranges, shown at the middle of the box: x=0.5\n"
    )
    head, _, tail = ended.out.partition("over the box x = -1.0 .. 2.0\n")
    assert "d/dx = 1.0" in head
    value, slope = tail.splitlines()
    assert value.startswith("  output  [0.0, 4.0], certified to ")
    assert slope.startswith("  d/dx    [-2.0, 4.0], certified")
    assert slope.endswith("changes sign: at x = -1.0 and at x = 0.5")


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


def test_entries_of_a_list_have_ranges_and_signs_of_their_own(gradcli: Run) -> None:
    box = "x=[1, -2]..[2, -1]"
    told = gradcli("grad", "(x*x).sum()", "--box", box, "--json", QUICK).json
    assert told["inputs"][0]["range"]["sign"] == [
        "positive throughout", "negative throughout"
    ]  # fmt: skip
    assert "d/dx[1]" in gradcli("grad", "(x*x).sum()", "--box", box, QUICK).out


def test_kinks_and_poles_are_named(gradcli: Run) -> None:
    kink = gradcli("grad", "relu(x)", "--box", "x=-1..2", QUICK).out
    assert "kink: a comparison goes either way: near x = " in kink
    assert "never negative" in kink
    pole = gradcli("grad", "1/x", "--box", "x=-1..2", QUICK).out
    assert "output  [-inf, inf]" in pole
    assert "hole: the value has no bound: near x = " in pole
    told = gradcli("grad", "1/x", "--box", "x=-1..2", "--json", QUICK).json
    assert told["box"]["output"]["lower"] == "-inf"
    assert told["box"]["output"]["upper"] == "inf"


def test_the_gradient_at_the_middle_is_checked_as_always(gradcli: Run) -> None:
    ended = gradcli("grad", "sin(x)", "--box", "x=0..1")
    assert "positive throughout" in ended.out
    assert "proved: 1 gradient" in ended.out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("x**2", "--box", "z=1..2"), 2, "the program does not read 'z'"),
        (("x**2", "--box", "x=2..1"), 2, "write x=1..2"),
        (("x**2", "x=3", "--box", "x=1..2"), 2, "'x' has a value and a box"),
        (("x**2", "--box", "x=1"), 2, "a box has two ends"),
        (("x**2", "--box", "x=0..inf"), 2, "not finite"),
        (("x**2", "--box", "x=[1,2]..3"), 2, "the ends have shapes [2] and []"),
        (("x**2", "--box", "x=1..2", "--box", "x=3..4"), 2, "two intervals for 'x'"),
        (("x**2", "--box", "x=1..k"), 3, "unknown name 'k'"),
        (("x**2", "--box", "x=1..2", "--code", "numpy"), 2, "without --box"),
    ],
)
def test_what_is_no_box_is_refused_with_a_way_out(
    gradcli: Run, arguments: tuple[str, ...], status: int, said: str
) -> None:
    ended = gradcli("grad", *arguments)
    assert (ended.status, ended.out) == (status, "")
    assert said in ended.err


def test_range_of_a_cut_gradient_is_the_same_in_text_and_json(gradcli: Run) -> None:
    words = ("grad", "detach(x)*x", "--box", "x=0..1.5", QUICK)
    told = gradcli(*words, "--json").json["inputs"][0]["range"]
    assert (told["lower"], told["upper"]) == (told["least"], told["most"]) == (0, 1.5)
    assert told["sign"] == "never negative"
    assert "d/dx    [0.0, 1.5], certified  never negative" in gradcli(*words).out
