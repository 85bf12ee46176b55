"""An option that would do nothing is refused, and a value that can be read in two ways
is told how it was read."""

from __future__ import annotations

import shlex

import pytest

from gradcli.cli.readings import readings

from .conftest import Run

IDLE = {
    'graph "x^2" x=1 -o g.json --unfold': "--unfold",
    'graph "x^2" x=1 -o g.dot --grad-output 1': "--grad-output",
    'graph "x^2" x=1 --heat': "--heat",
    'value "x^2" x=1 --wrt x': "--wrt",
    'paths "x^2" x=1 --latex -q': "--quiet",
    'explain "x^2" x=1 --latex -q': "--quiet",
    'kinks "abs(x)" x=0 -q': "--quiet",
    'plot "x^2" x=0:1 -q': "--quiet",
    'plot "x*sum(y)" x=0:1 --shape y=2': "--shape",
    'descend "x^2" x=1 --shuffle': "--shuffle",
    'descend "x^2" x=1 --optimizer adam --momentum 0.5': "--momentum",
    'grad "x^2" x=1 --on-error nan': "--on-error",
    'grad "x^2" x=1 --cluster local:2': "--cluster",
    'grad "x^2" --sweep x=0:1:2 --verify-seconds 9': "--verify-seconds",
    'grad "x^2" --sweep x=0:1:2 --require proved': "--require",
    'grad "x^2" --sweep x=0:1:2 --digits 9': "--digits",
    'check "x^2" --claim "d/dx = 2*x" --dtype float32': "--dtype",
    'hessian "x^2" x=1 --times x=1 --sparse': "--sparse",
}
"""Command lines, each with the option that would do nothing there. That commands which
verify nothing refuse --verify-seconds, `test_schemas` asks of all of them."""


@pytest.mark.parametrize("words", IDLE)
def test_an_idle_option_is_refused_by_its_name(gradcli: Run, words: str) -> None:
    ended = gradcli(*shlex.split(words))
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("error[E590]")
    assert IDLE[words] in ended.err
    assert "= help: " in ended.err


def test_an_idle_option_of_a_script_is_refused(gradcli: Run, tmp_path: object) -> None:
    script = f"{tmp_path}/script.py"
    with open(script, "w") as file:
        file.write("print('ran')\n")
    for words in (("--verify-seconds", "9"), ("--check", "--graph")):
        ended = gradcli("run", *words, script)
        assert (ended.status, ended.out) == (2, "")
        assert words[-1] in ended.err or words[0] in ended.err
    assert gradcli("run", "--verify", "--verify-seconds", "9", script).out == "ran\n"
    # What somebody set once refuses no script.
    env = {"GRADCLI_VERIFY_SECONDS": "9"}
    assert gradcli("run", script, env=env).out == "ran\n"


READ = {
    "x=1,5": ("two numbers, 1 and 5", "x=1.5"),
    "x=-1,25": ("two numbers", "x=-1.25"),
    "x=1,000": ("2 numbers", "x=1000"),
    "x=1,000,000.5": ("3 numbers", "x=1000000.5"),
    "x=1.000,5": ("two numbers", "x=1000.5"),
    "x=-3^2": ("the negative of 3^2", "x=(-3)^2"),
    "x=-2**0.5": ("the negative of 2**0.5", "x=(-2)**0.5"),
    "x=1e": ("1 times the number e", "2.718"),
}


@pytest.mark.parametrize("word", READ)
def test_a_value_is_told_how_it_was_read(word: str) -> None:
    (told,) = readings([word])
    assert all(text in told for text in READ[word])


@pytest.mark.parametrize(
    "word",
    ["x=1.5", "x=[1,5]", "x=(1,5)", "x=1, 5", "x=1,2,3", "x=(-3)^2", "x=-3", "x=1e5",
     "x=1_000", "x=-x", "x=@a,5.csv", "sin(x)"],
)  # fmt: skip
def test_a_value_that_everybody_reads_alike_has_no_note(word: str) -> None:
    assert [*readings([word])] == []


@pytest.mark.parametrize(
    "words",
    [
        ("grad", "sum(x)", "x=1,5", "-q"),
        ("value", "x", "x=1,5"),
        ("check", "sum(x)", "--claim", "d/dx = 1", "x=1,5"),
        ("grad", "sum(x)*y", "x=1,5", "--sweep", "y=0:1:2"),
    ],
)
def test_the_note_is_on_stderr_once(gradcli: Run, words: tuple[str, ...]) -> None:
    ended = gradcli(*words)
    assert ended.err.count("note: x=1,5 is two numbers, 1 and 5") == 1
    assert "note" not in ended.out
