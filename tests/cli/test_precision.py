"""`gradcli grad` with `--digits` and `--condition`, and where it names the blame."""

from __future__ import annotations

from .conftest import Run

PI_50 = "3.1415926535897932384626433832795028841971693993751"


def test_digits_follow_the_engines_numbers(gradcli: Run) -> None:
    ended = gradcli("grad", "y = pi*x", "x=1", "--digits", "50", "--no-verify")
    assert ended.status == 0
    head, _, tail = ended.out.partition("with 50 digits")
    assert "dy/dx = 3.141592653589793\n" in head
    assert tail.splitlines()[1:] == [f"  y     = {PI_50}", f"  dy/dx = {PI_50}"]


def test_decimals_mean_what_is_typed(gradcli: Run) -> None:
    ended = gradcli(
        "grad", "0.1*x + 0.2*x", "x=0.1", "--digits", "30", "-q", "--no-verify"
    )
    assert ended.out == "0.3\n"
    assert "0.1 is a tenth" in gradcli(
        "grad", "x", "x=0.1", "--digits", "30", "--no-verify"
    ).out  # fmt: skip


def test_digits_in_json_are_strings(gradcli: Run) -> None:
    told = gradcli(
        "grad", "(pi*x).sum()", "x=[0, 1]", "--digits", "50", "--json", "--no-verify"
    ).json
    assert told["digits"] == {"digits": 50, "output": PI_50, "notes": []}
    assert told["inputs"][0]["grad_digits"] == [PI_50, PI_50]


def test_constant_of_17_digits_is_told(gradcli: Run) -> None:
    ended = gradcli("grad", "x*randn(4).sum()", "x=1", "--digits", "30", "--no-verify")
    assert "known to 17 digits only" in ended.out


def test_digits_are_limited(gradcli: Run) -> None:
    for asked in ("0", "1001", "many"):
        ended = gradcli("grad", "x", "x=1", "--digits", asked)
        assert (ended.status, ended.out) == (2, "")


def test_error_is_given_in_units_in_the_last_place(gradcli: Run) -> None:
    arguments = ("grad", "sin(x)*exp(y)", "x=0.3", "y=0.7")
    (given, _) = gradcli(*arguments, "--json").json["inputs"]
    assert 0 < given["max_ulps"] < 4
    spacing = 2.0**-52
    assert abs(given["max_error"] * given["grad"] / spacing - given["max_ulps"]) < 1e-6
    shown = f"max_error {given['max_error']:.2g} ({given['max_ulps']:.2g} ulp)"
    assert shown in gradcli(*arguments).out


def test_condition_is_told_in_plain_words(gradcli: Run) -> None:
    ended = gradcli("grad", "sum(x) - 3", "x=[1, 2.25]", "--condition", "--no-verify")
    line = ended.out.splitlines()[-1]
    assert line.startswith("  x  13.9  amplified 13.9 times: an error of 1e-16 becomes")
    assert line.endswith("the largest by one entry is 9, x[1]")


def test_condition_in_json_has_both_measures(gradcli: Run) -> None:
    told = gradcli("grad", "x**5", "x=2", "--condition", "--json", "--no-verify").json
    expected = {"norm": 5.0, "largest": 5.0, "entry": "x"}
    assert told["inputs"][0]["condition"] == expected


def test_output_of_zero_has_an_infinite_condition(gradcli: Run) -> None:
    arguments = ("grad", "x - 2", "x=2", "--condition", "--no-verify")
    assert "without bound" in gradcli(*arguments).out
    told = gradcli(*arguments, "--json").json
    assert told["inputs"][0]["condition"]["norm"] == "inf"


GUARDED = "where(x > 0, sqrt(x), 0)"


def test_nan_is_traced_to_its_edge_with_a_way_out(gradcli: Run) -> None:
    ended = gradcli("grad", GUARDED, "x=0", "-q", "--no-verify")
    assert ended.out == "nan\n"
    assert ended.err == (
        "note: the gradient becomes nan at sqrt(x): 0.0 * inf, incoming times local "
        "gradient (SqrtBackward0 to x, line 1, column 14)\n"
        "note: write where(x > 0, sqrt(where(x > 0, x, 1)), 0) for "
        "where(x > 0, sqrt(x), 0): that gives the value 0.0, d/dx = 0.0\n"
    )


def test_blame_in_json_has_edges_and_the_rewriting(gradcli: Run) -> None:
    told = gradcli("grad", GUARDED, "x=0", "--json", "--no-verify").json["blame"]
    (edge,) = told["edges"]
    assert (edge["node"], edge["source"], edge["to"]) == (
        "SqrtBackward0",
        "sqrt(x)",
        "x",
    )
    assert (edge["incoming"], edge["local_gradient"], edge["result"]) == (
        0.0, "inf", "nan",
    )  # fmt: skip
    assert told["rewriting"]["gradients"] == {"x": 0.0}
    again = gradcli("grad", told["rewriting"]["program"], "x=0", "-q", "--no-verify")
    assert (again.out, again.err) == ("0.0\n", "")


def test_finite_gradients_bring_no_blame(gradcli: Run) -> None:
    ended = gradcli("grad", GUARDED, "x=1", "--json", "--no-verify")
    assert "blame" not in ended.json
    assert ended.err == ""


def test_digits_of_a_power_of_zero_bring_no_warning_of_a_library(gradcli: Run) -> None:
    ended = gradcli("grad", "((x - x)**x**86.255)**e", "x=0.136", "--digits", "40")
    assert "output = " in ended.out
    assert "Warning" not in ended.err


def test_digits_that_are_not_certain_are_told_in_either_form(gradcli: Run) -> None:
    words = ["grad", "((x - x)**x**86.255)**e", "x=0.136", "--digits", "40"]
    assert "d/dx   = nan  (not all digits are certain)" in gradcli(*words).out
    notes = gradcli(*words, "--json").json["digits"]["notes"]
    assert "the gradient by x: not all digits are certain" in notes
