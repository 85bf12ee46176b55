"""What an optimizer is declared by: its constructor's parameters, their order, checks.

Invariant: the parameters of ``__init__`` are the options and hold their defaults; the
body that is written out holds only the checks that no other optimizer has.

    class SGD(Descent):
        @options("lr momentum", checked="lr momentum")
        def __init__(self, params: Params, lr: Any = 1e-3, momentum: float = 0) -> None:
            '''Nothing else to check.'''
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

from ..engine.tensor import Tensor

F = TypeVar("F", bound=Callable[..., None])
Check = Callable[[Any], None]


def at_least_0(words: str, value: Any) -> None:
    if not value >= 0:
        raise ValueError(f"Invalid {words}: {value}")


def _rate(lr: Any) -> None:
    one_number(lr)
    at_least_0("learning rate", lr)


def one_number(lr: Any) -> None:
    """Raise for a rate that is a tensor of several entries."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def _betas(betas: Any) -> None:
    for i, beta in enumerate(betas):
        if not 0 <= beta < 1:
            raise ValueError(f"Invalid beta parameter at index {i}: {beta}")


def _share(name: str, value: Any) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"Invalid {name} value: {value}")


def _etas(etas: Any) -> None:
    if not 0 < etas[0] < 1 < etas[1]:
        raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")


CHECKS: dict[str, Check] = {
    "lr": _rate,
    "betas": _betas,
    "eps": partial(at_least_0, "epsilon value"),
    "rho": partial(_share, "rho"),
    "etas": _etas,
    **{
        name: partial(at_least_0, f"{name} value")
        for name in (
            "alpha", "initial_accumulator_value", "lr_decay", "momentum",
            "momentum_decay", "weight_decay",
        )
    },
}  # fmt: skip
"""What an option of a name may be, in every optimizer that asks for the check."""


def check_flags(options: dict[str, Any]) -> None:
    """Raise for ways to run that exclude each other."""
    if options.get("fused"):
        if options.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if options.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def options(order: str, checked: str = "", **fixed: Any) -> Callable[[F], F]:
    """Let a constructor's parameters be the options of each group.

    Args:
        order: the options' names as they stand in a group and in a saved state.
        checked: those that `CHECKS` is asked about, in that order.
        fixed: options that the constructor does not take.
    """

    def declared(init: F) -> F:
        signature = inspect.signature(init)

        @wraps(init)
        def run(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
            try:
                bound = signature.bind(self, params, *args, **kwargs)
            except TypeError:  # which the constructor itself says in Python's words
                init(self, params, *args, **kwargs)
                raise
            bound.apply_defaults()
            given = {**bound.arguments, **fixed}
            for name in checked.split():
                CHECKS[name](given[name])
            init(*bound.args, **bound.kwargs)
            chosen = {name: given[name] for name in order.split()}
            check_flags(chosen)
            self._begin(params, chosen)

        return run  # type: ignore[return-value]  # with the constructor's signature

    return declared
