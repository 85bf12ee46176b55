"""A sum over ten million entries and its gradients by three arrays, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradcli

from .compare import Comparison, Once

COUNT = 10_000_000
TEXT = "(tanh(a*b + c)*exp(-a*a)).sum()"


def arrays() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {name: rng.normal(size=COUNT) for name in "abc"}


def of_gradcli() -> Once:
    program, given = gradcli.compile(TEXT), arrays()

    def run() -> Any:
        found = program.grad(**given)
        return found.value, *found.grads.values()

    return run


def of_torch() -> Once:
    import torch

    leaves = [torch.tensor(v, requires_grad=True) for v in arrays().values()]

    def run() -> Any:
        a, b, c = leaves
        y = (torch.tanh(a * b + c) * torch.exp(-a * a)).sum()
        return y.detach(), *torch.autograd.grad(y, leaves)

    return run


def of_jax() -> Once:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    given = [jnp.asarray(v) for v in arrays().values()]
    pulled = jax.jit(
        jax.value_and_grad(
            lambda a, b, c: (jnp.tanh(a * b + c) * jnp.exp(-a * a)).sum(), (0, 1, 2)
        )
    )

    def run() -> Any:
        value, grads = jax.block_until_ready(pulled(*given))
        return value, *grads

    return run


def of_numpy() -> Once:
    """The formulas of the derivatives, written by hand, in one piece."""
    a, b, c = arrays().values()

    def run() -> Any:
        t, e = np.tanh(a * b + c), np.exp(-a * a)
        s = (1 - t * t) * e
        return (t * e).sum(), s * b - 2 * a * t * e, s * a, s

    return run


COMPARISONS = [
    Comparison(
        "large-arrays",
        f"{TEXT} of {COUNT:,} entries and three gradients",
        of_gradcli,
        {"torch": of_torch, "jax": of_jax, "numpy": of_numpy},
        {"torch": 0.15, "jax": 0.6},
        lambda a, b: all(map(np.allclose, map(np.asarray, a), map(np.asarray, b))),
        5,
    )
]
