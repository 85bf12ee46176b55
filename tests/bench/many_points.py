"""A million rows from csv to csv: gradcli, alone and in two processes, beside JAX.

    python tests/bench/many_points.py [--json FILE] [--rows 1000000] [--rounds 5]

Each is a whole process: it starts, reads a table of three columns, computes a program
of ten operations and its three gradients at every row, and writes seven columns. They
take turns; the median of each is shown with its spread, and ratios of medians. `user`
is the processor's time, which a busy machine changes less. Two processes on two cores
that others keep busy are no faster than one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

PROGRAM = "sin(a*b) + tanh(a*x + b)*exp(-x*x)"

JAX = """
import sys
import jax, jax.numpy as jnp, numpy as np, pyarrow as pa
from pyarrow import csv
jax.config.update("jax_enable_x64", True)
table = csv.read_csv(sys.argv[1])
x, a, b = (jnp.asarray(table[name].to_numpy()) for name in "xab")
f = lambda x, a, b: jnp.sin(a*b) + jnp.tanh(a*x + b)*jnp.exp(-x*x)
y, slopes = jax.jit(jax.vmap(jax.value_and_grad(f, (0, 1, 2))))(x, a, b)
names = ["x", "a", "b", "value", "grad_x", "grad_a", "grad_b"]
columns = [pa.array(np.asarray(c)) for c in (x, a, b, y, *slopes)]
csv.write_csv(pa.table(columns, names), sys.argv[2])
"""


class Taken(NamedTuple):
    """Seconds of a process: by the clock, and of the processor."""

    wall: float
    user: float


def taken(command: list[str]) -> Taken:
    """Run a process to its end."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True)
    wall, after = time.perf_counter() - start, os.times()
    return Taken(wall, after.children_user - before.children_user)


def commands(folder: Path, table: Path) -> dict[str, list[str]]:
    """What takes turns, by name."""
    own = [sys.executable, "-m", "gradcli", "grad", PROGRAM, "--table", str(table)]
    found = {
        "gradcli": [*own, "--out", str(folder / "own.csv")],
        "local:2": [*own, "--out", str(folder / "two.csv"), "--cluster", "local:2"],
    }
    if find_spec("jax"):
        out = str(folder / "jax.csv")
        found["jax"] = [sys.executable, "-c", JAX, str(table), out]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "points.csv"
        numbers = np.random.default_rng(0).normal(size=(asked.rows, 3))
        np.savetxt(table, numbers, "%.17g", ",", header="x,a,b", comments="")
        words = commands(folder, table)
        times: dict[str, list[Taken]] = {each: [] for each in words}
        for turn in range(1 + asked.rounds):
            for each, command in words.items():
                found = taken(command)
                if turn:
                    times[each].append(found)
        assert (folder / "own.csv").read_bytes() == (folder / "two.csv").read_bytes()
    medians = {
        each: Taken(*map(median, zip(*found, strict=True)))
        for each, found in times.items()
    }
    for each, middle in medians.items():
        walls = [found.wall for found in times[each]]
        spread = (max(walls) - min(walls)) / 2
        print(f"{each:8} {middle.wall:6.2f} s +-{spread:.2f}  user {middle.user:.2f} s")
    for one, other in (("gradcli", "jax"), ("local:2", "gradcli")):
        if one in medians and other in medians:
            a, b = medians[one], medians[other]
            print(f"{one}/{other} {a.wall / b.wall:.2f}  user {a.user / b.user:.2f}")
    if asked.json:
        Path(asked.json).write_text(json.dumps({"times": times, "medians": medians}))


if __name__ == "__main__":
    main()
