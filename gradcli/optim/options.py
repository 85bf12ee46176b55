"""The options of optimizers: what each means, and what it may be.

Invariant: an option of a name means the same in every optimizer, and is checked in the
same words; what an optimizer demands of several options together stands at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..engine.tensor import Tensor
from .optimizer import Group

Check = Callable[[Any], None]


def at_least_0(words: str, value: Any) -> None:
    if not value >= 0:
        raise ValueError(f"Invalid {words}: {value}")


def _rate(lr: object) -> None:
    one_number(lr)
    at_least_0("learning rate", lr)


def one_number(lr: object) -> None:
    """Raise for a rate that is a tensor of several entries."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def _betas(betas: tuple[float, float]) -> None:
    for i, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def _share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"Invalid {name} value: {value}")


def _etas(etas: tuple[float, float]) -> None:
    if not 0 < etas[0] < 1 < etas[1]:
        raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")


class Option(NamedTuple):
    """What an option of a name means, what it is where nothing is given, and what is
    checked of it."""

    meaning: str
    default: Any = None
    check: Check | None = None


def _nonnegative(name: str, meaning: str, default: float = 0) -> Option:
    return Option(meaning, default, partial(at_least_0, f"{name} value"))


NO_EFFECT = "accepted, as in PyTorch; it changes no result"

OPTIONS = {
    "adjust_lr_fn": Option("how the rate depends on the sizes of a matrix"),
    "params": Option("tensors or groups"),
    "lr": Option("how far a step goes", check=_rate),
    "alpha": _nonnegative("alpha", "how much of the mean is kept from step to step"),
    "amsgrad": Option("divide by the largest mean so far", False),
    "beta2_decay": Option("the power of the steps that the means move by", -0.8),
    "betas": Option(
        "how much of the two means is kept from step to step", (0.9, 0.999), _betas
    ),
    "capturable": Option("allowed on a GPU alone", False),
    "centered": Option("divide by the deviation, not by the size", False),
    "d": Option("how large a step's entries may be on average", 1.0),
    "dampening": Option("the part of a new gradient left out of the direction", 0),
    "decoupled_weight_decay": Option(
        "shrink the parameter instead of adding to its gradient", False
    ),
    "differentiable": Option("record the step", False),
    "eps": Option(
        "added to what is divided by", 1e-8, partial(at_least_0, "epsilon value")
    ),
    "etas": Option(
        "what a step size is multiplied by where the sign turns, and where it stays",
        (0.5, 1.2), _etas,
    ),
    "foreach": Option(NO_EFFECT),
    "fused": Option(NO_EFFECT),
    "history_size": Option("how many changes are remembered", 100),
    "initial_accumulator_value": _nonnegative(
        "initial_accumulator_value", "where the sum begins"
    ),
    "lambd": Option("how fast the rate falls, and a parameter shrinks in a step", 1e-4),
    "line_search_fn": Option('None, or "strong_wolfe"'),
    "lr_decay": _nonnegative(
        "lr_decay", "how fast the rate falls: ``lr/(1 + (step - 1)*lr_decay)``"
    ),
    "max_eval": Option("values of the loss per call; None: ``max_iter*5//4``"),
    "max_iter": Option("steps per call", 20),
    "maximize": Option("go uphill", False),
    "momentum": _nonnegative("momentum", "how much of the last direction is kept"),
    "momentum_decay": _nonnegative(
        "momentum_decay", "how the first mean's share grows from step to step", 4e-3
    ),
    "ns_coefficients": Option(
        "of a step towards an orthogonal matrix", (3.4445, -4.775, 2.0315)
    ),
    "ns_steps": Option("how many such steps are taken", 5),
    "nesterov": Option("look ahead along the direction", False),
    "rho": Option("how much of the means is kept", 0.9, partial(_share, "rho")),
    "step_sizes": Option("the shortest and the longest step", (1e-6, 50)),
    "t0": Option("the step at which averaging begins", 1e6),
    "tolerance_change": Option("stop when step or loss change by less", 1e-9),
    "tolerance_grad": Option("stop when no entry of the gradient is larger", 1e-7),
    "weight_decay": _nonnegative(
        "weight_decay", "how much of the parameter itself is added to its gradient"
    ),
}  # fmt: skip


def check_flags(options: Group) -> None:
    """Raise for ways to run that exclude each other."""
    if options.get("fused"):
        if options.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if options.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def clean_nesterov(o: Group) -> None:
    if o["nesterov"] and (o["momentum"] <= 0 or o["dampening"] != 0):
        raise ValueError("Nesterov momentum requires a momentum and zero dampening")


def agreeing_numbers(o: Group) -> None:
    """Raise for options that are tensors where they have to be numbers."""
    if isinstance(o["lr"], Tensor) and o["foreach"] and not o["capturable"]:
        raise ValueError(
            "lr as a Tensor is not supported for capturable=False and foreach=True"
        )
    if len({isinstance(beta, Tensor) for beta in o["betas"]}) > 1:
        raise ValueError("betas must be either both floats or both Tensors")


def bounded_factors(o: Group) -> None:
    one_number(o["lr"])
    eps = o["eps"]
    for right, words, value in (
        (o["lr"] >= 0, "Learning rate should be >= 0", o["lr"]),
        (o["beta2_decay"] <= 0, "beta2_decay should be <= 0", o["beta2_decay"]),
        (eps[0] is None or eps[0] >= 0, "epsilon1 should be >= 0", eps[0]),
        (eps[1] >= 0, "epsilon2 should be >= 0", eps[1]),
        (o["d"] >= 1, "Clipping threshold d should be >= 1", o["d"]),
        (o["weight_decay"] >= 0, "weight_decay should be >= 0", o["weight_decay"]),
    ):
        if not right:
            raise ValueError(f"{words} but is: {value}")
