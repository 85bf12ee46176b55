"""`gradcli verify`: functions, Functions and modules of a Python file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gradcli.cli.app import run

FILE = """
import torch
from torch import nn
from typing import Annotated


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


class Power(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, n):
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * ctx.n * x ** (ctx.n - 1), None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x: "randn(2, 3)"):
        return torch.tanh(self.linear(x))


class Sized(nn.Module):
    def __init__(self, size):
        super().__init__()


def rows(x: Annotated[torch.Tensor, (4, 2)], index):
    return x[index]


def product(a: torch.Tensor, b: "randn(3, 2)"):
    return a @ b


def leaves(x):
    return x * x.sum().item()


constant = 3


class Labelled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x * y).sum()

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, None


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


class Thresholded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 20, x, torch.log1p(torch.exp(x)))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 20, 2 * g, g * torch.sigmoid(x))


class Guarded(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 1e9, torch.zeros_like(x), 3 * x)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.where(x > 1e9, torch.zeros_like(g), 3 * g)


class Slope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale: float):
        ctx.slope = 2 * scale * x
        return scale * x * x

    @staticmethod
    def backward(ctx, g):
        return g * ctx.slope, None


def power(x, n: int):
    return x**n
"""

Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture
def verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Runs the command in this process on a name of the file."""
    path = tmp_path / "mine.py"
    path.write_text(FILE)

    def ran(name: str, *words: str) -> tuple[int, str, str]:
        patience = ("--verify-seconds", "600")
        status = run(["verify", *patience, f"{path}:{name}", *words])
        out, err = capsys.readouterr()
        return status, out.replace(str(tmp_path), "."), err.replace(str(tmp_path), ".")

    return ran


def test_a_wrong_function_is_refuted_with_its_mistake(verify: Ran) -> None:
    status, out, err = verify("Square", "x=[3, 0.5]")
    assert status == 1
    assert out == (
        "./mine.py:Square: refuted\n"
        "  x: refuted, relative error at most 0.5\n"
        "    d output[0] / d x[0]: backward gave 3.0, the true value is 6.0\n"
        "  probably: the gradient by x lacks the factor 2\n"
        "  way out: multiply by 2\n"
    )
    assert err == "note: ./mine.py is executed, with gradcli in the place of torch\n"


def test_a_number_that_is_written_out_stays_one(verify: Ran) -> None:
    status, out, _ = verify("Power", "x=[1.5, 2]", "n=3")
    assert (status, out.splitlines()[0]) == (0, "./mine.py:Power: proved")


def test_what_is_not_given_is_drawn_and_said_so(verify: Ran) -> None:
    status, out, err = verify("Square", "-q")
    assert (status, out, err) == (1, "refuted\n", "")
    status, _, err = verify("Net", "--seed", "3")
    assert status == 0
    assert "note: x=randn(2, 3) was drawn with seed 3" in err


def test_a_module_is_made_and_its_parameters_are_looked_at(verify: Ran) -> None:
    _, out, _ = verify("Net", "--json", "--once")
    found = json.loads(out)
    assert found["schema"] == "gradcli/1"
    assert found["command"] == "verify"
    assert [i["name"] for i in found["inputs"]] == ["x", "linear.weight", "linear.bias"]
    assert found["verdict"] == "proved"
    assert found["double_backward"] == []


def test_integers_and_shapes_come_from_options_and_annotations(verify: Ran) -> None:
    status, out, err = verify("rows", "index=[1,1,3]", "--whole", "index")
    assert (status, out.splitlines()[0]) == (0, "./mine.py:rows: proved")
    assert "x=randn(4, 2) was drawn" in err
    assert verify("product", "a=[[1,2,3]]")[0] == 0


def test_json_has_the_counterexample_and_the_mistake(verify: Ran) -> None:
    _, out, _ = verify("Square", "x=[3]", "--json")
    found = json.loads(out)
    assert found["inputs"][0]["counterexample"] == {
        "output": {"number": 0, "entry": [0]}, "entry": [0], "given": 3.0, "true": 6.0,
    }  # fmt: skip
    assert found["mistake"]["cause"] == "factor"


def test_what_is_weaker_than_required_is_status_1(verify: Ran) -> None:
    status, out, err = verify("leaves", "x=[1,2]", "--require", "certified")
    assert status == 1
    assert "mine.py:55: return x * x.sum().item()" in out
    assert "unknown, not certified: ./mine.py:leaves" in err
    assert verify("leaves", "x=[1,2]")[0] == 0


