"""Code in gradcli's own language is read back, and gives the row and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from dataclasses import replace as with_fields
from typing import Any

import numpy as np
import pytest
from laws.draw import Spot, draw, is_differentiated
from laws.measure import flat_output, flattened

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.dtypes import default_dtype
from gradcli.formulas.dialect import LANGUAGE
from gradcli.formulas.namespace import TreeNamespace
from gradcli.formulas.program import rows_as_calls
from gradcli.formulas.programs import WantedCode, arranged
from gradcli.formulas.tree import FreshNames
from gradcli.lang.compiler import compile_program
from gradcli.lang.factory import Factory
from gradcli.lang.machine import Machine
from gradcli.lang.parser import parse
from gradcli.lang.tensor_library import TensorLibrary
from gradcli.ops import OPS, Op
from tests.grouped import by_row

from .written import written

WEIGHED = {"nll_loss.default": {2, 4}, "nll_loss.2d": {1}}
"""Cases whose weights this test hands over as an array that no tree can index; in a
program they are a tree, as in the last test."""

CASES = [
    (op, number)
    for op in OPS.values()
    if op.node is not None and is_differentiated(op)
    for number in range(len(op.cases))
    if number not in WEIGHED.get(op.name, ())
]


def with_numbers(spot: Spot) -> Iterator[Spot]:
    """The spot itself, then with one operand after the other as a plain number."""
    yield spot
    if not spot.op.elementwise or len(spot.free) < 2:
        return
    for at in spot.free:
        arrays, inputs = list(spot.arrays), list(spot.case.inputs)
        arrays[at], inputs[at] = np.array(np.ravel(arrays[at])[0]), None
        case = replace(spot.case, inputs=tuple(inputs))
        yield with_fields(spot, arrays=tuple(arrays), case=case)


def weights(y: Tensor) -> np.ndarray:
    return np.linspace(0.5, 1.5, y.numel())


def expected(spot: Spot) -> list[np.ndarray]:
    leaves, y = spot.run()
    output = flattened(y)
    found = grad([output], leaves, [Tensor(weights(output), NUMPY)])
    pairs = zip(leaves, found, strict=True)
    return [np.asarray(output.raw), *[
        np.zeros(x.shape) if g is None else np.asarray(g.raw) for x, g in pairs
    ]]  # fmt: skip


def program(spot: Spot, inputs: dict[str, Any]) -> tuple[list[str], str]:
    """The names of the value and of the gradients, and the text that computes them."""
    xp = TreeNamespace(words=True)
    given = {name: Tensor(xp.named(name, a), xp, True) for name, a in inputs.items()}
    with rows_as_calls():
        output = flat_output(spot, given)
        seed = Tensor(xp.array(weights(output)), xp)
        found = grad([output], list(given.values()), [seed])
    outputs = [("value", output.raw)] + [
        (f"{name}_grad", xp.zeros_like(x.raw) if g is None else g.raw)
        for (name, x), g in zip(given.items(), found, strict=True)
    ]
    steps = arranged(outputs, {}, LANGUAGE, FreshNames({*LANGUAGE.reserved, *given}))
    return [n for n, _ in outputs], "\n".join(f"{n} = {text}" for n, text in steps)


def read_back(text: str, inputs: dict[str, Any]) -> Any:
    names = {name: Tensor(a, NUMPY) for name, a in inputs.items()}
    library = TensorLibrary(Factory(NUMPY, "float64", 0))
    with default_dtype("float64"):
        return Machine(compile_program(parse(text, names)), names, library).run()


@by_row("op, number", CASES, lambda case: f"{case[0].name}-{case[1]}")
def test_code_is_read_back_to_the_same_numbers(op: Op, number: int) -> None:
    with np.errstate(all="ignore"):
        for spot in with_numbers(draw(op, number)):
            drawn = zip(spot.free, spot.values(), strict=True)
            inputs = {f"x{i}": np.asarray(a) for i, a in drawn}
            names, text = program(spot, inputs)
            found = read_back(text, inputs).environment
            for name, true in zip(names, expected(spot), strict=True):
                value = getattr(found[name], "raw", found[name])
                value = np.broadcast_to(value, true.shape)
                np.testing.assert_allclose(
                    value, true, rtol=1e-9, atol=1e-11, equal_nan=True, err_msg=text
                )


@pytest.mark.parametrize(
    "source",
    [
        "prelu(x, 0.25)", "prelu(2*x, 1/4)", "binom(x, 2)", "binom(5, x)", "gamma(x)",
        "x!", "factorial(x)*gamma(2)", "igamma(2.5, x*x)", "xlogy(x*x, 2)", "nCr(x, 3)",
    ],
)  # fmt: skip
def test_a_number_in_a_call_is_read_back(source: str) -> None:
    same_again(source, -1.25)


def test_weights_of_classes_are_read_back() -> None:
    source = "nll_loss(log_softmax(x, 1), [0, 1], tensor([0.5, 2.0]))"
    same_again(source, [[1.0, 2.0], [0.5, 3.0]])


def same_again(source: str, x: Any) -> None:
    made = written(source, {"x": x})
    lines = WantedCode(made.run, "gradcli").lines()
    found = read_back("\n".join(lines), {"x": np.array(x)}).environment
    value = getattr(found["x_grad"], "raw", found["x_grad"])
    np.testing.assert_allclose(value, made.results[1], rtol=1e-12)
