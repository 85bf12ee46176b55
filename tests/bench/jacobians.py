"""Jacobians and Hessians, dense and sparse. Sparse peers start from the expressions:
finding the pattern is a part of the work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import gradcli
from gradcli.autograd import functional
from gradcli.large.blocks import hessian, jacobian

from .compare import Comparison, Maker, Once, folder

DENSE = 1000
STENCIL = 100_000
ROSENBROCK = 10_000
WIDTH = 256


def alike(ours: Any, theirs: Any) -> bool:
    return bool(np.allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-4, atol=1e-6))


def of_dense(jacrev: Callable[..., Any], library: Any) -> Once:
    w = library.tensor(np.random.default_rng(0).standard_normal((DENSE, DENSE)))
    x = library.tensor(np.linspace(0.0, 1.0, DENSE))
    return lambda: jacrev(lambda x: library.tanh(w @ x) * library.sin(x), x)


def dense_torch() -> Once:
    import torch

    return of_dense(lambda f, x: torch.func.jacrev(f)(x), torch)


def dense_jax() -> Once:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    w = jnp.asarray(np.random.default_rng(0).standard_normal((DENSE, DENSE)))
    x = jnp.linspace(0.0, 1.0, DENSE)
    jacrev = jax.jit(jax.jacrev(lambda x: jnp.tanh(w @ x) * jnp.sin(x)))
    return lambda: jax.block_until_ready(jacrev(x))


def of_layers(jacrev: Callable[..., Any], library: Any) -> Once:
    rng = np.random.default_rng(0)
    numbers = [rng.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5 for _ in range(2)]
    point = library.tensor(rng.standard_normal(WIDTH), dtype=library.float32)
    nn = library.nn
    net = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH))
    with library.no_grad():
        for layer, w in zip((net[0], net[2]), numbers, strict=True):
            layer.weight.copy_(library.tensor(w))
            layer.bias.zero_()
    return lambda: jacrev(lambda v: net(v), point).detach()


def layers_torch() -> Once:
    import torch

    return of_layers(lambda f, x: torch.func.jacrev(f)(x), torch)


# Sparse: gradcli's result is a SciPy array.


def apart(ours: Any, theirs: Any) -> float:
    """The largest difference of two sparse matrices."""
    from scipy.sparse import coo_array, csr_array

    if hasattr(theirs, "indices") and hasattr(theirs, "todense"):
        rows, columns = np.asarray(theirs.indices).T
        data = np.asarray(theirs.data)
        theirs = coo_array((data, (rows, columns)), theirs.shape)
    elif hasattr(theirs, "sparse"):
        theirs = theirs.sparse()
    return float(abs(ours - csr_array(theirs)).max())


def close(ours: Any, theirs: Any) -> bool:
    return apart(ours, theirs) < 1e-9


def stencil() -> Once:
    x = np.linspace(0.0, 1.0, STENCIL)

    def once() -> Any:
        leaf = gradcli.tensor(x, requires_grad=True)
        y = leaf[2:] - 2 * leaf[1:-1] * leaf[1:-1] + gradcli.sin(leaf[:-2])
        return jacobian(y, [leaf]).blocks[0].csr()

    return once


def stencil_casadi(prepared: bool) -> Once:
    import casadi

    x = np.linspace(0.0, 1.0, STENCIL)

    def made() -> Any:
        v = casadi.MX.sym("x", STENCIL)
        y = v[2:] - 2 * v[1:-1] * v[1:-1] + casadi.sin(v[:-2])
        return casadi.Function("J", [v], [casadi.jacobian(y, v)])

    ready = made()
    return (lambda: ready(x)) if prepared else (lambda: made()(x))


def rosenbrock() -> Once:
    x = np.linspace(0.0, 1.0, ROSENBROCK)

    def once() -> Any:
        leaf = gradcli.tensor(x, requires_grad=True)
        y = (100 * (leaf[1:] - leaf[:-1] ** 2) ** 2 + (1 - leaf[:-1]) ** 2).sum()
        return hessian(y, [leaf])[0][0].csr()

    return once


def rosenbrock_casadi(prepared: bool) -> Once:
    import casadi

    x = np.linspace(0.0, 1.0, ROSENBROCK)

    def made() -> Any:
        v = casadi.MX.sym("x", ROSENBROCK)
        y = casadi.sum1(100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2)
        return casadi.Function("H", [v], [casadi.hessian(y, v)[0]])

    ready = made()
    return (lambda: ready(x)) if prepared else (lambda: made()(x))


def of_asdex(kind: str, prepared: bool) -> Once:
    import asdex
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    x = jnp.linspace(0.0, 1.0, STENCIL if kind == "jacobian" else ROSENBROCK)

    def f(v: Any) -> Any:
        if kind == "jacobian":
            return v[2:] - 2 * v[1:-1] * v[1:-1] + jnp.sin(v[:-2])
        return (100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2).sum()

    derivative = getattr(asdex, kind)
    ready = jax.jit(derivative(f, x))
    if prepared:
        return lambda: jax.block_until_ready(ready(x))
    return lambda: jax.block_until_ready(derivative(f, x)(x))


# Whole processes, their answer printed.

SCRIPT = """
import sys, numpy, torch
w, x = (torch.tensor(numpy.load(path)) for path in sys.argv[1:])
j = torch.func.jacrev(lambda x: torch.tanh(w @ x) * torch.sin(x))(x)
print(j if sys.stdout.isatty() else j.tolist())
"""


def in_a_pipe(words: list[str]) -> None:
    """Run Python; every number is printed."""
    subprocess.run([sys.executable, *words], capture_output=True, check=True)


def in_a_terminal(words: list[str]) -> None:
    """Run Python in a terminal, for which long answers are cut."""
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, *words], stdout=theirs)
    os.close(theirs)
    try:
        while os.read(ours, 1 << 16):
            continue
    except OSError:
        # The terminal's other end is closed.
        pass
    os.close(ours)
    assert process.wait() == 0


def command(where: Callable[[list[str]], None]) -> Comparison:
    def paths() -> list[str]:
        return [str(folder() / f"{name}.npy") for name in "wx"]

    def ours() -> Once:
        w, x = paths()
        rng = np.random.default_rng(0)
        np.save(w, rng.standard_normal((DENSE, DENSE)))
        np.save(x, np.linspace(0.0, 1.0, DENSE))
        words = ["jacobian", "tanh(w@x)*sin(x)", f"w=@{w}", f"x=@{x}", "--wrt", "x",
                 "--no-verify"]  # fmt: skip
        return lambda: where(["-m", "gradcli", *words])

    def theirs() -> Once:
        import torch as torch

        return lambda: where(["-c", SCRIPT, *paths()])

    words = where.__name__.replace("_", " ")
    return Comparison(
        f"jacobian-command-{words.split()[-1]}",
        f"the command {words}, the same Jacobian",
        ours,
        {"torch": theirs},
        {"torch": 0.25},
        rounds=3,
    )


DENSE_PEERS: dict[str, Maker] = {"torch": dense_torch, "jax": dense_jax}

COMPARISONS = [
    Comparison(
        "jacobian-functional",
        f"functional.jacobian of tanh(W@x)*sin(x), n = {DENSE:,}",
        lambda: of_dense(functional.jacobian, gradcli),
        DENSE_PEERS,
        {"torch": 0.1, "jax": 0.1},
        alike,
    ),
    Comparison(
        "jacobian-func",
        "func.jacrev of the same",
        lambda: of_dense(lambda f, x: gradcli.func.jacrev(f)(x), gradcli),
        DENSE_PEERS,
        {"torch": 0.1, "jax": 0.1},
        alike,
    ),
    Comparison(
        "jacobian-layers",
        f"two layers, {WIDTH} -> {WIDTH} -> {WIDTH} tanh",
        lambda: of_layers(functional.jacobian, gradcli),
        {"torch": layers_torch},
        {"torch": 1},
        alike,
    ),
    Comparison(
        "jacobian-sparse",
        f"a sparse Jacobian, stencil, n = {STENCIL:,}, with its pattern",
        stencil,
        {
            "casadi": lambda: stencil_casadi(False),
            "casadi, prepared": lambda: stencil_casadi(True),
            "asdex": lambda: of_asdex("jacobian", False),
            "asdex, prepared": lambda: of_asdex("jacobian", True),
        },
        {"casadi": 0.05, "casadi, prepared": 0.5, "asdex, prepared": 1.1},
        close,
    ),
    Comparison(
        "hessian-sparse",
        f"the sparse Hessian of Rosenbrock's function, n = {ROSENBROCK:,}",
        rosenbrock,
        {
            "casadi": lambda: rosenbrock_casadi(False),
            "casadi, prepared": lambda: rosenbrock_casadi(True),
            "asdex": lambda: of_asdex("hessian", False),
            "asdex, prepared": lambda: of_asdex("hessian", True),
        },
        {"casadi": 0.05, "casadi, prepared": 0.5, "asdex, prepared": 3},
        close,
    ),
    command(in_a_terminal),
    command(in_a_pipe),
]
