"""A program of large arrays is one kernel on a GPU, between its sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradcli as torch
from gradcli import compile
from gradcli.lang import in_parts
from tests.cupy_stand_in.counts import counting
from tests.cupy_stand_in.standing import is_real

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

PROGRAMS = {
    "(tanh(a*b + c)*exp(-a*a)).sum()": 1,
    "(sigmoid(a*b)*log(1 + c*c)).sum()": 1,
    "(relu(a*b) + abs(c)*sin(a)).sum()": 1,
    "gelu(a*b + c).sum()": 1,
    "where(a > b, a*c, exp(b)).sum()": 1,
    "((a - b)**2/(1 + c**2)).sum()": 1,
    "(softplus(a)*erf(b) + digamma(c*c + 1)).sum()": 1,
    "(a*b + c).mean()": 1,
    "sum((a - mean(a))**2)/sum(b*c)": 2,
    "log(sum(exp(a)*b + c))": 2,
    "(a*b*c).sum()*k + (abs(a)**k).sum()": 1,
}
"""How many passes over the arrays each program takes: one more for each sum of which
entries are computed."""


@pytest.mark.parametrize("text", PROGRAMS)
def test_values_and_gradients_take_one_kernel_for_each_pass(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_parts, "MIN_ENTRIES_IN_PARTS", 500)
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {name: rng.uniform(1, 2, (30, 50)) for name in "abc"}
    given |= {"k": 2.5} if "k" in text else {}
    here = compile(text).grad(**given)
    program = compile(text)
    moved = {n: torch.tensor(np.asarray(x), device="cuda") for n, x in given.items()}
    program.grad(**moved)
    with counting() as asked:
        there = program.grad(**moved)
    np.testing.assert_allclose(there.value.cpu().numpy(), here.value, 1e-12)
    for name, g in here.grads.items():
        found = there.grads[name]
        assert found.device.type == "cuda"
        np.testing.assert_allclose(found.cpu().numpy(), g, 1e-11, 1e-12)
    assert is_real() or asked.names["Gradients"] == PROGRAMS[text]


def test_a_program_without_a_kernel_of_its_own_runs_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_parts, "MIN_ENTRIES_IN_PARTS", 500)
    x = np.linspace(0, 1, 1000)
    here = compile("(sort(x)[0]*x).sum()").grad(x=x)
    there = compile("(sort(x)[0]*x).sum()").grad(x=torch.tensor(x, device="cuda"))
    np.testing.assert_allclose(there.grads["x"].cpu().numpy(), here.grads["x"])
