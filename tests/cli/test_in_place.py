"""Programs that change values in place."""

from __future__ import annotations

from .conftest import Run


def test_a_forward_pass_reads_what_was_saved(gradcli: Run) -> None:
    program = "v = exp(y*tensor([1,2])); v *= 3; v"
    modes = {}
    for mode in ("fwd", "rev"):
        told = gradcli(
            "jacobian", program, "y=0", "--mode", mode, "--json", "--no-verify"
        ).json
        modes[mode] = told["blocks"][0]["value"]
    assert modes == {"fwd": [3.0, 6.0], "rev": [3.0, 6.0]}


def test_an_input_that_a_program_changes_is_shown_as_it_was_given(
    gradcli: Run,
) -> None:
    arguments = ["A += 1; (A*x).sum()", "A=[1,2]", "x=2", "--wrt", "x"]
    told = gradcli("grad", *arguments, "--json", "--no-verify").json
    assert told["output"]["value"] == 10
    assert [given["value"] for given in told["inputs"]] == [[1, 2], 2]
    assert told["inputs"][1]["grad"] == 5


def test_entries_that_share_a_place_are_not_written_to(gradcli: Run) -> None:
    ended = gradcli("grad", "y = x*1; z = y.expand(2, 2); z += 1; y.sum()", "x=[3,4]")
    assert ended.status == 3
    assert "single memory location" in ended.err


def test_a_change_in_place_is_shown_as_it_is_written(gradcli: Run) -> None:
    program = ["y = x*1; y *= y; y.sum()", "x=3"]
    assert "MulBackward0  y *= y " in gradcli("grad", *program, "--no-verify").out
    assert "\n2  MulBackward0  y *= y\n" in gradcli("explain", *program).out
