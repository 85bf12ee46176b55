"""Jacobians and Hessians, dense and sparse: gradcli beside torch and CasADi.

    python tests/bench/jacobians.py [--json FILE] [--rounds N]

Peers take turns, the best of several rounds counts for each, and the median is shown
beside it. A peer that is not installed is left out. Sparse peers start from the
expressions: finding the pattern is a part of the work.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import gradcli
from gradcli.autograd import functional
from gradcli.autograd.blocks import hessian_matrices, jacobian_matrices

Once = Callable[[], Any]
Problem = tuple[str, float, dict[str, Once]]
"""What it is, the bar, and what each peer does; gradcli's own come first."""

DENSE = 1000
STENCIL = 100_000
ROSENBROCK = 10_000
WIDTH = 256


def dense(torch: Any) -> Problem:
    """``tanh(W@x)*sin(x)`` of 1,000 entries."""
    w = np.random.default_rng(0).standard_normal((DENSE, DENSE))
    x = np.linspace(0.0, 1.0, DENSE)
    ours, own = gradcli.tensor(w), gradcli.tensor(x)
    peers: dict[str, Once] = {
        "gradcli functional": lambda: functional.jacobian(
            lambda x: gradcli.tanh(ours @ x) * gradcli.sin(x), own
        ),
        "gradcli func": lambda: gradcli.func.jacrev(
            lambda x: gradcli.tanh(ours @ x) * gradcli.sin(x)
        )(own),
    }
    if torch:
        theirs, at = torch.tensor(w), torch.tensor(x)
        peers["torch"] = lambda: torch.func.jacrev(
            lambda x: torch.tanh(theirs @ x) * torch.sin(x)
        )(at)
    return f"dense, n = {DENSE:,}", 0.15, peers


def layers(torch: Any) -> Problem:
    """A network of two layers."""
    rng = np.random.default_rng(0)
    numbers = [rng.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5 for _ in range(2)]
    point = rng.standard_normal(WIDTH)

    def network(library: Any) -> tuple[Callable[[Any], Any], Any]:
        net = library.nn.Sequential(
            library.nn.Linear(WIDTH, WIDTH),
            library.nn.Tanh(),
            library.nn.Linear(WIDTH, WIDTH),
        )
        with library.no_grad():
            for layer, w in zip((net[0], net[2]), numbers, strict=True):
                layer.weight.copy_(library.tensor(w))
        return net, library.tensor(point, dtype=library.float32)

    net, x = network(gradcli)
    peers: dict[str, Once] = {
        "gradcli": lambda: functional.jacobian(lambda v: net(v), x)
    }
    if torch:
        other, at = network(torch)
        peers["torch"] = lambda: torch.func.jacrev(lambda v: other(v))(at)
    return f"{WIDTH} -> {WIDTH} -> {WIDTH} tanh", 1, peers


def stencil(casadi: Any) -> Problem:
    """A sparse Jacobian, the pattern included."""
    x = np.linspace(0.0, 1.0, STENCIL)

    def ours() -> Any:
        leaf = gradcli.tensor(x, requires_grad=True)
        y = leaf[2:] - 2 * leaf[1:-1] * leaf[1:-1] + gradcli.sin(leaf[:-2])
        return jacobian_matrices(y, [leaf]).blocks[0].csr()

    peers: dict[str, Once] = {"gradcli": ours}
    if casadi:

        def theirs() -> Any:
            v = casadi.MX.sym("x", STENCIL)
            y = v[2:] - 2 * v[1:-1] * v[1:-1] + casadi.sin(v[:-2])
            return casadi.Function("J", [v], [casadi.jacobian(y, v)])(x)

        assert abs(ours() - theirs().sparse()).max() == 0
        peers["casadi"] = theirs
        v = casadi.MX.sym("x", STENCIL)
        y = v[2:] - 2 * v[1:-1] * v[1:-1] + casadi.sin(v[:-2])
        ready = casadi.Function("J", [v], [casadi.jacobian(y, v)])
        peers["casadi, prepared"] = lambda: ready(x)
    return f"stencil, n = {STENCIL:,}", 1, peers


