"""Programs that are read once: the command line's numbers, of the caller's kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.engine import Tensor
from gradcli.lang.compiled import compile
from gradcli.lang.errors import ProgramError
from gradcli.lang.maxima import MIN_ENTRIES_IN_PARTS
from tests.reference.recorded_programs import RECORDS


@pytest.mark.parametrize("record", RECORDS, ids=[r["name"] for r in RECORDS])
def test_a_compiled_program_gives_pytorchs_record(record: dict[str, Any]) -> None:
    given = {n: np.array(v, dtype=float) for n, v in record["inputs"].items()}
    found = compile(record["program"]).grad(**given)
    np.testing.assert_allclose(found.value, record["output"]["value"], 1e-12)
    assert found.grads.keys() == record["grads"].keys()
    for name, expected in record["grads"].items():
        np.testing.assert_allclose(found.grads[name], expected, 1e-12, 1e-12)


@pytest.mark.parametrize("record", RECORDS, ids=[r["name"] for r in RECORDS])
def test_a_jacobian_is_the_gradient_of_each_entry(record: dict[str, Any]) -> None:
    given = {n: np.array(v, dtype=float) for n, v in record["inputs"].items()}
    whole = compile(record["program"])
    found = whole.jacobian(**given)
    kept = whole.jacobian(sparse=True, **given)
    for name, x in given.items():
        expected = np.array(record["grads"][name]).reshape(np.shape(found.blocks[name]))
        np.testing.assert_allclose(found.blocks[name], expected, 1e-12, 1e-12)
        assert kept.blocks[name].shape == (1, x.size)
        block = kept.blocks[name].toarray().ravel()
        np.testing.assert_allclose(block, expected.ravel(), 1e-12, 1e-12)


def test_a_weight_for_each_channel_is_refused_as_without_parts() -> None:
    x = np.ones(MIN_ENTRIES_IN_PARTS)
    with pytest.raises(ProgramError, match="one per channel") as parts:
        compile("sum(prelu(x, w))").grad(x=x, w=x)
    assert str(MIN_ENTRIES_IN_PARTS) in str(parts.value)


def test_results_are_of_the_kind_that_was_given() -> None:
    program = compile("sum(a*x)")
    x = np.arange(3.0)
    numbers = program.grad(a=2, x=[0, 1, 2])
    assert type(numbers.value) is float
    assert type(numbers.grads["a"]) is float
    assert isinstance(numbers.grads["x"], np.ndarray)
    arrays = program.grad(a=2.0, x=x)
    assert isinstance(arrays.value, np.generic | np.ndarray)
    assert type(arrays.grads["a"]) is float
    tensors = program.grad(a=gradcli.tensor(2.0), x=gradcli.tensor([0.0, 1.0, 2.0]))
    assert isinstance(tensors.value, Tensor)
    assert tensors.grads["x"].tolist() == [2.0, 2.0, 2.0]
    assert not tensors.grads["x"].requires_grad
    single = program.grad(a=np.float32(2), x=x.astype("float32"))
    assert single.grads["x"].dtype == "float32"
    assert program(a=2.0, x=[1, 2]) == 6.0


def test_a_column_of_single_precision_has_results_of_it() -> None:
    column = np.array([1, 2], "float32")
    found = compile("x**2*a").table({"x": column}, a=3.0)
    assert found.value.dtype == found.grads["x"].dtype == "float32"


def test_a_tensor_of_pytorch_comes_back_as_one() -> None:
    torch = pytest.importorskip("torch")
    program = compile("sum(a*x)")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    found = program.grad(a=2.0, x=x)
    assert torch.equal(found.grads["x"], torch.tensor([2.0, 2.0]))
    assert found.value.dtype == torch.float32
    assert type(found.grads["a"]) is float


@pytest.mark.parametrize("text", ["x", "x[1:]", "x.T", "x + a", "(x + a)**2", "a@x*x"])
def test_results_may_be_written_to_and_change_nothing_else(text: str) -> None:
    given = {"x": np.arange(1.0, 4.0)}
    if "a" in text:
        given["a"] = np.ones(3)
    before = {name: array.copy() for name, array in given.items()}
    value = compile(text)(**given)
    found = compile(f"({text}).sum()").grad(**given).grads
    kept = {name: g.copy() for name, g in found.items()}
    value[:] = -1
    found["x"][:] = -1
    for name, array in given.items():
        assert array.tolist() == before[name].tolist()
    if "a" in text:
        assert found["a"].tolist() == kept["a"].tolist()


NO_NUMBERS = [
    (np.array([1 + 2j]), "x holds complex128, not real numbers"),
    (np.array(["a"]), "x holds <U1, not real numbers"),
    (np.array([1.0, None], dtype=object), "null, not a number"),
]


@pytest.mark.parametrize(("value", "message"), NO_NUMBERS)
def test_arrays_of_something_else_are_refused(value: object, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        compile("x.sum()").grad(x=value)


def test_the_input_alone_that_is_asked_for_has_a_gradient() -> None:
    found = compile("mean((w*x - y)**2)", wrt=["w"])
    n = 2 * MIN_ENTRIES_IN_PARTS
    x = np.linspace(0, 1, n)
    result = found.grad(w=0.5, x=x, y=x)
    assert list(result.grads) == ["w"]
    assert result.grads["w"] == pytest.approx(np.mean(-x * x))
