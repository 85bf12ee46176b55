"""PyTorch with some of its functions in other words: gradcli's conventions, stated.

Invariant: a rewriting is a formula of PyTorch's own operations whose derivatives, by
PyTorch's rules, are those that gradcli documents. Where two numbers differ and no
longer do once a function is rewritten, that convention is the whole difference.

    with InOtherWords(("fmax",)):
        torch.fmax(x, y)            # half the cotangent each at a tie
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import torch
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.random.outcome import Side

Run = Callable[..., Any]


def reduced(losses: Any, reduction: str) -> Any:
    return losses if reduction == "none" else getattr(losses, reduction)()


def clamped(run: Run, x: Any, min: Any = None, max: Any = None) -> Any:
    """At a bound, and at NaN, nothing passes."""
    if isinstance(min, torch.Tensor) and isinstance(max, torch.Tensor):
        return run(x, min, max)
    if isinstance(min, torch.Tensor) and max is None:
        return torch.maximum(x, min)
    if isinstance(max, torch.Tensor) and min is None:
        return torch.minimum(x, max)
    inside = torch.ones_like(x, dtype=torch.bool)
    if min is not None:
        inside = inside & (x > min)
    if max is not None:
        inside = inside & (x < max)
    return torch.where(inside, x, x.detach().clamp(min, max))


def larger(run: Run, a: Any, b: Any) -> Any:
    return torch.where(b.isnan(), a, torch.where(a.isnan(), b, torch.maximum(a, b)))


def smaller(run: Run, a: Any, b: Any) -> Any:
    return torch.where(b.isnan(), a, torch.where(a.isnan(), b, torch.minimum(a, b)))


def ranking(
    run: Run, x: Any, other: Any, target: Any, margin: float = 0, **how: Any
) -> Any:
    losses = clamped(run, -target * (x - other) + margin, 0)
    return reduced(losses, how.get("reduction", "mean"))


def hinge(run: Run, x: Any, target: Any, margin: float = 1.0, **how: Any) -> Any:
    apart = torch.where(target != 1, clamped(run, margin - x, 0), 0)
    close = torch.where(target != -1, x, 0)
    return reduced(apart + close, how.get("reduction", "mean"))


POLES = (float("-inf"), float("inf"))
"""What stands at a pole of an even and of an odd derivative, as the table says."""

FAR = 1e4
"""From here on PyTorch's series has all digits, and mpmath's takes its time."""


class Psi(torch.autograd.Function):
    """A derivative of log gamma, from mpmath; NaN at its poles."""

    @staticmethod
    def forward(ctx: Any, x: Any, n: int) -> Any:
        ctx.save_for_backward(x)
        ctx.n = n
        flat = [psi(n, v) for v in x.detach().double().reshape(-1).tolist()]
        return torch.tensor(flat, dtype=torch.float64).reshape(x.shape).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * Psi.apply(x, ctx.n + 1), None


def psi(n: int, x: float) -> float:
    if n < 0:
        return float(torch.lgamma(torch.tensor(x, dtype=torch.float64)))
    if x <= 0 and x == np.floor(x):
        return POLES[n % 2] if n or not x else float("nan")
    if abs(x) < FAR:
        return float(mpmath.psi(n, x))
    return float(torch.polygamma(n, torch.tensor(x, dtype=torch.float64)))


def sinc(run: Run, x: Any) -> Any:
    """By its series near 0."""
    t = torch.pi * x
    near = 1 - t * t / 6 + (t * t) ** 2 / 120
    far = torch.where(x == 0, 1, t)
    return torch.where(t.abs() < 1e-4, near, torch.sin(far) / far)


def product(run: Run, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """Factor by factor."""
    if dim is None:
        x, dim = x.reshape(-1), 0
    whole = torch.ones_like(x.sum(dim, keepdim))
    for part in x.unbind(dim) if x.ndim else (x,):
        whole = whole * (part.unsqueeze(dim) if keepdim and x.ndim else part)
    return whole


def running_product(run: Run, x: Any, dim: int) -> Any:
    if not x.ndim or not x.numel():
        return run(x, dim)
    found = [x.select(dim, 0)]
    for i in range(1, x.shape[dim]):
        found.append(found[-1] * x.select(dim, i))
    return torch.stack(found, dim)


class Entropy(torch.autograd.Function):
    """The cross entropy of probabilities: its divisor is at least 1e-12, nothing is
    added to it, and its logarithms end at -100."""

    @staticmethod
    def forward(ctx: Any, x: Any, target: Any) -> Any:
        ctx.save_for_backward(x, target)
        return F.binary_cross_entropy(x, target, reduction="none")

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, target = ctx.saved_tensors
        divisor = torch.maximum(x * (1 - x), torch.tensor(1e-12, dtype=x.dtype))
        floor = torch.tensor(-100.0, dtype=x.dtype)
        gap = torch.maximum(torch.log1p(-x), floor) - torch.maximum(x.log(), floor)
        return g * (x - target) / divisor, g * gap


def entropy(
    run: Run, x: Any, target: Any, weight: Any = None, *rest: Any, **how: Any
) -> Any:
    losses = Entropy.apply(x, target)
    losses = losses if weight is None else losses * weight
    return reduced(losses, how.get("reduction", "mean"))


def gelu(run: Run, x: Any, approximate: str = "none") -> Any:
    if approximate != "none":
        return run(x, approximate=approximate)
    return x / 2 * torch.erfc(-x / 2**0.5)


def log_sigmoid(run: Run, x: Any) -> Any:
    return -torch.where(x < 0, torch.log1p(x.exp()) - x, torch.log1p((-x).exp()))


def soft_margin(run: Run, x: Any, target: Any, **how: Any) -> Any:
    return reduced(-F.logsigmoid(target * x), how.get("reduction", "mean"))


def log_softmax(run: Run, x: Any, dim: int, **how: Any) -> Any:
    """The largest entry's own difference from the rest, which keeps its digits."""
    if not x.ndim or not x.numel():
        return run(x, dim)
    top = x.argmax(dim, keepdim=True)
    shifted = x - x.gather(dim, top)
    others = shifted.exp().scatter(dim, top, 0.0).sum(dim, keepdim=True)
    return shifted - torch.log1p(others)