def rosenbrock(casadi: Any) -> Problem:
    """A sparse Hessian, the pattern included."""
    x = np.linspace(0.0, 1.0, ROSENBROCK)

    def ours() -> Any:
        leaf = gradcli.tensor(x, requires_grad=True)
        y = (100 * (leaf[1:] - leaf[:-1] ** 2) ** 2 + (1 - leaf[:-1]) ** 2).sum()
        return hessian_matrices(y, [leaf])[0][0].csr()

    peers: dict[str, Once] = {"gradcli": ours}
    if casadi:

        def prepared() -> Any:
            v = casadi.MX.sym("x", ROSENBROCK)
            y = 100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2
            return casadi.Function("H", [v], [casadi.hessian(casadi.sum1(y), v)[0]])

        gap = abs(ours() - prepared()(x).sparse()).max()
        assert gap < 1e-9, gap
        peers["casadi"] = lambda: prepared()(x)
        ready = prepared()
        peers["casadi, prepared"] = lambda: ready(x)
    return f"Rosenbrock's Hessian, n = {ROSENBROCK:,}", 1.5, peers


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


def command(torch: Any, folder: Path, run: Callable[[list[str]], None]) -> Problem:
    """The whole process, its answer printed."""
    np.save(folder / "w.npy", np.random.default_rng(0).standard_normal((DENSE, DENSE)))
    np.save(folder / "x.npy", np.linspace(0.0, 1.0, DENSE))
    paths = [str(folder / name) for name in ("w.npy", "x.npy")]
    given = [f"{name}=@{path}" for name, path in zip("wx", paths, strict=True)]
    words = ["jacobian", "tanh(w@x)*sin(x)", *given, "--wrt", "x", "--no-verify"]
    peers: dict[str, Once] = {"gradcli": lambda: run(["-m", "gradcli", *words])}
    if torch:
        peers["torch"] = lambda: run(["-c", SCRIPT, *paths])
    where = run.__name__.replace("_", " ")
    return f"the command {where}, n = {DENSE:,}", 0.25, peers


def measured(problem: Problem, rounds: int) -> dict[str, Any]:
    """Seconds of each peer, and what part of the first other's gradcli's are."""
    what, bar, peers = problem
    times: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, once in peers.items():
            start = time.perf_counter()
            once()
            times[name].append(time.perf_counter() - start)
    others = [name for name in peers if not name.startswith("gradcli")]
    best = {name: min(spent) for name, spent in times.items()}
    ratios = {
        f"{name} / {other}": best[name] / best[other]
        for name in peers
        if name not in others
        for other in others
    }
    medians = {name: median(spent) for name, spent in times.items()}
    return {"what": what, "bar": bar, "best": best, "median": medians, "ratios": ratios}


def found(name: str) -> Any:
    """A peer, or None where it is not installed."""
    try:
        return __import__(name)
    except ImportError:
        return None


def results(rounds: int) -> Iterator[dict[str, Any]]:
    torch, casadi = found("torch"), found("casadi")
    yield measured(dense(torch), rounds)
    yield measured(layers(torch), rounds)
    yield measured(stencil(casadi), rounds)
    yield measured(rosenbrock(casadi), rounds)
    with tempfile.TemporaryDirectory() as folder:
        for run in (in_a_terminal, in_a_pipe):
            problem = command(torch, Path(folder), run)
            yield measured(problem, max(1, rounds // 3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=9)
    asked = parser.parse_args()
    told = []
    for each in results(asked.rounds):
        told.append(each)
        print(f"{each['what']} (bar {each['bar']})")
        for name, seconds in each["best"].items():
            middle = each["median"][name]
            print(f"  {name:20} {seconds * 1e3:9.2f} ms   median {middle * 1e3:9.2f}")
        for name, ratio in each["ratios"].items():
            print(f"  {name}: {ratio:.3f}")
    if asked.json:
        Path(asked.json).write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
