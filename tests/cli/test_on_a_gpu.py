"""Commands with `--device cuda` answer as without it."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.cupy_stand_in.standing import search_path

from .conftest import Run
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


def answer(gradcli: Run, command: str, device: str) -> Any:
    words = [*shlex.split(command), "--json", "--device", device]
    if words[0] in UNVERIFIED:
        words.append("--no-verify")
    env = {"PYTHONPATH": search_path()} if device == "cuda" else None
    ended = gradcli(*words, env=env)
    assert ended.status == 0, ended.err
    told = ended.out.replace('"cuda:0"', '"cpu"').replace('"cuda"', '"cpu"')
    return [*objects(told)]


@pytest.mark.gpu
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_answers_on_a_gpu_as_on_the_cpu(gradcli: Run, command: str) -> None:
    assert answer(gradcli, command, "cuda") == answer(gradcli, command, "cpu")
