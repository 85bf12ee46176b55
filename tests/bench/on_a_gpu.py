"""gradcli on a GPU beside PyTorch and JAX on the same one: ``--device cuda``.

Everyone's work is waited for, and arrays are on the GPU before anyone is timed. The
limit of large arrays is the time to copy the bytes that are read and written.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import gradcli

from .compare import Comparison, Maker, Once, process
from .large_arrays import TEXT
from .layers import Network, attention, convolutions, perceptron, transformer

COUNT = 100_000_000
"""Entries of each large array, in float32."""

NODES = 2000
DENSE = 1000
STENCIL = 100_000


def waited(library: Any, run: Once) -> Once:
    """A call with a wait for the GPU behind it."""

    def once() -> Any:
        found = run()
        library.cuda.synchronize()
        return found

    return once


def alike(ours: Any, theirs: Any) -> bool:
    return all(map(close, ours, theirs))


def close(a: Any, b: Any) -> bool:
    return bool(np.allclose(on_the_host(a), on_the_host(b), rtol=1e-3, atol=1e-4))


def on_the_host(x: Any) -> Any:
    return np.asarray(x.detach().cpu() if hasattr(x, "cpu") else x, "float64")


# large arrays


def arrays(library: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    drawn = [rng.standard_normal(COUNT, "float32") for _ in "abc"]
    return [library.tensor(x, device="cuda") for x in drawn]


def large_gradcli() -> Once:
    program, given = (
        gradcli.compile(TEXT),
        dict(zip("abc", arrays(gradcli), strict=True)),
    )

    def run() -> Any:
        found = program.grad(**given)
        return [found.value, *found.grads.values()]

    return waited(gradcli, run)


def large_torch(compiled: bool) -> Once:
    import torch

    leaves = [x.requires_grad_() for x in arrays(torch)]

    def of(a: Any, b: Any, c: Any) -> Any:
        return (torch.tanh(a * b + c) * torch.exp(-a * a)).sum()

    f = torch.compile(of) if compiled else of

    def run() -> Any:
        y = f(*leaves)
        return [y.detach(), *torch.autograd.grad(y, leaves)]

    return waited(torch, run)


def large_jax() -> Once:
    import jax
    import jax.numpy as jnp

    given = [jnp.asarray(x.cpu().numpy()) for x in arrays(gradcli)]

    def of(a: Any, b: Any, c: Any) -> Any:
        return (jnp.tanh(a * b + c) * jnp.exp(-a * a)).sum()

    pulled = jax.jit(jax.value_and_grad(of, (0, 1, 2)))

    def run() -> Any:
        value, grads = jax.block_until_ready(pulled(*given))
        return [value, *grads]

    return run


def copy_limit() -> Once:
    """A copy of three arrays to three, which is what has to be read and written."""
    sources = [x.raw for x in arrays(gradcli)]
    targets = [x.copy() for x in sources]

    def run() -> None:
        for source, target in zip(sources, targets, strict=True):
            target[...] = source

    return waited(gradcli, run)


# small ones


def chain(library: Any) -> Once:
    def run() -> Any:
        x = library.ones((100,), device="cuda", requires_grad=True)
        w = library.full((100,), 0.999, device="cuda", requires_grad=True)
        y = x
        for _ in range(NODES // 2):
            y = y * w
            y = y + x
        y.sum().backward()
        return [x.grad]

    return waited(library, run)


def dense(library: Any) -> Once:
    rng = np.random.default_rng(0)
    w = library.tensor(rng.standard_normal((DENSE, DENSE)), device="cuda")
    x = library.tensor(np.linspace(0.0, 1.0, DENSE), device="cuda")
    jacrev = library.func.jacrev(lambda x: library.tanh(w @ x) * library.sin(x))
    return waited(library, lambda: [jacrev(x)])


def stencil(device: str) -> Once:
    program = gradcli.compile("x[2:] - 2*x[1:-1]*x[1:-1] + sin(x[:-2])")
    x = gradcli.tensor(np.linspace(0.0, 1.0, STENCIL), device=device)
    return lambda: [program.jacobian(x=x, sparse=True).blocks["x"].data]


def step(library: Any, make: Callable[[Any], Network]) -> Once:
    """A training step by Adam of a network on the GPU, with the same weights."""
    library.set_default_device("cuda")
    net, loss = make(library)
    rng = np.random.default_rng(0)
    with library.no_grad():
        for parameter in net.parameters():
            shape = tuple(parameter.shape)
            scale = 1 / np.sqrt(np.prod(shape[1:], initial=1))
            drawn = rng.uniform(-scale, scale, shape).astype("float32")
            parameter.copy_(library.tensor(drawn))
    optimizer = library.optim.Adam(net.parameters(), lr=1e-6)

    def run() -> Any:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        optimizer.step()
        return [found.detach()]

    return waited(library, run)


def both(of: Callable[[Any], Once]) -> tuple[Maker, dict[str, Maker]]:
    """The makers of gradcli and of PyTorch."""
    return lambda: of(gradcli), {"torch": lambda: of(import_module("torch"))}


COMPARISONS = [
    Comparison(
        "gpu-large-arrays",
        f"{TEXT} of {COUNT:,} float32 and three gradients",
        large_gradcli,
        {
            "copy": copy_limit,
            "torch": lambda: large_torch(False),
            "torch.compile": lambda: large_torch(True),
            "jax": large_jax,
        },
        {"copy": 1.25, "torch": 0.18, "torch.compile": 0.85},
        lambda a, b: b is None or alike(a, b),
        5,
    ),
    Comparison("gpu-per-node", f"a chain of {NODES:,} nodes, shape (100,)",
               *both(chain), same=alike),
    Comparison("gpu-jacobian-dense", f"tanh(W@x)*sin(x), n = {DENSE:,}",
               *both(dense), same=alike),
    Comparison("gpu-jacobian-sparse", f"a stencil of {STENCIL:,}, beside the CPU",
               lambda: stencil("cuda"), {"cpu": lambda: stencil("cpu")}, same=alike),
    *(Comparison(f"gpu-step-{make.__name__}", f"a training step of the {make.__name__}",
                 *both(lambda library, make=make: step(library, make)),  # type: ignore
                 {"torch": 1.5}, alike, 21)
      for make in (perceptron, convolutions, attention, transformer)),
    Comparison(
        "gpu-start", "a whole command on the GPU, beside the CPU",
        lambda: process("-m", "gradcli", "value", "x^2", "x=3", "--device", "cuda"),
        {"cpu": lambda: process("-m", "gradcli", "value", "x^2", "x=3"),
         "auto": lambda: process("-m", "gradcli", "value", "x^2", "x=3", "--device",
                                 "auto")},
    ),
]  # fmt: skip
