"""A step of a descent: a program of the language beside the same loop in PyTorch.

Both evaluate the loss, run backward, measure the gradient's length, look whether both
are finite, and let the optimizer move the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any

from gradcli.lang.bindings import read_bindings
from gradcli.lang.descent import ProgramDescent
from gradcli.lang.run import Session, prepare
from gradcli.optim import SGD, Adam

from .compare import Comparison, Once

STEPS = 100

LINE = ["x=linspace(-1,1,50)", "w=0", "b=0"]
LAYERS = ["x=randn(64,8)", "y=randn(64,1)", "W1=randn(16,8)", "b1=zeros(16)",
          "W2=randn(1,16)"]  # fmt: skip
PROGRAMS = {
    "two-numbers": ("(w-3)**2 + (b+1)**2", LINE[1:], ["w", "b"]),
    "line": ("((w*x+b-3*x)**2).mean()", LINE, ["w", "b"]),
    "perceptron": ("mse_loss(tanh(x @ W1.t() + b1) @ W2.t(), y)", LAYERS,
                   ["W1", "b1", "W2"]),
}  # fmt: skip


def of_gradcli(problem: str, name: str) -> Once:
    source, given, wrt = PROGRAMS[problem]
    prepared = prepare(source, read_bindings(given), wrt=wrt)
    inputs = [i.tensor for i in prepared.inputs if i.requires_grad]
    starts = [x.raw.copy() for x in inputs]
    make = partial({"sgd": SGD, "adam": Adam}[name], lr=1e-3)

    descent = ProgramDescent(Session(prepared), make, wrt)

    def once() -> bool:
        for x, start in zip(inputs, starts, strict=True):
            x.raw[...] = start  # one that stands still would end early
        return descent.run(STEPS).stopped == "steps"

    return once


def losses(torch: Any) -> dict[str, tuple[Callable[[], Any], list[Any]]]:
    """By problem the loss and the inputs that are moved."""

    def leaf(*shape: int) -> Any:
        return torch.zeros(shape, dtype=torch.float64, requires_grad=True)

    def drawn(*shape: int) -> Any:
        return torch.randn(shape, dtype=torch.float64)

    x = torch.linspace(-1, 1, 50, dtype=torch.float64)
    w, b, b1 = leaf(), leaf(), leaf(16)
    points, target = drawn(64, 8), drawn(64, 1)
    w1, w2 = drawn(16, 8).requires_grad_(), drawn(1, 16).requires_grad_()

    def perceptron() -> Any:
        hidden = torch.tanh(points @ w1.t() + b1)
        return torch.nn.functional.mse_loss(hidden @ w2.t(), target)

    return {
        "two-numbers": (lambda: (w - 3) ** 2 + (b + 1) ** 2, [w, b]),
        "line": (lambda: ((w * x + b - 3 * x) ** 2).mean(), [w, b]),
        "perceptron": (perceptron, [w1, b1, w2]),
    }


def of_torch(problem: str, name: str) -> Once:
    import torch

    loss, inputs = losses(torch)[problem]
    kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[name]
    optimizer = kind(inputs, lr=1e-3)

    def once() -> bool:
        for _ in range(STEPS):
            optimizer.zero_grad()
            value = loss()
            value.backward()
            length = torch.sqrt(sum((x.grad**2).sum() for x in inputs)).item()
            if not (isfinite(value.item()) and isfinite(length)):
                return False
            optimizer.step()
        return True

    return once


def comparison(problem: str, name: str) -> Comparison:
    return Comparison(
        f"descent-{problem}-{name}",
        f"{STEPS} steps of {name}: {PROGRAMS[problem][0]}",
        lambda: of_gradcli(problem, name),
        {"torch": lambda: of_torch(problem, name)},
        {"torch": 0.4} if (problem, name) == ("perceptron", "adam") else {},
        same=lambda ours, theirs: bool(ours == theirs),
        threads=1,
    )


COMPARISONS = [comparison(p, name) for p in PROGRAMS for name in ("sgd", "adam")]