def prelu(run: Run, x: Any, weight: Any) -> Any:
    """At 0 the slope on the left, as a number."""
    run(x, weight)
    if weight.numel() > 1:
        weight = weight.reshape(1, -1, *[1] * (x.ndim - 2))
    left = torch.where(x < 0, weight * x, weight.detach() * x)
    return torch.where(x > 0, x, left)


def overwritten(
    run: Run, x: Any, indices: Any, values: Any, accumulate: bool = False
) -> Any:
    """Of equal places the last is written, and the others get no gradient."""
    if accumulate:
        return run(x, indices, values, accumulate)
    places = torch.arange(x.numel()).reshape(x.shape)[tuple(indices)]
    spread = values.expand(places.shape).reshape(-1)
    last = {p: i for i, p in enumerate(places.reshape(-1).tolist())}
    flat = x.reshape(-1).clone()
    at, chosen = torch.tensor(list(last)), torch.tensor(list(last.values()))
    flat[at.long()] = spread[chosen.long()]
    return flat.reshape(x.shape)


def symmetric(run: Run, a: Any, *args: Any, **how: Any) -> Any:
    return run((a + a.mT) / 2, *args, **how)


def inside_domain(run: Run, x: Any) -> Any:
    out = x < 1
    none = torch.where(out, x, 1) * torch.where(out, torch.nan, 1)
    return torch.where(out, none, run(torch.where(out, 2, x)))


def apart(name: str) -> Run:
    """A measure of spread and the mean, each for itself."""
    return lambda run, x, *args, **how: (
        getattr(torch, name)(x, *args, **how),
        x.mean(
            *[a for a in args if not isinstance(a, bool)],
            **{k: v for k, v in how.items() if k in ("dim", "keepdim")},
        ),
    )


def from_first(run: Run, x: Any, *args: Any, **how: Any) -> Any:
    """Of what is left when the first entry is gone: 0 exactly, of equal entries."""
    dims = args[0] if args and not isinstance(args[0], bool) else how.get("dim")
    if not x.numel() or not x.ndim:
        return run(x, *args, **how)
    over = range(x.ndim) if dims is None else [dims] if isinstance(dims, int) else dims
    first = x.detach()
    for d in over:
        first = first.narrow(d, 0, 1)
    return run(x - first, *args, **how)


def extremum(name: str) -> Run:
    def run_apart(run: Run, x: Any, dim: Any = (), keepdim: bool = False) -> Any:
        """Entries that attain it share it; the others get 0."""
        over = tuple(range(x.ndim)) if dim == () else dim
        top = run(x.detach(), over, True)
        same = (x == top) | (x.isnan() & top.isnan())
        share = same.sum(over, True)
        y = torch.where(same, x / share, 0).sum(over, keepdim)
        exact = run(x.detach(), over, keepdim)
        return torch.where(exact.isfinite(), y + (exact - y).detach(), exact)

    return run_apart


