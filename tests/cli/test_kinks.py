"""`gradcli kinks` as people and scripts meet it."""

from __future__ import annotations

from .conftest import Run


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


def test_markup_and_brackets_are_printed_as_they_are(gradcli: Run) -> None:
    coloured = gradcli("kinks", "abs(w[0])", "w=[0,1]", env={"FORCE_COLOR": "1"})
    assert "abs(w[0])" in coloured.out
    assert "\x1b[" in coloured.out
    assert "\x1b[" not in gradcli("kinks", "abs(w[0])", "w=[0,1]").out
