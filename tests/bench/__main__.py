"""Every comparison with the peers that are installed, in one run.

    python -m tests.bench                       # all, as text
    python -m tests.bench --only jacobian       # those whose names begin so
    python -m tests.bench --json                # one JSON object for each, a line
    python -m tests.bench --device cuda         # on a GPU, beside PyTorch and JAX there

Each comparison runs in a process of its own, so that nobody's threads, memory or
settings meet another's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from gradcli.engine import devices

from .compare import Comparison, compared

MODULES = (
    "whole_processes", "per_node", "jacobians", "large_arrays", "many_points",
    "descents", "layers",
)  # fmt: skip

LIBRARIES = ("numpy", "torch", "jax", "autograd", "casadi", "sympy", "pyarrow")


THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""What says to linear algebra how many threads to use."""


ON_A_GPU = ("on_a_gpu",)
"""Modules whose comparisons need a GPU."""


def comparisons(names: tuple[str, ...] = MODULES) -> dict[str, Comparison]:
    """All of some modules by name."""
    modules = [import_module(f"{__package__}.{name}") for name in names]
    return {each.name: each for module in modules for each in module.COMPARISONS}


def machine() -> str:
    """What the figures depend on."""
    found = []
    for library in LIBRARIES:
        try:
            found.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            found.append(f"no {library}")
    load = os.getloadavg()[0]
    cores = f"{os.cpu_count()} cores, load {load:.1f}, Python"
    return f"{cores} {platform.python_version()}, {', '.join(found)}"


def in_a_process(
    comparison: Comparison, rounds: int | None, device: str = "cpu"
) -> dict[str, Any]:
    """The result of one comparison, or why there is none."""
    name, threads = comparison.name, comparison.threads
    words = [sys.executable, "-m", __package__, "--here", name, "--device", device]
    kept = {} if threads is None else dict.fromkeys(THREADS, str(threads))
    if rounds is not None:
        words += ["--rounds", str(rounds)]
    done = subprocess.run(words, capture_output=True, text=True,
                          env={**os.environ, **kept})  # fmt: skip
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2] or f"status {done.returncode}"
        return {"name": name, "failed": reason}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def lines(found: dict[str, Any]) -> list[str]:
    """One result as text."""
    if "failed" in found:
        return [f"{found['name']}: failed: {found['failed']}"]
    told = [f"{found['name']}: {found['what']}"]
    told.append(f"  {'gradcli':17} {_time(found['gradcli'])}")
    for peer, each in found["peers"].items():
        ratio, bar = each["ratio"], each["bar"]
        text = f"{ratio['median']:7.3f}  ({ratio['low']:.3f} to {ratio['high']:.3f})"
        if bar is not None:
            text += f"  bar {bar:g}: {'kept' if ratio['median'] <= bar else 'missed'}"
        told.append(f"  {peer:17} {_time(each['seconds'])}   ratio {text}")
    told += [f"  {peer:17} skipped: {why}" for peer, why in found["skipped"].items()]
    return told


def _time(spread: dict[str, float]) -> str:
    seconds = spread["median"]
    unit, size = next(u for u in UNITS if seconds >= u[1] or u[1] == UNITS[-1][1])
    low, high = spread["low"] / size, spread["high"] / size
    return f"{seconds / size:8.2f} {unit:2}  ({low:.2f} to {high:.2f})"


UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def asked_for() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    option = parser.add_argument
    option(
        "--only",
        metavar="NAME",
        action="append",
        help="those whose names begin with NAME; may be repeated",
    )
    option(
        "--rounds",
        metavar="N",
        type=int,
        help="rounds that count, instead of each one's own number",
    )
    option("--json", action="store_true", help="print one JSON object a line")
    option("--list", action="store_true", help="print the names alone")
    option("--device", choices=("cpu", "cuda"), default="cpu", help="where they run")
    option("--here", metavar="NAME", help=argparse.SUPPRESS)
    return parser, parser.parse_args()


def main() -> int:
    parser, asked = asked_for()
    known = comparisons(ON_A_GPU if asked.device == "cuda" else MODULES)
    if asked.device == "cuda" and (reason := devices.why_no_cuda()):
        parser.error(f"no GPU: {reason}")
    if asked.here:
        print(json.dumps(compared(known[asked.here], asked.rounds)))
        return 0
    only = tuple(asked.only or ("",))
    names = [name for name in known if name.startswith(only)]
    if not names:
        parser.error(f"no comparison begins with {', '.join(only)}: see --list")
    if asked.list:
        print(*(f"{name:28} {known[name].what}" for name in names), sep="\n")
        return 0
    header = machine()
    print(json.dumps({"machine": header}) if asked.json else header, flush=True)
    failed = 0
    for name in names:
        found = in_a_process(known[name], asked.rounds, asked.device)
        failed += "failed" in found
        told = [json.dumps(found)] if asked.json else lines(found)
        print(*told, sep="\n", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
