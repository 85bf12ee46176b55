"""Steps of networks, and views: gradcli beside torch.

    python tests/bench/layers.py [--threads N]

A step runs a network forward and backward from a loss and moves its weights. Peers take
turns at short blocks of calls; the medians of the blocks are compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np
import torch

import gradcli

Once = Callable[[], Any]
Row = tuple[str, float, float, float]
"""What it is, seconds of gradcli and of the peer, and the bar of their ratio."""

BLOCKS = 41
SECONDS_OF_BLOCK = 0.01


def _same_weights(ours: Any, theirs: Any) -> None:
    state = {name: value.numpy() for name, value in theirs.state_dict().items()}
    ours.load_state_dict({name: gradcli.tensor(v) for name, v in state.items()})


def _step(library: Any, net: Any, loss: Callable[[], Any]) -> Once:
    optimizer = library.optim.SGD(net.parameters(), lr=1e-4)

    def once() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return once


def _both(
    make: Callable[[Any], Any], loss: Callable[[Any, Any], Callable[[], Any]]
) -> tuple[Once, Once]:
    """A step of one network in both libraries, from the same weights."""
    nets = [make(library) for library in (gradcli, torch)]
    _same_weights(*nets)
    ours, theirs = (
        _step(library, net, loss(library, net))
        for library, net in zip((gradcli, torch), nets, strict=True)
    )
    return ours, theirs


def perceptron() -> tuple[Once, Once]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((64, 784)).astype("float32")
    labels = rng.integers(0, 10, 64)

    def make(library: Any) -> Any:
        nn = library.nn
        return nn.Sequential(
            nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
            nn.Linear(256, 10),
        )  # fmt: skip

    def loss(library: Any, net: Any) -> Callable[[], Any]:
        given, target = library.tensor(x), library.tensor(labels)
        entropy = library.nn.functional.cross_entropy
        return lambda: entropy(net(given), target)

    return _both(make, loss)


def pictures() -> tuple[Once, Once]:
    x = np.random.default_rng(0).standard_normal((16, 3, 32, 32)).astype("float32")

    def make(library: Any) -> Any:
        nn = library.nn
        return nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
        )  # fmt: skip

    def loss(library: Any, net: Any) -> Callable[[], Any]:
        given = library.tensor(x)
        return lambda: net(given).mean()

    return _both(make, loss)


def attention() -> tuple[Once, Once]:
    x = np.random.default_rng(0).standard_normal((8, 32, 64)).astype("float32")

    def make(library: Any) -> Any:
        return library.nn.MultiheadAttention(64, 4, batch_first=True)

    def loss(library: Any, net: Any) -> Callable[[], Any]:
        given = library.tensor(x)
        return lambda: net(given, given, given)[0].mean()

    return _both(make, loss)


def views() -> Iterator[tuple[str, Once, Once]]:
    """One view of a small matrix each, recorded."""
    seen: dict[str, Callable[[Any], Any]] = {
        "x[1]": lambda x: x[1],
        "x[1:3]": lambda x: x[1:3],
        "x.T": lambda x: x.T,
        "x.reshape(8, 2)": lambda x: x.reshape(8, 2),
    }
    made = [library.ones(4, 4, requires_grad=True) + 0 for library in (gradcli, torch)]
    for name, see in seen.items():
        ours, theirs = (lambda x=x, see=see: see(x) for x in made)
        yield name, ours, theirs

    def adds(x: Any) -> Once:
        def once() -> None:
            nonlocal x
            x += 1

        return once

    plain = [library.ones(4, 4) for library in (gradcli, torch)]
    yield "x += 1", *map(adds, plain)  # type: ignore[misc]


def compared(ours: Once, theirs: Once, blocks: int = BLOCKS) -> tuple[float, float]:
    """Median seconds of a call of each, measured in turns."""
    counts = []
    for once in (ours, theirs):
        for _ in range(3):
            once()
        start = time.perf_counter()
        once()
        took = time.perf_counter() - start
        counts.append(max(1, round(SECONDS_OF_BLOCK / took)))
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(blocks):
        for place, once in enumerate((ours, theirs)):
            start = time.perf_counter()
            for _ in range(counts[place]):
                once()
            seconds[place].append((time.perf_counter() - start) / counts[place])
    return median(seconds[0]), median(seconds[1])


def rows() -> Iterator[Row]:
    """Each comparison as its name, our seconds, the peer's, and the bar."""
    steps: list[tuple[str, float, Callable[[], tuple[Once, Once]]]] = [
        ("perceptron, a step", 1.0, perceptron),
        ("convolutions, a step", 1.5, pictures),
        ("attention, a step", 1.2, attention),
    ]
    for name, bar, make in steps:
        yield name, *compared(*make()), bar
    for name, ours, theirs in views():
        yield name, *compared(ours, theirs), 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    torch.set_num_threads(parser.parse_args().threads)
    for name, ours, peer, bar in rows():
        print(f"{name:22} gradcli {ours * 1e6:9.2f} µs   torch {peer * 1e6:9.2f} µs"
              f"   of torch {ours / peer:5.2f} (bar {bar})")  # fmt: skip


if __name__ == "__main__":
    main()
