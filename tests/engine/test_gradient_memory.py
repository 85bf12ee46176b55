"""A gradient's memory is its leaf's own, also where it is what arrived itself."""

import numpy as np
import pytest

import gradcli


def leaf(shape=(3, 4)):
    return gradcli.ones(shape).requires_grad_()


def apart(*tensors):
    arrays = [t.detach().numpy() for t in tensors]
    return not any(
        np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[i + 1 :]
    )


def test_one_cotangent_on_two_edges_gives_two_memories():
    a, b = leaf(), leaf()
    ((a + b) * 2).sum().backward()
    assert apart(a, b, a.grad, b.grad)
    a.grad.zero_()
    assert (b.grad == 2).all()


def test_a_users_cotangent_is_copied():
    x, g = leaf(), gradcli.ones(3, 4)
    x.clone().backward(g)
    assert apart(x.grad, g)


def test_a_cotangent_that_a_hook_kept_is_copied():
    x, kept = leaf(), []
    y = x.clone()
    y.register_hook(kept.append)
    (y * 3).sum().backward()
    assert apart(x.grad, *kept)


def test_a_saved_value_is_copied():
    x = leaf()
    w = gradcli.full((3, 4), 3.0)
    y = (x * w).sum()
    y.backward(retain_graph=True)
    x.grad.zero_()
    y.backward()
    assert (w == 3).all()
    assert (x.grad == 3).all()
    assert apart(x.grad, w)


@pytest.mark.parametrize(
    "see",
    [
        lambda x: x.t(),
        lambda x: x.reshape(12),
        lambda x: x[1:],
        lambda x: x.expand(2, 3, 4),
    ],
    ids=["t", "reshape", "slice", "expand"],
)
def test_gradients_through_views_are_whole_and_in_order(see):
    x, other = leaf(), leaf()
    y = see(x)
    (y * 2 + see(other)).sum().backward()
    assert x.grad.is_contiguous()
    assert apart(x, other, x.grad, other.grad)
    x.grad.zero_()
    assert other.grad.sum() == y.numel()


def test_weights_of_a_layer_take_what_arrives():
    layer, x = gradcli.nn.Linear(4, 3), leaf((5, 4))
    layer(x).sum().backward()
    first = layer.weight.grad
    assert first.is_contiguous()
    assert (first == 5).all()
    layer(x).sum().backward()
    assert layer.weight.grad is first
    assert (first == 10).all()
    assert apart(layer.weight, layer.bias, first, layer.bias.grad, x, x.grad)
