"""What a script asks of its tensors is read from its text, and nothing is guessed."""

from __future__ import annotations

import ast

import pytest

from gradcli.python.missing import Script

HEAD = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn, randn\n"
    "x = torch.ones(3)\n"
)


def asked(text: str) -> list[str]:
    return [name for _, name in Script(ast.parse(HEAD + text)).of_tensors()]


@pytest.mark.parametrize(
    "text",
    [
        "x.stft(3)",
        "x.stft",
        "randn(2).stft()",
        "torch.zeros(2).sin().T.stft()",
        "y = F.relu(x); y.stft()",
        "y = 2*x[0] - 1; y.stft()",
        "(-x > 0).stft()",
        "nn.Parameter(x).stft()",
        "x.grad.stft()",
        "y = x\nfor i in range(3):\n    y = y - 0.1*y\n    y.stft()",
        "def f():\n    return x.stft()",
        "y = z = x; z.stft()",
        "rate = 0.1\ny = x\ny -= rate*x\ny.stft()",
    ],
)
def test_a_method_of_a_tensor_is_found(text: str) -> None:
    assert "stft" in asked(text)


@pytest.mark.parametrize(
    "text",
    [
        "a.stft()",
        "class A:\n    def f(self): return self.stft()",
        "def f(x): return x.stft()",
        "def f(y: torch.Tensor): return y.stft()",
        "x = thing()\nx.stft()",
        "for x in things: x.stft()",
        "with thing() as x: x.stft()",
        "import thing as x\nx.stft()",
        "def f():\n    global x\n    x = thing()\nx.stft()",
        "(thing() * x).stft()",
        "nn.Linear(3, 4).stft()",
        "nn.Linear(3, 4)(x).stft()",
        "torch.max(x, 0).stft",
        "x.shape.stft",
        "x.item().stft()",
        "x.numpy().stft()",
        "x.stft = 3; x.stft",
        "hasattr(x, 'stft') and x.stft()",
        "setattr(x, name, 3); x.stft",
        "from thing import *\nx.stft()",
        "torch = thing(); y = torch.ones(3); y.stft()",
        "[x.stft() for x in things]",
        "lambda x: x.stft()",
        "try: pass\nexcept E as x: x.stft()",
        "match thing:\n    case [x]: x.stft()",
    ],
)
def test_of_other_objects_nothing_is_said(text: str) -> None:
    assert "stft" not in asked(text)


def test_the_line_is_that_of_the_name() -> None:
    tree = ast.parse("import torch\n(torch.ones(2)\n    .sin()\n    .stft())")
    assert Script(tree).of_tensors() == {(4, "stft"), (3, "sin")}


def test_what_is_nested_too_deep_is_left_out() -> None:
    deep = ast.parse(HEAD)
    value: ast.expr = ast.Name("x", ast.Load())
    for _ in range(5000):
        value = ast.UnaryOp(ast.USub(), value)
    deep.body.append(ast.Expr(value))
    assert not Script(deep).of_tensors()
