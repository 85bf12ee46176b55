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
from itertools import permutations
from math import factorial
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
    """At a bound that is a number, and at NaN, nothing passes; at a tensor half."""
    if isinstance(min, torch.Tensor) and isinstance(max, torch.Tensor):
        within = beyond(beyond(x, min, x > min, x < min), max, x < max, x > max)
        alone = torch.where(x < min, min, torch.where(x > max, max, x))
        known = torch.where(min < max, within, torch.where(min > max, max, alone))
        lost = min.isnan() | max.isnan()
        return torch.where(lost, alone + torch.nan, known)
    if isinstance(min, torch.Tensor) and max is None:
        return beyond(x, min, x > min, x < min)
    if isinstance(max, torch.Tensor) and min is None:
        return beyond(x, max, x < max, x > max)
    inside = torch.ones_like(x, dtype=torch.bool)
    if min is not None:
        inside = inside & (x > min)
    if max is not None:
        inside = inside & (x < max)
    return torch.where(inside, x, x.detach().clamp(min, max))


def beyond(a: Any, b: Any, first: Any, second: Any) -> Any:
    """Return one of two, half of each where they are equal, and beside NaN both."""
    whole = torch.where(first, a, torch.where(second, b, (a + b) / 2))
    return torch.where(a.isnan() | b.isnan(), a + b, whole)


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
        if not n and not x:
            return float(-np.copysign(np.inf, x))
        return POLES[n % 2] if n else float("nan")
    if abs(x) < FAR:
        return float(mpmath.psi(n, x))
    return float(torch.polygamma(n, torch.tensor(x, dtype=torch.float64)))


def in_digits(name: str, function: Any) -> Any:
    """A function that PyTorch has few digits of, from mpmath where it is finite."""

    def rewritten(run: Run, x: Any) -> Any:
        known = getattr(torch.special, name)(x.detach())
        flat = [
            float(function(mpmath.mpf(v))) if np.isfinite(k) and abs(v) < FAR else k
            for v, k in zip(
                x.detach().double().reshape(-1).tolist(),
                known.double().reshape(-1).tolist(),
                strict=True,
            )
        ]
        return torch.tensor(flat, dtype=torch.float64).reshape(x.shape).to(known.dtype)

    return rewritten


def of_order(run: Run, *given: Any) -> Any:
    """As a function its order comes first, as a method the tensor."""
    x, n = sorted(given, key=lambda value: not isinstance(value, torch.Tensor))
    return Psi.apply(x, n).clone()


def sinc(run: Run, x: Any) -> Any:
    """By its series near 0, to the last digit."""
    t = torch.pi * x
    close = t.abs() < 0.5
    low = torch.where(close, t, 0)
    near = sum((-1) ** k * low ** (2 * k) / factorial(2 * k + 1) for k in range(9))
    far = torch.where(x == 0, 1, t)
    return torch.where(close, near, torch.sin(far) / far)


def product(
    run: Run, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None
) -> Any:
    """Factor by factor."""
    x = x if dtype is None else x.to(dtype)
    if dim is None:
        x, dim = x.reshape(-1), 0
    whole = torch.ones_like(x.sum(dim, keepdim))
    for part in x.unbind(dim) if x.ndim else (x,):
        whole = whole * (part.unsqueeze(dim) if keepdim and x.ndim else part)
    return whole


def running_product(run: Run, x: Any, dim: int, dtype: Any = None) -> Any:
    x = x if dtype is None else x.to(dtype)
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
    whole = tuple(slice(None) if i is None else i for i in indices)
    places = torch.arange(x.numel()).reshape(x.shape)[whole]
    spread = values.expand(places.shape).reshape(-1)
    last = {p: i for i, p in enumerate(places.reshape(-1).tolist())}
    flat = x.reshape(-1).clone()
    at, chosen = torch.tensor(list(last)), torch.tensor(list(last.values()))
    flat[at.long()] = spread[chosen.long()]
    return flat.reshape(x.shape)


def symmetric_if(
    run: Run, a: Any, *args: Any, hermitian: bool = False, **how: Any
) -> Any:
    a = (a + a.mT) / 2 if hermitian else a
    return run(a, *args, hermitian=hermitian, **how)


