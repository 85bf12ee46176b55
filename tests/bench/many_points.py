"""A million rows of a table through a scalar program, file to file, whole processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .compare import Comparison, Once, folder, process

ROWS = 1_000_000
TEXT = "sin(x*b)*exp(-x*x) + x**3/(1 + b*b)"

JAX = """
import sys, jax, jax.numpy as jnp, pyarrow as pa
from pyarrow import csv
jax.config.update("jax_enable_x64", True)
table = csv.read_csv(sys.argv[1])
x, b = (jnp.asarray(table[name].to_numpy()) for name in ("x", "b"))
f = lambda x, b: jnp.sin(x*b)*jnp.exp(-x*x) + x**3/(1 + b*b)
value, (dx, db) = jax.jit(jax.vmap(jax.value_and_grad(f, (0, 1))))(x, b)
columns = {"x": x, "b": b, "value": value, "grad_x": dx, "grad_b": db}
csv.write_csv(pa.table({n: pa.array(jax.device_get(c)) for n, c in columns.items()}),
              sys.argv[2])
"""


def points() -> str:
    """A table of points, written once."""
    path = folder() / "points.csv"
    if not path.exists():
        numbers = np.random.default_rng(0).normal(size=(ROWS, 2))
        np.savetxt(path, numbers, "%.17g", ",", header="x,b", comments="")
    return str(path)


def written(name: str, *words: str) -> Once:
    """A process that writes a table, which it gives."""
    path = folder() / f"{name}.csv"
    once = process(*words, str(path))

    def run() -> Path:
        once()
        return path

    return run


def of_gradcli(*more: str) -> Once:
    words = "-m", "gradcli", "grad", TEXT, "--table", points(), *more, "--out"
    return written("-".join(["ours", *more]).replace(":", ""), *words)


def of_jax() -> Once:
    import jax as jax
    import pyarrow as pyarrow

    return written("jax", "-c", JAX, points())


def alike(ours: Path, theirs: Path) -> bool:
    first, second = (
        np.loadtxt(path, delimiter=",", skiprows=1, max_rows=1000)
        for path in (ours, theirs)
    )
    return bool(np.allclose(first, second, rtol=1e-9))


def on_a_cluster() -> Once:
    import distributed as distributed

    return of_gradcli("--cluster", "local:2")


COMPARISONS = [
    Comparison(
        "rows",
        f"{ROWS:,} rows of {TEXT}, csv to csv",
        of_gradcli,
        {"jax": of_jax},
        {"jax": 1},
        alike,
        5,
    ),
    Comparison(
        "rows-cluster",
        "the same with --cluster local:2, beside one process",
        on_a_cluster,
        {"one process": of_gradcli},
        {"one process": 0.8},
        alike,
        5,
    ),
]
