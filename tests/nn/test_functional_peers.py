"""Functions of ``nn.functional`` agree with PyTorch's: values, graphs, both orders."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradcli

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore:reduction. .mean. divides"),
]

Formula = Callable[..., Any]
TOLERANCE = 1e-9
DEEPEST = 6

HALF, WHOLE = (0.1, 0.9), (-2.0, 2.0)
ROWS = [[1, 2], [1, 0]]
CLASSES = [1, 0, 3]


class Case:
    """A formula of the module in PyTorch's place, its ``F`` and float64 tensors."""

    def __init__(
        self, name: str, formula: Formula, *shapes: Any,
        bounds: tuple[float, float] = WHOLE, second: bool = True,
    ) -> None:  # fmt: skip
        self.name = name
        self.formula = formula
        self.shapes = shapes
        self.bounds = bounds
        self.second = second

    def arrays(self) -> list[Any]:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return [rng.uniform(*self.bounds, shape) for shape in self.shapes]


def plain(name: str, **options: Any) -> Case:
    label = "-".join([name, *map(str, options.values())])
    return Case(label, lambda t, f, x: getattr(f, name)(x, **options), (3, 4))


def in_place(name: str) -> Case:
    return Case(
        f"{name}-inplace", lambda t, f, x: getattr(f, name)(x * 1, inplace=True), (3, 4)
    )


def loss(name: str, how: str, bounds: tuple[float, float] = WHOLE, **more: Any) -> Case:
    def formula(t: Any, f: Any, x: Any, target: Any) -> Any:
        return getattr(f, name)(x, target.detach(), reduction=how, **more)

    return Case(f"{name}-{how}", formula, (3, 4), (3, 4), bounds=bounds)


def doubles(t: Any, values: Any) -> Any:
    return t.tensor(values, dtype=t.float64)


def signs(target: Any) -> Any:
    return target.detach().sign()


LAYERS = [
    Case("linear", lambda t, f, x, w, b: f.linear(x, w, b), (3, 4), (2, 4), (2,)),
    Case("bilinear", lambda t, f, a, b, w, c: f.bilinear(a, b, w, c),
         (2, 3), (2, 4), (5, 3, 4), (5,)),
    Case("bilinear-of-stacks", lambda t, f, a, b, w: f.bilinear(a, b, w),
         (2, 2, 3), (2, 2, 4), (5, 3, 4)),
    Case("layer_norm", lambda t, f, x, w, b: f.layer_norm(x, (4,), w, b),
         (3, 4), (4,), (4,)),
    Case("layer_norm-two-dims", lambda t, f, x, w: f.layer_norm(x, (3, 4), w, eps=0.1),
         (2, 3, 4), (3, 4)),
    Case("layer_norm-plain", lambda t, f, x: f.layer_norm(x, (4,)), (3, 4)),
    Case("batch_norm-training",
         lambda t, f, x, w, b: f.batch_norm(x, None, None, w, b, True),
         (3, 4), (4,), (4,)),
    Case("batch_norm-of-sequences",
         lambda t, f, x, w, b: f.batch_norm(x, None, None, w, b, True),
         (3, 4, 2), (4,), (4,)),
    Case("batch_norm-evaluation",
         lambda t, f, x, w, b: f.batch_norm(
             x, doubles(t, [0.5, 0.0, 1.0, -1.0]), doubles(t, [2.0, 1.0, 0.5, 3.0]),
             w, b),
         (3, 4), (4,), (4,)),
    Case("batch_norm-plain",
         lambda t, f, x: f.batch_norm(x, None, None, training=True), (3, 4)),
    Case("embedding", lambda t, f, w: f.embedding(t.tensor(ROWS), w), (4, 3)),
    Case("embedding-padding",
         lambda t, f, w: f.embedding(t.tensor(ROWS), w, padding_idx=-3), (4, 3)),
    Case("embedding-by-frequency",
         lambda t, f, w: f.embedding(t.tensor(ROWS), w, scale_grad_by_freq=True),
         (4, 3), second=False),
    Case("embedding-max_norm",
         lambda t, f, w: f.embedding(t.tensor(ROWS), w * 1, max_norm=0.5), (4, 3)),
    *[Case(f"embedding_bag-{mode}", lambda t, f, w, mode=mode: f.embedding_bag(
        t.tensor([2, 0, 0, 3]), w, t.tensor([0, 1, 1]), mode=mode, padding_idx=3),
        (4, 3), second=False) for mode in ("sum", "mean", "max")],
    Case("embedding_bag-weighed",
         lambda t, f, w, p: f.embedding_bag(
             t.tensor(ROWS), w, mode="sum", per_sample_weights=p),
         (4, 3), (2, 2), second=False),
    Case("normalize", lambda t, f, x: f.normalize(x), (3, 4)),
    Case("normalize-3", lambda t, f, x: f.normalize(x, p=3.0, dim=0), (3, 4)),
    Case("pad", lambda t, f, x: f.pad(x, (1, 2)), (3, 4)),
    Case("dropout-of-all", lambda t, f, x: f.dropout(x, 1.0), (3, 4)),
    Case("prelu", lambda t, f, x, w: f.prelu(x, w), (3, 4), (4,)),
    Case("cosine_similarity", lambda t, f, a, b: f.cosine_similarity(a, b),
         (3, 4), (3, 4)),
    Case("threshold", lambda t, f, x: f.threshold(x, 0.1, 2.0), (3, 4)),
    Case("softmax-dtype", lambda t, f, x: f.softmax(x, dim=1, dtype=t.float64), (3, 4)),
]  # fmt: skip

