"""Steps of networks, on one thread and on all cores, and views of a small matrix.

A step runs a network forward, backward from a loss, and moves its weights by SGD.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from gradcli.engine import parts

from .compare import Comparison, Once

Network = tuple[Any, Callable[[], Any]]
"""A network of a library, and what gives its loss."""


def one_thread(library: Any) -> None:
    """Keep a library to one thread for the rest of the process."""
    if library.__name__ == "torch":
        library.set_num_threads(1)
    elif (bound := parts.library()) is not None:
        bound.write(1)


def filled(net: Any) -> Any:
    """A network with weights that are the same in every library."""
    rng = np.random.default_rng(0)
    for parameter in net.parameters():
        shape = tuple(parameter.shape)
        scale = 1 / np.sqrt(np.prod(shape[1:], initial=1))
        parameter.detach().numpy()[...] = rng.uniform(-scale, scale, shape)
    return net


def perceptron(library: Any) -> Network:
    nn, rng = library.nn, np.random.default_rng(1)
    x = library.tensor(rng.standard_normal((64, 784)).astype("float32"))
    labels = library.tensor(rng.integers(0, 10, 64))
    net = nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
        nn.Linear(256, 10),
    )  # fmt: skip
    entropy = nn.functional.cross_entropy
    return net, lambda: entropy(net(x), labels)


def convolutions(library: Any) -> Network:
    nn, rng = library.nn, np.random.default_rng(1)
    x = library.tensor(rng.standard_normal((16, 3, 32, 32)).astype("float32"))
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
    )  # fmt: skip
    return net, lambda: net(x).mean()


def attention(library: Any) -> Network:
    rng = np.random.default_rng(1)
    x = library.tensor(rng.standard_normal((8, 32, 64)).astype("float32"))
    net = library.nn.MultiheadAttention(64, 4, batch_first=True)
    return net, lambda: net(x, x, x)[0].mean()


def recurrent(library: Any) -> Network:
    rng = np.random.default_rng(1)
    x = library.tensor(rng.standard_normal((20, 8, 16)).astype("float32"))
    net = library.nn.LSTM(16, 32)
    return net, lambda: net(x)[0].mean()


def transformer(library: Any) -> Network:
    rng = np.random.default_rng(1)
    x = library.tensor(rng.standard_normal((8, 32, 64)).astype("float32"))
    net = library.nn.TransformerEncoderLayer(64, 4, 128, 0.0, batch_first=True)
    return net, lambda: (net(x) ** 2).mean()


def step(library: Any, make: Callable[[Any], Network]) -> Once:
    net, loss = make(library)
    optimizer = library.optim.SGD(filled(net).parameters(), lr=1e-4)

    def once() -> float:
        optimizer.zero_grad()
        found = loss()
        found.backward()
        optimizer.step()
        return float(found.item())

    return once


def stepping(name: str, make: Callable[[Any], Network], bar: float, alone: bool
             ) -> Comparison:  # fmt: skip
    def of(library: str) -> Once:
        module = import_module(library)
        if alone:
            one_thread(module)
        return step(module, make)

    return Comparison(
        f"step-{name}" + "-one-thread" * alone,
        f"a training step of the {name}, " + ("one thread" if alone else "all cores"),
        lambda: of("gradcli"),
        {"torch": lambda: of("torch")},
        {"torch": bar},
        lambda a, b: bool(np.isclose(a, b, rtol=1e-4)),
        41,
    )


def seen(name: str, see: Callable[[Any], Any], graph: bool = True) -> Comparison:
    def of(library: str) -> Once:
        module = import_module(library)
        one_thread(module)
        x = module.arange(16.0).reshape(4, 4)
        x = x.requires_grad_() * 1 if graph else x.clone()
        return lambda: see(x)

    return Comparison(
        f"view-{name}",
        f"{name} of a matrix of four rows",
        lambda: of("gradcli"),
        {"torch": lambda: of("torch")},
        {"torch": 1.0},
        lambda a, b: a.tolist() == b.tolist(),
        41,
    )


def add_one(x: Any) -> Any:
    x += 1
    return x


STEPS = [
    (perceptron, 1.7, 2.5), (convolutions, 1.7, 2.5), (attention, 1.7, 2.5),
    (recurrent, 4.0, 4.0), (transformer, 1.7, 2.5),
]  # fmt: skip
"""Networks, the bars on one thread and on all cores."""

COMPARISONS = [
    *(stepping(make.__name__, make, bar, alone)
      for make, one, all_cores in STEPS
      for alone, bar in ((True, one), (False, all_cores))),
    seen("row", lambda x: x[1]),
    seen("rows", lambda x: x[1:3]),
    seen("transpose", lambda x: x.T),
    seen("reshape", lambda x: x.reshape(8, 2)),
    seen("added-to", add_one, graph=False),
]  # fmt: skip
