"""Programs that change values in place: what was saved before stays as it was."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import NUMPY, Tensor, grad
from gradcli.engine.forward import jvp
from gradcli.lang.bindings import read_bindings
from gradcli.lang.run import Session, evaluate, prepare

ROWS = "x.view(1, 1, 1, 2).expand(1, 1, 2, 2)"
RESIZED = f"interpolate({ROWS}, (1, 2), mode='area')"
"""A result whose dimensions of one entry have steps of their own in memory."""

GRADIENTS = {
    "y = x*1; y *= y; y.sum()": [6, 8],
    "y = x*1; y /= y; y.sum()": [0, 0],
    "y = x*2; y **= 2; y *= y; y.sum()": [1728, 4096],
    "y = x*1; z = y[:1]; z *= y[1:]; y.sum()": [4, 4],
    "y = x*1; z = y.reshape(2, 1); y *= y; (z*z).sum()": [108, 256],
    "y = exp(x*0); y *= 3; y *= x; y.sum()": [3, 3],
    "y = x*1; z = y*y; y += 1; z.sum()": [6, 8],
    "v = x*1; w = flip(v, (0,)); v *= 3; w.sum()": [1, 1],
    "v = x*1; d = detach(v); v *= 3; (d*x).sum()": [9, 12],
    "v = x*1; d = v.data; d *= 3; (v*x).sum()": [12, 16],
    "v = x*1; w = unfold(v, 0, 2, 1); v *= v; w.sum()": [6, 8],
    "i = tensor([0, 0]); y = x[i]; i += 1; y.sum()": [2, 0],
    "m = x > 3; y = where(m, x*x, x); y.sum()": [1, 8],
    f"y = {RESIZED}; y *= y; y.sum()": [6, 8],
    "y = x*1\nfor i in range(3): y *= x\ny.sum()": [108, 256],
}


@pytest.mark.parametrize("program", GRADIENTS)
def test_both_modes_are_right_where_values_are_changed(program: str) -> None:
    x = Tensor(np.array([3.0, 4.0]), NUMPY, True)
    y, _, _ = evaluate(program, {"x": x})
    pushed = [jvp([y], [x], [Tensor(row, NUMPY)])[0].item() for row in np.eye(2)]
    (pulled,) = grad([y], [x])
    assert pulled is not None
    np.testing.assert_allclose(pushed, GRADIENTS[program], atol=1e-12)
    np.testing.assert_allclose(pulled.raw, GRADIENTS[program], atol=1e-12)
    assert x.tolist() == [3, 4]


def test_each_run_starts_from_the_inputs_as_they_were_given() -> None:
    bindings = read_bindings(["A=[1,2]", "x=2"])
    again = Session(prepare("A += 1; (A*x).sum()", bindings, wrt=["x"]))
    assert [again().item() for _ in range(3)] == [10, 10, 10]
