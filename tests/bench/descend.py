"""A step of a descent: a program of the language beside the same loop in PyTorch.

    python tests/bench/descend.py

Both evaluate the loss, run backward, measure the gradient's length, look whether both
are finite, and let the optimizer move the inputs. Peers take turns, the best of several
rounds counts for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import isfinite

import torch

from gradcli.lang.bindings import read_bindings
from gradcli.lang.descent import Descent
from gradcli.lang.run import Session, prepare
from gradcli.optim import SGD, Adam

STEPS = 300
ROUNDS = 7

Once = Callable[[], float]


def of_gradcli(source: str, given: list[str], wrt: list[str], name: str) -> Once:
    prepared = prepare(source, read_bindings(given), wrt=wrt)
    inputs = [i.tensor for i in prepared.inputs if i.requires_grad]
    optimizer = {"sgd": SGD, "adam": Adam}[name](inputs, lr=1e-3)
    descent = Descent(Session(prepared), optimizer, inputs)
    return lambda: float(descent.run(STEPS).reached is not None)


def of_torch(
    loss: Callable[[], torch.Tensor], inputs: list[torch.Tensor], name: str
) -> Once:
    optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[name](
        inputs, lr=1e-3
    )

    def once() -> float:
        for _ in range(STEPS):
            optimizer.zero_grad()
            value = loss()
            value.backward()
            square = sum((x.grad**2).sum() for x in inputs)  # type: ignore[operator]
            length = torch.sqrt(square).item()
            if not (isfinite(value.item()) and isfinite(length)):
                break
            optimizer.step()
        return length

    return once


def leaf(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.float64, requires_grad=True)


def peers() -> dict[str, tuple[Callable[[str], Once], Callable[[str], Once]]]:
    """By problem, what makes a round of each peer for an optimizer."""
    x = torch.linspace(-1, 1, 50, dtype=torch.float64)
    w, b = leaf(), leaf()
    points = torch.randn(64, 8, dtype=torch.float64)
    target = torch.randn(64, 1, dtype=torch.float64)
    w1 = torch.randn(16, 8, dtype=torch.float64).requires_grad_()
    b1, w2 = leaf(16), torch.randn(1, 16, dtype=torch.float64).requires_grad_()

    def perceptron() -> torch.Tensor:
        hidden = torch.tanh(points @ w1.t() + b1)
        return torch.nn.functional.mse_loss(hidden @ w2.t(), target)

    line = ["x=linspace(-1,1,50)", "w=0", "b=0"]
    layers = ["x=randn(64,8)", "y=randn(64,1)", "W1=randn(16,8)", "b1=zeros(16)",
              "W2=randn(1,16)"]  # fmt: skip
    net = "mse_loss(tanh(x @ W1.t() + b1) @ W2.t(), y)"
    return {
        "two numbers": (
            lambda o: of_gradcli("(w-3)**2 + (b+1)**2", line[1:], ["w", "b"], o),
            lambda o: of_torch(lambda: (w - 3) ** 2 + (b + 1) ** 2, [w, b], o),
        ),
        "a line": (
            lambda o: of_gradcli("((w*x+b-3*x)**2).mean()", line, ["w", "b"], o),
            lambda o: of_torch(
                lambda: ((w * x + b - 3 * x) ** 2).mean(), [w, b], o
            ),
        ),
        "a perceptron": (
            lambda o: of_gradcli(net, layers, ["W1", "b1", "W2"], o),
            lambda o: of_torch(perceptron, [w1, b1, w2], o),
        ),
    }  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    for problem, makers in peers().items():
        for name in ("sgd", "adam"):
            rounds = [make(name) for make in makers]
            best = [float("inf")] * 2
            for _ in range(ROUNDS):
                for place, once in enumerate(rounds):
                    start = time.perf_counter()
                    once()
                    best[place] = min(best[place], time.perf_counter() - start)
            ours, theirs = (seconds / STEPS * 1e6 for seconds in best)
            print(f"{problem:12} {name:5} gradcli {ours:6.1f} µs   torch "
                  f"{theirs:6.1f} µs   of torch {ours / theirs:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