def with_signs(v: Any, like: Any) -> Any:
    """The signs by which columns of vectors are those of others."""
    known = torch.as_tensor(np.asarray(like))
    return torch.where((v.detach() * known).sum(-2, keepdim=True) < 0, -1, 1).to(v)


def of_lapack(run: Run, a: Any, *args: Any, **how: Any) -> Any:
    """Return the vectors with the signs of NumPy's."""
    values, vectors = run(a)
    known = np.linalg.eigh(a.detach().numpy())[1]
    return values, vectors * with_signs(vectors, known)


def into_vectors(run: Run, a: Any, *args: Any, **how: Any) -> Any:
    """The vectors with the signs of NumPy's."""
    u, s, v = run(a, *args, **how)
    known = np.linalg.svd(a.detach().numpy(), full_matrices=u.shape[-1] > s.shape[-1])
    signs = with_signs(u, known[0])
    count = v.shape[-2] if "linalg" in run.__name__ else v.shape[-1]
    turned = torch.ones(count).to(v)
    turned = turned.expand(*signs.shape[:-2], 1, count).clone()
    turned[..., : s.shape[-1]] = signs[..., : s.shape[-1]]
    return u * signs, s, v * (turned.mT if "linalg" in run.__name__ else turned)


def from_triangle(slot: int) -> Run:
    """The other triangle of the factor is not read."""

    def run_with(run: Run, *args: Any, upper: bool = False, **how: Any) -> Any:
        *given, upper = (*args, upper) if len(args) == slot + 1 else args
        factor = given[slot].triu() if upper else given[slot].tril()
        return run(*given[:slot], factor, upper=upper, **how)

    return run_with


def by_permutations(run: Run, a: Any) -> Any:
    """The sum of the signed products of an entry from each row."""
    n = a.shape[-1]
    if not 0 < n <= MOST_PERMUTED:
        return run(a)
    total = 0 * run(a.detach())
    for order in permutations(range(n)):
        swaps = sum(i > j for nr, j in enumerate(order) for i in order[:nr])
        term = product(run, a[..., range(n), order], -1)
        total = total + (-1) ** swaps * term
    return total


MOST_PERMUTED = 4
"""Rows, of which there are n! permutations."""


def or_none(run: Run, a: Any, **how: Any) -> Any:
    """Return the factor; NaN where the matrix is not positive definite."""
    found, info = run(a, **how)
    return found * torch.where(info[..., None, None] == 0, 1.0, torch.nan), info


def inside_domain(run: Run, x: Any) -> Any:
    out = x < 1
    none = torch.sqrt(torch.where(out, x - 2, 1))
    return torch.where(out, none, run(torch.where(out, 2, x)))


