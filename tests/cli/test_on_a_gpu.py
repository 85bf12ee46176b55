"""Commands with `--device cuda` answer as without it."""

from __future__ import annotations

import shlex
import subprocess
import sys

import numpy as np
import pytest

from gradcli import compile
from tests.cupy_stand_in.standing import search_path

from .conftest import Run, environment
from .schemas import objects

COMMANDS = (
    'grad "x**3 + b" x=2 b=1',
    'grad "softmax(x, 0).log().sum()" "x=[1,2,3]"',
    'grad "cross_entropy(W@x, 1)" "W=[[1,2],[3,4],[0,1]]" "x=[0.5,1]"',
    'grad "max(x) + amin(x) + logsumexp(x, 0)" "x=[3,1,2]"',
    'grad "(W@x).relu().sum()" "W=randn(4,3)" "x=randn(3)"',
    'grad "x[1:3].sum() * x[0]" "x=[1,2,3,4]"',
    'grad "for i in range(3): x = x*x + 1" x=0.5',
    'grad "y = x*2; y *= x; (y*y).sum()" "x=[1,2,3]"',
    'grad "mean((x - mean(x))**2)/std(x)" "x=[1,2,4]"',
    'graph "z = x*y; z + sin(x)" x=1 y=2',
    'graph "relu(W@x).sum()" "W=[[1,2],[3,4]]" "x=[1,-1]"',
    'jacobian "W@x" "W=[[1,2],[3,4]]" "x=[1,-1]"',
    'jacobian "cumsum(x, 0)*x" "x=[1,2,3]"',
    'hessian "x**2*y + y**3" x=1 y=2',
    'paths "x*y + sin(x)" x=1 y=2',
    'explain "softmax(x, 0)[1]" "x=[1,2,3]"',
    'descend "(x-3)^2 + (y+1)^2" x=0 y=0 --steps 5',
    'value "sort(x)[0]" "x=[3,1,2]"',
)
UNVERIFIED = ("grad", "jacobian", "hessian")


def words_of(command: str, device: str) -> list[str]:
    words = [*shlex.split(command), "--json", "--device", device]
    return [*words, "--no-verify"] if words[0] in UNVERIFIED else words


ON_GPU = """
import sys
from gradcli.cli.app import run
for words in eval(sys.stdin.read()):
    assert run(words) == 0, words
    print(",", flush=True)
"""
"""Program that runs command lines, one after the other, where there is a GPU."""


AUTO = """
import sys
from gradcli.cli.app import run
assert run(["value", "sum(x)", f"x=linspace(0, 1, {sys.argv[1]})", "--json"]) == 0
print("cupy" in sys.modules)
"""


def chosen(entries: int) -> tuple[str, str]:
    """Whether CuPy was imported for an input, and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", AUTO, str(entries)], capture_output=True, text=True,
        env={**environment(), "PYTHONPATH": search_path()}, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()[-1], done.stdout


@pytest.mark.gpu
def test_a_gpu_is_taken_where_an_input_gains_from_it() -> None:
    imported, said = chosen(1000)
    assert imported == "False"
    assert "GPU" not in said
    imported, said = chosen(1_000_000)
    assert imported == "True"
    assert "computed on the GPU, because an input has 1,000,000 entries" in said


WRONG = (
    ('value "nll_loss(x, 2)" "x=[-0.4,-0.8]"', "target 2 is out of bounds"),
    ('grad "sum(x[tensor([5])])" "x=[1,2]"', "index 5 is out of bounds"),
    ('grad "gather(x, 0, tensor([0,3])).sum()" "x=[1,2]"', "index 3 is out of bounds"),
)
"""Commands with a position out of bounds, and what is said of it."""

REFUSED_ON_GPU = """
import sys
from gradcli.cli.app import run
for words in eval(sys.stdin.read()):
    assert run(words) == 3, words
"""


@pytest.mark.gpu
def test_a_position_out_of_bounds_is_shown_at_its_place() -> None:
    lines = repr([[*shlex.split(each), "--device", "cuda"] for each, _ in WRONG])
    done = subprocess.run(
        [sys.executable, "-c", REFUSED_ON_GPU], input=lines, capture_output=True,
        text=True, env={**environment(), "PYTHONPATH": search_path()}, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    for command, words in WRONG:
        assert words in done.stderr, command
    assert done.stderr.count("^") > len(WRONG)


@pytest.mark.gpu
def test_lists_are_computed_where_they_gain_from_it(cuda: object) -> None:
    program = compile("sum(x)", device="auto")
    few = program.grad(x=[1.0, 2.0])
    many = program.grad(x=[1.0] * 1_000_000)
    assert isinstance(few.grads["x"], np.ndarray)
    assert type(many.grads["x"]).__module__.split(".")[0] != "numpy"


@pytest.mark.gpu
def test_commands_answer_on_a_gpu_as_on_the_cpu(gradcli: Run) -> None:
    lines = repr([words_of(command, "cuda") for command in COMMANDS])
    done = subprocess.run(
        [sys.executable, "-c", ON_GPU], input=lines, capture_output=True, text=True,
        env={**environment(), "PYTHONPATH": search_path()}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = done.stdout.replace('"cuda:0"', '"cpu"').replace('"cuda"', '"cpu"')
    for command, answer in zip(COMMANDS, told.split("\n,\n"), strict=False):
        here = gradcli(*words_of(command, "cpu")).out
        assert [*objects(answer)] == [*objects(here)], command
