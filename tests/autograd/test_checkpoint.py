"""What is computed again for the reverse pass, and what is not kept until then."""

from __future__ import annotations

import gc
import weakref
from functools import partial
from typing import Any

import pytest

import gradcli as torch
from gradcli.autograd import grad
from gradcli.autograd.graph import saved_tensors_hooks
from gradcli.utils.checkpoint import (
    CheckpointError,
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
    set_checkpoint_debug_enabled,
)


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


class Kept:
    """Which intermediate values of a function's runs are still held."""

    def __init__(self) -> None:
        self.held: list[weakref.ref[Any]] = []

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        self.held.append(weakref.ref(y.raw))
        return y.sin()

    def alive(self) -> int:
        gc.collect()
        return sum(held() is not None for held in self.held)


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_values_inside_are_not_kept_until_the_reverse_pass(use_reentrant: bool) -> None:
    f = Kept()
    x = leaf(0.1, 0.2)
    y = checkpoint(f, x, use_reentrant=use_reentrant)
    assert (len(f.held), f.alive()) == (1, 0)
    y.sum().backward()
    assert (len(f.held), f.alive()) == (2, 0)
    assert torch.equal(x.grad, grad(f(x).sum(), x)[0])


def test_an_argument_that_was_changed_since_is_refused() -> None:
    x = leaf(0.1, 0.2)
    y = x * 1
    z = checkpoint(torch.sin, y, use_reentrant=False)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_arguments_inside_another_checkpoint_are_in_its_care() -> None:
    packed = []

    def pack(t: torch.Tensor) -> torch.Tensor:
        packed.append(t.tolist())
        return t

    x = leaf(0.5)
    with saved_tensors_hooks(pack, lambda t: t):
        checkpoint(torch.sin, x * 2, use_reentrant=False)
    assert packed == [[1.0]]


def test_higher_orders_go_through_checkpoints() -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        return (x.sin() * x).exp()

    x = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    y, plain = checkpoint(f, x, use_reentrant=False), f(x)
    for _ in range(3):
        (y,) = grad(y, x, create_graph=True)
        (plain,) = grad(plain, x, create_graph=True)
        assert y.item() == plain.item()


class Turning:
    """One thing in its first run, another from its second on."""

    def __init__(self, first: Any, then: Any) -> None:
        self.next, self.then = first, then

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        f, self.next = self.next, self.then
        return f(x)


@pytest.mark.parametrize("by_argument", [True, False])
def test_with_debug_an_error_lists_the_operations_of_both_runs(
    by_argument: bool,
) -> None:
    f = Turning(lambda x: x.exp().sin(), lambda x: x.exp())
    x = leaf(1.0)
    if by_argument:
        y = checkpoint(f, x, use_reentrant=False, debug=True)
    else:
        with set_checkpoint_debug_enabled(True):
            y = checkpoint(f, x, use_reentrant=False)
    with pytest.raises(CheckpointError) as caught:
        y.sum().backward()
    _, first, second = str(caught.value).split("\n\n")
    assert first.splitlines()[1:] == [
        "  1. exp of shapes [1]",
        "  2. sin of shapes [1]",
    ]
    assert second.splitlines()[1:] == ["  1. exp of shapes [1]"]


def test_what_is_kept_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from gradcli.engine import record

    ran: list[str] = []
    formula = record._formula

    def noting(op: Any, *rest: Any) -> Any:
        ran.append(op.name)
        return formula(op, *rest)

    monkeypatch.setattr(record, "_formula", noting)
    x = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)
    contexts = partial(
        create_selective_checkpoint_contexts, [torch.ops.aten.mm.default]
    )
    y = checkpoint(
        lambda x: (x @ x).exp() @ x, x, use_reentrant=False, context_fn=contexts
    )
    assert ran.count("mm") == 2
    y.sum().backward()
    assert ran.count("mm") == 2
    assert ran.count("exp") == 2
    assert torch.equal(x.grad, grad(((x @ x).exp() @ x).sum(), x)[0])


def test_a_region_with_a_policy_is_run_through_once() -> None:
    x = leaf(0.1, 0.2)
    contexts = partial(
        create_selective_checkpoint_contexts, lambda *_, **__: CheckpointPolicy(0)
    )
    y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False, context_fn=contexts)
    y.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        y.sum().backward()


def test_rows_have_pytorch_s_names() -> None:
    from gradcli.ops import OPS

    aten = torch.ops.aten
    assert aten.mm.default is OPS["mm"]
    assert aten.sum.dim_IntList is OPS["sum.dim_IntList"]
    with pytest.raises(AttributeError, match="has no operator 'nothing'"):
        _ = aten.nothing
