"""Operations on two operands of all types and ranks give PyTorch's numbers, types and
refusals."""

from __future__ import annotations

import operator
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.peers

TYPES = [
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool",
]  # fmt: skip
COUNT = 150
"""Cases of each function."""

OF_TWO = [
    "add", "sub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod",
    "atan2", "xlogy", "copysign", "maximum", "minimum", "fmax", "fmin", "hypot",
    "logaddexp", "eq", "ne", "lt", "le", "gt", "ge", "float_power", "heaviside",
    "nextafter", "max", "min", "pow",
]  # fmt: skip
SIGNS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor",
)  # fmt: skip
IN_PLACE = ["add_", "sub_", "mul_", "div_", "floor_divide_", "remainder_", "fmod_"]


def functions() -> dict[str, Callable[[Any, Any, Any], Any]]:
    found: dict[str, Callable[[Any, Any, Any], Any]] = {}
    for name in OF_TWO:
        found[name] = lambda lib, a, b, name=name: getattr(lib, name)(a, b)
    for name in SIGNS:
        found[f"sign {name}"] = lambda _, a, b, name=name: getattr(operator, name)(a, b)
    for name in IN_PLACE:
        found[name] = lambda _, a, b, name=name: getattr(a.clone(), name)(b)
    for mode in ("floor", "trunc"):
        found[f"div {mode}"] = lambda lib, a, b, mode=mode: lib.div(
            a, b, rounding_mode=mode
        )
    for name in ("xlog1py", "zeta"):
        found[f"special {name}"] = lambda lib, a, b, name=name: getattr(
            lib.special, name
        )(a, b)
    found["where"] = lambda lib, a, b: lib.where(lib.tensor([True, False]), a, b)
    found["clamp"] = lambda lib, a, b: lib.clamp(a, min=b)
    return found


FUNCTIONS = functions()


def operand(rng: random.Random, lone: bool) -> Any:
    """A Python number, or a type and one number or two."""
    kind = rng.choice(["number", "lone", "lone", "vector", "vector"] if lone else "lv")
    if kind == "number":
        return rng.choice([rng.randint(-5, 5), 0.5, -1.5, 2.0, 3.0, 300, -200, 1000])
    type_ = rng.choice(TYPES)
    if type_ == "bool":
        choose: list[Any] = [True, False]
    elif type_[0] == "f":
        choose = [0.0, 1.0, -1.0, 0.5, -2.5, 3.25, 0.1, 100.0]
    elif type_ == "uint8":
        choose = [0, 1, 2, 5, 7, 100, 200, 255]
    elif type_ == "int8":
        choose = [0, 1, -1, 2, -3, 5, 7, 100, -100, 127]
    else:
        choose = [0, 1, -1, 2, -3, 5, 7, 100, -100, 300, 1000, -1000]
    lone_one = kind in ("lone", "l")
    return type_, rng.choice(choose) if lone_one else rng.choices(choose, k=2)


def outcome(library: Any, name: str, a: Any, b: Any) -> Any:
    """The result, or None where it is refused."""
    a, b = (
        library.tensor(x[1], dtype=getattr(library, x[0])) if type(x) is tuple else x
        for x in (a, b)
    )
    try:
        with np.errstate(all="ignore"):
            return FUNCTIONS[name](library, a, b)
    except (RuntimeError, TypeError, NotImplementedError):
        return None


def departs(name: str, a: Any, b: Any) -> bool:
    """Whether a case is one in which gradcli is known to do something else."""
    alone = [x for x in (a, b) if type(x) is not tuple]
    types = {x[0] for x in (a, b) if type(x) is tuple}
    if name in ("heaviside", "nextafter", "max", "min", "where"):
        return bool(alone)  # numbers are taken, or refused, as tensors
    if types == {"bool"} and alone and "pow" in name:
        return True  # of the type of integers
    # PyTorch's quotient of a number by half floats is rounded once.
    halves = "float16" in types and name in ("div", "true_divide")
    return halves and type(a) is not tuple


@pytest.mark.parametrize("name", FUNCTIONS)
def test_types_and_ranks_meet_as_in_pytorch(name: str) -> None:
    rng, compared = random.Random(name), 0
    for _ in range(COUNT):
        a, b = operand(rng, False), operand(rng, True)
        if name.startswith("sign") and rng.random() < 0.3:
            a, b = b, a
        if type(a) is type(b) is not tuple or departs(name, a, b):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs, ours = outcome(torch, name, a, b), outcome(gradcli, name, a, b)
        if theirs is None and (type(a) is not tuple or type(b) is not tuple):
            continue  # numbers are taken as tensors here
        assert (ours is None) == (theirs is None), (name, a, b, ours, theirs)
        if ours is None:
            continue
        compared += 1
        assert str(ours.dtype) == str(theirs.dtype), (name, a, b)
        width = {"torch.float16": 1e-3, "torch.float32": 1e-6}.get(str(ours.dtype), 0)
        found, wanted = (np.asarray(t.numpy(), float) for t in (ours, theirs))
        np.testing.assert_allclose(found, wanted, max(width, 1e-13), err_msg=f"{a} {b}")
    assert compared > 10


def test_a_divisor_without_dimensions_keeps_its_digits_beside_half_floats() -> None:
    for library in (gradcli, torch):
        x = library.tensor([3.25, 0.1], dtype=library.float16)
        for divisor in (0.1, library.tensor(0.1), library.tensor(0.1).double()):
            assert library.floor_divide(x, divisor).tolist() == [32.0, 0.0]
