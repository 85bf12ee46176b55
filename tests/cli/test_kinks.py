"""`gradcli kinks` as people and scripts meet it."""

from __future__ import annotations

from .conftest import Run

CANCELLED = """\
at the point
  relu(x)   line 1, column 1   x == 0   distance 0.0  at 0 the derivative is 0
  relu(-x)  line 1, column 11  -x == 0  distance 0.0  at 0 the derivative is 0
  d/dx  from below 1.0  from above 1.0  engine 0.0  neither: both sides agree on 1.0
"""


def test_engines_answer_that_is_neither_is_reported_with_status_0(gradcli: Run) -> None:
    ended = gradcli("kinks", "relu(x) - relu(-x)", "x=0")
    assert (ended.status, ended.out, ended.err) == (0, CANCELLED, "")


def test_radius_finds_what_is_near(gradcli: Run) -> None:
    ended = gradcli("kinks", "L = abs(x-1)", "x=0.5", "--radius", "1")
    assert ended.out == (
        "at x = 1.0\n"
        "  abs(x-1)  line 1, column 5  x - 1 == 0  distance 0.5  "
        "at 0 the derivative is 0\n"
        "  dL/dx  from below -1.0  from above 1.0\n"
    )


def test_smooth_point_says_how_far_was_looked(gradcli: Run) -> None:
    assert gradcli("kinks", "x**2", "x=1").out == "no kink at the point\n"
    near = gradcli("kinks", "abs(x)", "x=1", "--radius", "0.5")
    assert near.out == "no kink within 0.5 of the point\n"


def test_json_has_kinks_places_and_sides(gradcli: Run) -> None:
    told = gradcli("kinks", "y = 2\nabs(x) + y*sqrt(x)", "x=0", "--json").json
    assert (told["schema"], told["command"]) == ("gradcli/1", "kinks")
    first, second = told["kinks"]
    assert (first["function"], first["line"], first["column"]) == ("abs", 2, 1)
    assert (second["source"], second["condition"]) == ("sqrt(x)", "x == 0")
    assert {first["place"], second["place"]} == {0}
    (place,) = told["places"]
    assert (place["here"], place["values"]) == (True, {"x": 0.0})
    (side,) = place["sides"]
    assert (side["below"], side["above"], side["engine"]) == ("nan", "inf", "inf")
    assert side["verdict"] == "one-sided"


def test_vector_output_needs_its_cotangent(gradcli: Run) -> None:
    asked = gradcli("kinks", "relu(x)", "x=[0,1]")
    assert (asked.status, asked.out) == (3, "")
    assert "--grad-output" in asked.err
    given = gradcli("kinks", "relu(x)", "x=[0,1]", "--grad-output", "[2,5]")
    assert "d/dx[0]  from below 0.0  from above 2.0  engine 0.0" in given.out


def test_search_that_finds_no_end_stops_at_its_limit(gradcli: Run) -> None:
    source = "while x: x = x - 1\nabs(x)"
    ended = gradcli("kinks", source, "x=3", "--verify-seconds", "1")
    assert (ended.status, ended.out) == (4, "")
    assert ended.err.startswith("error[E405]: ")


def test_negative_radius_is_refused(gradcli: Run) -> None:
    ended = gradcli("kinks", "abs(x)", "x=0", "--radius", "-1")
    assert (ended.status, ended.out) == (2, "")


def test_branch_is_named_by_its_comparison(gradcli: Run) -> None:
    ended = gradcli("kinks", "y = x**2\nif x > 1: y = x**3", "x=1")
    assert "x > 1  line 2, column 4  x == 1  distance 0.0" in ended.out
    assert "from below 2.0  from above 3.0" in ended.out


def test_markup_and_brackets_are_printed_as_they_are(gradcli: Run) -> None:
    coloured = gradcli("kinks", "abs(w[0])", "w=[0,1]", env={"FORCE_COLOR": "1"})
    assert "abs(w[0])" in coloured.out
    assert "\x1b[" in coloured.out
    assert "\x1b[" not in gradcli("kinks", "abs(w[0])", "w=[0,1]").out