OF_ONE = (
    "relu relu6 elu selu celu gelu silu mish softplus softsign hardtanh tanh sigmoid "
    "logsigmoid hardshrink softshrink tanhshrink hardswish leaky_relu glu"
)
CHANGING = "relu relu6 silu mish hardtanh hardswish"
OF_PAIRS = "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss"

ACTIVATIONS = [
    *[plain(name) for name in OF_ONE.split()],
    *[plain(name, dim=1) for name in ("softmax", "log_softmax", "softmin")],
    plain("gelu", approximate="tanh"), plain("leaky_relu", negative_slope=0.3),
    plain("elu", alpha=2.0), plain("softplus", beta=2.0, threshold=1.0),
    *[in_place(name) for name in CHANGING.split()],
]  # fmt: skip

REDUCTIONS = ("mean", "sum", "none")
LOSSES = [
    case
    for how in REDUCTIONS
    for case in (
        *[loss(name, how) for name in OF_PAIRS.split()],
        loss("binary_cross_entropy", how, HALF),
        loss("kl_div", how, HALF),
        loss("poisson_nll_loss", how, HALF, full=True),
        Case(f"bce-logits-{how}",
             lambda t, f, x, y, how=how: f.binary_cross_entropy_with_logits(
                 x, y.detach(), reduction=how, pos_weight=doubles(t, 2.0)),
             (3, 4), (3, 4)),
        Case(f"nll_loss-{how}",
             lambda t, f, x, how=how: f.nll_loss(
                 x, t.tensor(CLASSES), reduction=how, ignore_index=1), (3, 4)),
        Case(f"cross_entropy-{how}",
             lambda t, f, x, how=how: f.cross_entropy(
                 x, t.tensor(CLASSES), reduction=how, label_smoothing=0.1,
                 weight=doubles(t, [1.0, 2.0, 3.0, 4.0])), (3, 4)),
        Case(f"gaussian_nll_loss-{how}",
             lambda t, f, x, y, v, how=how: f.gaussian_nll_loss(
                 x, y.detach(), v * v, reduction=how, full=True),
             (3, 4), (3, 4), (3, 4)),
        Case(f"hinge_embedding_loss-{how}",
             lambda t, f, x, y, how=how: f.hinge_embedding_loss(
                 x, signs(y), reduction=how), (3, 4), (3, 4)),
        Case(f"margin_ranking_loss-{how}",
             lambda t, f, x, y, z, how=how: f.margin_ranking_loss(
                 x, y, signs(z), margin=0.3, reduction=how),
             (3, 4), (3, 4), (3, 4)),
    )
] + [
    Case("mse_loss-weight", lambda t, f, x, y, w: f.mse_loss(x, y, weight=w),
         (3, 4), (3, 4), (3, 4)),
    Case("l1_loss-weight", lambda t, f, x, y, w: f.l1_loss(x, y, weight=w.detach()),
         (3, 4), (3, 4), (3, 4)),
    Case("huber_loss-weight",
         lambda t, f, x, y, w: f.huber_loss(x, y, weight=w.detach(), reduction="sum"),
         (3, 4), (3, 4), (3, 4)),
    Case("kl_div-batchmean-log",
         lambda t, f, x, y: f.kl_div(
             x, y.detach(), reduction="batchmean", log_target=True), (3, 4), (3, 4)),
]  # fmt: skip

CASES = [*LAYERS, *ACTIVATIONS, *LOSSES]


def graph(node: Any) -> list[str]:
    """The nodes above a result, each with its depth, in the order of their inputs."""
    lines, stack = [], [(node, 0)]
    while stack:
        at, depth = stack.pop()
        name = "None" if at is None else at.name().removeprefix("torch::autograd::")
        lines.append(f"{depth} {name}")
        if at is not None and depth < DEEPEST:
            stack.extend((n, depth + 1) for n, _ in reversed(at.next_functions))
    return lines


def numbers(value: Any) -> Any:
    return None if value is None else np.array((value + 0).tolist())


def outcome(torch: Any, case: Case) -> tuple[list[str], list[Any]]:
    """The graph, then the value and its derivatives of both orders as arrays."""
    leaves = [doubles(torch, a.tolist()).requires_grad_() for a in case.arrays()]
    y = case.formula(torch, torch.nn.functional, *leaves)
    v = torch.linspace(0.5, 1.5, y.numel(), dtype=torch.float64).reshape(y.shape)
    v.requires_grad_()
    first = torch.autograd.grad(y, leaves, v, create_graph=True, allow_unused=True)
    values = [y, *first]
    if case.second:
        length = sum((g * g).sum() for g in first if g is not None)
        values += torch.autograd.grad(length, [*leaves, v], allow_unused=True)
    return graph(y.grad_fn), [numbers(value) for value in values]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_function_has_pytorchs_graph_values_and_derivatives(case: Case) -> None:
    torch = pytest.importorskip("torch")
    theirs, expected = outcome(torch, case)
    ours, got = outcome(gradcli, case)
    assert ours == theirs
    for a, b in zip(got, expected, strict=True):
        # An unreached input has no gradient in one library and zeros in the other.
        known = np.zeros(1) if b is None else b
        given = np.zeros(1) if a is None else a
        assert np.allclose(given, known, rtol=TOLERANCE, atol=TOLERANCE)