def gathered(run: Run, x: Any, indices: Any, dim: int) -> Any:
    """By copies of both at one shape, so that each position is looked at."""
    shape = list(
        torch.broadcast_shapes(x.select(dim, 0).shape, indices.select(dim, 0).shape)
    )
    d = dim % x.ndim
    mine = x.expand(*shape[:d], x.shape[d], *shape[d:]).clone()
    at = indices.expand(*shape[:d], indices.shape[d], *shape[d:]).clone()
    return mine.gather(d, at)


def distances(run: Run, x1: Any, x2: Any, p: float = 2.0, **how: Any) -> Any:
    gaps = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.linalg.vector_norm(gaps, p, -1)


def trilinear(run: Run, a: Any, b: Any, weight: Any, bias: Any = None) -> Any:
    """The first operand with the weight, then with the second."""
    half = torch.tensordot(a, weight, ([-1], [1]))
    y = (half * b.unsqueeze(-2)).sum(-1)
    return y if bias is None else y + bias


REWRITTEN: dict[str, tuple[str, Run]] = {
    "clamp": ("ties", clamped), "clip": ("ties", clamped),
    "clamp_min": ("ties", lambda run, x, min: clamped(run, x, min)),
    "clamp_max": ("ties", lambda run, x, max: clamped(run, x, None, max)),
    "fmax": ("ties", larger), "fmin": ("ties", smaller),
    "margin_ranking_loss": ("ties", ranking), "hinge_embedding_loss": ("ties", hinge),
    "prelu": ("prelu at 0", prelu),
    "lgamma": ("trigamma", lambda run, x: Psi.apply(x, -1).clone()),
    "gammaln": ("trigamma", lambda run, x: Psi.apply(x, -1).clone()),
    "digamma": ("trigamma", lambda run, x: Psi.apply(x, 0).clone()),
    "psi": ("trigamma", lambda run, x: Psi.apply(x, 0).clone()),
    "polygamma": ("trigamma", lambda run, n, x: Psi.apply(x, n).clone()),
    "sinc": ("sinc at 0", sinc),
    "prod": ("products", product), "cumprod": ("products", running_product),
    "binary_cross_entropy": ("cross entropy of probabilities", entropy),
    "gelu": ("tails", gelu), "logsigmoid": ("tails", log_sigmoid),
    "soft_margin_loss": ("tails", soft_margin), "log_softmax": ("tails", log_softmax),
    "index_put": ("repeated places", overwritten),
    "cholesky": ("symmetric part", symmetric),
    "linalg_cholesky": ("symmetric part", symmetric),
    "acosh": ("outside the domain", inside_domain),
    "arccosh": ("outside the domain", inside_domain),
    "var_mean": ("mean beside a variance", apart("var")),
    "std_mean": ("mean beside a variance", apart("std")),
    "var": ("equal entries", from_first), "std": ("equal entries", from_first),
    "amax": ("extremum", extremum("amax")), "amin": ("extremum", extremum("amin")),
    "take_along_dim": ("positions beside broadcasting", gathered),
    "cdist": ("distance of infinities", distances),
    "bilinear": ("order of a product of three", trilinear),
}  # fmt: skip
"""By the function's name: the departure that it belongs to, and its other words."""


class InOtherWords(TorchFunctionMode):
    """Runs the rewriting of each of some functions in its place."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name not in self.names:
            return func(*args, **kwargs)
        if "input" in kwargs:
            args = (*args, kwargs.pop("input"))
        return REWRITTEN[name][1](func, *args, **kwargs)


class OneByOne(TorchDispatchMode):
    """Elementwise operations without the processor's vectors: on every other entry of
    a memory of twice the size."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if torch.Tag.pointwise in func.tags and not func._schema.is_mutable:
            args = [spaced(value) for value in args]
        return func(*args, **(kwargs or {}))


def spaced(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.dim() == 0:
        return value
    return torch.stack((value, value), -1)[..., 0]


class PowerOfTensors(TorchDispatchMode):
    """A power by a number as one by a tensor of that number: C's ``pow``, no roots."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func is torch.ops.aten.pow.Tensor_Scalar and args[0].is_floating_point():
            exponent = torch.full((), float(args[1]), dtype=args[0].dtype)
            return torch.ops.aten.pow.Tensor_Tensor(args[0], exponent)
        return func(*args, **(kwargs or {}))


def under(side: Side, mode: Callable[[], AbstractContextManager[Any]]) -> Side:
    """One of the libraries, run in a mode from the value to the last derivative."""

    def within(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            with mode():
                return call(*args)

        return run

    return replace(side, run=within(side.run), grad=within(side.grad))
