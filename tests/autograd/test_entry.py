"""`backward` and `grad`: what is reached, what is freed, and what is refused."""

from __future__ import annotations

import pytest

import gradcli as torch
from gradcli.autograd import backward, grad
from gradcli.autograd.graph import Node, get_gradient_edge


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, requires_grad=True)


def test_roots_add_up() -> None:
    a = torch.tensor(3.0, requires_grad=True)
    backward([a * 2, a * a, a.exp()], [None, torch.tensor(10.0), torch.tensor(0.0)])
    assert a.grad.item() == 2 + 10 * 6


def test_a_root_given_twice_counts_twice() -> None:
    a = torch.tensor(3.0, requires_grad=True)
    y = a * a
    backward([y, y])
    assert a.grad.item() == 12


def test_only_what_lies_between_runs_and_is_freed() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()
    z = (y * y).sum()
    (gy,) = grad(z, y)
    assert torch.equal(gy, 2 * y.detach())
    (gx,) = grad(y.sum(), x)
    assert torch.equal(gx, y.detach())


def test_hooks_beyond_the_inputs_are_not_called() -> None:
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 3
    y.register_hook(lambda g: seen.append("y"))
    x.register_hook(lambda g: seen.append("x"))
    grad((y * y).sum(), y)
    assert seen == ["y"]


def test_an_input_may_be_an_ancestor_of_another() -> None:
    x = leaf(1.0, 2.0)
    y = x * x
    z = y * 3
    gz, gy, gx = grad(z.sum(), (z, y, x))
    assert gz.tolist() == [1, 1]
    assert gy.tolist() == [3, 3]
    assert gx.tolist() == [6, 12]


def test_an_output_may_be_an_input() -> None:
    x = leaf(1.0, 2.0)
    y = x * 3
    assert grad(y, y, torch.ones(2))[0].tolist() == [1, 1]
    assert grad(x, x, torch.ones(2))[0].tolist() == [1, 1]


def test_one_of_several_outputs_of_a_node_may_be_an_input() -> None:
    x = leaf(3.0, 1.0, 2.0)
    values, _ = x.sort()
    first, second = x.split([1, 2])
    assert grad((values * values).sum(), values)[0].tolist() == [2, 4, 6]
    assert grad((second * second).sum(), second)[0].tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="not have been used"):
        grad((second * second).sum(), first)


def test_backward_into_inputs_touches_no_other_leaf() -> None:
    a, b = leaf(2.0), leaf(3.0)
    c = a * b
    backward(c * c, inputs=[a, c])
    assert a.grad.tolist() == [36]
    assert b.grad is None
    assert c.grad.tolist() == [12]


def test_backward_into_inputs_accumulates() -> None:
    a = leaf(2.0)
    for _ in range(3):
        backward(a * a, inputs=a)
    assert a.grad.tolist() == [12]


def test_a_batch_of_cotangents_gives_a_batch_of_gradients() -> None:
    x = leaf(1.0, 2.0, 3.0)
    y = x * x
    rows = torch.eye(3) * 2
    (batch,) = grad(y, x, rows, retain_graph=True, is_grads_batched=True)
    singly = [grad(y, x, row, retain_graph=True)[0] for row in rows]
    assert torch.equal(batch, torch.stack(singly))


def test_a_batch_may_be_recorded() -> None:
    x = leaf(1.0, 2.0)
    (batch,) = grad(x**3, x, torch.eye(2), create_graph=True, is_grads_batched=True)
    (second,) = grad(batch.sum(), x)
    assert second.tolist() == [6, 12]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda x: grad(x * 2, []),
            "argument to `grad..` cannot be empty",
        ),
        (lambda x: backward((x * 2).sum(), inputs=[]), "cannot be empty"),
        (lambda x: backward([(x * 2).sum()] * 2, [None]), "got 2 tensors and 1 grad"),
        (lambda x: grad(x * 2, x, [None]), "only for scalar outputs"),
        (lambda x: grad([x.sum(), torch.ones(1)], x), "element 1 of tensors does not"),
        (
            lambda x: grad((x * 2).sum(), x, torch.ones(2)),
            "grad_output.0. has a shape",
        ),
        (
            lambda x: grad(x * 2, x, torch.ones(2), is_grads_batched=True),
            "interpret the first dimension",
        ),
        (lambda x: grad((x * 2).sum(), torch.ones(1)), "does not require grad"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(RuntimeError, match=message):
        call(leaf(1.0, 2.0))


def test_unused_inputs_are_refused_none_or_zeros() -> None:
    a, b = leaf(2.0), leaf(3.0, 4.0)
    with pytest.raises(RuntimeError, match="Tensor at index 1 appears"):
        grad(a * 2, (a, b))
    assert grad(a * 2, (a, b), allow_unused=True)[1] is None
    assert grad(a * 2, (a, b), materialize_grads=True)[1].tolist() == [0, 0]
    with pytest.raises(ValueError, match="allow_unused to be True or not passed"):
        grad(a * 2, (a, b), allow_unused=False, materialize_grads=True)


def test_an_edge_stands_for_its_tensor() -> None:
    x = leaf(2.0)
    y = x * x
    loss = (y * 5).sum()
    of_y, of_x = get_gradient_edge(y), get_gradient_edge(x)
    assert of_y.node is y.grad_fn
    found = grad(loss, (of_y, of_x), retain_graph=True)
    assert [g.tolist() for g in found] == [[5], [20]]
    backward(loss, inputs=[of_x])
    assert x.grad.tolist() == [20]
    with pytest.raises(RuntimeError, match="does not require gradients"):
        get_gradient_edge(torch.ones(1))


def test_nodes_and_leaves_ends_are_nodes() -> None:
    x = leaf(2.0)
    y = x * x
    assert isinstance(y.grad_fn, Node)
    assert isinstance(y.grad_fn.next_functions[0][0], Node)
    assert not isinstance(x, Node)


def test_a_long_chain_is_walked_without_recursion() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    middle = x * 1
    y = middle
    for _ in range(100_000):
        y = y + 1
    assert grad(y, middle)[0].item() == 1
