"""Steps of networks, and views, on one thread.

A step runs a network forward and backward from a loss and moves its weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradcli

from .compare import Comparison, Once

Network = Callable[[Any], tuple[Any, Callable[[], Any]]]
"""A library to a network, with the numbers that its seed gives, and its loss."""


def perceptron(library: Any) -> tuple[Any, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    x = library.tensor(rng.standard_normal((64, 784)).astype("float32"))
    labels = library.tensor(rng.integers(0, 10, 64))
    nn = library.nn
    net = nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
        nn.Linear(256, 10),
    )  # fmt: skip
    return net, lambda: nn.functional.cross_entropy(net(x), labels)


def pictures(library: Any) -> tuple[Any, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    x = library.tensor(rng.standard_normal((16, 3, 32, 32)).astype("float32"))
    nn = library.nn
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
    )  # fmt: skip
    return net, lambda: net(x).mean()


def attention(library: Any) -> tuple[Any, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    x = library.tensor(rng.standard_normal((8, 32, 64)).astype("float32"))
    net = library.nn.MultiheadAttention(64, 4, batch_first=True)
    return net, lambda: net(x, x, x)[0].mean()


def step(library: Any, network: Network) -> Once:
    library.manual_seed(0)
    net, loss = network(library)
    optimizer = library.optim.SGD(net.parameters(), lr=1e-4)

    def once() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.detach().numpy()

    return once


def adds(library: Any) -> Once:
    x = library.ones(4, 4)

    def once() -> None:
        nonlocal x
        x += 1

    return once


def sees(library: Any, see: Callable[[Any], Any]) -> Once:
    """A view of a small matrix, recorded."""
    x = library.ones(4, 4, requires_grad=True) + 0
    return lambda: see(x)


def comparison(
    name: str, what: str, bar: float, make: Callable[[Any], Once], **how: Any
) -> Comparison:
    def theirs() -> Once:
        import torch

        return make(torch)

    return Comparison(name, what, lambda: make(gradcli), {"torch": theirs},
                      {"torch": bar}, rounds=15, threads=1, **how)  # fmt: skip


def of_network(name: str, what: str, bar: float, network: Network) -> Comparison:
    def close(ours: Any, theirs: Any) -> bool:
        return bool(np.allclose(ours, theirs, rtol=1e-4, atol=1e-6))

    return comparison(name, what, bar, lambda lib: step(lib, network), same=close)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "x[1]": lambda x: x[1],
    "x[1:3]": lambda x: x[1:3],
    "x.T": lambda x: x.T,
    "x.reshape(8, 2)": lambda x: x.reshape(8, 2),
}

COMPARISONS = [
    of_network("layers-perceptron", "a step: 784-256-256-10, batch 64", 1, perceptron),
    of_network("layers-pictures", "a step: two convolutions, 16 of 32x32", 1.5,
               pictures),
    of_network("layers-attention", "a step: attention of 4 heads, 8x32x64", 1.2,
               attention),
    *(
        comparison(f"view-{nr}", text, 1, lambda lib, see=see: sees(lib, see))
        for nr, (text, see) in enumerate(VIEWS.items(), 1)
    ),
    comparison("view-add", "x += 1", 1, adds),
]  # fmt: skip
