"""Graphs of scripts and files: pictures of each pass, PyTorch's graphs beside them, and
tensors of a file by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradcli.cli.app import run

TRAIN = """
import torch
from torch import nn

model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = torch.ones(5, 3)
ws = [torch.ones(1, requires_grad=True)]
for _ in range(2):
    loss = (model(x) * ws[0]).pow(2).mean()
    loss.backward()
w = torch.ones(2, 3, requires_grad=True)
y = torch.einsum("ij,kj->ik", w, x).sum()
y.backward()
print("done")
"""

MODELS = """
import torch
from torch import nn

model = nn.Linear(3, 2)
x = torch.ones(4, 3)
loss = model(x).pow(2).mean()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, g):
        return g


def product(a, b):
    return a @ b, None


three = 3
"""

Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ran(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Ran:
    """Runs a command in this process, in a folder with both files."""
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(TRAIN)
    Path("models.py").write_text(MODELS)

    def ended(*words: str) -> Any:
        status = run([*words])
        return status, *capsys.readouterr()

    return ended


@pytest.mark.parametrize(
    "words",
    [
        ("--graph", "out.json", "train.py"),
        ("train.py", "--graph", "out.json"),
        ("-o", "out.json", "train.py"),
    ],
)
def test_each_pass_is_written_to_a_file(ran: Ran, words: tuple[str, ...]) -> None:
    status, out, err = ran("run", *words)
    assert (status, out) == (0, "done\n")
    assert "written to out.json: 13 nodes" in err
    assert "written to out-2.json: 3 nodes" in err
    assert "└─" not in err
    nodes = json.loads(Path("out.json").read_text())["nodes"]
    leaves = {node["variable"] for node in nodes if node["variable"]}
    assert leaves == {
        "ws[0]",
        *(f"model.{n}.{p}" for n in (0, 2) for p in ("weight", "bias")),
    }


def test_a_page_has_the_gradients_of_the_pass(ran: Ran) -> None:
    status, _, err = ran("run", "train.py", "--graph", "out.html", "--explain")
    assert status == 0
    assert "the pass starts with dloss/dloss = 1.0" in err
    page = Path("out.html").read_text()
    assert '"steps": [{"id": 0, "incoming": "1"' in page
    status, _, err = ran("run", "train.py", "--graph", "out.svg")
    assert "<svg" in Path("out-2.svg").read_text()


def test_words_of_a_script_that_reads_them_stay_its_own(ran: Ran) -> None:
    Path("own.py").write_text("import sys\nprint(sys.argv[1:])\n")
    assert ran("run", "own.py", "--graph", "a.html")[1] == "['--graph', 'a.html']\n"
    Path("none.py").write_text("print(1)\n")
    status, out, err = ran("run", "none.py", "--graph", "a.html")
    assert (status, out) == (0, "1\n")
    assert "nothing was drawn: no backward() ran" in err


def test_options_that_do_not_fit_are_refused(ran: Ran) -> None:
    status, out, err = ran("run", "-o", "a.gif", "train.py")
    assert (status, out) == (2, "")
    assert "end the name with one of .svg" in err
    status, out, err = ran("run", "train.py", "--beside", "torch")
    assert (status, out) == (2, "")
    assert "add --graph" in err


@pytest.mark.peers
def test_graphs_stand_beside_those_of_pytorch(ran: Ran) -> None:
    pytest.importorskip("torch")
    status, out, err = ran("run", "train.py", "--graph", "--beside", "torch")
    assert (status, out) == (0, "done\n")
    lines = err.splitlines()
    first = lines.index("train.py:10: loss.backward()")
    assert lines[first + 1] == "  gradcli and PyTorch record the same 13 nodes"
    second = lines.index("train.py:13: y.backward()")
    assert lines[second + 1].startswith("  gradcli records 3 nodes, PyTorch 10; ")
    assert "  EinsumBackward0  [2, 5]   |  ViewBackward0  [2, 5]" in lines
    assert "AccumulateGrad w  [2, 3]     AccumulateGrad w  [2, 3]" in err
    assert "einsum is one node in gradcli" in err


@pytest.mark.peers
def test_a_script_that_fails_in_pytorch_is_told(ran: Ran) -> None:
    pytest.importorskip("torch")
    text = "import torch\nif hasattr(torch, '_C'):\n    raise ValueError('not here')\n"
    Path("train.py").write_text(text + TRAIN)
    status, out, err = ran("run", "train.py", "--graph", "--beside", "torch")
    assert (status, out) == (0, "done\n")
    assert "PyTorch did not come to this backward()" in err
    assert "PyTorch stopped with ValueError: not here" in err


def test_a_tensor_of_a_file_is_drawn_by_name(ran: Ran) -> None:
    status, out, err = ran("graph", "models.py:loss")
    assert status == 0
    assert out.splitlines()[0] == "MeanBackward0  loss"
    assert "AccumulateGrad model.weight  [2, 3]" in out
    assert "models.py is executed" in err
    status, out, _ = ran("graph", "models.py:loss", "-o", "g.svg")
    assert (status, out) == (0, "written to g.svg: 6 nodes\n")
    status, out, _ = ran("graph", "models.py:loss", "--json")
    assert json.loads(out)["output"] == "loss"


def test_what_a_function_returns_is_drawn(ran: Ran) -> None:
    status, out, err = ran("graph", "models.py:model", "--shape", "input=2,3")
    assert status == 0, err
    assert "AccumulateGrad input  [2, 3]" in out
    assert "input=randn(2,3) was drawn with seed 0" in err
    assert ran("graph", "models.py:Square", "x=[1,2]")[1].startswith("SquareBackward")
    words = "graph", "models.py:product", "a=randn(2,3)", "b=randn(3)"
    assert ran(*words)[1].startswith("MvBackward0  [2]")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nofile.py:x"], "there is no file 'nofile.py'"),
        (["models.py:lss"], "did you mean 'loss'?"),
        (["models.py:x"], "models.py:x has no graph"),
        (["models.py:three"], "three is no function"),
        (["models.py:loss", "x=3"], "loss is a tensor, and takes no values"),
        (["models.py:loss", "--wrt", "x"], "--wrt is for programs, not for files"),
        (
            ["models.py:loss", "--max-seconds", "1"],
            "--max-seconds is for programs, not for files",
        ),
        (["models.py:model"], None),
    ],
)
def test_what_cannot_be_drawn_is_said(
    ran: Ran, words: list[str], told: str | None
) -> None:
    status, out, err = ran("graph", *words)
    if told is None:
        assert status == 0
    else:
        assert status in (2, 3)
        assert out == ""
        assert told in err
        assert "= help:" in err
