"""`gradcli jacobian`, `gradcli hessian` and `gradcli ops`."""

from __future__ import annotations

import shlex

import pytest

from .conftest import Run, environment

MV = ["y = W @ x", "W=[[1,2],[3,4],[5,6]]", "x=[1,2]"]


def test_a_jacobian_has_a_labelled_block_per_input(gradcli: Run) -> None:
    ended = gradcli("jacobian", *MV, "--wrt", "x", "--no-verify")
    assert ended.out == (
        "dy/dx  (3, 2)  dense\n"
        "  [[1.0, 2.0],\n"
        "   [3.0, 4.0],\n"
        "   [5.0, 6.0]]\n"
        "\n"
        "2 forward passes\n"
    )


def test_both_modes_print_the_same_blocks(gradcli: Run) -> None:
    forward = gradcli("jacobian", *MV, "--mode", "fwd", "-q", "--no-verify")
    reverse = gradcli("jacobian", *MV, "--mode", "rev", "-q", "--no-verify")
    assert forward.out == reverse.out
    assert forward.out.splitlines()[1] == "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"


def test_the_jacobians_json_has_the_agreed_keys(gradcli: Run) -> None:
    told = gradcli("jacobian", *MV, "--json").json
    assert (told["schema"], told["command"]) == ("gradcli/1", "jacobian")
    assert told["output"]["shape"] == [3]
    assert [block["input"] for block in told["blocks"]] == ["W", "x"]
    for block in told["blocks"]:
        assert {"input", "shape", "value", "structure", "verdict"} <= block.keys()
        assert block["verdict"] == "proved"


def test_an_elementwise_function_has_a_diagonal_jacobian(gradcli: Run) -> None:
    told = gradcli("jacobian", "sin(x)", "x=[1,2,3]", "--json", "--no-verify").json
    assert told["blocks"][0]["structure"] == "diagonal"


def test_the_hessian_has_a_block_per_pair(gradcli: Run) -> None:
    told = gradcli("hessian", "x**2*y", "x=3", "y=2", "--json").json
    assert [(b["inputs"], b["value"]) for b in told["blocks"]] == [
        (["x", "x"], 4.0),
        (["x", "y"], 6.0),
        (["y", "x"], 6.0),
        (["y", "y"], 0.0),
    ]
    assert told["verification"]["verdict"] == "proved"


def test_a_vector_has_no_hessian(gradcli: Run) -> None:
    ended = gradcli("hessian", "x**2", "x=[1,2]", "--no-verify")
    assert ended.status == 3
    assert "scalar outputs" in ended.err


def test_ops_lists_every_function_and_shows_its_page(gradcli: Run) -> None:
    from gradcli.ops import offered

    listed = {line.split("  ")[0].strip() for line in gradcli("ops").out.splitlines()}
    assert set(offered()) <= listed
    page = gradcli("ops", "mul").out
    assert page.startswith("mul(a, b)\n")
    assert "MulBackward0" in page
    assert "  derivative by a: b\n" in page
    assert "  C: a * b\n" in page


def test_ops_knows_aliases_and_gives_json(gradcli: Run) -> None:
    assert gradcli("ops", "multiply").out == gradcli("ops", "mul").out
    told = gradcli("ops", "mul", "--json").json
    assert told["functions"][0]["name"] == "mul"
    assert told["functions"][0]["rows"][0]["node"] == "MulBackward0"


@pytest.mark.parametrize(
    ("words", "expected"), [("gradcli gra", "graph"), ("gradcli grad --js", "--json")]
)
def test_the_shell_can_complete(gradcli: Run, words: str, expected: str) -> None:
    ended = gradcli(
        env={
            "_GRADCLI_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(words.count(" ")),
        }
    )
    assert expected in ended.out.split()
    assert "_GRADCLI_COMPLETE" not in environment()


@pytest.mark.parametrize("command", ["jacobian", "hessian"])
def test_help_has_an_example_that_runs(gradcli: Run, command: str) -> None:
    lines = gradcli(command, "--help").out.splitlines()
    (example,) = [line for line in lines if "Example: gradcli" in line]
    words = shlex.split(example.partition("gradcli ")[2])
    assert words[0] == command
    assert gradcli(*words).status == 0