@pytest.mark.parametrize(
    ("name", "words", "status", "said"),
    [
        ("Squares", [], 3, "did you mean 'Square'?"),
        ("Square", ["y=3"], 2, "its parameters are x"),
        ("Square", ["x=tahn(1)"], 3, "did you mean 'tanh'?"),
        ("Sized", [], 3, "make one in the file and name it: model = Sized(...)"),
        ("constant", [], 3, "constant is no function, Function or module, but int"),
        ("product", ["a=[[1,2]]"], 3, "give each of its parameters a value"),
    ],
)  # fmt: skip
def test_a_mistake_has_its_place_and_a_way_out(
    verify: Ran, name: str, words: list[str], status: int, said: str
) -> None:
    ended, _, err = verify(name, *words)
    assert ended == status, err
    assert said in err


def test_a_file_that_raises_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.py").write_text("import torch\ntorch.nope(3)\n")
    assert run(["verify", f"{tmp_path}/bad.py:f"]) == 3
    assert "bad.py:2: torch.nope(3)" in capsys.readouterr().err
    assert run(["verify", f"{tmp_path}/none.py:f"]) == 3
    assert run(["verify", "f"]) == 2


def test_what_backward_returns_none_for_is_held_unless_it_is_asked_for(
    verify: Ran,
) -> None:
    status, out, err = verify("Labelled", "x=[1,2]", "y=[0,1.5]")
    assert (status, "  y:" in out) == (0, False)
    assert "backward returns None for y" in err
    assert "--wrt y asks for one" in err
    status, out, _ = verify("Labelled", "x=[1,2]", "y=[0,1.5]", "--wrt", "y")
    assert (status, "  x:" in out) == (1, False)
    assert "backward gives no gradient for y" in out


def test_a_name_that_is_no_tensor_cannot_be_differentiated_by(verify: Ran) -> None:
    status, _, err = verify("Power", "x=[1,2]", "n=3", "--wrt", "n")
    assert status == 2
    assert "has no tensor 'n' to differentiate by" in err


def test_a_function_may_change_its_argument_in_place(verify: Ran) -> None:
    status, out, _ = verify("Doubled", "x=[1,2]")
    assert (status, out.splitlines()[0]) == (0, "./mine.py:Doubled: proved")


def test_a_branch_that_the_inputs_do_not_reach_is_looked_at(verify: Ran) -> None:
    status, out, _ = verify("Thresholded", "x=[0.5,1.5]")
    assert status == 1
    assert "  x: proved" in out
    assert "on the other side of mine.py:" in out
    assert "backward gave 2.0 for d output[1] / d x[1], the true value is 1.0" in out


def test_a_branch_that_is_out_of_reach_is_said_so(verify: Ran) -> None:
    status, out, _ = verify("Guarded", "x=[0.5,1.5]")
    assert status == 0
    assert "note: only one side of a comparison was looked at: mine.py:" in out


def test_the_second_order_is_a_line_of_its_own_and_counts_where_asked(
    verify: Ran,
) -> None:
    status, out, _ = verify("Slope", "scale=2", "x=[1.5]")
    assert status == 0
    assert "  second order: refuted" in out.splitlines()
    assert verify("Slope", "scale=2", "x=[1.5]", "--order", "2", "-q")[:2] == (
        1, "refuted\n",
    )  # fmt: skip
    status, _, err = verify("Slope", "--order", "2", "--once")
    assert status == 2
    assert "--once does not look at what --order 2 asks for" in err


def test_json_says_which_witness_was_used(verify: Ran) -> None:
    _, out, _ = verify("Slope", "scale=2", "x=[1.5]", "--json")
    told = json.loads(out)
    assert told["inputs"][0]["witness"] == "balls"
    assert (told["order"], told["second_order"]["verdict"]) == (1, "refuted")


def test_a_float_is_drawn_as_a_number_and_an_int_is_asked_for(verify: Ran) -> None:
    status, out, err = verify("Slope", "--once")
    assert (status, out.splitlines()[1].split(":")[0]) == (0, "  x")
    assert "scale=0." in err
    status, _, err = verify("power")
    assert status == 3
    assert "no value for 'n', which is annotated as int" in err
    assert "give it one: n=2" in err
