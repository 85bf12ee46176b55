"""Rows of a table through a scalar program, file to file, whole processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .compare import Comparison, Once, folder, process

ROWS = 1_000_000
TEXT = "sin(x*b)*exp(-x*x) + x**3/(1 + b*b)"

FEW = 20_000
LOOP = "y = x; for i in range(60): y = sin(y)*b + x"
LINES = {
    "larger": "relu(x*b) + max(x, b)",
    "norm": "norm([x, b])",
    "branch": "x*b if x > 0 else x",
    "sum": "sum(x**i for i in range(5))",
}
"""Programs that are not one formula, by name."""
WHILE = "y = x; while abs(y*y - x) > 1e-12: y = (y + x/y)/2; y"

JAX = """
import sys, jax, jax.numpy as jnp, pyarrow as pa
from pyarrow import csv
jax.config.update("jax_enable_x64", True)
table = csv.read_csv(sys.argv[2])
x, b = (jnp.asarray(table[name].to_numpy()) for name in ("x", "b"))
def loop(x, b):
    y = x
    for i in range(60):
        y = jnp.sin(y)*b + x
    return y
def line(x, b):
    return jnp.sin(x*b)*jnp.exp(-x*x) + x**3/(1 + b*b)
f = {"loop": loop, "line": line}[sys.argv[1]]
value, (dx, db) = jax.jit(jax.vmap(jax.value_and_grad(f, (0, 1))))(x, b)
columns = {"x": x, "b": b, "value": value, "grad_x": dx, "grad_b": db}
csv.write_csv(pa.table({n: pa.array(jax.device_get(c)) for n, c in columns.items()}),
              sys.argv[3])
"""

ALONE = """
import sys
from gradcli.tables import rows
rows.MIN_ROWS_TOGETHER = 1 << 60
from gradcli.__main__ import main
sys.argv[0] = "gradcli"
main()
"""
"""The command, each row run alone."""


def points(count: int) -> str:
    """A table of positive points, written once."""
    path = folder() / f"points-{count}.csv"
    if not path.exists():
        numbers = np.random.default_rng(0).uniform(0.2, 2, size=(count, 2))
        np.savetxt(path, numbers, "%.17g", ",", header="x,b", comments="")
    return str(path)


def written(*words: str) -> Once:
    """A process that writes a table, which it gives."""
    path = folder() / f"{abs(hash(words))}.csv"
    once = process(*words, str(path))

    def run() -> Path:
        once()
        return path

    return run


def of_gradcli(text: str, count: int, *more: str) -> Once:
    given = "grad", text, "--table", points(count), *more, "--out"
    return written("-m", "gradcli", *given)


def row_by_row(text: str, count: int) -> Once:
    return written("-c", ALONE, "grad", text, "--table", points(count), "--out")


def of_jax(name: str, count: int) -> Once:
    import jax as jax
    import pyarrow as pyarrow

    return written("-c", JAX, name, points(count))


def alike(ours: Path, theirs: Path) -> bool:
    first, second = (
        np.loadtxt(path, delimiter=",", skiprows=1, max_rows=1000)
        for path in (ours, theirs)
    )
    return bool(np.allclose(first, second, rtol=1e-9))


def on_a_cluster() -> Once:
    import distributed as distributed

    return of_gradcli(LOOP, ROWS // 5, "--cluster", "local:2")


COMPARISONS = [
    Comparison(
        "rows",
        f"{ROWS:,} rows of {TEXT}, csv to csv",
        lambda: of_gradcli(TEXT, ROWS),
        {"jax": lambda: of_jax("line", ROWS)},
        {"jax": 0.5},
        alike,
        5,
    ),
    Comparison(
        "rows-loop",
        f"{FEW:,} rows of {LOOP}",
        lambda: of_gradcli(LOOP, FEW),
        {"jax": lambda: of_jax("loop", FEW)},
        {"jax": 0.3},
        alike,
        5,
    ),
    *(Comparison(
        f"rows-{name}",
        f"{FEW:,} rows of {text}, beside one formula",
        lambda text=text: of_gradcli(text, FEW),
        {"one formula": lambda: of_gradcli(TEXT, FEW)},
        {"one formula": 1.4},
        rounds=5,
    ) for name, text in LINES.items()),
    Comparison(
        "rows-while",
        f"{FEW:,} rows of {WHILE}, beside each row alone",
        lambda: of_gradcli(WHILE, FEW),
        {"alone": lambda: row_by_row(WHILE, FEW)},
        {"alone": 0.1},
        alike,
        3,
    ),
    Comparison(
        "rows-cluster",
        f"{ROWS // 5:,} rows of the loop in two processes, beside one",
        on_a_cluster,
        {"one process": lambda: of_gradcli(LOOP, ROWS // 5)},
        {"one process": 0.6},
        alike,
        3,
    ),
]  # fmt: skip