def apart(name: str) -> Run:
    """A measure of spread and the mean, each for itself."""
    return lambda run, x, *args, **how: (
        from_first(getattr(torch, name), x, *args, **how),
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
    if dims is None and how.get("correction") is not None:
        how["dim"] = tuple(over)
        args = ()
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


def of_numbers(run: Run, x: Any, *args: Any, **how: Any) -> Any:
    """NaN passes nothing on, in derivatives of every order."""
    return torch.where(x.isnan(), 0, x).sum(*args, **how)


def by_reciprocals(run: Run, a: Any) -> Any:
    """By elimination with the reciprocals of the pivots, the largest of each column."""
    rows, size, sign = a.clone(), torch.zeros(a.shape[:-2], dtype=a.dtype), 1.0
    if a.ndim != 2 or not a.numel():
        return run(a)
    for k in range(len(rows)):
        best = k + int(rows[k:, k].detach().abs().argmax())
        order = [*range(len(rows))]
        order[k], order[best] = best, k
        rows = rows[order]
        factors = rows[:, k] * (1 / rows[k, k])
        below = (torch.arange(len(rows)) > k).to(a.dtype)
        sign = sign * torch.sign(rows[k, k]) * (1 if best == k else -1)
        size = size + rows[k, k].abs().log()
        rows = rows - (below * factors)[:, None] * rows[k]
    return torch.return_types.slogdet((sign + 0 * size, size))


def normalized(
    run: Run, x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Any = None
) -> Any:
    """A length below the least one counts as that, in derivatives of every order."""
    short = torch.linalg.vector_norm(x.detach(), p, dim, True) <= eps
    size = torch.linalg.vector_norm(torch.where(short, 1, x), p, dim, True)
    return x / torch.where(short, eps, size)


def apart_by(run: Run, a: Any, b: Any, p: float = 2) -> Any:
    """Of equal tensors a constant, in derivatives of every order."""
    gap = a - b
    return run(a, b, p) if bool((gap != 0).any()) else (gap * 0).sum()


def cosine(run: Run, x: Any, other: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """A length below the least one counts as that, in derivatives of every order."""

    def unit(v: Any) -> Any:
        short = torch.linalg.vector_norm(v.detach(), 2, dim, True) <= eps
        size = torch.linalg.vector_norm(torch.where(short, 1, v), 2, dim, True)
        return v / torch.where(short, eps, size)

    x, other = torch.broadcast_tensors(x, other)
    return (unit(x) * unit(other)).sum(dim)


def distances(run: Run, x1: Any, x2: Any, p: float = 2.0, **how: Any) -> Any:
    """A distance of 0 is a constant, in derivatives of every order."""
    gaps = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    none = (gaps == 0).all(-1, True)
    sizes = torch.linalg.vector_norm(torch.where(none, 1, gaps), p, -1)
    return torch.where(none.squeeze(-1), 0, sizes)


def logit(run: Run, x: Any, eps: Any = None) -> Any:
    """Nothing passes beyond the bounds, in derivatives of every order."""
    if eps is None:
        return run(x)
    inside = (x >= eps) & (x <= 1 - eps)
    return torch.where(inside, run(torch.where(inside, x, 0.5)), run(x.detach(), eps))


class SumOfPowers(torch.autograd.Function):
    """log(e**a + e**b), whose derivatives are those of the logistic function."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, run: Run, scale: float) -> Any:
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return run(a, b)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, b = ctx.saved_tensors
        there = (a - b) * ctx.scale
        pair = g * torch.sigmoid(there), g * torch.sigmoid(-there)
        return pair[0].sum_to_size(a.shape), pair[1].sum_to_size(b.shape), None, None


def sum_of_powers(base: float) -> Run:
    return lambda run, a, b: SumOfPowers.apply(a, b, run, float(np.log(base)))


class Power(torch.autograd.Function):
    """A power of 0 is a constant of its exponent, but for a negative one. A power by 0
    has a derivative of 0 by its base where that has no finite reciprocal; elsewhere
    both mixed second derivatives are 1/a."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        ctx.save_for_backward(a, b)
        return torch.pow(a, b)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, b = ctx.saved_tensors
        lost = (b == 0) & ~(1 / a).isfinite()
        less = torch.where(lost, 1, b) - 1
        by_a = torch.where(lost, 0, b) * Power.apply(torch.where(lost, 1, a), less)
        by_b = Power.apply(a, b) * torch.log(torch.where((a == 0) & (b >= 0), 1, a))
        return (g * by_a).sum_to_size(a.shape), (g * by_b).sum_to_size(b.shape)


def power(run: Run, a: Any, exponent: Any) -> Any:
    if not isinstance(exponent, torch.Tensor):
        return run(a, exponent)
    base = a if isinstance(a, torch.Tensor) else torch.tensor(a, dtype=exponent.dtype)
    if run.__name__.startswith("float_power"):
        base, exponent = base.double(), exponent.double()
    return Power.apply(base, exponent)


def raised(run: Run, a: Any, b: Any) -> Any:
    """In place."""
    return a.copy_(power(torch.pow, a.clone(), b.clone() if b is a else b))


def of_vector(
    run: Run, x: Any, a: Any, b: Any, *, beta: float = 1, alpha: float = 1
) -> Any:
    """The product for itself, and its shape with it."""
    return beta * x + alpha * torch.mv(a, b)


def both_ends(run: Run, x: Any, *, dim: Any = None, keepdim: bool = False) -> Any:
    over = () if dim is None else (dim,)
    return tuple(
        extremum(name)(getattr(torch, name), x, over, keepdim)
        for name in ("amin", "amax")
    )


def of_sums(run: Run, x: Any, order: Any = "fro", *rest: Any, **how: Any) -> Any:
    """The largest or the smallest sum of sizes along a line, by its own words."""
    if isinstance(order, str) or abs(order) not in (1, float("inf")):
        return run(x, order, *rest, **how)
    dims = [d % x.ndim for d in (rest[0] if rest else how.get("dim", (-2, -1)))]
    keepdim = rest[1] if len(rest) > 1 else how.get("keepdim", False)
    along, over = dims if abs(order) == 1 else dims[::-1]
    sums = x.abs().sum(along, True)
    name = "amax" if order > 0 else "amin"
    y = extremum(name)(getattr(torch, name), sums, (over,), True)
    return y if keepdim else y.squeeze(tuple(dims))


def running_sum(run: Run, x: Any, dim: int) -> Any:
    """Each sum of powers for itself."""
    if not x.ndim or not x.numel():
        return run(x, dim)
    ends = range(1, x.shape[dim] + 1)
    return torch.stack([x.narrow(dim, 0, n).logsumexp(dim) for n in ends], dim)


def softplus(run: Run, x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """At the threshold the derivatives of every order are those of the curve."""
    curve = run(x, beta, torch.inf)
    return torch.where(x * beta > threshold, x, curve)


def signed(run: Run, x: Any, other: Any) -> Any:
    """The derivatives at 0 are 0, in every order."""
    sign = torch.where(torch.as_tensor(other).signbit(), -1, 1)
    return torch.where(x == 0, run(x.detach(), other), sign * x.abs())


def mish(run: Run, x: Any, inplace: bool = False) -> Any:
    return x * torch.tanh(F.softplus(x))


def crossed(run: Run, a: Any, b: Any, dim: Any = None) -> Any:
    """Both products rounded before one is taken from the other."""
    a, b = torch.broadcast_tensors(a, b)
    at = (
        dim
        if dim is not None
        else (-1 if run is torch.linalg.cross else list(a.shape).index(3))
    )
    a, b = ([v.select(at, i) for i in range(3)] for v in (a, b))
    pairs = ((1, 2), (2, 0), (0, 1))
    return torch.stack([a[i] * b[j] - a[j] * b[i] for i, j in pairs], at)


def by_groups(
    run: Run, x: Any, groups: int, weight: Any = None, bias: Any = None,
    eps: float = 1e-5, *rest: Any,
) -> Any:  # fmt: skip
    """Step by step."""
    run(x, groups, weight, bias, eps)
    parts = x.reshape(x.shape[0], groups, -1)
    apart = parts - parts.mean(-1, keepdim=True)
    scale = torch.rsqrt((apart * apart).mean(-1, keepdim=True) + eps)
    y = (apart * scale).reshape(x.shape)
    wide = (1, -1, *[1] * (x.ndim - 2))
    y = y if weight is None else y * weight.reshape(wide)
    return y if bias is None else y + bias.reshape(wide)


def in_order(
    run: Run, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """Of equal entries the first."""
    if not x.ndim:
        return run(x, k, dim, largest, sorted)
    values, at = torch.sort(x, dim=dim, descending=largest, stable=True)
    return values.narrow(dim, 0, k), at.narrow(dim, 0, k)


def ranked(run: Run, x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Of equal entries the first of a stable order."""
    run(x, k, dim, keepdim)
    if not x.ndim:
        return x, torch.zeros((), dtype=torch.int64)
    values, places = torch.sort(x, dim=dim, stable=True)
    found = [part.narrow(dim, k - 1, 1) for part in (values, places)]
    return tuple(part if keepdim else part.squeeze(dim) for part in found)


def put(run: Run, x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Of equal places the last is written, and the others get no gradient."""
    flat = overwritten(torch.index_put, x.reshape(-1), (index.reshape(-1),),
                       source.reshape(-1), accumulate)  # fmt: skip
    return flat.reshape(x.shape)


def running_total(run: Run, x: Any, dim: int, **how: Any) -> Any:
    """From the first entry on, whose sign stays where it is -0."""
    if not x.ndim or not x.numel():
        return run(x, dim, **how)
    parts = list(x.unbind(dim))
    for nr, part in enumerate(parts[1:], 1):
        parts[nr] = parts[nr - 1] + part
    return torch.stack(parts, dim)


def commonest(run: Run, x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    """No NaN is equal to another, and each is larger than all numbers."""
    if not x.ndim:
        return run(x, dim, keepdim)
    large = torch.finfo(x.dtype).max / (2 + torch.arange(x.numel()).reshape(x.shape))
    at = torch.where(x.isnan(), large, x).mode(dim, True).indices
    values = x.gather(dim, at)
    return (values, at) if keepdim else (values.squeeze(dim), at.squeeze(dim))


def placed(run: Run, *tensors: Any) -> Any:
    """Each block with zeros around it."""
    run(*tensors)
    blocks = [t if t.ndim == 2 else t.reshape(1, -1) for t in tensors]
    rows, columns = (sum(b.shape[d] for b in blocks) for d in (0, 1))
    y, row, column = torch.zeros(rows, columns), 0, 0
    for b in blocks:
        n, m = b.shape
        wide = (column, columns - column - m, row, rows - row - n)
        y = y + F.pad(b, wide)
        row, column = row + n, column + m
    return y


def of_gammas(run: Run, x: Any, p: int) -> Any:
    """By the logarithms of gamma functions, whose derivatives are exact."""
    run(x, p)
    logs = sum(Psi.apply(x - j / 2, -1) for j in range(p))
    return logs + p * (p - 1) / 4 * np.log(np.pi)


def in_double(run: Run, x: Any) -> Any:
    """With the range of doubles."""
    return run(x.double()).to(x.dtype)


def odd_bessel(run: Run, x: Any) -> Any:
    """With the range of doubles; the slope at NaN is NaN."""
    return torch.where(x.isnan(), x * x, in_double(run, x))


def log_of_normal(run: Run, x: Any) -> Any:
    """With the range of doubles far out, and the derivative by the density above 1."""
    wide = x.double() if x.numel() and x.detach().abs().max() > FAR_OUT else x
    return LogOfNormal.apply(wide, run(wide.detach())).to(x.dtype)


FAR_OUT = 1e30
"""Beyond this a reciprocal of float32 has few digits."""


class LogOfNormal(torch.autograd.Function):
    """The logarithm of the normal distribution function."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        ctx.save_for_backward(x, y)
        return y.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        above = torch.exp(-x * x / 2 - LogOfNormal.apply(x, y)) / (2 * torch.pi) ** 0.5
        low = torch.where(x < 1, x, 0)
        below = (2 / torch.pi) ** 0.5 / torch.special.erfcx(-low / 2**0.5)
        return g * torch.where(x < 1, below, torch.where(x < 1, 0, above)), None


def incomplete(sign: int) -> Run:
    """The derivative of an incomplete gamma function, the power of 0 by 0 being 1."""
    return lambda run, a, x: Incomplete.apply(a, x, share(run, a, x, sign), sign)


def share(run: Run, a: Any, x: Any, sign: int) -> Any:
    """An incomplete gamma function with all its digits, from mpmath."""
    found = run(a, x).detach()
    orders, places = torch.broadcast_tensors(a.detach(), x.detach())
    flat = found.reshape(-1).clone()
    pairs = zip(orders.reshape(-1).tolist(), places.reshape(-1).tolist(), strict=True)
    for nr, (order, place) in enumerate(pairs):
        if order > 0 and 0 < place < FAR:
            ends = (0, place) if sign > 0 else (place, mpmath.inf)
            flat[nr] = float(mpmath.gammainc(order, *ends, regularized=True))
    return flat.reshape(found.shape)


class Incomplete(torch.autograd.Function):
    """An incomplete gamma function of ``x`` of the order ``a``; its value is known."""

    @staticmethod
    def forward(ctx: Any, a: Any, x: Any, y: Any, sign: int) -> Any:
        ctx.save_for_backward(a, x)
        ctx.sign, ctx.wants = sign, a.requires_grad
        return y.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, x = ctx.saved_tensors
        if ctx.wants:
            raise NotImplementedError(
                "the derivative for 'igamma: input' is not implemented"
            )
        slope = torch.exp(torch.xlogy(a - 1, x) - x - torch.lgamma(a))
        slope = torch.where(x < 0, torch.nan, ctx.sign * g * slope)
        return None, slope.sum_to_size(x.shape), None, None


def by_series(run: Run, a: Any) -> Any:
    """By the series of a small part of each matrix, squared as often as it takes."""
    run(a)
    if a.ndim > 2 and a.numel():
        return torch.stack([by_series(run, matrix) for matrix in a])
    size = a.detach().abs().sum(-1).amax() if a.numel() else torch.zeros(())
    if not size.isfinite():
        return run(a)
    halvings = max(0, int(torch.log2(size + 1e-300)) + 4)
    small = a / 2.0**halvings
    found = term = torch.eye(a.shape[-1], dtype=a.dtype).expand(a.shape)
    for n in range(1, 20):
        term = term @ small / n
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found


def of_no_entries(run: Run, x: Any, *given: Any, **named: Any) -> Any:
    """A copy: no factor is read."""
    return run(x, *given, **named) if x.numel() else x.clone()


class Floored(torch.autograd.Function):
    """`//`, whose derivative is 0."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, run: Run) -> Any:
        ctx.shapes = [getattr(operand, "shape", None) for operand in (a, b)]
        y = run(a, b)
        if y is a:
            ctx.mark_dirty(a)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return *[
            None if shape is None else torch.zeros(shape, dtype=g.dtype)
            for shape in ctx.shapes
        ], None


Floored._backward_cls.__name__ = "NotImplemented"  # what PyTorch calls its node


def floored(run: Run, a: Any, b: Any, **how: Any) -> Any:
    if not torch.is_grad_enabled():
        return run(a, b)
    return Floored.apply(a, b, run)


def remaining(run: Run, a: Any, b: Any) -> Any:
    """Of a number, as of a tensor."""
    if isinstance(a, torch.Tensor):
        return run(a, b)
    return torch.remainder(torch.tensor(a, dtype=b.dtype), b)


NO_DERIVATIVE: dict[str, Run] = {
    "floor_divide": floored, "floor_divide_": floored, "__floordiv__": floored,
    "__ifloordiv__": floored,
    "__rfloordiv__": lambda run, a, b: floored(torch.floor_divide, b, a),
    "remainder": remaining, "__rmod__": lambda run, a, b: remaining(run, b, a),
}  # fmt: skip
"""Functions whose derivatives PyTorch has not written, with them."""

REWRITTEN: dict[str, tuple[str, Run]] = {
    "clamp": ("ties", clamped), "clip": ("ties", clamped),
    "clamp_min": ("ties", lambda run, x, min: clamped(run, x, min)),
    "clamp_max": ("ties", lambda run, x, max: clamped(run, x, None, max)),
    "fmax": ("ties", larger), "fmin": ("ties", smaller),
    "margin_ranking_loss": ("ties", ranking), "hinge_embedding_loss": ("ties", hinge),
    "prelu": ("prelu at 0", prelu),
    "lgamma": ("trigamma", lambda run, x: Psi.apply(x, -1).clone()),
    "digamma": ("trigamma", lambda run, x: Psi.apply(x, 0).clone()),
    "polygamma": ("trigamma", of_order), "mvlgamma": ("trigamma", of_gammas),
    **{
        name: ("few digits", in_digits(name, function))
        for name, function in (
            ("bessel_j0", lambda v: mpmath.besselj(0, v)),
            ("bessel_j1", lambda v: mpmath.besselj(1, v)),
            ("bessel_y0", lambda v: mpmath.bessely(0, v)),
            ("bessel_y1", lambda v: mpmath.bessely(1, v)),
            ("airy_ai", mpmath.airyai),
        )
    },
    "sinc": ("sinc at 0", sinc),
    "prod": ("products", product), "cumprod": ("products", running_product),
    "binary_cross_entropy": ("cross entropy of probabilities", entropy),
    "gelu": ("tails", gelu), "logsigmoid": ("tails", log_sigmoid),
    "mish": ("tails", mish), "logcumsumexp": ("tails", running_sum),
    "soft_margin_loss": ("tails", soft_margin), "log_softmax": ("tails", log_softmax),
    "log_ndtr": ("tails", log_of_normal),
    "index_put": ("repeated places", overwritten), "put": ("repeated places", put),
    "cumsum": ("sign of a sum", running_total),
    "pinv": ("symmetric part", symmetric_if),
    "cholesky_solve": ("triangle not read", from_triangle(1)),
    "cholesky_inverse": ("triangle not read", from_triangle(0)),
    "det": ("determinant of a singular matrix", by_permutations),
    "cholesky_ex": ("factor of an indefinite matrix", or_none),
    "eigh": ("signs of vectors", of_lapack), "svd": ("signs of vectors", into_vectors),
    "acosh": ("outside the domain", inside_domain),
    "arccosh": ("outside the domain", inside_domain),
    "var_mean": ("mean beside a variance", apart("var")),
    "std_mean": ("mean beside a variance", apart("std")),
    "var": ("equal entries", from_first), "std": ("equal entries", from_first),
    "amax": ("extremum", extremum("amax")), "amin": ("extremum", extremum("amin")),
    "addmv": ("product of nothing", of_vector),
    "aminmax": ("extremum", both_ends),
    "matrix_norm": ("extremum", of_sums),
    "cdist": ("distance of infinities", distances),
    "logit": ("masked", logit), "cosine_similarity": ("masked", cosine),
    "nansum": ("masked", of_numbers), "normalize": ("masked", normalized),
    "dist": ("masked", apart_by), "slogdet": ("reciprocal of a pivot", by_reciprocals),
    "logaddexp": ("overflow on the way", sum_of_powers(np.e)),
    "logaddexp2": ("overflow on the way", sum_of_powers(2)),
    "i0": ("overflow on the way", in_double),
    "i1": ("overflow on the way", odd_bessel),
    "modified_bessel_i0": ("overflow on the way", in_double),
    "modified_bessel_i1": ("overflow on the way", odd_bessel),
    "igamma": ("powers of 0", incomplete(1)),
    "igammac": ("powers of 0", incomplete(-1)),
    "pow": ("powers of 0", power), "__pow__": ("powers of 0", power),
    "__rpow__": ("powers of 0", lambda run, b, a: power(torch.pow, a, b)),
    "pow_": ("powers of 0", raised),
    "float_power": ("powers of 0", power),
    "copysign": ("masked", signed), "softplus": ("ties", softplus),
    "cross": ("fused products", crossed),
    "group_norm": ("step by step", by_groups),
    "matrix_exp": ("step by step", by_series),
    "topk": ("equal entries in order", in_order),
    "kthvalue": ("equal entries in order", ranked),
    "mode": ("commonest beside NaN", commonest),
    "block_diag": ("vectors without entries", placed),
    "batch_norm": ("no channels", of_no_entries),
}  # fmt: skip
"""By the function's name: the departure that it belongs to, and its other words."""


SYNONYMS = {
    "gammaln": "lgamma", "psi": "digamma", "multigammaln": "mvlgamma",
    "gammainc": "igamma", "gammaincc": "igammac",
}  # fmt: skip


def plain_name(name: str) -> str:
    """The name of a function without that of its library."""
    name = name.removeprefix("linalg_").removeprefix("special_")
    return SYNONYMS.get(name, name)


class InOtherWords(TorchFunctionMode):
    """Runs the rewriting of each of some functions in its place."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__()
        self.names = names

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = plain_name(getattr(func, "__name__", "").partition(".")[0])
        words = NO_DERIVATIVE.get(name)
        if name in self.names:
            words = REWRITTEN[name][1]
        if words is None:
            return func(*args, **kwargs)
        if "input" in kwargs:
            args = (*args, kwargs.pop("input"))
        return words(func, *args, **kwargs)


class AsItIs(TorchFunctionMode):
    """PyTorch in its own words."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


class OperandsCopied(TorchFunctionMode):
    """A change in place reads copies of operands that lie in the memory it changes."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        try:
            return func(*args, **(kwargs or {}))
        except RuntimeError as error:
            if "refer to a single memory location" not in str(error):
                raise
            return func(args[0], *map(copied, args[1:]), **(kwargs or {}))


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


class TruthAsNumbers(TorchFunctionMode):
    """Truth values are the numbers 0 and 1 where one is taken from another, and as
    exponents, whose rule does that."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if getattr(func, "__name__", "").strip("_") in DIFFERENCES:
            args = tuple(as_numbers(value) for value in args)
            kwargs = {key: as_numbers(value) for key, value in (kwargs or {}).items()}
        return func(*args, **(kwargs or {}))


DIFFERENCES = (
    "sub", "isub", "rsub", "subtract", "neg", "negative", "dist",
    "binary_cross_entropy_with_logits", "pow", "ipow", "float_power",
)  # fmt: skip


def as_numbers(value: Any) -> Any:
    truth = isinstance(value, torch.Tensor) and value.dtype is torch.bool
    return value.to(torch.get_default_dtype()) if truth else value


class LostShapes(TorchFunctionMode):
    """Notes whether a product of a matrix and a vector, added to a tensor, is of
    another shape than the product itself."""

    lost = False

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") == "addmv":
            self.lost |= result.shape != torch.mv(*args[1:3]).shape
        return result


class WrittenOver(TorchFunctionMode):
    """Notes whether a tensor is changed in place whose entries share memory."""

    found = False

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        changes = name.startswith("__i") or (name.endswith("_") and name[:2] != "__")
        if changes and isinstance(args[0], torch.Tensor):
            self.found |= shares_memory(args[0])
        return func(*args, **(kwargs or {}))


def shares_memory(x: Any) -> bool:
    """Whether two entries lie at one place."""
    at = torch.zeros(x.shape, dtype=torch.long)
    for d, (n, step) in enumerate(zip(x.shape, x.stride(), strict=True)):
        at = at + (torch.arange(n) * step).reshape(-1, *[1] * (x.ndim - d - 1))
    return at.unique().numel() < at.numel()


class OneByOne(TorchDispatchMode):
    """Elementwise operations without the processor's vectors: on every other entry of
    a memory of twice the size."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if is_elementwise(func):
            written = func._schema.is_mutable
            args = [*args[:written], *[spaced(value) for value in args[written:]]]
        return func(*args, **(kwargs or {}))


def is_elementwise(func: Any) -> bool:
    """Whether PyTorch says so of the operation, or of the one whose rule it is."""
    name = func.overloadpacket.__name__
    own = getattr(torch.ops.aten, name.removesuffix("_backward"), func.overloadpacket)
    tags = [*func.tags, *[t for n in own.overloads() for t in getattr(own, n).tags]]
    return torch.Tag.pointwise in tags


def spaced(value: Any) -> Any:
    if not isinstance(value, torch.Tensor) or value.dim() == 0:
        return value
    return torch.stack((value, value), -1)[..., 0]


class LaidOutAsHere(TorchDispatchMode):
    """Elementwise results with their dimensions in NumPy's order in memory, which is
    another where a dimension of size 1 is broadcast."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if torch.Tag.pointwise not in func.tags or func._schema.is_mutable:
            return result
        given = [a.detach().numpy() for a in args if isinstance(a, torch.Tensor)]
        kinds = [*[["readonly"]] * len(given), ["writeonly", "allocate"]]
        dtypes = [*[None] * len(given), result.numpy().dtype]
        made = np.nditer([*given, None], ["zerosize_ok"], kinds, dtypes).operands[-1]
        steps = [step // made.itemsize for step in made.strides]
        again = torch.empty_strided(result.shape, steps, dtype=result.dtype)
        return again.copy_(result)


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

    return replace(
        side,
        run=within(side.run),
        grad=within(side.grad),
        jacobian=within(side.jacobian),
    )
