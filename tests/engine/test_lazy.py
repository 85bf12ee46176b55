"""`import gradcli` is free, and every name that it promises is there."""

from __future__ import annotations

import subprocess
import sys
from operator import itemgetter
from traceback import format_exception

import pytest

import gradcli
from gradcli.torch.public import has_in_place, names
from tests.grouped import by_row

HEAVY = ("numpy", "scipy", "sympy", "mpmath", "rich", "typer", "cupy", "safetensors")


def test_importing_it_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import gradcli;"
        "print(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert [name for name in loaded if name.startswith("gradcli")] == ["gradcli"]
    assert not {*loaded} & {*HEAVY}


def test_the_engine_imports_no_heavy_library_but_numpy() -> None:
    code = "import sys, gradcli; gradcli.ones(2).exp(); print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert loaded & set(HEAVY) == {"numpy"}


@by_row("name", (n for n in dir(gradcli) if not n.startswith("_")), str, itemgetter(0))
def test_every_listed_name_is_there(name: str) -> None:
    assert getattr(gradcli, name) is getattr(gradcli, name)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'as_index'"):
        gradcli.as_index  # noqa: B018
    assert not hasattr(gradcli, "no_such_function")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("x.sum(dims=0)", "did you mean 'dim'? its parameters are x, dim, keepdim"),
        ("gradcli.softmax(x, dims=0)", "did you mean 'dim'?"),
        ("gradcli.nn.Linear(2, 3, biass=True)", "did you mean 'bias'?"),
        ("gradcli.autograd.verify(abs, x, second=1)", "did you mean 'seconds'?"),
        ("gradcli.graph(x, folds=True)", "did you mean 'fold'?"),
        ("x + gradcli.ones(3)", "size of tensor a (2)"),
        ("x[5]", "index 5 is out of bounds"),
        ("x.reshape(5, 5)", "shape '[5, 5]' is invalid"),
        ("x.sum(3)", "Dimension out of range"),
    ],
)
def test_a_wrong_call_is_one_traceback(wrong: str, said: str) -> None:
    with pytest.raises((TypeError, RuntimeError, IndexError)) as caught:
        eval(wrong, {"gradcli": gradcli, "x": gradcli.ones(2)})
    told = "".join(format_exception(caught.value))
    assert (said in told, told.count("Traceback")) == (True, 1)


def test_every_function_is_a_method_and_completion_shows_it() -> None:
    shown = set(dir(gradcli.Tensor))
    assert set(names()) <= shown
    assert {f"{name}_" for name in names() if has_in_place(name)} <= shown


@pytest.mark.parametrize("module", ["linalg", "special", "random", "cuda"])
def test_a_submodules_names_are_there(module: str) -> None:
    found = getattr(gradcli, module)
    for name in [n for n in dir(found) if not n.startswith("_")]:
        assert getattr(found, name) is not None


def test_the_linalg_functions_are_the_tables() -> None:
    a = gradcli.tensor([[2.0, 1.0], [1.0, 3.0]])
    b = gradcli.tensor([1.0, 2.0])
    assert gradcli.allclose(a @ gradcli.linalg.solve(a, b), b)
    assert gradcli.special.expit is gradcli.sigmoid
