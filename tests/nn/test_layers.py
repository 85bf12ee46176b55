"""Layers that draw, that keep statistics, and how parameters begin."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gradcli as torch
from gradcli import nn
from gradcli.nn import functional as F


def test_dropout_keeps_the_mean_and_drops_entries_from_the_gradient() -> None:
    torch.manual_seed(0)
    x = torch.ones(20_000, requires_grad=True)
    y = F.dropout(x, 0.25)
    y.sum().backward()
    assert sorted(set(y.tolist())) == [0.0, pytest.approx(4 / 3)]
    assert x.grad.tolist() == y.tolist()
    assert abs(y.mean().item() - 1) < 4 * math.sqrt(0.25 / 0.75 / 20_000)


def test_dropout_of_nothing_and_in_evaluation_is_the_input_itself() -> None:
    x = torch.ones(3)
    assert F.dropout(x, 0.0) is x
    assert nn.Dropout(0.5).eval()(x) is x


def test_dropout_in_place_changes_its_input() -> None:
    x = torch.ones(1000)
    y = nn.Dropout(0.5, inplace=True)(x)
    assert y is x
    assert set(x.tolist()) == {0.0, 2.0}


def test_the_running_statistics_are_exponential_means_of_the_batches() -> None:
    torch.manual_seed(0)
    layer = nn.BatchNorm1d(3, momentum=0.2).double()
    mean, var = torch.zeros(3).double(), torch.ones(3).double()
    for _ in range(5):
        batch = torch.randn(7, 3, dtype=torch.float64)
        layer(batch)
        mean = 0.8 * mean + 0.2 * batch.mean(0)
        var = 0.8 * var + 0.2 * batch.var(0)
    assert torch.allclose(layer.running_mean, mean)
    assert torch.allclose(layer.running_var, var)
    assert layer.num_batches_tracked.item() == 5


def test_without_momentum_the_statistics_are_plain_means_of_the_batches() -> None:
    layer = nn.BatchNorm1d(2, momentum=None).double()
    batches = [torch.randn(4, 2, dtype=torch.float64) for _ in range(3)]
    for batch in batches:
        layer(batch)
    means = torch.stack([batch.mean(0) for batch in batches]).mean(0)
    assert torch.allclose(layer.running_mean, means)
    layer.reset_running_stats()
    assert layer.running_mean.tolist() == [0.0, 0.0]


def test_without_statistics_evaluation_uses_the_batch() -> None:
    layer = nn.BatchNorm1d(2, track_running_stats=False)
    x = torch.randn(5, 2)
    assert torch.equal(layer(x), layer.eval()(x))
    assert list(layer.state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize("shape", [(6, 4), (6, 4, 3)])
def test_a_normalised_batch_has_mean_0_and_variance_1_per_channel(shape: Any) -> None:
    x = torch.randn(shape, dtype=torch.float64) * 3 + 5
    y = nn.BatchNorm1d(4, eps=1e-12, dtype=torch.float64)(x)
    dims = tuple(d for d in range(len(shape)) if d != 1)
    assert torch.allclose(y.mean(dims), torch.zeros(4).double(), atol=1e-12)
    assert torch.allclose(y.var(dims, correction=0), torch.ones(4).double())


def test_a_layer_norm_does_not_see_scale_and_shift_of_its_input() -> None:
    x = torch.randn(3, 5, dtype=torch.float64)
    layer = nn.LayerNorm(5, eps=0.0, dtype=torch.float64)
    assert torch.allclose(layer(x * 7 + 2), layer(x))


def test_a_lookup_is_a_product_with_one_hot_rows() -> None:
    weight = torch.randn(5, 3)
    at = torch.tensor([[4, 0], [2, 2]])
    product = F.one_hot(at, 5).to(weight.dtype) @ weight
    assert torch.equal(F.embedding(at, weight), product)


def test_pretrained_rows_are_frozen_unless_asked() -> None:
    rows = torch.randn(4, 2)
    assert not nn.Embedding.from_pretrained(rows).weight.requires_grad
    assert nn.Embedding.from_pretrained(rows, freeze=False).weight.requires_grad


def test_rows_longer_than_max_norm_are_shortened_where_looked_up() -> None:
    table = nn.Embedding(3, 2, max_norm=1.0)
    nn.init.constant_(table.weight, 3.0)
    table(torch.tensor([0, 2]))
    lengths = table.weight.detach().norm(dim=1).tolist()
    assert lengths == pytest.approx([1.0, math.sqrt(18), 1.0], rel=1e-5)


def test_an_implicit_dimension_warns_and_is_pytorchs() -> None:
    x = torch.randn(2, 3)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax"):
        y = nn.Softmax()(x)
    assert torch.equal(y, F.softmax(x, dim=1))


def test_a_target_of_another_size_warns() -> None:
    with pytest.warns(UserWarning, match=r"target size \(torch.Size\(\[2, 1\]\)\)"):
        F.mse_loss(torch.ones(2), torch.ones(2, 1))


# how parameters begin

SHAPE = (400, 300)
FAN_IN, FAN_OUT = SHAPE[1], SHAPE[0]
DEVIATIONS = {
    "xavier_uniform_": (lambda w: nn.init.xavier_uniform_(w, gain=2.0),
                        2 * math.sqrt(2 / (FAN_IN + FAN_OUT))),
    "xavier_normal_": (nn.init.xavier_normal_, math.sqrt(2 / (FAN_IN + FAN_OUT))),
    "kaiming_uniform_": (lambda w: nn.init.kaiming_uniform_(w, a=math.sqrt(5)),
                         math.sqrt(2 / 6) / math.sqrt(FAN_IN)),
    "kaiming_normal_": (lambda w: nn.init.kaiming_normal_(
        w, mode="fan_out", nonlinearity="relu"), math.sqrt(2 / FAN_OUT)),
    "normal_": (lambda w: nn.init.normal_(w, std=0.3), 0.3),
    "uniform_": (lambda w: nn.init.uniform_(w, -1.0, 1.0), 1 / math.sqrt(3)),
    # The deviation of a normal distribution cut off at two deviations.
    "trunc_normal_": (lambda w: nn.init.trunc_normal_(w, std=0.5, a=-1.0, b=1.0),
                      0.5 * 0.8796),
    "orthogonal_": (nn.init.orthogonal_, 1 / math.sqrt(FAN_OUT)),
}  # fmt: skip


@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_filling_has_mean_0_and_the_deviation_of_its_formula(name: str) -> None:
    torch.manual_seed(0)
    fill, deviation = DEVIATIONS[name]
    w = nn.Parameter(torch.empty(SHAPE, dtype=torch.float64))
    assert fill(w) is w
    assert w.is_leaf
    assert w.requires_grad
    held = w.detach()
    assert abs(held.mean().item()) < 5 * deviation / math.sqrt(w.numel())
    assert held.std().item() == pytest.approx(deviation, rel=0.01)


def test_a_cut_off_filling_stays_within_its_ends() -> None:
    w = nn.init.trunc_normal_(torch.empty(10_000), mean=1.0, std=2.0, a=0.0, b=1.5)
    assert (w.min().item() >= 0, w.max().item() <= 1.5) == (True, True)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 2)])
def test_an_orthogonal_filling_has_orthonormal_rows_or_columns(shape: Any) -> None:
    w = nn.init.orthogonal_(torch.empty(shape, dtype=torch.float64), gain=2.0)
    matrix = w.reshape(shape[0], -1)
    if matrix.shape[0] > matrix.shape[1]:
        matrix = matrix.t()
    expected = 4 * torch.eye(matrix.shape[0], dtype=torch.float64)
    assert torch.allclose(matrix @ matrix.t(), expected, atol=1e-12)


def test_fillings_draw_from_the_generator_they_are_given() -> None:
    draws = [
        nn.init.normal_(torch.empty(4), generator=torch.Generator().manual_seed(7))
        for _ in range(2)
    ]
    assert torch.equal(*draws)


# gradients kept within bounds


def test_a_clipped_gradient_keeps_its_direction_and_loses_its_length() -> None:
    a, b = (torch.randn(3, requires_grad=True) for _ in range(2))
    (a * a + b**3).sum().backward()
    before = torch.cat([a.grad, b.grad])
    total = nn.utils.clip_grad_norm_([a, b], 0.1)
    after = torch.cat([a.grad, b.grad])
    assert total.item() == pytest.approx(before.norm().item(), rel=1e-5)
    assert after.norm().item() == pytest.approx(0.1, rel=1e-3)
    assert torch.allclose(after / after.norm(), before / before.norm())


def test_a_norm_that_is_no_number_is_an_error_where_asked() -> None:
    w = torch.tensor([1.0], requires_grad=True)
    w.grad = torch.tensor([float("inf")])
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_(w, 1.0, error_if_nonfinite=True)


def test_dropout_between_layers_is_drawn_in_training_alone() -> None:
    torch.manual_seed(0)
    net, x = nn.GRU(3, 8, 2, dropout=0.5), torch.ones(4, 1, 3)
    assert not torch.equal(net(x)[0], net(x)[0])
    net.eval()
    assert torch.equal(net(x)[0], net(x)[0])


def test_gumbel_softmax_draws_categories_in_proportion() -> None:
    torch.manual_seed(0)
    shares = torch.tensor([0.1, 0.2, 0.7], dtype=torch.float64)
    drawn = F.gumbel_softmax(shares.log().expand(20_000, 3), hard=True)
    assert torch.allclose(drawn.mean(0), shares, atol=0.02)
    logits = torch.zeros(1, 3, requires_grad=True)
    (F.gumbel_softmax(logits, hard=True) * torch.arange(3.0)).sum().backward()
    assert logits.grad.abs().sum().item() > 0


@pytest.mark.parametrize("library", ["gradcli", "torch"])
def test_dropout_of_the_library_itself_needs_all_three_arguments(library: str) -> None:
    module = pytest.importorskip(library)
    x = module.ones(1000)
    assert module.dropout(x, 0.5, False) is x
    y = module.dropout(x, p=0.5, train=True)
    assert {*y.tolist()} == {0.0, 2.0}
    assert not module.dropout(x, 1.0, True).any()
    with pytest.raises(RuntimeError, match="has to be between 0 and 1, but got 2"):
        module.dropout(x, 2.0, False)
    for given in ((x,), (x, 0.5)):
        with pytest.raises(TypeError, match="required positional"):
            module.dropout(*given)
