"""gradcli and its peers in turns, and what part of the peers' seconds gradcli takes.

Invariant: everyone runs in every round, so that a drift of the machine's speed meets
all; a ratio is taken within a round, and the median of the rounds is shown with its
quartiles. Nobody is timed before it gave the same numbers as gradcli.

    compared(Comparison("sum", "a sum of squares", ours, {"torch": theirs}))
"""

from __future__ import annotations

import atexit
import gc
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from shutil import rmtree
from statistics import quantiles
from tempfile import mkdtemp
from time import perf_counter
from typing import Any

Once = Callable[[], Any]
Maker = Callable[[], Once]
"""Prepares what is not timed, imports of peers included, and gives what is."""

LEAST_SECONDS = 0.1
"""Calls that are shorter are repeated within a round, so that the first ones, which
find what another library left in the processor's caches, weigh little."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared.

    ours     gradcli's way
    peers    the others'
    bars     by peer the ratio that is aimed at
    same     whether gradcli's result and a peer's are the same
    threads  that everyone may use; None: as many as each wants
    """

    name: str
    what: str
    ours: Maker
    peers: Mapping[str, Maker]
    bars: Mapping[str, float] = field(default_factory=dict)
    same: Callable[[Any, Any], bool] = lambda ours, theirs: True
    rounds: int = 9
    threads: int | None = None


def compared(comparison: Comparison, rounds: int | None = None) -> dict[str, Any]:
    """Seconds and ratios, as JSON can hold them; a peer that is not there is skipped
    with the reason."""
    onces = {"gradcli": comparison.ours()}
    result = onces["gradcli"]()
    skipped = {}
    for peer, make in comparison.peers.items():
        try:
            once = make()
        except ImportError as error:
            skipped[peer] = str(error)
            continue
        if not comparison.same(result, once()):
            raise ValueError(f"{comparison.name}: {peer} gives other numbers")
        onces[peer] = once
    del result
    times = in_turns(onces, rounds or comparison.rounds)
    own = times.pop("gradcli")
    return {
        "name": comparison.name,
        "what": comparison.what,
        "rounds": len(own),
        "gradcli": _spread(own),
        "peers": {
            peer: {
                "seconds": _spread(spent),
                "ratio": _spread([a / b for a, b in zip(own, spent, strict=True)]),
                "bar": comparison.bars.get(peer),
            }
            for peer, spent in times.items()
        },
        "skipped": skipped,
    }


def in_turns(onces: Mapping[str, Once], rounds: int) -> dict[str, list[float]]:
    """Seconds of a call of each, round by round."""
    gc.collect()
    gc.freeze()  # no collection walks what the libraries of others hold
    times: dict[str, list[float]] = {name: [] for name in onces}
    counts = {name: repeats(once) for name, once in onces.items()}
    for _ in range(rounds):
        for name, once in onces.items():
            times[name].append(seconds(once, counts[name]) / counts[name])
    return times


def seconds(once: Once, count: int) -> float:
    """Seconds of so many calls."""
    start = perf_counter()
    for _ in range(count):
        once()
    return perf_counter() - start


def repeats(once: Once) -> int:
    """How often to call what is short, so that it takes `LEAST_SECONDS`: the machine
    may look away for longer than that, but hardly three times."""
    count = 1
    if seconds(once, 1) < 10 * LEAST_SECONDS:
        while min(seconds(once, count) for _ in range(3)) < LEAST_SECONDS:
            count *= 2
    return count


def _spread(numbers: list[float]) -> dict[str, float]:
    several = numbers if len(numbers) > 1 else numbers * 2
    low, middle, high = quantiles(several, n=4, method="inclusive")
    return {"low": low, "median": middle, "high": high}


@cache
def folder() -> Path:
    """A folder that this process removes at its end."""
    made = mkdtemp(prefix="gradcli-bench-")
    atexit.register(rmtree, made)
    return Path(made)


def process(*words: str) -> Once:
    """A whole process of Python, its output thrown away."""
    kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, *words]
    return lambda: subprocess.run(command, check=True, capture_output=True, env=kept)


def script(text: str, *needs: str) -> Maker:
    """A process that runs a text, which imports the libraries that it ``needs``."""

    def make() -> Once:
        for library in needs:
            __import__(library)
        return process("-c", text)

    return make
