"""Laws of changes in place: the same numbers, the same memory, a history of them."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import numpy as np
import pytest

import gradcli
from gradcli.engine.versions import MAX_CHANGES_TOLD_APART, version_at
from gradcli.ops import ALIASES, OPS
from gradcli.torch.public import has_in_place, names
from tests.grouped import by_row

OPERANDS: dict[str, tuple[Any, ...]] = {
    "addmm": (np.eye(2), np.eye(2)),
    "baddbmm": (np.ones((1, 2, 2)),) * 2,
    "cumsum": (0,), "cumprod": (0,), "lerp": (np.ones(2), 0.25),
    "index_add": (0, np.array([1, 0]), np.eye(2)),
    "index_copy": (0, np.array([1, 0]), np.eye(2)),
    "index_put": ((np.array([1, 0]),), np.eye(2)),
    "scatter": (0, np.array([[1, 0]]), 0.5),
    "scatter_add": (0, np.array([[1, 0]]), np.ones((1, 2))),
    "masked_fill": (np.array([True, False]), 0.5),
    "masked_scatter": (np.array([True, False]), np.ones(2)),
    "clamp": (0.2, 0.6), "clamp_min": (0.4,), "clamp_max": (0.4,),
    "hardtanh": (), "threshold": (0.4, 0.1), "addcmul": (np.ones(2), np.ones(2)),
    "addcdiv": (np.ones(2), np.ones(2)), "polygamma": None,
    "mvlgamma": (1,), "renorm": (2, 0, 0.5),
    "igamma": None, "igammac": None, "zeta": None,
}  # fmt: skip
"""The further operands; None: the function's first operand is no tensor, or has no
derivative."""


def operands_of(name: str) -> tuple[Any, ...] | None:
    given = OPERANDS.get(name, ())
    if given or name in OPERANDS:
        return given
    rows = [op for op in OPS.values() if op.base == name]
    many = bool(rows) and rows[0].partials is not None and len(rows[0].partials) == 2
    two = many or name in ("add", "sub", "mul", "div", "pow", "remainder", "fmod")
    return (np.array([0.5, 0.75]),) if two else ()


CASES = [
    (name, operands)
    for name in sorted(filter(has_in_place, names()))
    if (operands := operands_of(ALIASES.get(name, name))) is not None
]


def start(name: str, requires_grad: bool) -> gradcli.Tensor:
    shape = (1, 2, 2) if name == "baddbmm" else (2, 2)
    values = np.linspace(0.3, 0.7, int(np.prod(shape))).reshape(shape)
    return gradcli.tensor(values, requires_grad=requires_grad)


def as_tensors(operands: tuple[Any, ...]) -> list[Any]:
    return [gradcli.tensor(v) if isinstance(v, np.ndarray) else v for v in operands]


@by_row("name, operands", CASES, itemgetter(0), str)
def test_a_change_gives_what_the_function_gives(
    name: str, operands: tuple[Any, ...]
) -> None:
    x = start(name, False)
    view, before = x.view(-1), x._version
    wanted = getattr(x.clone(), name)(*as_tensors(operands))
    assert getattr(x, f"{name}_")(*as_tensors(operands)) is x
    np.testing.assert_array_equal(x.numpy(), wanted.to(x.dtype).numpy())
    np.testing.assert_array_equal(view.numpy(), x.numpy().reshape(-1))
    assert x._version == before + 1 == view._version


@by_row("name, operands", CASES, itemgetter(0), str)
def test_a_change_has_the_functions_gradient(
    name: str, operands: tuple[Any, ...]
) -> None:
    gradients = []
    for spelled in (name, f"{name}_"):
        x = start(name, True)
        y = getattr(x * 1, spelled)(*as_tensors(operands))
        if y.requires_grad:
            (y * y).sum().backward()
        gradients.append(x.grad)
    plain, changed = gradients
    if plain is not None:
        assert changed is not None
        np.testing.assert_allclose(changed.numpy(), plain.numpy(), rtol=1e-12)


def test_a_history_is_bounded_and_still_counts() -> None:
    x = gradcli.zeros(1)
    for _ in range(MAX_CHANGES_TOLD_APART + 10):
        x.add_(1)
    assert x._version == MAX_CHANGES_TOLD_APART + 10
    y = gradcli.ones(1, requires_grad=True) * x
    x.add_(1)
    assert version_at(x.raw, y.grad_fn.born) == MAX_CHANGES_TOLD_APART + 10
    told = f"version {MAX_CHANGES_TOLD_APART + 11}; expected"
    with pytest.raises(RuntimeError, match=told):
        y.backward()


def test_a_history_ends_with_its_memory() -> None:
    from gradcli.engine import versions

    before = len(versions._histories)
    for _ in range(50):
        gradcli.zeros(2).add_(1)
        gradcli.ones(2).sum().add_(1)
    assert len(versions._histories) <= before + 2


def test_many_views_leave_no_trace_when_they_are_gone() -> None:
    x = gradcli.arange(10_000.0)
    for i in range(10_000):
        x[i]
    assert len(x.views) < 200


def test_a_change_of_a_view_reaches_numpys_array_and_back() -> None:
    array = np.zeros((2, 3))
    x = gradcli.from_numpy(array)
    x.t()[1].fill_(5.0)
    array[0, 0] = 7.0
    assert x.tolist() == [[7.0, 5.0, 0.0], [0.0, 5.0, 0.0]] == array.tolist()


def test_read_only_memory_is_refused() -> None:
    array = np.zeros(2)
    array.flags.writeable = False
    with pytest.raises(RuntimeError, match="read-only"):
        gradcli.from_numpy(array).add_(1)
    assert array.tolist() == [0.0, 0.0]


def test_a_change_before_the_first_use_of_a_saved_value_is_never_missed() -> None:
    x = gradcli.ones(3, requires_grad=True)
    w = gradcli.full((3,), 2.0)
    y = (x * w).sum()
    for change in (
        lambda: w.mul_(2),
        lambda: w[:1].add_(1),
        lambda: w.view(3, 1).neg_(),
    ):
        change()
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward(retain_graph=True)


def test_parts_that_are_changed_have_their_gradients() -> None:
    def unbound(w: Any) -> Any:
        x = w * 1
        a, b, c = x.unbind(0)
        b.mul_(w[0])
        a.add_(c.clone() * w[1])
        return (x * x).sum() + (a * b).sum()

    def split(w: Any) -> Any:
        x = w * 2
        a, b = x.split(2)
        a[0] = w[2] * w[1]
        x.mul_(w[:1])
        return (a * a).sum() + (b * x[1]).sum()

    for f in (unbound, split):
        w = gradcli.tensor([1.3, -0.7, 2.1], dtype=gradcli.float64, requires_grad=True)
        assert gradcli.autograd.gradcheck(f, (w,))
