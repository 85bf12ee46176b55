"""What is no input of a row is no tensor that a gradient is asked for."""

from __future__ import annotations

from typing import Any

import pytest

import gradcli
from gradcli.engine.call import Signature
from gradcli.ops import OPS, Op, parameters

ROWS = [op for op in OPS.values() if not op.query and not op.variadic]
LEAF = gradcli.tensor(2.0, requires_grad=True)


def bound(op: Op, name: str, value: object) -> dict[str, Any]:
    """The parameters of a call of a row that gives one of them this value."""
    signature = Signature(op)
    case = op.cases[0]
    rest = signature.names[signature.inputs :]
    beside = {n: 0 for n in rest if n in signature.missing[signature.inputs]}
    call = {**beside, **case.params, name: value}
    return signature.bind((LEAF,) * signature.inputs, call)[1]


def test_no_parameter_is_a_tensor_that_a_gradient_is_asked_for() -> None:
    for op in ROWS:
        for name in parameters(op)[Signature(op).inputs :]:
            words = rf"^{op.base}\(\): argument '{name}' must be"
            with pytest.raises(TypeError, match=words):
                bound(op, name, LEAF)
            assert bound(op, name, LEAF.detach())[name] == LEAF.item()


def test_several_numbers_are_none() -> None:
    x = gradcli.tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"'beta' must be Number, .*; give"):
        gradcli.nn.functional.softplus(x, x)


@pytest.mark.parametrize("name", ["copysign", "heaviside"])
def test_a_number_before_a_tensor_is_of_its_type(name: str) -> None:
    found = getattr(gradcli, name)(-0.5, gradcli.tensor([1.0, -2.0]))
    assert found.dtype is gradcli.float32
