"""One layer with a cross-entropy loss: its functions, its gradients, and none."""

from __future__ import annotations

import re

import pytest

import gradcli as torch

cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits


@pytest.fixture(params=["at birth", "afterwards"])
def layer(request: pytest.FixtureRequest) -> dict[str, torch.Tensor]:
    """Inputs of ones, targets of zeros, weights drawn; gradients asked for twice."""
    torch.manual_seed(3)
    early = request.param == "at birth"
    w = torch.randn(5, 3, requires_grad=early)
    b = torch.randn(3, requires_grad=early)
    if not early:
        w.requires_grad_(True)
        b.requires_grad_(True)
    x, y = torch.ones(5), torch.zeros(3)
    z = torch.matmul(x, w) + b
    return {"x": x, "y": y, "w": w, "b": b, "z": z, "loss": cross_entropy(z, y)}


def test_results_name_the_functions_that_made_them(
    layer: dict[str, torch.Tensor],
) -> None:
    shown = f"Gradient function for z = {layer['z'].grad_fn}"
    assert re.fullmatch(r".* = <AddBackward0 object at 0x[0-9a-f]+>", shown)
    shown = f"Gradient function for loss = {layer['loss'].grad_fn}"
    name = "BinaryCrossEntropyWithLogitsBackward0"
    assert re.fullmatch(rf".* = <{name} object at 0x[0-9a-f]+>", shown)


def test_the_gradients_are_those_of_the_formula(layer: dict[str, torch.Tensor]) -> None:
    """``d loss / d z = sigmoid(z) / 3`` at targets of zero; inputs of one repeat it."""
    layer["loss"].backward()
    by_z = torch.sigmoid(layer["z"].detach()) / 3
    assert torch.allclose(layer["b"].grad, by_z, rtol=1e-6)
    assert torch.allclose(layer["w"].grad, by_z.expand(5, 3), rtol=1e-6)
    assert layer["w"].grad.shape == (5, 3)


def test_only_leaves_keep_a_gradient(layer: dict[str, torch.Tensor]) -> None:
    layer["loss"].backward()
    assert layer["x"].grad is None
    with pytest.warns(UserWarning, match="not a leaf"):
        assert layer["z"].grad is None


def test_the_loss_goes_backward_once_unless_its_graph_is_retained(
    layer: dict[str, torch.Tensor],
) -> None:
    layer["loss"].backward(retain_graph=True)
    once = layer["b"].grad.clone()
    layer["loss"].backward()
    assert torch.equal(layer["b"].grad, 2 * once)
    with pytest.raises(RuntimeError, match="a second time"):
        layer["loss"].backward()


def test_tracking_can_be_left_out_in_two_ways(
    layer: dict[str, torch.Tensor], capsys: pytest.CaptureFixture[str]
) -> None:
    x, w, b = layer["x"], layer["w"], layer["b"]
    print((torch.matmul(x, w) + b).requires_grad)
    with torch.no_grad():
        untracked = torch.matmul(x, w) + b
    print(untracked.requires_grad)
    cut = (torch.matmul(x, w) + b).detach()
    print(cut.requires_grad)
    assert capsys.readouterr().out.split() == ["True", "False", "False"]
    assert torch.equal(untracked, cut)


def test_a_frozen_layer_stays_and_the_rest_learns() -> None:
    torch.manual_seed(5)
    body, head = torch.randn(4, 4, requires_grad=True), torch.randn(4, 1)
    body.requires_grad_(False)
    head.requires_grad_(True)
    torch.matmul(torch.tanh(torch.matmul(torch.ones(4), body)), head).sum().backward()
    assert body.grad is None
    assert head.grad is not None


def test_backward_reads_the_functions_from_root_to_leaf(
    layer: dict[str, torch.Tensor],
) -> None:
    names = []
    nodes = [layer["loss"].grad_fn]
    while nodes:
        node = nodes.pop(0)
        names.append(type(node).__name__)
        nodes += [n for n, _ in node.next_functions if n is not None]
    assert names == [
        "BinaryCrossEntropyWithLogitsBackward0",
        "AddBackward0",
        "SqueezeBackward4",
        "AccumulateGrad",
        "MmBackward0",
        "AccumulateGrad",
    ]
